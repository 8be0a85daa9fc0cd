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

// hostile are texts that repeat what the reader looks ahead for, or what it must undo.
var hostile = []struct{ head, unit string }{
	{`{"a": 1`, ",000"},
	{`[1`, ",000"},
	{`{"a": x`, ",000"},
	{`{"a": 1`, " 000"},
	{`{"a": x`, ", y"},
	{`{"a": f(`, `"(`},
	{`{"a": "x`, `" "`},
	{`{"a": "x`, `", "`},
	{`{"a": "x`, `", "b `},
	{`{"a": "x`, `", "b": `},
	{`{"a": "x`, `, "b": x `},
	{`{"a": "x`, `, b: "x `},
	{`{"a": "x`, `}, "b `},
	{`{"a": "x`, `"}`},
	{`{"a": "x`, `" }`},
	{`{"a": "x {`, `"} {`},
	{`{"a": 'x`, `' `},
	{`{"a": 'x`, `" `},
	{`{"a": 'x`, `", `},
	{`{"a": 'x`, `", "b": `},
	{`{"a": “x`, `” `},
	{"{\"a\": `x", "` "},
	{`{`, `"a `},
	{`{`, `"a': `},
	{`{`, `'a": `},
	{`{`, "`a "},
	{`{`, `a.`},
	{`{`, `a `},
	{`{`, `a: `},
	{`{`, `"a: `},
	{`{`, `"a" `},
	{`{`, `a:1}, `},
	{`{`, `"a":1}, `},
	{`[`, `{"a":1}, "b":`},
	{`[`, `"a" `},
	{`[`, `"a"+`},
	{`[`, `"a":`},
	{`[`, `"a":1,`},
	{`[`, `""a`},
	{`[`, `(1`},
	{`[`, `(1,`},
	{`[`, `("`},
	{`[`, `(1)`},
	{`[`, `(x)`},
	{`[`, `{1,`},
	{`[`, `{"a",`},
	{`[`, `{"a"},`},
	{`[`, `...`},
	{`[`, `... `},
	{`[`, `1 `},
	{`[`, `1"`},
	{`[`, `x"`},
	{`[`, `x{`},
	{`[`, `x[`},
	{`[`, `x[y]`},
	{`{"a": `, `x[y`},
	{`{"a": `, `x[y] `},
	{`{"a": `, "x\n"},
	{`{"a": `, "x\n\n\n\n\n\n\n\n"},
	{`{"a": `, "x        "},
	{`{"a": `, "x \\n"},
	{`{"a": `, "\\n"},
	{`{"a": `, "\\["},
	{`{"a": `, "f(1)"},
	{`{"a": `, "f(1) "},
	{`{"a": `, "x, "},
	{`{"a": `, "x, b "},
	{`{"a": `, "x, b: "},
	{`{"a": """`, `" `},
	{`{"a": "`, `\"`},
	{`{"a": "`, `\u`},
	{`{"a": "`, `\ud83d`},
	{`{"a": "`, `\x`},
	{`{"a": "`, `</`},
	{`{"a": "`, `</tool_call`},
	{`{"a": "`, `</tool_call>`},
	{`{"a": "`, `, `},
	{`{"a": "`, `}`},
	{`{"a": "`, `'`},
	{`{"a": "`, `' # "`},
	{`{"a": "`, `" # x`},
	{`{"a": "`, `" #`},
	{`{"a": "`, "\" # x\n"},
	{`{"a": "`, `" //`},
	{`{"a": "`, `" + `},
	{`{"a": "`, `" ...`},
	{`{"a": "`, `" - `},
	{`{"a": "`, `" 2 `},
	{`["`, `" 2 `},
	{`["`, `" true `},
	{`[`, `/*`},
	{`[`, "//\n"},
	{`[ // `, "</tool_call>"},
	{`[ /* `, "</tool_call>"},
	{`[`, "#\n"},
	{`[`, "<!--"},
	{`[`, "<!-- -->"},
	{`[`, "[],"},
	{`[`, "{},"},
	{`[`, "\u00a0"},
	{`{`, "\u00a0"},
	{`{"a":"`, "\"\u00a0"},
	{`[`, "\u2003,"},
	{`[`, `"a"` + "                                                                                  "},
	{`[`, `"a` + "                                                                                  "},
	{`[`, `x` + "                                                                                  "},
	{`[`, ","},
	{`{`, ","},
	{`{`, ";"},
	{`{"a":`, ":"},
	{`[`, "]"},
	{`[`, "}"},
	{`[`, "{\"a\":1}}, "},
	{"", "cb("},
	{"", "{"},
	{strings.Repeat("[", 16), "}"},
	{strings.Repeat("[", 16), "} "},
	{strings.Repeat("{\"a\":", 16), "1]"},
	{"", "["},
	{"", "{\"a\":"},
	{"", "{\"a\":1}, \"a\":1"},
	{`{"name":"f","arguments":{"x":1`, `}, "a":1`},
	{`{"name":"f","arguments":{"x":1`, `}, "days":1`},
	{`{"x":"1`, `, "days":1`},
	{`{"x":"1`, ` "", "days" `},
	{`{"x": `, `days `},
	{`{`, `days `},
	{`{`, `days x `},
	{`{`, `days x, `},
	{`{"a": x`, `,1111111111`},
	{``, `cb({`},
	{`{"a": "x {`, `", "b": `},
	{`{"a": "x {`, `"}, `},
	{`[`, `"a": `},
	{`{"a":1`, `}, "a":1`},
	{`{"name":"f","arguments":{"x":1`, `}, "days":1, "b": {`},
	{`{"a": “x`, `"`},
	{`{"a": ´x`, `´, `},
	{`{`, `\n`},
	{`{"x": "`, `", "days" `},
}

// TestLinear counts the bytes that are examined of texts which repeat what the reader looks
// ahead for: twice the text is twice the work, and no byte is looked at very often.
func TestLinear(t *testing.T) {
	const size, most = 32 << 10, 64
	arguments := ShapeOf(map[string]any{
		"properties": map[string]any{"a": map[string]any{}, "x": map[string]any{}, "days": map[string]any{"properties": map[string]any{"b": true}}},
		"required":   []any{"never"},
	})
	whole := callShape(map[string]*Shape{"f": arguments})
	for _, tt := range hostile {
		for i, o := range []Options{{}, {Close: []string{"</tool_call>"}}, {Python: true}, {Shape: arguments}, {Shape: whole}, {Alone: true}} {
			steps := func(size int) int {
				c := NewText(tt.head + strings.Repeat(tt.unit, size/len(tt.unit)))
				_, _ = NewReader(c, o).Value()
				return c.Looked()
			}
			once, twice := steps(size), steps(2*size)
			if float64(twice) > 2.2*float64(once)+1000 || twice > most*2*size {
				t.Errorf("%q and %q many times, options %d: %d bytes are looked at %d times, %d bytes %d times", tt.head, tt.unit, i, size, once, 2*size, twice)
			}
		}
	}
}

// brokenUnits are what broken JSON is made of.
var brokenUnits = []string{
	`"`, "'", ",", ":", "{", "}", "[", "]", "(", ")", " ", "\n", `\`, "`", "```", "#", "//", "/*", "--", "<", "</tool_call>", "，", "｝", "“", "”",
	"1", "000", ".5", "-", "+", "=", "=>", "true", "None", "é", "a", "key", ";", "...", `"""`, `<|"|>`, `\"`, `\u00e9`, `\ud83d`, "\x00", "f(", `r"`, "\xe4",
	`\u`, `"days": `, `, "key": `, `}, "a": 1`, "key: ", "…", "\u00a0", `\n`, "(1, ", "NumberLong(", "\r", "<!--", "days ",
}

// anyShape knows the keys of which brokenUnits are made.
var anyShape = callShape(map[string]*Shape{"a": {Members: map[string]*Shape{"key": nil, "a": nil, "days": {Members: map[string]*Shape{"key": nil}}}}})

// TestAnyText reads random texts of what JSON is made of: there is a value or an error,
// and the same however the text comes.
func TestAnyText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(brokenUnits), 0, 40).Draw(t, "units"), "")
		o := Options{Python: rapid.Bool().Draw(t, "python"), Hash: rapid.Bool().Draw(t, "hash"), Alone: rapid.Bool().Draw(t, "alone"), MaxDepth: 8}
		if rapid.Bool().Draw(t, "shape") {
			o.Shape = anyShape
		}
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
