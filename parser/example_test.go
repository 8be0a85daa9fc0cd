package parser_test

import (
	"context"
	"fmt"
	"log"
	"slices"

	"github.com/callwright/callwright/fallback"
	"github.com/callwright/callwright/parser"
	"github.com/callwright/callwright/registry"
)

var weather = registry.Tool{Name: "get_weather", Parameters: map[string]any{
	"type":       "object",
	"properties": map[string]any{"city": map[string]any{"type": "string"}, "days": map[string]any{"type": "integer"}, "unit": map[string]any{"default": "c"}},
	"required":   []any{"city"},
}}

func ExampleParser_Parse() {
	tools, err := registry.New(weather)
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := parser.New(tools, parser.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := p.Parse(context.Background(), `Let me look. <tool_call>{"name": "get_weather", "arguments": {"city": "Rome", "days": "3",}}</tool_call>`, parser.Context{})
	if err != nil {
		fmt.Println(err)
		return
	}
	call := r.Calls[0]
	fmt.Println(call.Tool, call.Parameters)
	fmt.Println(call.Coercions[0].Path, call.Defaults, call.Repairs)
	fmt.Println(r.Content)
	// Output:
	// get_weather map[city:Rome days:3 unit:c]
	// /days [/unit] [trailing_comma]
	// Let me look.
}

func ExampleResult_Feedback() {
	tools, err := registry.New(weather)
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := parser.New(tools, parser.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := p.Parse(context.Background(), `<tool_call>{"name": "get_wether", "arguments": {}}</tool_call><tool_call>{"name": "get_weather", "arguments": {"days": "soon"}}</tool_call>`, parser.Context{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Feedback())
	// Output:
	// The call of get_wether was not made:
	// - there is no tool "get_wether" (did you mean "get_weather"?)
	// It is called so: get_weather(city: string, days?: integer, unit?: any = "c")
	// The call of get_weather was not made:
	// - /city: parameter "city" is required (add "city")
	// - /days: must be integer, not string "soon" (give an integer)
	// It is called so: get_weather(city: string, days?: integer, unit?: any = "c")
	// Correct the call and make it again.
}

func ExampleStream() {
	tools, err := registry.New(weather)
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := parser.New(tools, parser.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	chunks := slices.Values([]string{"Sure. <tool_", `call>{"name": "get_weather", "arguments": {"city": "Ro`, `me", "da`, `ys": "3"}}</tool_call>`})
	for e, err := range parser.Stream(context.Background(), p, chunks, parser.Context{}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		switch e.Type {
		case parser.EventContent:
			fmt.Printf("content %q\n", e.Text)
		case parser.EventCallStart:
			fmt.Println("call", e.Tool)
		case parser.EventArguments:
			fmt.Println("arguments", e.Delta)
		case parser.EventCallEnd:
			fmt.Println("end", e.Call.Parameters)
		}
	}
	// Output:
	// content "Sure."
	// call get_weather
	// arguments {"city":"Ro
	// arguments me"
	// arguments ,"days":3,"unit":"c"}
	// end map[city:Rome days:3 unit:c]
}

func ExampleOptions_fallbacks() {
	tools, err := registry.New(weather)
	if err != nil {
		log.Fatal(err)
	}
	p, err := parser.New(tools, parser.Options{Fallbacks: fallback.Steps(fallback.AutoRepair{}, fallback.NewIntent(), fallback.Clarification{})})
	if err != nil {
		log.Fatal(err)
	}
	for _, text := range []string{"Let me check the weather in Rome for 3 days.", `<tool_call>{"name": "get_weather", "arguments": {"days": 3}}</tool_call>`} {
		r, err := p.Parse(context.Background(), text, parser.Context{})
		if err != nil {
			log.Fatal(err)
		}
		for _, c := range r.Calls {
			fmt.Println(r.Strategy, c.Tool, c.Parameters, "inferred:", c.Inferred)
		}
		fmt.Println(r.Recovery.Suggestions, r.Recovery.Plan.RequiredUserInput)
	}
	// Output:
	// intent_extraction get_weather map[city:Rome days:3 unit:c] inferred: true
	// [] []
	// [Ask for city of get_weather.] [get_weather.city]
}
