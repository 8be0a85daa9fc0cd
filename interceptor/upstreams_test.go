package interceptor_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/anthropic"
	"github.com/callwright/callwright/adapters/ollama"
	"github.com/callwright/callwright/adapters/openai"
	"github.com/callwright/callwright/config"
)

// TestUpstreamsByModel checks that a request goes to the server of its model, in that
// server's format and with its key, and to the second one if the first does not answer.
func TestUpstreamsByModel(t *testing.T) {
	t.Setenv("A_KEY", "key-of-a")
	keys := map[string]string{}
	up := func(f *adapters.Format, name string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			keys[name] = r.Header.Get("X-Api-Key") + r.Header.Get("Authorization")
			format := f
			if f == ollama.Chat && r.URL.Path == "/v1/chat/completions" {
				format = openai.Chat
			}
			saying(format, strings.Contains(r.Header.Get("X-Stream"), "true"), says("I am "+name+"."))(w)
		}))
		t.Cleanup(s.Close)
		return s.URL
	}
	busy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "{}", http.StatusServiceUnavailable) }))
	t.Cleanup(busy.Close)
	dead := httptest.NewServer(nil)
	dead.Close()
	s := serve(t, up(openai.Chat, "any"), func(c *config.Config) {
		c.Server.UpstreamFormat = "openai"
		c.Server.Upstreams = []config.Upstream{
			{Model: "claude*", URL: up(anthropic.Messages, "a"), Format: "anthropic", KeyEnv: "A_KEY"},
			{Model: "local*", URL: dead.URL, Format: "openai"},
			{Model: "busy*", URL: busy.URL, Format: "openai"},
			{Model: "guess*", URL: dead.URL},
			{Model: "*l*", URL: up(ollama.Chat, "o"), Format: "ollama"},
			{Model: "busy*", URL: up(openai.Chat, "b"), Format: "openai"},
			{Model: "guess*", URL: up(openai.Chat, "g"), Format: "openai"},
			{Model: "gone*", URL: dead.URL, Format: "openai"},
		}
	})
	for _, front := range everyClient {
		for model, want := range map[string]string{"other": "any", "claude-x": "a", "local-7b": "o", "busy-1": "b", "guess-1": "g"} {
			reply, header := ask(t, s.URL, front, model, false, nil)
			if reply.Text() != "I am "+want+"." {
				t.Errorf("%s for %s: %q", front.Name, model, reply.Text())
			}
			failedOver := want == "o" || want == "b" || want == "g"
			if (header.Get("Callwright-Rescue") == "failover") != failedOver {
				t.Errorf("%s for %s: rescue %q", front.Name, model, header.Get("Callwright-Rescue"))
			}
		}
		body, err := front.EncodeRequest(&adapters.Request{Model: "gone-1", Messages: []adapters.Message{{
			Role: adapters.RoleUser, Blocks: []adapters.Block{{Type: adapters.BlockText, Text: "Hello"}},
		}}})
		if err != nil {
			t.Fatal(err)
		}
		code, text := postBody(t, s.URL+clientPath(front, "gone-1", false), body)
		if code != http.StatusBadGateway || !strings.Contains(text, strings.TrimPrefix(dead.URL, "http://")) || !strings.Contains(text, "refused") {
			t.Errorf("%s: %d %s does not say the address and the cause", front.Name, code, text)
		}
	}
	if keys["a"] != "key-of-a" || keys["o"] != "" {
		t.Errorf("keys %v", keys)
	}
}
