package interceptor

import (
	"testing"

	"github.com/callwright/callwright/config"
	"github.com/callwright/callwright/dialect"
)

// TestPrompts checks that each template is short, and that the call in it is read back.
func TestPrompts(t *testing.T) {
	for _, name := range []string{"hermes", "llama3_json", "pythonic", "mistral", "glm45", "qwen3_coder", "deepseek_v3"} {
		d, ok := dialect.Lookup(name)
		if !ok {
			t.Fatal(name)
		}
		w, ok := d.Writer()
		if !ok {
			t.Logf("%s is only read", name)
			continue
		}
		text := toolPrompt(name, w, nil)
		if n := len(text) / 4; n > 130 {
			t.Errorf("%s: the prompt takes about %d tokens:\n%s", name, n, text)
		} else {
			t.Logf("%s: about %d tokens", name, n)
		}
	}
}

// TestSetFor checks that a star stands for any text, slashes too.
func TestSetFor(t *testing.T) {
	c := config.Default()
	c.Server.ModelModes = []config.ModelMode{{Model: "*llama*", Dialect: "llama3_json"}, {Model: "META-*", Mode: "emulate", Dialect: "hermes"}}
	s := &settings{c: c}
	mode := s.setFor("meta-llama/Llama-3.1", func(m *config.ModelMode) string { return m.Mode })
	dialect := s.setFor("meta-llama/Llama-3.1", func(m *config.ModelMode) string { return m.Dialect })
	if mode != "emulate" || dialect != "llama3_json" || s.setFor("qwen", func(m *config.ModelMode) string { return m.Mode }) != "" {
		t.Errorf("%q %q", mode, dialect)
	}
}
