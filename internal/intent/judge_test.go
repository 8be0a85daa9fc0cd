package intent_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/callwright/callwright/internal/intent"
	"pgregory.net/rapid"
)

// pieces are what contexts are put together of: cues, marks, scripts, broken bytes.
var pieces = []string{
	"never ", "Example:", "I'll ", "run", "?", "!", ". ", "…", "\n", "\n\n", "# ", "- ", "1. ", "> ", "| ", "```json\n", "```\n", "`", "\"", "(", "[", "]", ";", ", ",
	"<tool_call>", "</tool_call>", "<|im_start|>", "<example>", "</think>", intent.Call, "не ", "никогда ", "değil", "لا ", "मत ", "不要", "しないで", "하지 마세요",
	"ไม่", "\xff", "\xe2\x80", "\x00", "\u200b", "\u0301", "🙂", "\r\n", "\t", "**", "—", "→", "e.g.", "3.14", "word ",
}

func drawText(t *rapid.T, name string) string {
	if rapid.Bool().Draw(t, name+" raw") {
		return string(rapid.SliceOfN(rapid.Byte(), 0, 2000).Draw(t, name))
	}
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 300).Draw(t, name), "")
}

func drawContext(t *rapid.T) intent.Context {
	return intent.Context{
		Before: drawText(t, "before"), After: drawText(t, "after"),
		Begins: rapid.Bool().Draw(t, "begins"), Ends: rapid.Bool().Draw(t, "ends"),
		Form:        rapid.SampledFrom([]intent.Form{intent.JSON, intent.Python, intent.Trained, intent.Tag, intent.Label}).Draw(t, "form"),
		Fence:       rapid.SampledFrom([]string{"", "-", "json", "python", "tool_call", "\xff"}).Draw(t, "fence"),
		Placeholder: rapid.Bool().Draw(t, "placeholder"),
		Earlier:     rapid.IntRange(-1, 1<<40).Draw(t, "earlier"), Made: rapid.IntRange(-1, 1<<40).Draw(t, "made"),
	}
}

// checkAnswer checks what every answer promises.
func checkAnswer(t interface{ Fatalf(string, ...any) }, c intent.Context) {
	a := intent.Judge(&c)
	if math.IsNaN(a.Logit) || math.IsInf(a.Logit, 0) || a.Probability < 0 || a.Probability > 1 {
		t.Fatalf("%+v has the answer %+v", c, a)
	}
	if a.Act() != (a.Probability > 0.5) {
		t.Fatalf("%+v: the side and the probability differ: %+v", c, a)
	}
	if b := intent.Judge(&c); a != b {
		t.Fatalf("%+v has two answers, %+v and %+v", c, a, b)
	}
	b, reasons := intent.Explain(&c)
	if a != b {
		t.Fatalf("%+v is judged as %+v and explained as %+v", c, a, b)
	}
	if len(reasons) > 6 {
		t.Fatalf("%d reasons", len(reasons))
	}
	for i, r := range reasons {
		if r.Text == "" || r.Weight == 0 || i > 0 && math.Abs(r.Weight) > math.Abs(reasons[i-1].Weight) {
			t.Fatalf("reasons %v", reasons)
		}
	}
}

func TestAnyContextHasOneAnswer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkAnswer(t, drawContext(t)) })
}

func FuzzJudge(f *testing.F) {
	f.Add("Never send ", " to production.", byte(0), "")
	f.Add("Running `", "` now", byte(2), "json")
	f.Add("\xff# Example\n```json\n", "\n```\n"+intent.Call, byte(4), "-")
	f.Fuzz(func(t *testing.T, before, after string, form byte, fence string) {
		checkAnswer(t, intent.Context{Before: before, After: after, Form: intent.Form(form), Fence: fence, Begins: form&8 != 0, Ends: form&16 != 0})
	})
}

// TestBounded checks that nothing beyond the bounds changes an answer.
func TestBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawContext(t)
		c.Before = c.Before + strings.Repeat("x", intent.MaxBefore)
		c.After = strings.Repeat("y", intent.MaxAfter) + c.After
		near := c
		near.Before = strings.Repeat("x", intent.MaxBefore)
		near.After = strings.Repeat("y", intent.MaxAfter)
		if a, b := intent.Judge(&c), intent.Judge(&near); a != b {
			t.Fatalf("%+v, and what is near alone: %+v", a, b)
		}
	})
}

// TestAround checks the bounds of contexts and that their text is the text's.
func TestAround(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := drawText(t, "text")
		cuts := rapid.SliceOfNDistinct(rapid.IntRange(0, len(text)), 0, 8, rapid.ID[int]).Draw(t, "cuts")
		slices.Sort(cuts)
		var spans []intent.Span
		for i := 0; i+1 < len(cuts); i += 2 {
			spans = append(spans, intent.Span{Start: cuts[i], End: cuts[i+1]})
		}
		for i := range spans {
			c := intent.Around(text, spans, i)
			if len(c.Before) > intent.MaxBefore || len(c.After) > intent.MaxAfter || c.Earlier != i {
				t.Fatalf("%d before, %d after, %d earlier of %d", len(c.Before), len(c.After), c.Earlier, i)
			}
			own := c.Before
			if k := strings.LastIndex(own, intent.Call); k >= 0 {
				own = own[k+len(intent.Call):]
			}
			if !strings.HasSuffix(text[:spans[i].Start], own) {
				t.Fatalf("%q does not stand before %d", own, spans[i].Start)
			}
			if !strings.HasPrefix(text[spans[i].End:], strings.TrimSuffix(c.After, intent.Call)) {
				t.Fatalf("%q does not stand behind %d", c.After, spans[i].End)
			}
		}
	})
}

// TestAfterEndOfStream checks that what a decision looks at behind a candidate does not
// change once its end has come: more text leaves it where it is.
func TestAfterEndOfStream(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		after := strings.ToValidUTF8(drawText(t, "after"), "?")
		n, whole := intent.AfterEnd(after)
		if n > intent.MaxAfter || n > len(after) || whole && n != len(after) {
			t.Fatalf("%d of %d, whole %v", n, len(after), whole)
		}
		for i := range after {
			if m, all := intent.AfterEnd(after[:i]); !all && m != n {
				t.Fatalf("the end is %d after %d bytes and %d after %d", m, i, n, len(after))
			}
		}
	})
}

// TestNoAllocation checks that a judgement takes no memory of its own.
func TestNoAllocation(t *testing.T) {
	c := long
	intent.Judge(&c)
	if n := testing.AllocsPerRun(50, func() { intent.Judge(&c) }); n > 1 {
		t.Errorf("%v allocations", n)
	}
}

// TestMarkerIsEvidence checks that a marker that models are trained to emit never speaks
// against a call that stands alone or in neutral words, and that clear words overturn it.
func TestMarkerIsEvidence(t *testing.T) {
	for _, c := range []intent.Context{
		{Begins: true, Ends: true},
		{Before: "before", After: "after", Begins: true, Ends: true},
		{Before: "The file has 310 lines.\n", Begins: true, Ends: true},
		{Before: "Two rooms are free.\n\n", After: "\n\nThe larger one has a projector.", Begins: true, Ends: true},
		{Before: "def f(x):\n    return x\n\n", Begins: true, Ends: true},
	} {
		c.Form = intent.Trained
		if a, reasons := intent.Explain(&c); a.Probability < 0.7 {
			t.Errorf("%+v: %.2f %v", c, a.Probability, reasons)
		}
	}
	for _, before := range []string{"Never send ", "For example, this is what a call looks like, do not run it: ", "I refuse to run "} {
		c := intent.Context{Before: before, Begins: true, Ends: true, Form: intent.Trained}
		if a, reasons := intent.Explain(&c); a.Act() {
			t.Errorf("%+v: %.2f %v", c, a.Probability, reasons)
		}
	}
}

// TestExplain checks that the words that decide are named.
func TestExplain(t *testing.T) {
	a, reasons := intent.Explain(&intent.Context{Before: "Never send ", After: " to production.", Begins: true, Ends: true})
	if a.Act() {
		t.Fatalf("%.2f", a.Probability)
	}
	for _, r := range reasons {
		if strings.HasPrefix(r.String(), "against: ") && strings.Contains(r.Text, `"never`) {
			return
		}
	}
	t.Errorf("no reason names never: %v", reasons)
}

// TestValid checks that contexts keep whole runes.
func TestValid(t *testing.T) {
	text := strings.Repeat("ж", 2000)
	for at := 0; at <= len(text); at += 2 {
		c := intent.Around(text, []intent.Span{{Start: at, End: at}}, 0)
		if !utf8.ValidString(c.Before) || !utf8.ValidString(c.After) {
			t.Fatalf("at %d: %q %q", at, c.Before, c.After)
		}
	}
}
