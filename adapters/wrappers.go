package adapters

import "github.com/callwright/callwright/internal/wire"

// sequencer passes on events such that one block ends before the next begins, as
// formats with a sequence of blocks need it. While a call is open, the events of other
// blocks wait. Each event is looked at twice at most.
type sequencer struct {
	next    Encoder
	current [2]int // the call that is open, by its choice and index
	busy    bool
	waiting []*waitingEvents
	byCall  map[[2]int]*waitingEvents
	failed  bool
}

// waitingEvents are events of one call, or of none.
type waitingEvents struct {
	call   [2]int
	isCall bool
	events []Event
}

// Event takes the next event.
func (q *sequencer) Event(e Event) error {
	switch e.Type {
	case EventPing, EventUsage, EventStart:
		return q.next.Event(e)
	}
	isCall := e.Type == EventCallStart || e.Type == EventArguments || e.Type == EventCallEnd
	key := [2]int{e.Choice, e.Index}
	if q.busy && (!isCall || key != q.current) {
		q.wait(e, key, isCall)
		return nil
	}
	if err := q.pass(e, key); err != nil {
		return err
	}
	return q.drain()
}

// wait keeps an event with the others of its call.
func (q *sequencer) wait(e Event, key [2]int, isCall bool) {
	if q.byCall == nil {
		q.byCall = map[[2]int]*waitingEvents{}
	}
	var w *waitingEvents
	if isCall {
		w = q.byCall[key]
	} else if last := len(q.waiting) - 1; last >= 0 && !q.waiting[last].isCall {
		w = q.waiting[last]
	}
	if w == nil {
		w = &waitingEvents{call: key, isCall: isCall}
		q.waiting = append(q.waiting, w)
		if isCall {
			q.byCall[key] = w
		}
	}
	w.events = append(w.events, e)
}

func (q *sequencer) pass(e Event, key [2]int) error {
	switch e.Type {
	case EventCallStart:
		q.busy, q.current = true, key
	case EventCallEnd:
		q.busy = false
	}
	return q.next.Event(e)
}

// drain passes on what waited, up to a call that has not ended.
func (q *sequencer) drain() error {
	for !q.busy && len(q.waiting) > 0 {
		w := q.waiting[0]
		q.waiting = q.waiting[1:]
		if w.isCall {
			delete(q.byCall, w.call)
		}
		for _, e := range w.events {
			if err := q.pass(e, [2]int{e.Choice, e.Index}); err != nil {
				return err
			}
		}
	}
	return nil
}

// End passes on what still waits, and ends the stream. Behind an error what waits is
// dropped.
func (q *sequencer) End() error {
	for !q.failed && (q.busy || len(q.waiting) > 0) {
		if err := q.Event(Event{Type: EventCallEnd, Choice: q.current[0], Index: q.current[1], Truncated: true}); err != nil {
			return err
		}
	}
	return q.next.End()
}

// Fail writes that the reply failed.
func (q *sequencer) Fail(e *ProviderError) error {
	q.failed = true
	return q.next.Fail(e)
}

// wrapCustom turns calls of custom tools, whose argument is free text, into calls with
// an object: {"input": "…"}. It is for formats without custom tools.
type wrapCustom struct {
	next Encoder
	text map[[2]int][]byte
}

// Event takes the next event.
func (n *wrapCustom) Event(e Event) error {
	key := [2]int{e.Choice, e.Index}
	text, custom := n.text[key]
	switch {
	case e.Type == EventCallStart && e.Custom:
		n.text[key] = []byte{}
		e.Custom = false
	case e.Type == EventArguments && custom:
		n.text[key] = append(text, e.Text...)
		return nil
	case e.Type == EventCallEnd && custom && e.Truncated: // what is not whole is not wrapped
		delete(n.text, key)
	case e.Type == EventCallEnd && custom:
		delete(n.text, key)
		var o wire.Object
		o.SetString("input", string(text))
		if err := n.next.Event(Event{Type: EventArguments, Choice: e.Choice, Index: e.Index, Text: string(o.Bytes())}); err != nil {
			return err
		}
	}
	return n.next.Event(e)
}

// End ends the stream.
func (n *wrapCustom) End() error { return n.next.End() }

// Fail writes that the reply failed.
func (n *wrapCustom) Fail(e *ProviderError) error { return n.next.Fail(e) }
