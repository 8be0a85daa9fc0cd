package dispatch_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/dispatch"
	"github.com/callwright/callwright/parser"
)

// The tools of the examples: a drawing app.
type (
	Rectangle struct {
		X      float64 `json:"x"`
		Y      float64 `json:"y"`
		Width  float64 `json:"width,omitempty" jsonschema:"default=100,minimum=1" jsonschema_description:"in pixels, at least 1"`
		Height float64 `json:"height,omitempty" jsonschema:"default=100,minimum=1"`
	}
	Shape struct {
		ID string `json:"id"`
	}
	Corners struct {
		Layer  string  `json:"layer" jsonschema_extras:"x-context=selection.0"`
		Radius float64 `json:"radius"`
	}
)

func createRectangle(_ context.Context, in Rectangle) (Shape, error) {
	return Shape{ID: fmt.Sprintf("rect-%vx%v", in.Width, in.Height)}, nil
}

func roundCorners(_ context.Context, in Corners) (string, error) {
	return fmt.Sprintf("%s has corners of %v", in.Layer, in.Radius), nil
}

// drawingApp has the tools of the examples.
func drawingApp() *dispatch.Dispatcher {
	d := &dispatch.Dispatcher{}
	dispatch.Handle(d, "create_rectangle", createRectangle)
	dispatch.Handle(d, "set_corner_radius", roundCorners).Dependencies = []string{"create_rectangle"}
	return d
}

// read parses what a model wrote, with a dispatcher's tools.
func read(d *dispatch.Dispatcher, text string) *parser.Result {
	p, err := parser.New(d.Registry(), parser.Options{})
	if err != nil {
		panic(err)
	}
	result, err := p.Parse(context.Background(), text, parser.Context{})
	if err != nil {
		panic(err)
	}
	return result
}

func ExampleHandle() {
	var d dispatch.Dispatcher
	dispatch.Handle(&d, "create_rectangle", createRectangle).Description = "Draws a rectangle"
	dispatch.Handle(&d, "set_corner_radius", roundCorners).Dependencies = []string{"create_rectangle"}

	p, err := parser.New(d.Registry(), parser.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	text := `<tool_call>{"name": "create_rectangle", "arguments": {"x": "10", "y": 20, "width": 30,}}</tool_call>`
	result, err := p.Parse(ctx, text, parser.Context{})
	if err != nil {
		fmt.Println(err)
		return
	}
	report, err := d.Run(ctx, result, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(report.Results[0].Text)
	fmt.Println(report.Results[0].Call.Defaults)
	// Output:
	// {"id":"rect-30x100"}
	// [/height]
}

func ExampleDispatcher_Run() {
	d := drawingApp()
	result := read(d, `<tool_call>{"name": "set_corner_radius", "arguments": {"layer": "$call_2.id", "radius": 8}}</tool_call>
<tool_call>{"name": "create_rectangle", "arguments": {"x": 1, "y": 2}}</tool_call>
<tool_call>{"name": "set_corner_radius", "arguments": {"layer": "{{create_rectangle.name}}", "radius": 8}}</tool_call>`)
	report, err := d.Run(context.Background(), result, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range report.Results {
		if r.Err != nil {
			fmt.Println(r.Err.Code)
			continue
		}
		fmt.Println(r.Level, r.Text)
	}
	// Output:
	// 1 rect-100x100 has corners of 8
	// 0 {"id":"rect-100x100"}
	// reference_path
}

func ExampleDispatcher_Plan() {
	d := drawingApp()
	d.Policy.Rules = []dispatch.Rule{{Tool: "set_*", Do: dispatch.Ask, Why: "it changes what is there"}}
	result := read(d, `<tool_call>{"name": "set_corner_radius", "arguments": {"layer": "a", "radius": 8}, "id": "round"}</tool_call>
<tool_call>{"name": "create_rectangle", "arguments": {"x": 1, "y": 2}, "id": "rect"}</tool_call>`)
	plan, err := d.Plan(result, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(plan)
	// Output:
	// 1. create_rectangle rect
	// 2. set_corner_radius round after rect: ask: it changes what is there
}

func ExamplePolicy() {
	d := &dispatch.Dispatcher{Policy: dispatch.Policy{
		Rules: []dispatch.Rule{
			{Tool: "delete_file", Arguments: map[string]string{"/path": "/etc/*"}, Do: dispatch.Deny, Why: "the system needs it"},
			{Tool: "delete_file", Arguments: map[string]string{"/path": "/tmp/*"}, Do: dispatch.Allow},
		},
		Ask: func(_ context.Context, q dispatch.Question) (dispatch.Answer, error) {
			fmt.Printf("%s %v? %s\n", q.Call.Tool, q.Call.Parameters, q.Why)
			return dispatch.Answer{Message: "not today"}, nil
		},
	}}
	type file struct {
		Path string `json:"path"`
	}
	dispatch.Handle(d, "delete_file", func(_ context.Context, in file) (string, error) {
		return "deleted " + in.Path, nil
	}).Hints.Destructive = true

	for _, path := range []string{"/tmp/a", "/tmp/../etc/passwd", "/home/a"} {
		r := d.Call(context.Background(), "delete_file", map[string]any{"path": path}, nil)
		fmt.Println(r.Text, r.Err)
	}
	// Output:
	// deleted /tmp/a <nil>
	//  delete_file: denied: delete_file is not allowed: the system needs it. Do not call it so again.
	// delete_file map[path:/home/a]? the tool may delete or overwrite
	//  delete_file: not_approved: The user did not allow delete_file: not today. Do not call it again; say what you need.
}

func ExampleContext() {
	d := drawingApp()
	result := read(d, `<tool_call>{"name": "set_corner_radius", "arguments": {"radius": 8}}</tool_call>`)
	report, err := d.Run(context.Background(), result, &dispatch.Context{Selection: []string{"button"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(report.Results[0].Text)
	fmt.Println(report.Results[0].Call.Defaults)
	// Output:
	// button has corners of 8
	// [/layer]
}

func ExampleRetry() {
	var d dispatch.Dispatcher
	d.Use(dispatch.Retry(3, nil))
	attempts := 0
	tool := dispatch.Handle(&d, "fetch", func(context.Context, struct{}) (string, error) {
		if attempts++; attempts < 3 {
			return "", dispatch.Transient(errors.New("the line is busy"))
		}
		return "fetched", nil
	})
	tool.Hints.ReadOnly = true
	r := d.Call(context.Background(), "fetch", nil, nil)
	fmt.Println(r.Text, "after", attempts, "attempts")
	// Output:
	// fetched after 3 attempts
}

func ExampleMiddleware() {
	var d dispatch.Dispatcher
	d.Use(func(next dispatch.Handler) dispatch.Handler {
		return func(ctx context.Context, c *dispatch.Call) (dispatch.Result, error) {
			r, err := next(ctx, c)
			fmt.Println(c.Tool, "returned", r.Text)
			return r, err
		}
	})
	dispatch.Handle(&d, "create_rectangle", createRectangle)
	d.Call(context.Background(), "create_rectangle", map[string]any{"x": "1", "y": "2"}, nil)
	// Output:
	// create_rectangle returned {"id":"rect-100x100"}
}

func ExampleLoop() {
	d := drawingApp()
	says := []string{ // a model that has no tool calling of its own
		`<tool_call>{"name": "create_rectangle", "arguments": {"x": 10, "y": 20, "width": "80"}}</tool_call>`,
		`There it is.`,
	}
	model := dispatch.Whole(func(_ context.Context, r *adapters.Request) (*adapters.Reply, error) {
		text := says[0]
		says = says[1:]
		return &adapters.Reply{Choices: []adapters.Choice{{Blocks: []adapters.Block{{Type: adapters.BlockText, Text: text}}}}}, nil
	})
	loop := dispatch.Loop{
		Model: model, Dispatch: d, MaxTurns: 8, MaxTime: time.Minute,
		OnEvent: func(e dispatch.LoopEvent) {
			if e.Type == dispatch.EventToolEnd {
				fmt.Println(e.Result.Call.Tool, e.Result.Text)
			}
		},
	}
	t, err := loop.Say(context.Background(), "Draw a rectangle")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(t.Text(), t.Stop)
	// Output:
	// create_rectangle {"id":"rect-80x100"}
	// There it is. answer
}
