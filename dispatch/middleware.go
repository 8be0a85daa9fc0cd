package dispatch

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// Recover makes an error of a panic, with the code "panic". Every handler and all
// middleware stand inside of it; within the middleware of a program it keeps a panic from
// those outside.
func Recover(next Handler) Handler {
	return func(ctx context.Context, c *Call) (r Result, err error) {
		defer func() {
			if p := recover(); p != nil {
				r, err = Result{}, panicError(p)
			}
		}()
		return next(ctx, c)
	}
}

// Timeout bounds each attempt of a call. The handler's context ends then; the handler has
// to. A timeout of 0 or less bounds nothing.
func Timeout(d time.Duration) Middleware {
	return func(next Handler) Handler {
		if d <= 0 {
			return next
		}
		return func(ctx context.Context, c *Call) (Result, error) {
			bounded := withDeadline(ctx, time.Now().Add(d))
			defer bounded.end()
			return next(bounded, c)
		}
	}
}

// Log logs each attempt of a call: the tool, the id, the attempt, the time in
// milliseconds and the code of an error, at level info; at level debug the arguments too.
// Errors of handlers are logged at level warn.
func Log(l *slog.Logger) Middleware {
	return func(next Handler) Handler {
		return func(ctx context.Context, c *Call) (Result, error) {
			start := time.Now()
			r, err := next(ctx, c)
			attributes := []slog.Attr{
				slog.String("tool", c.Tool), slog.String("call", c.ID), slog.Int("attempt", c.Attempt),
				slog.Int64("duration_ms", time.Since(start).Milliseconds()),
			}
			level := slog.LevelInfo
			if failed(err) {
				level = slog.LevelWarn
				attributes = append(attributes, slog.String("code", string(errorOf(ctx, c, err).Code)))
			}
			if l.Enabled(ctx, slog.LevelDebug) {
				attributes = append(attributes, slog.Any("arguments", c.Parameters))
			}
			l.LogAttrs(ctx, level, "call", attributes...)
			return r, err
		}
	}
}

// Observation is what [Metrics] tells of one attempt of a call. Tool is the name of a
// registered tool, Code is "" for a call that ran: both are bounded sets, fit for labels.
type Observation struct {
	Tool string
	Code Code
	Took time.Duration
}

// Metrics tells of each attempt of a call, as it ends. observe may be called at the same
// time by several calls.
func Metrics(observe func(Observation)) Middleware {
	return func(next Handler) Handler {
		return func(ctx context.Context, c *Call) (Result, error) {
			start := time.Now()
			r, err := next(ctx, c)
			o := Observation{Tool: c.Target.Name, Took: time.Since(start)}
			if failed(err) {
				o.Code = errorOf(ctx, c, err).Code
			}
			observe(o)
			return r, err
		}
	}
}

// Retry runs a call again while its error is [Transient], up to the number of attempts,
// if the tool is read-only or idempotent by its hints; other calls run once. delays
// returns the delays of one call; nil waits 100 ms, then longer each time, at random
// within half and one and a half.
func Retry(attempts int, delays func() backoff.BackOff) Middleware {
	if delays == nil {
		delays = func() backoff.BackOff {
			b := backoff.NewExponentialBackOff()
			b.InitialInterval = 100 * time.Millisecond
			return b
		}
	}
	return func(next Handler) Handler {
		return func(ctx context.Context, c *Call) (Result, error) {
			if !c.Target.Hints.ReadOnly && !c.Target.Hints.Idempotent {
				return next(ctx, c)
			}
			var waits backoff.BackOff
			for {
				r, err := next(ctx, c)
				if !IsTransient(err) || c.Attempt >= attempts || ctx.Err() != nil {
					return r, err
				}
				if waits == nil {
					waits = delays()
					waits.Reset()
				}
				wait := waits.NextBackOff()
				if wait == backoff.Stop {
					return r, err
				}
				timer := time.NewTimer(wait)
				select {
				case <-ctx.Done():
					timer.Stop()
					return r, err
				case <-timer.C:
				}
				c.Attempt++
			}
		}
	}
}

// Approve asks before each call of a tool, whatever the policy says: for [Tool.Use]. An
// error of ask is a refusal, but for ErrLater.
func Approve(ask func(context.Context, Question) (Answer, error)) Middleware {
	return func(next Handler) Handler {
		return func(ctx context.Context, c *Call) (Result, error) {
			a, err := ask(ctx, Question{Call: c, Why: "the tool asks before each call"})
			if refused := refusal(c, a, err); refused != nil {
				return Result{}, refused
			}
			if a.Parameters != nil {
				c.Parameters, c.key = a.Parameters, ""
			}
			return next(ctx, c)
		}
	}
}

// failed reports whether an error of a handler is one.
func failed(err error) bool { return err != nil && !onlyStop(err) }

// onlyStop reports whether an error says nothing but that the loop ends.
func onlyStop(err error) bool {
	if err == ErrStop { //nolint:errorlint // the common case, quickly
		return true
	}
	var e *Error
	return errors.Is(err, ErrStop) && !errors.As(err, &e)
}
