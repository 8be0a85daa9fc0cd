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
	s.Dialogue(t, "dialogue", "What is the first thing?", "This is the second thing.", "")
	for _, tt := range []struct{ messages, want string }{
		{`{"role":"user","content":"a"}`, "What is the first thing?"},
		{`{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"}`, "This is the second thing."},
	} {
		if got := say(t, s, "dialogue", tt.messages); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
	script := "Hello, this is a script: {\"a\": [1, 2]} ünïcode <tool_call>\n"
	s.Model(t, "hello", script, "")
	if got := say(t, s, "hello", `{"role":"user","content":"Say it."}`); got != script {
		t.Errorf("%q", got)
	}
}

// say asks a model.
func say(t *testing.T, s *Server, model, messages string) string {
	t.Helper()
	r, err := http.Post(s.URL+"/api/chat", "application/json", strings.NewReader(`{"model":"`+model+`","stream":false,"messages":[`+messages+`]}`))
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
	return answer.Message.Content
}

func TestShortScript(t *testing.T) {
	if err := writeModel(&bytes.Buffer{}, []byte("a")); err == nil {
		t.Error("a script of one letter is taken")
	}
}
