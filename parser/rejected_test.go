package parser_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/call"
	"github.com/callwright/callwright/internal/golden"
	"github.com/callwright/callwright/parser"
	"github.com/callwright/callwright/registry"
	"github.com/callwright/callwright/validator"
)

// TestRejectedFormat checks that what is rejected says what it was written as, in the
// words that calls have for it, whatever it is rejected for.
func TestRejectedFormat(t *testing.T) {
	p := bareCases(t)[0].Parser()
	for _, tt := range []struct {
		text string
		want call.Format
	}{
		{`<tool_call>{"name": "no_such_tool", "arguments": {}}</tool_call>`, "hermes"},
		{`<tool_call>{"name": "get_weather", "arguments": {}}</tool_call>`, "hermes"},
		{`<tool_call>{"name": "get_weather", "arguments": {"city": </tool_call>`, "hermes"},
		{`{"name": "no_such_tool", "arguments": {"a": 1}}`, call.OllamaJSON},
		{`{"name": "get_weather", "arguments": {"a": 1}}`, call.OllamaJSON},
		{"```json\n{\"name\": \"no_such_tool\", \"arguments\": {\"a\": 1}}\n```", call.MarkdownJSON},
		{"```json\n{\"name\": \"get_weather\", \"arguments\": {\"a\": 1}}\n```", call.MarkdownJSON},
	} {
		r := mustParse(t, p, tt.text, parser.Context{})
		if len(r.Rejected) != 1 || r.Rejected[0].Format != tt.want {
			t.Errorf("%s: %+v", tt.text, r.Rejected)
		}
	}
	for _, arguments := range []string{`{}`, `[1, 2, 3, 4]`, `<<<`} {
		for _, tool := range []string{"get_weather", "no_such_tool"} {
			reply := &adapters.Reply{Format: "anthropic_messages", Choices: []adapters.Choice{{Blocks: []adapters.Block{native(tool, arguments)}}}}
			r, err := p.ParseReply(context.Background(), reply, parser.Context{})
			if err != nil || len(r.Rejected) != 1 || r.Rejected[0].Format != call.ClaudeToolUse {
				t.Errorf("%s %s: %+v, %v", tool, arguments, r.Rejected, err)
			}
		}
	}
}

// TestMeant tells the calls that a model meant from those that it did not: only of the
// former it hears.
func TestMeant(t *testing.T) {
	tools, err := registry.New(
		registry.Tool{Name: "get_weather", Parameters: map[string]any{
			"type": "object", "properties": map[string]any{"city": map[string]any{"type": "string"}}, "required": []any{"city"},
		}},
		registry.Tool{Name: "delete_all", RequireMarker: true},
	)
	if err != nil {
		t.Fatal(err)
	}
	call := `{"name": "get_weather", "arguments": {"city": "Rome"}}`
	for _, tt := range []struct {
		name, text string
		o          parser.Options
		c          parser.Context
		reason     validator.Code
		meant      bool
	}{
		{name: "unknown", text: `<tool_call>{"name": "rm", "arguments": {}}</tool_call>`, reason: validator.UnknownTool, meant: true},
		{name: "missing", text: `<tool_call>{"name": "get_weather", "arguments": {}}</tool_call>`, reason: validator.RequiredParameterMissing, meant: true},
		{name: "cut off", text: `<tool_call>{"name": "get_weather", "arguments": {"city": "Ro`, reason: parser.CodeTruncated, meant: true},
		{name: "broken", text: `<tool_call>{"name": "get_weather", "arguments": {{city}}}</tool_call>`, o: parser.Options{NoRepairs: true}, reason: parser.CodeMalformed, meant: true},
		{name: "code", text: `[get_weather(city=f(1) if x else y)]`, reason: parser.CodeExpression, meant: true},
		{name: "too many", text: call + "\n" + call, o: parser.Options{MaxCalls: 1}, reason: parser.CodeTooManyCalls, meant: true},
		{name: "strict", text: `<tool_call>{name: "get_weather", "arguments": {"city": "Rome"}}</tool_call>`, o: parser.Options{StrictMode: true}, reason: parser.CodeStrict, meant: true},
		{name: "draft", text: "<think><tool_call>" + call + "</tool_call></think>No.", reason: parser.CodeInReasoning},
		{name: "example", text: "For example: " + call + " is how it looks.", reason: parser.CodeLowConfidence},
		{name: "echo", text: call, c: parser.Context{Prompt: []string{"Say " + call}}, reason: parser.CodeEcho},
		{name: "guarded", text: `{"name": "delete_all", "arguments": {}}`, reason: parser.CodeMarkerRequired},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := mustParse(t, mustParser(t, tools, tt.o), tt.text, tt.c)
			if len(r.Rejected) != 1 {
				t.Fatalf("%+v", r)
			}
			x := &r.Rejected[0]
			if x.Reason() != tt.reason || x.Meant() != tt.meant || (r.Feedback() != "") != tt.meant {
				t.Errorf("rejected for %s, meant: %v, feedback %q", x.Reason(), x.Meant(), r.Feedback())
			}
		})
	}
	if x := (&parser.Rejected{}); x.Reason() != "" || x.Meant() {
		t.Error("nothing was meant")
	}
}

// TestDropReasons checks that what is dropped of the golden texts is dropped for a
// reason that has a name.
func TestDropReasons(t *testing.T) {
	if golden.Updating() {
		t.Skip("the golden files are being rewritten")
	}
	named := []parser.DropReason{
		parser.DroppedWhiteSpace, parser.DroppedTurnMarker, parser.DroppedSectionMarker, parser.DroppedDoubledMarker, parser.DroppedClosingMarker,
		parser.DroppedReasoningMarker, parser.DroppedMessageHeader, parser.DroppedWrapper, parser.DroppedFence, parser.DroppedNoCall,
		parser.DroppedInventedResult, parser.DroppedInventedObservation,
	}
	var mu sync.Mutex
	seen := map[parser.DropReason]bool{}
	for _, d := range parse(t, newCase(t), `<tool_call><tool_call>{"name": "list_rooms", "arguments": {}}</tool_call>`).Dropped {
		seen[d.Why] = true
	}
	t.Run("texts", func(t *testing.T) {
		eachCase(t, func(t *testing.T, c *golden.Case) {
			for _, d := range parse(t, c, c.Text).Dropped {
				if !slices.Contains(named, d.Why) {
					t.Errorf("dropped as %q", d.Why)
				}
				mu.Lock()
				seen[d.Why] = true
				mu.Unlock()
			}
		})
	})
	for _, why := range named {
		if !seen[why] {
			t.Errorf("nothing is dropped as %q", why)
		}
	}
}
