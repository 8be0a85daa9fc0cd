package dispatch_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/callwright/callwright/dispatch"
	"github.com/callwright/callwright/parser"
)

// FuzzRun parses and runs any text: there is a result for each call, what it names is
// there, and no handler sees arguments that do not fit its tool.
func FuzzRun(f *testing.F) {
	for _, s := range []string{
		call("create_rectangle", `{"x": 1, "y": 2}`) + call("set_corner_radius", `{"layer": "$call_1.id", "radius": "$call_1.area"}`),
		call("set_corner_radius", `{"layer": "$call_2", "radius": "{{call_2.a}}"}`) + call("set_corner_radius", `{"layer": "$call_1", "radius": 1}`),
		"[set_corner_radius(layer=create_rectangle(x=1, y=2).id, radius=create_rectangle(x=1, y=create_rectangle(x=1,y=2).area).area)]",
		call("set_corner_radius", `{"layer": {"name": "create_rectangle", "arguments": {"x": {"tool": "fail", "params": {}}}}, "radius": "$call_9"}`),
		`{"commands": [{"tool": "create_rectangle", "params": {"x": 1}}, {"tool": "fail", "params": {"x": "$call_1"}}]}`,
	} {
		f.Add(s)
	}
	d := drawing()
	dispatch.Handle(d, "small", func(_ context.Context, in struct {
		N int8 `json:"n" jsonschema:"minimum=1"`
	},
	) (int8, error) {
		if in.N < 1 {
			panic("an argument that does not fit")
		}
		return in.N, nil
	}).Dependencies = []string{"fail", "small"}
	p, err := parser.New(d.Registry(), parser.Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<16 {
			return
		}
		result, err := p.Parse(context.Background(), text, parser.Context{})
		if err != nil {
			return
		}
		plan, planned := d.Plan(result, &dispatch.Context{Selection: []string{"s"}})
		report, err := d.Run(context.Background(), result, &dispatch.Context{Selection: []string{"s"}})
		if err != nil {
			t.Fatal(err)
		}
		if len(plan.Steps) != len(report.Results) || len(report.Results) < len(result.Calls) || plan.String() == "" && len(plan.Steps) > 0 {
			t.Fatalf("%d steps, %d results, %d calls", len(plan.Steps), len(report.Results), len(result.Calls))
		}
		ids := map[string]bool{}
		for i := range report.Results {
			ids[report.Results[i].Call.ID] = true
		}
		for i := range report.Results {
			r := &report.Results[i]
			if e := plan.Steps[i].Err; e != nil && !errors.Is(planned, e) {
				t.Fatalf("the plan's error lacks %v", e)
			}
			if r.Err == nil {
				continue
			}
			if r.Err.Code == dispatch.CodePanic || r.Err.Message == "" || r.Err.ID != r.Call.ID {
				t.Fatalf("%+v", r.Err)
			}
			for _, id := range r.Err.Calls {
				if !ids[id] {
					t.Fatalf("%v names the call %q, which is not there", r.Err, id)
				}
			}
		}
		for _, c := range result.Calls {
			if !slices.ContainsFunc(report.Results, func(r dispatch.Result) bool { return r.Call.ID == c.ID && r.Call.Tool == c.Tool }) {
				t.Fatalf("no result for %s", c.ID)
			}
		}
		if n := len(report.Messages()); n == 0 && len(report.Results) > 0 && !strings.Contains(fmt.Sprint(report.Results), "rejected") {
			t.Fatal("the model is told nothing")
		}
	})
}
