package conformance

import (
	"context"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	adapter "github.com/callwright/callwright/adapters/anthropic"
)

func TestAnthropic(t *testing.T) {
	url, ask := server(t, adapter.Messages, byRequest)
	client := anthropic.NewClient(option.WithBaseURL(url), option.WithAPIKey("key"))
	params := anthropic.MessageNewParams{
		Model: "claude-x", MaxTokens: 100, System: []anthropic.TextBlockParam{{Text: "Be brief."}},
		Messages: []anthropic.MessageParam{
			anthropic.NewUserMessage(anthropic.NewTextBlock("Weather?")),
			anthropic.NewAssistantMessage(anthropic.NewToolUseBlock("toolu_1", map[string]any{"city": "Rome"}, "get_weather")),
			anthropic.NewUserMessage(anthropic.NewToolResultBlock("toolu_1", "sunny", false)),
		},
		Tools: []anthropic.ToolUnionParam{{OfTool: &anthropic.ToolParam{
			Name: "get_weather", Description: anthropic.String("The weather."),
			InputSchema: anthropic.ToolInputSchemaParam{Properties: parameters(t)["properties"], Required: []string{"city"}},
		}}},
	}
	check := func(m *anthropic.Message) {
		t.Helper()
		var text, thinking, signature string
		var uses []anthropic.ToolUseBlock
		for _, b := range m.Content {
			switch v := b.AsAny().(type) {
			case anthropic.TextBlock:
				text += v.Text
			case anthropic.ThinkingBlock:
				thinking, signature = v.Thinking, v.Signature
			case anthropic.ToolUseBlock:
				uses = append(uses, v)
			}
		}
		if len(uses) != 2 {
			t.Fatalf("content: %s", m.RawJSON())
		}
		said(t, text, string(uses[0].Input), string(uses[1].Input), uses[0].Name, uses[1].Name)
		if uses[0].ID != "call_one" || thinking != "Two cities." || signature != "c2lnbmF0dXJl" || m.StopReason != "tool_use" ||
			m.ID != "reply_1" || m.Model != "model-1" {
			t.Errorf("%q %q %q %q %q %q", uses[0].ID, thinking, signature, m.StopReason, m.ID, m.Model)
		}
		if m.Usage.OutputTokens != 50 || m.Usage.InputTokens != 70 || m.Usage.CacheReadInputTokens != 30 {
			t.Errorf("usage: %+v", m.Usage)
		}
	}
	whole, err := client.Messages.New(context.Background(), params)
	if err != nil {
		t.Fatal(err)
	}
	asked(t, <-ask, "claude-x")
	check(whole)
	stream := client.Messages.NewStreaming(context.Background(), params)
	var m anthropic.Message
	for stream.Next() {
		if err := m.Accumulate(stream.Current()); err != nil {
			t.Fatal(err)
		}
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	asked(t, <-ask, "claude-x")
	check(&m)
}
