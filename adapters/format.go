package adapters

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/callwright/callwright/internal/wire"
)

// Format is one wire format, both ways, whole and streamed. The packages below
// this one make them; adapters/formats lists them.
type Format struct {
	// Name identifies it in flags and results: "openai_chat".
	Name string
	// Version is that of the provider's interface, as the provider names it.
	Version string
	// Framing is that of its streams, and ContentType what HTTP calls it.
	Framing     wire.Framing
	ContentType string
	// Carries says what the format has words for.
	Carries Carries
	// IDs is the rule that its calls' ids follow.
	IDs IDRule
	// Recognize says how likely an object is a reply of this format, or a message
	// of its stream, from 0 to 1, and of which version.
	Recognize func(o wire.Object, event string) (confidence float64, version string)

	Reply         func(o wire.Object) (*Reply, error)
	AppendReply   func(r *Reply) (wire.Object, error)
	Request       func(o wire.Object) (*Request, error)
	AppendRequest func(r *Request) (wire.Object, error)
	// Plain says that a message that gives text and nothing else changes nothing on
	// which later ones depend.
	Plain bool
	// Decoder makes what reads the messages of one stream, Encoder what writes them.
	Decoder func() Decoder
	// Sequential says that a stream's blocks do not overlap.
	Sequential bool
	Encoder    func(out *Output) Encoder
}

// Carries says what a format has words for.
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

// Decoder reads the messages of one stream.
type Decoder interface {
	// Message reads one message and hands on its events. An error that the
	// provider sent is a [*ProviderError].
	Message(event string, o wire.Object, emit func(Event)) error
	// End is called when no more messages come; it says whether the reply was whole.
	End(emit func(Event)) (whole bool)
}

// Encoder writes the events of one reply. It is an error to go on after End.
type Encoder interface {
	Event(e Event) error
	// End writes what ends the stream.
	End() error
}

// Errors of reading replies and requests.
var (
	// ErrMalformed says that something is not what its format promises.
	ErrMalformed = errors.New("malformed")
	// ErrUnexpectedEnd says that a stream ended before the reply did.
	ErrUnexpectedEnd = errors.New("the stream ended before the reply did")
	// ErrUnknownFormat says that no format is known of the name, or fits.
	ErrUnknownFormat = errors.New("unknown format")
	// ErrTooLarge says that a message or a stream is larger than its limit.
	ErrTooLarge = wire.ErrTooLarge
	// ErrNotStream says that what came is no stream, but perhaps a page of HTML.
	ErrNotStream = wire.ErrNotStream
)

// ProviderError is an error that a provider reported in place of a reply, or
// within one.
type ProviderError struct {
	Type    string // as the provider names it
	Code    string
	Message string
}

func (e *ProviderError) Error() string {
	s := "the provider reports: " + e.Message
	if e.Type != "" {
		s += " (" + e.Type + ")"
	}
	return s
}

// DecodeReply reads a whole reply.
func (f *Format) DecodeReply(data []byte) (*Reply, error) {
	o, err := wire.ParseObject(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w reply: %w", f.Name, ErrMalformed, err)
	}
	return f.DecodeObject(o)
}

// DecodeObject is [Format.DecodeReply] for an object that was read already. The
// object is used up.
func (f *Format) DecodeObject(o wire.Object) (*Reply, error) {
	if e := ErrorOf(o); e != nil {
		return nil, e
	}
	r, err := f.Reply(o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	r.Format = f.Name
	return r.Settle(), nil
}

// EncodeReply writes a whole reply.
func (f *Format) EncodeReply(r *Reply) ([]byte, error) {
	o, err := f.AppendReply(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	return o.Bytes(), nil
}

// DecodeRequest reads a request.
func (f *Format) DecodeRequest(data []byte) (*Request, error) {
	o, err := wire.ParseObject(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w request: %w", f.Name, ErrMalformed, err)
	}
	r, err := f.Request(o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	r.Format = f.Name
	return r, nil
}

// EncodeRequest writes a request.
func (f *Format) EncodeRequest(r *Request) ([]byte, error) {
	o, err := f.AppendRequest(r.withIDs(f.IDs))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	return o.Bytes(), nil
}

// Limits of a stream; 0 means the default of 4 MB a message, and 32 MB in all.
type Limits struct {
	MaxMessageBytes, MaxTotalBytes int
}

// DecodeStream reads a streamed reply from in, in whatever framing it comes, and
// yields its events. An error ends it: what came before it stays true. A stream
// that ends early ends with [ErrUnexpectedEnd].
func (f *Format) DecodeStream(in io.Reader, l Limits) iter.Seq2[Event, error] {
	return DecodeMessages(f, wire.NewReader(in, l.MaxMessageBytes, l.MaxTotalBytes))
}

// DecodeMessages is [Format.DecodeStream] for a reader of messages that has begun.
func DecodeMessages(f *Format, r *wire.Reader) iter.Seq2[Event, error] {
	return DecodeFrames(f, r, func(_ []byte, decode func() error) error { return decode() })
}

// DecodeFrames is [DecodeMessages] for one who wants to see the messages: message is
// called with the bytes of each, which are valid until it returns, and calls decode,
// which yields the message's events.
func DecodeFrames(f *Format, r *wire.Reader, message func(raw []byte, decode func() error) error) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		d := f.Decoder()
		stopped := false
		called := map[int]bool{} // choices that hold calls
		var like repeat
		var given Event // by the message, and how many
		events := 0
		emit := func(e Event) {
			given = e
			events++
			switch {
			case e.Type == EventCallStart:
				called[e.Choice] = true
			case e.Type == EventFinish && e.Finish == FinishStop && called[e.Choice]:
				e.Finish = FinishCalls // not all servers say so
			}
			if !stopped && !yield(e, nil) {
				stopped = true
			}
		}
		fail := func(err error) {
			if !stopped {
				yield(Event{}, fmt.Errorf("%s: %w", f.Name, err))
			}
		}
		var frame wire.Frame
		var o wire.Object
		decode := func() error { return d.Message(frame.Event, o, emit) }
		repeated := func() error {
			emit(given)
			return nil
		}
		for !stopped {
			var err error
			frame, err = r.Next()
			if errors.Is(err, io.EOF) {
				if !d.End(emit) {
					fail(ErrUnexpectedEnd)
				}
				return
			}
			if err != nil {
				d.End(emit)
				if errors.Is(err, wire.ErrCut) || errors.Is(err, io.ErrUnexpectedEOF) {
					err = fmt.Errorf("%w: %w", ErrUnexpectedEnd, err)
				}
				fail(err)
				return
			}
			if f.Plain {
				if e, ok := like.read(frame.Data); ok {
					given = e
					if err := message(frame.Data, repeated); err != nil {
						d.End(emit)
						fail(err)
						return
					}
					continue
				}
			}
			if isDone(frame.Data) { // what comes behind it is none of the reply
				d.End(emit)
				return
			}
			o, err = wire.ParseObject(frame.Data)
			if err != nil {
				if len(bytes.TrimSpace(frame.Data)) == 0 {
					continue
				}
				d.End(emit)
				fail(fmt.Errorf("%w message %q: %w", ErrMalformed, clip(frame.Data), err))
				return
			}
			if e := ErrorOf(o); e != nil {
				d.End(emit)
				fail(e)
				return
			}
			events = 0
			if err := message(frame.Data, decode); err != nil {
				d.End(emit)
				fail(err)
				return
			}
			if f.Plain {
				if events == 1 {
					like.learn(frame.Data, &given)
				} else {
					like.known = false
				}
			}
		}
	}
}

func isDone(data []byte) bool { return string(bytes.TrimSpace(data)) == "[DONE]" }

func clip(b []byte) []byte { return b[:min(len(b), 200)] }

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
	if failed != nil {
		r.breakOff()
	}
	return r, failed
}

// Output takes the messages of an encoder and frames them.
type Output struct {
	w       io.Writer
	framing wire.Framing
	buf     []byte
}

// Write writes one message at once.
func (o *Output) Write(event string, message wire.Object) error {
	return o.WriteRaw(event, message.Bytes())
}

// WriteRaw writes one message's bytes at once.
func (o *Output) WriteRaw(event string, message []byte) error {
	o.buf = wire.AppendFrame(o.buf[:0], o.framing, event, message)
	_, err := o.w.Write(o.buf)
	return err
}

// NewEncoder returns what writes a streamed reply to w, each message by one call
// of Write.
func (f *Format) NewEncoder(w io.Writer) Encoder {
	e := f.Encoder(&Output{w: w, framing: f.Framing})
	if f.Sequential {
		e = &inOrder{next: e}
	}
	if !f.Carries.Custom {
		e = &noCustom{next: e, text: map[[2]int][]byte{}}
	}
	return e
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

// ErrorOf returns the error that an object reports in place of a reply, nil if it
// reports none. It knows the shapes of all formats: {"error": …}, {"type": "error"},
// and the bare {"message": …} of Cohere, Bedrock and Mistral.
func ErrorOf(o wire.Object) *ProviderError {
	if o.Has("error") {
		if e := o.Object("error"); e != nil {
			code := e.String("code")
			if n := e.Int("code"); code == "" && n != 0 {
				code = string(e.Get("code"))
			}
			kind := e.String("type")
			if kind == "" {
				kind = e.String("status")
			}
			message := e.String("message")
			if message == "" {
				message = string(clip(e.Bytes()))
			}
			return &ProviderError{Type: kind, Code: code, Message: message}
		}
		if s := o.String("error"); s != "" {
			return &ProviderError{Message: s}
		}
	}
	kind := o.String("type")
	if kind == "error" {
		return &ProviderError{Type: kind, Code: o.String("code"), Message: o.String("message")}
	}
	if o.String("object") == "error" || o.Has("detail") && len(o) == 1 {
		message := o.String("message")
		if message == "" {
			message = string(clip(o.Bytes()))
		}
		return &ProviderError{Type: kind, Code: o.String("code"), Message: message}
	}
	if message, ok := wire.String(o.Get("message")); ok && len(o) <= 3 && !o.Has("role") && !o.Has("content") {
		return &ProviderError{Type: kind, Message: message}
	}
	return nil
}

// WriteComment writes what keeps a silent stream alive and says nothing: a comment
// where the framing has them.
func (o *Output) WriteComment() error {
	if o.framing != wire.SSE {
		return nil
	}
	_, err := io.WriteString(o.w, ": ping\n\n")
	return err
}
