package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strconv"
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
)

const (
	wholeArgs = `{"path":"a","content":"half of it"}`
	cutArgs   = `{"path":"a","content":"half`
	cutText   = `<tool_call>{"name":"write_file","arguments":` + cutArgs
	wholeText = `<tool_call>{"name":"write_file","arguments":` + wholeArgs + `}</tool_call>`
	fileSpec  = `{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},"required":["path","content"]}`
	writeIt   = "Write the file."
)

// cutModels are the upstream's models: where the call is and how the reply ends. The call of
// all is cut off but that of those that end with "whole", which shows that the clients see
// a call at all.
var cutModels = []string{
	"text-length", "text-stop", "text-broken", "text-whole",
	"native-length", "native-stop", "native-tool_calls", "native-broken", "native-whole",
}

// cutUpstream is a server of OpenAI's format that writes what it is told to: its model's
// name says what.
func cutUpstream(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var ask struct {
			Model  string `json:"model"`
			Stream bool   `json:"stream"`
		}
		if err == nil {
			err = json.Unmarshal(body, &ask)
		}
		where, end, ok := strings.Cut(ask.Model, "-")
		if r.URL.Path != "/v1/chat/completions" || err != nil || !ok {
			http.NotFound(w, r)
			return
		}
		if ask.Stream {
			cutStream(w, where, end)
		} else {
			cutWhole(w, where, end)
		}
		if end == "broken" {
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// cutReply is what a model says, its text or its call's arguments, and its finish reason.
func cutReply(where, end string) (content, finish string) {
	switch {
	case end == "whole" && where == "text":
		return wholeText, "stop"
	case end == "whole":
		return wholeArgs, "tool_calls"
	case where == "text":
		return cutText, end
	}
	return cutArgs, end
}

func cutWhole(w http.ResponseWriter, where, end string) {
	content, finish := cutReply(where, end)
	message := `{"role":"assistant","content":` + strconv.Quote(content) + `}`
	if where == "native" {
		message = `{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"write_file","arguments":` +
			strconv.Quote(content) + `}}]}`
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"id":"r","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":`+message)
	if end != "broken" {
		_, _ = io.WriteString(w, `,"finish_reason":"`+finish+`"}]}`)
	}
}

func cutStream(w http.ResponseWriter, where, end string) {
	content, finish := cutReply(where, end)
	w.Header().Set("Content-Type", "text/event-stream")
	chunk := func(delta, finish string) {
		_, _ = io.WriteString(w, `data: {"id":"r","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":`+
			delta+`,"finish_reason":`+finish+`}]}`+"\n\n")
		_ = http.NewResponseController(w).Flush()
	}
	chunk(`{"role":"assistant"}`, "null")
	if where == "native" {
		chunk(`{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"write_file","arguments":""}}]}`, "null")
	}
	for piece := range slices.Chunk([]byte(content), 7) {
		quoted := strconv.Quote(string(piece))
		if where == "native" {
			chunk(`{"tool_calls":[{"index":0,"function":{"arguments":`+quoted+`}}]}`, "null")
		} else {
			chunk(`{"content":`+quoted+`}`, "null")
		}
	}
	if end != "broken" {
		chunk(`{}`, strconv.Quote(finish))
		_, _ = io.WriteString(w, "data: [DONE]\n\n")
	}
}

// cutProxy starts an interceptor in front of cutUpstream.
func cutProxy(t *testing.T) string {
	t.Helper()
	c := config.Default()
	c.Server.Upstream, c.Server.UpstreamFormat = cutUpstream(t), "openai"
	h, err := interceptor.New(c, interceptor.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(h)
	t.Cleanup(func() { s.Close(); h.Close() })
	return s.URL
}

// outcome is what a client has of one reply.
type outcome struct {
	Text   string
	Calls  []string // the arguments of the calls that an agent would run, as the client has them
	Finish string
	Error  string
}

// completers are the clients that make whole JSON, or {}, of streamed arguments that were
// cut off, whoever wrote them. What they have looks like a call: only the end tells that it
// is none, as it does where they speak to their provider.
//   - anthropic-sdk-go: Message.Accumulate sets an input that is no JSON to {}.
//   - anthropic, langchain, langchain-responses: they parse what has come as partial JSON.
var completers = []string{"anthropic-sdk-go", "anthropic", "langchain", "langchain-responses"}

// deafClient passes over the events "error" and "response.failed": where a stream broke off
// it has neither an error nor a status.
const deafClient = "langchain-responses"

// check holds what a client has to what the model said.
func (o *outcome) check(t *testing.T, client, model string, stream bool) {
	t.Helper()
	where, end, _ := strings.Cut(model, "-")
	var runs []string
	for _, args := range o.Calls {
		if args == "" || json.Valid([]byte(args)) {
			runs = append(runs, args)
		}
	}
	if end == "whole" {
		if o.Error != "" || len(runs) == 0 || slices.ContainsFunc(runs, func(s string) bool { return !same(t, s, wholeArgs) }) {
			t.Errorf("the whole call: %+v", o)
		}
		return
	}
	if len(runs) > 0 && (where != "native" || !stream || !slices.Contains(completers, client)) {
		t.Errorf("a half call looks whole: %+v", o)
	}
	switch {
	case end == "broken" && stream && client == deafClient:
		if o.Finish != "" {
			t.Errorf("the stream broke, and it ends with %q: %+v", o.Finish, o)
		}
	case end == "broken":
		if o.Error == "" {
			t.Errorf("the stream broke, and there is no error: %+v", o)
		}
	case o.Error != "":
		t.Errorf("it fails: %+v", o)
	case slices.Contains([]string{"length", "max_tokens", "MAX_TOKENS", "incomplete"}, o.Finish):
	case where == "text" && end == "stop" && strings.Contains(o.Text, cutText): // it stays text
	default:
		t.Errorf("it says that it is complete: %+v", o)
	}
}

// failed notes the error of a client.
func (o *outcome) failed(err error) *outcome {
	if err != nil {
		o.Error = err.Error()
	}
	return o
}

// TestHalfCallsGo has the official Go clients read replies whose call is cut off.
func TestHalfCallsGo(t *testing.T) {
	base := cutProxy(t)
	for name, ask := range map[string]func(*testing.T, string, string, bool) *outcome{
		"openai-go/chat": cutOpenAIChat, "openai-go/responses": cutOpenAIResponses, "anthropic-sdk-go": cutAnthropic,
		"genai": cutGemini, "ollama-api": cutOllama,
	} {
		for _, model := range cutModels {
			for _, stream := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%s/stream=%v", name, model, stream), func(t *testing.T) {
					ask(t, base, model, stream).check(t, name, model, stream)
				})
			}
		}
	}
}

func fileParameters(t *testing.T) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(fileSpec), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func cutOpenAIChat(t *testing.T, base, model string, stream bool) *outcome {
	client := openai.NewClient(option.WithBaseURL(base+"/v1"), option.WithAPIKey("none"), option.WithMaxRetries(0))
	params := openai.ChatCompletionNewParams{
		Model: model, Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(writeIt)},
		Tools: []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
			Name: "write_file", Parameters: fileParameters(t),
		})},
	}
	var o outcome
	read := func(c *openai.ChatCompletion) {
		for _, choice := range c.Choices {
			o.Text, o.Finish = choice.Message.Content, choice.FinishReason
			for _, call := range choice.Message.ToolCalls {
				o.Calls = append(o.Calls, call.Function.Arguments)
			}
		}
	}
	if !stream {
		c, err := client.Chat.Completions.New(context.Background(), params)
		if err == nil {
			read(c)
		}
		return o.failed(err)
	}
	s := client.Chat.Completions.NewStreaming(context.Background(), params)
	defer func() { _ = s.Close() }()
	var acc openai.ChatCompletionAccumulator
	for s.Next() {
		if !acc.AddChunk(s.Current()) {
			t.Fatal("a chunk does not fit")
		}
		if call, ok := acc.JustFinishedToolCall(); ok {
			o.Calls = append(o.Calls, call.Arguments)
		}
	}
	read(&acc.ChatCompletion)
	return o.failed(s.Err())
}

func cutOpenAIResponses(t *testing.T, base, model string, stream bool) *outcome {
	client := openai.NewClient(option.WithBaseURL(base+"/v1"), option.WithAPIKey("none"), option.WithMaxRetries(0))
	params := responses.ResponseNewParams{
		Model: model, Input: responses.ResponseNewParamsInputUnion{OfString: openai.String(writeIt)},
		Tools: []responses.ToolUnionParam{responses.ToolParamOfFunction("write_file", fileParameters(t), false)},
	}
	var o outcome
	item := func(i responses.ResponseOutputItemUnion) {
		if i.Type == "function_call" {
			o.Calls = append(o.Calls, i.AsFunctionCall().Arguments)
		}
	}
	read := func(r *responses.Response) {
		o.Text, o.Finish = r.OutputText(), string(r.Status)
		for _, i := range r.Output {
			item(i)
		}
		if r.Status == "failed" {
			o.Error = "failed: " + r.Error.Message
		}
	}
	if !stream {
		r, err := client.Responses.New(context.Background(), params)
		if err == nil {
			read(r)
		}
		return o.failed(err)
	}
	s := client.Responses.NewStreaming(context.Background(), params)
	defer func() { _ = s.Close() }()
	for s.Next() {
		switch e := s.Current().AsAny().(type) {
		case responses.ResponseFunctionCallArgumentsDoneEvent:
			o.Calls = append(o.Calls, e.Arguments)
		case responses.ResponseOutputItemDoneEvent:
			item(e.Item)
		case responses.ResponseErrorEvent:
			o.Error = e.Message
		case responses.ResponseCompletedEvent:
			read(&e.Response)
		case responses.ResponseIncompleteEvent:
			read(&e.Response)
		case responses.ResponseFailedEvent:
			read(&e.Response)
		}
	}
	return o.failed(s.Err())
}

func cutAnthropic(t *testing.T, base, model string, stream bool) *outcome {
	client := anthropic.NewClient(anthropicoption.WithBaseURL(base), anthropicoption.WithAPIKey("none"), anthropicoption.WithMaxRetries(0))
	schema := anthropic.ToolInputSchemaParam{Properties: fileParameters(t)["properties"], Required: []string{"path", "content"}}
	params := anthropic.MessageNewParams{
		Model: model, MaxTokens: 500, Tools: []anthropic.ToolUnionParam{anthropic.ToolUnionParamOfTool(schema, "write_file")},
		Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(writeIt))},
	}
	var o outcome
	if !stream {
		m, err := client.Messages.New(context.Background(), params)
		if err == nil {
			o.message(m)
		}
		return o.failed(err)
	}
	s := client.Messages.NewStreaming(context.Background(), params)
	defer func() { _ = s.Close() }()
	var m anthropic.Message
	for s.Next() {
		if err := m.Accumulate(s.Current()); err != nil {
			return o.failed(err)
		}
	}
	if s.Err() == nil { // who reads on behind an error has a message that has not ended
		o.message(&m)
	}
	return o.failed(s.Err())
}

func (o *outcome) message(m *anthropic.Message) {
	o.Finish = string(m.StopReason)
	for _, b := range m.Content {
		o.Text += b.Text
		if b.Type == "tool_use" {
			o.Calls = append(o.Calls, string(b.Input))
		}
	}
}

func cutGemini(t *testing.T, base, model string, stream bool) *outcome {
	ctx := context.Background()
	client, err := genai.NewClient(
		ctx, &genai.ClientConfig{APIKey: "key", Backend: genai.BackendGeminiAPI, HTTPOptions: genai.HTTPOptions{BaseURL: base}},
	)
	if err != nil {
		t.Fatal(err)
	}
	config := &genai.GenerateContentConfig{Tools: []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{
		Name: "write_file", ParametersJsonSchema: fileParameters(t),
	}}}}}
	contents := []*genai.Content{genai.NewContentFromText(writeIt, genai.RoleUser)}
	var o outcome
	read := func(r *genai.GenerateContentResponse) {
		for _, c := range r.Candidates {
			o.Finish = string(c.FinishReason)
			if c.Content == nil {
				continue
			}
			for _, p := range c.Content.Parts {
				o.Text += p.Text
				if p.FunctionCall != nil {
					args, err := json.Marshal(p.FunctionCall.Args)
					if err != nil {
						t.Fatal(err)
					}
					o.Calls = append(o.Calls, string(args))
				}
			}
		}
	}
	if !stream {
		r, err := client.Models.GenerateContent(ctx, model, contents, config)
		if err == nil {
			read(r)
		}
		return o.failed(err)
	}
	for r, err := range client.Models.GenerateContentStream(ctx, model, contents, config) {
		if err != nil {
			return o.failed(err)
		}
		read(r)
	}
	return &o
}

func cutOllama(t *testing.T, base, model string, stream bool) *outcome {
	u, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	var tool api.Tool
	if err := json.Unmarshal([]byte(`{"type":"function","function":{"name":"write_file","parameters":`+fileSpec+`}}`), &tool); err != nil {
		t.Fatal(err)
	}
	var o outcome
	done := false
	err = api.NewClient(u, http.DefaultClient).Chat(context.Background(), &api.ChatRequest{
		Model: model, Messages: []api.Message{{Role: "user", Content: writeIt}}, Tools: api.Tools{tool}, Stream: &stream,
	}, func(r api.ChatResponse) error {
		o.Text += r.Message.Content
		for _, c := range r.Message.ToolCalls {
			o.Calls = append(o.Calls, c.Function.Arguments.String())
		}
		if r.Done {
			o.Finish, done = r.DoneReason, true
		}
		return nil
	})
	if err == nil && !done {
		o.Error = "the stream has no end"
	}
	return o.failed(err)
}

// TestHalfCallsNode has the clients of the npm registry read the same replies.
func TestHalfCallsNode(t *testing.T) {
	if _, err := os.Stat("clients/node_modules"); err != nil {
		t.Skip("skipped: the clients are not there; run npm ci in conformance/clients")
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("skipped: there is no node")
	}
	base := cutProxy(t)
	for _, client := range []string{"openai", "responses", "anthropic", "ollama", "ai", "langchain", "langchain-responses"} {
		t.Run(client, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
			defer cancel()
			c := exec.CommandContext(ctx, node, append([]string{"half.mjs", client, base}, cutModels...)...)
			c.Dir = "clients"
			var stderr strings.Builder
			c.Stderr = &stderr
			out, err := c.Output()
			if err != nil {
				t.Fatalf("%v\n%s", err, stderr.String())
			}
			var all []struct {
				Model, How string
				outcome
			}
			if err := json.Unmarshal(out, &all); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if len(all) != 2*len(cutModels) {
				t.Fatalf("%d outcomes", len(all))
			}
			for _, o := range all {
				t.Run(o.Model+"/"+o.How, func(t *testing.T) {
					o.check(t, client, o.Model, o.How == "stream")
				})
			}
		})
	}
}
