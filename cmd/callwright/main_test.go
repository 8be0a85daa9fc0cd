package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const root = "../../testdata"

// run runs the command and returns what it wrote, and its exit code.
func run(t *testing.T, stdin string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	c := newRoot()
	c.SetArgs(args)
	c.SetIn(strings.NewReader(stdin))
	c.SetOut(&out)
	c.SetErr(&errs)
	err := c.ExecuteContext(context.Background())
	switch {
	case err == nil:
	case errors.Is(err, errNoCalls):
		code = exitNoCalls
	default:
		code = exitMisuse
		fmt.Fprintln(&errs, err)
	}
	return out.String(), errs.String(), code
}

func TestParse(t *testing.T) {
	out, _, code := run(t, "", "parse", "--tools", root+"/tools.json", root+"/samples/weather.txt")
	if code != exitCalls {
		t.Fatalf("exit code %d:\n%s", code, out)
	}
	var r struct {
		Calls []struct {
			Tool       string
			Parameters map[string]any
			Coercions  []any
		}
		Reasoning, Content string
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Calls) != 2 || r.Calls[0].Parameters["days"] != 5.0 || len(r.Calls[0].Coercions) != 2 ||
		r.Content != "I'll look that up for you." || !strings.HasPrefix(r.Reasoning, "The user asks") {
		t.Errorf("%+v", r)
	}
	for _, tt := range []struct {
		stdin string
		args  []string
		code  int
		want  string
	}{
		{"nothing here", []string{"parse"}, exitNoCalls, `"content": "nothing here"`},
		{"", []string{"parse", "-"}, exitNoCalls, `"calls": []`},
		{"\x00\xff\xfe", []string{"parse"}, exitNoCalls, "invalid_utf8"},
		{"", []string{"parse", "no such file"}, exitMisuse, "no such file"},
		{"", []string{"parse", "--tools", "no such file"}, exitMisuse, "no such file"},
		{"", []string{"parse", "--min-confidence", "3"}, exitMisuse, "must be at most 1"},
		{"", []string{"parse", "a", "b"}, exitMisuse, "accepts at most 1 arg"},
		{"", []string{"batch", "--workers", "0"}, exitMisuse, "must be at least 1"},
		{"", []string{"stream", "--input", "x"}, exitMisuse, "must be auto, text, sse or ndjson"},
		{"", []string{"nonsense"}, exitMisuse, "unknown command"},
	} {
		out, errs, code := run(t, tt.stdin, tt.args...)
		if code != tt.code || !strings.Contains(out+errs, tt.want) {
			t.Errorf("%v: exit code %d\n%s%s", tt.args, code, out, errs)
		}
	}
}

func TestReport(t *testing.T) {
	p, err := (&flags{tools: root + "/tools.json"}).parser(io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Parse(
		context.Background(),
		"\x1b[31mred <tool_call>{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Ro\x1b[0mme\", \"days\": "+
			"\"2\"}}</tool_call><tool_call>{\"name\": \"get_wether\", \"arguments\": {}}</tool_call>",
		(&flags{}).context(),
	)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := report(&b, "", r); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"1 call", "1. get_weather", `days = 2`, `changed  /days: "2" -> 2`, "Rejected: get_wether", "suggestion: get_weather",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "\x1b") {
		t.Error("a control character reaches the terminal")
	}
}

func TestExplain(t *testing.T) {
	out, _, code := run(
		t, "For example: {\"name\": \"get_weather\", \"arguments\": {\"city\": \"Rome\"}}", "explain", "--tools", root+"/tools.json",
	)
	if code != exitNoCalls || !strings.Contains(out, "not called: low_confidence") || !strings.Contains(out, "│     act") || !strings.Contains(out, "against: ") {
		t.Errorf("exit code %d\n%s", code, out)
	}
	out, _, code = run(t, "plain", "explain")
	if code != exitNoCalls || !strings.Contains(out, "Nothing in the text looks like a call") {
		t.Errorf("exit code %d\n%s", code, out)
	}
}

func TestBatch(t *testing.T) {
	lines := []string{
		`{"id":"a","text":"<tool_call>{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Rome\", \"days\": \"3\",}}</tool_call>",` +
			`"tools":[{"type":"function","function":{"name":"get_weather","parameters":{"type":"object","properties":{"city":{"type":"string"},` +
			`"days":{"type":"integer"},"unit":{"type":"string","default":"c"}},"required":["city"]}}}]}`,
		`nonsense`, ``,
		`{"id":7,"chunks":["<tool_","call>{\"name\":\"f\",\"argu","ments\":{\"a\":1}}</tool_call>"]}`,
		`{"id":"r","reply":{"choices":[{"message":{"tool_calls":[{"id":"call_1","function":{"name":"f","arguments":"{\"a\":1}"}}]}}]}}`,
		`{"id":"t","reply":{"message":{"content":"<tool_call>{\"name\":\"f\",\"arguments\":{}}</tool_call>"}}}`,
		`{"ID":"x","TEXT":"y"}`, `{"id":"bad","text":3}`, `{"id":"tools","text":"x","tools":[3]}`,
		`{"id":"echo","text":"{\"name\":\"f\",\"arguments\":{\"a\":1}}","prompt":["say {\"name\":\"f\",\"arguments\":{\"a\":1}}"]}`,
		`{"id":"former","text":"{\"name\":\"f\",\"arguments\":{\"a\":1}}","heard":["say {\"name\":\"f\",\"arguments\":{\"a\":1}}"]}`,
	}
	out, _, code := run(t, strings.Join(lines, "\n"), "batch", "--workers", "3")
	if code != exitNoCalls { // there are bad lines
		t.Fatalf("exit code %d", code)
	}
	got := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	for i, want := range [][]string{
		{
			`"id":"a","success":true`, `"parameters":{"city":"Rome","days":3,"unit":"c"}`, `"from":"3","to":3`, `"defaults":["/unit"]`,
			`"repairs":["trailing_comma"]`,
		},
		{`"error":"line 2: not a JSON object`},
		{`"id":7`, `"success":true`, `"parameters":{"a":1}`},
		{`"id":"call_1"`, `"provenance":"native"`},
		{`"id":"t"`, `"provenance":"marked"`},
		{`"error":"line 7: needs`},
		{`"id":"bad"`, `"error":"line 8: \"text\"`},
		{`"id":"tools"`, `"error":"line 9: \"tools\"`},
		{`"id":"echo"`, `"code":"echo"`},
		{`"id":"former"`, `"code":"echo"`},
	} {
		for _, w := range want {
			if i >= len(got) || !strings.Contains(got[i], w) {
				t.Errorf("answer %d has no %s:\n%s", i, w, got[min(i, len(got)-1)])
			}
		}
	}
}

// TestBatchAnswersAtOnce writes a line, waits for its answer, and writes the next.
func TestBatchAnswersAtOnce(t *testing.T) {
	in, inWriter := io.Pipe()
	outReader, out := io.Pipe()
	c := newRoot()
	c.SetArgs([]string{"batch"})
	c.SetIn(in)
	c.SetOut(out)
	done := make(chan error, 1)
	go func() { done <- errors.Join(c.ExecuteContext(context.Background()), out.Close()) }()
	answers := bufio.NewScanner(outReader)
	for i := range 3 {
		if _, err := fmt.Fprintf(inWriter, "{\"id\":\"%d\",\"text\":\"x\"}\n", i); err != nil {
			t.Fatal(err)
		}
		answered := make(chan bool, 1)
		go func() { answered <- answers.Scan() }()
		select {
		case ok := <-answered:
			if !ok || !strings.Contains(answers.Text(), fmt.Sprintf(`"id":"%d"`, i)) {
				t.Fatalf("%q", answers.Text())
			}
		case <-time.After(20 * time.Second):
			t.Fatal("no answer")
		}
	}
	if err := inWriter.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func TestStream(t *testing.T) {
	sse := "data: {\"choices\":[{\"delta\":{\"content\":\"Hi <tool_call>{\\\"name\\\": \\\"get_weather\\\", \\\"arguments\\\": " +
		"{\\\"ci\"}}]}\r\n\r\n: comment\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"ty\\\": \\\"Rome\\\"}}</tool_call>\"}}]}\n\ndata: " +
		"[DONE]\n\n"
	ndjson := "{\"message\":{\"content\":\"Hi <tool_call>{\\\"name\\\": \\\"get_weather\\\", \\\"arguments\\\": " +
		"{\\\"city\\\"\"}}\n{\"message\":{\"content\":\": \\\"Rome\\\"}}</tool_call>\"},\"done\":true}\n"
	text := "Hi <tool_call>{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Rome\"}}</tool_call>"
	for name, in := range map[string]string{"sse": sse, "ndjson": ndjson, "text": text} {
		out, _, code := run(t, in, "stream", "--tools", root+"/tools.json")
		if code != exitCalls || !strings.Contains(out, `"type":"content","text":"Hi"`) ||
			!strings.Contains(out, `"type":"call_start","index":0`) || !strings.Contains(out, `"type":"call_end"`) ||
			strings.Count(out, `"type":"result"`) != 1 {
			t.Errorf("%s: exit code %d\n%s", name, code, out)
		}
	}
	out, _, code := run(t, text, "stream", "--complete")
	if code != exitCalls || strings.Contains(out, "call_start") || !strings.Contains(out, "call_end") {
		t.Errorf("exit code %d\n%s", code, out)
	}
}

func TestDialects(t *testing.T) {
	file := filepath.Join(t.TempDir(), "own.yaml")
	if err := os.WriteFile(
		file, []byte("- name: acme\n  open: [\"<<call>>\"]\n  close: [\"<<end>>\"]\n  body: json\n  models: [Acme 1]\n"), 0o600,
	); err != nil {
		t.Fatal(err)
	}
	out, _, code := run(t, "", "dialects", "--dialects", file)
	if code != exitCalls || !strings.Contains(out, "acme") || !strings.Contains(out, "qwen3_coder") {
		t.Errorf("exit code %d\n%s", code, out)
	}
	out, _, code = run(t, `<<call>>{"name": "f", "arguments": {"a": "<<end>>"}}<<end>> done`, "parse", "--dialects", file)
	if code != exitCalls || !strings.Contains(out, `"source_format": "acme"`) || !strings.Contains(out, `"content": " done"`) &&
		!strings.Contains(out, `"content": "done"`) {
		t.Errorf("exit code %d\n%s", code, out)
	}
	if err := os.WriteFile(file, []byte("- name: acme\n  open: [\"<<call>>\"]\n  body: soup\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, errs, code := run(t, "", "dialects", "--dialects", file)
	if code != exitMisuse || !strings.Contains(errs, file+": line 3: ") || !strings.Contains(errs, `field "body"`) {
		t.Errorf("exit code %d: %s", code, errs)
	}
}

// TestReplies parses replies of providers and transcripts of agents, whole, as
// recorded streams, forced, and within batch.
func TestReplies(t *testing.T) {
	wire, agents := root+"/wire/", root+"/agents/"
	for _, tt := range []struct {
		args []string
		code int
		want []string
	}{
		{
			[]string{"parse", wire + "openai_leak.json"},
			exitCalls,
			[]string{`"provenance": "marked"`, `"format": "openai_chat"`, `"finish_reason": "stop"`, `"content": "Sure."`},
		},
		{
			[]string{"parse", wire + "anthropic.sse"},
			exitCalls,
			[]string{`"provenance": "native"`, `"source_format": "claude_tool_use"`, `"version": "2023-06-01"`},
		},
		{[]string{"parse", "--format", "openai", wire + "openai_chat.json"}, exitCalls, []string{`"call_62136354"`}},
		{[]string{"parse", "--format", "gemini-generate", wire + "gemini.json"}, exitCalls, []string{`"gemini_function_call"`}},
		{[]string{"parse", "--format", "text", wire + "openai_leak.json"}, exitNoCalls, []string{`"calls": []`}},
		{[]string{"parse", "--format", "ollama_chat", wire + "html.html"}, exitMisuse, nil},
		{[]string{"parse", wire + "openai_error.sse"}, exitMisuse, []string{`"content": "I was about"`}},
		{[]string{"parse", wire + "gemini_error.json"}, exitNoCalls, nil},
		{[]string{"explain", wire + "openai_both.json"}, exitCalls, []string{"hermes"}},
		{[]string{"parse", agents + "codex.jsonl"}, exitCalls, []string{`"agent": "codex"`, `"status": "success"`}},
		{[]string{"parse", agents + "codex_failed.jsonl"}, exitNoCalls, []string{`"status": "error"`}},
	} {
		args := append([]string{tt.args[0], "--tools", root + "/tools.json"}, tt.args[1:]...)
		out, errs, code := run(t, "", args...)
		for _, w := range tt.want {
			if !strings.Contains(out, w) {
				t.Errorf("%v: no %s in\n%s", tt.args, w, out)
			}
		}
		if code != tt.code {
			t.Errorf("%v: exit code %d: %s", tt.args, code, errs)
		}
	}
}

// TestReplyWithSchema finds JSON in a reply that stands in a line as an object and as
// a string.
func TestReplyWithSchema(t *testing.T) {
	reply := `{"object":"chat.completion","model":"m","choices":[{"message":{"role":"assistant","content":"Here: {\"a\": 1}"},` +
		`"finish_reason":"stop"}]}`
	quoted, err := json.Marshal(reply)
	if err != nil {
		t.Fatal(err)
	}
	for _, value := range []string{reply, string(quoted)} {
		out, _, code := run(t, `{"reply": `+value+`, "schema": {"type": "object", "required": ["a"]}}`, "batch")
		if code != exitCalls || !strings.Contains(out, `"content":"{\"a\":1}"`) || !strings.Contains(out, `"success":true`) {
			t.Errorf("exit code %d\n%s", code, out)
		}
	}
}

func TestModels(t *testing.T) {
	file := filepath.Join(t.TempDir(), "models.yaml")
	rows := "- model: acme*\n  known_issues: [{issue: says CALL, pattern: 'CALL\\((\\{.*\\})\\)', replacement: '<tool_call>$1</tool_call>'}]\n"
	if err := os.WriteFile(file, []byte(rows), 0o600); err != nil {
		t.Fatal(err)
	}
	text := `I say: CALL({"name": "get_weather", "arguments": {"city": "Rome"}})`
	out, _, code := run(t, text, "parse", "--tools", root+"/tools.json", "--models", file, "--model", "acme-1")
	if code != exitCalls || !strings.Contains(out, `"known_issue: says CALL"`) {
		t.Errorf("exit code %d\n%s", code, out)
	}
	line := `{"text": "I say: CALL({\"name\": \"get_weather\", \"arguments\": {\"city\": \"Rome\"}})", "model": "acme-1"}`
	out, _, code = run(t, line, "batch", "--tools", root+"/tools.json", "--models", file)
	if code != exitCalls || !strings.Contains(out, `"strategy":"known_issue"`) {
		t.Errorf("exit code %d\n%s", code, out)
	}
	if err := os.WriteFile(file, []byte("- {model: a, colour: red}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, errs, code := run(t, text, "parse", "--models", file)
	if code != exitMisuse || !strings.Contains(errs, file+": line 1") || !strings.Contains(errs, "colour") {
		t.Errorf("exit code %d: %s", code, errs)
	}
}
