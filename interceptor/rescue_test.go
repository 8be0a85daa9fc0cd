package interceptor_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/anthropic"
	"github.com/callwright/callwright/adapters/formats"
	"github.com/callwright/callwright/adapters/gemini"
	"github.com/callwright/callwright/adapters/ollama"
	"github.com/callwright/callwright/adapters/openai"
	"github.com/callwright/callwright/config"
)

// script is an upstream that gives one answer after the other and keeps what it was asked.
type script struct {
	mu      sync.Mutex
	answers []func(w http.ResponseWriter, a asking)
	asked   []string
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, string(body))
	a := asking{stream: strings.Contains(string(body), `"stream":true`), format: openai.Chat}
	for _, f := range everyClient {
		for _, stream := range []bool{false, true} {
			if r.URL.Path == f.Path("m", stream) {
				a.format, a.stream = f, a.stream || stream && f.PathOf != nil
			}
		}
	}
	s.answers[min(len(s.asked), len(s.answers))-1](w, a)
}

// asking is what an upstream is asked.
type asking struct {
	stream bool
	format *adapters.Format
}

// status answers with an error.
func status(code int, body string) func(http.ResponseWriter, asking) {
	return func(w http.ResponseWriter, _ asking) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}
}

// within answers with an error in a response that has the status 200.
func within(body string) func(http.ResponseWriter, asking) {
	return func(w http.ResponseWriter, a asking) {
		if !a.stream {
			status(http.StatusOK, body)(w, a)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, chunk(`{"role":"assistant"}`)+"data: "+body+"\n\n")
	}
}

// saysIt answers with a reply.
func saysIt(r *adapters.Reply) func(http.ResponseWriter, asking) {
	return func(w http.ResponseWriter, a asking) { saying(a.format, a.stream, r)(w) }
}

// thinks is a reply that has nothing but reasoning.
func thinks(text string) *adapters.Reply {
	r := says("")
	r.Choices[0].Blocks = []adapters.Block{{Type: adapters.BlockReasoning, Text: text}}
	r.Usage.OutputTokens = int64(len(text) / 5)
	return r
}

// used is a reply that says how many tokens the model wrote.
func used(r *adapters.Reply, tokens int64) *adapters.Reply {
	r.Usage.OutputTokens = tokens
	return r
}

const romeCall = `get_weather {"city":"Rome","days":3}`

// TestNoDeadTurn has every turn that a server or a model lets die, in every client format,
// whole and streamed. Each ends in a call or a text with at most one request more, and
// nothing is sent twice.
func TestNoDeadTurn(t *testing.T) {
	good := says("Sure.\n", romeCall)
	inText := says("Sure.\n" + romeText)
	for _, tt := range []struct {
		name   string
		server *adapters.Format
		first  func(http.ResponseWriter, asking)
		second *adapters.Reply
		asked  int
		rescue string
		text   string
		calls  int
	}{
		{
			"llama.cpp 500", openai.Chat,
			status(500, `{"error":{"code":500,"message":"Failed to parse input at pos 0: <tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Rome\",}}\n</tool_call>","type":"server_error"}}`),
			good, 1, "refused_call", "", 1,
		},
		{
			"llama.cpp 500 without a call", openai.Chat,
			status(500, `{"error":{"code":500,"message":"Failed to parse input at pos 14: <tool_call>{","type":"server_error"}}`),
			inText, 2, "refused_call", "Sure.", 1,
		},
		{
			"Ollama, bare arguments", ollama.Chat, status(500, `{"error":"error parsing tool call: raw='{\"city\": \"Rome\",', err=unexpected end of JSON input"}`),
			good, 1, "refused_call", "", 1,
		},
		{
			"Groq 400", openai.Chat,
			status(400, `{"error":{"message":"Failed to call a function.","type":"invalid_request_error","code":"tool_use_failed","failed_generation":"<function=get_weather>{\"city\": \"Rome\"}</function>"}}`),
			good, 1, "refused_call", "", 1,
		},
		{
			"Groq in a 200", openai.Chat,
			within(`{"error":{"message":"Failed to call a function.","code":"tool_use_failed","failed_generation":"{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Rome\"}}"}}`),
			good, 1, "refused_call", "", 1,
		},
		{
			"Groq in a 200 without a call", openai.Chat,
			within(`{"error":{"message":"Failed to call a function.","code":"tool_use_failed","failed_generation":"<function=get_we"}}`),
			inText, 2, "refused_call", "Sure.", 1,
		},
		{"llama.cpp without jinja", openai.Chat, status(500, `{"error":{"message":"tools param requires --jinja flag"}}`), inText, 2, "no_tools", "Sure.", 1},
		{"OpenRouter 404", openai.Chat, status(404, `{"error":{"message":"No endpoints found that support tool use.","code":404}}`), inText, 2, "no_tools", "Sure.", 1},
		{"swallowed", openai.Chat, saysIt(used(says(""), 46)), inText, 2, "swallowed", "Sure.", 1},
		{"swallowed behind a text", ollama.Chat, saysIt(used(says("I will do it.\n"), 46)), inText, 2, "swallowed", "I will do it.\n\n\nSure.", 1},
		{"empty", openai.Chat, saysIt(used(says(""), 1)), good, 2, "empty", "Sure.", 1},
		{"empty, then a text", openai.Chat, saysIt(used(says(""), 1)), says("It rains."), 2, "empty", "It rains.", 0},
		{"only thought", openai.Chat, saysIt(thinks("I have to look.")), good, 2, "reasoning_only", "Sure.", 1},
		{"only thought, in the text", openai.Chat, saysIt(says("<think>I have to look.</think>")), good, 2, "reasoning_only", "Sure.", 1},
		{"announced", openai.Chat, saysIt(says("Now I'll look it up:")), good, 2, "announced", "Now I'll look it up:\n\nSure.", 1},
		{"announced, said again", openai.Chat, saysIt(says("Now I'll look it up:")), says("Now I'll look it up:\n", romeCall), 2, "announced", "Now I'll look it up:", 1},
		{"announced, Anthropic", anthropic.Messages, saysIt(says("Let me check the weather.")), good, 2, "announced", "Let me check the weather.\n\nSure.", 1},
		{"announced, Gemini", gemini.Generate, saysIt(says("Let me check the weather.")), good, 2, "announced", "Let me check the weather.\n\nSure.", 1},
		{"call in the text, Gemini", gemini.Generate, saysIt(inText), good, 1, "", "Sure.", 1},
		{"unknown tool", openai.Chat, saysIt(says(`Ok. <tool_call>{"name": "Write_xyzzy", "arguments": {"a": 1}}</tool_call>`)), good, 2, "invalid_call", "Ok. \n\nSure.", 1},
		{"wrong arguments", openai.Chat, saysIt(says(badCall)), good, 2, "invalid_call", "Sure.", 1},
	} {
		for _, front := range everyClient {
			for _, stream := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%s/stream=%v", tt.name, front.Name, stream), func(t *testing.T) {
					up := &script{answers: []func(http.ResponseWriter, asking){tt.first, saysIt(tt.second)}}
					upstream := httptest.NewServer(up)
					t.Cleanup(upstream.Close)
					s := serve(t, upstream.URL, func(c *config.Config) { c.Server.UpstreamFormat = kinds[tt.server] })
					reply, header := ask(t, s.URL, front, "m", stream, nil)
					if strings.Join(strings.Fields(reply.Text()), " ") != strings.Join(strings.Fields(tt.text), " ") || len(reply.Calls()) != tt.calls {
						t.Errorf("%q and %s, want %q and %d calls", reply.Text(), callsOf(reply), tt.text, tt.calls)
					}
					for _, c := range reply.Calls() {
						if c.Name != "get_weather" || !strings.Contains(c.Arguments, "Rome") || !json.Valid([]byte(c.Arguments)) {
							t.Errorf("call %+v", c)
						}
					}
					want := adapters.FinishStop
					if tt.calls > 0 {
						want = adapters.FinishCalls
					}
					if reply.First().Finish != want {
						t.Errorf("ends with %q", reply.First().Finish)
					}
					if len(up.asked) != tt.asked || header.Get("Callwright-Rescue") != tt.rescue {
						t.Errorf("asked %d times, rescue %q", len(up.asked), header.Get("Callwright-Rescue"))
					}
				})
			}
		}
	}
}

// TestLostTurn checks that what cannot be saved is one error, and that nothing is asked
// without end.
func TestLostTurn(t *testing.T) {
	for name, tt := range map[string]struct {
		first  func(http.ResponseWriter, asking)
		asked  int
		status int
		want   string
	}{
		"empty":          {saysIt(used(says(""), 1)), 2, 502, "ended its turn without a call or an answer"},
		"thought":        {saysIt(thinks("Hm.")), 2, 502, "ended its turn without a call or an answer"},
		"refused":        {status(500, `{"error":{"message":"Failed to parse input at pos 0: <tool_call>{"}}`), 2, 500, "Failed to parse input"},
		"another error":  {status(500, `{"error":{"message":"CUDA out of memory"}}`), 1, 500, "CUDA out of memory"},
		"error in a 200": {within(`{"error":{"message":"CUDA out of memory"}}`), 1, 502, "CUDA out of memory"},
	} {
		for _, front := range everyClient {
			for _, stream := range []bool{false, true} {
				up := &script{answers: []func(http.ResponseWriter, asking){tt.first}}
				upstream := httptest.NewServer(up)
				s := serve(t, upstream.URL, func(c *config.Config) { c.Server.UpstreamFormat = "openai" })
				code, body := postBody(t, s.URL+clientPath(front, "m", stream), requestBody(t, front, stream))
				upstream.Close()
				if !strings.Contains(body, tt.want) || len(up.asked) != tt.asked || strings.Count(body, tt.want) > 2 {
					t.Errorf("%s, %s, stream=%v: asked %d times: %s", name, front.Name, stream, len(up.asked), body)
				}
				if wants := tt.status; code != wants && (!stream || code != http.StatusOK) {
					t.Errorf("%s, %s, stream=%v: status %d", name, front.Name, stream, code)
				}
				if stream && code == http.StatusOK {
					if _, err := formats.Read(front, []byte(body), adapters.Limits{}); err == nil {
						t.Errorf("%s, %s: the stream ends as if it were complete: %s", name, front.Name, body)
					}
				}
			}
		}
	}
}

func postBody(t *testing.T, url string, body []byte) (code int, text string) {
	t.Helper()
	r, err := http.Post(url, "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	data, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(data)
}

// TestRunawayThinking checks that thinking which repeats itself, or passes the budget, is
// ended, and the model asked again without.
func TestRunawayThinking(t *testing.T) {
	for name, text := range map[string]string{
		"repeats":   strings.Repeat("Wait, maybe I should look at the weather in Rome again, or not. ", 120),
		"too long":  strings.Join(strings.Split(strings.Repeat("x", 30), ""), " and then something else that is new comes, "),
		"ends well": "I look at the weather.",
	} {
		gone := make(chan struct{})
		first := func(w http.ResponseWriter, _ asking) {
			w.Header().Set("Content-Type", "text/event-stream")
			for i := 0; i < len(text); i += 50 {
				_, _ = io.WriteString(w, chunk(`{"reasoning_content":`+quote(text[i:min(i+50, len(text))])+`}`))
			}
			if name == "ends well" {
				_, _ = io.WriteString(w, chunk(`{"content":"It rains."}`)+finishChunk+doneChunk)
				return
			}
			_ = http.NewResponseController(w).Flush()
			<-gone // a server that thinks on
		}
		up := &script{answers: []func(http.ResponseWriter, asking){first, saysIt(says("It is sunny."))}}
		upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			up.mu.Lock()
			up.asked = append(up.asked, string(body))
			n := len(up.asked)
			up.mu.Unlock()
			up.answers[min(n, 2)-1](w, asking{true, openai.Chat})
		}))
		s := serve(t, upstream.URL, func(c *config.Config) {
			c.Server.UpstreamFormat = "openai"
			if name == "too long" {
				c.Server.ThinkingBudget = 200
			}
		})
		reply, header := ask(t, s.URL, openai.Chat, "m", true, nil)
		close(gone)
		upstream.Close()
		if name == "ends well" {
			if reply.Text() != "It rains." || len(up.asked) != 1 {
				t.Errorf("%s: %q, asked %d times", name, reply.Text(), len(up.asked))
			}
			continue
		}
		if reply.Text() != "It is sunny." || header.Get("Callwright-Rescue") != "runaway" || len(up.asked) != 2 {
			t.Errorf("%s: %q %v, asked %d times", name, reply.Text(), header, len(up.asked))
		}
		if !strings.Contains(up.asked[1], `"enable_thinking":false`) {
			t.Errorf("%s: thinking is not switched off: %s", name, up.asked[1])
		}
	}
}

// TestEndedRightly checks that turns which end as they should are not asked again: at
// most one of a hundred.
func TestEndedRightly(t *testing.T) {
	data, err := os.ReadFile("testdata/ended.txt")
	if err != nil {
		t.Fatal(err)
	}
	texts := strings.Split(strings.TrimSpace(string(data)), "\n%%\n")
	again := 0
	for _, text := range texts {
		up := &script{answers: []func(http.ResponseWriter, asking){saysIt(used(says(text), int64(len(text)/4+2)))}}
		upstream := httptest.NewServer(up)
		s := serve(t, upstream.URL, func(c *config.Config) { c.Server.UpstreamFormat = "openai" })
		reply, _ := ask(t, s.URL, openai.Chat, "m", false, nil)
		upstream.Close()
		if len(up.asked) > 1 {
			again++
			t.Logf("asked again: %q", text)
		} else if reply.Text() != text {
			t.Errorf("%q became %q", text, reply.Text())
		}
	}
	if len(texts) < 200 || again*100 > len(texts) {
		t.Errorf("%d of %d turns were asked again", again, len(texts))
	}
}
