package interceptor_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/anthropic"
	"github.com/callwright/callwright/adapters/ollama"
	"github.com/callwright/callwright/adapters/openai"
	"github.com/callwright/callwright/config"
	"github.com/callwright/callwright/interceptor"
)

// FuzzExchange has any request meet any answer: neither ends in an internal error.
func FuzzExchange(f *testing.F) {
	for front := range frontPaths {
		f.Add(requestBody(f, front, true), []byte(callStart+callArgs+finishChunk+doneChunk), true)
		f.Add(requestBody(f, front, false), []byte(wholeReply), false)
	}
	f.Add(
		[]byte(`{"model":"m","input":"Hi","stream":true,"tools":[{"type":"custom","name":"x"}]}`), []byte(chunk(`{"content":"<tool_call>"}`)),
		true,
	)
	var answer []byte
	var stream bool
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // whatever it is
		kind := "application/json"
		if stream {
			kind = "text/event-stream"
		}
		w.Header().Set("Content-Type", kind)
		_, _ = w.Write(answer)
	}))
	f.Cleanup(upstream.Close)
	c := config.Default()
	c.Server.Upstream, c.Server.OnInvalid, c.Server.Inspect, c.Server.HeartbeatMS = upstream.URL, "retry", 5, 0
	handlers := map[string]*interceptor.Handler{}
	for _, kind := range []string{"openai", "ollama", "anthropic"} {
		c.Server.UpstreamFormat = kind
		settings := *c
		h, err := interceptor.New(&settings, interceptor.Options{})
		if err != nil {
			f.Fatal(err)
		}
		f.Cleanup(h.Close)
		handlers[kind] = h
	}
	paths := map[*adapters.Format]string{
		openai.Chat: "/v1/chat/completions", openai.Responses: "/v1/responses", anthropic.Messages: "/v1/messages", ollama.Chat: "/api/chat",
	}
	f.Fuzz(func(t *testing.T, body, says []byte, streamed bool) {
		if len(body)+len(says) > 8<<10 {
			return
		}
		answer, stream = says, streamed
		for kind, h := range handlers {
			for front, path := range paths {
				q := httptest.NewRequest(http.MethodPost, path, bytes.NewReader(body))
				q.Host = "localhost"
				w := httptest.NewRecorder()
				h.ServeHTTP(w, q)
				if w.Code == http.StatusInternalServerError {
					t.Errorf("%s before %s: %s", front.Name, kind, w.Body)
				}
			}
		}
	})
}
