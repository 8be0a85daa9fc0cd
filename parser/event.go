package parser

import "encoding/json"

// EventType says what an event reports.
type EventType string

// The types of events.
const (
	// EventContent has a piece of the text for the user.
	EventContent EventType = "content"
	// EventReasoning has a piece of the model's reasoning.
	EventReasoning EventType = "reasoning"
	// EventRecast says that all content so far was reasoning: a closing marker came that
	// nothing had opened. Move the content to the reasoning, with a newline between if
	// there is reasoning already.
	EventRecast EventType = "recast"
	// EventCallStart has the index, the id and the tool of a call that begins.
	EventCallStart EventType = "call_start"
	// EventArguments has a piece of the JSON of a call's parameters.
	EventArguments EventType = "arguments"
	// EventCallEnd has a call that is whole, or says why it was rejected.
	EventCallEnd EventType = "call_end"
	// EventResult has the result of the whole text; it is the last event.
	EventResult EventType = "result"
)

// Event is one step of a stream. No event takes back what an earlier one said, but for
// [EventRecast]: pieces of content add up to Result.Content, and the arguments of a call
// to the JSON of its parameters. Where a call gives a parameter twice, the JSON may have
// it twice: the last one counts.
type Event struct {
	Type  EventType `json:"type"`
	Text  string    `json:"text,omitempty"`  // of content and reasoning
	Index int       `json:"index,omitempty"` // of a call, from 0
	// ID is that of a call that begins. It is empty where the model may yet give
	// one: then the end of the call has it.
	ID    string `json:"id,omitempty"`
	Tool  string `json:"tool,omitempty"`  // of a call that begins
	Delta string `json:"delta,omitempty"` // of arguments
	// Call is a call that is whole, nil if what began is none.
	Call *Call `json:"call,omitempty"`
	// Rejected says why what began is no call to run.
	Rejected *Rejected `json:"rejected,omitempty"`
	Result   *Result   `json:"result,omitempty"`
}

// MarshalJSON writes an event with its index if it is one of a call.
func (e Event) MarshalJSON() ([]byte, error) {
	type plain Event
	switch e.Type {
	case EventCallStart, EventArguments, EventCallEnd:
		return json.Marshal(struct {
			Type  EventType `json:"type"`
			Index int       `json:"index"`
			plain
		}{e.Type, e.Index, plain(e)})
	}
	return json.Marshal(plain(e))
}
