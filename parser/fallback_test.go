package parser_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/call"
	"github.com/callwright/callwright/fallback"
	"github.com/callwright/callwright/parser"
	"github.com/callwright/callwright/registry"
)

// canvas is the tools of a design application.
func canvas(t testing.TB) *registry.Registry {
	t.Helper()
	number := map[string]any{"type": "number"}
	r, err := registry.New(
		registry.Tool{Name: "create_rectangle", Description: "Draw a rectangle on the canvas.", Parameters: map[string]any{
			"type": "object", "required": []any{"x", "y"},
			"properties": map[string]any{"x": number, "y": number, "width": number, "height": number, "cornerRadius": number, "fill": map[string]any{"type": "string"}},
		}},
		registry.Tool{Name: "set_text", Description: "Set the text of a layer.", Parameters: map[string]any{
			"type": "object", "required": []any{"text"}, "properties": map[string]any{"text": map[string]any{"type": "string", "description": "What the layer says."}},
		}},
		registry.Tool{Name: "delete_all", RequireMarker: true},
	)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func parameters(t testing.TB, r *parser.Result) string {
	t.Helper()
	if len(r.Calls) != 1 {
		t.Fatalf("%d calls, rejected %v, content %q", len(r.Calls), r.Rejected, r.Content)
	}
	b, err := json.Marshal(r.Calls[0].Parameters)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestErrorPatterns shows each error pattern that the parser mends by itself.
func TestErrorPatterns(t *testing.T) {
	for _, tt := range []struct{ name, text, want, repair string }{
		{"missing commas", `{"tool": "create_rectangle", "params": {"x":100 "y":200}}`, `{"x":100,"y":200}`, "missing_comma"},
		{"unquoted keys", `{tool: "create_rectangle", params: {x:100, y:200}}`, `{"x":100,"y":200}`, "unquoted_key"},
		{"trailing commas", `{"tool": "create_rectangle", "params": {"x":100, "y":200,}}`, `{"x":100,"y":200}`, "trailing_comma"},
		{"mismatched quotes", `{"tool": "set_text", "params": {"text": "It's "quoted""}}`, `{"text":"It's \"quoted\""}`, "unescaped_quote"},
		{"mixed content", `I will draw it now: {"tool": "create_rectangle", "x": 1, "y": 2} There it is.`, `{"x":1,"y":2}`, ""},
		{"markdown artifacts", "```json\n{\"tool\": \"create_rectangle\", \"x\": 1, \"y\": 2}\n```", `{"x":1,"y":2}`, ""},
		{"missing comma behind the tool", `{"tool":"create_rectangle" "x":100, "y": 1}`, `{"x":100,"y":1}`, "missing_comma"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := mustParse(t, mustParser(t, canvas(t), parser.Options{}), tt.text, parser.Context{})
			if got := parameters(t, r); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
			if tt.repair != "" && !slices.Contains(r.Calls[0].Repairs, tt.repair) {
				t.Errorf("repairs %v", r.Calls[0].Repairs)
			}
		})
	}
	// An incomplete object is completed by the schema only where that is asked for, and
	// says that it was cut off.
	text := `{"tool": "create_rect`
	p := mustParser(t, canvas(t), parser.Options{})
	if r := mustParse(t, p, text, parser.Context{}); len(r.Calls) != 0 || r.Rejected[0].Tool != "create_rectangle" || r.Rejected[0].Errors[0].Code != parser.CodeTruncated {
		t.Errorf("%+v", r)
	}
	text = `{"tool": "create_rectangle", "params": {"x": 1, "y": 2, "fi`
	r := mustParse(t, mustParser(t, canvas(t), parser.Options{Fallbacks: fallback.Steps(fallback.Partial{})}), text, parser.Context{})
	if got := parameters(t, r); got != `{"x":1,"y":2}` || !r.Calls[0].Truncated || !r.Truncated {
		t.Errorf("%s %+v", got, r.Calls[0])
	}
}

// fixed is a model that always gives one answer.
type fixed string

func (f fixed) Complete(context.Context, fallback.Prompt) (string, error) { return string(f), nil }

const garbled = `{"tool": create_rectangle, params = x 100 y 250 width 120, height: 48}`

// TestStrategies shows each recovery strategy.
func TestStrategies(t *testing.T) {
	model := fallback.NewModelRepair(fixed(`{"calls":[{"candidate":0,"tool":"create_rectangle","parameters":{"x":100,"y":250,"width":120,"height":48}}]}`), fallback.ModelOptions{})
	for _, tt := range []struct {
		name, text string
		steps      []fallback.Step
		strategy   fallback.Strategy
		want       string
		inferred   bool
		truncated  bool
	}{
		{"model", garbled, fallback.Steps(fallback.AutoRepair{}, model), fallback.StrategyModel, `{"height":48,"width":120,"x":100,"y":250}`, false, false},
		{"intent", "I'll draw a blue rectangle, 120x48, at (10, 20).", fallback.Steps(fallback.NewIntent()), fallback.StrategyIntent, `{"fill":"blue","height":48,"width":120,"x":10,"y":20}`, true, false},
		{"partial", `<tool_call>{"name": "create_rectangle", "arguments": {"x": 1, "y": 2, "wid`, fallback.Steps(fallback.Partial{}), fallback.StrategyPartial, `{"x":1,"y":2}`, false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := mustParser(t, canvas(t), parser.Options{Fallbacks: tt.steps})
			r := mustParse(t, p, tt.text, parser.Context{})
			if got := parameters(t, r); got != tt.want || r.Strategy != string(tt.strategy) {
				t.Errorf("%s by %q", got, r.Strategy)
			}
			c := r.Calls[0]
			if c.Inferred != tt.inferred || c.Truncated != tt.truncated || tt.inferred && c.Confidence > fallback.MaxIntentConfidence {
				t.Errorf("%+v", c)
			}
			if r.Recovery == nil || r.Recovery.Plan == nil || r.Recovery.Attempts[len(r.Recovery.Attempts)-1].Calls != 1 {
				t.Errorf("%+v", r.Recovery)
			}
			// The same in a stream, cut anywhere, and in a reply.
			for n := 1; n < 8; n += 3 {
				var chunks []string
				for rest := tt.text; rest != ""; {
					k := min(n, len(rest))
					chunks, rest = append(chunks, rest[:k]), rest[k:]
				}
				ended, args := 0, ""
				var result *parser.Result
				for e, err := range parser.Stream(context.Background(), p, slices.Values(chunks), parser.Context{}) {
					if err != nil {
						t.Fatal(err)
					}
					switch e.Type {
					case parser.EventArguments:
						args += e.Delta
					case parser.EventCallEnd:
						if e.Call != nil {
							ended++
						} else {
							args = "" // what was begun and rejected
						}
					case parser.EventResult:
						result = e.Result
					}
				}
				if got := parameters(t, result); got != tt.want || ended != 1 {
					t.Errorf("in pieces of %d: %s, %d calls ended", n, got, ended)
				}
				var a, b any
				if json.Unmarshal([]byte(args), &a) != nil || json.Unmarshal([]byte(tt.want), &b) != nil || fmt.Sprint(a) != fmt.Sprint(b) {
					t.Errorf("in pieces of %d the arguments add up to %s", n, args)
				}
			}
			reply := &adapters.Reply{Choices: []adapters.Choice{{Blocks: []adapters.Block{{Type: adapters.BlockText, Text: tt.text}}}}}
			fromReply, err := p.ParseReply(context.Background(), reply, parser.Context{})
			if err != nil || parameters(t, fromReply) != tt.want {
				t.Errorf("%+v, %v", fromReply, err)
			}
		})
	}
	t.Run("clarification", func(t *testing.T) {
		r := mustParse(t, mustParser(t, canvas(t), parser.Options{}), `<tool_call>{"name": "set_text", "arguments": {}}</tool_call>`, parser.Context{})
		if len(r.Calls) != 0 || fmt.Sprint(r.Recovery.Plan.RequiredUserInput) != "[set_text.text]" || fmt.Sprint(r.Recovery.Suggestions) != "[Ask for text of set_text (What the layer says).]" {
			t.Errorf("%+v %+v", r.Recovery.Plan, r.Recovery.Suggestions)
		}
	})
}

// TestAutoRepair shows the tier that comes first: where a call cannot be read by the
// lenient reader it is repaired where it stands.
func TestAutoRepair(t *testing.T) {
	text := `<tool_call>{"name": "set_text", "arguments": {"text": "a"} "x": : 5}</tool_call>`
	for _, steps := range [][]fallback.Step{nil, fallback.Steps(fallback.Clarification{}, fallback.AutoRepair{})} {
		r := mustParse(t, mustParser(t, canvas(t), parser.Options{Fallbacks: steps}), text, parser.Context{})
		if len(r.Calls) == 1 && r.Strategy == "auto_repair" && (r.Recovery == nil || len(r.Recovery.Attempts) == 0) {
			t.Errorf("no attempt is reported: %+v", r)
		}
	}
	r := mustParse(t, mustParser(t, canvas(t), parser.Options{NoRepairs: true, NoFallbacks: true}), text, parser.Context{})
	if r.Strategy != "" || r.Recovery != nil {
		t.Errorf("%q %+v", r.Strategy, r.Recovery)
	}
}

// counting is a tier that counts how often it is asked.
type counting struct{ n *int }

func (counting) Strategy() fallback.Strategy { return "counting" }
func (counting) Applies(*fallback.Case) bool { return true }
func (c counting) Recover(context.Context, *fallback.Case) (fallback.Recovery, error) {
	*c.n++
	return fallback.Recovery{}, nil
}

// TestTiersAreAsked checks when tiers are asked, and when they are not.
func TestTiersAreAsked(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		o          parser.Options
		c          parser.Context
		asked      int
	}{
		{"prose", "A rectangle has four corners. It is nice.", parser.Options{}, parser.Context{}, 0},
		{"a call", `<tool_call>{"name": "set_text", "arguments": {"text": "a"}}</tool_call>`, parser.Options{}, parser.Context{}, 0},
		{"a call beside a broken one", `<tool_call>{"name": "set_text", "arguments": {"text": "a"}}</tool_call><tool_call>{"name": "set_text", "arguments": {}}</tool_call>`, parser.Options{}, parser.Context{}, 0},
		{"a broken object", garbled, parser.Options{}, parser.Context{}, 1},
		{"a name", "I will now use create_rectangle for it.", parser.Options{}, parser.Context{}, 1},
		{"a marker", `<tool_call>{"name": "nothing", "arguments": {}}</tool_call>`, parser.Options{}, parser.Context{}, 1},
		{"an example", `For example: {"name": "set_text", "arguments": {"text": "a"}}`, parser.Options{}, parser.Context{}, 0},
		{"an echo", `{"name": "set_text", "arguments": {"text": "a"}}`, parser.Options{}, parser.Context{Prompt: []string{`say {"name": "set_text", "arguments": {"text": "a"}}`}}, 0},
		{"a draft", "<think>\n<tool_call>{\"name\": \"set_text\", \"arguments\": {\"text\": \"a\"}}</tool_call>\n</think>\nNo.", parser.Options{}, parser.Context{}, 0},
		{"a tool that needs a mark", `{"name": "delete_all", "arguments": {}}`, parser.Options{}, parser.Context{}, 0},
		{"strict", garbled, parser.Options{StrictMode: true}, parser.Context{}, 0},
		{"no fallbacks", garbled, parser.Options{NoFallbacks: true}, parser.Context{}, 0},
	} {
		n := 0
		tt.o.Fallbacks = fallback.Steps(counting{&n})
		mustParse(t, mustParser(t, canvas(t), tt.o), tt.text, tt.c)
		if n != tt.asked {
			t.Errorf("%s: asked %d times", tt.name, n)
		}
	}
}

// proposing is a tier of a user's own.
type proposing []fallback.Proposal

func (proposing) Strategy() fallback.Strategy { return "mine" }
func (proposing) Applies(*fallback.Case) bool { return true }
func (p proposing) Recover(context.Context, *fallback.Case) (fallback.Recovery, error) {
	return fallback.Recovery{Proposals: p}, nil
}

type panicking struct{ proposing }

func (panicking) Recover(context.Context, *fallback.Case) (fallback.Recovery, error) { panic("oh") }

// TestProposalsAreChecked checks that what a tier proposes is validated like any call.
func TestProposalsAreChecked(t *testing.T) {
	for _, tt := range []struct {
		name  string
		tier  fallback.Tier
		calls int
		err   string
	}{
		{"good", proposing{{Failure: 0, Tool: "set_text", Parameters: map[string]any{"text": "x"}, Provenance: "marked"}}, 1, ""},
		{"in a shape", proposing{{Failure: 0, Value: map[string]any{"name": "set_text", "arguments": map[string]any{"text": "x"}}, Provenance: "marked"}}, 1, ""},
		{"unknown tool", proposing{{Tool: "nope", Parameters: map[string]any{}, Provenance: "marked"}}, 0, "unknown_tool"},
		{"bad parameters", proposing{{Tool: "set_text", Parameters: map[string]any{}, Provenance: "marked"}}, 0, "required_parameter_missing"},
		{"inferred for a tool that needs a mark", proposing{{Tool: "delete_all", Parameters: map[string]any{}, Provenance: "marked", Inferred: true}}, 0, "marker_required"},
		{"from a model for a tool that needs a mark", proposing{{Tool: "delete_all", Parameters: map[string]any{}, Provenance: "marked", Method: "llm_assisted"}}, 0, "marker_required"},
		{"unlikely", proposing{{Tool: "set_text", Parameters: map[string]any{"text": "x"}, Provenance: "bare", Confidence: 0.3}}, 0, "low_confidence"},
		{"panic", panicking{}, 0, "internal error"},
	} {
		r := mustParse(t, mustParser(t, canvas(t), parser.Options{Fallbacks: fallback.Steps(tt.tier)}), `<tool_call>{"name": "gone", "arguments": {}}</tool_call>`, parser.Context{})
		if len(r.Calls) != tt.calls || len(r.Recovery.Attempts) != 1 || !strings.Contains(r.Recovery.Attempts[0].Error, tt.err) {
			t.Errorf("%s: %d calls, %+v", tt.name, len(r.Calls), r.Recovery)
		}
		if rejected := len(r.Rejected); tt.calls == 1 && rejected != 0 || tt.calls == 0 && rejected != 1 {
			t.Errorf("%s: %d rejected", tt.name, rejected)
		}
	}
}

// waiting is a tier that waits for its time to end.
type waiting struct{ proposing }

func (waiting) Recover(ctx context.Context, _ *fallback.Case) (fallback.Recovery, error) {
	<-ctx.Done()
	return fallback.Recovery{}, ctx.Err()
}

func TestBudgets(t *testing.T) {
	text := `<tool_call>{"name": "gone", "arguments": {}}</tool_call>`
	n := 0
	p := mustParser(t, canvas(t), parser.Options{Fallbacks: []fallback.Step{{Tier: waiting{}, Timeout: 10 * time.Millisecond}, {Tier: counting{&n}}}})
	r := mustParse(t, p, text, parser.Context{})
	if len(r.Recovery.Attempts) != 2 || n != 1 || !strings.Contains(r.Recovery.Attempts[0].Error, "deadline") || r.Recovery.Attempts[0].DurationMicroseconds < 9000 {
		t.Errorf("%+v", r.Recovery.Attempts)
	}
	n = 0
	p = mustParser(t, canvas(t), parser.Options{Timeout: 20 * time.Millisecond, Fallbacks: []fallback.Step{{Tier: waiting{}, Timeout: time.Hour}, {Tier: counting{&n}}}})
	if r = mustParse(t, p, text, parser.Context{}); len(r.Recovery.Attempts) != 1 || n != 0 {
		t.Errorf("the time of the parse is over, and %d more tiers are asked: %+v", n, r.Recovery.Attempts)
	}
	for _, bad := range [][]fallback.Step{{{}}, {{Tier: waiting{}, Timeout: -1}}} {
		if _, err := parser.New(nil, parser.Options{Fallbacks: bad}); err == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
}

func TestMethods(t *testing.T) {
	p := mustParser(t, canvas(t), parser.Options{Methods: []call.Method{call.MethodDialect}})
	if r := mustParse(t, p, `{"name": "set_text", "arguments": {"text": "a"}}`, parser.Context{}); len(r.Calls) != 0 || r.Content == "" {
		t.Errorf("%+v", r)
	}
	if r := mustParse(t, p, `<tool_call>{"name": "set_text", "arguments": {"text": "a"}}</tool_call>`, parser.Context{}); len(r.Calls) != 1 {
		t.Errorf("%+v", r)
	}
}
