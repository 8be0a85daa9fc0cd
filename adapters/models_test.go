package adapters_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/dialect"
)

func TestCapabilities(t *testing.T) {
	m := adapters.DefaultModels()
	for _, tt := range []struct {
		provider, model          string
		native, structured, both bool
		tokens                   int64
		dialect                  string
	}{
		{"vertex", "claude-sonnet-4-6", true, true, true, 64000, "claude_antml"},
		{"vertex", "gemini-2.5-pro", true, true, false, 65536, "gemma_tool_code"},
		{"google-ai", "gemini-2.5-pro", true, true, false, 65536, "gemma_tool_code"},
		{"anthropic", "claude-opus-4-1", true, true, true, 32000, "claude_antml"},
		{"anthropic", "claude-3-5-sonnet-20241022", true, true, true, 8192, "claude_antml"},
		{"anthropic", "claude-3-opus-20240229", true, true, true, 4096, "claude_antml"},
		{"openai", "gpt-4o-mini", true, true, true, 16384, ""},
		{"openai", "GPT-4.1", true, true, true, 32768, ""},
		{"bedrock", "us.anthropic.claude-sonnet-4-20250514-v1:0", true, true, true, 64000, "claude_antml"},
		{"ollama", "qwen3-coder:30b", false, false, false, 0, "qwen3_coder"},
		{"ollama", "qwen2.5:7b", false, false, false, 0, "hermes"},
		{"lmstudio", "mistralai/Devstral-Small-2507", false, false, false, 0, "mistral_v11"},
		{"", "something-new", false, false, false, 0, ""},
	} {
		c := m.Capabilities(tt.provider, tt.model)
		dialect := ""
		if len(c.KnownFormats) > 0 {
			dialect = c.KnownFormats[0]
		}
		if c.SupportsNativeToolCalls != tt.native || c.SupportsStructuredOutput != tt.structured ||
			c.SupportsToolsWithStructuredOutput != tt.both || c.MaxOutputTokens != tt.tokens || dialect != tt.dialect {
			t.Errorf("%s %s: %+v", tt.provider, tt.model, c)
		}
	}
}

// TestModelsNameDialects holds that the file names no dialect that is not there.
func TestModelsNameDialects(t *testing.T) {
	data, err := os.ReadFile("models.yaml")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, list := range regexp.MustCompile(`dialects: \[([^\]]*)\]`).FindAllStringSubmatch(string(data), -1) {
		for name := range strings.SplitSeq(list[1], ",") {
			if _, ok := dialect.Lookup(strings.TrimSpace(name)); !ok {
				t.Errorf("no dialect %q", name)
			}
			n++
		}
	}
	if n < 40 {
		t.Errorf("%d dialects are named", n)
	}
}

func TestParseModels(t *testing.T) {
	own, err := adapters.ParseModels([]byte(`
- model: "*acme*"
  max_output_tokens: 100
  dialects: [hermes]
  known_issues:
    - {issue: leaves the quotes out, pattern: '(\w+):', replacement: '"$1":', frequency: 0.2}
`))
	if err != nil {
		t.Fatal(err)
	}
	c := adapters.DefaultModels().With(own).Capabilities("openai", "acme-gpt-4o")
	if c.MaxOutputTokens != 100 || !c.SupportsNativeToolCalls || len(c.KnownIssues) != 1 || c.KnownIssues[0].Fix(`{a: 1}`) != `{"a": 1}` {
		t.Errorf("%+v", c)
	}
	bomb := adapters.KnownIssue{Pattern: regexp.MustCompile(`x`), Replacement: strings.Repeat("y", 100)}
	if text := strings.Repeat("x", 1000); bomb.Fix(text) != text {
		t.Error("a fix makes a text many times as long")
	}
	for _, bad := range []struct{ text, want string }{
		{"a: 1", "line 1: must be a list"},
		{"- {model: a, colour: red}", `line 1: line 1: unknown key "colour"`},
		{"- {vision: true}", `needs "provider" or "model"`},
		{"- {model: a, vision: maybe}", "line 1"},
		{"- {model: a, max_output_tokens: -1}", "must be 0 or more"},
		{"\n- {model: a, known_issues: [{issue: i, pattern: '(?=x)'}]}", `line 2: known issue "i"`},
		{"- {model: a, known_issues: [{issue: i, fix: x}]}", `unknown key "fix"`},
		{"- {model: a, known_issues: [{issue: i, frequency: 2}]}", "frequency is 2"},
		{"- [", "not YAML"},
	} {
		if _, err := adapters.ParseModels([]byte(bad.text)); err == nil || !strings.Contains(err.Error(), bad.want) {
			t.Errorf("%q: %v", bad.text, err)
		}
	}
}

func TestFit(t *testing.T) {
	m := adapters.DefaultModels()
	gemini, claude := m.Capabilities("vertex", "gemini-2.5-pro"), m.Capabilities("vertex", "claude-sonnet-4-6")
	r := &adapters.Request{
		Tools: []adapters.Tool{{Name: "f"}}, Response: &adapters.ResponseFormat{Schema: json.RawMessage(`{}`)}, MaxTokens: 1_000_000,
	}
	out, changes := gemini.Fit(r)
	if out.Response != nil || out.MaxTokens != 65536 || len(changes) != 2 || r.Response == nil {
		t.Errorf("%+v %q", out, changes)
	}
	if out, changes = claude.Fit(r); out.Response == nil || out.MaxTokens != 64000 || len(changes) != 1 {
		t.Errorf("%+v %q", out, changes)
	}
	r.Tools, r.MaxTokens = nil, 0
	if out, _ = gemini.Fit(r); out.Response == nil || out.MaxTokens != 65536 {
		t.Errorf("%+v", out)
	}
	unknown := adapters.ModelCapabilities{}
	if out, changes = unknown.Fit(&adapters.Request{MaxTokens: 7}); out.MaxTokens != 7 || changes != nil {
		t.Errorf("%+v %q", out, changes)
	}
}
