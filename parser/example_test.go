package parser_test

import (
	"context"
	"fmt"
	"log"
	"slices"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/formats"
	"github.com/callwright/callwright/fallback"
	"github.com/callwright/callwright/parser"
	"github.com/callwright/callwright/registry"
)

var weather = registry.Tool{Name: "get_weather", Parameters: map[string]any{
	"type": "object",
	"properties": map[string]any{
		"city": map[string]any{"type": "string"},
		"days": map[string]any{"type": "integer"},
		"unit": map[string]any{"default": "c"},
	},
	"required": []any{"city"},
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
	text := `Let me look. <tool_call>{"name": "get_weather", "arguments": {"city": "Rome", "days": "3",}}</tool_call>`
	r, err := p.Parse(context.Background(), text, parser.Context{})
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
	text := `<tool_call>{"name": "get_wether", "arguments": {}}</tool_call>` +
		`<tool_call>{"name": "get_weather", "arguments": {"days": "soon"}}</tool_call>`
	r, err := p.Parse(context.Background(), text, parser.Context{})
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
	chunks := slices.Values([]string{
		"Sure. <tool_", `call>{"name": "get_weather", "arguments": {"city": "Ro`, `me", "da`, `ys": "3"}}</tool_call>`,
	})
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

// A feeder is for those who are called for each chunk, and cannot range over a stream.
func ExampleFeeder() {
	tools, err := registry.New(weather)
	if err != nil {
		log.Fatal(err)
	}
	p, err := parser.New(tools, parser.Options{})
	if err != nil {
		log.Fatal(err)
	}
	f := p.NewFeeder(context.Background(), parser.Context{})
	defer f.Close()
	for _, chunk := range []string{`<tool_call>{"name": "get_weather", "arguments": {"city": "Ro`, `me"}}</tool_call> On its way.`} {
		if _, err := f.Feed([]byte(chunk)); err != nil {
			log.Fatal(err)
		}
		call := f.Partial().Calls[0]
		fmt.Println(f.IsComplete(), call.Tool, call.Parameters, "truncated:", call.Truncated)
	}
	events, err := f.End()
	if err != nil {
		log.Fatal(err)
	}
	result := events[len(events)-1].Result
	fmt.Println(len(result.Calls), result.Truncated)
	// Output:
	// false get_weather map[city:Ro] truncated: true
	// true get_weather map[city:Rome unit:c] truncated: false
	// 1 false
}

// Explain shows why a stretch of text is a call, or is none.
func ExampleParser_Explain() {
	tools, err := registry.New(weather)
	if err != nil {
		log.Fatal(err)
	}
	p, err := parser.New(tools, parser.Options{})
	if err != nil {
		log.Fatal(err)
	}
	text := `For example, {"name": "get_weather", "arguments": {"city": "Rome"}} asks for the weather.`
	_, candidates, err := p.Explain(context.Background(), text, parser.Context{})
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range candidates {
		fmt.Printf("%s: %s, confidence %.2f\n", c.Tool, c.Reason, c.Score.Overall)
		for _, e := range c.Score.Evidence {
			fmt.Printf("  %s %.2f\n", e.What, e.Factor)
		}
	}
	// Output:
	// get_weather: low_confidence, confidence 0.00
	//   bare 0.97
	//   act 0.00
}

func ExampleOptions_fallbacks() {
	tools, err := registry.New(weather)
	if err != nil {
		log.Fatal(err)
	}
	p, err := parser.New(tools, parser.Options{
		Fallbacks: fallback.Steps(fallback.AutoRepair{}, fallback.NewIntent(), fallback.Clarification{}),
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, text := range []string{
		"Let me check the weather in Rome for 3 days.",
		`<tool_call>{"name": "get_weather", "arguments": {"days": 3}}</tool_call>`,
	} {
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
    - issue: writes the call as a function of JavaScript
      pattern: 'callTool\((\{.*\})\);?'
      replacement: '<tool_call>$1</tool_call>'
      frequency: 0.01
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
