package parser

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/callwright/callwright/metrics"
)

var samples = sync.Pool{New: func() any { return new(metrics.Sample) }}

// observe counts a parse that began at a time, and learns from it.
func (p *Parser) observe(r *Result, err error, c *Context, start time.Time) {
	p.learn(r, c)
	if p.o.Metrics == nil {
		return
	}
	s := samples.Get().(*metrics.Sample)
	*s = metrics.Sample{
		Duration: time.Since(start), Model: c.Model, Strategy: r.Strategy, Cached: r.Cached, Failure: failureOf(err),
		Calls: s.Calls[:0], Rejected: s.Rejected[:0], Attempts: s.Attempts[:0],
	}
	for i := range r.Calls {
		x := &r.Calls[i]
		tool := x.Tool
		if p.registry.Get(tool) == nil {
			tool = metrics.Other
		}
		s.Calls = append(s.Calls, metrics.Call{Tool: tool, Format: string(x.SourceFormat)})
	}
	for i := range r.Rejected {
		x := &r.Rejected[i]
		if !x.Meant() && x.Reason() != CodeMarkerRequired {
			continue // rightly no call; but how often a tool's rule was needed is worth knowing
		}
		tool := x.Tool
		if tool != "" && p.registry.Get(tool) == nil {
			tool = metrics.Other
		}
		s.Rejected = append(s.Rejected, metrics.Rejected{Tool: tool, Format: string(x.Format), Code: string(x.Reason())})
	}
	if r.Recovery != nil && !r.Cached {
		for i := range r.Recovery.Attempts {
			a := &r.Recovery.Attempts[i]
			s.Attempts = append(s.Attempts, metrics.Attempt{
				Strategy: string(a.Strategy), Calls: a.Calls, Duration: time.Duration(a.DurationMicroseconds) * time.Microsecond,
			})
		}
	}
	p.o.Metrics.Observe(s)
	samples.Put(s)
}

func failureOf(err error) string {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, ErrTimeout), errors.Is(err, context.DeadlineExceeded):
		return metrics.FailureTimeout
	case errors.Is(err, context.Canceled):
		return metrics.FailureCanceled
	case errors.Is(err, ErrTextTooLarge):
		return metrics.FailureTooLarge
	case errors.Is(err, ErrInternal):
		return metrics.FailureInternal
	}
	return metrics.FailureOther
}
