package adapters

import (
	"encoding/json"

	"github.com/callwright/callwright/internal/wire"
)

// Member is one member of a JSON object: its key, and its value as it was written.
type Member = struct {
	Key   string
	Value json.RawMessage
}

// Extra are members of a JSON object that only one wire format knows, such as the
// log probabilities of OpenAI's chat. They come out again in the same format.
type Extra struct {
	// Format names the wire format; "" where there are no members.
	Format string
	// Members are in the order in which they were written. Their values may share the
	// memory of what they were read from; see [Extra.Clone].
	Members []Member
}

// ExtraOf returns members as the Extra of a format, an empty one if there are none. The
// memory is that of the members.
func ExtraOf(format string, members []Member) Extra {
	if len(members) == 0 {
		return Extra{}
	}
	return Extra{format, members}
}

// For returns the members if they are a format's own, else nil.
func (e Extra) For(format string) []Member {
	if e.Format != format {
		return nil
	}
	return e.Members
}

// Clone returns a copy with memory of its own.
func (e Extra) Clone() Extra {
	e.Members = wire.Object(e.Members).Clone()
	return e
}
