// Package dispatch runs tool calls: the right function with the right arguments, in the
// right order, and gives the results back to the model.
//
//	type Rectangle struct {
//		X     float64 `json:"x"`
//		Width float64 `json:"width,omitempty" jsonschema:"default=100,minimum=1"`
//	}
//
//	var d dispatch.Dispatcher
//	dispatch.Handle(&d, "create_rectangle", func(ctx context.Context, in Rectangle) (Shape, error) { … })
//	p, err := parser.New(d.Registry(), parser.Options{})
//	result, err := p.Parse(ctx, text, parser.Context{})
//	report, err := d.Run(ctx, result, nil)
//
// Calls run in parallel where they can. A call waits for those whose results it uses,
// "$call_1.id" or "{{create_rectangle.id}}" in its arguments, and for those of the tools
// that its tool depends on. A [Policy] decides on the final arguments which calls run. A
// [Context] fills in what the model left out. A [Loop] asks a model, runs what it calls,
// and tells it the results until it answers.
//
// The package links neither MCP nor OpenAPI: dispatch/mcptools has the tools of MCP
// servers, dispatch/openapi those of an OpenAPI document. docs/dispatch.md tells it in
// examples.
//
// NOTE: collect.go makes a graph of a parse's result, plan.go links it, run.go walks it,
// final.go makes a call's arguments final. Only run.go starts goroutines.
package dispatch
