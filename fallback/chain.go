package fallback

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// priorRates are estimates of how often a strategy helps, until there are measurements.
var priorRates = map[Strategy]float64{
	StrategyAutoRepair: 0.6, StrategyModel: 0.6, StrategyIntent: 0.4, StrategyPartial: 0.5, StrategyClarification: 0,
}

// Chain is a list of tiers, in the order in which they are tried.
type Chain struct {
	Steps []Step
	// Rate returns the share of a strategy's attempts that gave a call, from 0 to 1; ok is
	// false if there were too few. It may be nil.
	Rate func(Strategy) (rate float64, ok bool)
}

// ErrNoTier says that a step of a chain has no tier.
var ErrNoTier = errors.New("a step of the chain has no tier")

// Check returns an error if a step has no tier, [ErrNoTier], or a negative timeout.
func (c *Chain) Check() error {
	for i, s := range c.Steps {
		if s.Tier == nil {
			return fmt.Errorf("%w: step %d", ErrNoTier, i)
		}
		if s.Timeout < 0 {
			return fmt.Errorf("step %d (%s): the timeout is %v, must be 0 or more", i, s.Tier.Strategy(), s.Timeout)
		}
	}
	return nil
}

// Plan returns the plan for a case; nil if no tier applies.
func (c *Chain) Plan(k *Case) *Plan {
	var p Plan
	missed := 1.0
	bounded := true
	for _, s := range c.Steps {
		if !s.Tier.Applies(k) {
			continue
		}
		name := s.Tier.Strategy()
		if p.Primary == "" {
			p.Primary = name
		} else {
			p.Fallbacks = append(p.Fallbacks, name)
		}
		rate := priorRates[name]
		if c.Rate != nil {
			if r, ok := c.Rate(name); ok {
				rate = r
			}
		}
		missed *= 1 - rate
		p.TimeoutMilliseconds += s.Timeout.Milliseconds()
		bounded = bounded && s.Timeout > 0
	}
	if p.Primary == "" {
		return nil
	}
	if !bounded {
		p.TimeoutMilliseconds = 0
	}
	if p.Fallbacks == nil {
		p.Fallbacks = []Strategy{}
	}
	p.EstimatedSuccessRate = float64(int((1-missed)*1000+0.5)) / 1000
	p.RequiredUserInput = requiredInput(k)
	return &p
}

// Run tries the tiers that apply, one after the other, until one gives calls. take checks
// the proposals of a tier and returns the number of valid calls; its error says why some
// are not.
func (c *Chain) Run(ctx context.Context, k *Case, take func(Strategy, []Proposal) (int, error)) (r Report) {
	r.Plan = c.Plan(k)
	for _, s := range c.Steps {
		if !s.Tier.Applies(k) || ctx.Err() != nil {
			continue
		}
		start := time.Now()
		a := Attempt{Strategy: s.Tier.Strategy()}
		got, err := recoverWithin(ctx, s, k)
		a.Tried = got.Tried
		for i := range got.Proposals {
			a.Changed = append(a.Changed, got.Proposals[i].Fixes...)
		}
		if len(got.Proposals) > 0 && err == nil {
			a.Calls, err = take(a.Strategy, got.Proposals)
		}
		if err != nil {
			a.Error = err.Error()
		}
		r.Suggestions = append(r.Suggestions, got.Suggestions...)
		a.DurationMicroseconds = time.Since(start).Microseconds()
		r.Attempts = append(r.Attempts, a)
		if a.Calls > 0 {
			break
		}
	}
	return r
}

// recoverWithin tries a tier within its timeout. A panic becomes an error.
func recoverWithin(ctx context.Context, s Step, k *Case) (r Recovery, err error) {
	defer func() {
		if p := recover(); p != nil {
			r, err = Recovery{}, fmt.Errorf("internal error: %v", p)
		}
	}()
	if s.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.Timeout)
		defer cancel()
	}
	return s.Tier.Recover(ctx, k)
}
