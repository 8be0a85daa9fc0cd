package parser_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/parser"
	"github.com/callwright/callwright/registry"
)

func limitedParser(t *testing.T, o parser.Options) *parser.Parser {
	t.Helper()
	r, err := registry.New(registry.Tool{Name: "f", Parameters: map[string]any{"type": "object"}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := parser.New(r, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestLimits checks the bounds of calls and of candidates, whole and streamed: what is
// beyond them is not called.
func TestLimits(t *testing.T) {
	text := strings.Repeat(`<tool_call>{"name": "f", "arguments": {}}</tool_call>`+"\n", 5)
	for _, o := range []parser.Options{{MaxCalls: 2}, {MaxCandidates: 2}} {
		p := limitedParser(t, o)
		if calls := callsOf(t, p, text); len(calls) != 2 {
			t.Errorf("%d calls and %d candidates at most: %v", o.MaxCalls, o.MaxCandidates, calls)
		}
	}
}

// TestTimeLimit checks that a parse ends at its time limit and at its context's end, also
// where the text is made of beginnings of calls that cannot be read.
func TestTimeLimit(t *testing.T) {
	text := strings.Repeat("[[TOOL_CALL]", 1<<13)
	p := limitedParser(t, parser.Options{Timeout: time.Millisecond})
	if _, err := p.Parse(context.Background(), text, parser.Context{}); !errors.Is(err, parser.ErrTimeout) {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := limitedParser(t, parser.Options{}).Parse(ctx, text, parser.Context{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestKeysAreData checks that no key of arguments means anything to the parser.
func TestKeysAreData(t *testing.T) {
	p := limitedParser(t, parser.Options{})
	for _, key := range []string{"__proto__", "constructor", "$ref", "lc", "tool_calls", "name", "arguments", "function"} {
		r, err := p.Parse(context.Background(), `<tool_call>{"name": "f", "arguments": {"`+key+`": {"name": "g"}}}</tool_call>`, parser.Context{})
		if err != nil || len(r.Calls) != 1 || r.Calls[0].Tool != "f" {
			t.Fatalf("%s: %v %+v", key, err, r)
		}
		if v, ok := r.Calls[0].Parameters[key].(map[string]any); !ok || v["name"] != "g" {
			t.Errorf("%s: %v", key, r.Calls[0].Parameters)
		}
	}
}

// TestCutBehindCall cuts a list of calls where the next one has neither name nor arguments
// yet: the call before it is whole.
func TestCutBehindCall(t *testing.T) {
	p := limitedParser(t, parser.Options{})
	for _, text := range []string{
		`{"tool_calls": [{"type": "function", "function": {"name": "f", "arguments": "{}"}}, {"type": "function", "function": {`,
		`{"calls":[{"arguments":{"city":"a"},"name":"f"},{"arguments":{`,
	} {
		if calls := callsOf(t, p, text); len(calls) != 1 {
			t.Errorf("%q calls %v", text, calls)
		}
	}
}
