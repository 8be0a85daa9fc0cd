package conformance

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"

	adapter "github.com/callwright/callwright/adapters/openai"
)

func parameters(t *testing.T) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(weatherSpec), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestOpenAIChat(t *testing.T) {
	url, ask := server(t, adapter.Chat, byRequest)
	client := openai.NewClient(option.WithBaseURL(url+"/v1"), option.WithAPIKey("key"))
	params := openai.ChatCompletionNewParams{
		Model: "gpt-x",
		Messages: []openai.ChatCompletionMessageParamUnion{
			openai.SystemMessage("Be brief."), openai.UserMessage("Weather?"),
			{OfAssistant: &openai.ChatCompletionAssistantMessageParam{ToolCalls: []openai.ChatCompletionMessageToolCallUnionParam{{
				OfFunction: &openai.ChatCompletionMessageFunctionToolCallParam{
					ID: "c1", Function: openai.ChatCompletionMessageFunctionToolCallFunctionParam{Name: "get_weather", Arguments: `{"city":"Rome"}`},
				},
			}}}},
			openai.ToolMessage("sunny", "c1"),
		},
		Tools: []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
			Name: "get_weather", Description: openai.String("The weather."), Parameters: parameters(t),
		})},
	}
	check := func(c *openai.ChatCompletion) {
		t.Helper()
		m := c.Choices[0].Message
		if len(m.ToolCalls) != 2 {
			t.Fatalf("calls: %+v", m.ToolCalls)
		}
		a, b := m.ToolCalls[0], m.ToolCalls[1]
		said(t, m.Content, a.Function.Arguments, b.Function.Arguments, a.Function.Name, b.Function.Name)
		if a.ID != "call_one" || b.ID != "call_two" || c.Choices[0].FinishReason != "tool_calls" || c.ID != "reply_1" || c.Model != "model-1" ||
			c.Created != 1_760_000_000 {
			t.Errorf("%q %q %q %q %q %d", a.ID, b.ID, c.Choices[0].FinishReason, c.ID, c.Model, c.Created)
		}
		if c.Usage.PromptTokens != 100 || c.Usage.CompletionTokens != 50 || c.Usage.PromptTokensDetails.CachedTokens != 30 ||
			c.Usage.CompletionTokensDetails.ReasoningTokens != 10 {
			t.Errorf("usage: %+v", c.Usage)
		}
	}
	whole, err := client.Chat.Completions.New(context.Background(), params)
	if err != nil {
		t.Fatal(err)
	}
	asked(t, <-ask, "gpt-x")
	check(whole)
	params.StreamOptions.IncludeUsage = openai.Bool(true)
	stream := client.Chat.Completions.NewStreaming(context.Background(), params)
	var acc openai.ChatCompletionAccumulator
	finished := 0
	for stream.Next() {
		if !acc.AddChunk(stream.Current()) {
			t.Fatalf("the accumulator refuses %s", stream.Current().RawJSON())
		}
		if _, ok := acc.JustFinishedToolCall(); ok {
			finished++
		}
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	r := <-ask
	asked(t, r, "gpt-x")
	if !r.Stream || !r.IncludeUsage {
		t.Errorf("stream %v, usage %v", r.Stream, r.IncludeUsage)
	}
	check(&acc.ChatCompletion)
	if finished != 2 {
		t.Errorf("%d calls finished", finished)
	}
}

func TestOpenAIResponses(t *testing.T) {
	url, ask := server(t, adapter.Responses, byRequest)
	client := openai.NewClient(option.WithBaseURL(url+"/v1"), option.WithAPIKey("key"))
	params := responses.ResponseNewParams{
		Model: "gpt-x", Instructions: openai.String("Be brief."),
		Input: responses.ResponseNewParamsInputUnion{OfInputItemList: responses.ResponseInputParam{
			responses.ResponseInputItemParamOfMessage("Weather?", responses.EasyInputMessageRoleUser),
			responses.ResponseInputItemParamOfFunctionCall(`{"city":"Rome"}`, "c1", "get_weather"),
			{OfFunctionCallOutput: &responses.ResponseInputItemFunctionCallOutputParam{
				CallID: openai.String("c1"), Output: responses.ResponseInputItemFunctionCallOutputOutputUnionParam{OfString: openai.String("sunny")},
			}},
		}},
		Tools: []responses.ToolUnionParam{{OfFunction: &responses.FunctionToolParam{
			Name: "get_weather", Description: openai.String("The weather."), Parameters: parameters(t),
		}}},
	}
	check := func(r *responses.Response) {
		t.Helper()
		var calls []responses.ResponseFunctionToolCall
		reasoning := ""
		for _, item := range r.Output {
			switch v := item.AsAny().(type) {
			case responses.ResponseFunctionToolCall:
				calls = append(calls, v)
			case responses.ResponseReasoningItem:
				for _, s := range v.Summary {
					reasoning += s.Text
				}
				if v.EncryptedContent != "c2lnbmF0dXJl" {
					t.Errorf("encrypted content %q", v.EncryptedContent)
				}
			}
		}
		if len(calls) != 2 {
			t.Fatalf("output: %s", r.RawJSON())
		}
		said(t, r.OutputText(), calls[0].Arguments, calls[1].Arguments, calls[0].Name, calls[1].Name)
		if calls[0].CallID != "call_one" || reasoning != "Two cities." || r.Status != "completed" || r.ID != "reply_1" ||
			r.Usage.TotalTokens != 150 {
			t.Errorf("%q %q %q %q %+v", calls[0].CallID, reasoning, r.Status, r.ID, r.Usage)
		}
	}
	whole, err := client.Responses.New(context.Background(), params)
	if err != nil {
		t.Fatal(err)
	}
	asked(t, <-ask, "gpt-x")
	check(whole)
	stream := client.Responses.NewStreaming(context.Background(), params)
	text, arguments := "", map[int64]string{}
	var last *responses.Response
	next := int64(0)
	for stream.Next() {
		e := stream.Current()
		if e.SequenceNumber != next {
			t.Errorf("sequence number %d after %d", e.SequenceNumber, next-1)
		}
		next++
		switch v := e.AsAny().(type) {
		case responses.ResponseTextDeltaEvent:
			text += v.Delta
		case responses.ResponseFunctionCallArgumentsDeltaEvent:
			arguments[v.OutputIndex] += v.Delta
		case responses.ResponseFunctionCallArgumentsDoneEvent:
			if got := arguments[v.OutputIndex]; got != v.Arguments && got != "" {
				t.Errorf("deltas %q, done %q", got, v.Arguments)
			}
		case responses.ResponseCompletedEvent:
			last = &v.Response
		}
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	asked(t, <-ask, "gpt-x")
	if last == nil || text != wantText {
		t.Fatalf("completed %v, text %q", last != nil, text)
	}
	check(last)
}
