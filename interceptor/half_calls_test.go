package interceptor_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/anthropic"
	"github.com/callwright/callwright/adapters/gemini"
	"github.com/callwright/callwright/adapters/ollama"
	"github.com/callwright/callwright/adapters/openai"
	"github.com/callwright/callwright/config"
	"github.com/callwright/callwright/dialect"
	"github.com/callwright/callwright/interceptor"
)

// The call that is cut off in these tests. Each parameter that is missing makes it another
// call, and each prefix of a value another value.
const (
	halfTool = "write_file"
	halfArgs = `{"path": "/tmp/build/a.md", "content": "line {one}\nsay \"two\" </end> ] done", "mode": 644}`
)

// schema is that of the tool. Where the model stops by itself within a call of its text,
// between two parameters, it has said all that it wants to: then all are required.
func (a *halfAnswer) schema() string {
	required := `"path","content"`
	if !a.native && (a.end == "stop" || a.end == "calls" || a.end == "no reason") {
		required += `,"mode"`
	}
	return `{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"},"mode":{"type":"integer"}},"required":[` + required + `]}`
}

// halfEnds are how an answer ends behind what was cut off.
var halfEnds = []string{"length", "stop", "calls", "error", "closed", "eof", "no reason"}

// halfAnswer is an upstream's answer that holds a part of the call.
type halfAnswer struct {
	format *adapters.Format
	stream bool
	native bool
	text   string // of the model, where the call is not native
	args   string // of the native call
	end    string
}

// write writes the answer as a server would that knows nothing of half calls.
func (a *halfAnswer) write(w http.ResponseWriter) {
	c := adapters.Choice{Finish: adapters.FinishLength}
	if a.native {
		c.Blocks = []adapters.Block{
			{Type: adapters.BlockText, Text: "I write it."},
			{Type: adapters.BlockCall, Call: &adapters.Call{ID: "call_1", Name: halfTool, Arguments: a.args, Truncated: true}},
		}
	} else {
		c.Blocks = []adapters.Block{{Type: adapters.BlockText, Text: a.text}}
	}
	r := &adapters.Reply{ID: "r", Model: "m", Choices: []adapters.Choice{c}}
	var b bytes.Buffer
	if !a.stream {
		data, err := a.format.EncodeReply(r)
		if err != nil {
			panic(err)
		}
		b.Write(data)
	} else {
		enc := a.format.NewEncoder(&b)
		for _, e := range r.Events() {
			if e.Type != adapters.EventText && e.Type != adapters.EventArguments {
				_ = enc.Event(e) // into memory
				continue
			}
			for i := 0; i < len(e.Text); i += 5 {
				piece := e
				piece.Text, piece.New = e.Text[i:min(i+5, len(e.Text))], e.New && i == 0
				_ = enc.Event(piece)
			}
		}
		if a.end != "closed" && a.end != "eof" && a.end != "error" {
			_ = enc.End()
		}
	}
	data := b.String()
	word := map[string][3]string{
		"stop": {"stop", "end_turn", "stop"}, "calls": {"tool_calls", "tool_use", "stop"},
	}[a.end]
	if a.end == "stop" || a.end == "calls" {
		data = strings.NewReplacer(
			`"finish_reason":"length"`, `"finish_reason":"`+word[0]+`"`, `"stop_reason":"max_tokens"`, `"stop_reason":"`+word[1]+`"`,
			`"done_reason":"length"`, `"done_reason":"`+word[2]+`"`,
		).Replace(data)
	}
	if a.end == "no reason" {
		data = strings.NewReplacer(
			`"finish_reason":"length"`, `"finish_reason":null`, `"stop_reason":"max_tokens"`, `"stop_reason":null`, `"done_reason":"length",`, ``,
			`"done_reason":"length"`, `"x":1`,
		).Replace(data)
	}
	if a.end == "closed" || a.end == "eof" || a.end == "error" { // no reason has come
		for _, word := range []string{`data: {"id":"r","object":"chat.completion.chunk"`, `event: message_delta`} {
			if i := strings.LastIndex(data, word); i >= 0 && strings.Contains(data[i:], `"length"`) || i >= 0 && strings.Contains(data[i:], "max_tokens") {
				data = data[:i]
			}
		}
	}
	w.Header().Set("Content-Type", "application/json")
	if a.stream {
		w.Header().Set("Content-Type", a.format.ContentType)
	}
	_, _ = io.WriteString(w, data)
	switch a.end {
	case "error":
		fail := string(a.format.EncodeError(&adapters.ProviderError{Type: "api_error", Message: "out of memory"}))
		_, _ = io.WriteString(w, map[*adapters.Format]string{
			openai.Chat: "data: " + fail + "\n\ndata: [DONE]\n\n", anthropic.Messages: "event: error\ndata: " + fail + "\n\n", ollama.Chat: fail + "\n",
		}[a.format])
	case "closed":
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
}

// halves has handlers before an upstream that gives one answer after the other.
type halves struct {
	mu       sync.Mutex
	answer   *halfAnswer
	handlers map[string]*interceptor.Handler
}

func newHalves(t testing.TB, change func(*config.Config)) *halves {
	t.Helper()
	x := &halves{handlers: map[string]*interceptor.Handler{}}
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		x.mu.Lock()
		a := *x.answer
		x.mu.Unlock()
		if r.URL.Path == "/v1/chat/completions" { // Ollama speaks that too
			a.format = openai.Chat
		}
		a.write(w)
	}))
	t.Cleanup(upstream.Close)
	for _, kind := range []string{"openai", "anthropic", "ollama"} {
		c := config.Default()
		c.Server.Upstream, c.Server.UpstreamFormat, c.Server.HeartbeatMS = upstream.URL, kind, 0
		if change != nil {
			change(c)
		}
		h, err := interceptor.New(c, interceptor.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(h.Close)
		x.handlers[kind] = h
	}
	return x
}

var kinds = map[*adapters.Format]string{openai.Chat: "openai", anthropic.Messages: "anthropic", ollama.Chat: "ollama", gemini.Generate: "gemini"}

var allFronts = map[*adapters.Format]string{
	openai.Chat: "/v1/chat/completions", openai.Responses: "/v1/responses", anthropic.Messages: "/v1/messages", ollama.Chat: "/api/chat",
}

type fataler interface {
	Helper()
	Fatalf(string, ...any)
}

// ask sends a request of a client and returns what it gets.
func (x *halves) ask(t fataler, front *adapters.Format, a *halfAnswer) (data []byte, status int) {
	t.Helper()
	x.mu.Lock()
	x.answer = a
	x.mu.Unlock()
	body, err := front.EncodeRequest(&adapters.Request{
		Model: "m", Stream: a.stream, MaxTokens: 100,
		Messages: []adapters.Message{{Role: adapters.RoleUser, Blocks: []adapters.Block{{Type: adapters.BlockText, Text: "Write the file."}}}},
		Tools:    []adapters.Tool{{Name: halfTool, Parameters: json.RawMessage(a.schema())}},
	})
	if err != nil {
		t.Fatalf("%v", err)
	}
	q := httptest.NewRequest(http.MethodPost, allFronts[front], bytes.NewReader(body))
	q.Host = "localhost"
	w := httptest.NewRecorder()
	x.handlers[kinds[a.format]].ServeHTTP(w, q)
	return w.Body.Bytes(), w.Code
}

// check asks, and checks that no half call comes as whole, and that no answer that holds
// one says that it is complete.
func (x *halves) check(t fataler, front *adapters.Format, a *halfAnswer) {
	t.Helper()
	data, status := x.ask(t, front, a)
	complain := func(what string, args ...any) {
		t.Helper()
		t.Fatalf("%s before %s, stream=%v native=%v, ends with %q: %s\nmodel: %s%s\nclient: %s", front.Name, a.format.Name, a.stream, a.native, a.end,
			fmt.Sprintf(what, args...), a.text, a.args, data)
	}
	if status != http.StatusOK {
		if status != http.StatusBadGateway || a.stream {
			complain("status %d", status)
		}
		return
	}
	var reply *adapters.Reply
	var err error
	if a.stream {
		if !endedOnce(front, data) {
			complain("the stream has no end, or several")
		}
		reply, err = front.ReadStream(bytes.NewReader(data), adapters.Limits{})
	} else if reply, err = front.DecodeReply(data); err != nil {
		complain("%v", err)
	}
	failed := err != nil
	var want, got any
	if err := json.Unmarshal([]byte(halfArgs), &want); err != nil {
		complain("%v", err)
	}
	half := a.native
	for _, c := range reply.Calls() {
		err := json.Unmarshal([]byte(c.Arguments), &got)
		switch {
		case err == nil && reflect.DeepEqual(got, want):
			half = false
		case err == nil && c.Arguments != "":
			complain("a half call comes as whole: %s", c.Arguments)
		case front.WholeCalls || front.ObjectArguments && !a.stream:
			complain("a half call: %s", c.Arguments)
		default:
			half = true
		}
	}
	if half && !failed && reply.First().Finish != adapters.FinishLength {
		complain("it says that it is complete: %q", reply.First().Finish)
	}
	if (a.end == "error" || a.end == "closed" || a.end == "eof") && a.stream && !failed {
		complain("it does not say that it failed: %q", reply.First().Finish)
	}
	if failed {
		for _, word := range []string{`"finish_reason":"`, `"stop_reason":"`, `"done_reason":"stop`, "response.completed", "response.incomplete"} {
			if strings.Contains(string(data), word) {
				complain("it failed, and has %s", word)
			}
		}
	}
}

// endedOnce reports whether a stream has one end, and nothing behind it.
func endedOnce(f *adapters.Format, data []byte) bool {
	if f != openai.Responses {
		return ended(f, data)
	}
	n := 0
	for _, end := range []string{"completed", "incomplete", "failed"} {
		n += strings.Count(string(data), "event: response."+end+"\n")
	}
	last := strings.LastIndex(string(data), "event: ")
	return n == 1 && last >= 0 && strings.Contains(string(data[last:last+27]), "event: response.")
}

// halfTexts are the call as each dialect writes it that can be written, by name.
func halfTexts() (names []string, texts map[string]string) {
	texts = map[string]string{
		"bare":   `{"name": "` + halfTool + `", "arguments": ` + halfArgs + `}`,
		"fenced": "```json\n" + `{"name": "` + halfTool + `", "arguments": ` + halfArgs + "}\n```",
	}
	names = []string{"bare", "fenced"}
	for _, row := range dialect.Builtin().Dialects {
		if w, ok := row.Writer(); ok {
			names = append(names, row.Name)
			texts[row.Name] = w.Call(halfTool, halfArgs)
		}
	}
	return names, texts
}

// TestHalfCalls cuts a call anywhere: native and in the text, in each dialect, with each
// end, before each kind of server, for each kind of client, whole and streamed.
func TestHalfCalls(t *testing.T) {
	names, texts := halfTexts()
	for name, change := range map[string]func(*config.Config){
		"whole": nil,
		"eager": func(c *config.Config) { c.Server.StreamArguments = "eager" },
		"pass":  func(c *config.Config) { c.Server.OnInvalid = "pass" },
		"retry": func(c *config.Config) { c.Server.OnInvalid = "retry" },
		"partial": func(c *config.Config) {
			c.Parser.AllowPartial = true
			c.Fallback.Tiers = []string{"auto_repair", "partial_execution", "user_clarification"}
		},
		"emulate": func(c *config.Config) { c.Server.Mode = "emulate" },
	} {
		t.Run(name, func(t *testing.T) {
			x := newHalves(t, change)
			rapid.Check(t, func(t *rapid.T) {
				a := &halfAnswer{
					format: rapid.SampledFrom([]*adapters.Format{openai.Chat, anthropic.Messages, ollama.Chat}).Draw(t, "server"),
					stream: rapid.Bool().Draw(t, "stream"), native: name != "emulate" && rapid.Bool().Draw(t, "native"),
				}
				ends := halfEnds
				if !a.stream {
					ends = []string{"length", "stop", "calls", "no reason"}
				}
				a.end = rapid.SampledFrom(ends).Draw(t, "end")
				if a.native {
					switch a.format {
					case ollama.Chat:
						a.format = openai.Chat // its calls are objects
					case anthropic.Messages:
						a.stream = true // so are those of its whole replies
					}
					a.args = halfArgs[:rapid.IntRange(0, len(halfArgs)-1).Draw(t, "cut")]
				} else {
					text := texts[rapid.SampledFrom(names).Draw(t, "dialect")]
					a.text = "I write it.\n" + text[:rapid.IntRange(1, len(text)-1).Draw(t, "cut")]
				}
				for _, front := range []*adapters.Format{openai.Chat, openai.Responses, anthropic.Messages, ollama.Chat} {
					x.check(t, front, a)
				}
			})
		})
	}
}
