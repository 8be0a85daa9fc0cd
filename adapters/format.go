package adapters

import (
	"fmt"

	"github.com/callwright/callwright/internal/wire"
)

// NOTE: A Format is the one place that knows a wire format. Who uses formats asks a
// format's fields and compares it with none; a new one is added to adapters/formats
// and needs no other line. CONTRIBUTING.md tells how.

// Format is one wire format, both ways, whole and streamed. The packages below this
// one make them; adapters/formats lists them. It is safe for concurrent use and must
// not be changed.
type Format struct {
	// Name identifies it in flags and results: "openai_chat".
	Name string
	// ShortNames are what people call it, such as "openai". Formats of one provider may
	// share a short name: then the input decides; see formats.Resolve.
	ShortNames []string
	// FlavorOf names the format whose messages look the same; "" if there is none.
	FlavorOf string
	// Version is that of the provider's interface, as the provider names it.
	Version string
	// Framing is how its streams are cut into messages: "sse" for server-sent events,
	// "ndjson" for lines of JSON, "binary" for AWS event stream messages.
	Framing string
	// ContentType is what HTTP calls its streams.
	ContentType string
	// Paths are where requests are posted to, the usual one first. It is empty where the
	// path holds what a request needs, such as the model.
	Paths []string
	// PathOf returns where a request of a model is posted to, in formats whose path says
	// so; nil in others.
	PathOf func(model string, stream bool) string
	// Prefix begins all paths of the provider's interface.
	Prefix string
	// Servers are the kinds of model servers that speak it: "openai", "ollama",
	// "anthropic". It is the own format of the first.
	Servers []string
	// Hosts are the only ones at which those servers speak it, such as "openai.com", with
	// all names below them; empty means everywhere.
	Hosts []string
	// CallFormat is the source format of the calls in its own field for calls, as results
	// report it: "openai_function_call". It is empty where the format has no such field.
	CallFormat string
	// Independent says that the messages of its streams do not hang together: one that
	// gives text and nothing else changes nothing on which later ones depend.
	Independent bool
	// Sequential says that a stream's blocks do not overlap.
	Sequential bool
	// WholeCalls says that its streams have each call in one piece, and that nothing tells
	// a call that was cut off from a whole one.
	WholeCalls bool
	// ObjectArguments says that its whole replies have a call's arguments as an object,
	// so that a call that was cut off cannot be written.
	ObjectArguments bool
	// Carries says what of a reply the format has words for, CarriesRequest what of a
	// request. What it has none for is lost in it, or written as docs/wire-formats.md
	// tells.
	Carries        Carries
	CarriesRequest CarriesRequest
	// IDs is the rule that its calls' ids follow.
	IDs IDRule

	codec codec
}

// codec reads and writes what goes over the wire. Each format's package has one.
type codec interface {
	// Recognize says how likely an object is a reply of the format, or a message of its
	// stream, from 0 to 1, and of which version. The event is the message's name, where
	// the framing has names.
	Recognize(o wire.Object, event string) (confidence float64, version string)
	// DecodeReply and DecodeRequest take an object apart. What they do not know of it
	// they keep as Extra.
	DecodeReply(o wire.Object) (*Reply, error)
	DecodeRequest(o wire.Object) (*Request, error)
	EncodeReply(r *Reply) (wire.Object, error)
	EncodeRequest(r *Request) (wire.Object, error)
	// EncodeError writes an error as the provider reports one in place of a reply.
	EncodeError(e *ProviderError) wire.Object
	// NewDecoder returns what reads the messages of one stream, NewEncoder what writes
	// them.
	NewDecoder() decoder
	NewEncoder(w *wire.Writer) Encoder
}

// decoder reads the messages of one stream. It is an alias, so that the formats'
// packages can name it: convert.Decoder.
type decoder = interface {
	// Message reads one message and emits its events. An error that the provider sent is a
	// [*ProviderError].
	Message(event string, o wire.Object, emit func(Event)) error
	// End is called when no more messages come; it says whether the reply was whole.
	End(emit func(Event)) (whole bool)
}

// New returns a format that f describes and c reads and writes. It is for the packages
// below this one: what a codec handles has no public name.
func New(f Format, c codec) *Format {
	f.codec = c
	return &f
}

// Carries says what of a reply a format has words for.
type Carries struct {
	ID, Model, Created bool // of the reply
	Choices            bool // several alternative answers
	Refusal            bool
	Reasoning          bool
	Signature          bool // of reasoning
	CallSignature      bool // of calls
	CallIDs            bool
	NoCalls            bool // calls are written into the text
	Custom             bool // tools that take free text
	// Order says that text and calls keep their order; else text comes first.
	Order                                           bool
	StopSequence                                    bool
	Usage                                           bool
	CachedTokens, CacheWriteTokens, ReasoningTokens bool
	// Filter, Sequence, Pause and Error are reasons of an end that it can say,
	// besides stop, tool_calls and length.
	Filter, Sequence, Pause, Error bool
}

// CarriesRequest says what of a request a format has words for, besides messages, a
// bound on the answer, temperature and top_p, which all have.
type CarriesRequest struct {
	Model bool // else it stands in the address
	// Turns says that the conversation is a list of messages; else it is written into
	// one prompt, calls and results as text.
	Turns bool
	Tools bool
	// ToolChoice says that a call can be required or forbidden, NamedTool that one of a
	// certain tool can; else one of any tool is required.
	ToolChoice, NamedTool bool
	ParallelCalls         bool
	Choices               bool // several alternative answers
	Stop                  bool // stop sequences
	TopK                  bool
	Seed                  bool
	Penalties             bool // of frequency and presence
	// Schema says that the answer can be held to a JSON Schema, SchemaName that the
	// schema has a name and can be strict.
	Schema, SchemaName bool
	// Effort says that how hard the model is to think has words, Thinking that it can be
	// switched on and off.
	Effort, Thinking bool
	ReasoningTokens  bool // a bound on the thinking
	User             bool
}

// Path is where a request of a model is posted to.
func (f *Format) Path(model string, stream bool) string {
	switch {
	case f.PathOf != nil:
		return f.PathOf(model, stream)
	case len(f.Paths) > 0:
		return f.Paths[0]
	}
	return ""
}

// Recognize says how likely a message is a reply of the format, or a message of its
// stream, from 0 to 1, and of which version. The message is a JSON object, by its
// members; event is its name, where the stream's framing has names.
func (f *Format) Recognize(message []Member, event string) (confidence float64, version string) {
	return f.codec.Recognize(message, event)
}

// DecodeReply reads a whole reply. The error is a [*ProviderError] if the provider reported
// an error instead, or [ErrMalformed] if data is not a JSON object.
func (f *Format) DecodeReply(data []byte) (*Reply, error) {
	o, err := wire.ParseObject(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w reply: %w", f.Name, ErrMalformed, err)
	}
	return f.DecodeMembers(o)
}

// DecodeMembers is [Format.DecodeReply] for an object that was read already. The slice
// is used up.
func (f *Format) DecodeMembers(reply []Member) (*Reply, error) {
	if e := errorOf(reply); e != nil {
		return nil, e
	}
	r, err := f.codec.DecodeReply(reply)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	r.Format = f.Name
	return r.Normalize(), nil
}

// EncodeReply writes a whole reply. A call that was cut off is never closed: it is written
// with the arguments that it has, or left out where the format has only objects, and the
// reply ends with [FinishLength].
func (f *Format) EncodeReply(r *Reply) ([]byte, error) {
	o, err := f.codec.EncodeReply(r.cutOff(f))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	return o.Bytes(), nil
}

// DecodeRequest reads a request. The error is [ErrMalformed] if data is not a JSON
// object.
func (f *Format) DecodeRequest(data []byte) (*Request, error) {
	o, err := wire.ParseObject(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w request: %w", f.Name, ErrMalformed, err)
	}
	r, err := f.codec.DecodeRequest(o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	r.Format = f.Name
	return r, nil
}

// EncodeRequest writes a request. Calls and results get ids that follow the format's
// rule.
func (f *Format) EncodeRequest(r *Request) ([]byte, error) {
	o, err := f.codec.EncodeRequest(r.withIDs(f.IDs))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	return o.Bytes(), nil
}

// EncodeError writes an error as the format's provider reports one in place of a reply.
func (f *Format) EncodeError(e *ProviderError) []byte { return f.codec.EncodeError(e).Bytes() }
