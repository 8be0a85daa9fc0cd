package adapters

import (
	"errors"

	"github.com/callwright/callwright/internal/wire"
)

// Errors of reading replies and requests.
var (
	// ErrMalformed says that data is not in its format.
	ErrMalformed = errors.New("malformed")
	// ErrUnexpectedEnd says that a stream ended before the reply did.
	ErrUnexpectedEnd = errors.New("the stream ended before the reply did")
	// ErrUnknownFormat says that no format has the name, or fits the data.
	ErrUnknownFormat = errors.New("unknown format")
	// ErrTooLarge says that a message or a stream is larger than its limit.
	ErrTooLarge = wire.ErrTooLarge
	// ErrNotStream says that data is not a stream, but, for instance, a page of HTML.
	ErrNotStream = wire.ErrNotStream
)

// ProviderError is an error that a provider reported instead of a reply, or within a
// stream.
type ProviderError struct {
	Type    string // as the provider names it
	Code    string
	Message string
	// Generation is what the model wrote, where the provider reports a call in it that it
	// could not read.
	Generation string
}

func (e *ProviderError) Error() string {
	s := "the provider reports: " + e.Message
	if e.Type != "" {
		s += " (" + e.Type + ")"
	}
	return s
}

// maxQuotedBytes bounds what is quoted of a message in an error.
const maxQuotedBytes = 200

// clip cuts what is quoted in an error.
func clip(b []byte) []byte { return b[:min(len(b), maxQuotedBytes)] }

// ErrorOf returns the error that a provider reported in place of a reply, nil if data
// reports none. It knows the shapes of all formats: {"error": …}, {"type": "error"},
// and the bare {"message": …} of Cohere, Bedrock and Mistral.
func ErrorOf(data []byte) *ProviderError {
	if o, err := wire.ParseObject(data); err == nil {
		return errorOf(o)
	}
	return nil
}

// errorOf is [ErrorOf] for an object that was read already.
func errorOf(o wire.Object) *ProviderError {
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
			return &ProviderError{Type: kind, Code: code, Message: message, Generation: generationOf(e, message)}
		}
		if s := o.String("error"); s != "" {
			return &ProviderError{Message: s, Generation: generationOf(o, s)}
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
		return &ProviderError{Type: kind, Code: o.String("code"), Message: message, Generation: generationOf(o, message)}
	}
	if message, ok := wire.String(o.Get("message")); ok && len(o) <= 3 && !o.Has("role") && !o.Has("content") {
		return &ProviderError{Type: kind, Message: message}
	}
	return nil
}
