package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestBadLines holds that each line that cannot be parsed gives a result line with an
// error, in its place, that the output is valid JSON Lines, and that the exit code is 1.
func TestBadLines(t *testing.T) {
	const good = `{"id":"ok","text":"plain"}`
	for _, bad := range []string{
		`nonsense`, `[]`, `null`, `3`, `"x"`, `{"id":1}`, `{"text":null}`, `{"text":3}`, `{"text":["a"]}`, `{"chunks":null}`, `{"chunks":["a",null]}`, `{"chunks":"a"}`,
		`{"reply":null}`, `{"text":null,"schema":{}}`, `{"text":"x","schema":3}`, `{"text":"x","schema":{} {}}`, `{"text":"x","keys":"a"}`, `{"text":"x","tools":[3]}`,
		`{"text":"x","schema":{"$ref":"#"}}`, `{"text":"x","heard":3}`, `{"text":"x"`, "{\"id\":{\"a\":\"\xff\"},\"text\":3}", "\x00", "{\"text\":\"\xff\"} x",
	} {
		out, _, code := run(t, good+"\n"+bad+"\r\n"+good, "batch")
		lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
		if code != exitNoCalls || len(lines) != 3 || !strings.Contains(lines[0], `"id":"ok"`) || !strings.Contains(lines[2], `"id":"ok"`) {
			t.Fatalf("%s: exit code %d\n%s", bad, code, out)
		}
		var answer struct {
			Success bool
			Error   string
		}
		if err := json.Unmarshal([]byte(lines[1]), &answer); err != nil || answer.Success || !strings.HasPrefix(answer.Error, "line 2: ") || !utf8.ValidString(out) {
			t.Errorf("%q: %v\n%s", bad, err, lines[1])
		}
	}
	for _, in := range []string{good, good + "\n\n \n" + good, "", "\ufeff" + good, "\ufeff", "\ufeff\n" + good, `{"text":"no calls"}`, `{"chunks":[]}`, `{"text":""}`} {
		out, _, code := run(t, in, "batch")
		if code != exitCalls || strings.Contains(out, `"error"`) || strings.Count(out, "\n") != strings.Count(in, "{") {
			t.Errorf("%q: exit code %d\n%s", in, code, out)
		}
	}
}

// TestWorkers holds that there are not more workers than are of use.
func TestWorkers(t *testing.T) {
	out, errs, code := run(t, strings.Repeat("{\"text\":\"x\"}\n", 20), "batch", "--workers", "1000000")
	if code != exitCalls || strings.Count(out, "\n") != 20 || !strings.Contains(errs, fmt.Sprintf("--workers is 1000000: %d are used, the most", maxWorkers)) {
		t.Errorf("exit code %d, %d lines, %s", code, strings.Count(out, "\n"), errs)
	}
	if _, errs, _ := run(t, "", "batch", "--workers", fmt.Sprint(maxWorkers)); errs != "" {
		t.Error(errs)
	}
}

// TestBatchSchemas holds what lines that ask for JSON are answered.
func TestBatchSchemas(t *testing.T) {
	for line, want := range map[string]string{
		`{"text":"prose {\"other\":1} more {\"merchants\":[{\"c\":12}]} tail","keys":["merchants"]}`: `"success":true,"content":"{\"merchants\":[{\"c\":12}]}"`,
		`{"chunks":["prose {\"other\":1} more {\"merch","ants\":[]} tail"],"keys":["merchants"]}`:    `"content":"{\"merchants\":[]}"`,
		`{"text":"a {\"a\":1}","schema":true}`:                                                       `"success":true,"content":"{\"a\":1}"`,
		`{"text":"{\"a\":1}","schema":{"type":"objec"}}`:                                             `"warnings":["type_ignored: /type`,
		`{"text":"[1]","schema":{"type":["object","array"]}}`:                                        `"success":true,"content":"[1]"`,
		`{"text":" ","schema":{}}`:                                                                   `"success":false,"content":""`,
		`{"text":"[\"x\",1]","schema":{"items":[{"type":"string"},{}]}}`:                             `"success":true`,
	} {
		out, _, code := run(t, line, "batch")
		if code != exitCalls || !strings.Contains(out, want) {
			t.Errorf("%s: exit code %d\n%s", line, code, out)
		}
	}
}

// TestSchemaFiles holds which files parse --schema takes.
func TestSchemaFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "schema.json")
	for _, tt := range []struct {
		schema, stdin string
		code          int
		want          string
	}{
		{"true", `so: {"a":1}`, exitCalls, `"a": 1`},
		{"\ufeff{\"type\":\"object\"}\n", `{"a":1}`, exitCalls, `"a": 1`},
		{`{"type":"objec"}`, `{"a":1}`, exitCalls, "type_ignored: /type"},
		{"false", `{}`, exitMisuse, "not a JSON Schema"},
		{"null", `{}`, exitMisuse, "not a JSON Schema"},
		{"{} {}", `{}`, exitMisuse, "not a JSON Schema"},
		{"{", `{}`, exitMisuse, "not a JSON Schema"},
		{`{"$ref":"#"}`, `{}`, exitMisuse, "applies itself"},
	} {
		if err := os.WriteFile(file, []byte(tt.schema), 0o600); err != nil {
			t.Fatal(err)
		}
		out, errs, code := run(t, tt.stdin, "parse", "--schema", file)
		if code != tt.code || !strings.Contains(out+errs, tt.want) {
			t.Errorf("%s: exit code %d\n%s%s", tt.schema, code, out, errs)
		}
	}
	out, errs, code := run(t, "", "parse", "--schema", file, "--format", "text", root+"/agents/codex.jsonl")
	if code != exitMisuse {
		t.Errorf("exit code %d\n%s%s", code, out, errs)
	}
	if err := os.WriteFile(file, []byte("true"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, errs, code := run(t, "", "parse", "--schema", file, root+"/agents/codex.jsonl"); code == exitMisuse || !strings.Contains(out, `"validation"`) {
		t.Errorf("exit code %d\n%s%s", code, out, errs)
	}
}

// TestErrorsArePrintable holds that what is written in a file's name or a flag reaches the
// terminal without its control characters.
func TestErrorsArePrintable(t *testing.T) {
	const evil = "\x1b[31m\u202eevil\a"
	for _, args := range [][]string{
		{"parse", evil},
		{"batch", evil},
		{"parse", "--tools", evil},
		{"parse", "--schema", evil},
		{"parse", "--dialects", evil},
		{"parse", "--models", evil},
		{"parse", "--config", evil},
		{"config", "check", evil},
		{"config", "print", evil},
		{"stream", "--input", evil},
		{"parse", "--format", evil},
		{"parse", "--tiers", evil},
		{"parse", "--" + evil},
		{evil},
		{"explain", evil},
		{"dialects", "--dialects", evil},
		{"serve", "--upstream", evil},
		{"batch", "--workers", evil},
	} {
		out, errs, _ := run(t, "", args...)
		if strings.ContainsAny(out+errs, "\x1b\a\u202e") {
			t.Errorf("%q: %q", args, out+errs)
		}
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "a\x1b[2Jb.json")
	if err := os.WriteFile(file, []byte(`{"name":"t","parameters":{"$ref":"#"}}`), 0o600); err != nil {
		t.Skip(err)
	}
	for _, args := range [][]string{{"parse", "--tools", file}, {"batch", "--tools", file}} {
		out, errs, code := run(t, "x", args...)
		if code == exitMisuse && args[0] == "batch" || strings.Contains(out+errs, "\x1b") || !strings.Contains(errs, `a\x1b[2Jb.json`) {
			t.Errorf("%q: exit code %d: %q", args, code, out+errs)
		}
	}
}
