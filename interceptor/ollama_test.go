package interceptor_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/anthropic"
	"github.com/callwright/callwright/adapters/formats"
	"github.com/callwright/callwright/adapters/gemini"
	"github.com/callwright/callwright/adapters/ollama"
	"github.com/callwright/callwright/adapters/openai"
	"github.com/callwright/callwright/config"
	"github.com/callwright/callwright/interceptor"
	"github.com/callwright/callwright/internal/ollamatest"
)

// serve starts an interceptor before an upstream.
func serve(t testing.TB, upstream string, change func(*config.Config)) *httptest.Server {
	t.Helper()
	c := config.Default()
	c.Server.Upstream = upstream
	if change != nil {
		change(c)
	}
	h, err := interceptor.New(c, interceptor.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(h)
	t.Cleanup(func() { s.Close(); h.Close() })
	return s
}

const weatherTool = `{"type":"function","function":{"name":"get_weather","description":"The weather of a city",` +
	`"parameters":{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer","default":3}},"required":["city"]}}}`

// ask writes a request in a format, and reads the reply.
func ask(
	t testing.TB, url string, f *adapters.Format, model string, stream bool, change func(*adapters.Request),
) (*adapters.Reply, http.Header) {
	t.Helper()
	var tool struct {
		Function struct {
			Name, Description string
			Parameters        json.RawMessage
		}
	}
	if err := json.Unmarshal([]byte(weatherTool), &tool); err != nil {
		t.Fatal(err)
	}
	r := &adapters.Request{
		Model: model, Stream: stream, IncludeUsage: stream, MaxTokens: 500,
		Messages: []adapters.Message{{
			Role: adapters.RoleUser, Blocks: []adapters.Block{{Type: adapters.BlockText, Text: "How is the weather in Rome?"}},
		}},
		Tools: []adapters.Tool{{Name: tool.Function.Name, Description: tool.Function.Description, Parameters: tool.Function.Parameters}},
	}
	if change != nil {
		change(r)
	}
	body, err := f.EncodeRequest(r)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.Post(url+clientPath(f, model, stream), "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range response.Trailer {
		response.Header[k] = v
	}
	if response.StatusCode != http.StatusOK {
		t.Fatalf("status %d: %s", response.StatusCode, data)
	}
	reply, err := formats.Read(f, data, adapters.Limits{})
	if err != nil {
		t.Fatalf("%v: %s", err, data)
	}
	return reply, response.Header
}

// clientPath is where a client asks.
func clientPath(f *adapters.Format, model string, stream bool) string {
	path := f.Path(model, stream)
	if f == gemini.Generate && stream {
		path += "?alt=sse"
	}
	return path
}

// everyClient are the formats in which clients ask.
var everyClient = []*adapters.Format{openai.Chat, openai.Responses, anthropic.Messages, ollama.Chat, gemini.Generate}

// TestOllama has every format ask every kind of model.
// It is one function, since its cases share a real server.
func TestOllama(t *testing.T) {
	s := ollamatest.Start(t)
	hermes := "I'll look.\n<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Rome\", \"days\": \"2\"}}\n</tool_call>"
	s.Model(t, "notools", hermes, "")
	s.Model(t, "leaks", hermes, ollamatest.ToolTemplate)
	s.Model(t, "broken", "<tool_call>\n{name\": \"get_weather\", 'arguments': {city\": \"Rome\", \"days\": 2,}}\n</tool_call>", "")
	s.Model(
		t, "thinks",
		"<think>\nI could call <tool_call>{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Oslo\"}}</tool_call> or so.\n</think>\n"+hermes,
		"",
	)
	s.Model(
		t, "cut",
		"<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Rome and a lot of other cities that are far too many to be "+
			"named here\"}}\n</tool_call>",
		"",
	)
	s.Model(t, "talks", "The weather is nice.", "")
	for _, front := range []*adapters.Format{openai.Chat, openai.Responses, anthropic.Messages, ollama.Chat} {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/stream=%v", front.Name, stream), func(t *testing.T) {
				p := serve(t, s.URL, nil)
				for _, model := range []string{"notools", "notools", "leaks", "broken", "thinks"} {
					reply, header := ask(t, p.URL, front, model, stream, nil)
					calls := reply.Calls()
					if len(calls) != 1 || calls[0].Name != "get_weather" || calls[0].ID == "" && front.Carries.CallIDs {
						t.Fatalf("%s: %d calls, text %q", model, len(calls), reply.Text())
					}
					var args map[string]any
					if err := json.Unmarshal([]byte(calls[0].Arguments), &args); err != nil || args["city"] != "Rome" || args["days"] != 2.0 {
						t.Errorf("%s: %s", model, calls[0].Arguments)
					}
					if reply.First().Finish != adapters.FinishCalls {
						t.Errorf("%s: ends with %q", model, reply.First().Finish)
					}
					if strings.Contains(reply.Text(), "tool_call") || strings.Contains(reply.Text(), "Oslo") {
						t.Errorf("%s: the call leaks into %q", model, reply.Text())
					}
					if model == "notools" && !strings.Contains(reply.Text(), "I'll look.") {
						t.Errorf("the text is lost: %q", reply.Text())
					}
					mode := "emulate"
					if model == "leaks" {
						mode = "native"
					}
					if header.Get("Callwright-Mode") != mode || header.Get("Callwright-Calls") != "1" {
						t.Errorf("%s: %v", model, header)
					}
					if reply.Usage == nil || reply.Usage.OutputTokens == 0 {
						t.Errorf("%s: no usage", model)
					}
				}
				reply, _ := ask(t, p.URL, front, "cut", stream, func(r *adapters.Request) { r.MaxTokens = 12 })
				for _, c := range reply.Calls() {
					if json.Valid([]byte(c.Arguments)) && !c.Truncated && front != ollama.Chat {
						t.Errorf("a call that was cut off is handed on as whole: %+v", c)
					}
				}
				if reply.First().Finish != adapters.FinishLength {
					t.Errorf("cut: ends with %q", reply.First().Finish)
				}
				reply, _ = ask(t, p.URL, front, "talks", stream, nil)
				if reply.Text() != "The weather is nice." || len(reply.Calls()) != 0 || reply.First().Finish != adapters.FinishStop {
					t.Errorf("%q %q", reply.Text(), reply.First().Finish)
				}
				// The server is held to the JSON of a call: a model may be made to call.
				reply, header := ask(t, p.URL, front, "talks", stream, func(r *adapters.Request) { r.ToolChoice.Mode = adapters.ToolRequired })
				unmet := header.Get("Callwright-Tool-Choice") == "unmet"
				if front != ollama.Chat && unmet == (len(reply.Calls()) > 0) {
					t.Errorf("required and not called: %v", header)
				}
			})
		}
	}
}
