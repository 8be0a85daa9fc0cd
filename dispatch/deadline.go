package dispatch

import (
	"context"
	"errors"
	"sync"
	"time"
)

// errTimeout is the cause with which the context of an attempt ends.
var errTimeout = errors.New("the call's time is over")

// deadlineContext is a context with a deadline whose timer starts when somebody asks for
// Done: most handlers do not, and a timer costs more than the rest of a call.
type deadlineContext struct {
	context.Context
	deadline time.Time

	mu     sync.Mutex
	timed  context.Context
	cancel context.CancelFunc
	ended  bool
}

func withDeadline(parent context.Context, deadline time.Time) *deadlineContext {
	return &deadlineContext{Context: parent, deadline: deadline}
}

// Deadline is the earlier one of the parent's and the own.
func (c *deadlineContext) Deadline() (time.Time, bool) {
	if d, ok := c.Context.Deadline(); ok && d.Before(c.deadline) {
		return d, true
	}
	return c.deadline, true
}

// Done starts the timer.
func (c *deadlineContext) Done() <-chan struct{} { return c.started().Done() }

// Err is as of a context whose timer runs.
func (c *deadlineContext) Err() error {
	c.mu.Lock()
	timed, ended := c.timed, c.ended
	c.mu.Unlock()
	switch {
	case timed != nil:
		return timed.Err()
	case c.Context.Err() != nil:
		return c.Context.Err()
	case ended:
		return context.Canceled
	case !time.Now().Before(c.deadline):
		return c.started().Err()
	}
	return nil
}

// Value makes contexts that are derived from this one find the one with the timer, as
// package context does it.
func (c *deadlineContext) Value(key any) any {
	c.mu.Lock()
	timed := c.timed
	c.mu.Unlock()
	if timed != nil {
		return timed.Value(key)
	}
	return c.Context.Value(key)
}

func (c *deadlineContext) started() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timed == nil {
		c.timed, c.cancel = context.WithDeadlineCause(c.Context, c.deadline, errTimeout)
		if c.ended {
			c.cancel()
		}
	}
	return c.timed
}

// end cancels the context and stops its timer.
func (c *deadlineContext) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	if c.cancel != nil {
		c.cancel()
	}
}
