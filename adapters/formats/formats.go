// Package formats lists the wire formats, and detects the format of a reply, a recorded
// stream, or a stream that arrives.
package formats

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/anthropic"
	"github.com/callwright/callwright/adapters/bedrock"
	"github.com/callwright/callwright/adapters/cohere"
	"github.com/callwright/callwright/adapters/gemini"
	"github.com/callwright/callwright/adapters/mistral"
	"github.com/callwright/callwright/adapters/ollama"
	"github.com/callwright/callwright/adapters/openai"
	"github.com/callwright/callwright/internal/wire"
)

var all = []*adapters.Format{
	openai.Chat, openai.Responses, anthropic.Messages, ollama.Chat, ollama.Generate, gemini.Generate, bedrock.Converse, cohere.Chat,
	mistral.Chat,
}

// All returns the wire formats.
func All() []*adapters.Format { return slices.Clone(all) }

// Lookup returns the format of a name. The error is [adapters.ErrUnknownFormat] and lists
// the names.
func Lookup(name string) (*adapters.Format, error) {
	var names []string
	for _, f := range all {
		if f.Name == name {
			return f, nil
		}
		names = append(names, f.Name)
	}
	return nil, fmt.Errorf("%w %q, must be one of %q", adapters.ErrUnknownFormat, name, names)
}

// Resolve returns the format that a user's name for one means, nil if it means none. A
// format's own name always means it, with "-" for "_" too. A short name, such as
// "openai", means the format that the input, or its beginning, looks like, if that has
// the name; some short names are names of dialects as well, so that the input decides.
func Resolve(name string, input []byte) *adapters.Format {
	name = strings.ReplaceAll(name, "-", "_")
	var meant []*adapters.Format
	for _, f := range all {
		if f.Name == name {
			return f
		}
		if slices.Contains(f.ShortNames, name) {
			meant = append(meant, f)
		}
	}
	if meant == nil {
		return nil
	}
	seen := DetectFormat(input).Format
	if seen == nil {
		return nil
	}
	for _, f := range meant {
		if f == seen || f.FlavorOf == seen.Name {
			return f
		}
	}
	return nil
}

// Detected is the detected format of a reply or a stream.
type Detected struct {
	// Format is nil if no format fits.
	Format *adapters.Format
	// Confidence is from 0 to 1; from [Sure] on it is hardly anything else.
	Confidence float64
	// Version is the version of the provider's API, as the provider names it.
	Version string
	// Stream says that it is a recorded stream.
	Stream bool
}

// Sure is the confidence from which on the command treats its input as a reply.
const Sure = 0.8

// maxLook is how many messages of a stream are looked at.
const maxLook = 16

// DetectFormat detects the format of a reply, or of a recorded stream or its beginning. Of
// a stream it looks at 16 messages at most.
func DetectFormat(data []byte) Detected {
	data = bytes.TrimPrefix(data, byteOrderMark)
	o, err := wire.ParseObject(data)
	return detect(data, o, err)
}

// byteOrderMark may stand at the beginning of a file.
var byteOrderMark = []byte("\ufeff")

// detect tells the format of an input that was read as an object, if it is one.
func detect(data []byte, o wire.Object, err error) Detected {
	if err != nil {
		return detectStream(wire.NewReader(bytes.NewReader(data), 0, max(len(data)+1, wire.DefaultMaxTotal)))
	}
	d := recognize(o, "")
	d.Stream = d.Format != nil && isPiece(o)
	return d
}

// isPiece reports whether an object is one message of a stream and no reply.
func isPiece(o wire.Object) bool {
	for _, c := range wire.Objects(o.Get("choices")) {
		if c.Has("delta") && !c.Has("message") {
			return true
		}
	}
	if t := o.String("type"); t != "" && t != "message" || o.String("object") == "chat.completion.chunk" {
		return true
	}
	return len(o) == 1 &&
		slices.Contains(
			[]string{"messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop", "metadata"}, o[0].Key,
		)
}

// Stream is a stream whose format was detected by its first message. It can still be read
// from its beginning.
type Stream struct {
	Detected
	in     io.Reader
	limits adapters.Limits
}

// Open reads the first message of a stream and detects the stream's format by it; Format is
// nil if none fits. The error is [io.EOF] if there is no message, else as
// [adapters.StreamReader.Next] has them.
func Open(in io.Reader, l adapters.Limits) (*Stream, error) {
	var seen bytes.Buffer
	s := &Stream{in: io.MultiReader(&seen, in), limits: l}
	r := wire.NewReader(io.TeeReader(in, &seen), l.MaxMessageBytes, l.MaxTotalBytes)
	for {
		frame, err := r.Next()
		if err != nil {
			return nil, err
		}
		if len(bytes.TrimSpace(frame.Data)) == 0 {
			continue
		}
		if o, err := wire.ParseObject(frame.Data); err == nil {
			s.Detected = recognize(o, frame.Event)
			s.Stream = true
		}
		return s, nil
	}
}

// Read reads the stream's bytes, from its first one on. It is for streams without a
// known format, and not to be mixed with Events.
func (s *Stream) Read(p []byte) (int, error) { return s.in.Read(p) }

// Events reads the stream as one of a format; see [adapters.Format.DecodeStream].
func (s *Stream) Events(f *adapters.Format) iter.Seq2[adapters.Event, error] {
	return f.DecodeStream(s.in, s.limits)
}

func detectStream(r *wire.Reader) Detected {
	best := Detected{}
	for range maxLook {
		frame, err := r.Next()
		if errors.Is(err, io.EOF) || err != nil && !errors.Is(err, wire.ErrCut) {
			break
		}
		o, parseErr := wire.ParseObject(frame.Data)
		if parseErr != nil && err != nil {
			break
		}
		if parseErr != nil {
			continue
		}
		if d := recognize(o, frame.Event); d.Confidence > best.Confidence {
			best = d
			best.Stream = true
		}
		if err != nil {
			break
		}
	}
	return best
}

// recognize asks all formats; if several are equally sure, the first one counts.
func recognize(o wire.Object, event string) Detected {
	var best Detected
	for _, f := range all {
		if c, version := f.Recognize(o, event); c > best.Confidence {
			best = Detected{Format: f, Confidence: c, Version: version}
		}
	}
	return best
}

// Read reads a reply or a recorded stream in a format; nil detects the format. With an
// error, the reply of a stream holds what came before the error, other replies are nil.
// The error is [adapters.ErrUnknownFormat] if no format fits, or as
// [adapters.Format.DecodeReply] and [adapters.StreamReader.Next] have them.
func Read(f *adapters.Format, data []byte, l adapters.Limits) (*adapters.Reply, error) {
	data = bytes.TrimPrefix(data, byteOrderMark)
	o, err := wire.ParseObject(data)
	forced := f != nil
	if !forced {
		d := detect(data, o, err)
		if d.Format == nil {
			if e := adapters.ErrorOf(data); e != nil {
				return nil, e
			}
			return nil, fmt.Errorf("%w: no known provider's reply", adapters.ErrUnknownFormat)
		}
		f = d.Format
	}
	if err == nil && (!isPiece(o) || forced && adapters.ErrorOf(data) != nil) {
		return f.DecodeMembers(o)
	}
	return f.ReadStream(bytes.NewReader(data), l)
}
