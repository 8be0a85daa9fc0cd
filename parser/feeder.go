package parser

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/callwright/callwright/internal/lenient"
)

// ErrEnded says that a feeder was used after its end: make another one.
var ErrEnded = errors.New("the stream has ended")

// Feeder parses a text that is fed to it chunk by chunk, for those who cannot range over
// [Stream]. It must be closed. It is not safe for concurrent use.
//
//	f := p.NewFeeder(ctx, parser.Context{})
//	defer f.Close()
//	events, err := f.Feed(chunk) // for each chunk
//	events, err = f.End()        // the last event has the result
type Feeder struct {
	p       *Parser
	ctx     context.Context
	c       *collector
	reading *lenient.Reading
	events  []Event       // of the call of Feed or End that is running
	err     error         // the first; nothing is read after it
	fed     int           // bytes
	begun   bool          // some text was fed
	closed  bool          // by End or Close
	busy    time.Duration // within Feed; measured only for metrics
}

// NewFeeder returns a feeder. The context ends it early: then its result is that
// of the text so far.
func (p *Parser) NewFeeder(ctx context.Context, c Context) *Feeder {
	f := &Feeder{p: p, ctx: ctx, c: newCollector(p, c, time.Now())}
	f.events = make([]Event, 0, 4)
	f.c.out.emit = func(e Event) { f.events = append(f.events, e) }
	f.reading = lenient.Start(func(cur *lenient.Cursor) error { return p.read(ctx, f.c, cur, true) })
	return f
}

// Feed takes the next chunk and returns the events that it makes certain. They
// are valid until the next call. A chunk may end anywhere, within a rune as well. The
// error is [ErrTextTooLarge], the context's, or [ErrEnded] after the end or an error.
func (f *Feeder) Feed(chunk []byte) ([]Event, error) {
	f.events = f.events[:0]
	if f.p.o.Metrics != nil {
		defer f.measure(time.Now())
	}
	return f.feed(chunk)
}

// measure adds up the time that was spent since the beginning of a call.
func (f *Feeder) measure(since time.Time) { f.busy += time.Since(since) }

func (f *Feeder) feed(chunk []byte) ([]Event, error) {
	if f.err != nil || f.reading.Done() || f.closed {
		return nil, errors.Join(f.err, ErrEnded)
	}
	if f.err = f.ctx.Err(); f.err != nil {
		return nil, f.err
	}
	if f.err = f.count(len(chunk)); f.err != nil {
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
	f.noteError()
	f.c.show(&f.c.text, f.c.scanner.Partial(), &f.reading.Cursor)
	return f.events, f.err
}

// count counts bytes against Options.MaxTextBytes.
func (f *Feeder) count(n int) error {
	if f.fed += n; f.fed > f.p.o.MaxTextBytes {
		return fmt.Errorf("%w: more than %d bytes", ErrTextTooLarge, f.p.o.MaxTextBytes)
	}
	return nil
}

// noteError keeps the error that the reading ended with, if it has.
func (f *Feeder) noteError() {
	if err := f.reading.Err(); err != nil && f.err == nil {
		f.err = f.p.internal(err, f.c, &f.reading.Cursor)
	}
}

// End says that the text is complete and returns the last events, that of the result
// included. A second call, and one after Close, returns [ErrEnded] and no events.
func (f *Feeder) End() ([]Event, error) {
	f.events = f.events[:0]
	if f.closed {
		return nil, ErrEnded
	}
	start := time.Now()
	f.end(false)
	r := f.c.finish(f.ctx, f.err)
	f.events = append(f.events, Event{Type: EventResult, Result: r})
	f.p.observe(r, f.err, &f.c.context, start.Add(-f.busy))
	return f.events, f.err
}

// end reads what is left of the text. cut says that a limit or a broken stream ended it.
func (f *Feeder) end(cut bool) {
	f.closed = true
	if cut {
		f.reading.EndCut()
	} else {
		f.reading.End()
	}
	f.noteError()
}

// Close frees what the feeder holds. It may be called more than once, and at any time.
func (f *Feeder) Close() {
	f.closed = true
	f.reading.Stop()
}

// IsComplete reports whether it is certain that nothing is open: no call, no fence and no
// reasoning is being read, so that the text may end here. Before the first chunk it is
// false, and right behind a call, where more of it may come.
func (f *Feeder) IsComplete() bool {
	return f.reading.Done() || f.closed || f.begun && f.c.scanner.Idle()
}

// Partial returns the best result of the text so far. A call that is being read
// is the last of its calls, marked as truncated, with the parameters as far as
// they have come, unchecked.
func (f *Feeder) Partial() *Result {
	r := f.c.soFar()
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
