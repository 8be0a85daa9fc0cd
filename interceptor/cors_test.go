package interceptor_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright/adapters/openai"
	"github.com/callwright/callwright/config"
	"github.com/callwright/callwright/interceptor"
)

// TestOrigins checks which pages may ask: those of listed origins, with the key.
func TestOrigins(t *testing.T) {
	t.Setenv("CLIENT_KEY", "secret")
	up := &script{answers: []func(http.ResponseWriter, asking){saysIt(says("Hi."))}}
	upstream := httptest.NewServer(up)
	t.Cleanup(upstream.Close)
	s := serve(t, upstream.URL, func(c *config.Config) {
		c.Server.UpstreamFormat, c.Server.KeyEnv, c.Server.AllowedOrigins = "openai", "CLIENT_KEY", []string{"https://app.example"}
	})
	do := func(method, origin, key, asks string) (int, http.Header) {
		q, err := http.NewRequest(method, s.URL+"/v1/chat/completions", bytes.NewReader(requestBody(t, openai.Chat, false)))
		if err != nil {
			t.Fatal(err)
		}
		for name, v := range map[string]string{
			"Origin": origin, "Authorization": key, "Access-Control-Request-Method": asks, "Sec-Fetch-Site": "cross-site",
		} {
			if v != "" {
				q.Header.Set(name, v)
			}
		}
		r, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		return r.StatusCode, r.Header
	}
	for _, tt := range []struct {
		method, origin, key, asks string
		status                    int
	}{
		{http.MethodOptions, "https://app.example", "", "POST", http.StatusNoContent},
		{http.MethodOptions, "https://app.example", "", "", http.StatusUnauthorized},
		{http.MethodOptions, "https://evil.example", "", "POST", http.StatusForbidden},
		{http.MethodPost, "https://app.example", "Bearer secret", "", http.StatusOK},
		{http.MethodPost, "https://app.example", "", "", http.StatusUnauthorized},
		{http.MethodPost, "https://app.example.evil.example", "Bearer secret", "", http.StatusForbidden},
		{http.MethodPost, "", "Bearer secret", "", http.StatusForbidden},
	} {
		status, header := do(tt.method, tt.origin, tt.key, tt.asks)
		if status != tt.status {
			t.Errorf("%+v: status %d", tt, status)
		}
		want := ""
		if tt.origin == "https://app.example" {
			want = tt.origin
		}
		if got := header.Get("Access-Control-Allow-Origin"); got != want {
			t.Errorf("%+v: allows %q", tt, got)
		}
	}
	if len(up.asked) != 1 {
		t.Errorf("the model server was asked %d times", len(up.asked))
	}
}

// buffered is a log that can be read while it is written.
type buffered struct {
	mu sync.Mutex
	b  strings.Builder
}

func (b *buffered) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffered) has(s string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.Contains(b.b.String(), s)
}

// TestWarnsIfDown checks that the log says at the start if a model server is down.
func TestWarnsIfDown(t *testing.T) {
	dead := httptest.NewServer(nil)
	dead.Close()
	var out buffered
	log := slog.New(slog.NewJSONHandler(&out, nil))
	c := config.Default()
	c.Server.Upstream, c.Server.Listen = dead.URL, "127.0.0.1:0"
	h, err := interceptor.New(c, interceptor.Options{Log: log})
	if err != nil {
		t.Fatal(err)
	}
	s, err := interceptor.NewServer(h, &c.Server, log)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	for deadline := time.Now().Add(10 * time.Second); !out.has("does not answer yet") && time.Now().Before(deadline); {
		time.Sleep(5 * time.Millisecond)
	}
	cancel()
	if err := <-done; err != nil || !out.has(strings.TrimPrefix(dead.URL, "http://")) {
		t.Errorf("%v: no warning with the address", err)
	}
}
