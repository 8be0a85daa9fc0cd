package dispatch_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	words "github.com/callwright/callwright/call"
	"github.com/callwright/callwright/dispatch"
	"github.com/callwright/callwright/parser"
	"github.com/callwright/callwright/registry"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// parse parses a text with a dispatcher's tools.
func parse(t testing.TB, d *dispatch.Dispatcher, text string) *parser.Result {
	t.Helper()
	p, err := parser.New(d.Registry(), parser.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Parse(context.Background(), text, parser.Context{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// run parses a text and runs its calls.
func run(t testing.TB, d *dispatch.Dispatcher, text string, c *dispatch.Context) *dispatch.Report {
	t.Helper()
	report, err := d.Run(context.Background(), parse(t, d, text), c)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

type rectangle struct {
	X      float64 `json:"x"`
	Y      float64 `json:"y"`
	Width  float64 `json:"width,omitempty" jsonschema:"default=100,minimum=1"`
	Height float64 `json:"height,omitempty" jsonschema:"default=50,minimum=1"`
}

type shape struct {
	ID   string  `json:"id"`
	Area float64 `json:"area"`
}

type corners struct {
	Layer  string  `json:"layer" jsonschema_extras:"x-context=selection.0"`
	Radius float64 `json:"radius"`
}

func drawing() *dispatch.Dispatcher {
	d := &dispatch.Dispatcher{}
	dispatch.Handle(d, "create_rectangle", func(_ context.Context, in rectangle) (shape, error) {
		return shape{ID: fmt.Sprintf("r%v", in.X), Area: in.Width * in.Height}, nil
	})
	dispatch.Handle(d, "set_corner_radius", func(_ context.Context, in corners) (string, error) {
		return fmt.Sprintf("%s has radius %v", in.Layer, in.Radius), nil
	}).Dependencies = []string{"create_rectangle"}
	dispatch.Handle(d, "fail", func(context.Context, struct{}) (string, error) { return "", errors.New("no paper") })
	return d
}

func call(tool, args string) string {
	return `<tool_call>{"name": "` + tool + `", "arguments": ` + args + `}</tool_call>`
}

// one makes a result with one call.
func one(id, tool, args string, change ...func(*parser.Call)) *parser.Result {
	var c parser.Call
	c.ID, c.Tool, c.Confidence, c.Provenance = id, tool, 1, words.Native
	if err := json.Unmarshal([]byte(args), &c.Parameters); err != nil {
		panic(err)
	}
	for _, f := range change {
		f(&c)
	}
	return &parser.Result{Calls: []parser.Call{c}}
}

// both joins results.
func both(results ...*parser.Result) *parser.Result {
	out := &parser.Result{}
	for _, r := range results {
		out.Calls = append(out.Calls, r.Calls...)
	}
	return out
}

// must runs calls.
func must(t testing.TB, d *dispatch.Dispatcher, r *parser.Result) []dispatch.Result {
	t.Helper()
	report, err := d.Run(context.Background(), r, nil)
	if err != nil {
		t.Fatal(err)
	}
	return report.Results
}

// code is the code of a result's error.
func code(r dispatch.Result) dispatch.Code {
	if r.Err == nil {
		return ""
	}
	return r.Err.Code
}

func TestReply(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       []string // of each result: the tool, and its text or the error
	}{
		{
			"coerced and defaulted", call("create_rectangle", `{"x": "1", "y": 2, "width": "30",}`),
			[]string{`create_rectangle: {"id":"r1","area":1500}`},
		},
		{
			"references of other types than the schema's", call("create_rectangle", `{"x": 1, "y": 2}`) +
				call("set_corner_radius", `{"layer": "$call_1.id", "radius": "$call_1.area"}`) +
				call("set_corner_radius", `{"layer": "the {{create_rectangle.id}}", "radius": "{{call_1.area}}"}`),
			[]string{`create_rectangle: {"id":"r1","area":5000}`, "set_corner_radius: r1 has radius 5000", "set_corner_radius: the r1 has radius 5000"},
		},
		{
			"a reference before its call", call("set_corner_radius", `{"layer": "$call_2.id", "radius": 1}`) + call("create_rectangle", `{"x": 1, "y": 2}`),
			[]string{"set_corner_radius: r1 has radius 1", `create_rectangle: {"id":"r1","area":5000}`},
		},
		{
			"from the context", call("set_corner_radius", `{"radius": 5}`),
			[]string{"set_corner_radius: selected has radius 5"},
		},
		{
			"a call as an argument", call("set_corner_radius", `{"layer": "a", "radius": {"name": "measure", "arguments": {"of": "b"}}}`),
			[]string{"measure: 1", "set_corner_radius: a has radius 1"},
		},
		{
			"a call in a call in a call", call("set_corner_radius", `{"layer": "a", "radius": {"name": "measure", "arguments": {"of": {"name": "name", "arguments": {}}}}}`),
			[]string{"name: circle", "measure: 6", "set_corner_radius: a has radius 6"},
		},
		{
			"a call in Python's notation", "[set_corner_radius(layer=create_rectangle(x=1, y=2).id, radius=measure(of=name()))]",
			[]string{`create_rectangle: {"id":"r1","area":5000}`, "name: circle", "measure: 6", "set_corner_radius: r1 has radius 6"},
		},
		{
			"a call as an argument whose result does not fit", call("set_corner_radius", `{"layer": {"name": "create_rectangle", "arguments": {"x": 7, "y": "8"}}, "radius": 5}`),
			[]string{
				`create_rectangle: {"id":"r7","area":5000}`,
				`set_corner_radius: invalid: /layer: must be string, not object {"area":5000,"id":"r7"} (give a string); it is called so: set_corner_radius(layer: string, radius: number)`,
			},
		},
		{
			"a call as an argument that is wrong", call("set_corner_radius", `{"layer": "a", "radius": {"name": "measure", "arguments": {"off": "b"}}}`),
			[]string{
				`measure: invalid: /of: parameter "of" is required (add "of"); it is called so: measure(of: string)`,
				`set_corner_radius: dependency_failed: the call of measure in its arguments: /of: parameter "of" is required (add "of"); it is called so: measure(of: string)`,
			},
		},
		{
			"what failed fails what uses it, and nothing else", call("fail", `{}`) + call("set_corner_radius", `{"layer": "{{fail.x}}", "radius": 5}`) + call("name", "{}"),
			[]string{"fail: failed: no paper", "set_corner_radius: dependency_failed: ID (fail) failed: call it again, then this one", "name: circle"},
		},
		{
			"dangling", call("set_corner_radius", `{"layer": "$call_7.id", "radius": 5}`) + call("measure", `{"of": "{{create_rectangle.id}}"}`),
			[]string{
				`set_corner_radius: unknown_reference: "call_7" is no call of this reply: make the call first, or give the value itself`,
				`measure: unknown_reference: "create_rectangle" is no call of this reply: make the call first, or give the value itself`,
			},
		},
		{
			"ambiguous", call("create_rectangle", `{"x": 1, "y": 2}`) + call("create_rectangle", `{"x": 2, "y": 2}`) + call("measure", `{"of": "$create_rectangle.id"}`),
			[]string{
				`create_rectangle: {"id":"r1","area":5000}`, `create_rectangle: {"id":"r2","area":5000}`,
				`measure: unknown_reference: "create_rectangle" may mean several calls: name one of them, such as $ID`,
			},
		},
		{
			"a path that is not there", call("create_rectangle", `{"x": 1, "y": 2}`) + call("measure", `{"of": "$call_1.name"}`),
			[]string{`create_rectangle: {"id":"r1","area":5000}`, `measure: reference_path: the result of ID (create_rectangle) has no member "name": it has area, id`},
		},
		{
			"itself", call("measure", `{"of": "$call_1"}`),
			[]string{"measure: cycle: the call waits for itself: make one of them without the other's result"},
		},
		{
			"what the parser rejected for itself", call("set_corner_radius", `{"layer": "a", "radius": "wide"}`) + call("measure", `{"of": "$call_1"}`),
			[]string{"set_corner_radius: rejected: The call of set_corner_radius was not made:", "measure: dependency_failed: ID (set_corner_radius) failed: call it again, then this one"},
		},
		{
			"escaped", call("create_rectangle", `{"x": 1, "y": 2}`) + call("echo", `{"text": "\\$call_1.id"}`) + call("echo", `{"text": "{{{{call_1.id}} is {{call_1.id}}"}`),
			[]string{`create_rectangle: {"id":"r1","area":5000}`, "echo: $call_1.id", "echo: {{call_1.id}} is r1"},
		},
		{
			"results are not searched", call("echo", `{"text": "{{{{call_2}}"}`) + call("name", "{}") + call("echo", `{"text": "$call_1"}`),
			[]string{"echo: {{call_2}}", "name: circle", "echo: {{call_2}}"},
		},
		{
			"tools and parameters without references", call("name", "{}") + call("code", `{"text": "{{call_1}}"}`) + call("echo", `{"raw": "$call_1", "text": "$call_1"}`),
			[]string{"name: circle", "code: {{call_1}}", "echo: circle$call_1"},
		},
		{
			"a list that is a reference", call("list", "{}") + call("sum", `{"numbers": "$call_1"}`) + call("sum", `{"numbers": ["$call_1[0]", 5, "{{list[1]}}"]}`),
			[]string{"list: [1,2.5]", "sum: 3.5", "sum: 8.5"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := drawing()
			type echo struct {
				Text string `json:"text,omitempty"`
				Raw  string `json:"raw,omitempty" jsonschema_extras:"x-references=false"`
			}
			dispatch.Handle(d, "measure", func(_ context.Context, in struct {
				Of string `json:"of"`
			},
			) (int, error) {
				return len(in.Of), nil
			})
			dispatch.Handle(d, "name", func(context.Context, struct{}) (string, error) { return "circle", nil })
			dispatch.Handle(d, "echo", func(_ context.Context, in echo) (string, error) { return in.Text + in.Raw, nil })
			dispatch.Handle(d, "code", func(_ context.Context, in echo) (string, error) { return in.Text, nil }).NoReferences = true
			dispatch.Handle(d, "list", func(context.Context, struct{}) ([]float64, error) { return []float64{1, 2.5}, nil })
			dispatch.Handle(d, "sum", func(_ context.Context, in struct {
				Numbers []float64 `json:"numbers"`
			},
			) (sum float64, err error) {
				for _, n := range in.Numbers {
					sum += n
				}
				return sum, nil
			})
			report := run(t, d, tt.text, &dispatch.Context{Selection: []string{"selected"}})
			var got []string
			for i := range report.Results {
				r := &report.Results[i]
				if r.Err == nil {
					got = append(got, r.Call.Tool+": "+r.Text)
					continue
				}
				first, _, _ := strings.Cut(r.Err.Error(), "\n")
				for j := range report.Results {
					first = strings.ReplaceAll(first, report.Results[j].Call.ID, "ID")
				}
				got = append(got, first)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestListedChanges holds that what was filled in and coerced late is listed like what the
// parser did.
func TestListedChanges(t *testing.T) {
	d := drawing()
	dispatch.Handle(d, "text", func(context.Context, struct{}) (string, error) { return "12", nil })
	report := run(t, d, call("text", "{}")+call("set_corner_radius", `{"radius": "$call_1"}`), &dispatch.Context{Selection: []string{"s"}})
	c := report.Results[1].Call
	if report.Results[1].Text != "s has radius 12" || !slices.Equal(c.Defaults, []string{"/layer"}) || len(c.Coercions) != 1 || c.Coercions[0].Path != "/radius" {
		t.Errorf("%+v", report.Results[1])
	}
	if c.Confidence < dispatch.AskBelow || !c.Is(dispatch.UsesReference) {
		t.Errorf("confidence %v, uses %v", c.Confidence, c.Uses)
	}
	if report := run(t, d, call("set_corner_radius", `{"radius": 1}`), nil); code(report.Results[0]) != dispatch.CodeRejected {
		t.Errorf("nothing is selected: %+v", report.Results[0])
	}
}

func TestDispatcher(t *testing.T) {
	var d dispatch.Dispatcher
	handler := func(context.Context, *dispatch.Call) (dispatch.Result, error) {
		return dispatch.Result{Text: "ok"}, nil
	}
	tool := dispatch.Tool{Tool: registry.Tool{Name: "a"}, Run: handler}
	if err := d.Add(tool); err != nil {
		t.Fatal(err)
	}
	var schema *registry.SchemaError
	for want, bad := range map[string]dispatch.Tool{
		"there is one of this name": tool,
		"has no handler":            {Tool: registry.Tool{Name: "b"}},
		"is empty":                  {Run: handler},
		"schema":                    {Tool: registry.Tool{Name: "c", Parameters: map[string]any{"allOf": []any{map[string]any{"$ref": "#"}}}}, Run: handler},
	} {
		err := d.Add(bad)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		if want == "schema" && !errors.As(err, &schema) {
			t.Errorf("%T", err)
		}
	}
	if n := d.Registry().Len(); n != 2 { // a, and c without its schema
		t.Errorf("%d tools", n)
	}
	if err := d.Add(dispatch.Tool{Tool: registry.Tool{Name: "late"}, Run: handler}); !errors.Is(err, dispatch.ErrInUse) {
		t.Error(err)
	}
	for name, f := range map[string]func(){
		"Use":    func() { d.Use(dispatch.Recover) },
		"Handle": func() { dispatch.Handle(&d, "z", func(context.Context, struct{}) (int, error) { return 0, nil }) },
		"a type": func() {
			dispatch.Handle(&dispatch.Dispatcher{}, "z", func(context.Context, string) (int, error) { return 0, nil })
		},
		"a default": func() {
			dispatch.Handle(&dispatch.Dispatcher{}, "z", func(context.Context, struct {
				A string `jsonschema:"default=x,enum=a"`
			},
			) (int, error) {
				return 0, nil
			})
		},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s does not panic", name)
				}
			}()
			f()
		}()
	}
	if r := must(t, &d, one("i", "nope", "{}"))[0]; code(r) != dispatch.CodeUnknownTool {
		t.Error(r.Err)
	}
}

func TestCall(t *testing.T) {
	d := drawing()
	ctx := context.Background()
	r := d.Call(ctx, "create_rectangle", map[string]any{"x": "1", "y": json.Number("2"), "width": json.Number("4")}, nil)
	var s shape
	if err := r.Decode(&s); err != nil || s != (shape{"r1", 200}) {
		t.Error(s, err)
	}
	if _, ok := r.Value.(shape); !ok {
		t.Errorf("the value is a %T", r.Value)
	}
	if r := d.Call(ctx, "create_rectangle", map[string]any{"x": "wide"}, nil); code(r) != dispatch.CodeRejected || r.Decode(&s) == nil {
		t.Error(r.Err)
	}
	if r := d.Call(ctx, "set_corner_radius", map[string]any{"radius": json.Number("2")}, &dispatch.Context{Selection: []string{"l"}}); r.Text != "l has radius 2" {
		t.Error(r.Text, r.Err)
	}
	if r := d.Call(ctx, "nope", nil, nil); code(r) != dispatch.CodeUnknownTool {
		t.Error(r.Err)
	}
}

// TestResults holds what becomes of what functions return.
func TestResults(t *testing.T) {
	d := &dispatch.Dispatcher{}
	dispatch.Handle(d, "nothing", func(context.Context, struct{}) (struct{}, error) { return struct{}{}, nil })
	dispatch.Handle(d, "html", func(context.Context, struct{}) (any, error) { return map[string]string{"a": "<b>&"}, nil })
	dispatch.Handle(d, "text", func(context.Context, struct{}) (any, error) { return "plain <b>", nil })
	dispatch.Handle(d, "raw", func(context.Context, struct{}) (json.RawMessage, error) { return json.RawMessage(`{"n": 1.50}`), nil })
	dispatch.Handle(d, "own", func(context.Context, struct{}) (dispatch.Result, error) {
		return dispatch.Result{Text: "shown", Value: 5}, nil
	})
	dispatch.Handle(d, "bad", func(context.Context, struct{}) (any, error) { return func() {}, nil })
	dispatch.Handle(d, "bytes", func(context.Context, struct{}) (string, error) { return "a\xffb", nil })
	dispatch.Handle(d, "map", func(_ context.Context, in map[string]any) (string, error) {
		in["x"] = "changed"
		return fmt.Sprintf("%T", in["n"]), nil
	})
	for tool, want := range map[string]string{
		"nothing": "done", "html": `{"a":"<b>&"}`, "text": "plain <b>", "raw": `{"n": 1.50}`, "own": "shown", "bytes": "a\uFFFDb",
	} {
		if r := d.Call(context.Background(), tool, nil, nil); r.Text != want || r.Err != nil {
			t.Errorf("%s: %q %v", tool, r.Text, r.Err)
		}
	}
	if r := d.Call(context.Background(), "bad", nil, nil); code(r) != dispatch.CodeFailed {
		t.Error(r.Err)
	}
	args := map[string]any{"n": json.Number("1")}
	r := d.Call(context.Background(), "map", args, nil)
	if r.Text != "json.Number" || len(args) != 1 || len(r.Call.Parameters) != 1 {
		t.Errorf("%q, arguments %v %v", r.Text, args, r.Call.Parameters)
	}
}
