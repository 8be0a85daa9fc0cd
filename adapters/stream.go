package adapters

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/callwright/callwright/internal/wire"
)

// Limits of a stream, in bytes; 0 means the default of 4 MB a message, and 32 MB in all.
type Limits struct {
	MaxMessageBytes, MaxTotalBytes int
}

// StreamReader reads a streamed reply message by message. It is not safe for concurrent
// use.
type StreamReader struct {
	f       *Format
	in      *wire.Reader
	decoder decoder
	similar similar
	called  map[int]bool // choices that hold calls
	events  []Event      // of the message that was read last
	emit    func(Event)  // adds to them
}

// NewStreamReader returns a reader of a streamed reply, in whatever framing it comes.
func (f *Format) NewStreamReader(in io.Reader, l Limits) *StreamReader {
	r := &StreamReader{
		f: f, in: wire.NewReader(in, l.MaxMessageBytes, l.MaxTotalBytes), decoder: f.codec.NewDecoder(), called: map[int]bool{},
	}
	r.emit = r.take
	return r
}

// Next reads the next message and returns its bytes and its events, which are valid
// until the next call. The stream ends with an error, and with the events that the end
// itself makes: [io.EOF] behind a whole reply, [ErrUnexpectedEnd] where it broke off,
// a [*ProviderError] that the provider sent, [ErrMalformed], [ErrNotStream],
// [ErrTooLarge], or what in gave. What came before it stays true.
func (r *StreamReader) Next() (message []byte, events []Event, err error) {
	r.events = r.events[:0]
	message, err = r.next()
	if err != nil {
		whole := r.decoder.End(r.emit)
		if errors.Is(err, errDone) || errors.Is(err, io.EOF) && whole {
			return nil, r.events, io.EOF
		}
		for i := range r.events { // the provider did not say that they end here
			r.events[i].Truncated = r.events[i].Type == EventCallEnd
		}
		switch {
		case errors.Is(err, io.EOF):
			err = ErrUnexpectedEnd
		case errors.Is(err, wire.ErrCut), errors.Is(err, io.ErrUnexpectedEOF):
			err = fmt.Errorf("%w: %w", ErrUnexpectedEnd, err)
		}
		return nil, r.events, fmt.Errorf("%s: %w", r.f.Name, err)
	}
	return message, r.events, nil
}

// errDone says that a message said that it is the last.
var errDone = errors.New("done")

// next reads a message and takes its events.
func (r *StreamReader) next() ([]byte, error) {
	for {
		frame, err := r.in.Next()
		if err != nil {
			return nil, err
		}
		if r.f.Independent {
			if e, ok := r.similar.read(frame.Data); ok {
				r.events = append(r.events, e)
				return frame.Data, nil
			}
		}
		if string(bytes.TrimSpace(frame.Data)) == "[DONE]" { // what comes behind it is none of the reply
			return nil, errDone
		}
		o, err := wire.ParseObject(frame.Data)
		switch {
		case err != nil && len(bytes.TrimSpace(frame.Data)) == 0:
			continue
		case err != nil:
			return nil, fmt.Errorf("%w message %q: %w", ErrMalformed, clip(frame.Data), err)
		}
		if e := errorOf(o); e != nil {
			return nil, e
		}
		if err := r.decoder.Message(frame.Event, o, r.emit); err != nil {
			return nil, err
		}
		if r.f.Independent {
			r.similar.learn(frame.Data, r.events)
		}
		return frame.Data, nil
	}
}

// take takes an event of the decoder's.
func (r *StreamReader) take(e Event) {
	switch {
	case e.Type == EventCallStart:
		r.called[e.Choice] = true
	case e.Type == EventFinish && e.Finish == FinishStop && r.called[e.Choice]:
		e.Finish = FinishCalls // not all servers say so
	}
	r.events = append(r.events, e)
}

// DecodeStream reads a streamed reply and yields its events. An error, as
// [StreamReader.Next] has them, ends it: what came before it stays true. The events can
// be ranged over once.
func (f *Format) DecodeStream(in io.Reader, l Limits) iter.Seq2[Event, error] {
	r := f.NewStreamReader(in, l)
	return func(yield func(Event, error) bool) {
		for {
			_, events, err := r.Next()
			for i := range events {
				if !yield(events[i], nil) {
					return
				}
			}
			if err != nil {
				if !errors.Is(err, io.EOF) {
					yield(Event{}, err)
				}
				return
			}
		}
	}
}

// ReadStream reads a streamed reply to its end. With an error the reply holds what
// came before.
func (f *Format) ReadStream(in io.Reader, l Limits) (*Reply, error) {
	var a Accumulator
	var failed error
	for e, err := range f.DecodeStream(in, l) {
		if err != nil {
			failed = err
			break
		}
		a.Add(e)
	}
	r := a.Reply()
	r.Format = f.Name
	return r, failed
}

// Encoder writes a streamed reply. Its errors are those of what it writes to. It is not
// safe for concurrent use.
//
// A call whose arguments end before they are whole, or that never ends, is told as one
// that was cut off: its arguments are not closed, formats with [Format.WholeCalls] leave
// it out, and its choice ends with [FinishLength] at best.
type Encoder interface {
	// Event writes the next event. Behind Fail it does nothing.
	Event(e Event) error
	// Fail writes that the reply failed, as the format's provider does within a stream.
	// End has to be called all the same. Only the first error is written.
	Fail(e *ProviderError) error
	// End writes what ends the stream: behind an error nothing that says that the reply is
	// complete. It is an error to go on after it.
	End() error
}

// NewEncoder returns what writes a streamed reply to w, each message by one call
// of Write.
func (f *Format) NewEncoder(w io.Writer) Encoder {
	e := f.codec.NewEncoder(wire.NewWriter(w, wire.Framing(f.Framing)))
	if f.Sequential {
		e = &sequencer{next: e}
	}
	if !f.Carries.Custom {
		e = &wrapCustom{next: e, text: map[[2]int][]byte{}}
	}
	return &finisher{next: e}
}

// EncodeStream writes a whole reply as a stream.
func (f *Format) EncodeStream(w io.Writer, r *Reply) error {
	e := f.NewEncoder(w)
	for _, event := range r.Events() {
		if err := e.Event(event); err != nil {
			return err
		}
	}
	return e.End()
}
