package adapters

import "github.com/callwright/callwright/internal/wire"

// inOrder passes on events such that one block ends before the next begins, as
// formats with a sequence of blocks want it: what belongs to a later call waits.
type inOrder struct {
	next    Encoder
	current [2]int
	busy    bool
	waiting []Event
}

// Event takes the next event.
func (q *inOrder) Event(e Event) error {
	key := [2]int{e.Choice, e.Index}
	isCall := e.Type == EventCallStart || e.Type == EventArguments || e.Type == EventCallEnd
	switch e.Type {
	case EventPing, EventUsage, EventStart:
		return q.next.Event(e)
	}
	if q.busy && (!isCall || key != q.current) {
		q.waiting = append(q.waiting, e)
		return nil
	}
	switch e.Type {
	case EventCallStart:
		q.busy, q.current = true, key
	case EventCallEnd:
		q.busy = false
	}
	if err := q.next.Event(e); err != nil {
		return err
	}
	if !q.busy && len(q.waiting) > 0 {
		waiting := q.waiting
		q.waiting = nil
		for _, w := range waiting {
			if err := q.Event(w); err != nil {
				return err
			}
		}
	}
	return nil
}

// End passes on what still waits.
func (q *inOrder) End() error {
	for len(q.waiting) > 0 || q.busy {
		if q.busy {
			if err := q.Event(Event{Type: EventCallEnd, Choice: q.current[0], Index: q.current[1]}); err != nil {
				return err
			}
			continue
		}
		waiting := q.waiting
		q.waiting = nil
		for _, w := range waiting {
			if err := q.Event(w); err != nil {
				return err
			}
		}
	}
	return q.next.End()
}

// noCustom turns calls of tools that take free text into ones with an object, for
// formats that have no others.
type noCustom struct {
	next Encoder
	text map[[2]int][]byte
}

// Event takes the next event.
func (n *noCustom) Event(e Event) error {
	key := [2]int{e.Choice, e.Index}
	text, custom := n.text[key]
	switch {
	case e.Type == EventCallStart && e.Custom:
		n.text[key] = []byte{}
		e.Custom = false
	case e.Type == EventArguments && custom:
		n.text[key] = append(text, e.Text...)
		return nil
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
func (n *noCustom) End() error { return n.next.End() }
