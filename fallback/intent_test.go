package fallback_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/callwright/callwright/fallback"
	"github.com/callwright/callwright/parser"
)

// TestIntentValues holds that the values of a call are those that are written, and that a
// second value, a hedge or a foreign unit leaves no call.
func TestIntentValues(t *testing.T) {
	p := newParser(t, fallback.Steps(fallback.NewIntent())...)
	calls := func(t *rapid.T, text string) *parser.Result {
		r, err := p.Parse(context.Background(), text, parser.Context{})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	number := rapid.IntRange(-999, 99999)
	rapid.Check(t, func(t *rapid.T) {
		x, y, w := number.Draw(t, "x"), number.Draw(t, "y"), number.Draw(t, "width")
		lead := rapid.SampledFrom([]string{"I'll create", "Let me draw", "I am going to add", "Create", "Now I will make"}).Draw(t, "lead")
		text := fmt.Sprintf(rapid.SampledFrom([]string{
			"%s a rectangle at (%d, %d) with width %d.", "%s a rectangle with x=%d, y=%d and a width of %d.", "%s a rectangle at x %d, y %d, %d wide.",
		}).Draw(t, "form"), lead, x, y, w)
		r := calls(t, text)
		if len(r.Calls) != 1 || !r.Calls[0].Inferred || r.Calls[0].Confidence > fallback.MaxIntentConfidence {
			t.Fatalf("%q: %+v, %+v", text, r.Calls, r.Recovery)
		}
		got, err := json.Marshal(r.Calls[0].Parameters)
		if want := fmt.Sprintf(`{"width":%d,"x":%d,"y":%d}`, w, x, y); err != nil || string(got) != want {
			t.Fatalf("%q: %s, want %s", text, got, want)
		}
		spoil := rapid.SampledFrom([]string{
			" and %d", " or %d", " and width %d", ", %d times", " and \"%d\"", ", about %d", ", %d cm", ", %d-9", ", %d,000", " at https://a.b/%d",
		}).Draw(t, "spoil")
		text = strings.TrimSuffix(text, ".") + fmt.Sprintf(spoil, x+100001) + "."
		if r := calls(t, text); len(r.Calls) != 0 {
			t.Fatalf("%q: %+v", text, r.Calls[0].Parameters)
		}
	})
}

// TestIntentErrors shows the errors of values that are not clear.
func TestIntentErrors(t *testing.T) {
	for text, want := range map[string]string{
		"I'll create a rectangle at x 5.":                         "it does not give y",
		"I'll create a rectangle at (1, 2), 7.":                   `it is not clear what ["7"] is for`,
		"I'll create a rectangle from 1,000 to (1, 2).":           `it is not clear what ["1,000"] is for`,
		"I'll check the weather in Rome and Paris.":               "it does not give city",
		"I'll check the weather on Monday.":                       "it does not give city",
		"I'll check the weather in Rome in celsius for 3 meters.": `it is not clear what ["3"] is for`,
	} {
		r, err := newParser(t, fallback.Steps(fallback.NewIntent())...).Parse(context.Background(), text, parser.Context{})
		if err != nil || len(r.Calls) != 0 || r.Recovery == nil || !strings.Contains(r.Recovery.Attempts[0].Error, want) {
			t.Errorf("%q: %+v, %+v, %v", text, r.Calls, r.Recovery, err)
		}
	}
}

// TestNumberWords shows which words are numbers.
func TestNumberWords(t *testing.T) {
	for words, want := range map[string]string{
		"fifty": "50", "twenty-five": "25", "one hundred and five": "105", "two thousand three hundred": "2300", "nineteen": "19", "zero": "0",
		"five twenty": "", "one million": "", "hundred": "", "ten ten": "",
	} {
		text := "I'll create a rectangle at x 5 and y 6 with a width of " + words + "."
		r, err := newParser(t, fallback.Steps(fallback.NewIntent())...).Parse(context.Background(), text, parser.Context{})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if len(r.Calls) == 1 {
			got = fmt.Sprint(r.Calls[0].Parameters["width"])
		}
		if got != want {
			t.Errorf("%q: %q, want %q", words, got, want)
		}
	}
}

// FuzzIntent holds that any bytes give a call only with values that stand in them.
func FuzzIntent(f *testing.F) {
	for _, s := range []string{
		"Create a rectangle 100 by 50 at (1, 2).", "I'll write to the file with path \"a\" and content \"b\".", "I'll check the weather in Rome.",
		"I'll tag it with “a”, '−5' 1e5 ٣ twenty-one hundred",
	} {
		f.Add(s)
	}
	tier, list := fallback.NewIntent(), tools(f)
	f.Fuzz(func(t *testing.T, text string) {
		k := &fallback.Case{Text: text, Tools: list, Cues: fallback.Cues{Words: true}}
		r, _ := tier.Recover(context.Background(), k)
		for _, p := range r.Proposals {
			if !p.Inferred || p.Confidence > fallback.MaxIntentConfidence || p.Raw != text[p.Span[0]:p.Span[1]] {
				t.Errorf("%q: %+v", text, p)
			}
			for key, v := range p.Parameters {
				if s, ok := v.(string); ok && !strings.Contains(strings.ToLower(text), strings.ToLower(s)) {
					t.Errorf("%q: %s is %q", text, key, s)
				}
			}
		}
	})
}
