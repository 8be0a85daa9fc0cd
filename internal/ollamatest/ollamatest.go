// Package ollamatest runs a real Ollama server for tests, with models that always say
// what a test tells them to.
package ollamatest

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Server is a running Ollama server.
type Server struct {
	// URL is its address, such as http://127.0.0.1:40123.
	URL    string
	binary string
	dir    string
	env    []string
}

// Binary returns the Ollama program: the one that CALLWRIGHT_OLLAMA names, the one that
// the continuous integration built into the user's cache folder, or one on the PATH. It
// is "" where there is none.
func Binary() string {
	if p := os.Getenv("CALLWRIGHT_OLLAMA"); p != "" {
		return p
	}
	if dir, err := os.UserCacheDir(); err == nil {
		p := filepath.Join(dir, "callwright", "bin", "ollama")
		if _, err := os.Stat(p); err == nil {
			return p
		}
	}
	p, err := exec.LookPath("ollama")
	if err != nil {
		return ""
	}
	return p
}

// Start starts a server that ends with the test. The test is skipped where there is no
// Ollama program, or where it is a short one.
func Start(t testing.TB) *Server {
	t.Helper()
	if testing.Short() {
		t.Skip("skipped: the tests against a real Ollama server are long")
	}
	binary := Binary()
	if binary == "" {
		t.Skip("skipped: there is no Ollama program; install it, or name it in CALLWRIGHT_OLLAMA")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	s := &Server{URL: "http://" + address, binary: binary, dir: t.TempDir()}
	s.env = append(os.Environ(),
		"OLLAMA_HOST="+address, "OLLAMA_MODELS="+filepath.Join(s.dir, "models"), "HOME="+s.dir, "OLLAMA_KEEP_ALIVE=10m",
		"OLLAMA_MAX_LOADED_MODELS=8", "OLLAMA_NUM_PARALLEL=1", "OLLAMA_CONTEXT_LENGTH=4096",
	)
	ctx, cancel := context.WithCancel(context.Background())
	c := exec.CommandContext(ctx, binary, "serve")
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) } // so that it ends its runners
	c.WaitDelay = 10 * time.Second
	c.Env = s.env
	log := &strings.Builder{}
	c.Stdout, c.Stderr = log, log
	if err := c.Start(); err != nil {
		cancel()
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = c.Wait() // it was told to end
	})
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		r, err := http.Get(s.URL + "/api/version")
		if err == nil {
			_, _ = io.Copy(io.Discard, r.Body)
			r.Body.Close()
			return s
		}
		if time.Now().After(deadline) {
			t.Fatalf("the server does not answer: %v\n%s", err, log)
		}
	}
}

// ToolTemplate is a template of a model that takes tools, PlainTemplate of one that
// takes none. Both end where the model is to speak.
const (
	PlainTemplate = `{{ range .Messages }}<|user|>{{ .Role }}: {{ .Content }}{{ end }}<|assistant|>`
	ToolTemplate  = `{{ range .Tools }}{{ json . }}{{ end }}` +
		`{{ range .Messages }}<|user|>{{ .Role }}: {{ .Content }}{{ range .ToolCalls }}{{ json .Function }}{{ end }}{{ end }}<|assistant|>`
)

// then is behind a template's end where the conversation has gone on, so that a model of
// two scripts says the second: at the third message, or the fourth if the first is the
// system's.
const then = `{{ if gt (len .Messages) 2 }}<|then|>{{ end }}`

// Model creates a model that always says a script. The template is [PlainTemplate] if
// none is given.
func (s *Server) Model(t testing.TB, name, script, template string) {
	t.Helper()
	s.create(t, name, template, script)
}

// Dialogue creates a model that says one script first, and another one once there are
// more than two messages: behind a tool's result.
func (s *Server) Dialogue(t testing.TB, name, first, second, template string) {
	t.Helper()
	if template == "" {
		template = PlainTemplate
	}
	s.create(t, name, template+then, first, second)
}

func (s *Server) create(t testing.TB, name, template string, scripts ...string) {
	t.Helper()
	if template == "" {
		template = PlainTemplate
	}
	gguf := filepath.Join(s.dir, name+".gguf")
	if err := createModelFile(gguf, scripts...); err != nil {
		t.Fatal(err)
	}
	modelfile := filepath.Join(s.dir, name+".modelfile")
	content := fmt.Sprintf("FROM %s\nTEMPLATE \"\"\"%s\"\"\"\nPARAMETER temperature 0\nPARAMETER num_ctx 4096\n", gguf, template)
	if err := os.WriteFile(modelfile, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(s.binary, "create", name, "-f", modelfile)
	c.Env = s.env
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("create %s: %v\n%s", name, err, out)
	}
	_ = os.Remove(gguf) // the server has its own copy
}
