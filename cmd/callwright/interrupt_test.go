//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain runs the command itself where a test starts it as a process of its own.
func TestMain(m *testing.M) {
	if os.Getenv("CALLWRIGHT_TEST_MAIN") != "" {
		main()
		return
	}
	if os.Getenv("CALLWRIGHT_TEST_MCP_SERVER") != "" {
		serveNotes()
		return
	}
	os.Exit(m.Run())
}

// TestInterrupt interrupts a server with a stream in progress: the first interrupt lets it
// go on, the second ends the process at once.
func TestInterrupt(t *testing.T) {
	release := make(chan struct{})
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // it is always the same
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, `data: {"choices":[{"index":0,"delta":{"content":"Hello"}}]}`+"\n\n")
		_ = http.NewResponseController(w).Flush()
		<-release
	}))
	defer upstream.Close()
	defer close(release)
	c := exec.Command(os.Args[0], "serve", "--upstream", upstream.URL, "--upstream-format", "openai", "--listen", "127.0.0.1:0", "--inspect", "1")
	c.Env = append(os.Environ(), "CALLWRIGHT_TEST_MAIN=1")
	var stdout strings.Builder
	c.Stdout = &stdout
	stderr, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Process.Kill() }() // it has ended, unless the test failed
	log := bufio.NewReader(stderr)
	wait := func(message string) map[string]any {
		t.Helper()
		for {
			line, err := log.ReadString('\n')
			if err != nil {
				t.Fatalf("%q is not logged: %v", message, err)
			}
			var o map[string]any
			if json.Unmarshal([]byte(line), &o) == nil && o["msg"] == message {
				return o
			}
		}
	}
	address, _ := wait("listening")["address"].(string)
	body := `{"model":"m","stream":true,"messages":[{"role":"user","content":"Hi"}]}`
	r, err := http.Post("http://"+address+"/v1/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if _, err := bufio.NewReader(r.Body).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	if err := c.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	wait("shutting down")
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	select {
	case err := <-ended:
		t.Fatalf("the first interrupt ended it: %v", err)
	case <-time.After(300 * time.Millisecond):
	}
	if err := c.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if err == nil {
			t.Error("it ended as if nothing had happened")
		}
	case <-time.After(10 * time.Second): // of thirty that the stream would get
		t.Fatal("the second interrupt did not end it")
	}
	if !strings.Contains(stdout.String(), "Callwright-Inspector-Token: ") {
		t.Errorf("the inspector's token is not printed: %q", stdout.String())
	}
}
