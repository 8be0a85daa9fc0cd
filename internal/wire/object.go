// Package wire reads and writes JSON objects without losing unknown members, their order
// or the digits of numbers, and the framings of streams.
package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Member is one member of an object, its value as it was written. It is an alias of a
// type without a name, as adapters.Member is, so that an Object can be handed to public
// functions, which name no internal type, without a copy.
type Member = struct {
	Key   string
	Value json.RawMessage
}

// Object is a JSON object with its members in the order in which they were
// written. Keys count in their exact case; of a repeated key the last one counts.
type Object []Member

// Errors of reading JSON.
var (
	ErrNotJSON   = errors.New("not valid JSON")
	ErrNotObject = errors.New("not a JSON object")
)

// ParseObject reads an object. The members share its memory.
func ParseObject(data []byte) (Object, error) {
	if !json.Valid(data) {
		return nil, ErrNotJSON
	}
	o, ok := AsObject(data)
	if !ok {
		return nil, ErrNotObject
	}
	return o, nil
}

// AsObject splits an object that is known to be valid JSON.
func AsObject(raw []byte) (Object, bool) {
	raw = trim(raw)
	if len(raw) == 0 || raw[0] != '{' {
		return nil, false
	}
	o := make(Object, 0, min(8, len(raw)/20+1))
	i := skipSpace(raw, 1)
	for i < len(raw) && raw[i] == '"' {
		end := skipString(raw, i)
		key := keyOf(raw[i:end])
		i = skipSpace(raw, end)
		i = skipSpace(raw, i+1) // the colon
		end = skipValue(raw, i)
		o = append(o, Member{key, raw[i:end]})
		if i = skipSpace(raw, end); i < len(raw) && raw[i] == ',' {
			i = skipSpace(raw, i+1)
		}
	}
	return o, true
}

// commonKeys are keys that nearly every message has. They are not allocated anew.
var commonKeys = func() map[string]string {
	m := map[string]string{}
	for _, k := range []string{
		"id", "object", "created", "model", "choices", "index", "delta", "message", "role", "content", "finish_reason", "logprobs", "usage",
		"tool_calls",
		"type", "function", "name", "arguments", "system_fingerprint", "service_tier", "refusal", "reasoning_content", "reasoning", "obfuscation",
		"content_block", "text", "partial_json", "thinking", "signature", "stop_reason", "stop_sequence", "input", "item_id", "output_index",
		"content_index",
		"sequence_number", "item", "part", "response", "output", "status", "created_at", "done", "done_reason", "candidates", "parts",
		"functionCall", "args",
		"usageMetadata", "modelVersion", "responseId", "finishReason", "thought", "thoughtSignature", "contentBlockIndex", "toolUse",
	} {
		m[k] = k
	}
	return m
}()

// keyOf reads a key.
func keyOf(raw []byte) string {
	if k, ok := commonKeys[string(raw[1:len(raw)-1])]; ok {
		return k
	}
	k, _ := String(raw)
	return k
}

// AsList splits an array that is known to be valid JSON; nil if raw is not an array.
func AsList(raw []byte) [][]byte {
	raw = trim(raw)
	if len(raw) == 0 || raw[0] != '[' {
		return nil
	}
	list := [][]byte{}
	for i := skipSpace(raw, 1); i < len(raw) && raw[i] != ']'; {
		end := skipValue(raw, i)
		list = append(list, raw[i:end])
		if i = skipSpace(raw, end); i < len(raw) && raw[i] == ',' {
			i = skipSpace(raw, i+1)
		}
	}
	return list
}

// Objects returns the objects of an array, and nothing else that is in it.
func Objects(raw []byte) []Object {
	var out []Object
	for _, e := range AsList(raw) {
		if o, ok := AsObject(e); ok {
			out = append(out, o)
		}
	}
	return out
}

func trim(raw []byte) []byte {
	for len(raw) > 0 && isSpace(raw[0]) {
		raw = raw[1:]
	}
	for len(raw) > 0 && isSpace(raw[len(raw)-1]) {
		raw = raw[:len(raw)-1]
	}
	return raw
}

func isSpace(b byte) bool { return b == ' ' || b == '\n' || b == '\t' || b == '\r' }

func skipSpace(raw []byte, i int) int {
	for i < len(raw) && isSpace(raw[i]) {
		i++
	}
	return i
}

// skipString returns the offset behind the string that begins at i.
func skipString(raw []byte, i int) int {
	for i++; ; {
		n := bytes.IndexByte(raw[i:], '"')
		if n < 0 {
			return len(raw)
		}
		from := i
		i += n + 1
		escapes := 0
		for at := i - 2; at >= from && raw[at] == '\\'; at-- {
			escapes++
		}
		if escapes%2 == 0 {
			return i
		}
	}
}

// skipValue returns the offset behind the value that begins at i.
func skipValue(raw []byte, i int) int {
	depth := 0
	for i < len(raw) {
		switch raw[i] {
		case '"':
			if i = skipString(raw, i); depth == 0 {
				return i
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
			if depth < 0 {
				return i
			}
		case ',', ' ', '\n', '\t', '\r':
			if depth == 0 {
				return i
			}
		}
		i++
	}
	return len(raw)
}

// Get returns the value of a key, nil if there is none.
func (o Object) Get(key string) []byte {
	for i := len(o) - 1; i >= 0; i-- {
		if o[i].Key == key {
			return o[i].Value
		}
	}
	return nil
}

// Has reports whether there is a value of a key other than null.
func (o Object) Has(key string) bool {
	v := o.Get(key)
	return v != nil && !IsNull(v)
}

// Take returns the value of a key and removes it.
func (o *Object) Take(key string) []byte {
	var value []byte
	for i := 0; i < len(*o); i++ {
		if (*o)[i].Key == key {
			value = (*o)[i].Value
			*o = append((*o)[:i], (*o)[i+1:]...)
			i--
		}
	}
	return value
}

// TakeString takes a string; "" if it is not one.
func (o *Object) TakeString(key string) string { s, _ := String(o.Take(key)); return s }

// TakeInt takes an integer; 0 if it is not one.
func (o *Object) TakeInt(key string) int64 { n, _ := Int(o.Take(key)); return n }

// TakeObject takes an object; nil if it is not one.
func (o *Object) TakeObject(key string) Object { v, _ := AsObject(o.Take(key)); return v }

// TakeBool takes a truth value; nil if there is none, or null.
func (o *Object) TakeBool(key string) *bool {
	raw := o.Take(key)
	if IsNull(raw) {
		return nil
	}
	b := string(raw) == "true"
	return &b
}

// TakeList takes the elements of an array.
func (o *Object) TakeList(key string) [][]byte { return AsList(o.Take(key)) }

// String returns the string of a key; "" if it is not one.
func (o Object) String(key string) string { s, _ := String(o.Get(key)); return s }

// Int returns the integer of a key; 0 if it is not one.
func (o Object) Int(key string) int64 { n, _ := Int(o.Get(key)); return n }

// Object returns the object of a key; nil if it is not one.
func (o Object) Object(key string) Object { v, _ := AsObject(o.Get(key)); return v }

// Bool reports whether the value of a key is true.
func (o Object) Bool(key string) bool { return string(o.Get(key)) == "true" }

// Set sets the raw value of a key; nil sets nothing.
func (o *Object) Set(key string, raw []byte) {
	if raw == nil {
		return
	}
	for i := range *o {
		if (*o)[i].Key == key {
			(*o)[i].Value = raw
			return
		}
	}
	*o = append(*o, Member{key, raw})
}

// SetString sets a string.
func (o *Object) SetString(key, s string) { o.Set(key, Quote(s)) }

// SetText sets a string unless it is empty.
func (o *Object) SetText(key, s string) {
	if s != "" {
		o.Set(key, Quote(s))
	}
}

// SetInt sets an integer.
func (o *Object) SetInt(key string, n int64) { o.Set(key, strconv.AppendInt(nil, n, 10)) }

// SetBool sets a truth value.
func (o *Object) SetBool(key string, b bool) { o.Set(key, strconv.AppendBool(nil, b)) }

// SetObject sets an object.
func (o *Object) SetObject(key string, v Object) { o.Set(key, v.Bytes()) }

// SetRest puts back what is left of an object that was taken, unless it is empty.
func (o *Object) SetRest(key string, rest Object) {
	if len(rest) > 0 {
		o.SetObject(key, rest)
	}
}

// SetList sets an array.
func (o *Object) SetList(key string, list [][]byte) { o.Set(key, List(list)) }

// Merge adds members that are not there yet. Where both have an object, those are
// merged.
func (o *Object) Merge(from Object) {
	for _, m := range from {
		old := o.Get(m.Key)
		if old == nil {
			*o = append(*o, m)
			continue
		}
		if a, ok := AsObject(old); ok {
			if b, ok := AsObject(m.Value); ok {
				a.Merge(b)
				o.SetObject(m.Key, a)
			}
		}
	}
}

// Bytes writes the object.
func (o Object) Bytes() []byte {
	n := 2
	for i := range o {
		n += len(o[i].Key) + len(o[i].Value) + 4
	}
	b := append(make([]byte, 0, n), '{')
	for i := range o {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendQuote(b, o[i].Key)
		b = append(b, ':')
		b = append(b, o[i].Value...)
	}
	return append(b, '}')
}

// Clone copies an object whose memory is going to be used for something else.
func (o Object) Clone() Object {
	if o == nil {
		return nil
	}
	out := make(Object, len(o))
	for i := range o {
		out[i] = Member{o[i].Key, bytes.Clone(o[i].Value)}
	}
	return out
}

// Encode writes a value as JSON on one line, with nothing escaped for HTML.
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), err
}

// List writes an array.
func List(list [][]byte) []byte {
	return append(append([]byte{'['}, bytes.Join(list, []byte{','})...), ']')
}

// Quote writes a string. Bytes that are no UTF-8 become U+FFFD.
func Quote(s string) []byte { return appendQuote(make([]byte, 0, len(s)+2), s) }

func appendQuote(b []byte, s string) []byte {
	b, _ = jsontext.AppendQuote(b, s) // the error says that a byte was replaced
	return b
}

// String reads a string that is known to be valid JSON.
func String(raw []byte) (string, bool) {
	raw = trim(raw)
	if len(raw) < 2 || raw[0] != '"' {
		return "", false
	}
	if inner := raw[1 : len(raw)-1]; bytes.IndexByte(inner, '\\') < 0 {
		if utf8.Valid(inner) {
			return string(inner), true
		}
		return strings.ToValidUTF8(string(inner), "\uFFFD"), true
	}
	b, _ := jsontext.AppendUnquote(nil, raw) // the error says that something was replaced
	return string(b), true
}

// Int reads an integer, also one written as a float or within a string.
func Int(raw []byte) (int64, bool) {
	s := string(trim(raw))
	if t, ok := String(raw); ok {
		s = t
	}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f != f || f < -1<<53 || f > 1<<53 {
		return 0, false
	}
	return int64(f), true
}

// IsNull reports whether a value is null, or not there.
func IsNull(raw []byte) bool { return len(raw) == 0 || string(trim(raw)) == "null" }
