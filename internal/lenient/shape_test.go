package lenient

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// weather is the shape of a tool's parameters.
func weather() *Shape {
	return ShapeOf(map[string]any{
		"type": "object",
		"properties": map[string]any{
			"city": map[string]any{"type": "string"}, "days": map[string]any{"type": "integer"}, "note": map[string]any{"type": "string"},
			"place": map[string]any{"$ref": "#/$defs/place"},
			"stops": map[string]any{"type": "array", "items": map[string]any{"$ref": "#/$defs/place"}},
		},
		"required": []any{"city", "days"},
		"$defs": map[string]any{"place": map[string]any{
			"type": "object",
			"properties": map[string]any{
				"lat": map[string]any{"type": "number"}, "lon": map[string]any{"type": "number"}, "near": map[string]any{"$ref": "#/$defs/place"},
			},
		}},
	})
}

// TestShape reads texts that the members of an object decide.
func TestShape(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"end quote", `{"city": "Rome, "days": 3}`, `{"city":"Rome","days":3} missing_quote`},
		{"end quote behind inner quotes", `{"city": "the "old" Rome, "days": 3}`, `{"city":"the \"old\" Rome","days":3} unescaped_quote,missing_quote`},
		{"end quote before a key without quotes", `{"city": "Rome, note: "x y"}`, `{"city":"Rome","note":"x y"} unquoted_key,missing_quote`},
		{"end quote and brace", `{"place": {"lat": "1}, "days": 3}`, `{"days":3,"place":{"lat":"1"}} missing_quote`},
		{"words like a member", `{"note": "the pair, "x": 3, of it", "days": 3}`, `{"days":3,"note":"the pair, \"x\": 3, of it"} unescaped_quote`},
		{
			"object in a string", `{"note": "use {"city": "Rome", "days": 3} here", "days": 2}`,
			`{"days":2,"note":"use {\"city\": \"Rome\", \"days\": 3} here"} unescaped_quote`,
		},
		{
			"object in a string at the end", `{"days": 1, "note": "it is {"k": "v"}, which is {"a": {"b": "c"}}"}`,
			`{"days":1,"note":"it is {\"k\": \"v\"}, which is {\"a\": {\"b\": \"c\"}}"} unescaped_quote`,
		},
		{"key without quotes and colon", `{city Rome, days 3}`, `{"city":"Rome","days":3} missing_colon,unquoted_key,unquoted_value`},
		{"key without colon", `{"city" Rome, "days" 3}`, `{"city":"Rome","days":3} missing_colon,unquoted_value`},
		{"closed early", `{"city": "Rome"}, "days": 3}`, `{"city":"Rome","days":3} closed_early`},
		{
			"inner closed early", `{"place": {"lat": 1}, "lon": 2}, "city": "Rome", "days": 3}`,
			`{"city":"Rome","days":3,"place":{"lat":1,"lon":2}} closed_early`,
		},
		{"inner where it is JSON", `{"place": {"lat": 1}, "lon": 2, "city": "Rome", "days": 3}`, `{"city":"Rome","days":3,"lon":2,"place":{"lat":1}}`},
		{"early and never closed", `{"city": "Rome"}, "days": 3`, `{"city":"Rome","days":3} missing_close,closed_early`},
		{"bracket before a known key", `{"stops": [{"lat": 1}, "city": "Rome", "days": 1}`, `{"city":"Rome","days":1,"stops":[{"lat":1}]} missing_close`},
		{"brace before an element's key", `{"stops": ["lat": 1, "lon": 2]}`, `{"stops":[{"lat":1,"lon":2}]} missing_close,missing_open`},
		{"valid, and does not fit", `{"cities": "a, b", "place": {"city": "x", "days": 1}}`, `{"cities":"a, b","place":{"city":"x","days":1}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := read(t, tt.text, Options{Shape: weather()})
			if got != tt.want {
				t.Errorf("%s\n got %s\nwant %s", tt.text, got, tt.want)
			}
		})
	}
}

// callShape is the shape of calls of tools whose parameters are given.
func callShape(tools map[string]*Shape) *Shape {
	return CallShape(func(name string) *Shape { return tools[name] })
}

// TestCallShape reads whole calls: the name chooses the parameters.
func TestCallShape(t *testing.T) {
	shape := callShape(map[string]*Shape{"get_weather": weather(), "stop": {Members: map[string]*Shape{"id": nil}}})
	for _, tt := range []struct{ text, want string }{
		{`{"name": "get_weather", "arguments": {"city": "Rome"}, "days": 3}}`, `{"arguments":{"city":"Rome","days":3},"name":"get_weather"} closed_early`},
		{`{"name": "get_weather", "arguments": {"city": "Rome"}}, "days": 3}}`, `{"arguments":{"city":"Rome","days":3},"name":"get_weather"} closed_early`},
		{`{"name": "get_weather, "arguments": {"city": "Rome, "days": 3}}`, `{"arguments":{"city":"Rome","days":3},"name":"get_weather"} missing_quote`},
		{`{"tool": "get_weather", "city": "Rome, "days": 3}`, `{"city":"Rome","days":3,"tool":"get_weather"} missing_quote`},
		{`{"name": "stop", "arguments": {"id": "a"}, "days": 3}`, `{"arguments":{"id":"a"},"days":3,"name":"stop"}`},
		{
			`[{"name": "get_weather", "arguments": {"city": "Rome"}, "days": 3}}, {"name": "stop", "arguments": {"id": "x, "y"}}]`,
			`[{"arguments":{"city":"Rome","days":3},"name":"get_weather"},{"arguments":{"id":"x, \"y"},"name":"stop"}] unescaped_quote,closed_early`,
		},
		{
			`{"tool_calls": [{"function": {"name": "get_weather", "arguments": {"city" Rome, "days" 3}}}]}`,
			`{"tool_calls":[{"function":{"arguments":{"city":"Rome","days":3},"name":"get_weather"}}]} missing_colon,unquoted_value`,
		},
	} {
		if got := read(t, tt.text, Options{Shape: shape}); got != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.text, got, tt.want)
		}
	}
}

// TestShapeOf checks that schemas of all kinds have a shape, and those without members none.
func TestShapeOf(t *testing.T) {
	loop := map[string]any{"$ref": "#"}
	loop["anyOf"] = []any{loop}
	deep := map[string]any{}
	for range 3 * maxShapeDepth {
		deep = map[string]any{"properties": map[string]any{"a": deep}}
	}
	for _, schema := range []map[string]any{nil, {}, {"type": "string"}, {"$ref": "#/none/of/it"}, {"$ref": "http://example.com/x"}, loop} {
		if s := ShapeOf(schema); s != nil {
			t.Errorf("%v has the shape %v", schema, s)
		}
	}
	if s := ShapeOf(deep); s.Members["a"].Members["a"] == nil {
		t.Error("a deep schema has no shape")
	}
	s := ShapeOf(map[string]any{"oneOf": []any{
		map[string]any{"properties": map[string]any{"a": true}, "required": []any{"a"}}, map[string]any{"properties": map[string]any{"b": map[string]any{}}},
	}})
	if !s.has("a") || !s.has("b") || len(s.Required) != 0 {
		t.Errorf("alternatives have the shape %v", s)
	}
	if near := weather().Members["place"]; near.Members["near"] != near {
		t.Error("a schema that contains itself is another each time")
	}
}

// valid generates values whose JSON any reader must read as it stands.
func valid() *rapid.Generator[any] {
	var value *rapid.Generator[any]
	text := rapid.OneOf(rapid.StringN(0, 12, -1), rapid.SampledFrom([]string{
		"city", "days", ", \"days\": 3", `say "hi", and`, `{"a": "b"}, c`, `x', 'days': 1`, "a: b\n, c", `\`, `"}`, "'}", "null", "", "…", "1,000", "// x", "</tool_call>",
	}))
	depth := 0
	value = rapid.Custom(func(t *rapid.T) any {
		depth++
		defer func() { depth-- }()
		most := 6
		if depth > 3 {
			most = 4
		}
		switch rapid.IntRange(0, most).Draw(t, "kind") {
		case 0:
			return text.Draw(t, "text")
		case 1:
			return json.Number(fmt.Sprint(rapid.IntRange(-2000, 2000).Draw(t, "n")))
		case 2:
			return rapid.Bool().Draw(t, "bool")
		case 3:
			return nil
		case 4:
			return json.Number(fmt.Sprint(rapid.Float64Range(-10, 10).Draw(t, "float")))
		case 5:
			list := []any{}
			for range rapid.IntRange(0, 4).Draw(t, "n") {
				list = append(list, value.Draw(t, "element"))
			}
			return list
		}
		m := map[string]any{}
		for range rapid.IntRange(0, 4).Draw(t, "n") {
			m[text.Draw(t, "key")] = value.Draw(t, "member")
		}
		return m
	})
	return value
}

// TestValid checks that a value that is JSON is read as encoding/json reads it, whatever is
// known of it and however it is indented.
func TestValid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := valid().Draw(t, "value")
		b, err := json.MarshalIndent(want, "", rapid.SampledFrom([]string{"", " ", "\t"}).Draw(t, "indent"))
		if err != nil {
			t.Fatal(err)
		}
		o := Options{Alone: rapid.Bool().Draw(t, "alone")}
		switch rapid.IntRange(0, 2).Draw(t, "shape") {
		case 1:
			o.Shape = weather()
		case 2:
			o.Shape = callShape(map[string]*Shape{"city": weather()})
		}
		r := NewReader(NewCursor(b), o)
		got, err := r.Value()
		if err != nil || r.Fixes.Any() || string(mustJSON(t, got)) != string(mustJSON(t, want)) {
			t.Fatalf("%s is read as %s: %v %v", b, mustJSON(t, got), err, r.Fixes.Names())
		}
	})
}

func mustJSON(t *rapid.T, v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// damage breaks a member of an object in one place; ok is false if it does not have what is
// broken.
var damage = map[string]func(key, value string, last bool) (text string, ok bool){
	"end quote": func(key, value string, last bool) (string, bool) {
		return key + ": " + strings.TrimSuffix(value, `"`), value[0] == '"' && !last
	},
	"other end quote": func(key, value string, last bool) (string, bool) {
		return key + ": " + strings.TrimSuffix(value, `"`) + "'", value[0] == '"' && !last
	},
	"first quote": func(key, value string, _ bool) (string, bool) {
		return key + ": " + strings.TrimPrefix(value, `"`), value[0] == '"' && isWord(value[1])
	},
	"key's quotes": func(key, value string, _ bool) (string, bool) { return strings.Trim(key, `"`) + ": " + value, true },
	"key's first quote": func(key, value string, _ bool) (string, bool) {
		return strings.TrimPrefix(key, `"`) + ": " + value, true
	},
	"key's last quote": func(key, value string, _ bool) (string, bool) {
		return strings.TrimSuffix(key, `"`) + `: ` + value, value[0] == '"' && isWord(value[1])
	},
	"colon":       func(key, value string, _ bool) (string, bool) { return key + " " + value, true },
	"colon twice": func(key, value string, _ bool) (string, bool) { return key + ":: " + value, true },
	"key and colon": func(key, value string, _ bool) (string, bool) {
		return strings.Trim(key, `"`) + " " + value, value[0] == '"'
	},
	"no quotes": func(key, value string, _ bool) (string, bool) {
		return key + ": " + strings.Trim(value, `"`), value[0] == '"' && isWord(value[1])
	},
	"doubled quotes": func(key, value string, _ bool) (string, bool) { return `"` + key + `": ` + value, true },
	"comment":        func(key, value string, _ bool) (string, bool) { return key + ": " + value + " // so\n", true },
	"no-break space": func(key, value string, _ bool) (string, bool) {
		return "\u00a0" + key + "\u00a0:\u00a0" + value + "\u00a0", true
	},
	"single quotes": func(key, value string, _ bool) (string, bool) {
		return strings.ReplaceAll(key, `"`, "'") + ": " + strings.ReplaceAll(value, `"`, "'"), true
	},
}

// TestDamage breaks one member of a tool's parameters and reads what was meant.
func TestDamage(t *testing.T) {
	words := rapid.StringMatching(`[A-Za-z][a-z]{0,6}( [a-z]{1,6}){0,3}[a-z.!]`)
	rapid.Check(t, func(t *rapid.T) {
		want := map[string]any{}
		var keys []string
		for _, key := range rapid.Permutation([]string{"city", "days", "note", "lat"}).Draw(t, "keys") {
			if rapid.Bool().Draw(t, key) || len(keys) == 0 {
				keys = append(keys, key)
			}
		}
		shape := &Shape{Members: map[string]*Shape{"city": nil, "days": nil, "note": nil, "lat": nil}}
		at := rapid.IntRange(0, len(keys)-1).Draw(t, "at")
		kind := rapid.SampledFrom([]string{
			"end quote", "other end quote", "first quote", "key's quotes", "key's first quote", "key's last quote", "colon", "colon twice", "key and colon",
			"no quotes", "doubled quotes", "comment", "no-break space", "single quotes",
		}).Draw(t, "kind")
		var b strings.Builder
		for i, key := range keys {
			if key == "days" || key == "lat" {
				want[key] = json.Number(fmt.Sprint(rapid.IntRange(0, 99).Draw(t, "number")))
			} else {
				want[key] = words.Draw(t, "words")
			}
			value := string(mustJSON(t, want[key]))
			member := `"` + key + `": ` + value
			if i == at {
				text, ok := damage[kind](`"`+key+`"`, value, i == len(keys)-1)
				if !ok {
					t.Skip("it has none")
				}
				member = text
			}
			if i > 0 {
				b.WriteString(rapid.SampledFrom([]string{", ", ",", ",\n  "}).Draw(t, "comma"))
			}
			b.WriteString(member)
		}
		text := "{" + b.String() + "}"
		v, r, err := Parse(text, Options{Shape: shape})
		if err != nil || !reflect.DeepEqual(v, any(want)) || !r.Fixes.Any() {
			t.Fatalf("%s (%s) is read as %s: %v %v", text, kind, mustJSON(t, v), err, r.Fixes.Names())
		}
	})
}

// TestShownStays checks that the text of a string that was shown while it was being read is
// the beginning of what the string came to, but for the brackets that the teller of a stream
// keeps back.
func TestShownStays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		units := append([]string{`, "days": `, `, days: `, `", "city": "`, `' , "days": 1`, `"city": "`, `"days" `, "x ", "”", "it's", `\n`, `}, "days": 3`}, brokenUnits...)
		text := `{"city": "` + strings.Join(rapid.SliceOfN(rapid.SampledFrom(units), 0, 20).Draw(t, "units"), "")
		text = strings.ToValidUTF8(text, "") // a teller shows nothing else
		o := Options{Watch: true, Alone: rapid.Bool().Draw(t, "alone")}
		if rapid.Bool().Draw(t, "shape") {
			o.Shape = weather()
		}
		var reader *Reader
		r := Start(func(c *Cursor) error {
			reader = NewReader(c, o)
			_, err := reader.Value()
			return err
		})
		defer r.Stop()
		const none = "no string"
		shown, of, seen := "", none, ""
		check := func() {
			if len(reader.Open()) == 1 && reader.Open()[0].HasKey && reader.Open()[0].Key == of {
				return // still being read
			}
			object, _ := reader.Result().(map[string]any)
			if len(reader.Open()) > 0 {
				object = reader.Open()[0].Object
			}
			if value, ok := object[of].(string); ok && !strings.HasPrefix(value, shown) && strings.Count(seen, of) < 2 {
				t.Fatalf("%q: %q was shown of %q", seen, shown, value)
			}
			of = none
		}
		for i := range len(text) {
			r.Feed([]byte{text[i]})
			seen = text[:i+1]
			if r.Done() {
				break
			}
			open, ok := reader.OpenText()
			if of != none {
				check()
			}
			frames := reader.Open()
			if !ok || len(frames) != 1 || frames[0].Object == nil || !frames[0].HasKey {
				continue
			}
			if _, twice := frames[0].Object[frames[0].Key]; !twice {
				now := strings.TrimRight(string(trimPartialRune(open)), "}] \r\n\t")
				if of == frames[0].Key && !strings.HasPrefix(now, shown) {
					t.Fatalf("%q: %q was shown, and now %q", seen, shown, now)
				}
				of, shown = frames[0].Key, now
			}
		}
		r.End()
		if of != none && r.Err() == nil {
			check()
		}
	})
}
