package parser

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/callwright/callwright/fallback"
	"github.com/callwright/callwright/internal/lenient"
	"github.com/callwright/callwright/internal/scan"
	"github.com/callwright/callwright/internal/text"
	"github.com/callwright/callwright/registry"
	"github.com/callwright/callwright/validator"
)

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

// fallBack tries the chain of fallbacks where reading gave no call and one was meant.
func (c *collector) fallBack(ctx context.Context) {
	r := c.res
	if len(c.budget.attempts) > 0 {
		r.Recovery = &fallback.Report{Attempts: c.budget.attempts}
	}
	if len(r.Calls) > 0 || len(c.p.chain.Steps) == 0 || len(r.Rejected) == 0 && !c.p.deep {
		return
	}
	failures, rejected := c.failures()
	k := fallback.Case{Model: c.context.Model, Tools: c.p.registry, Failures: failures, Repairs: c.p.o.MaxRepairAttempts - c.budget.repairs}
	if c.p.inline { // they were repaired where they stand, or could not be
		k.Repairs = 0
	}
	if c.p.deep {
		k.Text, k.OtherTurns = c.content.String(), c.otherTurns()
		if len(r.Rejected) == 0 || len(failures) > 0 { // else nothing that was rejected can be recovered
			k.Cues = fallback.CuesIn(k.Text, failures, c.p.registry)
		}
	} else {
		k.Cues.Marker = len(failures) > 0
	}
	if !k.Cues.Any() {
		return
	}
	if c.p.o.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.p.o.Timeout)
		defer cancel()
	}
	recovered := map[int]bool{} // the rejected candidates that are calls now
	report := c.p.chain.Run(ctx, &k, func(s fallback.Strategy, proposals []fallback.Proposal) (int, error) {
		before := len(r.Calls)
		var failed error
		for i := range proposals {
			p := &proposals[i]
			if err := c.propose(p); err != nil {
				failed = errors.Join(failed, err)
			} else if p.Failure >= 0 && p.Failure < len(rejected) {
				recovered[rejected[p.Failure]] = true
			}
		}
		made := len(r.Calls) - before
		if made > 0 {
			r.Strategy = string(s)
			r.Repaired = r.Repaired || s == fallback.StrategyAutoRepair || s == fallback.StrategyModel
		}
		return made, failed
	})
	for i := len(r.Rejected) - 1; i >= 0; i-- {
		if recovered[i] {
			r.Rejected = slices.Delete(r.Rejected, i, i+1)
		}
	}
	report.Attempts = append(slices.Clone(c.budget.attempts), report.Attempts...)
	if report.Plan != nil || len(report.Attempts) > 0 {
		r.Recovery = &report
	}
}

// failures lists for the fallbacks what went wrong, and for each the index of its
// rejected candidate, -1 if it has none.
func (c *collector) failures() (failures []fallback.Failure, rejected []int) {
	for i := range c.res.Rejected {
		x := &c.res.Rejected[i]
		if !x.recoverable() {
			continue
		}
		failures = append(failures, fallback.Failure{
			Tool: x.Tool, Parameters: x.asRead(), Raw: x.Raw, Span: x.Span, Provenance: x.Provenance, Truncated: x.Truncated,
			Broken: x.broken, ArgumentsOnly: x.named, Errors: x.Errors,
		})
		rejected = append(rejected, i)
	}
	for _, f := range c.broken {
		failures = append(failures, f)
		rejected = append(rejected, -1)
	}
	return failures, rejected
}

// otherTurns reports whether a marker of a turn stands in the text and not behind it: the
// content may have somebody else's words.
func (c *collector) otherTurns() bool {
	before := c.content.len() + c.reasoning.len()
	for _, d := range c.res.Dropped {
		switch d.Why {
		case DroppedTurnMarker, DroppedMessageHeader, DroppedInventedResult, DroppedInventedObservation:
			if d.Span[0] < before {
				return true
			}
		}
		before += d.Span[1] - d.Span[0]
	}
	return false
}

// asRead returns the parameters without what validation changed in them.
func (r *Rejected) asRead() map[string]any {
	if len(r.coercions)+len(r.defaults) == 0 {
		return r.Parameters
	}
	read, _ := text.Clone(r.Parameters).(map[string]any)
	for _, path := range r.defaults {
		setAt(read, path, nil, true)
	}
	for _, x := range slices.Backward(r.coercions) {
		setAt(read, x.Path, x.From, false)
	}
	return read
}

// setAt sets or removes what stands at a JSON pointer, if there is such a place.
func setAt(object map[string]any, path string, value any, remove bool) {
	keys := text.Keys(path)
	if len(keys) == 0 {
		return
	}
	var at any = object
	for _, key := range keys[:len(keys)-1] {
		at, _ = member(at, key)
	}
	last := keys[len(keys)-1]
	switch x := at.(type) {
	case map[string]any:
		if remove {
			delete(x, last)
		} else {
			x[last] = value
		}
	case []any:
		if i, err := strconv.Atoi(last); err == nil && i >= 0 && i < len(x) && !remove {
			x[i] = value
		}
	}
}

// member returns a member of an object, or an element of a list by its number.
func member(v any, key string) (any, bool) {
	switch x := v.(type) {
	case map[string]any:
		e, ok := x[key]
		return e, ok
	case []any:
		if i, err := strconv.Atoi(key); err == nil && i >= 0 && i < len(x) {
			return x[i], true
		}
	}
	return nil, false
}

// propose makes the calls of a proposal, if all of them are valid.
func (c *collector) propose(p *fallback.Proposal) error {
	cand := &scan.Candidate{
		Method: p.Method, Provenance: p.Provenance, Start: p.Span[0], End: p.Span[1], Raw: p.Raw, Truncated: p.Truncated, Value: p.Value,
	}
	if p.Tool != "" {
		cand.Named, cand.Name, cand.Arguments, cand.Value = true, p.Tool, p.Value, nil
		if p.Parameters != nil {
			cand.Arguments = p.Parameters
		}
	}
	if p.Value != nil {
		cand.Fixes.Add(p.Span[0], lenient.MissingClose)
		cand.Evidence.Guess = true
	}
	found, none := c.judge.open(cand, &budget{})
	if len(found.Entries) == 0 {
		c.explained(cand, &none)
		if err := joinErrors(nil, none.errors); err != nil {
			return err
		}
		return errNoCall
	}
	var err error
	var calls []Call
	for i := range found.Entries {
		v := c.judge.entry(cand, &found, &found.Entries[i], origin{proposal: p})
		if v.made() && c.replacesCut(p, &v.call) {
			v.reject(errCutDefault.Error(), false, validator.Error{Code: CodeTruncated, Message: errCutDefault.Error()})
		}
		c.explained(cand, &v)
		if v.made() {
			calls = append(calls, v.call)
		} else {
			err = joinErrors(err, v.errors)
		}
	}
	switch {
	case err != nil:
		return err
	case len(calls) == 0:
		return errNoCall
	}
	for i := range calls[:min(len(calls), c.p.o.MaxCalls-len(c.res.Calls))] {
		x := &calls[i]
		if c.ids.has(x.ID) {
			x.ID = ""
		}
		t := c.newTeller()
		c.add(x, &t)
	}
	return nil
}

// errCutDefault says that a default would take the place of what the text's end cut off.
var errCutDefault = errors.New("a default would take the place of the parameter that was being written")

// replacesCut reports whether one of a call's defaults may stand in the place of the
// parameter of a proposal whose name was being written. A name that begins like none of the
// tool's other parameters may be another word for any of them.
func (c *collector) replacesCut(p *fallback.Proposal, x *Call) bool {
	if p.CutKey == nil || len(x.Defaults) == 0 {
		return false
	}
	meant := false
	for _, name := range c.p.registry.Get(x.Tool).Order() {
		isDefault := slices.Contains(x.Defaults, text.Pointer("", name))
		_, there := x.Parameters[name]
		if there && !isDefault || !strings.HasPrefix(strings.ToLower(name), strings.ToLower(*p.CutKey)) {
			continue
		}
		if meant = true; isDefault {
			return true
		}
	}
	return !meant
}

// errNoCall says that a fallback's proposal has not the shape of a call.
var errNoCall = errors.New("what was proposed is no call")

func joinErrors(err error, more []validator.Error) error {
	for _, e := range more {
		err = errors.Join(err, e)
	}
	return err
}

// toolOf returns the tool that a rejected candidate was to call, nil if that is not known.
func (c *collector) toolOf(x *Rejected) *registry.Tool {
	if m, ok := c.p.registry.Lookup(x.Tool); ok {
		return m.Tool
	}
	if x.Reason() == validator.UnknownTool {
		return c.p.registry.Get(x.Errors[0].SuggestedFix)
	}
	return nil
}
