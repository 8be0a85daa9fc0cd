package parser

import (
	"cmp"
	"slices"
)

// Score is the score of the whole result: that of its weakest call, since one that is
// wrong spoils what the others do. A result without calls has the score of its best
// candidate, with an overall confidence of 0.
func (r *Result) Score() Score {
	var s Score
	for i := range r.Calls {
		if i == 0 || r.Calls[i].Score.Overall < s.Overall {
			s = r.Calls[i].Score
		}
	}
	if len(r.Calls) > 0 {
		return s
	}
	for i := range r.Rejected {
		if i == 0 || r.Rejected[i].Score.Overall > s.Overall {
			s = r.Rejected[i].Score
		}
	}
	s.Overall = 0
	return s
}

// RankedAttempt is one of several results of the same text, or of several answers to
// the same question.
type RankedAttempt struct {
	// Attempt is its index among those that were ranked.
	Attempt int
	Result  *Result
	Score   Score
}

// Rank orders attempts, the best first: by the score of their weakest call, then by how
// little they rejected, then by how little had to be changed. Of equals the earlier one
// comes first. nil results are left out.
func Rank(attempts ...*Result) []RankedAttempt {
	var list []RankedAttempt
	for i, r := range attempts {
		if r != nil {
			list = append(list, RankedAttempt{i, r, r.Score()})
		}
	}
	changes := func(r *Result) (n int) {
		for i := range r.Calls {
			n += len(r.Calls[i].Repairs) + len(r.Calls[i].Coercions)
		}
		return n
	}
	slices.SortStableFunc(list, func(a, b RankedAttempt) int {
		return cmp.Or(
			cmp.Compare(b.Score.Overall, a.Score.Overall), cmp.Compare(len(a.Result.Rejected), len(b.Result.Rejected)),
			cmp.Compare(changes(a.Result), changes(b.Result)),
		)
	})
	return list
}
