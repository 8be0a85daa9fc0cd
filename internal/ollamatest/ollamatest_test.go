package ollamatest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// TestModel checks that a model says its script, letter for letter.
func TestModel(t *testing.T) {
	s := Start(t)
	script := "Hello, this is a script: {\"a\": [1, 2]} ünïcode <tool_call>\n"
	s.Model(t, "hello", script, "")
	body := `{"model":"hello","stream":false,"messages":[{"role":"user","content":"Say it."}]}`
	r, err := http.Post(s.URL+"/api/chat", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	var answer struct {
		Message struct{ Content string }
	}
	if err := json.NewDecoder(r.Body).Decode(&answer); err != nil {
		t.Fatal(err)
	}
	if answer.Message.Content != script {
		t.Errorf("%q", answer.Message.Content)
	}
}

func TestShortScript(t *testing.T) {
	if err := writeModel(&bytes.Buffer{}, []byte("a")); err == nil {
		t.Error("a script of one letter is taken")
	}
}
