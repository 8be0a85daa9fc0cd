package lenient

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// readStream reads a value that arrives in chunks of n bytes.
func readStream(text []byte, n int) (v any, fixes []string, err error) {
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
	r := NewReader(c, Options{})
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
		cut, fixes, cutErr := readStream(text, 1)
		if (err == nil) != (cutErr == nil) || !reflect.DeepEqual(v, cut) || err == nil && !reflect.DeepEqual(fixes, r.Fixes.Names()) {
			t.Fatalf("%q whole: %#v %v %v\ncut: %#v %v %v", text, v, r.Fixes.Names(), err, cut, fixes, cutErr)
		}
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
		for _, name := range r.Fixes.Names() {
			if name != "duplicate_key" && name != "lone_surrogate" {
				t.Fatalf("%q is JSON, and yet %s", text, name)
			}
		}
	})
}

// TestPrefixes cuts generated documents off: what is read of them is a beginning
// of what the whole says.
func TestPrefixes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doc := map[string]any{
			"text":  rapid.StringN(0, 40, -1).Draw(t, "text"),
			"list":  rapid.SliceOfN(rapid.IntRange(-999, 99999), 0, 5).Draw(t, "list"),
			"flag":  rapid.Bool().Draw(t, "flag"),
			"inner": map[string]any{"a": rapid.StringN(0, 10, -1).Draw(t, "a"), "n": nil},
		}
		whole, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		n := rapid.IntRange(1, len(whole)).Draw(t, "n")
		r := NewReader(NewCursor(whole[:n]), Options{})
		v, err := r.Value()
		if err != nil {
			t.Fatalf("%s: %v", whole[:n], err)
		}
		m, _ := v.(map[string]any)
		if text, ok := m["text"].(string); ok && !strings.HasPrefix(doc["text"].(string), text) && utf8.ValidString(doc["text"].(string)) {
			t.Fatalf("%s gives %q of %q", whole[:n], text, doc["text"])
		}
		if n < len(whole) && !r.Fixes.Has(Truncated) {
			t.Fatalf("%s is not seen to be cut off", whole[:n])
		}
	})
}

func TestDepth(t *testing.T) {
	for _, open := range []string{"[", `{"a":`, "{a:[", `[{"a":`} {
		r := NewReader(NewCursor(bytes.Repeat([]byte(open), 1<<20)), Options{})
		if _, err := r.Value(); !errors.Is(err, ErrDepth) {
			t.Errorf("%q many times: %v", open, err)
		}
	}
	deep := strings.Repeat("[", MaxDepth) + strings.Repeat("]", MaxDepth)
	if _, _, err := Parse(deep, Options{}); err != nil {
		t.Errorf("%d levels: %v", MaxDepth, err)
	}
}

func TestUTF8(t *testing.T) {
	// Each maximal part that is no UTF-8 gives one replacement: Unicode 16, table 3-8.
	got := ValidUTF8([]byte("\x61\xF1\x80\x80\xE1\x80\xC2\x62\x80\x63\x80\xBF\x64"))
	if want := "a\uFFFD\uFFFD\uFFFDb\uFFFDc\uFFFD\uFFFDd"; got != want {
		t.Errorf("%q, not %q", got, want)
	}
}

func TestPython(t *testing.T) {
	tests := []struct{ text, want string }{
		{`'it\'s'`, `"it's"`},
		{`r"\d+"`, `"\\d+" string_prefix`},
		{`"a" 'b'`, `"ab" concatenation`},
		{`(1, 2)`, `[1,2]`},
		{`{'a': (1, None)}`, `{"a":[1,null]}`},
		{`"""x "y" z"""`, `"x \"y\" z" triple_quotes`},
		{`-2.5e3`, `-2.5e3`},
	}
	for _, tt := range tests {
		got := read(t, tt.text, Options{Python: true})
		if got != tt.want {
			t.Errorf("%s is read as %s, not %s", tt.text, got, tt.want)
		}
	}
}
