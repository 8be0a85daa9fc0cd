package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/anthropics/anthropic-sdk-go"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/option"
	"github.com/ollama/ollama/api"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"
	"google.golang.org/genai"

	"github.com/callwright/callwright/config"
	"github.com/callwright/callwright/interceptor"
	"github.com/callwright/callwright/internal/ollamatest"
)

const (
	firstWords = "I will look it up."
	lastWords  = "It is sunny in Rome today."
	question   = "How is the weather in Rome?"
)

// models are the kinds of models that clients meet, each with a whole conversation.
func models(t *testing.T) (upstream string, names []string) {
	t.Helper()
	s := ollamatest.Start(t)
	call := firstWords + "\n<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Rome\", \"days\": 2}}\n</tool_call>"
	broken := firstWords + "\n<tool_call>\n{name: \"get_weather\", \"arguments\": {\"city\": \"Rome\", \"days\": \"2\",}}\n</tool_call>"
	s.Dialogue(t, "without-tools", call, lastWords, "")
	s.Dialogue(t, "leaks", call, lastWords, ollamatest.ToolTemplate)
	s.Dialogue(t, "broken", broken, lastWords, "")
	return s.URL, []string{"without-tools", "leaks", "broken"}
}

// proxied starts an interceptor.
func proxied(t *testing.T, upstream string) string {
	t.Helper()
	c := config.Default()
	c.Server.Upstream = upstream
	h, err := interceptor.New(c, interceptor.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(h)
	t.Cleanup(func() { s.Close(); h.Close() })
	return s.URL
}

// loop is what came of a whole tool loop.
type loop struct {
	Text   string
	Calls  []loopCall
	Finish string
	Answer string
}

type loopCall struct {
	Name string
	Args struct {
		City string
		Days int
	}
	ID bool
}

func (l *loop) check(t *testing.T, finish ...string) {
	t.Helper()
	if len(l.Calls) != 1 || l.Calls[0].Name != "get_weather" || l.Calls[0].Args.City != "Rome" || l.Calls[0].Args.Days != 2 || !l.Calls[0].ID {
		t.Errorf("calls %+v", l.Calls)
	}
	if strings.TrimSpace(l.Text) != firstWords || strings.TrimSpace(l.Answer) != lastWords {
		t.Errorf("text %q, answer %q", l.Text, l.Answer)
	}
	for _, f := range finish {
		if l.Finish == f {
			return
		}
	}
	t.Errorf("ends with %q", l.Finish)
}

func (l *loop) call(t *testing.T, name, args, id string) string {
	t.Helper()
	c := loopCall{Name: name, ID: id != ""}
	if err := json.Unmarshal([]byte(args), &c.Args); err != nil {
		t.Fatalf("%v: %s", err, args)
	}
	l.Calls = append(l.Calls, c)
	return "sunny in " + c.Args.City
}

// TestGoClients has the official Go clients do a whole tool loop through the interceptor.
func TestGoClients(t *testing.T) {
	upstream, names := models(t)
	base := proxied(t, upstream)
	for _, model := range names {
		for _, stream := range []bool{false, true} {
			name := fmt.Sprintf("%s/stream=%v", model, stream)
			t.Run("openai-go/chat/"+name, func(t *testing.T) { openAIChatLoop(t, base, model, stream).check(t, "tool_calls") })
			t.Run("openai-go/responses/"+name, func(t *testing.T) { openAIResponsesLoop(t, base, model, stream).check(t, "completed") })
			t.Run("anthropic-sdk-go/"+name, func(t *testing.T) { anthropicLoop(t, base, model, stream).check(t, "tool_use") })
			t.Run("genai/"+name, func(t *testing.T) { geminiLoop(t, base, model, stream).check(t, "STOP") })
			t.Run("ollama-api/"+name, func(t *testing.T) { ollamaLoop(t, base, model, stream).check(t, "stop", "tool_calls") })
		}
	}
}

func openAIChatLoop(t *testing.T, base, model string, stream bool) *loop {
	client := openai.NewClient(option.WithBaseURL(base+"/v1"), option.WithAPIKey("none"), option.WithMaxRetries(0))
	params := openai.ChatCompletionNewParams{
		Model: model, Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(question)},
		Tools: []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
			Name: "get_weather", Parameters: parameters(t),
		})},
	}
	ask := func() openai.ChatCompletionChoice {
		if !stream {
			c, err := client.Chat.Completions.New(context.Background(), params)
			if err != nil {
				t.Fatal(err)
			}
			return c.Choices[0]
		}
		s := client.Chat.Completions.NewStreaming(context.Background(), params)
		defer s.Close()
		var acc openai.ChatCompletionAccumulator
		for s.Next() {
			if !acc.AddChunk(s.Current()) {
				t.Fatal("a chunk does not fit")
			}
		}
		if s.Err() != nil {
			t.Fatal(s.Err())
		}
		return acc.Choices[0]
	}
	var l loop
	first := ask()
	l.Text, l.Finish = first.Message.Content, first.FinishReason
	params.Messages = append(params.Messages, first.Message.ToParam())
	for _, c := range first.Message.ToolCalls {
		params.Messages = append(params.Messages, openai.ToolMessage(l.call(t, c.Function.Name, c.Function.Arguments, c.ID), c.ID))
	}
	l.Answer = ask().Message.Content
	return &l
}

func openAIResponsesLoop(t *testing.T, base, model string, stream bool) *loop {
	client := openai.NewClient(option.WithBaseURL(base+"/v1"), option.WithAPIKey("none"), option.WithMaxRetries(0))
	input := responses.ResponseInputParam{responses.ResponseInputItemParamOfMessage(question, responses.EasyInputMessageRoleUser)}
	ask := func() *responses.Response {
		params := responses.ResponseNewParams{
			Model: model, Input: responses.ResponseNewParamsInputUnion{OfInputItemList: input},
			Tools: []responses.ToolUnionParam{responses.ToolParamOfFunction("get_weather", parameters(t), false)},
		}
		if !stream {
			r, err := client.Responses.New(context.Background(), params)
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		s := client.Responses.NewStreaming(context.Background(), params)
		defer s.Close()
		var last *responses.Response
		for s.Next() {
			if e := s.Current(); e.Type == "response.completed" {
				r := e.AsResponseCompleted().Response
				last = &r
			}
		}
		if s.Err() != nil || last == nil {
			t.Fatal("no response", s.Err())
		}
		return last
	}
	var l loop
	first := ask()
	l.Text, l.Finish = first.OutputText(), string(first.Status)
	for _, item := range first.Output {
		if item.Type == "function_call" {
			c := item.AsFunctionCall()
			input = append(input, responses.ResponseInputItemParamOfFunctionCall(c.Arguments, c.CallID, c.Name))
			output := responses.ResponseInputItemParamOfFunctionCallOutput(l.call(t, c.Name, c.Arguments, c.CallID))
			output.OfFunctionCallOutput.CallID = openai.String(c.CallID)
			input = append(input, output)
		}
	}
	l.Answer = ask().OutputText()
	return &l
}

func anthropicLoop(t *testing.T, base, model string, stream bool) *loop {
	client := anthropic.NewClient(anthropicoption.WithBaseURL(base), anthropicoption.WithAPIKey("none"), anthropicoption.WithMaxRetries(0))
	properties, _ := parameters(t)["properties"].(map[string]any)
	tool := anthropic.ToolUnionParamOfTool(anthropic.ToolInputSchemaParam{Properties: properties, Required: []string{"city"}}, "get_weather")
	params := anthropic.MessageNewParams{
		Model: anthropic.Model(model), MaxTokens: 500, Tools: []anthropic.ToolUnionParam{tool},
		Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(question))},
	}
	ask := func() *anthropic.Message {
		if !stream {
			m, err := client.Messages.New(context.Background(), params)
			if err != nil {
				t.Fatal(err)
			}
			return m
		}
		s := client.Messages.NewStreaming(context.Background(), params)
		defer s.Close()
		var m anthropic.Message
		for s.Next() {
			if err := m.Accumulate(s.Current()); err != nil {
				t.Fatal(err)
			}
		}
		if s.Err() != nil {
			t.Fatal(s.Err())
		}
		return &m
	}
	text := func(m *anthropic.Message) (s string) {
		for _, b := range m.Content {
			s += b.Text
		}
		return s
	}
	var l loop
	first := ask()
	l.Text, l.Finish = text(first), string(first.StopReason)
	params.Messages = append(params.Messages, first.ToParam())
	var results []anthropic.ContentBlockParamUnion
	for _, b := range first.Content {
		if b.Type == "tool_use" {
			results = append(results, anthropic.NewToolResultBlock(b.ID, l.call(t, b.Name, string(b.Input), b.ID), false))
		}
	}
	params.Messages = append(params.Messages, anthropic.NewUserMessage(results...))
	l.Answer = text(ask())
	return &l
}

func geminiLoop(t *testing.T, base, model string, stream bool) *loop {
	ctx := context.Background()
	client, err := genai.NewClient(
		ctx, &genai.ClientConfig{APIKey: "key", Backend: genai.BackendGeminiAPI, HTTPOptions: genai.HTTPOptions{BaseURL: base}},
	)
	if err != nil {
		t.Fatal(err)
	}
	config := &genai.GenerateContentConfig{Tools: []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{
		Name: "get_weather", Description: "The weather.", ParametersJsonSchema: parameters(t),
	}}}}}
	contents := []*genai.Content{genai.NewContentFromText(question, genai.RoleUser)}
	ask := func() (parts []*genai.Part, finish string) {
		if !stream {
			r, err := client.Models.GenerateContent(ctx, model, contents, config)
			if err != nil {
				t.Fatal(err)
			}
			return r.Candidates[0].Content.Parts, string(r.Candidates[0].FinishReason)
		}
		for r, err := range client.Models.GenerateContentStream(ctx, model, contents, config) {
			if err != nil {
				t.Fatal(err)
			}
			parts = append(parts, r.Candidates[0].Content.Parts...)
			finish = string(r.Candidates[0].FinishReason)
		}
		return parts, finish
	}
	var l loop
	first, finish := ask()
	l.Finish = finish
	contents = append(contents, &genai.Content{Role: genai.RoleModel, Parts: first})
	for _, p := range first {
		l.Text += p.Text
		if c := p.FunctionCall; c != nil {
			args, err := json.Marshal(c.Args)
			if err != nil {
				t.Fatal(err)
			}
			result := l.call(t, c.Name, string(args), c.ID)
			contents = append(contents, &genai.Content{Role: genai.RoleUser, Parts: []*genai.Part{{FunctionResponse: &genai.FunctionResponse{
				ID: c.ID, Name: c.Name, Response: map[string]any{"result": result},
			}}}})
		}
	}
	last, _ := ask()
	for _, p := range last {
		l.Answer += p.Text
	}
	return &l
}

func ollamaLoop(t *testing.T, base, model string, stream bool) *loop {
	u, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	client := api.NewClient(u, http.DefaultClient)
	var tool api.Tool
	if err := json.Unmarshal(
		[]byte(`{"type":"function","function":{"name":"get_weather","description":"The weather","parameters":`+weatherSpec+`}}`), &tool,
	); err != nil {
		t.Fatal(err)
	}
	messages := []api.Message{{Role: "user", Content: question}}
	ask := func() (m api.Message, reason string) {
		err := client.Chat(context.Background(), &api.ChatRequest{
			Model: model, Messages: messages, Tools: api.Tools{tool}, Stream: &stream,
		}, func(r api.ChatResponse) error {
			m.Role = r.Message.Role
			m.Content += r.Message.Content
			m.ToolCalls = append(m.ToolCalls, r.Message.ToolCalls...)
			if r.Done {
				reason = r.DoneReason
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return m, reason
	}
	var l loop
	first, reason := ask()
	l.Text, l.Finish = first.Content, reason
	messages = append(messages, first)
	for _, c := range first.ToolCalls {
		messages = append(
			messages,
			api.Message{Role: "tool", ToolName: c.Function.Name, Content: l.call(t, c.Function.Name, c.Function.Arguments.String(), "none")},
		)
	}
	last, _ := ask()
	l.Answer = last.Content
	return &l
}

// TestNodeClients has the clients of the npm registry do a whole tool loop through the
// interceptor. "npm ci" in the folder clients makes them present.
func TestNodeClients(t *testing.T) {
	if _, err := os.Stat("clients/node_modules"); err != nil {
		t.Skip("skipped: the clients are not there; run npm ci in conformance/clients")
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("skipped: there is no node")
	}
	upstream, names := models(t)
	base := proxied(t, upstream)
	for client, finish := range map[string][]string{
		"openai": {"tool_calls"}, "responses": {"completed"}, "anthropic": {"tool_use"}, "ollama": {"stop", "tool_calls"}, "ai": {"tool-calls"},
	} {
		for _, model := range names {
			for _, how := range []string{"whole", "stream"} {
				t.Run(client+"/"+model+"/"+how, func(t *testing.T) {
					ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
					defer cancel()
					c := exec.CommandContext(ctx, node, "loop.mjs", client, base, model, how)
					c.Dir = "clients"
					var stderr strings.Builder
					c.Stderr = &stderr
					out, err := c.Output()
					if err != nil {
						t.Fatalf("%v\n%s", err, stderr.String())
					}
					var l loop
					if err := json.Unmarshal(out, &l); err != nil {
						t.Fatalf("%v: %s", err, out)
					}
					l.check(t, finish...)
				})
			}
		}
	}
}
