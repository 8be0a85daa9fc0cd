package parser_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/formats"
	"github.com/callwright/callwright/parser"
	"github.com/callwright/callwright/registry"
)

func TestModelSpecificParser(t *testing.T) {
	p := bareCases(t)[0].Parser()
	models, err := adapters.ParseModels([]byte(`[{model: acme, dialects: [hermes], known_issues: [{issue: writes CALL for the tag, pattern: 'CALL\((\{.*\})\)', replacement: '<tool_call>$1</tool_call>', frequency: 1}]}]`))
	if err != nil {
		t.Fatal(err)
	}
	m := p.ForModel(models.Capabilities("", "acme"))
	text := `CALL({"name": "get_weather", "arguments": {"city": "Rome"}})`
	r, err := m.Parse(context.Background(), "I say: "+text, parser.Context{})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Calls) != 1 || r.Strategy != "known_issue" || !r.Repaired || !slices.Contains(r.Warnings, "known_issue: writes CALL for the tag") {
		t.Errorf("%+v", r)
	}
	// What can be read as it stands is not touched.
	r, err = m.Parse(context.Background(), `<tool_call>{"name": "get_weather", "arguments": {"city": "CALL({})"}}</tool_call>`, parser.Context{})
	if err != nil || len(r.Calls) != 1 || r.Calls[0].Parameters["city"] != "CALL({})" || r.Strategy != "" {
		t.Errorf("%+v %v", r, err)
	}
	reply := &adapters.Reply{Format: "openai_chat", Choices: []adapters.Choice{{Blocks: []adapters.Block{{Type: adapters.BlockText, Text: text}}}}}
	m.Postprocess = func(r *parser.Result, reply *adapters.Reply) *parser.Result {
		r.ID = reply.Format
		return r
	}
	if r, err = m.ParseReply(context.Background(), reply, parser.Context{}); err != nil || len(r.Calls) != 1 || r.ID != "openai_chat" || r.Reply == nil {
		t.Errorf("%+v %v", r, err)
	}
	m.Preprocess = func(s string) string { return strings.ReplaceAll(s, "CALL", "") }
	if r, err = m.ParseReply(context.Background(), reply, parser.Context{}); err != nil || r.Strategy == "known_issue" || reply.Text() != text {
		t.Errorf("%+v %v", r, err)
	}
}

// TestModelSpecificParserSharesContext checks that concurrent parses may share one
// context: what is known of the model is not written into the caller's slice.
func TestModelSpecificParserSharesContext(t *testing.T) {
	p := bareCases(t)[0].Parser()
	formats := append(make([]string, 0, 8), "qwen3_coder") // has room for more
	c := parser.Context{Formats: formats}
	var wg sync.WaitGroup
	for _, format := range []string{"hermes", "glm45"} {
		m := p.ForModel(adapters.ModelCapabilities{KnownFormats: []string{format}})
		wg.Go(func() {
			for range 100 {
				if _, err := m.Parse(context.Background(), "hello", c); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if room := formats[:2][1]; room != "" {
		t.Errorf("%q was written into the caller's slice", room)
	}
}

// A reply of any provider, whole or streamed, gives the same calls: those in the
// provider's own field and those that the model wrote into its text.
func ExampleParser_ParseReply() {
	r, _ := registry.New(registry.Tool{Name: "create_rectangle", Parameters: map[string]any{
		"type": "object", "properties": map[string]any{"width": map[string]any{"type": "number"}},
	}})
	p, _ := parser.New(r, parser.Options{})
	body := []byte(`{"model": "qwen2.5", "created_at": "2026-01-06T10:00:00Z", "done": true, "done_reason": "stop",
		"message": {"role": "assistant", "content": "<tool_call>{\"name\": \"create_rectangle\", \"arguments\": {width: \"120\"}}</tool_call>"}}`)
	reply, err := formats.Read(nil, body, adapters.Limits{})
	if err != nil {
		fmt.Println(err)
		return
	}
	result, _ := p.ParseReply(context.Background(), reply, parser.Context{})
	for _, call := range result.Calls {
		fmt.Println(result.Reply.Format, call.Tool, call.Parameters["width"], call.Repairs)
	}
	// Output: ollama_chat create_rectangle 120 [unquoted_key]
}

// An adapter for one model: what is known of it as data, and a parser made of that.
func ExampleParser_ForModel() {
	models, _ := adapters.ParseModels([]byte(`
- model: "*qwen*"
  dialects: [hermes]
  known_issues:
    - {issue: writes the call as a function of JavaScript, pattern: 'callTool\((\{.*\})\);?', replacement: '<tool_call>$1</tool_call>', frequency: 0.01}
`))
	r, _ := registry.New(registry.Tool{Name: "create_rectangle"})
	p, _ := parser.New(r, parser.Options{})
	qwen := p.ForModel(adapters.DefaultModels().With(models).Capabilities("ollama", "qwen2.5:7b"))
	result, _ := qwen.Parse(context.Background(), `callTool({name: "create_rectangle", arguments: {x: 10}});`, parser.Context{})
	fmt.Println(result.Calls[0].Tool, result.Calls[0].Parameters["x"], result.Warnings)
	// Output: create_rectangle 10 [known_issue: writes the call as a function of JavaScript]
}

// Decode finds the JSON in what a model said.
func ExampleDecode() {
	type User struct {
		Name string `json:"name"`
		Age  int    `json:"age"`
	}
	user, decoded, err := parser.Decode[User](context.Background(), "Here you are:\n```json\n{'name': 'Ada', \"age\": \"36\",}\n```")
	fmt.Println(user, decoded.Content, decoded.JSONRepaired, err)
	// Output: {Ada 36} {"age":36,"name":"Ada"} true <nil>
}
