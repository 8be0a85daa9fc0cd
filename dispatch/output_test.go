package dispatch_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/dispatch"
	"github.com/callwright/callwright/parser"
	"github.com/callwright/callwright/registry"
	"github.com/callwright/callwright/validator"
)

// says has one tool that returns a result.
func says(t testing.TB, o dispatch.Output, r dispatch.Result) *dispatch.Dispatcher {
	t.Helper()
	d := &dispatch.Dispatcher{Output: o}
	if err := d.Add(dispatch.Tool{Tool: registry.Tool{Name: "say"}, Run: func(context.Context, *dispatch.Call) (dispatch.Result, error) { return r, nil }}); err != nil {
		t.Fatal(err)
	}
	return d
}

// TestOutput holds what is left of a text that is too long.
func TestOutput(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		most := rapid.IntRange(10, 2000).Draw(rt, "most")
		s := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"line\n", "é", "🙂", strings.Repeat("x", 300), "\xff", "\n"}), 0, 60).Draw(rt, "text"), "")
		r := must(t, says(t, dispatch.Output{MaxBytes: most}, dispatch.Result{Text: s}), one("i", "say", "{}"))[0]
		valid := strings.ToValidUTF8(s, "\uFFFD")
		if !utf8.ValidString(r.Text) || r.Value != s {
			rt.Fatalf("%q, value %q", r.Text, r.Value)
		}
		if len(valid) <= most {
			if r.Text != valid {
				rt.Fatalf("%q became %q", valid, r.Text)
			}
			return
		}
		head, rest, ok := strings.Cut(r.Text, "[… ")
		number, tail, _ := strings.Cut(rest, " bytes left out]\n")
		var left int
		if _, err := fmt.Sscan(strings.ReplaceAll(number, ",", ""), &left); !ok || err != nil {
			rt.Fatalf("%q", r.Text)
		}
		head = strings.TrimSuffix(head, "\n")
		if !strings.HasPrefix(valid, head) || !strings.HasSuffix(valid, tail) || len(head)+len(tail) > most {
			rt.Fatalf("%q of %q", r.Text, valid)
		}
		if gap := len(valid) - len(head) - len(tail) - left; gap != 0 && gap != 1 { // the newline before the note is not counted twice
			rt.Fatalf("%d bytes are said to be left out, %d are", left, len(valid)-len(head)-len(tail))
		}
	})
}

func TestSpill(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "out")
	long := strings.Repeat("a line of text\n", 10_000)
	d := says(t, dispatch.Output{MaxBytes: 1000, Spill: folder}, dispatch.Result{Text: long})
	names := map[string]bool{}
	for range 2 {
		r := must(t, d, one("../../evil", "say", "{}"))[0]
		data, err := os.ReadFile(r.Spilled)
		if err != nil || string(data) != long || filepath.Dir(r.Spilled) != folder || !strings.Contains(r.Text, "; all of it: "+r.Spilled+"]") {
			t.Errorf("%q %v %q", r.Spilled, err, r.Text)
		}
		names[r.Spilled] = true
		if info, err := os.Stat(r.Spilled); err != nil || info.Mode().Perm() != 0o600 {
			t.Error(info.Mode(), err)
		}
	}
	if info, err := os.Stat(folder); err != nil || info.Mode().Perm() != 0o700 || len(names) != 2 {
		t.Error(info.Mode(), err, names)
	}
	blocked := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r := must(t, says(t, dispatch.Output{MaxBytes: 1000, Spill: blocked}, dispatch.Result{Text: long}), one("i", "say", "{}"))[0]
	if r.Err != nil || r.Spilled != "" || !strings.Contains(r.Text, "could not be written") {
		t.Error(r.Err, r.Text)
	}
}

func TestMedia(t *testing.T) {
	image := func(n int) adapters.Media {
		return adapters.Media{MIMEType: "image/png", Data: base64.StdEncoding.EncodeToString(make([]byte, n))}
	}
	d := says(t, dispatch.Output{MaxMedia: 2, MaxMediaBytes: 3000}, dispatch.Result{Text: "pictures", Media: []adapters.Media{image(2000), image(4000), image(100), image(100)}})
	for _, sees := range []bool{true, false} {
		c := &dispatch.Context{}
		c.Capabilities.SupportsVision = sees
		report, err := d.Run(context.Background(), one("i", "say", "{}"), c)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(report.Results[0].Media); n != 2 {
			t.Errorf("%d media", n)
		}
		shown := report.Messages()[0].Blocks[0].Result
		want := "pictures\n[image/png, 4 KB, left out]\n[image/png, 1 KB, left out]"
		if !sees {
			want += "\n[image/png, 2 KB, not shown]\n[image/png, 1 KB, not shown]"
		}
		if shown.Text != want || (len(shown.Media) == 2) != sees || shown.CallID != "i" || shown.Name != "say" {
			t.Errorf("%q, %d media", shown.Text, len(shown.Media))
		}
	}
}

func TestMessages(t *testing.T) {
	d := drawing()
	r := parse(t, d, call("create_rectangle", `{"x": 1, "y": 2}`)+call("create_rectangl", `{}`)+
		call("set_corner_radius", `{"layer": "a", "radius": {"name": "create_rectangle", "arguments": {"x": 1, "y": 2}}}`))
	r.Rejected = append(r.Rejected, parser.Rejected{Raw: "<tool_call>{", Errors: []validator.Error{{Code: parser.CodeMalformed, Message: "it cannot be read"}}})
	report, err := d.Run(context.Background(), r, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range report.Messages() {
		switch b := m.Blocks[0]; b.Type {
		case adapters.BlockResult:
			got = append(got, fmt.Sprint(m.Role, " ", b.Result.Name, " ", b.Result.IsError))
		default:
			got = append(got, fmt.Sprint(m.Role, " ", strings.Contains(b.Text, "was not made")))
		}
	}
	want := "[tool create_rectangle false tool create_rectangl true tool set_corner_radius true user true]"
	if fmt.Sprint(got) != want {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestLookup(t *testing.T) {
	c := &dispatch.Context{
		Model: "m", Selection: []string{"a", "b"}, Viewport: map[string]any{"x": 1.5, "deep": map[string]any{"list": []any{"p"}}}, ActiveTool: "pen", Intent: "draw",
		History: []adapters.Message{
			{Role: adapters.RoleUser, Blocks: []adapters.Block{{Type: adapters.BlockText, Text: "hello"}}}, {Role: adapters.RoleAssistant},
		},
		LastCall: &dispatch.Call{}, Values: map[string]any{"layer": "bg", "a.b": "dotted", "empty": "", "null": nil},
	}
	c.LastCall.Tool, c.LastCall.Parameters = "create", map[string]any{"x": "y"}
	c.Capabilities.MaxOutputTokens = 7
	for path, want := range map[string]any{
		"model": "m", "selection.0": "a", "selection.-1": "b", "selection": []any{"a", "b"}, "viewport.x": 1.5, "viewport.deep.list.0": "p", "active_tool": "pen",
		"intent": "draw", "history.0.text": "hello", "history.-2.role": "user", "history.-1": nil, "last_call.tool": "create", "last_call.parameters.x": "y",
		"layer": "bg", "values.layer": "bg", "a.b": "dotted", "empty": nil, "null": nil, "capabilities.max_output_tokens": int64(7),
		"selection.2": nil, "selection.-3": nil, "selection.x": nil, "viewport.y": nil, "viewport.x.y": nil, "nope": nil, "history.9.text": nil, "": nil,
	} {
		got, ok := c.Lookup(path)
		if ok != (want != nil) || ok && fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %v %v, want %v", path, got, ok, want)
		}
	}
	for _, path := range []string{"selection", "viewport", "last_call", "values", "active_tool", "intent", "model", "history.0"} {
		if v, ok := (&dispatch.Context{}).Lookup(path); ok {
			t.Errorf("%s: %v", path, v)
		}
		if _, ok := (*dispatch.Context)(nil).Lookup(path); ok {
			t.Errorf("%s of nothing", path)
		}
	}
}

// TestResolvers holds that the model's own value counts before the context's, and the
// context's before a default; and that a resolver's is checked like any.
func TestResolvers(t *testing.T) {
	type in struct {
		Layer string `json:"layer,omitempty" jsonschema_extras:"x-context=selection.0"`
		Owner string `json:"owner"`
		Size  int    `json:"size,omitempty" jsonschema:"maximum=9"`
	}
	d := &dispatch.Dispatcher{}
	tool := dispatch.Handle(d, "move", func(_ context.Context, in in) (string, error) { return fmt.Sprintf("%+v", in), nil })
	tool.Resolve = map[string]dispatch.Resolver{
		"owner": func(_ context.Context, call *dispatch.Call, c *dispatch.Context) (any, error) {
			if c == nil {
				return nil, nil
			}
			if c.Intent == "fail" {
				return nil, fmt.Errorf("nobody is logged in")
			}
			return c.Intent, nil
		},
		"size": func(_ context.Context, call *dispatch.Call, c *dispatch.Context) (any, error) {
			if c != nil && c.Intent == "big" {
				return 99, nil
			}
			return nil, nil
		},
	}
	for _, tt := range []struct {
		args string
		c    *dispatch.Context
		want string
	}{
		{`{"layer": "own", "owner": "me"}`, &dispatch.Context{Selection: []string{"s"}, Intent: "i"}, "{Layer:own Owner:me Size:0}[]"},
		{`{}`, &dispatch.Context{Selection: []string{"s"}, Intent: "i"}, "{Layer:s Owner:i Size:0}[/layer /owner]"},
		{`{"owner": "me"}`, nil, "{Layer: Owner:me Size:0}[]"},
		{`{}`, nil, "invalid[]"},
		{`{}`, &dispatch.Context{Intent: "fail"}, "failed[]"},
		{`{}`, &dispatch.Context{Intent: "big"}, "invalid[/owner /size]"},
		{`{"size": 50}`, &dispatch.Context{Intent: "i"}, "rejected[]"},
	} {
		r := run(t, d, call("move", tt.args), tt.c).Results[0]
		if got := r.Text + string(code(r)) + fmt.Sprint(r.Call.Defaults); got != tt.want {
			t.Errorf("%s: %s, want %s (%v)", tt.args, got, tt.want, r.Err)
		}
	}
}

// TestContextBeforeDefault holds that the context counts before a schema's default, which
// stays where the context has nothing.
func TestContextBeforeDefault(t *testing.T) {
	d := &dispatch.Dispatcher{}
	dispatch.Handle(d, "move", func(_ context.Context, in struct {
		Layer string `json:"layer,omitempty" jsonschema:"default=none" jsonschema_extras:"x-context=selection.0"`
	},
	) (string, error) {
		return in.Layer, nil
	})
	for want, c := range map[string]*dispatch.Context{"none": nil, "s": {Selection: []string{"s"}}} {
		if r := run(t, d, call("move", "{}"), c).Results[0]; r.Text != want || fmt.Sprint(r.Call.Defaults) != "[/layer]" {
			t.Errorf("%q, want %q: %v %v", r.Text, want, r.Call.Defaults, r.Err)
		}
	}
}
