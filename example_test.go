package callwright_test

import (
	"context"
	"fmt"

	"github.com/callwright/callwright/parser"
	"github.com/callwright/callwright/registry"
)

func Example() {
	tools, err := registry.New(registry.Tool{Name: "get_weather", Parameters: map[string]any{
		"type":     "object",
		"required": []any{"city"},
		"properties": map[string]any{
			"city": map[string]any{"type": "string"},
			"days": map[string]any{"type": "integer"},
		},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := parser.New(tools, parser.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	text := `One moment. <tool_call>{"name": "get_weather", "arguments": {"city": "Rome", "days": "3",}}</tool_call>`
	result, err := p.Parse(context.Background(), text, parser.Context{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("content:", result.Content)
	for _, call := range result.Calls {
		fmt.Println("call:", call.Tool, call.Parameters, call.Repairs)
	}
	// Output:
	// content: One moment.
	// call: get_weather map[city:Rome days:3] [trailing_comma]
}
