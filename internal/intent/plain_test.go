package intent_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/callwright/callwright/internal/intent"
)

// TestPlain checks that plain contexts come out right in all languages, with the call as
// JSON.
func TestPlain(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "testdata", "intent", "plain.txt"))
	if err != nil {
		t.Fatal(err)
	}
	slot := regexp.MustCompile(`⟦\d⟧`)
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		labels, text, ok := strings.Cut(strings.TrimRight(line, "\n"), " | ")
		if !ok {
			t.Fatalf("no label: %s", line)
		}
		text = slot.ReplaceAllString(strings.ReplaceAll(text, `\n`, "\n"), intent.Call)
		var spans []intent.Span
		for i := 0; ; {
			k := strings.Index(text[i:], intent.Call)
			if k < 0 {
				break
			}
			spans = append(spans, intent.Span{Start: i + k, End: i + k + len(intent.Call)})
			i += k + len(intent.Call)
		}
		made := 0
		for i, label := range strings.Fields(labels) {
			c := intent.Around(text, spans, i)
			c.Made = made
			a, reasons := intent.Explain(&c)
			if act := label == "act"; a.Act() != act {
				t.Errorf("%s: call %d has %.2f %v", line, i+1, a.Probability, reasons)
			}
			if label == "act" {
				made++
			}
		}
	}
}
