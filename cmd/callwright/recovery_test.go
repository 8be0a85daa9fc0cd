package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/callwright/callwright/internal/ollamatest"
)

// TestRecoveryExamples runs the examples of docs/recovery.md as they stand there.
func TestRecoveryExamples(t *testing.T) {
	data, err := os.ReadFile("../../docs/recovery.md")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{ // by what stands in the command
		"New York": `"city": "New York"`, "120x48": `"strategy": "intent_extraction"`, `"width": 12`: `"strategy": "partial_execution"`,
		`{"days": 2}}`: "Ask for city of get_weather",
		"--config":     `"strategy": "llm_assisted_repair"`,
	}
	t.Chdir("../..")
	examples := regexp.MustCompile("(?s)\\$ callwright ([^\n]*) - <<'END'\n(.*?)END\n").FindAllStringSubmatch(string(data), -1)
	if len(examples) != len(want) {
		t.Errorf("docs/recovery.md has %d examples, the map want %d: each example needs a row in it", len(examples), len(want))
	}
	for _, m := range examples {
		for key, expected := range want {
			if !strings.Contains(m[0], key) {
				continue
			}
			t.Run(key, func(t *testing.T) {
				args := strings.Fields(m[1])
				if key == "--config" {
					s := ollamatest.Start(t)
					s.Model(
						t, "repairer", `{"calls":[{"candidate":0,"tool":"create_rectangle","parameters":{"x":100,"y":250,"width":120,"height":48}}]}`, "",
					)
					yaml := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindStringSubmatch(string(data))[1]
					yaml = strings.NewReplacer("http://127.0.0.1:11434", s.URL, "qwen3:0.6b", "repairer").Replace(yaml)
					name := filepath.Join(t.TempDir(), "callwright.yaml")
					if err := os.WriteFile(name, []byte(yaml), 0o600); err != nil {
						t.Fatal(err)
					}
					for i := range args {
						if args[i] == "callwright.yaml" {
							args[i] = name
						}
					}
				}
				out, errs, _ := run(t, m[2], append(args, "-")...)
				if !strings.Contains(out, expected) {
					t.Errorf("%v: %s\n%s", args, errs, out)
				}
			})
		}
	}
}

func TestConfig(t *testing.T) {
	out, _, code := run(t, "", "config", "print")
	if code != exitCalls || !strings.Contains(out, "timeout_ms:") {
		t.Errorf("exit code %d\n%s", code, out)
	}
	name := filepath.Join(t.TempDir(), "callwright.yaml")
	if err := os.WriteFile(name, []byte(out), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, errs, code := run(t, "", "config", "check", name); code != exitCalls || !strings.Contains(out, "is valid") {
		t.Errorf("exit code %d\n%s%s", code, out, errs)
	}
	if err := os.WriteFile(name, []byte("parser:\n  timeout: 5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, errs, code := run(t, "", "config", "check", name); code != exitMisuse ||
		!strings.Contains(errs, ":2: parser.timeout: there is no such option") {
		t.Errorf("exit code %d\n%s", code, errs)
	}
	t.Setenv("CALLWRIGHT_PARSER_STRICT_MODE", "true")
	if out, _, code := run(t, `<tool_call>{"name": "x", "arguments": {"a": 1,}}</tool_call>`, "parse"); code != exitNoCalls {
		t.Errorf("the environment does not count: exit code %d\n%s", code, out)
	}
}
