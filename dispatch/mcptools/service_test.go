package mcptools_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/callwright/callwright/call"
	"github.com/callwright/callwright/dispatch"
	"github.com/callwright/callwright/dispatch/mcptools"
	"github.com/callwright/callwright/parser"
	"github.com/callwright/callwright/registry"
)

// TestService holds that a service offers what is allowed, under names that the client
// does not have, and runs nothing else.
func TestService(t *testing.T) {
	ctx := context.Background()
	set, err := mcptools.Open(ctx, mcptools.Server{Name: "files", Transport: inMemory(t, new(atomic.Int32)), Allow: []string{"read_*", "fail", "mixed"}})
	if err != nil || len(set.Failed) > 0 {
		t.Fatal(err, set.Failed)
	}
	defer func() { _ = set.Close() }()
	s, err := mcptools.NewService(set, &dispatch.Dispatcher{Policy: dispatch.Policy{Rules: []dispatch.Rule{
		{Tool: "*__mixed", Do: dispatch.Deny},
		{Tool: "*__read_lines", Arguments: map[string]string{"/path": "/etc/*"}, Do: dispatch.Deny, Why: "that is the system's"},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	o := s.Offer(func(name string) bool { return name == "files__read_lines" })
	var names []string
	for _, x := range o.Tools {
		names = append(names, x.Name)
	}
	if len(names) != 2 || !o.Has("files__read_lines_2") || !o.Has("files__fail") || o.Has("files__read_lines") || o.Has("files__mixed") || o.Has("files__delete") {
		t.Fatal(names)
	}
	tools, err := registry.New(o.Tools...)
	if err != nil {
		t.Fatal(err)
	}
	p, err := parser.New(tools, parser.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Parse(ctx, `<tool_call>{"name": "files__read_lines_2", "arguments": {"path": "a", "count": "2"}}</tool_call>
		<tool_call>{"name": "files__read_lines_2", "arguments": {"path": "/etc/passwd"}}</tool_call><tool_call>{"name": "files__fail", "arguments": {}}</tool_call>`, parser.Context{})
	if err != nil || len(r.Calls) != 3 {
		t.Fatal(err, r.Rejected)
	}
	stranger := parser.Call{}
	stranger.ID, stranger.Tool, stranger.Provenance, stranger.Confidence = "x", "files__delete", call.Native, 1
	report, err := o.Run(ctx, append(r.Calls, stranger))
	if err != nil || len(report.Results) != 4 {
		t.Fatal(err, report)
	}
	for i, want := range []string{`{"lines":2,"path":"a"}`, "denied", "no paper", "no tool"} {
		x := &report.Results[i]
		got := x.Text
		if x.Err != nil {
			got = x.Err.Error()
		}
		if !strings.Contains(got, want) || i < 3 && x.Call.Tool != r.Calls[i].Tool {
			t.Errorf("%s: %q, want %q", x.Call.Tool, got, want)
		}
	}
	if m := report.Messages(); m[0].Blocks[0].Result.Name != "files__read_lines_2" {
		t.Error(m[0].Blocks[0].Result)
	}
	if o := s.Offer(nil); !o.Has("files__read_lines") {
		t.Error("nobody has taken the name")
	}
	if _, err := mcptools.NewService(set, &dispatch.Dispatcher{Policy: dispatch.Policy{Rules: []dispatch.Rule{{Do: "maybe"}}}}); err == nil {
		t.Error("there is no such decision")
	}
}
