package interceptor_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/anthropic"
	"github.com/callwright/callwright/adapters/gemini"
	"github.com/callwright/callwright/adapters/ollama"
	"github.com/callwright/callwright/adapters/openai"
	"github.com/callwright/callwright/config"
)

// TestUpstreamPaths checks where an upstream is asked: the base URL counts as it is
// written.
func TestUpstreamPaths(t *testing.T) {
	for _, tt := range []struct {
		base, want string
		f          *adapters.Format
	}{
		{"", "/v1/chat/completions", openai.Chat},
		{"/", "/v1/chat/completions", openai.Chat},
		{"/v1", "/v1/chat/completions", openai.Chat},
		{"/openai/v1/", "/openai/v1/chat/completions", openai.Chat},
		{"/v1beta/openai", "/v1beta/openai/chat/completions", openai.Chat},
		{"/api/paas/v4", "/api/paas/v4/chat/completions", openai.Chat},
		{"/v1/chat/completions", "/v1/chat/completions", openai.Chat},
		{"/x/chat/completions", "/x/chat/completions", openai.Chat},
		{"/pre/fix", "/pre/fix/v1/chat/completions", openai.Chat},
		{"/v1/messages", "/v1/messages", anthropic.Messages},
		{"/anthropic", "/anthropic/v1/messages", anthropic.Messages},
		{"/api", "/api/chat", ollama.Chat},
		{"/api/chat", "/api/chat", ollama.Chat},
		{"/sub", "/sub/api/chat", ollama.Chat},
		{"/v1beta", "/v1beta/models/m:generateContent", gemini.Generate},
		{"", "/v1beta/models/m:generateContent", gemini.Generate},
	} {
		got := ""
		upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			got = r.URL.Path
			saying(tt.f, false, says("Hi."))(w)
		}))
		s := serve(t, upstream.URL+tt.base, func(c *config.Config) { c.Server.UpstreamFormat = kinds[tt.f] })
		ask(t, s.URL, tt.f, "m", false, nil)
		upstream.Close()
		if got != tt.want {
			t.Errorf("%q is asked at %q, want %q", tt.base, got, tt.want)
		}
	}
}

// TestGeminiKey checks that a key in the query, as Google's clients may send it, counts as
// the client's, and is not sent on where the interceptor has keys of its own.
func TestGeminiKey(t *testing.T) {
	t.Setenv("CLIENT_KEY", "client-secret")
	t.Setenv("SERVER_KEY", "server-secret")
	var query, key string
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		query, key = r.URL.RawQuery, r.Header.Get("X-Goog-Api-Key")
		saying(gemini.Generate, false, says("Hi."))(w)
	}))
	t.Cleanup(upstream.Close)
	s := serve(t, upstream.URL, func(c *config.Config) {
		c.Server.UpstreamFormat, c.Server.KeyEnv, c.Server.UpstreamKeyEnv = "gemini", "CLIENT_KEY", "SERVER_KEY"
	})
	path := clientPath(gemini.Generate, "m", false)
	if code, body := postBody(t, s.URL+path+"?key=wrong", requestBody(t, gemini.Generate, false)); code != http.StatusUnauthorized {
		t.Errorf("%d %s", code, body)
	}
	code, body := postBody(t, s.URL+path+"?key=client-secret", requestBody(t, gemini.Generate, false))
	if code != http.StatusOK || strings.Contains(query, "secret") || key != "server-secret" {
		t.Errorf("%d %s: query %q, key %q", code, body, query, key)
	}
	code, body = postBody(t, s.URL+"/v1beta/models/m:streamGenerateContent?key=client-secret", requestBody(t, gemini.Generate, false))
	if code != http.StatusOK || !strings.HasPrefix(body, `[{"candidates"`) || !strings.HasSuffix(body, "}]") {
		t.Errorf("a stream as a list: %d %s", code, body)
	}
	code, body = postBody(t, s.URL+"/v1beta/models/m:embedContent?key=client-secret", []byte(`{}`))
	if code != http.StatusOK || strings.Contains(query, "secret") {
		t.Errorf("%d %s: query %q", code, body, query)
	}
}
