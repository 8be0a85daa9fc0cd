package mcpproxy

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/callwright/callwright/internal/wire"
)

// part is a value within a message: the bytes and where they begin.
type part struct {
	raw []byte
	at  int
}

// parts are the members of an object, by key.
type parts struct {
	members map[string]part
	end     int  // offset of the closing brace
	twice   bool // some key is there twice: two readers may see two objects
}

// split finds the members of an object that begins at an offset of a message. raw must be
// valid JSON, and a slice of the message that reaches as far as its capacity.
func split(message, raw []byte) (parts, bool) {
	o, ok := wire.AsObject(raw)
	if !ok {
		return parts{}, false
	}
	trimmed := bytes.TrimRight(raw, " \t\r\n")
	p := parts{members: make(map[string]part, len(o)), end: offset(message, raw) + len(trimmed) - 1}
	for _, m := range o {
		if _, there := p.members[m.Key]; there {
			p.twice = true
		}
		p.members[m.Key] = part{m.Value, offset(message, m.Value)}
	}
	return p, true
}

// offset is where a slice of a message begins: package wire only cuts slices shorter, so
// what is left of their capacity tells.
func offset(message, of []byte) int { return cap(message) - cap(of) }

// text returns a member that is a string.
func (p *parts) text(key string) string {
	s, _ := wire.String(p.members[key].raw)
	return s
}

// edit is a change of a message: the bytes from..to become with.
type edit struct {
	from, to int
	with     []byte
}

// apply makes changes, which are sorted and do not overlap.
func apply(message []byte, edits []edit) []byte {
	out := make([]byte, 0, len(message)+256)
	last := 0
	for _, e := range edits {
		out = append(out, message[last:e.from]...)
		out = append(out, e.with...)
		last = e.to
	}
	return append(out, message[last:]...)
}

// idOf returns the key of an id, by which a reply finds its request: "" if it is neither a
// string nor a number. A number in another notation, 1.0 for 1, is the same id.
func idOf(raw []byte) string {
	if len(raw) == 0 {
		return ""
	}
	if raw[0] == '"' {
		s, ok := wire.String(raw)
		if !ok {
			return ""
		}
		return "s" + s
	}
	if c := raw[0]; c != '-' && (c < '0' || c > '9') {
		return ""
	}
	n := string(raw)
	if whole, zeros, ok := strings.Cut(n, "."); ok && strings.Trim(zeros, "0") == "" {
		n = whole
	}
	return "n" + n
}

// isJSON reports whether a message is JSON, as most readers take it: keys may be there
// twice, and texts may hold broken UTF-8.
func isJSON(message []byte) bool {
	return jsontext.Value(message).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// decode decodes an object, its numbers as they were written.
func decode(raw []byte) (map[string]any, bool) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var m map[string]any
	return m, d.Decode(&m) == nil && m != nil
}
