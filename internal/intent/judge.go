// Package intent judges whether a call that stands in a model's text is made or only
// spoken of, from what stands around it:
//
//	Creating the rectangle now: {…}   an act
//	Never send {…} to production.     a mention
//
// The judgement is learned. testdata/intent holds the labelled texts, internal/intent/fit
// fits the weights, docs/intent.md has the rules of the labels and the figures.
//
// NOTE: the weights belong to the features. Who changes the lexicons, the folding, the
// reading or the features fits anew: go run ./internal/intent/fit -write.
package intent

import (
	"math"
	"sync"
)

// Answer is what the words around a candidate say of it.
type Answer struct {
	// Logit is the logarithm of the odds that the candidate is an act: 0 for even odds,
	// above 0 for an act.
	Logit float64
	// Probability is that of an act, from 0 to 1. It is calibrated on texts that were not
	// fitted on.
	Probability float64
}

// Act reports whether an act is more likely than a mention.
func (a Answer) Act() bool { return a.Logit > 0 }

func answer(logit float64) Answer {
	return Answer{logit, 1 / (1 + math.Exp(-logit))}
}

var scratch = sync.Pool{New: func() any {
	return &Features{Grams: make([]Gram, 0, 4096), matches: make([]match, 0, maxMatches)}
}}

// Judge judges a candidate by what stands around it. The same context has the same
// answer always; every context has one, whatever its bytes. At most [MaxBefore] and
// [MaxAfter] bytes are looked at. The first call loads the lexicons and the weights.
//
// It is safe for concurrent use.
func Judge(c *Context) Answer {
	f := scratch.Get().(*Features)
	defer scratch.Put(f)
	f.Read(c)
	return answer(loadModel().Logit(f))
}
