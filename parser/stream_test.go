package parser_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/internal/golden"
	"github.com/callwright/callwright/parser"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func bareCases(t testing.TB) []*golden.Case {
	t.Helper()
	_, list := golden.Load(t, root, root+"/replies/bare.txtar")
	return list
}

func TestFeederPartial(t *testing.T) {
	p := bareCases(t)[0].Parser()
	for _, tt := range []struct{ text, want string }{
		{`Now: <tool_call>{"name": "write_file", "arguments": {"path": "a.txt", "content": "line one\nline t`, `{"content":"line one\nline t","path":"a.txt"}`},
		{"<tool_call>\n<function=write_file>\n<parameter=path>\na.txt\n</parameter>\n<parameter=content>\nhalf of", "{\"content\":\"\\nhalf of\",\"path\":\"a.txt\"}"},
		{`<tool_call>{"name": "tag", "arguments": {"items": ["a", "b`, `{"items":["a","b"]}`},
		{`[TOOL_CALLS]get_weather[ARGS]{"city": "Ro`, `{"city":"Ro"}`},
		// The parameters are whole, and what is around them is not.
		{`<tool_call>{"name": "get_weather", "arguments": {"city": "Rome"}`, `{"city":"Rome"}`},
		{`<tool_call>{"name": "get_weather", "arguments": {"city": "Rome"}}`, `{"city":"Rome"}`},
		{`<tool_call>{"name": "get_weather", "arguments": {"city": "Rome"}, "id`, `{"city":"Rome"}`},
		{`[TOOL_CALLS]get_weather[ARGS]{"city": "Rome"}`, `{"city":"Rome"}`},
		{`<tool_call>{"name": "get_weather", "parameters": {"city": "Rome"}, "type": "fu`, `{"city":"Rome"}`},
	} {
		f := p.NewFeeder(context.Background(), parser.Context{})
		if _, err := f.Feed([]byte(tt.text)); err != nil {
			t.Fatal(err)
		}
		if f.IsComplete() {
			t.Errorf("%q is complete", tt.text)
		}
		r := f.Partial()
		if len(r.Calls) != 1 || !r.Calls[0].Truncated {
			t.Fatalf("%q: %+v", tt.text, r.Calls)
		}
		if got, err := json.Marshal(r.Calls[0].Parameters); err != nil || string(got) != tt.want {
			t.Errorf("%q: %s, %v, not %s", tt.text, got, err, tt.want)
		}
		f.Close()
		f.Close()
	}
	f := p.NewFeeder(context.Background(), parser.Context{})
	defer f.Close()
	if _, err := f.Feed([]byte("All done.")); err != nil || !f.IsComplete() || f.Partial().Content != "All done." {
		t.Error("plain text is not complete")
	}
	if _, err := f.End(); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Feed([]byte("x")); !errors.Is(err, parser.ErrEnded) {
		t.Errorf("feeding after the end: %v", err)
	}
}

func TestStreamEnds(t *testing.T) {
	p := bareCases(t)[0].Parser()
	ctx, cancel := context.WithCancel(context.Background())
	n := 0
	chunks := func(yield func(string) bool) {
		for yield(strings.Repeat("word ", 2000)) {
			if n++; n == 3 {
				cancel()
			}
		}
	}
	var last error
	for _, err := range parser.Stream(ctx, p, chunks, parser.Context{}) {
		last = err
	}
	if !errors.Is(last, context.Canceled) {
		t.Errorf("a stream whose context ended ends with %v", last)
	}
	for _, err := range parser.Stream(context.Background(), p, slices.Values([]string{"a <tool_call>{", `"name"`, "x"}), parser.Context{}) {
		if err != nil {
			t.Fatal(err)
		}
		break // what is left must not leak
	}
}

// TestHeldBack checks that no text waits that no marker can claim.
func TestHeldBack(t *testing.T) {
	p := bareCases(t)[0].Parser()
	text := "Prose with <b>tags</b>, a < b, {braces}, [brackets](x) and <tool_cats>. End"
	f := p.NewFeeder(context.Background(), parser.Context{})
	defer f.Close()
	sent := 0
	for i := range len(text) {
		events, err := f.Feed([]byte{text[i]})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			sent += len(e.Text)
		}
		if i+1-sent > 24 {
			t.Fatalf("after %q %d bytes wait", text[:i+1], i+1-sent)
		}
	}
}

// TestReasoningOpen checks what the prompt opened.
func TestReasoningOpen(t *testing.T) {
	c := bareCases(t)[0]
	c.Context.ReasoningOpen = true
	text := "Maybe <tool_call>{\"name\": \"list_rooms\", \"arguments\": {}}</tool_call> or not.\n</think>\nHello. <tool_call>{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Rome\"}}</tool_call>"
	var chunks [][]byte
	for i := range len(text) {
		chunks = append(chunks, []byte{text[i]})
	}
	for _, r := range []*parser.Result{parse(t, c, text), stream(t, c, chunks)} {
		if len(r.Calls) != 1 || r.Calls[0].Tool != "get_weather" || r.Content != "Hello." || !strings.HasPrefix(r.Reasoning, "Maybe") {
			t.Errorf("%s", golden.Render(r))
		}
	}
	if r := parse(t, c, "only thoughts"); r.Reasoning != "only thoughts" || r.Content != "" {
		t.Errorf("%s", golden.Render(r))
	}
}

// TestCutOffInReasoning checks that a call which the text's end cut off says so for the
// result as well, where it stands in reasoning that was never closed.
func TestCutOffInReasoning(t *testing.T) {
	c := bareCases(t)[0]
	p, err := parser.New(c.Tools(), parser.Options{AllowPartial: true})
	if err != nil {
		t.Fatal(err)
	}
	text := `Now <tool_call>{"name": "get_weather", "arguments": {"city": "Rome"`
	reply := &adapters.Reply{Choices: []adapters.Choice{{Blocks: []adapters.Block{{Type: adapters.BlockReasoning, Text: text}}}}}
	r, err := p.ParseReply(context.Background(), reply, parser.Context{})
	if err != nil || len(r.Calls) != 1 || !r.Calls[0].Truncated || !r.Truncated || r.Strategy != "open_reasoning" {
		t.Errorf("%s %v, %v", golden.Render(r), r.Truncated, err)
	}
}

func TestOptions(t *testing.T) {
	for _, o := range []parser.Options{{MinConfidence: 2}, {MaxRepairAttempts: -1}, {MaxCalls: -1}} {
		if _, err := parser.New(nil, o); !errors.Is(err, parser.ErrOption) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	p, err := parser.New(nil, parser.Options{MaxCalls: 2, MaxTextBytes: 200, DropRepeats: true})
	if err != nil {
		t.Fatal(err)
	}
	one := `<tool_call>{"name": "f", "arguments": {"n": %d}}</tool_call>`
	text := strings.ReplaceAll(one, "%d", "1") + strings.ReplaceAll(one, "%d", "1") + strings.ReplaceAll(one, "%d", "2")
	r, err := p.Parse(context.Background(), text, parser.Context{})
	if err != nil || len(r.Calls) != 2 {
		t.Errorf("%d calls, %v", len(r.Calls), err)
	}
	if _, err := p.Parse(context.Background(), strings.Repeat("x", 201), parser.Context{}); !errors.Is(err, parser.ErrTextTooLarge) {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := p.Parse(ctx, "x", parser.Context{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
