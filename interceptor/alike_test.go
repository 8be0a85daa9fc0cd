package interceptor_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/anthropic"
	"github.com/callwright/callwright/adapters/ollama"
	"github.com/callwright/callwright/adapters/openai"
	"github.com/callwright/callwright/config"
)

// TestWholeAndStreamedAlike has the same answer come whole and as a stream: the client
// gets the same calls, text and reason of the end.
func TestWholeAndStreamedAlike(t *testing.T) {
	parts := []string{
		"Let me look. ", "\n" + romeText + "\n", "\n" + badCall + "\n", "\n" + `<tool_call>{"name": "no_such_tool", "arguments": {"a": 1}}</tool_call>` + "\n",
		"\n" + `<tool_call>{"name": "get_weather", "arguments": {"city": "Oslo", "days": "2",}}</tool_call>` + "\n",
		"\n<function=get_weather>\n<parameter=city>\nBergen\n</parameter>\n</function>\n", "\n```json\n" + `{"name": "get_weather", "arguments": {"city": "Bonn"}}` + "\n```\n",
		"<think>Hm.</think>",
	}
	natives := []string{`{"city":"Rome"}`, `{"city":"Oslo","days":"2"}`, `{"town":"Rome"}`, `{"days":1}`, `{"city": "Ro`, `{`, ``}
	fronts := []*adapters.Format{openai.Chat, openai.Responses, anthropic.Messages, ollama.Chat}
	type server struct {
		mu   sync.Mutex
		f    *adapters.Format
		says *adapters.Reply
		url  string
	}
	var servers []*server
	for _, f := range []*adapters.Format{openai.Chat, anthropic.Messages} {
		for _, onInvalid := range []string{"text", "pass", "retry"} {
			s := &server{f: f}
			upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				s.mu.Lock()
				defer s.mu.Unlock()
				saying(f, strings.Contains(string(body), `"stream":true`), s.says)(w)
			}))
			t.Cleanup(upstream.Close)
			s.url = serve(t, upstream.URL, func(c *config.Config) {
				c.Server.UpstreamFormat, c.Server.OnInvalid, c.Server.Rescue = kinds[f], onInvalid, false
			}).URL
			servers = append(servers, s)
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		s := rapid.SampledFrom(servers).Draw(rt, "server")
		var text strings.Builder
		for _, p := range rapid.SliceOfN(rapid.SampledFrom(parts), 0, 4).Draw(rt, "parts") {
			text.WriteString(p)
		}
		// A call in the text without its end, beside the same call in the server's own field,
		// is not among the cases: a stream has shown its beginning by then, and makes both.
		most := 2
		if rapid.Bool().Draw(rt, "cut") && text.Len() > 0 {
			most = 0
			cut := text.String()[:rapid.IntRange(1, text.Len()).Draw(rt, "at")]
			text.Reset()
			text.WriteString(cut)
		}
		var calls []string
		known := natives
		if s.f == anthropic.Messages {
			known = natives[:4]
		}
		for _, args := range rapid.SliceOfN(rapid.SampledFrom(known), 0, most).Draw(rt, "native") {
			calls = append(calls, "get_weather "+args)
		}
		r := says(text.String(), calls...)
		for i := range r.Choices[0].Blocks {
			if c := r.Choices[0].Blocks[i].Call; c != nil {
				c.ID = fmt.Sprintf("call_%d", i)
			}
		}
		r.Choices[0].Finish = rapid.SampledFrom([]adapters.FinishReason{adapters.FinishStop, adapters.FinishCalls, adapters.FinishLength}).Draw(rt, "finish")
		s.mu.Lock()
		s.says = r
		s.mu.Unlock()
		for _, front := range fronts {
			whole, _ := ask(t, s.url, front, "m", false, nil)
			stream, _ := ask(t, s.url, front, "m", true, nil)
			a, b := judged(whole), judged(stream)
			if a != b {
				rt.Fatalf("%s before %s: whole\n%s\nstreamed\n%s", front.Name, s.f.Name, a, b)
			}
		}
	})
}

// judged is what a client does with a reply: the calls, as far as they are whole, in any
// order, the text, and whether it is complete.
func judged(r *adapters.Reply) string {
	var calls []string
	for _, c := range r.Calls() {
		var args map[string]any
		switch {
		case (&adapters.Call{Arguments: c.Arguments}).Cut(), c.Arguments == "": // streams have the beginning of a call for which whole replies may have no word
			continue
		case json.Unmarshal([]byte(c.Arguments), &args) != nil:
			calls = append(calls, fmt.Sprintf("%s %q", c.Name, c.Arguments))
		case args["city"] == nil: // it was begun before it was known to be wrong
			calls = append(calls, c.Name+" without city")
		case r.First().Finish == adapters.FinishLength: // a stream has the values as far as they are certain, and defaults
			calls = append(calls, fmt.Sprintf("%s %s", c.Name, args["city"]))
		default:
			calls = append(calls, c.Name+" "+compact(args))
		}
	}
	slices.Sort(calls)
	return fmt.Sprintf("%q %q %s", calls, strings.Join(strings.Fields(r.Text()), " "), r.First().Finish)
}

// slowly answers with the messages of a stream, with a pause where one is empty.
func slowly(pause time.Duration, messages ...string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, m := range messages {
			if m == "" {
				time.Sleep(pause)
			}
			_, _ = io.WriteString(w, m)
			_ = http.NewResponseController(w).Flush()
		}
	}
}

// TestStreamArguments checks when a call is sent: one of the text when it is whole, unless
// the option says otherwise, with keep-alives meanwhile; one of the server's own field as
// it comes.
func TestStreamArguments(t *testing.T) {
	text := func(s string) string { return chunk(`{"content":` + quote(s) + `}`) }
	inText := slowly(
		300*time.Millisecond, text("Let me look.\n"), text(`<tool_call>{"name": "get_weather", "arguments": {"city": "Rome and `), "",
		text(`Oslo"}}</tool_call>`), finishChunk, doneChunk,
	)
	native := slowly(
		300*time.Millisecond, callStart, chunk(`{"tool_calls":[{"index":0,"function":{"arguments":"{\"city\": \"Rome and "}}]}`), "",
		chunk(`{"tool_calls":[{"index":0,"function":{"arguments":"Oslo\"}"}}]}`), finishChunk, doneChunk,
	)
	for _, front := range []*adapters.Format{openai.Chat, openai.Responses, anthropic.Messages, ollama.Chat} {
		for _, tt := range []struct {
			name   string
			answer func(http.ResponseWriter)
			option string
			early  bool // the beginning of the arguments comes before the pause
		}{
			{"text, whole", inText, "whole", false},
			{"text, eager", inText, "eager", !front.WholeCalls},
			{"native, whole", native, "whole", !front.WholeCalls},
			{"native, eager", native, "eager", !front.WholeCalls},
		} {
			s := serve(t, scripted(t, tt.answer), func(c *config.Config) {
				c.Server.UpstreamFormat, c.Server.StreamArguments, c.Server.HeartbeatMS = "openai", tt.option, 60
			})
			r, err := http.Post(s.URL+allFronts[front], "application/json", strings.NewReader(string(requestBody(t, front, true))))
			if err != nil {
				t.Fatal(err)
			}
			var before strings.Builder // what comes up to the second keep-alive
			buf := make([]byte, 64<<10)
			pings := 0
			var all []byte
			for {
				n, err := r.Body.Read(buf)
				all = append(all, buf[:n]...)
				pings += strings.Count(string(buf[:n]), "ping\n") + strings.Count(string(buf[:n]), `"content":""},"done":false`)
				if pings < 2 {
					before.Write(buf[:n])
				}
				if err != nil {
					break
				}
			}
			r.Body.Close()
			if pings < 2 {
				t.Errorf("%s, %s: %d keep-alives: %s", front.Name, tt.name, pings, all)
			}
			if strings.Contains(before.String(), "Rome") != tt.early {
				t.Errorf("%s, %s: before the pause came %s", front.Name, tt.name, before.String())
			}
			reply, err := front.ReadStream(strings.NewReader(string(all)), adapters.Limits{})
			if err != nil || len(reply.Calls()) != 1 || !strings.Contains(reply.Calls()[0].Arguments, "Rome and Oslo") || reply.First().Finish != adapters.FinishCalls && front != ollama.Chat {
				t.Errorf("%s, %s: %v %+v\n%s", front.Name, tt.name, err, reply, all)
			}
		}
	}
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}
