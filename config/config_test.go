package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/callwright/callwright/config"
)

func env(pairs map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) { v, ok := pairs[name]; return v, ok }
}

func TestPrinted(t *testing.T) {
	text := config.Default().YAML()
	c, err := config.Parse("printed", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if c.YAML() != text {
		t.Errorf("it changes:\n%s", c.YAML())
	}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "#") && len(strings.TrimSpace(line)) < 8 {
			t.Errorf("an option is not described: %q", line)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, tt := range []struct {
		yaml, want string
		cause      error
	}{
		{"parser:\n  timeout_ms: soon", "f.yaml:2: parser.timeout_ms: the value cannot be read: it must be a whole number", config.ErrValue},
		{"parser:\n  timeoutMs: 5", `f.yaml:2: parser.timeoutMs: there is no such option (did you mean "parser.timeout_ms"?)`, config.ErrUnknown},
		{"\nstrict_mode: true", `f.yaml:2: strict_mode: there is no such option (did you mean "parser.strict_mode"?)`, config.ErrUnknown},
		{
			"parser:\n  min_confidence: 1.5", "f.yaml:2: parser.min_confidence: the value is out of range: it is 1.5 and must be at most 1",
			config.ErrRange,
		},
		{"caching: {max_size: 0}", "f.yaml:1: caching.max_size: the value is out of range: it is 0 and must be at least 1", config.ErrRange},
		{"extraction:\n  priority: high", "f.yaml:2: extraction.priority", config.ErrRange},
		{"extraction: {methods: [regex]}", "f.yaml:1: extraction.methods", config.ErrRange},
		{"monitoring:\n  alerts: [errors > 1]", "f.yaml:2: monitoring.alerts", nil},
		{
			"fallback:\n  tiers: [llm_assisted_repair]", "fallback.model.url: the value is out of range: llm_assisted_repair needs", config.ErrRange,
		},
		{"fallback:\n  tiers: [auto_repair, auto_repair]", "is listed twice", config.ErrRange},
		{"fallback: {model: {url: 'http://169.254.169.254'}}", "f.yaml:1: fallback.model.url: the address is not allowed", nil},
		{"parser: 5", "f.yaml:1: parser: the value cannot be read: it must be a group", config.ErrValue},
		{"parser:\n  max_calls: 1\n  max_calls: 2", "f.yaml:3: parser.max_calls", config.ErrValue},
		{"a: [", "f.yaml: not YAML", nil},
		{
			"parser:\n  timeout_ms: 5\n---\nparser:\n  timeout_ms: 6", "f.yaml:4: the value cannot be read: there is a second document: put all options into one",
			config.ErrValue,
		},
		{"parser: {timeout_ms: 5}\n---\n[", "f.yaml: not YAML", nil},
		{
			"server:\n  idle_timeout_ms: 9223372036855",
			"f.yaml:2: server.idle_timeout_ms: the value is out of range: it is 9223372036855 and must be at most 86400000", config.ErrRange,
		},
		{"server:\n  max_in_flight: 99999999999", "f.yaml:2: server.max_in_flight: the value is out of range", config.ErrRange},
		{"parser:\n  max_calls: 99999999999999999999", "f.yaml:2: parser.max_calls: the value cannot be read: it must be a whole number", config.ErrValue},
		{"parser:\n  min_confidence: .nan", "f.yaml:2: parser.min_confidence: the value is out of range", config.ErrRange},
	} {
		_, err := config.Parse("f.yaml", []byte(tt.yaml))
		if err == nil || !strings.Contains(err.Error(), tt.want) || tt.cause != nil && !errors.Is(err, tt.cause) {
			t.Errorf("%q: %v, want %s", tt.yaml, err, tt.want)
		}
	}
}

// TestEveryNumberIsBounded holds that no number can be so large that a time or a size made
// of it runs over.
func TestEveryNumberIsBounded(t *testing.T) {
	numbers := 0
	for line := range strings.Lines(config.Default().YAML()) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if _, err := strconv.Atoi(value); !ok || err != nil {
			continue
		}
		numbers++
		for _, huge := range []string{"9223372036854775807", "-9223372036854775808", "1125899906842625"} {
			text := strings.Replace(config.Default().YAML(), line, strings.Replace(line, value, huge, 1), 1)
			_, err := config.Parse("f.yaml", []byte(text))
			if !errors.Is(err, config.ErrRange) || !strings.Contains(err.Error(), name) {
				t.Errorf("%s of %s: %v", name, huge, err)
			}
		}
	}
	if numbers < 25 {
		t.Errorf("only %d numbers", numbers)
	}
	if c, err := config.Parse("f.yaml", []byte("# nothing\n---\n# still nothing\n---\n")); err != nil || c.YAML() != config.Default().YAML() {
		t.Error(err)
	}
}

func TestEnvironment(t *testing.T) {
	name := filepath.Join(t.TempDir(), "callwright.yaml")
	if err := os.WriteFile(name, []byte("parser:\n  timeout_ms: 100\n  max_calls: 7\nfallback:\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(name, env(map[string]string{
		"CALLWRIGHT_PARSER_TIMEOUT_MS": "200", "CALLWRIGHT_VALIDATION_LOSSY": "true", "CALLWRIGHT_PARSER_MIN_CONFIDENCE": "0.6",
		"CALLWRIGHT_FALLBACK_TIERS": "auto_repair, intent_extraction", "CALLWRIGHT_EXTRACTION_PRIORITY": "precise",
	}))
	if err != nil {
		t.Fatal(err)
	}
	if c.Parser.TimeoutMS != 200 || c.Parser.MaxCalls != 7 || !c.Validation.Lossy || c.Parser.MinConfidence != 0.6 ||
		len(c.Fallback.Tiers) != 2 || c.Extraction.Priority != "precise" {
		t.Errorf("%+v", c)
	}
	for name, value := range map[string]string{
		"CALLWRIGHT_PARSER_TIMEOUT_MS": "x", "CALLWRIGHT_VALIDATION_LOSSY": "maybe", "CALLWRIGHT_PARSER_MIN_CONFIDENCE": "2",
	} {
		if _, err := config.Load("", env(map[string]string{name: value})); err == nil || !strings.HasPrefix(err.Error(), name+": ") {
			t.Errorf("%s=%s: %v", name, value, err)
		}
	}
	if _, err := config.Load(filepath.Join(t.TempDir(), "missing.yaml"), env(nil)); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

func TestParts(t *testing.T) {
	c := config.Default()
	c.Fallback.Tiers = []string{"auto_repair", "llm_assisted_repair", "intent_extraction", "partial_execution", "user_clarification"}
	m := &c.Fallback.Model
	m.URL, m.Name, m.Format, m.KeyEnv = "http://127.0.0.1:1/v1", "m", "openai", "REPAIR_KEY"
	c.Caching.Enabled = true
	c.Extraction.Priority = "precise"
	if err := c.Check(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Parts(nil, func(string) string { return "" }); err == nil || !strings.Contains(err.Error(), "REPAIR_KEY") {
		t.Errorf("no key, and %v", err)
	}
	p, err := c.Parts(nil, func(string) string { return "secret" })
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Options.Fallbacks) != 5 || p.Options.Cache == nil || p.Options.Metrics == nil || p.Options.MinConfidence != 0.8 {
		t.Errorf("%+v", p.Options)
	}
	if strings.Contains(c.YAML(), "secret") {
		t.Error("a key is printed")
	}
}
