package parser_test

import (
	"context"
	"testing"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/normalizer"
	"github.com/callwright/callwright/parser"
)

// TestRejectedFormat checks that what is rejected says what it was written as, in the
// words that calls have for it, whatever it is rejected for.
func TestRejectedFormat(t *testing.T) {
	p := bareCases(t)[0].Parser()
	for _, tt := range []struct {
		text string
		want normalizer.Format
	}{
		{`<tool_call>{"name": "no_such_tool", "arguments": {}}</tool_call>`, "hermes"},
		{`<tool_call>{"name": "get_weather", "arguments": {}}</tool_call>`, "hermes"},
		{`<tool_call>{"name": "get_weather", "arguments": {"city": </tool_call>`, "hermes"},
		{`{"name": "no_such_tool", "arguments": {"a": 1}}`, normalizer.OllamaJSON},
		{`{"name": "get_weather", "arguments": {"a": 1}}`, normalizer.OllamaJSON},
		{"```json\n{\"name\": \"no_such_tool\", \"arguments\": {\"a\": 1}}\n```", normalizer.MarkdownJSON},
		{"```json\n{\"name\": \"get_weather\", \"arguments\": {\"a\": 1}}\n```", normalizer.MarkdownJSON},
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
			if err != nil || len(r.Rejected) != 1 || r.Rejected[0].Format != normalizer.ClaudeToolUse {
				t.Errorf("%s %s: %+v, %v", tool, arguments, r.Rejected, err)
			}
		}
	}
}
