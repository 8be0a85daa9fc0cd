package scan

import (
	"strings"

	"github.com/callwright/callwright/internal/lenient"
)

// Values returns every stretch of a text that may be a JSON value or a call, in the
// order of the text, and the text's reasoning, in which it looks for nothing.
func Values(text string, o Options) (found []*Candidate, reasoning string) {
	v := &values{}
	o.AnyValue = true
	// A check that ends the scan early leaves what was found until then.
	_ = New(lenient.NewText(text), o, v).Run()
	return v.found, v.reasoning.String()
}

// values is a sink that takes every candidate.
type values struct {
	collector
	content, reasoning strings.Builder
}

func (v *values) Content(text string)   { v.content.WriteString(text) }
func (v *values) Reasoning(text string) { v.reasoning.WriteString(text) }

// Recast makes reasoning of all that came before.
func (v *values) Recast() {
	v.reasoning.WriteString(v.content.String())
	v.content.Reset()
	v.found = nil
}
