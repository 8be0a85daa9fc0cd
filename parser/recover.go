package parser

import (
	"context"
	"errors"
	"slices"

	"github.com/callwright/callwright/extractor"
	"github.com/callwright/callwright/fallback"
	"github.com/callwright/callwright/internal/lenient"
	"github.com/callwright/callwright/registry"
	"github.com/callwright/callwright/validator"
)

// maxBroken is how many unreadable objects of a text are remembered.
const maxBroken = 16

// setChain puts the chain of fallbacks together.
func (p *Parser) setChain() {
	steps := p.o.Fallbacks
	if steps == nil {
		steps = fallback.Default()
	}
	p.inline = !p.o.NoRepairs && !p.o.StrictMode && len(steps) > 0 && steps[0].Tier.Strategy() == fallback.StrategyAutoRepair
	if p.o.NoRepairs {
		steps = slices.DeleteFunc(slices.Clone(steps), func(s fallback.Step) bool { return s.Tier.Strategy() == fallback.StrategyAutoRepair })
	}
	if p.o.NoFallbacks || p.o.StrictMode {
		steps = nil
	}
	for _, s := range steps {
		if name := s.Tier.Strategy(); name != fallback.StrategyAutoRepair && name != fallback.StrategyClarification {
			p.deep = true
		}
	}
	p.chain = fallback.Chain{Steps: steps}
	if m := p.o.Metrics; m != nil {
		p.chain.Rate = func(s fallback.Strategy) (float64, bool) { return m.TierRate(string(s)) }
	}
}

// settled are the reasons of rejection that leave nothing to recover: the text was
// read, and the call is not to be made.
var settled = map[validator.Code]bool{
	CodeInReasoning: true, CodeLowConfidence: true, CodeMarkerRequired: true, CodeEcho: true, CodeExpression: true, CodeTooManyCalls: true, CodeStrict: true,
}

// fallBack asks the chain for what reading did not give.
func (h *handler) fallBack(ctx context.Context) {
	r := &h.res
	if len(h.attempts) > 0 {
		r.Recovery = &fallback.Report{Attempts: h.attempts}
	}
	if len(r.Calls) > 0 || len(h.p.chain.Steps) == 0 || len(r.Rejected) == 0 && !h.p.deep {
		return
	}
	k := fallback.Case{Model: h.c.Model, Tools: h.p.registry, Repairs: h.p.o.MaxRepairAttempts - h.repairs}
	var of []int // the rejected candidate of each failure
	for i := range r.Rejected {
		x := &r.Rejected[i]
		if len(x.Errors) == 0 || settled[x.Errors[0].Code] {
			continue
		}
		k.Failures = append(k.Failures, fallback.Failure{
			Tool: x.Tool, Parameters: x.Parameters, Raw: x.Raw, Span: x.Span, Provenance: x.Provenance, Truncated: x.Truncated, Broken: x.broken, ArgumentsOnly: x.named, Errors: x.Errors,
		})
		of = append(of, i)
	}
	for _, f := range h.broken {
		k.Failures = append(k.Failures, f)
		of = append(of, -1)
	}
	if h.p.inline { // they were repaired where they stand, or could not be
		k.Repairs = 0
	}
	if h.p.deep {
		k.Text = h.content.String()
		if len(r.Rejected) == 0 || len(k.Failures) > 0 { // else what is there was settled
			k.Cues = fallback.CuesIn(k.Text, k.Failures, h.p.registry)
		}
	} else {
		k.Cues.Marker = len(k.Failures) > 0
	}
	if !k.Cues.Any() {
		return
	}
	if h.p.o.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, h.p.o.Timeout)
		defer cancel()
	}
	report := h.p.chain.Run(ctx, &k, func(s fallback.Strategy, proposals []fallback.Proposal) (int, error) {
		made := len(r.Calls)
		var mended []int
		var failed error
		for i := range proposals {
			p := &proposals[i]
			if err := h.propose(p); err != nil {
				failed = errors.Join(failed, err)
			} else if p.Failure >= 0 && p.Failure < len(of) && of[p.Failure] >= 0 {
				mended = append(mended, of[p.Failure])
			}
		}
		slices.Sort(mended)
		for _, i := range slices.Backward(slices.Compact(mended)) {
			r.Rejected = slices.Delete(r.Rejected, i, i+1)
			for j := range of {
				if of[j] == i {
					of[j] = -1
				} else if of[j] > i {
					of[j]--
				}
			}
		}
		if made = len(r.Calls) - made; made > 0 {
			r.Strategy = string(s)
			r.Repaired = r.Repaired || s == fallback.StrategyAutoRepair || s == fallback.StrategyModel
		}
		return made, failed
	})
	report.Attempts = append(slices.Clone(h.attempts), report.Attempts...)
	if report.Plan != nil || len(report.Attempts) > 0 {
		r.Recovery = &report
	}
}

// propose makes the calls of a proposal, if they are valid.
func (h *handler) propose(p *fallback.Proposal) error {
	sub := newHandler(h.p, h.c, h.start)
	sub.recovering, sub.explain, sub.native = p, h.explain, h.native
	c := &extractor.Candidate{Method: p.Method, Provenance: p.Provenance, Start: p.Span[0], End: p.Span[1], Raw: p.Raw, Truncated: p.Truncated}
	switch {
	case p.Tool != "":
		c.Named, c.Name, c.Arguments = true, p.Tool, p.Value
		if p.Parameters != nil {
			c.Arguments = p.Parameters
		}
	default:
		c.Value = p.Value
	}
	if p.Value != nil {
		c.Fixes.Add(p.Span[0], lenient.MissingClose)
		c.Evidence.Guess = true
	}
	sub.Candidate(c)
	var err error
	for i := range sub.res.Rejected {
		for _, e := range sub.res.Rejected[i].Errors {
			err = errors.Join(err, e)
		}
	}
	if err != nil || len(sub.res.Calls) == 0 {
		if err == nil {
			err = errors.New("what was proposed is no call")
		}
		return err
	}
	for i := range sub.res.Calls {
		call := &sub.res.Calls[i]
		if len(h.res.Calls) >= h.p.o.MaxCalls {
			break
		}
		if h.ids[call.ID] {
			call.ID = ""
		}
		h.giveID(call)
		h.res.Calls = append(h.res.Calls, *call)
		h.res.Truncated = h.res.Truncated || call.Truncated
		h.closeProgress(&h.res.Calls[len(h.res.Calls)-1], nil)
	}
	return nil
}

// recovered notes on a call that a fallback proposed it.
func (h *handler) recovered(call *Call, sc *scorer) {
	p := h.recovering
	if p == nil {
		return
	}
	call.Inferred = call.Inferred || p.Inferred
	call.Repairs = append(call.Repairs, p.Fixes...)
	switch p.Method {
	case extractor.MethodAssisted:
		sc.add("assisted")
	case extractor.MethodIntent:
		sc.add("concluded")
	}
}

// meant returns the tool that a rejected candidate was to call, as far as one can tell.
func (h *handler) meant(x *Rejected) *registry.Tool {
	if m, ok := h.p.registry.Lookup(x.Tool); ok {
		return m.Tool
	}
	if len(x.Errors) > 0 && x.Errors[0].Code == validator.UnknownTool {
		return h.p.registry.Get(x.Errors[0].SuggestedFix)
	}
	return nil
}
