package agentcli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/callwright/callwright/adapters/agentcli"
	"github.com/callwright/callwright/internal/golden"
)

// TestMain replays a transcript instead of testing, where a test runs it as an agent.
func TestMain(m *testing.M) {
	if file := os.Getenv("CALLWRIGHT_REPLAY"); file != "" {
		replay(file)
		return
	}
	goleak.VerifyTestMain(m)
}

const folder = "../../testdata/agents"

func transcripts(t testing.TB) []string {
	t.Helper()
	names, err := filepath.Glob(folder + "/*.json*")
	if err != nil || len(names) < 8 {
		t.Fatal(names, err)
	}
	return names
}

func describe(t *testing.T, r *agentcli.Response) string {
	t.Helper()
	shown := *r
	shown.Raw = agentcli.Raw{}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(shown); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%sevents: %d\n", b.String(), len(r.Raw.Events))
}

func TestParse(t *testing.T) {
	for _, name := range transcripts(t) {
		if strings.HasSuffix(name, ".want") {
			continue
		}
		t.Run(filepath.Base(name), func(t *testing.T) {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			r, err := agentcli.Parse(context.Background(), data, agentcli.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if r.Raw.Stdout != string(data) {
				t.Error("the transcript is not kept")
			}
			golden.Check(t, name+".want", describe(t, r))
			for i := range data { // cut off anywhere, it is read as far as it goes
				if _, err := agentcli.Parse(context.Background(), data[:i], agentcli.Options{}); err != nil && !errors.Is(err, agentcli.ErrAgent) {
					t.Fatalf("cut off at %d: %v", i, err)
				}
			}
		})
	}
}

func TestResponseSchema(t *testing.T) {
	data, err := os.ReadFile(folder + "/claude_code.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	r, err := agentcli.Parse(ctx, data, agentcli.Options{ResponseSchema: true})
	if err != nil {
		t.Fatal(err)
	}
	if m, ok := r.Output.(map[string]any); !ok || m["ok"] != true || !r.Metadata.Validation.Success {
		t.Errorf("%+v %+v", r.Output, r.Metadata.Validation)
	}
	r, err = agentcli.Parse(ctx, data, agentcli.Options{ResponseSchema: map[string]any{"type": "object", "required": []any{"missing"}}})
	if err != nil {
		t.Fatal(err)
	}
	if m, ok := r.Output.(map[string]any); !ok || m["ok"] != true || r.Metadata.Validation.Success || len(r.Metadata.Validation.Errors) != 1 {
		t.Errorf("best effort: %+v %+v", r.Output, r.Metadata.Validation)
	}
	old, err := os.ReadFile(folder + "/codex_old.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	r, err = agentcli.Parse(ctx, old, agentcli.Options{ResponseSchema: true})
	if err != nil {
		t.Fatal(err)
	}
	if m, ok := r.Output.(map[string]any); !ok || len(m) != 0 || r.Metadata.Validation.Success ||
		r.Metadata.Validation.Errors[0] != "no JSON found in output" {
		t.Errorf("none: %+v %+v", r.Output, r.Metadata.Validation)
	}
	if _, err = agentcli.Parse(ctx, data, agentcli.Options{ResponseSchema: 7}); !errors.Is(err, agentcli.ErrSchema) {
		t.Errorf("%v", err)
	}
	for _, bad := range []string{"", "hello", "\x00\xff", "<html>", `{"a":1}`, "[1,2"} {
		if _, err := agentcli.Parse(ctx, []byte(bad), agentcli.Options{}); !errors.Is(err, agentcli.ErrAgent) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// replay is an agent: it prints a transcript after it has read its prompt.
func replay(file string) {
	var prompt bytes.Buffer
	_, _ = prompt.ReadFrom(os.Stdin)
	if out := os.Getenv("ECHO"); out != "" {
		dir, _ := os.Getwd()
		secret := os.Getenv("SECRET")
		_ = os.WriteFile(out, []byte(strings.Join(os.Args[1:], "|")+"\n"+prompt.String()+"\n"+dir+"\n"+secret), 0o600)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
	for line := range bytes.Lines(data) {
		_, _ = os.Stdout.Write(line)
		if os.Getenv("SLOW") != "" {
			time.Sleep(time.Hour)
		}
	}
	fmt.Fprint(os.Stderr, "a note\n")
	if os.Getenv("FLOOD") != "" {
		for {
			if _, err := os.Stdout.Write(bytes.Repeat([]byte("x"), 1<<16)); err != nil {
				os.Exit(4)
			}
		}
	}
	if os.Getenv("FAIL") != "" {
		os.Exit(7)
	}
}

func program(t *testing.T) (path, transcript string) {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	transcript, err = filepath.Abs(folder + "/claude_code.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	return path, transcript
}

func TestRun(t *testing.T) {
	path, transcript := program(t)
	dir := t.TempDir()
	echo := filepath.Join(dir, "echo")
	t.Setenv("SECRET", "not for agents")
	var events []agentcli.Event
	r, err := agentcli.Run(context.Background(), "say; $(touch x) `id` \"hi\"", agentcli.RunOptions{
		Options: agentcli.Options{Agent: agentcli.ClaudeCode, ResponseSchema: true}, Path: path, Dir: dir, Model: "claude-x",
		Args: []string{"--max-turns", "3"},
		Env:  []string{"CALLWRIGHT_REPLAY=" + transcript, "ECHO=" + echo}, OnEvent: func(e agentcli.Event) { events = append(events, e) },
	})
	if err != nil {
		t.Fatal(err)
	}
	if r.Status != agentcli.StatusSuccess || r.SessionID != "0f3a-11" || r.Output.(map[string]any)["ok"] != true ||
		r.Raw.Stderr != "a note\n" || len(r.Raw.Events) != 11 || len(events) < 8 {
		t.Errorf("%+v, %d events", r, len(events))
	}
	said, err := os.ReadFile(echo)
	if err != nil {
		t.Fatal(err)
	}
	want := "--print|--output-format|stream-json|--verbose|--model=claude-x|--max-turns|3\nsay; $(touch x) `id` \"hi\"\n" + dir + "\n"
	if string(said) != want {
		t.Errorf("the program got %q, want %q", said, want)
	}
}

func TestRunFails(t *testing.T) {
	path, transcript := program(t)
	env := []string{"CALLWRIGHT_REPLAY=" + transcript}
	options := func(more ...string) agentcli.RunOptions {
		return agentcli.RunOptions{Options: agentcli.Options{Agent: agentcli.ClaudeCode}, Path: path, Env: append(env[:1:1], more...)}
	}
	r, err := agentcli.Run(context.Background(), "p", options("FAIL=1"))
	if err != nil || r.Status != agentcli.StatusError || r.ExitCode != 7 || !strings.Contains(r.Error, "exit code 7: a note") ||
		r.SessionID == "" {
		t.Errorf("%v %+v", err, r)
	}
	if _, err = agentcli.Run(
		context.Background(), "p", agentcli.RunOptions{Options: agentcli.Options{Agent: agentcli.Codex}, Path: "/nonexistent/program"},
	); err == nil {
		t.Error("no error of a program that is not there")
	}
	if _, err = agentcli.Run(
		context.Background(), "p", agentcli.RunOptions{Options: agentcli.Options{Agent: "emacs"}},
	); !errors.Is(err, agentcli.ErrAgent) {
		t.Errorf("%v", err)
	}
	slow := options("SLOW=1")
	slow.Timeout = 300 * time.Millisecond
	start := time.Now()
	r, err = agentcli.Run(context.Background(), "p", slow)
	if !errors.Is(err, agentcli.ErrTimeout) || r.SessionID != "0f3a-11" || r.Status != agentcli.StatusError ||
		time.Since(start) > 10*time.Second {
		t.Errorf("%v %+v after %v", err, r, time.Since(start))
	}
	ctx, cancel := context.WithCancel(context.Background())
	slow.Timeout = 0
	slow.OnEvent = func(agentcli.Event) { cancel() }
	if _, err = agentcli.Run(ctx, "p", slow); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	flood := options("FLOOD=1")
	flood.MaxOutputBytes = 1 << 20
	if r, err = agentcli.Run(context.Background(), "p", flood); !errors.Is(err, agentcli.ErrOutputTooLarge) || r.SessionID == "" {
		t.Errorf("%v", err)
	}
}

// TestRunEndsTheGroup holds that what an agent started is ended with it.
func TestRunEndsTheGroup(t *testing.T) {
	sh := "/bin/sh"
	if _, err := os.Stat(sh); err != nil {
		t.Skip("no /bin/sh here")
	}
	dir := t.TempDir()
	script := filepath.Join(dir, "agent")
	mark := filepath.Join(dir, "mark")
	text := "#!/bin/sh\n(sleep 2; echo alive > " + mark + ") &\necho '{\"type\":\"thread.started\",\"thread_id\":\"t\"}'\nsleep 60\n"
	if err := os.WriteFile(script, []byte(text), 0o700); err != nil { //nolint:gosec // it has to be run
		t.Fatal(err)
	}
	start := time.Now()
	r, err := agentcli.Run(
		context.Background(), "p",
		agentcli.RunOptions{Options: agentcli.Options{Agent: agentcli.Codex}, Path: script, Timeout: 500 * time.Millisecond},
	)
	if !errors.Is(err, agentcli.ErrTimeout) || r == nil || r.SessionID != "t" {
		t.Fatalf("%v %+v", err, r)
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("ended after %v", took)
	}
	time.Sleep(2500 * time.Millisecond)
	if _, err := os.Stat(mark); err == nil {
		t.Error("a child of the agent lived on")
	}
}
