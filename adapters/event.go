package adapters

import "time"

// EventType is the type of an event.
type EventType string

// The types of events.
const (
	// EventStart has the ID, the Model and the time Created of the reply.
	EventStart EventType = "start"
	// EventText, EventReasoning and EventRefusal have a piece of Text. New says that it
	// starts a new block.
	EventText      EventType = "text"
	EventReasoning EventType = "reasoning"
	EventRefusal   EventType = "refusal"
	// EventSignature has the signature of the open block, as Text.
	EventSignature EventType = "signature"
	// EventCallStart has the Index, the ID and the Name of a call.
	EventCallStart EventType = "call_start"
	// EventArguments has a piece of a call's arguments, as Text.
	EventArguments EventType = "arguments"
	// EventCallEnd says that no more arguments of a call come. Text is its signature.
	EventCallEnd EventType = "call_end"
	// EventOther has a block that only its own format knows, as its Extra.
	EventOther EventType = "other"
	// EventFinish has the reason why a choice ended, as Finish.
	EventFinish EventType = "finish"
	// EventUsage has the usage so far; it replaces that of earlier events.
	EventUsage EventType = "usage"
	// EventExtra has nothing but Extra or Envelope.
	EventExtra EventType = "extra"
	// EventPing is a keep-alive. Its Model is that of the request: formats that have no
	// keep-alive write a piece without text.
	EventPing EventType = "ping"
)

// Event is a piece of a streamed reply. Its Type says which of the fields are set. Events
// that are read from a stream share its memory: they are valid until the next one is
// read; see [Event.Clone].
type Event struct {
	Type   EventType
	Choice int
	// Index is that of a call among those of its choice, from 0.
	Index  int
	Text   string
	New    bool
	Custom bool // of a call: its tool takes free text
	// Truncated says that a call that ends was cut off.
	Truncated bool

	ID, Name     string // of a call, or of the reply
	Model        string
	Created      time.Time
	Finish       FinishReason
	StopSequence string
	Usage        *Usage
	NativeName   string // what the format calls it, where it has several names for it
	// Extra are the unknown members of the event's part of a message, Envelope those of the
	// message itself.
	Extra, Envelope Extra
}

// Clone returns a copy with memory of its own.
func (e Event) Clone() Event {
	e.Extra, e.Envelope = e.Extra.Clone(), e.Envelope.Clone()
	if e.Usage != nil {
		u := *e.Usage
		u.Extra = u.Extra.Clone()
		e.Usage = &u
	}
	return e
}

// MaxCalls is the maximum number of calls in a streamed choice, MaxChoices that of
// choices. The rest is left out.
const (
	MaxCalls   = 1024
	MaxChoices = 128
)

// Events returns a reply as events, each block as one piece.
func (r *Reply) Events() []Event {
	events := []Event{{Type: EventStart, ID: r.ID, Model: r.Model, Created: r.Created, Envelope: r.Extra}}
	for i := range r.Choices {
		c := &r.Choices[i]
		call := 0
		for j := range c.Blocks {
			b := &c.Blocks[j]
			switch b.Type {
			case BlockText:
				events = append(events, Event{Type: EventText, Choice: i, Text: b.Text, New: true, Extra: b.Extra})
			case BlockRefusal:
				events = append(events, Event{Type: EventRefusal, Choice: i, Text: b.Text, New: true, Extra: b.Extra})
			case BlockReasoning:
				if b.Text != "" || b.Signature == "" {
					events = append(events, Event{Type: EventReasoning, Choice: i, Text: b.Text, New: true, NativeName: b.NativeName, Extra: b.Extra})
				}
				if b.Signature != "" {
					events = append(events, Event{Type: EventSignature, Choice: i, Text: b.Signature, New: b.Text == "", Extra: b.Extra})
				}
			case BlockCall:
				events = append(events,
					Event{
						Type: EventCallStart, Choice: i, Index: call, ID: b.Call.ID, Name: b.Call.Name, Custom: b.Call.Custom, NativeName: b.NativeName,
						Extra: b.Extra,
					},
					Event{Type: EventArguments, Choice: i, Index: call, Text: b.Call.Arguments},
					Event{Type: EventCallEnd, Choice: i, Index: call, Text: b.Signature, Truncated: b.Call.Truncated})
				call++
			case BlockOther:
				events = append(events, Event{Type: EventOther, Choice: i, Extra: b.Extra})
			}
		}
	}
	for i := range r.Choices {
		c := &r.Choices[i]
		events = append(events, Event{Type: EventFinish, Choice: i, Finish: c.Finish, StopSequence: c.StopSequence, Extra: c.Extra})
	}
	if r.Usage != nil {
		u := *r.Usage
		events = append(events, Event{Type: EventUsage, Usage: &u})
	}
	return events
}
