package lenient

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestCut(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{`{"a": 1, "b": {"c": [2, "x`, `string [b c ""]`},
		{`{"a": 1`, `number ["a"]`},
		{`{"a": 1 `, `nothing [""]`},
		{`{"a": [1, 2`, `number ["a" ""]`},
		{`{"a": -1.5e`, `word ["a"]`},
		{`{"a": 1.`, `number ["a"]`},
		{`{"a": tru`, `word ["a"]`},
		{`{"a": true`, `nothing [""]`},
		{`{"a": Oslo, N`, `word ["a"]`},
		{`{"a": "x"`, `nothing [""]`},
		{`{"a": "x",`, `nothing [""]`},
		{`{"a": "x", "b`, `key ["b"]`},
		{`{"a": "x", b`, `key ["b"]`},
		{`{"a": "x", "b"`, `key ["b"]`},
		{`{"a": "x", "b" `, `key ["b"]`},
		{`{"a": "x", "b":`, `value ["b"]`},
		{`{"a": "x", "b": `, `value ["b"]`},
		{`{"a": {"b": "x"`, `nothing ["a" ""]`},
		{`{"a": {"b": "x"}`, `nothing [""]`},
		{`{"a": "x"}`, `nothing []`},
		{`{"a": 'x`, `string ["a"]`},
		{`{"a": “x`, `string ["a"]`},
		{`{“a`, `key ["a"]`},
		{`{"a": """x`, `string ["a"]`},
		{`{\"a\": \"x`, `string ["a"]`},
		{`"x`, `string []`},
		{`12`, `nothing []`},
		// A closing marker or a fence stands where a value should.
		{"{\"x\": 1, \"y\":\n```", `value ["y"]`},
		{"{\"x\": 1, \"y\"\n```", `value ["y"]`},
		{`{"x": 1, "y":</tool_call>`, `value ["y"]`},
		{`{"x": 1, "y"</tool_call>`, `value ["y"]`},
		{`{"x": 1, "y": {"z": </tool_call>`, `value ["y" "z"]`},
		{`{"x": 1, "y": 2</tool_call>`, `nothing [""]`},
		{"{\"x\": 1, \"y\": 2\n```", `nothing [""]`},
		{`{"x": 1, "y": [2, </tool_call>`, `nothing ["y" ""]`},
	} {
		r := NewReader(NewText(tt.text), Options{Close: []string{"</tool_call>"}})
		v, err := r.Value()
		got := fmt.Sprintf("%v %q", r.Cut.Kind, r.Cut.Path)
		if want := strings.ReplaceAll(tt.want, `[b c ""]`, `["b" "c" ""]`); err != nil || got != want {
			t.Errorf("%s: %s, not %s (%v, %v)", tt.text, got, want, v, err)
		}
		if m, ok := v.(map[string]any); ok && r.Cut.Kind == CutValue {
			if _, ok := m[r.Cut.Key()]; ok {
				t.Errorf("%s: a value stands for the missing one: %v", tt.text, v)
			}
		}
	}
}

// TestCutDocuments cuts generated documents off at every byte: what was open is said to
// be, with the keys that were being read.
func TestCutDocuments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doc := drawValue(t, 0)
		whole, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		n := rapid.IntRange(1, len(whole)).Draw(t, "n")
		r := NewReader(NewText(string(whole[:n])), Options{})
		v, err := r.Value()
		if err != nil {
			t.Fatalf("%s: %v", whole[:n], err)
		}
		// The brackets that are open, by encoding/json's own reading of the beginning.
		depth := depthOf(whole[:n])
		if len(r.Cut.Path) != depth || r.OpenAtEnd != depth {
			t.Fatalf("%s: %q, %d open, not %d", whole[:n], r.Cut.Path, r.OpenAtEnd, depth)
		}
		open, key := 0, r.Cut.Path
		walk(v, func(x any, _ int) {
			if r.Unclosed(x) {
				open++
			}
		})
		if r.Cut.Kind == CutNothing && open != depth || open > depth {
			t.Fatalf("%s: %d are unclosed, not %d", whole[:n], open, depth)
		}
		if n < len(whole) && depth > 0 {
			return
		}
		if open+len(key) != 0 {
			t.Fatalf("%s is whole, and yet %q, %d", whole[:n], key, open)
		}
	})
}

// drawValue draws a JSON value.
func drawValue(t *rapid.T, depth int) any {
	kinds := 7
	if depth > 3 {
		kinds = 5
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0:
		return rapid.StringN(0, 12, -1).Draw(t, "string")
	case 1:
		return rapid.IntRange(-999, 99999).Draw(t, "number")
	case 2:
		return rapid.Bool().Draw(t, "bool")
	case 3:
		return rapid.SampledFrom([]string{"C:\\new\\test", `say "hi", and "bye"`, "a, b: c", "{x}", "[1, 2]", "\n\n", "# no", "// no", "it's"}).Draw(t, "text")
	case 4:
		return nil
	case 5:
		list := []any{}
		for range rapid.IntRange(0, 3).Draw(t, "length") {
			list = append(list, drawValue(t, depth+1))
		}
		return list
	}
	m := map[string]any{}
	for range rapid.IntRange(0, 3).Draw(t, "members") {
		m[rapid.SampledFrom([]string{"a", "b", "city", "days", "x y", "é", ""}).Draw(t, "key")] = drawValue(t, depth+1)
	}
	return m
}

// walk visits a value and all that is in it.
func walk(v any, visit func(v any, depth int)) {
	var at func(v any, depth int)
	at = func(v any, depth int) {
		visit(v, depth)
		switch x := v.(type) {
		case map[string]any:
			for _, e := range x {
				at(e, depth+1)
			}
		case []any:
			for _, e := range x {
				at(e, depth+1)
			}
		}
	}
	at(v, 0)
}

// depthOf is how many brackets are open at the end of a beginning of a JSON text.
func depthOf(text []byte) (depth int) {
	inString := false
	for i := 0; i < len(text); i++ {
		switch b := text[i]; {
		case inString && b == '\\':
			i++
		case b == '"':
			inString = !inString
		case inString:
		case b == '{' || b == '[':
			depth++
		case b == '}' || b == ']':
			depth--
		}
	}
	return depth
}

func TestUnclosed(t *testing.T) {
	r := NewReader(NewText(`[{"a": []}, {"b": [[], {`), Options{})
	v, err := r.Value()
	if err != nil {
		t.Fatal(err)
	}
	list := v.([]any)
	first, second := list[0].(map[string]any), list[1].(map[string]any)
	b := second["b"].([]any)
	for _, tt := range []struct {
		v    any
		want bool
	}{{v, true}, {first, false}, {first["a"], false}, {second, true}, {b, true}, {b[0], false}, {b[1], true}, {"x", false}, {nil, false}, {[]any{}, false}} {
		if got := r.Unclosed(tt.v); got != tt.want {
			t.Errorf("%v: %v", tt.v, got)
		}
	}
	// What another bracket or nothing but the end of the value closed.
	r = NewReader(NewText(`{"a": [1, 2}`), Options{})
	v, _ = r.Value()
	if r.Unclosed(v) || r.Unclosed(v.(map[string]any)["a"]) {
		t.Error("a list that a brace closed is said to be unclosed")
	}
	r = NewReader(NewText(`{"a": [</end>`), Options{Close: []string{"</end>"}})
	v, _ = r.Value()
	if !r.Unclosed(v) || !r.Unclosed(v.(map[string]any)["a"]) || r.OpenAtEnd != 0 {
		t.Error("brackets that a marker closed are not said to be unclosed")
	}
}

// TestEndCut checks that code which reads learns how the text ended.
func TestEndCut(t *testing.T) {
	for _, cut := range []bool{false, true} {
		var atEnd bool
		r := Start(func(c *Cursor) error {
			_, err := NewReader(c, Options{}).Value()
			atEnd = c.CutOff()
			return err
		})
		r.Feed([]byte(`{"a": "x`))
		if cut {
			r.EndCut()
		} else {
			r.End()
		}
		if !r.Done() || r.Err() != nil || atEnd != cut {
			t.Errorf("%v: %v, %v", cut, atEnd, r.Err())
		}
		r.Stop()
	}
	c := NewText("x")
	if c.CutOff() {
		t.Error("a whole text is cut off")
	}
	if c.EndCut(); !c.CutOff() {
		t.Error("a text that a limit ended is not")
	}
}

// TestLooked checks that the bytes looked at are counted, and alike for every cutting
// of the text.
func TestLooked(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(brokenUnits), 0, 40).Draw(t, "units"), "")
		o := Options{Python: rapid.Bool().Draw(t, "python"), MaxDepth: 8, Close: []string{"</tool_call>"}}
		whole := NewText(text)
		_, _ = NewReader(whole, o).Value()
		if whole.Looked() < whole.Offset() {
			t.Fatalf("%q: %d bytes were read, but %d looked at", text, whole.Offset(), whole.Looked())
		}
		r := Start(func(c *Cursor) error {
			_, err := NewReader(c, o).Value()
			return err
		})
		defer r.Stop()
		for rest := []byte(text); len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "n")
			r.Feed(rest[:n])
			rest = rest[n:]
		}
		if r.End(); r.Cursor.Looked() != whole.Looked() {
			t.Fatalf("%q: %d bytes were looked at, and %d in pieces", text, whole.Looked(), r.Cursor.Looked())
		}
	})
	c := NewText("  <a> x")
	if c.SpaceEnd(0); c.Looked() != 3 {
		t.Errorf("%d bytes of white space", c.Looked())
	}
	if c.HasPrefixAt(2, "<b>"); c.Looked() != 5 {
		t.Errorf("%d bytes with a prefix", c.Looked())
	}
	if c.Look(10); c.Looked() != 15 {
		t.Errorf("%d bytes", c.Looked())
	}
}
