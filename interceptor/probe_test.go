package interceptor_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/anthropic"
	"github.com/callwright/callwright/adapters/ollama"
	"github.com/callwright/callwright/adapters/openai"
)

// kindServer is a server of one kind, which answers in its own format only.
type kindServer struct {
	format  *adapters.Format
	version func(http.ResponseWriter, *http.Request) // GET /api/version
	models  func(http.ResponseWriter, *http.Request) // GET /v1/models
	probes  atomic.Int64
	mu      sync.Mutex
	paths   []string
}

func (k *kindServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	switch {
	case r.URL.Path == "/api/version":
		k.probes.Add(1)
		k.version(w, r)
	case r.URL.Path == "/v1/models":
		k.models(w, r)
	case r.Method == http.MethodPost && r.URL.Path == k.format.Paths[0]:
		k.mu.Lock()
		k.paths = append(k.paths, r.URL.Path)
		k.mu.Unlock()
		data, err := k.format.EncodeReply(says("Hi."))
		if err != nil {
			panic(err)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(data)
	default:
		http.NotFound(w, r)
	}
}

func answering(status int, body string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

const noSuchThing = `{"type":"error","error":{"type":"not_found_error","message":"Not found"}}`

// TestKinds checks that auto finds out each kind of server, whatever it says to those who
// have no key, and that each client is served.
func TestKinds(t *testing.T) {
	for name, k := range map[string]*kindServer{
		"ollama":             {format: ollama.Chat, version: answering(200, `{"version":"0.17.4"}`), models: http.NotFound},
		"openai":             {format: openai.Chat, version: http.NotFound, models: answering(200, `{"object":"list","data":[{"id":"m","object":"model"}]}`)},
		"openai with keys":   {format: openai.Chat, version: http.NotFound, models: answering(401, `{"error":{"message":"no key","type":"invalid_request_error"}}`)},
		"openai, nothing":    {format: openai.Chat, version: http.NotFound, models: http.NotFound},
		"openai, all locked": {format: openai.Chat, version: answering(403, "<html>"), models: answering(403, "<html>")},
		"anthropic":          {format: anthropic.Messages, version: answering(404, noSuchThing), models: answering(401, noSuchThing)},
		"anthropic, models": {
			format: anthropic.Messages, version: http.NotFound,
			models: answering(200, `{"data":[{"type":"model","id":"m","display_name":"M"}],"has_more":false}`),
		},
		"anthropic, nothing": {format: anthropic.Messages, version: http.NotFound, models: http.NotFound},
		"anthropic, locked":  {format: anthropic.Messages, version: answering(403, "<html>"), models: answering(403, "<html>")},
	} {
		t.Run(name, func(t *testing.T) {
			upstream := httptest.NewServer(k)
			defer upstream.Close()
			s := serve(t, upstream.URL, nil)
			for range 2 {
				for front, path := range allFronts {
					if k.format == ollama.Chat && front == openai.Chat {
						continue // Ollama speaks that itself, this one does not
					}
					r, err := http.Post(s.URL+path, "application/json", bytes.NewReader(requestBody(t, front, false)))
					if err != nil {
						t.Fatal(err)
					}
					data, err := io.ReadAll(r.Body)
					r.Body.Close()
					if err != nil || r.StatusCode != http.StatusOK || !strings.Contains(string(data), "Hi.") {
						t.Errorf("%s: %d %s", front.Name, r.StatusCode, data)
					}
				}
			}
			if n := k.probes.Load(); n > 2 {
				t.Errorf("it was asked %d times", n)
			}
		})
	}
}

// TestModelNotFound checks that what a server of the usual kind says of an unknown model
// reaches the client.
func TestModelNotFound(t *testing.T) {
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/chat/completions" {
			answering(404, `{"error":{"message":"model m not found","type":"not_found"}}`)(w, r)
			return
		}
		http.NotFound(w, r)
	}))
	defer upstream.Close()
	s := serve(t, upstream.URL, nil)
	for front, path := range allFronts {
		r, err := http.Post(s.URL+path, "application/json", bytes.NewReader(requestBody(t, front, false)))
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r.Body)
		r.Body.Close()
		if err != nil || r.StatusCode != http.StatusNotFound || !strings.Contains(string(data), "model m not found") {
			t.Errorf("%s: %d %s", front.Name, r.StatusCode, data)
		}
	}
}

// TestNothingLearnedFromErrors has a server of Ollama fail at first.
func TestNothingLearnedFromErrors(t *testing.T) {
	var fails atomic.Bool
	k := &kindServer{format: ollama.Chat, models: http.NotFound, version: func(w http.ResponseWriter, r *http.Request) {
		if fails.Load() {
			http.Error(w, "starting", http.StatusServiceUnavailable)
			return
		}
		answering(200, `{"version":"0.17.4"}`)(w, r)
	}}
	upstream := httptest.NewServer(k)
	defer upstream.Close()
	s := serve(t, upstream.URL, nil)
	fails.Store(true)
	for i := range 3 {
		r, err := http.Post(s.URL+"/api/chat", "application/json", bytes.NewReader(requestBody(t, ollama.Chat, false)))
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		if i == 1 {
			fails.Store(false)
		}
		if i == 2 && (r.StatusCode != http.StatusOK || len(k.paths) != 1) {
			t.Errorf("status %d, asked at %v", r.StatusCode, k.paths)
		}
	}
}

// TestSlowProbe has many clients at once wait for a server that is slow to say what it is:
// it is asked once, each client waits for that alone, and who leaves is free at once.
func TestSlowProbe(t *testing.T) {
	const clients = 64
	release := make(chan struct{})
	k := &kindServer{format: ollama.Chat, models: http.NotFound, version: func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
		answering(200, `{"version":"0.17.4"}`)(w, r)
	}}
	upstream := httptest.NewServer(k)
	defer upstream.Close()
	s := serve(t, upstream.URL, nil)
	body := requestBody(t, ollama.Chat, false)
	post := func(ctx context.Context) error {
		q, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+"/api/chat", bytes.NewReader(body))
		if err != nil {
			return err
		}
		r, err := http.DefaultClient.Do(q)
		if err != nil {
			return err
		}
		defer r.Body.Close()
		if r.StatusCode != http.StatusOK {
			return fmt.Errorf("status %d", r.StatusCode)
		}
		return nil
	}
	leaving, leave := context.WithCancel(context.Background())
	left := make(chan error, clients)
	for range clients / 2 {
		go func() { left <- post(leaving) }()
	}
	done := make(chan error, clients)
	for range clients {
		go func() { done <- post(context.Background()) }()
	}
	for deadline := time.Now().Add(10 * time.Second); k.probes.Load() == 0 && time.Now().Before(deadline); {
		time.Sleep(5 * time.Millisecond)
	}
	leave()
	for range clients / 2 {
		if err := <-left; err == nil {
			t.Error("who left got an answer")
		}
	}
	close(release)
	for range clients {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if n := k.probes.Load(); n > 2 { // one more if the leaving ones were alone at first
		t.Errorf("it was asked %d times", n)
	}
}

// TestFailingProbe has many clients ask before a server that is not there.
func TestFailingProbe(t *testing.T) {
	upstream := httptest.NewServer(http.NotFoundHandler())
	url := upstream.URL
	upstream.Close()
	s := serve(t, url, nil)
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			r, err := http.Post(s.URL+"/api/chat", "application/json", bytes.NewReader(requestBody(t, ollama.Chat, false)))
			if err != nil {
				t.Error(err)
				return
			}
			r.Body.Close()
			if r.StatusCode != http.StatusBadGateway {
				t.Errorf("status %d", r.StatusCode)
			}
		})
	}
	wg.Wait()
}
