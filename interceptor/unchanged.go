package interceptor

import (
	"bytes"
	"errors"
	"io"
	"iter"
	"slices"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/internal/wire"
)

// unchanged passes on the upstream's messages byte for byte where the parser changes
// nothing in them. It is for formats with independent messages, when client and upstream
// speak the same one.
type unchanged struct {
	w       *streamWriter
	framing wire.Framing
	reading bool        // a message is being read
	out     []wireEvent // what was made of it
	framed  []byte
}

// event takes an event for the client. While a message is read, it waits for the
// message's end.
func (u *unchanged) event(e wireEvent) error {
	if !u.reading {
		return u.w.event(e)
	}
	u.out = append(u.out, e)
	return u.w.failed()
}

// events yields the upstream's events. After those of each message, what became of the
// message is written.
func (u *unchanged) events(in *adapters.StreamReader) iter.Seq2[wireEvent, error] {
	return func(yield func(wireEvent, error) bool) {
		for {
			message, events, err := in.Next()
			u.reading, u.out = err == nil, u.out[:0]
			wanted := true
			for i := 0; i < len(events) && wanted; i++ {
				wanted = yield(events[i], nil)
			}
			if u.reading {
				u.reading = false
				u.write(message, events)
			}
			if err != nil && wanted && !errors.Is(err, io.EOF) {
				yield(wireEvent{}, err)
			}
			if err != nil || !wanted {
				return
			}
		}
	}
}

// callMembers is part of the names of members that hold calls. The parser may send what
// such a message says later.
var callMembers = []byte("_call")

// write writes a message: its bytes if its events were not changed, else the events.
func (u *unchanged) write(message []byte, in []wireEvent) {
	if !slices.EqualFunc(in, u.out, sameEvent) || len(in) == 0 || bytes.Contains(message, callMembers) || bytes.ContainsAny(message, "\r\n") {
		for _, e := range u.out {
			if u.w.event(e) != nil {
				break
			}
		}
		return
	}
	u.framed = wire.AppendFrame(u.framed[:0], u.framing, "", message)
	u.w.message(u.framed, u.out)
}

// sameEvent reports whether an event was passed on unchanged. Calls may get other ids,
// and the finish is sent at the end, so their events never count as the same.
func sameEvent(a, b wireEvent) bool {
	switch a.Type {
	case adapters.EventStart, adapters.EventText, adapters.EventReasoning, adapters.EventExtra:
		return a.Type == b.Type && a.Choice == b.Choice && a.Text == b.Text
	}
	return false
}
