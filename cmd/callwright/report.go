package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/callwright/callwright/internal/text"
	"github.com/callwright/callwright/parser"
)

func compact(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Sprint(v)
	}
	return text.Printable(strings.TrimSpace(b.String()))
}

// report writes a result as text, behind the text that was parsed with its calls marked.
func report(w io.Writer, input string, r *parser.Result) error {
	var b strings.Builder
	if r.Reply == nil { // spans of a reply are not offsets in the input
		screenOf(w).markedInput(&b, input, r, nil)
	}
	switch n := len(r.Calls); n {
	case 0:
		b.WriteString("No calls.\n")
	case 1:
		b.WriteString("1 call\n")
	default:
		fmt.Fprintf(&b, "%d calls\n", n)
	}
	for i := range r.Calls {
		c := &r.Calls[i]
		fmt.Fprintf(&b, "\n%d. %s  (confidence %.2f, %s, %s)\n", i+1, text.Printable(c.Tool), c.Confidence, c.SourceFormat, c.Provenance)
		fmt.Fprintf(&b, "   id: %s\n", text.Printable(c.ID))
		for _, k := range text.SortedKeys(c.Parameters) {
			fmt.Fprintf(&b, "   %s = %s\n", text.Printable(k), compact(c.Parameters[k]))
		}
		for _, x := range c.Coercions {
			fmt.Fprintf(&b, "   changed  %s: %s -> %s (%s)\n", text.Printable(x.Path), compact(x.From), compact(x.To), x.Rule)
		}
		for _, d := range c.Defaults {
			fmt.Fprintf(&b, "   default  %s\n", text.Printable(d))
		}
		for _, x := range c.Repairs {
			fmt.Fprintf(&b, "   repaired %s\n", x)
		}
		for _, x := range c.Warnings {
			fmt.Fprintf(&b, "   warning  %s\n", text.Printable(x))
		}
		if c.Truncated {
			b.WriteString("   the text was cut off inside this call\n")
		}
		if c.Inferred {
			b.WriteString("   inferred, not said plainly\n")
		}
	}
	for i := range r.Rejected {
		x := &r.Rejected[i]
		name := x.Tool
		if name == "" {
			name = "(no name)"
		}
		fmt.Fprintf(&b, "\nRejected: %s\n", text.Printable(name))
		for _, e := range x.Errors {
			fmt.Fprintf(&b, "   %s\n", text.Printable(e.Error()))
			if e.SuggestedFix != "" {
				fmt.Fprintf(&b, "   suggestion: %s\n", text.Printable(e.SuggestedFix))
			}
		}
	}
	for _, part := range []struct{ name, text string }{{"Reasoning", r.Reasoning}, {"Content", r.Content}} {
		if t := strings.TrimSpace(part.text); t != "" {
			fmt.Fprintf(&b, "\n%s:\n   %s\n", part.name, strings.ReplaceAll(text.Printable(t), "\n", "\n   "))
		}
	}
	for _, x := range r.Warnings {
		fmt.Fprintf(&b, "\nWarning: %s\n", text.Printable(x))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
