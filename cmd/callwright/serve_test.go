//go:build unix

package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// lines is a writer whose lines can be waited for.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// find waits for a line of the log with a message, and returns one of its members.
func (l *lines) find(t *testing.T, message, member string) string {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		l.mu.Lock()
		text := l.text.String()
		l.mu.Unlock()
		for line := range strings.Lines(text) {
			var o map[string]any
			if json.Unmarshal([]byte(line), &o) == nil && o["msg"] == message {
				s, _ := o[member].(string)
				return s
			}
		}
	}
	t.Fatalf("%q is not logged", message)
	return ""
}

// TestServe starts the server as a user would, asks it, has it read its configuration
// again, and ends it.
func TestServe(t *testing.T) {
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(
			w,
			`{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant",`+
				`"content":"<tool_call>{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Rome\"}}</tool_call>"},"finish_reason":"stop"}]}`,
		)
	}))
	defer upstream.Close()
	name := filepath.Join(t.TempDir(), "callwright.yaml")
	write := func(mode string) {
		t.Helper()
		if err := os.WriteFile(name, []byte("server:\n  mode: "+mode+"\n  listen: 127.0.0.1:0\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("native")
	var log lines
	c := newRoot()
	c.SetArgs([]string{"serve", "--config", name, "--upstream", upstream.URL, "--upstream-format", "openai"})
	c.SetErr(&log)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- c.ExecuteContext(ctx) }()
	url := "http://" + log.find(t, "listening", "address")
	ask := func() (string, http.Header) {
		t.Helper()
		body := `{"model":"m","messages":[{"role":"user","content":"Hi"}],"tools":[{"type":"function","function":{"name":"get_weather",` +
			`"parameters":{"type":"object"}}}]}`
		r, err := http.Post(url+"/v1/chat/completions", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		data, err := io.ReadAll(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(data), r.Header
	}
	if body, header := ask(); !strings.Contains(body, `"tool_calls"`) || header.Get("Callwright-Mode") != "native" {
		t.Errorf("%s %v", body, header)
	}
	write("emulate")
	if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	log.find(t, "configuration reloaded", "msg")
	if _, header := ask(); header.Get("Callwright-Mode") != "emulate" {
		t.Errorf("%v", header)
	}
	write("sideways")
	if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	if cause := log.find(t, "configuration not reloaded, the old one stays", "cause"); !strings.Contains(cause, "server.mode") {
		t.Error(cause)
	}
	if _, header := ask(); header.Get("Callwright-Mode") != "emulate" {
		t.Errorf("%v", header)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	for _, bad := range [][]string{
		{"serve"},
		{"serve", "--upstream", "ftp://x"},
		{"serve", "--upstream", upstream.URL, "--listen", "0.0.0.0:0"},
		{"serve", "--upstream", upstream.URL, "--mode", "sideways"},
		{"serve", "--upstream", upstream.URL, "--key-env", "NO_SUCH_VARIABLE"},
	} {
		if _, errs, code := run(t, "", bad...); code != exitMisuse || errs == "" {
			t.Errorf("%v: exit code %d %s", bad, code, errs)
		}
	}
}
