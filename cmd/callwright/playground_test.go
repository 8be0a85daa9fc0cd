package main

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// addressIn is the address that the command prints.
var addressIn = regexp.MustCompile(`Open (http://\S+/callwright/)#token=(\S+)`)

// lockedBuilder is written by the command and read by the test.
type lockedBuilder struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *lockedBuilder) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuilder) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// TestPlayground serves the page until it is interrupted.
func TestPlayground(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var errs lockedBuilder
	c := newRoot()
	c.SetArgs([]string{"playground", "--listen", "127.0.0.1:0"})
	c.SetErr(&errs)
	done := make(chan error, 1)
	go func() { done <- c.ExecuteContext(ctx) }()
	var m []string
	for deadline := time.Now().Add(20 * time.Second); m == nil && time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		m = addressIn.FindStringSubmatch(errs.String())
	}
	if m == nil {
		t.Fatalf("no address: %s", errs.String())
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for _, tt := range []struct {
		token  string
		status int
	}{{m[2], 200}, {"", 401}} {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, m[1]+"api/explain", strings.NewReader(`{"text": "hello"}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Callwright-Token", tt.token)
		r.Header.Set("Content-Type", "application/json")
		w, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Body.Close(); err != nil || w.StatusCode != tt.status {
			t.Error(w.StatusCode, err)
		}
	}
	cancel()
	if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	for _, tt := range []struct{ listen, want string }{
		{"0.0.0.0:0", "loopback interface only"}, {":0", "loopback interface only"}, {"example.com:80", "loopback"}, {"x", "--listen"},
	} {
		if _, errs, code := run(t, "", "playground", "--listen", tt.listen); code != exitMisuse || !strings.Contains(errs, tt.want) {
			t.Errorf("%s: exit code %d, %s", tt.listen, code, errs)
		}
	}
	if _, errs, code := run(t, "", "playground", "--token-env", "NO_SUCH_VARIABLE"); code != exitMisuse || !strings.Contains(errs, "16 characters") {
		t.Errorf("exit code %d, %s", code, errs)
	}
}
