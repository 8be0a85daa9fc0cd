package parser

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/callwright/callwright/internal/lenient"
)

// Stream parses a text that arrives in chunks, cut anywhere, and yields events as
// they become certain; the last one has the result of the whole text, the same as
// [Parser.Parse] gives for it. An error ends the events. Breaking out of the loop
// frees all that the stream holds.
func Stream[Chunk ~string | ~[]byte](ctx context.Context, p *Parser, chunks iter.Seq[Chunk], c Context) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		f := p.NewFeeder(ctx, c)
		defer f.Close()
		for chunk := range chunks {
			events, err := f.Feed([]byte(chunk))
			for _, e := range events {
				if !yield(e, nil) {
					return
				}
			}
			if err != nil {
				yield(Event{}, err)
				return
			}
		}
		events, err := f.End()
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
		if err != nil {
			yield(Event{}, err)
		}
	}
}

// Feeder parses a text that is fed to it chunk by chunk. It must be closed. It is
// not safe for concurrent use.
type Feeder struct {
	p       *Parser
	c       *collector
	reading *lenient.Reading
	ctx     context.Context
	fed     int // bytes
	events  []Event
	err     error
	begun   bool
	closed  bool          // by End or Close
	busy    time.Duration // spent on reading, where that is counted
}

// ErrEnded says that a feeder was used after its end: feed another one.
var ErrEnded = errors.New("the stream has ended")

// NewFeeder returns a feeder. The context ends it early: then its result is that
// of the text so far.
func (p *Parser) NewFeeder(ctx context.Context, c Context) *Feeder {
	f := &Feeder{p: p, ctx: ctx, c: newCollector(p, c, time.Now())}
	f.c.out.emit = func(e Event) { f.events = append(f.events, e) }
	f.reading = lenient.Start(func(c *lenient.Cursor) error { return p.read(ctx, f.c, c, true) })
	return f
}

// Feed takes the next chunk and returns the events that it makes certain. They
// are valid until the next call.
func (f *Feeder) Feed(chunk []byte) ([]Event, error) {
	f.events = f.events[:0]
	if f.p.o.Metrics != nil {
		defer f.count(time.Now())
	}
	return f.feed(chunk)
}

// count adds up the time that was spent since the beginning of a call.
func (f *Feeder) count(since time.Time) { f.busy += time.Since(since) }

func (f *Feeder) feed(chunk []byte) ([]Event, error) {
	if f.err != nil || f.reading.Done() || f.closed {
		return nil, errors.Join(f.err, ErrEnded)
	}
	if f.err = f.ctx.Err(); f.err != nil {
		return nil, f.err
	}
	if f.fed += len(chunk); f.fed > f.p.o.MaxTextBytes {
		f.err = f.tooLarge()
		return nil, f.err
	}
	if len(chunk) == 0 {
		return nil, nil
	}
	f.reading.Cursor.Append(chunk)
	if f.begun && f.c.scanner.Idle() && f.c.scanner.Skim() {
		return f.events, nil
	}
	f.begun = true
	f.reading.Resume()
	f.ended()
	f.c.show(&f.c.text, f.c.scanner.Partial(), &f.reading.Cursor)
	return f.events, f.err
}

func (f *Feeder) tooLarge() error {
	return fmt.Errorf("%w: more than %d bytes", ErrTextTooLarge, f.p.o.MaxTextBytes)
}

// End says that the text is complete and returns the last events, that of the result
// included. A second call, and one after Close, returns [ErrEnded] and no events.
func (f *Feeder) End() ([]Event, error) {
	f.events = f.events[:0]
	if f.closed {
		return nil, ErrEnded
	}
	start := time.Now()
	f.end()
	r := f.c.finish(f.ctx, f.err)
	f.events = append(f.events, Event{Type: EventResult, Result: r})
	f.p.observe(r, f.err, &f.c.context, start.Add(-f.busy))
	return f.events, f.err
}

// end reads what is left of the text.
func (f *Feeder) end() {
	f.closed = true
	f.reading.End()
	f.ended()
}

// ended keeps the error that the reading ended with, if it has.
func (f *Feeder) ended() {
	if err := f.reading.Err(); err != nil && f.err == nil {
		f.err = f.p.internal(err, f.c, &f.reading.Cursor)
	}
}

// Close frees what the feeder holds. It may be called more than once, and at any time.
func (f *Feeder) Close() {
	f.closed = true
	f.reading.Stop()
}

// IsComplete reports whether nothing is open: no call, no fence and no reasoning
// is being read, so that the text may end here.
func (f *Feeder) IsComplete() bool {
	return f.reading.Done() || f.closed || f.begun && f.c.scanner.Idle()
}

// Partial returns the best result of the text so far. A call that is being read
// is the last of its calls, marked as truncated, with the parameters as far as
// they have come.
func (f *Feeder) Partial() *Result {
	r := f.c.sofar()
	if !f.closed && !f.reading.Done() && f.c.scanner != nil {
		if p := f.c.scanner.Partial(); p != nil {
			if v := look(p, &f.reading.Cursor); v.name != "" {
				r.Calls = append(r.Calls, f.c.partial(&f.c.text, &v))
			}
		}
	}
	r.Success = len(r.Calls) > 0
	r.Truncated = r.Truncated || !f.IsComplete()
	return r
}
