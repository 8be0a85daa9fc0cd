package scan

import (
	"testing"

	"github.com/callwright/callwright/dialect"
	"github.com/callwright/callwright/internal/lenient"
	"github.com/callwright/callwright/registry"
)

// at returns what stands at a text's beginning, with one known tool.
func at(t *testing.T, text string) *look {
	t.Helper()
	r, err := registry.New(registry.Tool{Name: "get_weather", Parameters: map[string]any{
		"type": "object", "properties": map[string]any{"city": map[string]any{"type": "string"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	l := newLook(lenient.NewText(text), Options{Table: Builtin, Registry: r})
	return &l
}

func rows(t *testing.T, names ...string) []*dialect.Row {
	t.Helper()
	var list []*dialect.Row
	for _, n := range names {
		row := Builtin.Lookup(n)
		if row == nil {
			t.Fatalf("there is no dialect %q", n)
		}
		list = append(list, row)
	}
	return list
}

// TestBodyAt checks which body is found behind a marker, by what stands there and by
// the rows that the marker opens.
func TestBodyAt(t *testing.T) {
	shared := []string{"hermes", "qwen3_coder", "glm45", "yaml", "xml_pythonic"} // all open with <tool_call>
	for _, tt := range []struct {
		text string
		rows []string
		row  string // the dialect; empty if nothing there is a call
		body dialect.Body
	}{
		{`{"name": "f"}`, shared, "hermes", dialect.BodyJSON},
		{"\n\n {name: 'f'}", shared, "hermes", dialect.BodyJSON},
		{`{ but no object`, []string{"gemma4"}, "gemma4", dialect.BodyJSON}, // a word may be a key
		{`{ ! }`, shared, "", ""},
		{`[{"name": "f"}]`, shared, "hermes", dialect.BodyJSON},
		{"```json\n{\"name\": \"f\"}", shared, "hermes", dialect.BodyJSON},
		{`<function=f>`, shared, "qwen3_coder", dialect.BodyParams},
		{`<arg_key>city`, shared, "glm45", dialect.BodyKeyValue},
		{"f\n<arg_key>city", shared, "glm45", dialect.BodyKeyValue},
		{"get_weather</tool_call>", shared, "glm45", dialect.BodyKeyValue},
		{"forecast</tool_call>", shared, "", ""}, // a name that is no tool's, and nothing behind it
		{`get_weather(city="Rome")`, shared, "xml_pythonic", dialect.BodyPythonic},
		{`[f(a=1)]`, shared, "xml_pythonic", dialect.BodyPythonic},
		{"name: f\narguments:", shared, "yaml", dialect.BodyLines},
		{`<get_weather><city>`, shared, "hermes", dialect.BodyElements}, // another dialect's body
		{`and so on`, shared, "", ""},
		{`call:f{a:1}`, []string{"gemma4"}, "gemma4", dialect.BodyBraceCall},
		{`call:f{a:1}`, shared, "hermes", dialect.BodyNameJSON}, // a word with a colon is a name here
		{`f[ARGS]{"a": 1}`, []string{"mistral", "mistral_v11"}, "mistral_v11", dialect.BodyNameJSON},
		{`[{"name": "f"}]`, []string{"mistral", "mistral_v11"}, "mistral", dialect.BodyJSON},
		{`tool_name:「始」f「末」`, []string{"vcp"}, "vcp", dialect.BodyLines},
	} {
		l := at(t, tt.text)
		f, ok := l.classify(0, rows(t, tt.rows...))
		switch {
		case ok != (tt.row != ""):
			t.Errorf("%q: found %v as %s", tt.text, ok, f.name)
		case ok && (f.name != tt.body || f.row.Name != tt.row):
			t.Errorf("%q: %s of %s, want %s of %s", tt.text, f.name, f.row.Name, tt.body, tt.row)
		}
		if l.c.Offset() != 0 {
			t.Errorf("%q: looking moved the cursor to %d", tt.text, l.c.Offset())
		}
	}
}

// TestTag reads tags as models write them.
func TestTag(t *testing.T) {
	for _, tt := range []struct {
		text, word, name string
		close, selfClose bool
		end              int
	}{
		{"<city>", "city", "", false, false, 6},
		{"</city>", "city", "", true, false, 7},
		{"<city/>", "city", "", false, true, 7},
		{"<function=f>", "function", "f", false, false, 12},
		{"<function='f' >", "function", "f", false, false, 15},
		{"<function=f\n", "function", "f", false, false, 11},
		{"<parameter=parameter=key>", "parameter", "key", false, false, 25},
		{`<invoke name="f" x='1'>`, "invoke", "f", false, false, 23},
		{"<ns:invoke name=f>", "invoke", "f", false, false, 18},
		{"<｜DSML｜invoke name=\"f\">", "invoke", "f", false, false, 27},
		{"<functionget_weather>", "function", "get_weather", false, false, 21},
		{"<|open|>argument key=\"a\"<|sep|>", "argument", "a", false, false, 31},
		{"< city>", "", "", false, false, 0},
		{"<city", "", "", false, false, 0},
		{"<1>", "1", "", false, false, 3},
		{"<function=>", "", "", false, false, 0},
	} {
		got, ok := at(t, tt.text).tag(0)
		if ok != (tt.word != "") {
			t.Errorf("%q: a tag: %v", tt.text, ok)
			continue
		}
		if ok && (got.word != tt.word || got.name != tt.name || got.close != tt.close || got.selfClose != tt.selfClose || got.end != tt.end) {
			t.Errorf("%q: %q %q close %v self %v end %d", tt.text, got.word, got.name, got.close, got.selfClose, got.end)
		}
	}
}

// TestMarkerSpellings matches the parts of markers that models write in several ways.
func TestMarkerSpellings(t *testing.T) {
	const deepseek = "<｜tool▁call▁begin｜>"
	for _, tt := range []struct {
		pattern, text string
		end           int
	}{
		{deepseek, deepseek, len(deepseek)},
		{deepseek, "<|tool_call_begin|>", 19},
		{deepseek, "<| tool call begin|>", 20},
		{deepseek, "<||tool▁call_begin||>", 23},
		{deepseek, "<|tool_call|>", -1},
		{"<tool_call:*>", "<tool_call>", 11},
		{"<tool_call:*>", "<tool_call:a7>", 14},
		{"<tool_call:*>", "<tool_calls>", -1},
		{"[TOOL_CALLS]", "[TOOL_CALLS]{", 12},
	} {
		if end := matchAny(lenient.NewText(tt.text), 0, []string{tt.pattern}); end != tt.end {
			t.Errorf("%s on %q: %d, want %d", tt.pattern, tt.text, end, tt.end)
		}
	}
}

// TestOwnWords reads a dialect whose tags, reasoning and turn marker are all its own.
func TestOwnWords(t *testing.T) {
	set, err := dialect.Parse([]byte(`
dialects:
  - name: acme
    open: ["<doing>"]
    close: ["</doing>"]
    body: params
    options: {call_tags: [do], param_tags: [with], tags: ["<do "], without_marker: [tag]}
reasoning:
  - {open: ["<musing>"], close: ["</musing>"], close_alone: true}
turns:
  - {marker: "<<over>>"}
regions:
  - {kind: result, open: "<said>", close: "</said>"}
`))
	if err != nil {
		t.Fatal(err)
	}
	table, err := NewTable(dialect.Builtin().With(set))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"<musing>hm</musing>Look: <doing><do name=\"get_weather\"><with name=\"city\">Rome</with></do></doing><said>x</said><<over>>",
		"<musing>hm</musing>Look: <do name=\"get_weather\"><with name=\"city\">Rome</with></do>\n<said>x</said><<over>>",
		"hm</musing>Look: <doing><do name=\"get_weather\"><with name=\"city\">Rome</doing><<over>>",
	} {
		found, reasoning := Values(text, Options{Table: table, Registry: at(t, "").registry})
		if len(found) != 1 || found[0].Dialect.Name != "acme" || found[0].Name != "get_weather" || reasoning != "hm" {
			t.Fatalf("%q: %d candidates, reasoning %q", text, len(found), reasoning)
		}
		args, _ := found[0].Arguments.(map[string]any)
		if lenient.Plain(args["city"]) != "Rome" {
			t.Errorf("%q: %v", text, args)
		}
	}
}
