package interceptor_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/anthropic"
	"github.com/callwright/callwright/adapters/ollama"
	"github.com/callwright/callwright/adapters/openai"
	"github.com/callwright/callwright/config"
)

// TestCutOff breaks off the stream of each kind of server at many places: each client
// gets a well-formed end, what came before it, and no call that looks whole and is not.
func TestCutOff(t *testing.T) {
	for upstream, f := range map[string]*adapters.Format{"openai": openai.Chat, "anthropic": anthropic.Messages, "ollama": ollama.Chat} {
		var whole bytes.Buffer
		enc := f.NewEncoder(&whole)
		for _, e := range []adapters.Event{
			{Type: adapters.EventStart, ID: "r1", Model: "m"},
			{Type: adapters.EventText, Text: "Let me "},
			{Type: adapters.EventText, Text: "look."},
			{Type: adapters.EventCallStart, ID: "call_1", Name: "get_weather"},
			{Type: adapters.EventArguments, Text: `{"city": `},
			{Type: adapters.EventArguments, Text: `"Rome and Oslo"`},
			{Type: adapters.EventArguments, Text: `}`},
			{Type: adapters.EventCallEnd},
			{Type: adapters.EventFinish, Finish: adapters.FinishCalls},
		} {
			if err := enc.Event(e); err != nil {
				t.Fatal(err)
			}
		}
		if err := enc.End(); err != nil {
			t.Fatal(err)
		}
		var cut atomic.Int64
		url := upstreamOf(t, func(c net.Conn) {
			// the client may be gone
			_, _ = io.WriteString(c, strings.Replace(sseHead, "text/event-stream", f.ContentType, 1)+whole.String()[:cut.Load()])
		})
		s := serve(t, url, func(c *config.Config) { c.Server.UpstreamFormat = upstream })
		step := 7
		if testing.Short() {
			step = 61
		}
		for at := 0; at <= whole.Len(); at += step {
			cut.Store(int64(at))
			for front, path := range frontPaths {
				r, err := http.Post(s.URL+path, "application/json", bytes.NewReader(requestBody(t, front, true)))
				if err != nil {
					t.Fatal(err)
				}
				data, err := io.ReadAll(r.Body)
				r.Body.Close()
				if err != nil || r.StatusCode != http.StatusOK || !ended(front, data) {
					t.Fatalf("%s before %s, cut at %d: %d %v\n%s", front.Name, upstream, at, r.StatusCode, err, data)
				}
				reply, _ := front.ReadStream(bytes.NewReader(data), adapters.Limits{}) // with an error it holds what came
				if text := reply.Text(); !strings.HasPrefix("Let me look.", text) {
					t.Fatalf("%s before %s, cut at %d: %q", front.Name, upstream, at, text)
				}
				for _, c := range reply.Calls() {
					var args map[string]any
					if json.Unmarshal([]byte(c.Arguments), &args) == nil && len(args) > 0 && args["city"] != "Rome and Oslo" && !c.Truncated {
						t.Fatalf("%s before %s, cut at %d: a call that was cut off looks whole: %+v\n%s", front.Name, upstream, at, c, data)
					}
				}
			}
		}
	}
}
