package normalizer

import (
	"slices"

	"github.com/callwright/callwright/internal/lenient"
)

// cut reports whether the text ended inside the entry whose arguments stand in n.holder,
// and which parameter was being written. An entry whose arguments are closed is whole,
// though the bracket of the object or the list around it is missing:
//
//	[{"name": "f", "arguments": {"a": 1}}, {"name": "g", "arguments": {"b": 2
//
// calls f as it stands. written are the arguments as they were written, args as they were
// read.
func (n *normalization) cut(written, args any) (key string, cut bool) {
	if n.o.Open == nil {
		return "", false
	}
	held, open := n.o.Open(n.holder)
	switch written := written.(type) {
	case map[string]any, []any:
		if key, cut := n.o.Open(written); cut {
			return key, true
		}
		return "", open && slices.Contains(nameKeys, held) // the name may not be whole
	case string, lenient.Text:
		_, whole := args.(map[string]any)
		return "", open && (held != "" || !whole)
	}
	return "", open
}

// isCut reports whether a value was cut off.
func (n *normalization) isCut(v any) bool {
	if n.o.Open == nil {
		return false
	}
	_, open := n.o.Open(v)
	return open
}

// cutFlat is cut for an entry whose arguments stand beside its name.
func (n *normalization) cutFlat() (key string, cut bool) {
	if n.o.Open == nil {
		return "", false
	}
	return n.o.Open(n.holder)
}
