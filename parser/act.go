package parser

import (
	"math"

	"github.com/callwright/callwright/call"
	"github.com/callwright/callwright/internal/intent"
	"github.com/callwright/callwright/internal/scan"
)

// weigh judges whether a candidate is made or only spoken of, by what stands around it. A
// call in the provider's own field is made; so is one with nothing said around it.
func weigh(cand *scan.Candidate) {
	a := &cand.Around
	switch {
	case cand.Provenance == call.Native:
		cand.Evidence.Act = 1
	case !intent.Says(a.Before) && !intent.Says(a.After):
		cand.Evidence.Act = actAlone
	default:
		cand.Evidence.Act = round(1 / (1 + math.Exp(-sharpness*intent.Judge(a).Logit)))
	}
}

// actAlone is the probability that a call is made with nothing said around it.
const actAlone = 0.995

// sharpness corrects the model's care: it was calibrated on the hardest texts, on which
// people have to think. On the sample that the confidence is fitted on, and on recorded
// answers, it is right more often than it says.
const sharpness = 2

// mentioned reports whether a candidate is rather spoken of than made.
func mentioned(cand *scan.Candidate) bool { return cand.Evidence.Act < 0.5 }

// why says in words which of its surroundings spoke for a candidate and against it.
func why(cand *scan.Candidate) (list []string) {
	if cand.Provenance == call.Native {
		return nil
	}
	_, reasons := intent.Explain(&cand.Around)
	for _, r := range reasons {
		list = append(list, r.String())
	}
	return list
}
