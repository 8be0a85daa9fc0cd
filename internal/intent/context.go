package intent

import (
	"strings"
	"unicode/utf8"
)

// Limits of what a decision looks at, in bytes.
const (
	MaxBefore = 480
	MaxAfter  = 240
)

// Call stands for an earlier or a following call in [Context.Before] and
// [Context.After]: the object replacement character.
const Call = "\uFFFC"

// Form is how a call is written.
type Form uint8

// The forms of a call.
const (
	JSON    Form = iota // JSON without a marker, in a fence or not
	Python              // f(a=1), or a list of such calls
	Trained             // behind a marker that models are trained to emit
	Tag                 // another marker or a tag: <f><a>1</a></f>
	Label               // lines behind a label: "Action: f"
	forms
)

// Context is what stands around a candidate: all that a decision may look at.
type Context struct {
	// Before is the text before the candidate, its marker or its fence, at most
	// [MaxBefore] bytes. Each earlier candidate in it is one [Call].
	Before string
	// After is the text behind the candidate, its marker or its fence, at most
	// [MaxAfter] bytes, as [AfterEnd] cuts it. If another candidate follows there, it
	// ends with one [Call].
	After string
	// Begins says that Before reaches back to the text's beginning, Ends that After
	// reaches the text's end.
	Begins, Ends bool

	Form Form
	// Fence is the info string of the Markdown fence around the candidate, "-" for a
	// fence without one, empty where there is no fence.
	Fence string
	// Placeholder says that an argument is one: "<city>", "YOUR_KEY", "...".
	Placeholder bool
	// Earlier counts the candidates before this one in the text, and Made those of them
	// that were judged to be made.
	Earlier, Made int
}

// Span is a candidate's place in a text, with its marker or its fence: offsets in bytes.
type Span struct{ Start, End int }

// Around returns what stands around spans[i] in a whole text. The spans are in the
// order of the text. What else is known of the candidate is left to the caller.
func Around(text string, spans []Span, i int) Context {
	var c Context
	c.Earlier = i
	from, parts := spans[i].Start, []string{}
	for j := i - 1; ; j-- {
		prev := 0
		if j >= 0 {
			prev = spans[j].End
		}
		if prev < from {
			parts = append(parts, text[prev:from])
		}
		if j < 0 {
			break
		}
		parts = append(parts, Call)
		from = spans[j].Start
	}
	var b strings.Builder
	for j := len(parts) - 1; j >= 0; j-- {
		b.WriteString(parts[j])
	}
	c.Before, c.Begins = lastBytes(b.String(), MaxBefore)
	after := text[spans[i].End:]
	follows := i+1 < len(spans)
	if follows {
		after = text[spans[i].End:spans[i+1].Start]
	}
	n, whole := AfterEnd(after)
	c.After = after[:n]
	if whole && follows {
		c.After += Call
	}
	c.Ends = whole && !follows
	return c
}

// lastBytes returns at most n bytes from the end of a text, in whole runes, and
// whether that is all of it.
func lastBytes(s string, n int) (string, bool) {
	if len(s) <= n {
		return s, true
	}
	s = s[len(s)-n:]
	for i := 0; i < utf8.UTFMax && len(s) > 0 && !utf8.RuneStart(s[0]); i++ {
		s = s[1:]
	}
	return s, false
}

// AfterEnd returns how much of the text behind a candidate a decision looks at, and
// whether that is all of it: to the end of the first line that says something, and
// at most [MaxAfter] bytes. What stands on the candidate's own line counts where it has
// a letter.
func AfterEnd(after string) (n int, whole bool) {
	letters := false
	for i, r := range after {
		if i >= MaxAfter-utf8.UTFMax-len(Call) {
			return i, false
		}
		if r == '\n' && letters {
			return i, false
		}
		if !letters && saysSomething(r) {
			letters = true
		}
	}
	return len(after), true
}

// saysSomething reports whether a rune belongs to a word.
func saysSomething(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return 'a' <= r|0x20 && r|0x20 <= 'z' || '0' <= r && r <= '9'
	}
	return isWordRune(r)
}
