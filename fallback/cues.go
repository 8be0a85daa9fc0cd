package fallback

import (
	"github.com/callwright/callwright/call"
	"github.com/callwright/callwright/internal/cue"
	"github.com/callwright/callwright/registry"
)

// Cues say what in a text shows that a call was meant. Without one of them the text is
// plain, and no tier is asked.
type Cues struct {
	// Marker says that a dialect's marker or the provider's own field announced a call.
	Marker bool
	// Broken says that there is an object that looks like a call.
	Broken bool
	// Name is a known tool's name that stands in the text as it is; "" if none does.
	Name string
	// Words says that the words of a known tool's name stand in the text.
	Words bool
}

// Plainly reports whether the text shows it without any guessing.
func (c Cues) Plainly() bool { return c.Marker || c.Broken || c.Name != "" }

// Any reports whether there is any cue.
func (c Cues) Any() bool { return c.Plainly() || c.Words }

// CuesIn looks for cues in a text and in what failed in it. The parser does so for the
// [Case] that it makes.
func CuesIn(text string, failures []Failure, tools *registry.Registry) (c Cues) {
	for i := range failures {
		if failures[i].Provenance == call.Bare {
			c.Broken = true
		} else {
			c.Marker = true
		}
	}
	c.Name = cue.ToolName(text, tools)
	if !c.Any() {
		c.Words = wordsIn(text, tools)
	}
	return c
}

// wordsIn reports whether all words of some tool's name stand in a text.
func wordsIn(text string, tools *registry.Registry) bool {
	if tools == nil || tools.Len() == 0 {
		return false
	}
	have := map[string]bool{}
	for _, t := range terms(text) {
		have[t] = true
	}
next:
	for _, tool := range tools.Tools() {
		words := terms(tool.Name)
		for _, w := range words {
			if !have[w] {
				continue next
			}
		}
		if len(words) > 0 {
			return true
		}
	}
	return false
}
