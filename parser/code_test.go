package parser_test

import (
	"context"
	"slices"
	"testing"

	"github.com/callwright/callwright/parser"
	"github.com/callwright/callwright/registry"
)

// TestCode gives code behind Llama's tag to a tool that takes code, where there is
// one, whole and in every cutting.
func TestCode(t *testing.T) {
	code := registry.Tool{Name: "code_interpreter", Parameters: map[string]any{"type": "object", "properties": map[string]any{"code": map[string]any{"type": "string"}}, "required": []any{"code"}}}
	weather := registry.Tool{Name: "get_weather", Parameters: map[string]any{"type": "object", "properties": map[string]any{"city": map[string]any{"type": "string"}}}}
	for _, tt := range []struct {
		name, text string
		tools      []registry.Tool
		tool, want string
	}{
		{"code", "<|python_tag|>import math\nprint(math.sqrt(2))<|eom_id|>", []registry.Tool{code, weather}, "code_interpreter", "import math\nprint(math.sqrt(2))"},
		{"without the end", "<|python_tag|>x = {\"a\": [1]}\nprint(x)", []registry.Tool{code}, "code_interpreter", "x = {\"a\": [1]}\nprint(x)"},
		{"a list first", "<|python_tag|>[print(i) for i in range(3)]<|eom_id|>", []registry.Tool{code}, "code_interpreter", "[print(i) for i in range(3)]"},
		{"a call of a tool", "<|python_tag|>get_weather(city=\"Rome\")<|eom_id|>", []registry.Tool{code, weather}, "get_weather", ""},
		{"a call as JSON", "<|python_tag|>{\"name\": \"get_weather\", \"parameters\": {\"city\": \"Rome\"}}<|eom_id|>", []registry.Tool{code, weather}, "get_weather", ""},
		{"no tool for it", "<|python_tag|>print(1)<|eom_id|>", []registry.Tool{weather}, "", ""},
		{"nothing", "<|python_tag|><|eom_id|>", []registry.Tool{code}, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := registry.New(tt.tools...)
			if err != nil {
				t.Fatal(err)
			}
			p, err := parser.New(r, parser.Options{})
			if err != nil {
				t.Fatal(err)
			}
			check := func(how any, got *parser.Result) {
				t.Helper()
				if tt.tool == "" {
					if len(got.Calls) != 0 {
						t.Errorf("%v: %+v", how, got.Calls)
					}
					return
				}
				if len(got.Calls) != 1 || got.Calls[0].Tool != tt.tool || tt.want != "" && got.Calls[0].Parameters["code"] != tt.want || tt.want == "" && got.Calls[0].Parameters["city"] != "Rome" {
					t.Errorf("%v: %+v", how, got)
				}
			}
			whole, err := p.Parse(context.Background(), tt.text, parser.Context{})
			if err != nil {
				t.Fatal(err)
			}
			check("whole", whole)
			for i := range tt.text {
				for e, err := range parser.Stream(context.Background(), p, slices.Values([]string{tt.text[:i], tt.text[i:]}), parser.Context{}) {
					if err != nil {
						t.Fatal(err)
					}
					if e.Type == parser.EventResult {
						check(i, e.Result)
					}
				}
			}
		})
	}
}
