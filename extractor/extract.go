// Package extractor finds in a model's text every stretch that may be a JSON value or
// a tool call, without regard to any tool: what stands between a dialect's markers, in
// fences, alone or within prose; whole, repaired or cut off.
//
//	found := extractor.ExtractAll("Sure: {\"tool\": \"add\", \"a\": 1,}", extractor.Options{})
//	best, ok := extractor.SelectBest(found)
//
// To have calls checked against tools and scored, use package parser.
package extractor

import (
	"slices"

	"github.com/callwright/callwright/call"
	"github.com/callwright/callwright/dialect"
	"github.com/callwright/callwright/internal/scan"
)

// Errors of an [Extraction].
var (
	// ErrExpression says that an argument is code, which is never run.
	ErrExpression = scan.ErrExpression
	// ErrTruncated says that the text ended inside the candidate.
	ErrTruncated = scan.ErrTruncated
)

// Options say how a text is read. The zero value reads the built-in dialects.
type Options struct {
	// Dialects are known besides the built-in ones, and before them. ExtractAll makes a
	// table of them each time; an error of theirs leaves the built-in ones alone.
	Dialects dialect.Set
	// ReasoningOpen says that the text begins within reasoning.
	ReasoningOpen bool
}

// Extraction is one candidate as a value.
type Extraction struct {
	call.Candidate
	// Confidence is how likely it is that the value is what the text holds, from 0 to
	// 1, by how it was found and what was repaired.
	Confidence float64
	// Errors say what is wrong with it: that it is cut off ([ErrTruncated]), or not
	// readable.
	Errors []error
}

// ExtractAll returns every stretch of a text that may be a JSON value or a call, in
// the order of the text. In reasoning it looks for nothing.
func ExtractAll(text string, o Options) []Extraction {
	so := scan.Options{ReasoningOpen: o.ReasoningOpen}
	if !o.Dialects.IsZero() {
		if t, err := scan.NewTable(dialect.Builtin().With(o.Dialects)); err == nil {
			so.Table = t
		}
	}
	candidates, _ := scan.Values(text, so)
	var found []Extraction
	for _, c := range candidates {
		found = append(found, extraction(c))
	}
	return found
}

// methodConfidence is how far a way of finding is to be trusted.
var methodConfidence = map[call.Method]float64{
	call.MethodDialect: 0.97, call.MethodFullJSON: 0.95, call.MethodCodeblock: 0.9, call.MethodBalanced: 0.8, call.MethodPartial: 0.7,
	call.MethodNative: 1, call.MethodAssisted: 0.6,
}

func extraction(c *scan.Candidate) Extraction {
	e := Extraction{Candidate: c.Plain(), Confidence: methodConfidence[c.Method]}
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
	return e
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
