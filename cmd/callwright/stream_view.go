package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/callwright/callwright/internal/text"
	"github.com/callwright/callwright/parser"
)

// streamView shows the events of a stream to a person as they come: the text as it is, and
// each call on lines of its own.
type streamView struct {
	screen
	w        io.Writer
	inLine   bool            // the cursor stands within a line
	thinking bool            // the last text was reasoning
	shown    map[[2]int]bool // the spans of rejected calls that were shown
}

// event shows one event.
func (v *streamView) event(e *parser.Event) error {
	var b strings.Builder
	switch e.Type {
	case parser.EventContent:
		if v.thinking {
			v.newLine(&b)
		}
		v.thinking = false
		v.add(&b, stylePlain, e.Text)
	case parser.EventReasoning:
		v.thinking = true
		v.add(&b, styleReasoning, e.Text)
	case parser.EventRecast:
		v.newLine(&b)
		v.add(&b, styleMuted, "(all text so far was reasoning)\n")
	case parser.EventCallStart:
		v.newLine(&b)
		v.add(&b, styleTag, fmt.Sprintf("[%d %s]", e.Index+1, text.Clip(e.Tool, 48)))
		v.add(&b, stylePlain, " ")
	case parser.EventArguments:
		v.add(&b, styleCalled, e.Delta)
	case parser.EventCallEnd:
		v.end(&b, e)
	case parser.EventResult:
		v.newLine(&b)
		r := e.Result
		for i := range r.Rejected {
			if x := &r.Rejected[i]; !v.shown[x.Span] { // no event told of it
				v.rejected(&b, x, "")
			}
		}
		v.add(&b, styleMuted, fmt.Sprintf("%s, %d rejected\n", counted(len(r.Calls), "call"), len(r.Rejected)))
	}
	_, err := io.WriteString(v.w, b.String())
	return err
}

// end shows the end of a call. One whose beginning was not sent is shown whole.
func (v *streamView) end(b *strings.Builder, e *parser.Event) {
	if e.Call != nil {
		if !v.inLine {
			v.add(b, styleTag, fmt.Sprintf("[%d %s]", e.Index+1, text.Clip(e.Call.Tool, 48)))
			v.add(b, styleCalled, " "+compact(e.Call.Parameters))
		}
		v.add(b, styleMuted, fmt.Sprintf("  ✓ %.2f %s", e.Call.Confidence, e.Call.SourceFormat))
	}
	if e.Rejected != nil {
		v.rejected(b, e.Rejected, fmt.Sprint(e.Index+1, " "))
	}
	v.newLine(b)
}

// rejected shows why what looked like a call is none, behind its beginning if that is
// shown.
func (v *streamView) rejected(b *strings.Builder, x *parser.Rejected, number string) {
	if v.shown == nil {
		v.shown = map[[2]int]bool{}
	}
	v.shown[x.Span] = true
	if !v.inLine {
		v.add(b, styleTag, fmt.Sprintf("[%s%s]", number, cmp.Or(text.Clip(x.Tool, 48), "no name")))
	}
	v.add(b, styleRejected, fmt.Sprintf("  ✕ %s", x.Reason()))
	if len(x.Errors) > 0 {
		v.add(b, stylePlain, ": "+x.Errors[0].Message)
	}
	v.newLine(b)
}

func (v *streamView) add(b *strings.Builder, in style, t string) {
	if t == "" {
		return
	}
	b.WriteString(v.paint(in, t))
	v.inLine = !strings.HasSuffix(t, "\n")
}

func (v *streamView) newLine(b *strings.Builder) {
	if v.inLine {
		b.WriteString("\n")
		v.inLine = false
	}
}

// counted writes a number of things.
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
