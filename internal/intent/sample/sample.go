// Package sample reads the labelled texts from which the model of intent is fitted,
// writes their calls in the forms that models use, and divides them into parts to fit
// on and parts to check on.
package sample

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Text is a labelled text: an assistant's words with a slot, ⟦1⟧, ⟦2⟧ …, for each call.
type Text struct {
	ID   string `json:"id"`
	Lang string `json:"lang"`
	// Situation names the idea of wording that the text varies.
	Situation string  `json:"situation"`
	Text      string  `json:"text"`
	Calls     []Label `json:"calls"`
}

// Label is a call and whether it is made.
type Label struct {
	Tool      string         `json:"tool"`
	Arguments map[string]any `json:"arguments"`
	Label     string         `json:"label"` // "act" or "mention"
	// Firm is false where careful people could disagree.
	Firm *bool `json:"firm,omitempty"`
}

// Act reports whether the call is made.
func (l *Label) Act() bool { return l.Label == "act" }

// IsFirm reports whether careful people agree.
func (l *Label) IsFirm() bool { return l.Firm == nil || *l.Firm }

var slot = regexp.MustCompile(`⟦(\d+)⟧`)

// Load reads the texts of a folder, in the order of the files' names, and checks their
// form.
func Load(dir string) ([]Text, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil {
		return nil, err
	}
	slices.Sort(files)
	var all []Text
	ids := map[string]bool{}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		sc := bufio.NewScanner(bytes.NewReader(data))
		sc.Buffer(nil, 1<<20)
		for n := 1; sc.Scan(); n++ {
			var t Text
			if err := json.Unmarshal(sc.Bytes(), &t); err != nil {
				return nil, fmt.Errorf("%s:%d: %w", f, n, err)
			}
			if err := t.check(); err != nil {
				return nil, fmt.Errorf("%s:%d: %w", f, n, err)
			}
			if ids[t.ID] {
				return nil, fmt.Errorf("%s:%d: the id %s stands twice", f, n, t.ID)
			}
			ids[t.ID] = true
			all = append(all, t)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no texts in %s: pass the folder of the labelled texts", dir)
	}
	return all, nil
}

func (t *Text) check() error {
	slots := slot.FindAllStringSubmatch(t.Text, -1)
	if len(slots) != len(t.Calls) || len(slots) == 0 {
		return fmt.Errorf("%s has %d slots and %d calls", t.ID, len(slots), len(t.Calls))
	}
	for i, m := range slots {
		if m[1] != fmt.Sprint(i+1) {
			return fmt.Errorf("%s: slot %s stands where slot %d should", t.ID, m[1], i+1)
		}
		if l := t.Calls[i].Label; l != "act" && l != "mention" {
			return fmt.Errorf("%s: the label %q is neither act nor mention", t.ID, l)
		}
	}
	if t.Lang == "" || t.Situation == "" || strings.TrimSpace(t.Text) == "" {
		return fmt.Errorf("%s: a language, a situation and a text are needed", t.ID)
	}
	return nil
}
