package lenient

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// TestLinear reads texts that repeat what the reader looks ahead for: where that were
// not bounded it would take hours.
func TestLinear(t *testing.T) {
	size := 1 << 20
	if testing.Short() {
		size = 256 << 10
	}
	for _, tt := range []struct{ head, unit string }{
		{`{"a": 1`, ",000"},
		{`[1`, ",000"},
		{`{"a": x`, ",000"},
		{`{"a": 1`, " 000"},
		{`{"a": x`, ", y"},
		{`{"a": f(`, `"(`},
		{`{"a": "x`, `" "`},
		{`{"a": "x`, `", "`},
		{`{"a": "x`, `"}`},
		{`{"a": "x`, `" }`},
		{`{"a": 'x`, `' `},
		{`{"a": “x`, `” `},
		{"{\"a\": `x", "` "},
		{`{`, `"a `},
		{`{`, "`a "},
		{`{`, `a.`},
		{`[`, `"a" `},
		{`[`, `"a"+`},
		{`{"a": """`, `" `},
		{`{"a": "`, `\"`},
		{`{"a": "`, `</`},
		{`[`, `/*`},
		{`[`, "//\n"},
	} {
		text := tt.head + strings.Repeat(tt.unit, size/len(tt.unit))
		for _, o := range []Options{{}, {Close: []string{"</tool_call>"}}, {Python: true}} {
			if _, _, err := Parse(text, o); err != nil && err.Error() == "" {
				t.Errorf("%q many times: an error that says nothing", tt.unit)
			}
		}
	}
}

// brokenUnits are what broken JSON is made of.
var brokenUnits = []string{
	`"`, "'", ",", ":", "{", "}", "[", "]", "(", ")", " ", "\n", `\`, "`", "```", "#", "//", "/*", "--", "<", "</tool_call>", "，", "｝", "“", "”",
	"1", "000", ".5", "-", "+", "=", "=>", "true", "None", "é", "a", "key", ";", "...", `"""`, `<|"|>`, `\"`, `\u00e9`, `\ud83d`, "\x00", "f(", `r"`, "\xe4",
}

// TestAnyText reads random texts of what JSON is made of: there is a value or an error,
// and the same however the text comes.
func TestAnyText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(brokenUnits), 0, 40).Draw(t, "units"), "")
		o := Options{Python: rapid.Bool().Draw(t, "python"), Hash: rapid.Bool().Draw(t, "hash"), MaxDepth: 8}
		if rapid.Bool().Draw(t, "marked") {
			o.Close, o.Quotes = []string{"</tool_call>"}, []string{`<|"|>`}
		}
		whole := NewReader(NewText(text), o)
		want, wantErr := whole.Value()
		var reader *Reader
		var got any
		r := Start(func(c *Cursor) (err error) {
			reader = NewReader(c, o)
			got, err = reader.Value()
			return err
		})
		defer r.Stop()
		for i := range len(text) {
			r.Feed([]byte{text[i]})
		}
		r.End()
		if (wantErr == nil) != (r.Err() == nil) || !reflect.DeepEqual(got, want) || !slices.Equal(reader.Fixes.List, whole.Fixes.List) {
			t.Fatalf("%q is %#v %v %v, and byte by byte %#v %v %v", text, want, wantErr, whole.Fixes.List, got, r.Err(), reader.Fixes.List)
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
