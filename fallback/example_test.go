package fallback_test

import (
	"context"
	"fmt"

	"github.com/callwright/callwright/fallback"
	"github.com/callwright/callwright/parser"
	"github.com/callwright/callwright/registry"
)

// The chain of a parser: broken JSON is repaired, and an intent in prose becomes a call.
func Example() {
	tools, err := registry.New(registry.Tool{Name: "create_rectangle", Parameters: map[string]any{
		"type": "object", "required": []any{"width", "height"},
		"properties": map[string]any{"width": map[string]any{"type": "integer"}, "height": map[string]any{"type": "integer"}},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := parser.New(tools, parser.Options{Fallbacks: fallback.Steps(fallback.AutoRepair{}, fallback.NewIntent())})
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := p.Parse(context.Background(), "I'll draw a rectangle of 120x48 now.", parser.Context{})
	if err != nil {
		fmt.Println(err)
		return
	}
	call := result.Calls[0]
	fmt.Println(result.Strategy, call.Tool, call.Parameters, call.Inferred)
	// Output: intent_extraction create_rectangle map[height:48 width:120] true
}
