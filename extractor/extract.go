package extractor

import (
	"slices"

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
	all := &extraction{}
	o.anyValue = true
	s := NewScanner(lenient.NewCursor([]byte(text)), o, all)
	// Without a check nothing ends a scan early.
	if err := s.Run(); err != nil {
		return all.found
	}
	return all.found
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
type extraction struct{ found []Extraction }

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

// The rest of what a scanner finds is not asked for.
func (*extraction) Content(string)           {}
func (*extraction) Reasoning(string)         {}
func (*extraction) Recast()                  {}
func (*extraction) Abandoned()               {}
func (*extraction) Unclosed()                {}
func (*extraction) Draft(*Dialect, int)      {}
func (*extraction) Dropped(int, int, string) {}
