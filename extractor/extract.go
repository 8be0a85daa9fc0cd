package extractor

import (
	"slices"
	"strings"

	"github.com/callwright/callwright/internal/lenient"
)

// Extraction is one candidate as a value, without regard to any tool.
type Extraction struct {
	Candidate
	// Confidence is how likely it is that the value is what the text holds, from 0
	// to 1, by how it was found and what was repaired.
	Confidence float64
	// Errors say what is wrong with it: that it is cut off, or not readable.
	Errors []error
}

// ExtractAll returns every stretch of a text that may be a JSON value or a call,
// in the order of the text: what stands between markers, in fences, alone or
// within prose; whole, repaired or cut off.
func ExtractAll(text string, o Options) []Extraction {
	all, _ := ExtractValues(text, o)
	return all
}

// ExtractValues is [ExtractAll] and also returns the text's reasoning, in which it
// looks for nothing.
func ExtractValues(text string, o Options) (found []Extraction, reasoning string) {
	all := &extraction{}
	o.anyValue = true
	s := NewScanner(lenient.NewCursor([]byte(text)), o, all)
	// A check that ends the scan early leaves what was found until then.
	_ = s.Run()
	return all.found, all.reasoning.String()
}

// SelectBest returns the likeliest of candidates: one without errors, by its
// confidence; of fenced ones that are as likely the last, since models correct
// themselves. ok is false if there is none.
func SelectBest(candidates []Extraction) (best Extraction, ok bool) {
	ranked := slices.Clone(candidates)
	slices.Reverse(ranked)
	slices.SortStableFunc(ranked, func(a, b Extraction) int {
		if (len(a.Errors) == 0) != (len(b.Errors) == 0) {
			if len(a.Errors) == 0 {
				return -1
			}
			return 1
		}
		switch {
		case a.Confidence > b.Confidence:
			return -1
		case a.Confidence < b.Confidence:
			return 1
		}
		return 0
	})
	if len(ranked) == 0 {
		return best, false
	}
	return ranked[0], true
}

// extraction is a sink that takes every candidate.
type extraction struct {
	found              []Extraction
	content, reasoning strings.Builder
}

// methodConfidence is how far a way of finding is to be trusted.
var methodConfidence = map[Method]float64{
	MethodDialect: 0.97, MethodFullJSON: 0.95, MethodCodeblock: 0.9, MethodBalanced: 0.8, MethodPartial: 0.7, MethodNative: 1, MethodAssisted: 0.6,
}

// Candidate takes a candidate.
func (x *extraction) Candidate(c *Candidate) bool {
	e := Extraction{Candidate: *c, Confidence: methodConfidence[c.Method]}
	if c.Fixes.Any() {
		e.Confidence *= 0.9
	}
	if c.Truncated {
		e.Confidence *= 0.5
		e.Errors = append(e.Errors, ErrTruncated)
	}
	if c.Err != nil {
		e.Confidence *= 0.1
		e.Errors = append(e.Errors, c.Err)
	}
	if c.Evidence.Quoted || c.Evidence.Example {
		e.Confidence *= 0.6
	}
	x.found = append(x.found, e)
	return true
}

// Content takes text for the user.
func (x *extraction) Content(text string) { x.content.WriteString(text) }

// Reasoning takes text that the model says to itself.
func (x *extraction) Reasoning(text string) { x.reasoning.WriteString(text) }

// Recast makes reasoning of all that came before.
func (x *extraction) Recast() {
	x.reasoning.WriteString(x.content.String())
	x.content.Reset()
	x.found = nil
}

// The rest of what a scanner finds is not asked for.
func (*extraction) Abandoned()               {}
func (*extraction) Unclosed()                {}
func (*extraction) Draft(*Dialect, int)      {}
func (*extraction) Dropped(int, int, string) {}
