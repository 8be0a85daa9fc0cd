package parser

// outbox hands out the events of a text, in their order. It can hold back those of
// calls until it is known whether they are calls.
type outbox struct {
	emit    func(Event) // nil: nobody listens
	begun   int         // how many calls have begun
	holding bool
	held    []Event
}

// send hands out an event, or holds it back.
func (o *outbox) send(e Event) {
	switch {
	case o.emit == nil:
	case o.holding && (e.Type == EventCallStart || e.Type == EventArguments || e.Type == EventCallEnd):
		o.held = append(o.held, e)
	default:
		o.emit(e)
	}
}

// release hands out what was held back, and holds nothing back any more.
func (o *outbox) release() {
	held := o.held
	o.holding, o.held = false, nil
	for _, e := range held {
		o.send(e)
	}
}

// discard forgets what was held back, and holds nothing back any more.
func (o *outbox) discard() { o.holding, o.held = false, nil }
