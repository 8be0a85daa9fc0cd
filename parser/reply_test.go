package parser_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/call"
	"github.com/callwright/callwright/internal/golden"
	"github.com/callwright/callwright/parser"
	"github.com/callwright/callwright/registry"
)

// TestReplyIsText holds that the text of a reply is read as any text.
func TestReplyIsText(t *testing.T) {
	eachCase(t, func(t *testing.T, c *golden.Case) {
		want := parse(t, c, c.Text)
		reply := &adapters.Reply{Choices: []adapters.Choice{{Blocks: []adapters.Block{{Type: adapters.BlockText, Text: c.Text}}}}}
		got, err := c.Parser().ParseReply(context.Background(), reply, c.Context)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range []*parser.Result{want, got} {
			r.DurationMicroseconds, r.Reply = 0, nil
			if r.Recovery != nil {
				for i := range r.Recovery.Attempts {
					r.Recovery.Attempts[i].DurationMicroseconds = 0
				}
			}
			for i := range r.Calls {
				r.Calls[i].ID, r.Calls[i].Metadata.Timestamp = "", time.Time{}
			}
		}
		a, _ := json.Marshal(want)
		b, _ := json.Marshal(got)
		if diff := cmp.Diff(string(a), string(b)); diff != "" {
			t.Error(diff)
		}
	})
}

func native(name, arguments string) adapters.Block {
	return adapters.Block{Type: adapters.BlockCall, Call: &adapters.Call{ID: "id_" + name, Name: name, Arguments: arguments}}
}

// TestNativeCalls validates and coerces calls in a provider's own field, whatever
// their arguments look like.
func TestNativeCalls(t *testing.T) {
	r, err := registry.New(
		registry.Tool{Name: "set", Parameters: map[string]any{"type": "object", "properties": map[string]any{"n": map[string]any{"type": "integer"}, "s": map[string]any{"type": "string"}}, "required": []any{"n"}}},
		registry.Tool{Name: "one", Parameters: map[string]any{"type": "object", "properties": map[string]any{"input": map[string]any{"type": "string"}}}},
		registry.Tool{Name: "guarded", RequireMarker: true},
	)
	if err != nil {
		t.Fatal(err)
	}
	p, err := parser.New(r, parser.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, tool, arguments, want, rejected, warning string }{
		{"as it should be", "set", `{"n":1,"s":"a"}`, `{"n":1,"s":"a"}`, "", ""},
		{"coerced", "set", `{"n":"3"}`, `{"n":3}`, "", ""},
		{"encoded twice", "set", `"{\"n\": 4}"`, `{"n":4}`, "", ""},
		{"broken", "set", `{n: 5, 's': 'b',}`, `{"n":5,"s":"b"}`, "", ""},
		{"twice", "set", `{"n":6}{"n":6}`, `{"n":6}`, "", "arguments_trailing"},
		{"wrapped", "set", `{"arguments":{"n":7}}`, `{"n":7}`, "", ""},
		{"big", "set", `{"n":9007199254740993}`, `{"n":9007199254740993}`, "", ""},
		{"missing", "set", `{"s":"a"}`, "", "required_parameter_missing", ""},
		{"cut off within a string", "set", `{"n":1,"s":"a`, "", "truncated", ""},
		{"cut off before the end", "set", `{"n":1`, `{"n":1}`, "", ""},
		{"none", "guarded", "", `{}`, "", ""},
		{"null", "guarded", "null", `{}`, "", ""},
		{"a number for one parameter", "one", "5", `{"input":"5"}`, "", ""},
		{"text for one parameter", "one", `"Rome"`, `{"input":"Rome"}`, "", ""},
		{"a list", "set", `[8]`, `{"n":8}`, "", ""},
		{"no JSON at all", "set", `<<<>>>`, "", "malformed", ""},
		{"an unknown tool", "rm", `{}`, "", "unknown_tool", ""},
		{"no name", "", `{}`, "", "unknown_tool", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			reply := &adapters.Reply{Choices: []adapters.Choice{{Blocks: []adapters.Block{native(tt.tool, tt.arguments)}, Finish: adapters.FinishCalls}}}
			got, err := p.ParseReply(context.Background(), reply, parser.Context{})
			if err != nil {
				t.Fatal(err)
			}
			if tt.want == "" {
				if len(got.Calls) != 0 || len(got.Rejected) != 1 || string(got.Rejected[0].Errors[0].Code) != tt.rejected || got.Rejected[0].ID != "id_"+tt.tool {
					t.Fatalf("%+v", got)
				}
				return
			}
			if len(got.Calls) != 1 {
				t.Fatalf("%+v", got)
			}
			c := got.Calls[0]
			if s, _ := json.Marshal(c.Parameters); string(s) != tt.want || c.Provenance != call.Native || c.ID != "id_"+tt.tool || c.Raw != tt.arguments || c.Metadata.ParsingMethod != call.MethodNative {
				t.Errorf("%s %+v", s, c)
			}
			if tt.warning != "" && !slices.Contains(got.Warnings, tt.warning) {
				t.Errorf("warnings %q", got.Warnings)
			}
		})
	}
}

func TestReplyFeeder(t *testing.T) {
	p := bareCases(t)[0].Parser()
	feed := func(f *parser.ReplyFeeder, events ...adapters.Event) (out []parser.Event) {
		t.Helper()
		for _, e := range events {
			got, err := f.Feed(e)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, slices.Clone(got)...)
		}
		return out
	}
	// Parallel calls whose pieces are mixed, and text between them.
	f := p.NewReplyFeeder(context.Background(), parser.Context{})
	defer f.Close()
	events := feed(f,
		adapters.Event{Type: adapters.EventCallStart, Index: 0, ID: "a", Name: "get_weather"},
		adapters.Event{Type: adapters.EventCallStart, Index: 1, ID: "b", Name: "get_weather"},
		adapters.Event{Type: adapters.EventArguments, Index: 0, Text: `{"city":"Ro`},
		adapters.Event{Type: adapters.EventArguments, Index: 1, Text: `{"city":"Os`},
		adapters.Event{Type: adapters.EventText, Text: "Looking. "},
		adapters.Event{Type: adapters.EventArguments, Index: 0, Text: `me"}`},
		adapters.Event{Type: adapters.EventArguments, Index: 1, Text: `lo"}`},
		adapters.Event{Type: adapters.EventCallEnd, Index: 0},
		adapters.Event{Type: adapters.EventCallEnd, Index: 1},
		adapters.Event{Type: adapters.EventFinish, Finish: adapters.FinishCalls},
	)
	last, err := f.End()
	if err != nil {
		t.Fatal(err)
	}
	events = append(events, last...)
	deltas := map[int]string{}
	early := false
	for _, e := range events {
		switch e.Type {
		case parser.EventArguments:
			deltas[e.Index] += e.Delta
		case parser.EventCallEnd:
			early = early || deltas[0] != ""
		}
	}
	r := events[len(events)-1].Result
	if len(r.Calls) != 2 || r.Calls[0].Parameters["city"] != "Rome" || r.Calls[1].Parameters["city"] != "Oslo" || strings.TrimSpace(r.Content) != "Looking." || !early {
		t.Errorf("%+v", r)
	}
	if deltas[0] != `{"city":"Rome","days":3}` || deltas[1] != `{"city":"Oslo","days":3}` {
		t.Errorf("%v", deltas)
	}
	// A limit behind a call that looks whole: it was cut off all the same.
	g := p.NewReplyFeeder(context.Background(), parser.Context{})
	defer g.Close()
	feed(g,
		adapters.Event{Type: adapters.EventCallStart, ID: "a", Name: "get_weather"},
		adapters.Event{Type: adapters.EventArguments, Text: `{"city":"Rome"}`},
		adapters.Event{Type: adapters.EventCallEnd},
		adapters.Event{Type: adapters.EventFinish, Finish: adapters.FinishLength},
	)
	last, _ = g.End()
	if r := last[len(last)-1].Result; len(r.Calls) != 0 || len(r.Rejected) != 1 || !r.Rejected[0].Truncated || r.Rejected[0].Errors[0].Code != parser.CodeTruncated || !r.Truncated {
		t.Errorf("%+v", r)
	}
	// Reasoning that the provider set apart is not to be looked for in the text.
	o := p.NewReplyFeeder(context.Background(), parser.Context{ReasoningOpen: true})
	defer o.Close()
	feed(o, adapters.Event{Type: adapters.EventReasoning, Text: "Hm."}, adapters.Event{Type: adapters.EventText, Text: "Hello."})
	last, _ = o.End()
	if r := last[len(last)-1].Result; r.Content != "Hello." || r.Reasoning != "Hm." {
		t.Errorf("%+v", r)
	}
	// A context that ends, and text without end.
	ctx, cancel := context.WithCancel(context.Background())
	h := p.NewReplyFeeder(ctx, parser.Context{})
	defer h.Close()
	cancel()
	if _, err := h.Feed(adapters.Event{Type: adapters.EventText, Text: "x"}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	small, err := parser.New(nil, parser.Options{MaxTextBytes: 10})
	if err != nil {
		t.Fatal(err)
	}
	k := small.NewReplyFeeder(context.Background(), parser.Context{})
	defer k.Close()
	feed(k, adapters.Event{Type: adapters.EventCallStart, Name: "f"})
	if _, err := k.Feed(adapters.Event{Type: adapters.EventArguments, Text: strings.Repeat(" ", 11)}); !errors.Is(err, parser.ErrTextTooLarge) {
		t.Errorf("%v", err)
	}
}

// TestFormatsOfCalls names the shapes of calls in a reply's own field as the
// specification does.
func TestFormatsOfCalls(t *testing.T) {
	p, err := parser.New(nil, parser.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for format, want := range map[string]call.Format{
		"openai_chat": call.OpenAIFunctionCall, "openai_responses": call.OpenAIFunctionCall, "mistral_chat": call.OpenAIFunctionCall,
		"cohere_chat": call.OpenAIFunctionCall, "anthropic_messages": call.ClaudeToolUse, "bedrock_converse": call.ClaudeToolUse,
		"ollama_chat": call.OllamaJSON, "gemini_generate": call.GeminiFunctionCall, "unheard_of": call.CustomStructured,
	} {
		reply := &adapters.Reply{Format: format, Choices: []adapters.Choice{{Blocks: []adapters.Block{native("get_weather", `{"city":"Rome"}`)}, Finish: adapters.FinishCalls}}}
		r, err := p.ParseReply(context.Background(), reply, parser.Context{})
		if err != nil || len(r.Calls) != 1 || r.Calls[0].SourceFormat != want {
			t.Errorf("%s: %+v, %v", format, r, err)
		}
	}
}

// TestParallelIDs checks that calls which are read side by side keep the ids that they
// began with, where the server gave them one id.
func TestParallelIDs(t *testing.T) {
	p := bareCases(t)[0].Parser()
	for _, names := range [][2]string{{"get_weather", "get_weather"}, {"get_weather", "no_such_tool"}, {"no_such_tool", "get_weather"}} {
		f := p.NewReplyFeeder(context.Background(), parser.Context{})
		defer f.Close()
		begun := map[int]string{}
		take := func(events []parser.Event, err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range events {
				switch {
				case e.Type == parser.EventCallStart:
					begun[e.Index] = e.ID
				case e.Type == parser.EventCallEnd && e.Call != nil && begun[e.Index] != e.Call.ID:
					t.Errorf("%q: call %d began as %q and ended as %q", names, e.Index, begun[e.Index], e.Call.ID)
				}
			}
		}
		for i, name := range names {
			take(f.Feed(adapters.Event{Type: adapters.EventCallStart, Index: i, ID: "same", Name: name}))
			take(f.Feed(adapters.Event{Type: adapters.EventArguments, Index: i, Text: `{"city":"Ro`}))
		}
		for i := range names {
			take(f.Feed(adapters.Event{Type: adapters.EventArguments, Index: i, Text: `me"}`}))
			take(f.Feed(adapters.Event{Type: adapters.EventCallEnd, Index: i}))
		}
		events, err := f.End()
		take(events, err)
		seen := map[string]bool{}
		for _, c := range events[len(events)-1].Result.Calls {
			if seen[c.ID] {
				t.Errorf("%q stands twice", c.ID)
			}
			seen[c.ID] = true
		}
	}
}
