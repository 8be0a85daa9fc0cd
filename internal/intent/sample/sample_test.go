package sample_test

import (
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/callwright/callwright/internal/intent/sample"
)

func load(t *testing.T) ([]sample.Text, *sample.Groups) {
	t.Helper()
	dir := filepath.Join("..", "..", "..", "testdata", "intent")
	texts, err := sample.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	g, err := sample.LoadGroups(dir)
	if err != nil {
		t.Fatal(err)
	}
	return texts, g
}

// TestTexts checks what the corpus promises: languages, labels, and a part held out that
// has about a fifth of each.
func TestTexts(t *testing.T) {
	texts, g := load(t)
	languages := map[string]bool{}
	var acts, mentions, heldActs, heldMentions int
	for i := range texts {
		languages[texts[i].Lang] = true
		held := sample.HeldOut(g.Of(texts[i].Situation))
		for j := range texts[i].Calls {
			if texts[i].Calls[j].Act() {
				acts++
				if held {
					heldActs++
				}
			} else {
				mentions++
				if held {
					heldMentions++
				}
			}
		}
	}
	if len(texts) < 9000 || len(languages) < 30 {
		t.Errorf("%d texts in %d languages", len(texts), len(languages))
	}
	for name, share := range map[string]float64{"acts": float64(heldActs) / float64(acts), "mentions": float64(heldMentions) / float64(mentions)} {
		if share < 0.15 || share > 0.25 {
			t.Errorf("%.2f of the %s are held out", share, name)
		}
	}
}

// TestWrite checks that written texts hold their calls at their spans, and that a seed
// writes the same.
func TestWrite(t *testing.T) {
	texts, _ := load(t)
	for i := range texts {
		a := texts[i].Write(rand.New(rand.NewPCG(1, uint64(i))), sample.Options{Vary: true})
		b := texts[i].Write(rand.New(rand.NewPCG(1, uint64(i))), sample.Options{Vary: true})
		for j := range a {
			if a[j].Written != b[j].Written || a[j].Context != b[j].Context {
				t.Fatalf("%s is written in two ways", texts[i].ID)
			}
			s := a[j].Spans[j]
			if call := a[j].Written[s.Start:s.End]; !strings.Contains(call, a[j].Call.Tool) && !strings.Contains(call, "name") {
				t.Fatalf("%s: %q is not %s", texts[i].ID, call, a[j].Call.Tool)
			}
			if strings.Contains(a[j].Written, "⟦") {
				t.Fatalf("%s: a slot is left in %q", texts[i].ID, a[j].Written)
			}
		}
	}
}
