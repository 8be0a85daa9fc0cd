package lenient

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"unicode/utf8"
)

// readStream reads a value that arrives in chunks of n bytes.
func readStream(text []byte, n int, o Options) (v any, fixes []string, err error) {
	at := 0
	c := &Cursor{}
	c.wait = func(struct{}) bool {
		if at == len(text) {
			c.End()
			return true
		}
		next := min(at+n, len(text))
		c.Append(text[at:next])
		at = next
		return true
	}
	r := NewReader(c, o)
	v, err = r.Value()
	return v, r.Fixes.Names(), err
}

// FuzzReader checks that on any bytes the reader does not panic; that what it
// reads is JSON; that cutting the text changes nothing; and that it reads valid
// JSON as encoding/json does, without a repair.
func FuzzReader(f *testing.F) {
	for _, s := range []string{
		`{"a": [1, 2.50, true, null, "x\n\u00e9"]}`, `{a: 'b', "c": "say "hi", ok",}`, `{"a": .5, b: 1,000}`, "[\"\xe4\xb8\"]", `{"a": "\ud800"}`,
		`{"a": """x"""}`, `{\"a\": \"b\"}`, `{"a": [1, 2}`, "{'a': True} trailing", `{"a" 1 "b": 2}`, `[[[[`, `{"a":`, `{“a”：“b”，}`, `// x`, `{"a": "b" + "c"}`, `{{"a":1}}`,
		`{"a": "x, "days": 3}`, `{"a": {"b": 1}}, "c": 2}`, `{'a": (1, 2), "b': {1, 2}}`, `[{"a": 1 {"a": 2}, ...]`, `cb({"a": NumberLong(5)});`, `["a": 1, "b" true]`,
		`{""a"": ""b"", "c": "{"d": "e"}, f"}`, "{\n \"a\": 1 // x\r, b: c d\n e}", `{"a': 1, 'b": 2}`, `{"a": "x\", 'k': 1", "b": 2}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r := NewReader(NewCursor(text), Options{})
		v, err := r.Value()
		if err == nil {
			if _, err := json.Marshal(v); err != nil {
				t.Fatalf("%q gives %#v: %v", text, v, err)
			}
		}
		cut, fixes, cutErr := readStream(text, 1, Options{})
		if (err == nil) != (cutErr == nil) || !reflect.DeepEqual(v, cut) || err == nil && !reflect.DeepEqual(fixes, r.Fixes.Names()) {
			t.Fatalf("%q whole: %#v %v %v\ncut: %#v %v %v", text, v, r.Fixes.Names(), err, cut, fixes, cutErr)
		}
		shaped := NewReader(NewCursor(text), Options{Shape: anyShape, Alone: true})
		meant, shapedErr := shaped.Value()
		if !json.Valid(text) || !utf8.Valid(text) || err != nil && errors.Is(err, ErrDepth) {
			return
		}
		dec := json.NewDecoder(bytes.NewReader(text))
		dec.UseNumber()
		var want any
		if err := dec.Decode(&want); err != nil {
			t.Fatal(err)
		}
		if err != nil || !reflect.DeepEqual(v, want) {
			t.Fatalf("%q is read as %#v (%v), not %#v", text, v, err, want)
		}
		if shapedErr != nil || !reflect.DeepEqual(meant, v) || !reflect.DeepEqual(shaped.Fixes.List, r.Fixes.List) {
			t.Fatalf("%q is JSON, and with a shape it is read as %#v (%v)", text, meant, shapedErr)
		}
		for _, name := range r.Fixes.Names() {
			if name != "duplicate_key" && name != "lone_surrogate" {
				t.Fatalf("%q is JSON, and yet %s", text, name)
			}
		}
	})
}
