package parser

import (
	"encoding/json"
	"strconv"

	"github.com/callwright/callwright/internal/wire"
)

// encode writes a value as JSON, its keys in order and its numbers with their digits.
func encode(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(v)
	case string:
		if isPlain(v) {
			return `"` + v + `"`
		}
	case json.Number:
		if isDigits(string(v)) {
			return string(v)
		}
	}
	b, err := wire.Encode(v)
	if err != nil {
		return "null"
	}
	return string(b)
}

// isPlain reports whether a string is ASCII without characters that JSON escapes.
func isPlain(s string) bool {
	for i := range len(s) {
		if b := s[i]; b < 0x20 || b >= 0x7F || b == '"' || b == '\\' {
			return false
		}
	}
	return true
}

// isDigits reports whether a number is digits alone, as JSON writes them.
func isDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s == "0" || s != "" && s[0] != '0'
}

// innerJSON writes a piece of a string as it stands between its quotes (RFC 8259,
// section 7).
func innerJSON(s string) string {
	escapes := false
	for i := range len(s) {
		if s[i] < 0x20 || s[i] == '"' || s[i] == '\\' {
			escapes = true
			break
		}
	}
	if !escapes {
		return s
	}
	out := make([]byte, 0, len(s)+16)
	for i := range len(s) {
		switch b := s[i]; {
		case b == '"' || b == '\\':
			out = append(out, '\\', b)
		case b == '\n':
			out = append(out, '\\', 'n')
		case b == '\t':
			out = append(out, '\\', 't')
		case b == '\r':
			out = append(out, '\\', 'r')
		case b < 0x20:
			out = append(out, '\\', 'u', '0', '0', '0'+b>>4, "0123456789abcdef"[b&15])
		default:
			out = append(out, b)
		}
	}
	return string(out)
}
