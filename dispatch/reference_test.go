package dispatch

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// reply returns the names of a reply with calls of some ids and tools: "id:tool".
func reply(calls ...string) (*names, []*node) {
	n := &names{known: func(tool string) bool { return strings.HasPrefix(tool, "tool_") || tool == "create_rectangle" }}
	for i, c := range calls {
		id, tool, _ := strings.Cut(c, "=")
		x := &node{call: &Call{}, place: i}
		x.call.ID, x.call.Tool = id, tool
		n.order = append(n.order, x)
	}
	return n, n.order
}

// written shows the pieces of a string: references as <id path>, those that lead nowhere
// as <!message>.
func written(pieces []piece, s string) string {
	if pieces == nil {
		return s
	}
	var b strings.Builder
	for _, p := range pieces {
		switch {
		case !p.ref:
			b.WriteString(p.text)
		case p.to.err != nil:
			fmt.Fprintf(&b, "<!%s>", p.to.err.Message)
		default:
			fmt.Fprintf(&b, "<%s%s>", p.to.call.call.ID, p.to.path)
		}
	}
	return b.String()
}

func TestScan(t *testing.T) {
	n, nodes := reply("toolu_01=create_rectangle", "functions.search:0=search", "x=fetch", "y=fetch", "z=tool_one")
	for _, tt := range []struct{ in, want string }{
		// By id, ordinal and tool.
		{"$toolu_01", "<toolu_01>"},
		{"$toolu_01.id", "<toolu_01.id>"},
		{"$functions.search:0.hits[0].url", "<functions.search:0.hits[0].url>"},
		{"$call_1.id", "<toolu_01.id>"},
		{"$call_2", "<functions.search:0>"},
		{"$1.id", "<toolu_01.id>"},
		{"{{1.id}}", "<toolu_01.id>"},
		{"$create_rectangle.id", "<toolu_01.id>"},
		{"{{create_rectangle.id}}", "<toolu_01.id>"},
		{"{{ create_rectangle.id }}", "<toolu_01.id>"},
		{"{{search}}", "<functions.search:0>"},
		{"$x['a.b'][0].c#/d~1e", "<x['a.b'][0].c#/d~1e>"},
		// Within text.
		{"see {{x.url}} and {{y.url}}!", "see <x.url> and <y.url>!"},
		{`{"a":{{x.n}}}`, `{"a":<x.n>}`},
		{"{{{x.n}}}", "{<x.n>}"},
		{"see $x.url", "see $x.url"},
		// Escaped.
		{`\$call_1.id`, "$call_1.id"},
		{`\\$call_1.id`, `\$call_1.id`},
		{"{{{{call_1.id}}", "{{call_1.id}}"},
		{"a {{{{{{call_1.id}} b", "a {{{{call_1.id}} b"},
		{`\$HOME`, `\$HOME`},
		{"{{{{user}}}}", "{{{{user}}}}"},
		// What leads nowhere.
		{"$call_9.id", `<!"call_9" is no call of this reply: make the call first, or give the value itself>`},
		{"$toolu_02", `<!"toolu_02" is no call of this reply: make the call first, or give the value itself>`},
		{"{{call_9.id}}", `<!"call_9" is no call of this reply: make the call first, or give the value itself>`},
		{"{{tool_two.id}}", `<!"tool_two" is no call of this reply: make the call first, or give the value itself>`},
		{"{{fetch.url}}", `<!"fetch" may mean several calls: name one of them, such as $x>`},
		// What is none.
		{"see {{call_9.id}}", "see {{call_9.id}}"},
		{"$tool_two", "$tool_two"},
		{"$HOME", "$HOME"},
		{"$5", "$5"},
		{"$1.50", "$1.50"},
		{"$1", "$1"},
		{"$1,000", "$1,000"},
		{"{{1}}", "{{1}}"},
		{"$", "$"},
		{"$$", "$$"},
		{"{{user.name}}", "{{user.name}}"},
		{"{{}}", "{{}}"},
		{"{{x", "{{x"},
		{"{{x.}}", "{{x.}}"},
		{"$x.", "$x."},
		{"$x..y", "$x..y"},
		{"$x[", "$x["},
		{"$x[a]", "$x[a]"},
		{"$x y", "$x y"},
		{"$x\n", "$x\n"},
		{"$xx", "$xx"},
		{"$X.url", "$X.url"},
	} {
		if got := written(n.scan(tt.in, nodes[4]), tt.in); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.in, got, tt.want)
		}
	}
	// Of several calls of a tool, the only one before is meant; a call does not mean itself.
	if got := written(n.scan("$fetch.url", nodes[3]), ""); got != "<x.url>" {
		t.Error(got)
	}
	if got := written(n.scan("$tool_one.url", nodes[4]), ""); !strings.Contains(got, "is no call") {
		t.Error(got)
	}
}

// code has texts of other languages that look like references, in a reply in which their
// names could be those of calls. None is one.
var code = []string{
	"$PATH:$HOME/bin", "echo $1 $2", "${call_1.id}", "$(call_1)", "$call_1 and more", "cost: $1.50", "$1.99", "$2", "$3.000,00", "US$1.id",
	"{{ username }}", "{{#each items}}{{this.name}}{{/each}}", "{% if x %}{{ x|upper }}{% endif %}", "{{> partial}}", "{{{raw}}}", "{{'call_1.id'}}",
	"<div style={{color: 'red'}}>", "<A b={{c: {d: 1}}} />", "const a = {b: {c: 1}};", "func f() { g := map[string]T{\"a\": {1}} }", "{{.Values.call_1}}",
	`\frac{{a}}{{b}}`, `$\sum_{i=1}^n x_i$`, `$x^2$`, `\$x`, "$$\nE=mc^2\n$$", "{{-1}}", "SELECT $1::text", "^a{{2}}$", "$regex.test(x)", "$scope.apply()",
	"{{call 1.id}}", "{{call_1 .id}}", "{{call_1.id | upper}}", "{{ call_1.id + 1 }}", "{{call_1.id}", "{call_1.id}}", "{ {call_1.id} }",
}

func TestNoFalseReferences(t *testing.T) {
	n, nodes := reply("toolu_a=run", "toolu_b=write", "toolu_c=user", "toolu_d=regex", "toolu_e=items", "toolu_f=x")
	for _, s := range code {
		if pieces := n.scan(s, nodes[5]); pieces != nil {
			t.Errorf("%q: %q", s, written(pieces, s))
		}
	}
}

// escape writes a string so that it is not taken for references.
func escape(n *names, s string, from *node) string {
	pieces := n.scan(s, from)
	if pieces == nil {
		return s
	}
	if body := strings.TrimLeft(s, `\`); strings.HasPrefix(body, "$") {
		if t, ok := n.resolve(body[1:], true, from); ok && t.err == nil {
			return `\` + s
		}
	}
	var b strings.Builder
	at := 0
	for {
		i := strings.Index(s[at:], "{{")
		if i < 0 {
			break
		}
		open, run := at+i, at+i
		for run < len(s) && s[run] == '{' {
			run++
		}
		b.WriteString(s[at:open])
		inner := s[open:]
		if end := strings.Index(inner, "}}"); end >= 0 {
			if t, ok := n.resolve(strings.Trim(s[run:open+max(end, run-open)], " "), false, from); ok && t.err == nil {
				b.WriteString("{{")
			}
		}
		b.WriteString(s[open:run])
		at = run
	}
	return b.String() + s[at:]
}

// text draws strings with the beginnings and ends of references in them.
func referenceText() *rapid.Generator[string] {
	part := rapid.SampledFrom([]string{
		"$", "{{", "}}", "{", "}", `\`, "call_1", "call_2", "call_9", "toolu_01", "search", ".id", "[0]", "['a']", "#/x", ".", " ", "text", "é", "1",
		"$call_1.id", "{{call_1.id}}", "{{search}}",
	})
	return rapid.Map(rapid.SliceOfN(part, 0, 8), func(p []string) string { return strings.Join(p, "") })
}

// TestScanProperties holds that what is not a reference comes out as it is, and that
// escaping keeps any string.
func TestScanProperties(t *testing.T) {
	n, nodes := reply("toolu_01=create", "k=search")
	rapid.Check(t, func(t *rapid.T) {
		s := referenceText().Draw(t, "text")
		pieces := n.scan(s, nodes[1])
		refs, length := 0, 0
		for _, p := range pieces {
			if p.ref {
				refs++
			}
			length += len(p.text)
		}
		if pieces != nil && refs == 0 && length >= len(s) {
			t.Fatalf("%q is rebuilt for nothing", s)
		}
		if length > len(s) {
			t.Fatalf("%q became longer: %q", s, written(pieces, s))
		}
		for _, p := range pieces {
			if p.ref && p.to.err != nil && len(pieces) > 1 {
				t.Fatalf("%q: within text nothing is an error", s)
			}
		}
		if len(pieces) == 1 && pieces[0].ref && pieces[0].to.err != nil {
			return // there is no way to say it
		}
		e := escape(n, s, nodes[1])
		if back := written(n.scan(e, nodes[1]), e); back != s {
			t.Fatalf("%q escaped is %q, which is %q", s, e, back)
		}
	})
}

func TestFollow(t *testing.T) {
	type inner struct {
		ID  string `json:"id"`
		Big int64  `json:"big"`
	}
	value := map[string]any{
		"id": "r1", "n": json.Number("9007199254740993"), "list": []any{"a", map[string]any{"b": true}}, "a.b": map[string]any{"c/d": nil},
		"text": `{"x": [1, 2.50]}`, "result": "own",
	}
	for _, tt := range []struct {
		value      any
		path, want string
	}{
		{value, ".id", `"r1"`},
		{value, ".n", "9007199254740993"},
		{value, ".list[1].b", "true"},
		{value, ".list.0", `"a"`},
		{value, "['a.b']['c/d']", "null"},
		{value, `["a.b"]#/c~1d`, "null"},
		{value, "#/list/1/b", "true"},
		{value, "#", ""},
		{value, ".text.x[1]", "2.50"},
		{value, ".result", `"own"`},
		{`{"a": 1}`, ".a", "1"},
		{`{"a": 1}`, "", `"{\"a\": 1}"`},
		{inner{"i", 1 << 60}, ".big", "1152921504606846976"},
		{&inner{ID: "p"}, ".result.id", `"p"`},
		{"plain", ".output", `"plain"`},
		{json.RawMessage(`{"a":[1]}`), ".a[0]", "1"},
		{value, ".nope", `!has no member "nope": it has a.b, id, list, n, result, text`},
		{value, ".list[7]", `!has no element "7": it is a list of 2`},
		{value, ".list.x", `!has no element "x": it is a list of 2`},
		{value, ".id.x", `!has no member "x": it is no object`},
		{map[string]any{}, ".a", `!has no member "a": it has none`},
		{nil, ".a", `!has no member "a": it is no object`},
	} {
		got := ""
		v, err := follow(tt.value, tt.path)
		if err != nil {
			got = "!" + err.Error()
		} else if b, err := appendJSON(nil, v, asWritten, 0); err == nil && tt.want != "" {
			got = string(b)
		}
		if got != tt.want {
			t.Errorf("%v%s: %s, want %s", tt.value, tt.path, got, tt.want)
		}
	}
}

// FuzzReferences searches arguments for references, and follows them into results: it
// never panics, leaves alone what is no reference, and puts in what the results hold.
func FuzzReferences(f *testing.F) {
	for _, s := range code {
		f.Add(s, `{"id": "x"}`)
	}
	f.Add("$call_1.id", `{"id": "{{call_2.id}}"}`)
	f.Add("a {{call_1['x'][0]}} {{search#/a~1b}}", `[[1, 2]]`)
	f.Add(strings.Repeat("{{", 100)+"call_1}}", `"$call_1"`)
	f.Fuzz(func(t *testing.T, s, result string) {
		n, nodes := reply("toolu_01=create", "k=search")
		pieces := n.scan(s, nodes[1])
		if !mayRefer(s, 0) && pieces != nil {
			t.Fatalf("%q may not refer, and does", s)
		}
		if pieces == nil {
			return
		}
		if len(pieces) > len(s) {
			t.Fatalf("%d pieces in %d bytes", len(pieces), len(s))
		}
		value, err := parseJSON(result)
		if err != nil {
			value = result
		}
		for _, p := range pieces {
			if !p.ref {
				if !strings.Contains(s, p.text) {
					t.Fatalf("%q is not in %q", p.text, s)
				}
				continue
			}
			if p.to.err != nil {
				continue
			}
			v, err := follow(value, p.to.path)
			if err != nil {
				continue
			}
			b, err := appendJSON(nil, v, canonical, 0)
			if err != nil {
				continue
			}
			again, err := parseJSON(string(b))
			if err != nil {
				t.Fatalf("%s: %v", b, err)
			}
			if c, _ := appendJSON(nil, again, canonical, 0); string(c) != string(b) {
				t.Fatalf("%s, then %s", b, c)
			}
		}
	})
}

// TestKey holds that keys are equal where arguments mean the same, and only there.
func TestKey(t *testing.T) {
	of := func(s string) string {
		v, err := parseJSON(s)
		if err != nil {
			t.Fatal(err)
		}
		return keyOf("t", v.(map[string]any))
	}
	for _, same := range [][]string{
		{`{"a":1,"b":2}`, `{"b":2,"a":1}`, `{"a":1.0,"b":20e-1}`, `{"a":10E-1,"b":0.2e+1}`},
		{`{"a":0}`, `{"a":-0}`, `{"a":0.000}`, `{"a":0e5}`},
		{`{"a":100}`, `{"a":1e2}`, `{"a":100.00}`},
		{`{"a":[1e400]}`, `{"a":[10e399]}`},
		{`{"a":"\u00e9"}`, `{"a":"é"}`},
	} {
		for _, s := range same[1:] {
			if of(s) != of(same[0]) {
				t.Errorf("%s and %s have different keys", same[0], s)
			}
		}
	}
	different := []string{
		`{"a":1}`, `{"a":-1}`, `{"a":"1"}`, `{"a":true}`, `{"a":null}`, `{}`, `{"a":[1]}`, `{"a":{"1":1}}`, `{"a":10}`, `{"a":9007199254740993}`,
		`{"a":9007199254740992}`, `{"a":1e-1}`, `{"b":1}`, `{"a":"\u00e9"}`, `{"a":"e\u0301"}`, `{"a":1e99999999999}`, `{"a":2e99999999999}`,
	}
	for i, a := range different {
		for _, b := range different[:i] {
			if of(a) == of(b) {
				t.Errorf("%s and %s have one key", a, b)
			}
		}
	}
	if keyOf("a", nil) == keyOf("b", nil) || keyOf("t", map[string]any{"n": 5, "f": 2.5, "i": int64(7)}) != of(`{"n":5.0,"f":2.50,"i":7}`) {
		t.Error("keys of Go values")
	}
}

// TestAppendJSON holds that what is written is what encoding/json reads.
func TestAppendJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := drawJSON(t, 3)
		for _, f := range []form{asWritten, canonical} {
			b, err := appendJSON(nil, v, f, 0)
			if err != nil {
				t.Fatal(err)
			}
			var out any
			if err := json.Unmarshal(b, &out); err != nil {
				t.Fatalf("%s: %v", b, err)
			}
			want, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			var expected any
			if err := json.Unmarshal(want, &expected); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(out, expected) {
				t.Fatalf("%s, want %s", b, want)
			}
		}
	})
	deep := any(nil)
	for range maxDepth + 2 {
		deep = []any{deep}
	}
	if _, err := appendJSON(nil, deep, asWritten, 0); err == nil {
		t.Error("nesting has no bound")
	}
}

func drawJSON(t *rapid.T, depth int) any {
	kinds := 5
	if depth > 0 {
		kinds = 7
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0:
		return nil
	case 1:
		return rapid.Bool().Draw(t, "bool")
	case 2:
		return rapid.String().Draw(t, "string")
	case 3:
		return json.Number(rapid.StringMatching(`-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,6})?([eE][+-]?[0-9]{1,2})?`).Draw(t, "number"))
	case 4:
		return rapid.Float64().Draw(t, "float")
	case 5:
		list := make([]any, rapid.IntRange(0, 3).Draw(t, "length"))
		for i := range list {
			list[i] = drawJSON(t, depth-1)
		}
		return list
	}
	m := map[string]any{}
	for range rapid.IntRange(0, 3).Draw(t, "members") {
		m[rapid.String().Draw(t, "key")] = drawJSON(t, depth-1)
	}
	return m
}
