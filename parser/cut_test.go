package parser_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/parser"
	"github.com/callwright/callwright/registry"
)

// cutParser has two tools with a required parameter and one with a default.
func cutParser(t testing.TB, o parser.Options) *parser.Parser {
	t.Helper()
	number := map[string]any{"type": "number"}
	r, err := registry.New(
		registry.Tool{Name: "set_text", Parameters: map[string]any{
			"type": "object", "properties": map[string]any{"text": map[string]any{"type": "string"}}, "required": []any{"text"},
		}},
		registry.Tool{Name: "draw", Parameters: map[string]any{
			"type": "object", "required": []any{"x"},
			"properties": map[string]any{"x": number, "y": number, "width": map[string]any{"type": "number", "default": 100}},
		}},
	)
	if err != nil {
		t.Fatal(err)
	}
	p, err := parser.New(r, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// written is a call in a container: where its text ends, and what it says.
type written struct {
	tool, arguments string
	end             int
}

// container writes several calls in one JSON value.
type container struct {
	name              string
	open, call, close string // call has %s for the name and for the arguments
	text              bool   // the arguments are a JSON string
}

var containers = []container{
	{"list", "[", `{"name": %q, "arguments": %s}`, "]", false},
	{"list_of_commands", "[", `{"tool": %q, "params": %s}`, "]", false},
	{"commands", `{"thinking": "I draw.", "commands": [`, `{"tool": %q, "params": %s}`, `], "response": "Created."}`, false},
	{"actions", `{"actions": [`, `{"type": %q, "parameters": %s}`, "]}", false},
	{"tool_calls", `{"role": "assistant", "tool_calls": [`, `{"type": "function", "function": {"name": %q, "arguments": %s}}`, "]}", true},
	{"objects", `{"tool_calls": [`, `{"function": {"name": %q, "arguments": %s}}`, "]}", false},
	{"blocks", `{"role": "assistant", "content": [`, `{"type": "tool_use", "name": %q, "input": %s}`, "]}", false},
	{"arguments_first", "[", "%[2]s", "]", false}, // see write
}

// wrappers stand around a container: what is cut off stands behind the first.
var wrappers = [][2]string{{"", ""}, {"```json\n", "\n```"}, {"<tool_call>\n", "\n</tool_call>"}, {"Here it is:\n", ""}}

// write writes calls in a container, and says where each ends.
func (c *container) write(calls []written, before, after string) string {
	var b strings.Builder
	b.WriteString(before + c.open)
	for i := range calls {
		if i > 0 {
			b.WriteString(", ")
		}
		args := calls[i].arguments
		if c.text {
			quoted, _ := json.Marshal(args) // a string
			args = string(quoted)
		}
		if c.name == "arguments_first" {
			fmt.Fprintf(&b, `{"arguments": %s, "name": %q}`, args, calls[i].tool)
		} else {
			fmt.Fprintf(&b, c.call, calls[i].tool, args)
		}
		calls[i].end = b.Len()
	}
	return b.String() + c.close + after
}

func drawCalls(t *rapid.T) []written {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) written {
		if rapid.Bool().Draw(t, "text") {
			s := rapid.StringMatching(`[a-z {}\[\]",:\\]{0,12}`).Draw(t, "value")
			quoted, _ := json.Marshal(map[string]string{"text": s}) // a map of strings
			return written{tool: "set_text", arguments: string(quoted)}
		}
		x, y := rapid.IntRange(-999, 99999).Draw(t, "x"), rapid.IntRange(0, 99).Draw(t, "y")
		return written{tool: "draw", arguments: fmt.Sprintf(`{"x": %d, "y": %d, "width": %d}`, x, y, x)}
	}), 1, 4).Draw(t, "calls")
}

// TestContainersCutOff cuts containers of calls off at any byte: the calls that are whole
// are made as they stand, and no other is, whether the text is a stream's or a reply's,
// and whether its end is said to be a limit's or not.
func TestContainersCutOff(t *testing.T) {
	p := cutParser(t, parser.Options{})
	rapid.Check(t, func(t *rapid.T) {
		c := rapid.SampledFrom(containers).Draw(t, "container")
		w := rapid.SampledFrom(wrappers).Draw(t, "wrapper")
		calls := drawCalls(t)
		text := c.write(calls, w[0], w[1])
		at := rapid.IntRange(len(w[0]), len(text)).Draw(t, "at")
		finish := rapid.SampledFrom([]adapters.FinishReason{adapters.FinishStop, adapters.FinishLength}).Draw(t, "finish")
		reply := &adapters.Reply{Choices: []adapters.Choice{{Finish: finish, Blocks: []adapters.Block{{Type: adapters.BlockText, Text: text[:at]}}}}}
		r, err := p.ParseReply(context.Background(), reply, parser.Context{})
		if err != nil {
			t.Fatal(err)
		}
		whole := 0
		for _, call := range calls {
			if call.end <= at {
				whole++
			}
		}
		// What stands around a call may be missing, nothing of itself.
		if len(r.Calls) < whole || len(r.Calls) > whole+1 {
			t.Fatalf("%q cut off at %d: %d calls of %d that are whole: %+v", text[:at], at, len(r.Calls), whole, r.Rejected)
		}
		for i := range r.Calls {
			if got := encoded(r.Calls[i].Parameters); r.Calls[i].Tool != calls[i].tool || got != canonical(calls[i].arguments) {
				t.Fatalf("%q cut off at %d: call %d is %s %s", text[:at], at, i, r.Calls[i].Tool, got)
			}
		}
	})
}

// TestPartialCutOff checks what is made of calls that are cut off where that is allowed:
// nothing without its required parameters, no half value, and no default for a parameter
// that was being written; every default is listed.
func TestPartialCutOff(t *testing.T) {
	p := cutParser(t, parser.Options{AllowPartial: true})
	rapid.Check(t, func(t *rapid.T) {
		c := rapid.SampledFrom(containers).Draw(t, "container")
		w := rapid.SampledFrom(wrappers).Draw(t, "wrapper")
		calls := drawCalls(t)
		text := c.write(calls, w[0], w[1])
		at := rapid.IntRange(len(w[0]), len(text)).Draw(t, "at")
		r, err := p.Parse(context.Background(), text[:at], parser.Context{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range r.Calls {
			var want map[string]json.RawMessage
			if err := json.Unmarshal([]byte(calls[i].arguments), &want); err != nil {
				t.Fatal(err)
			}
			for key, v := range r.Calls[i].Parameters {
				isDefault := len(r.Calls[i].Defaults) > 0 && r.Calls[i].Defaults[0] == "/"+key
				if got := encoded(v); got != canonical(string(want[key])) && !isDefault {
					t.Fatalf("%q cut off at %d: %s of call %d is %s", text[:at], at, key, i, got)
				}
				if begun := strings.HasSuffix(strings.TrimRight(text[:at], `": -0123456789`), "wi"); isDefault && begun {
					t.Fatalf("%q: a default for what was being written", text[:at])
				}
			}
			for _, key := range map[string][]string{"set_text": {"text"}, "draw": {"x"}}[r.Calls[i].Tool] {
				if _, ok := r.Calls[i].Parameters[key]; !ok {
					t.Fatalf("%q: call %d without its %s", text[:at], i, key)
				}
			}
		}
	})
}

func encoded(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return canonical(string(b))
}

func canonical(s string) string {
	var v any
	if err := json.Unmarshal([]byte(s), &v); err != nil {
		return s
	}
	b, _ := json.Marshal(v) // it was JSON
	return string(b)
}

// TestFormsCutOff cuts a call in each form and dialect off at every byte: a call that is
// made has its value whole, also where calls that are cut off may be made, and whether a
// reply says that a limit cut it off or not.
func TestFormsCutOff(t *testing.T) {
	for _, partial := range []bool{false, true} {
		p := cutParser(t, parser.Options{AllowPartial: partial})
		for _, f := range forms() {
			for _, value := range []string{"one two three", "a, b: c", "(x) = {y}"} {
				text := f.write("set_text", "text", value)
				for at := range text {
					r, err := p.Parse(context.Background(), text[:at], parser.Context{})
					if err != nil {
						t.Fatal(err)
					}
					for i := range r.Calls {
						if got := r.Calls[i].Parameters["text"]; got != value {
							t.Errorf("%s, partial %v: %q makes %v", f.name, partial, text[:at], r.Calls[i].Parameters)
						}
					}
				}
			}
		}
	}
}
