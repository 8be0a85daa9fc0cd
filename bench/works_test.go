package bench

import (
	"encoding/json"
	"fmt"
	"strings"
)

// work is a text to read, and who reads it besides callwright.
type work struct {
	name string
	text string
	// object is the JSON of the call without its marker, for the JSON decoders; nil if the
	// text is none.
	object []byte
	// ollama names the parsers of model/parsers that read the text; "tools" is the generic
	// one of package tools.
	ollama []string
	calls  int
}

// code is source code with characters that JSON escapes.
func code(size int) string {
	const line = "func f(a, b int) string {\n\tif a < b { return \"x\\\\y\" }\n\treturn fmt.Sprint(a, b)\n}\n"
	return strings.Repeat(line, size/len(line)+1)[:size]
}

func mustMarshal(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

// called is the JSON of a call.
func called(tool string, arguments any) []byte {
	return mustMarshal(struct {
		Name      string `json:"name"`
		Arguments any    `json:"arguments"`
	}{tool, arguments})
}

// hermes writes a call of a file's content between markers.
func hermes(name string, object []byte) work {
	return work{name, "<tool_call>\n" + string(object) + "\n</tool_call>", object, []string{"qwen3", "tools"}, 1}
}

func fileCall(size int) []byte {
	return called("write_file", map[string]any{"path": "main.go", "content": code(size)})
}

// rows is a thousand small objects.
func rows() []any {
	list := make([]any, 1000)
	for i := range list {
		list[i] = map[string]any{"id": i, "name": fmt.Sprintf("item %d", i), "price": float64(i) + 0.25, "active": i%2 == 0}
	}
	return list
}

// prose is text without a call; each sentence has characters that may begin one.
func prose(size int) string {
	const line = "The value <b of the list [1] isn't the one in {braces}, so it's left as it is; see the 'notes' below. "
	return strings.Repeat(line, size/len(line)+1)[:size]
}

func coder(size int) string {
	return "<tool_call>\n<function=write_file>\n<parameter=path>\nmain.go\n</parameter>\n<parameter=content>\n" + code(size) +
		"\n</parameter>\n</function>\n</tool_call>"
}

var works = []work{
	{
		name: "small", calls: 1, ollama: []string{"qwen3", "tools"},
		text:   `<tool_call>{"name": "get_weather", "arguments": {"city": "Rome", "days": 3}}</tool_call>`,
		object: []byte(`{"name": "get_weather", "arguments": {"city": "Rome", "days": 3}}`),
	},
	hermes("rows_64KB", called("save_rows", map[string]any{"rows": rows()})),
	hermes("string_8KB", fileCall(8<<10)),
	hermes("string_64KB", fileCall(64<<10)),
	{name: "coder_64KB", text: coder(64 << 10), ollama: []string{"qwen3-coder"}, calls: 1},
	{name: "prose_64KB", text: prose(64 << 10), ollama: []string{"qwen3", "tools"}},
}
