package conformance

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"testing"

	"github.com/ollama/ollama/api"

	adapter "github.com/callwright/callwright/adapters/ollama"
)

func ollamaClient(t *testing.T, address string) *api.Client {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return api.NewClient(u, http.DefaultClient)
}

func TestOllamaChat(t *testing.T) {
	address, ask := server(t, adapter.Chat, byRequest)
	client := ollamaClient(t, address)
	var tool api.Tool
	if err := json.Unmarshal(
		[]byte(`{"type":"function","function":{"name":"get_weather","description":"The weather.","parameters":`+weatherSpec+`}}`), &tool,
	); err != nil {
		t.Fatal(err)
	}
	var call api.ToolCall
	if err := json.Unmarshal([]byte(`{"id":"c1","function":{"name":"get_weather","arguments":{"city":"Rome"}}}`), &call); err != nil {
		t.Fatal(err)
	}
	for _, stream := range []bool{false, true} {
		var text, thinking, done string
		var arguments, names, ids []string
		var last api.ChatResponse
		err := client.Chat(context.Background(), &api.ChatRequest{
			Model: "llama-x", Stream: &stream, Tools: api.Tools{tool},
			Messages: []api.Message{
				{Role: "system", Content: "Be brief."},
				{Role: "user", Content: "Weather?"},
				{Role: "assistant", ToolCalls: []api.ToolCall{call}},
				{Role: "tool", Content: "sunny", ToolName: "get_weather", ToolCallID: "c1"},
			},
		}, func(r api.ChatResponse) error {
			text += r.Message.Content
			thinking += r.Message.Thinking
			done = r.DoneReason
			last = r
			for _, c := range r.Message.ToolCalls {
				args, _ := json.Marshal(c.Function.Arguments)
				arguments, names, ids = append(arguments, string(args)), append(names, c.Function.Name), append(ids, c.ID)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		r := <-ask
		asked(t, r, "llama-x")
		if r.Stream != stream {
			t.Errorf("stream %v", r.Stream)
		}
		if len(names) != 2 {
			t.Fatalf("calls: %q", names)
		}
		said(t, text, arguments[0], arguments[1], names...)
		if thinking != "Two cities." || done != "stop" || ids[0] != "call_one" || !last.Done || last.EvalCount != 50 ||
			last.PromptEvalCount != 100 || last.Model != "model-1" {
			t.Errorf("%q %q %q %+v", thinking, done, ids, last)
		}
	}
}

func TestOllamaGenerate(t *testing.T) {
	address, ask := server(t, adapter.Generate, byRequest)
	client := ollamaClient(t, address)
	for _, stream := range []bool{false, true} {
		var text string
		var last api.GenerateResponse
		err := client.Generate(context.Background(), &api.GenerateRequest{
			Model: "llama-x", Prompt: "Weather?", System: "Be brief.", Stream: &stream,
		}, func(r api.GenerateResponse) error {
			text += r.Response
			last = r
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if r := <-ask; r.Model != "llama-x" || len(r.Messages) != 2 || r.Messages[1].Text() != "Weather?" {
			t.Errorf("asked: %+v", r)
		}
		if len(text) < len(wantText) || text[:len(wantText)] != wantText || !last.Done || last.EvalCount != 50 {
			t.Errorf("%q %+v", text, last)
		}
	}
}
