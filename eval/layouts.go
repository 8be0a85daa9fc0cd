package eval

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/callwright/callwright/parser"
)

// readOwn reads callwright's own layout:
//
//	{"id": "a", "model": "qwen3:8b", "dialect": "hermes", "group": "", "text": "…", "tools": […],
//	 "reasoning_open": false, "truncated": false, "expected": {"calls": […], "any_order": false,
//	 "content": "…", "reasoning": "…"}}
//
// A call is {"tool", "parameters"}, or {"tool", "allowed": {"city": ["Rome", "Roma"]}}.
func readOwn(string, string) (func([]byte) (Case, error), error) {
	return func(line []byte) (Case, error) {
		var x struct {
			ID, Model, Dialect, Group, Text string
			Tools                           json.RawMessage
			ReasoningOpen                   bool `json:"reasoning_open"`
			Truncated                       bool
			Expected                        struct {
				Calls              []WrittenCall
				AnyOrder           bool `json:"any_order"`
				Content, Reasoning *string
			}
		}
		if err := decode(line, &x); err != nil {
			return Case{}, err
		}
		c := Case{
			ID: x.ID, Model: x.Model, Dialect: x.Dialect, Group: x.Group, Text: x.Text, Tools: x.Tools, ReasoningOpen: x.ReasoningOpen,
			Truncated: x.Truncated,
			Expected:  Expected{AnyOrder: x.Expected.AnyOrder, Content: x.Expected.Content, Reasoning: x.Expected.Reasoning},
		}
		for _, w := range x.Expected.Calls {
			if w.Tool == "" {
				return Case{}, errors.New(`a call of "expected" needs "tool"`)
			}
			if w.Parameters == nil {
				w.Parameters = map[string]any{}
			}
			c.Expected.Calls = append(c.Expected.Calls, Call(w))
		}
		return c, nil
	}, nil
}

// readFixtures reads the layout of the public benchmark canitoolcall: a folder for each
// family of models, with a file family.json, which tells with what the prompt of a model
// ended; or one file FAMILY.jsonl with FAMILY.family.json beside it.
//
//	{"id": "…", "models": ["…"], "tools": […], "raw_output": "…", "generation_prompt": "<think>\n", "tags": ["truncated"],
//	 "expected": {"tool_calls": [{"name": "…", "arguments": {…}}], "content": "…", "reasoning_content": null}}
//
// A fixture with "expected_error" instead expects that there is no call; where its
// "accept" does not have "no_tool_calls", the text must be passed on or reported.
func readFixtures(file, _ string) (func([]byte) (Case, error), error) {
	family := stem(file)
	prompts, err := familyPrompts(filepath.Join(filepath.Dir(file), family+".family.json"))
	if errors.Is(err, os.ErrNotExist) {
		family = filepath.Base(filepath.Dir(file))
		prompts, err = familyPrompts(filepath.Join(filepath.Dir(file), "family.json"))
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	p, err := parser.New(nil, parser.Options{})
	if err != nil {
		return nil, err
	}
	return func(line []byte) (Case, error) {
		var x struct {
			ID         string
			Models     any
			Tools      json.RawMessage
			RawOutput  string  `json:"raw_output"`
			Prompt     *string `json:"generation_prompt"`
			Tags       []string
			Expected   *writtenReply
			Unexpected *struct{ Accept []string } `json:"expected_error"`
		}
		if err := decode(line, &x); err != nil {
			return Case{}, err
		}
		c := Case{
			ID: x.ID, Model: firstString(x.Models), Dialect: family, Text: x.RawOutput, Tools: x.Tools,
			Truncated: slices.Contains(x.Tags, "truncated"),
		}
		prompt := prompts[c.Model]
		if x.Prompt != nil {
			prompt = *x.Prompt
		}
		c.ReasoningOpen = opensReasoning(p, prompt)
		if x.Unexpected != nil {
			c.Expected.Reported = !slices.Contains(x.Unexpected.Accept, "no_tool_calls")
			return c, nil
		}
		if x.Expected == nil {
			return Case{}, errors.New(`a fixture needs "expected" or "expected_error"`)
		}
		c.Expected = Expected{Content: &x.Expected.Content, Reasoning: &x.Expected.Reasoning}
		for _, w := range x.Expected.Calls {
			c.Expected.Calls = append(c.Expected.Calls, Call{Tool: w.Name, Parameters: w.arguments()})
		}
		return c, nil
	}, nil
}

// writtenReply is a reply as OpenAI writes it.
type writtenReply struct {
	Calls     []writtenFunction `json:"tool_calls"`
	Content   string
	Reasoning string `json:"reasoning_content"`
}

type writtenFunction struct {
	Name      string
	Arguments any // an object, or its JSON as a string
}

// arguments are those of a call as an object, if they are one.
func (w *writtenFunction) arguments() any {
	var value any
	switch x := w.Arguments.(type) {
	case nil:
		return map[string]any{}
	case string:
		if decode([]byte(x), &value) == nil {
			return value
		}
	}
	return w.Arguments
}

func firstString(v any) string {
	if list, ok := v.([]any); ok && len(list) > 0 {
		v = list[0]
	}
	s, _ := v.(string)
	return s
}

// opensReasoning reports whether what follows a prompt is reasoning: whether a word behind
// one of its last markers would be.
func opensReasoning(p *parser.Parser, prompt string) bool {
	const word = "x"
	prompt = strings.TrimSpace(prompt)
	for i := range prompt {
		if prompt[i] != '<' && prompt[i] != '[' {
			continue
		}
		r, err := p.Parse(context.Background(), prompt[i:]+word, parser.Context{})
		if err == nil && r.Content == "" && r.Reasoning == word {
			return true
		}
	}
	return false
}

// familyPrompts returns with what the prompts of a family's models end.
func familyPrompts(file string) (map[string]string, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var family struct {
		Models []json.RawMessage `json:"reference_models"`
	}
	if err := json.Unmarshal(data, &family); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	prompts := map[string]string{}
	for _, raw := range family.Models {
		var m struct {
			Repo, ID string
			Prompt   string `json:"default_generation_prompt"`
		}
		if json.Unmarshal(raw, &m) == nil { // some are only names
			prompts[cmp.Or(m.Repo, m.ID)] = m.Prompt
		}
	}
	return prompts, nil
}

// readParserTests reads cases that were taken out of the tests of other parsers:
//
//	{"id": "…", "peer": "…", "format": "hermes", "source": "asserted", "text": "…", "tools": […], "starts_in": "content",
//	 "expect": {"calls": [{"name", "arguments"}], "content": "…", "reasoning": "…"}}
//
// "peer" counts as the model. A case with "expect_error" instead expects no call.
// "calls_checked" and "content_checked" may be false. The group says how firm the
// expectation is: see groupOf.
func readParserTests(string, string) (func([]byte) (Case, error), error) {
	return func(line []byte) (Case, error) {
		var x parserTest
		if err := decode(line, &x); err != nil {
			return Case{}, err
		}
		c := Case{ID: x.ID, Model: x.Peer, Dialect: x.Format, Group: x.group(), Text: x.Text, Tools: x.Tools}
		if x.Expect == nil {
			return c, nil
		}
		c.Expected.AnyCalls = x.CallsChecked != nil && !*x.CallsChecked
		if x.ContentChecked == nil || *x.ContentChecked {
			c.Expected.Content, c.Expected.Reasoning = &x.Expect.Content, &x.Expect.Reasoning
		}
		for _, w := range x.Expect.Calls {
			c.Expected.Calls = append(c.Expected.Calls, Call{Tool: w.Name, Parameters: w.arguments()})
		}
		return c, nil
	}, nil
}

type parserTest struct {
	ID, Peer, Format, Source, Text, Notes string
	Tools                                 json.RawMessage
	StartsIn                              string `json:"starts_in"`
	Doubtful                              any
	CallsChecked                          *bool `json:"calls_checked"`
	ContentChecked                        *bool `json:"content_checked"`
	Expect                                *struct {
		Calls              []writtenFunction
		Content, Reasoning string
	}
}

// group says how firm the expectation is. It is firm where a test asserts it, and soft
// where it is only what the other parser gives. Some need to be told more than the text.
func (x *parserTest) group() string {
	switch {
	case x.Expect == nil:
		return "error"
	case x.Doubtful != nil && x.Doubtful != false:
		return "doubtful"
	case x.Source == "partial", x.StartsIn == "thinking", strings.Contains(x.Notes, "prefill"), strings.Contains(x.Notes, "config {"),
		strings.HasSuffix(x.Format, "config"), strings.HasPrefix(x.Format, "markers"), strings.HasPrefix(x.Format, "xml-custom"):
		return "needs"
	case slices.Contains([]string{"asserted", "flushed", "streamed", "raw", "strip"}, x.Source):
		return "firm"
	}
	return "soft"
}

// readAnswers reads the recorded answers of a model, whose name is the file's, to the
// questions of a leaderboard:
//
//	{"id": "simple_0", "text": "…"}
//
// The file with the questions has each by its id:
//
//	{"simple_0": {"category": "simple", "tools": […], "answer": {"get_weather": {"city": ["Rome", "Roma"], "unit": ["c", ""]}}}}
//
// A list of answers is of several calls, in any order; the answer null is that no tool fits.
func readAnswers(file, questions string) (func([]byte) (Case, error), error) {
	questions = cmp.Or(questions, filepath.Join(filepath.Dir(file), "questions.json"))
	data, err := os.ReadFile(questions)
	if err != nil {
		return nil, fmt.Errorf("%s has answers, whose questions are missing: %w", file, err)
	}
	var known map[string]struct {
		Category string
		Tools    json.RawMessage
		Answer   any
	}
	if err := decode(data, &known); err != nil {
		return nil, fmt.Errorf("%s: %w", questions, err)
	}
	return func(line []byte) (Case, error) {
		var x struct{ ID, Text string }
		if err := decode(line, &x); err != nil {
			return Case{}, err
		}
		q, ok := known[x.ID]
		if !ok {
			return Case{}, fmt.Errorf("%s has no question %q", questions, x.ID)
		}
		c := Case{ID: x.ID, Model: stem(file), Group: q.Category, Text: x.Text, Tools: q.Tools}
		c.Expected.AnyOrder = true
		answers, ok := q.Answer.([]any)
		if !ok && q.Answer != nil {
			answers = []any{q.Answer}
		}
		for _, a := range answers {
			calls, ok := a.(map[string]any)
			if !ok {
				return Case{}, fmt.Errorf("%s: the answer to %q is not an object", questions, x.ID)
			}
			for _, name := range slices.Sorted(maps.Keys(calls)) {
				allowed, err := allowedOf(calls[name])
				if err != nil {
					return Case{}, fmt.Errorf("%s: the answer to %q: %w", questions, x.ID, err)
				}
				c.Expected.Calls = append(c.Expected.Calls, Call{Tool: name, Allowed: allowed})
			}
		}
		return c, nil
	}, nil
}

// allowedOf reads the values that are right for each parameter. What is no object stands
// for no parameters.
func allowedOf(v any) (map[string][]any, error) {
	parameters, _ := v.(map[string]any)
	allowed := make(map[string][]any, len(parameters))
	for name, values := range parameters {
		list, ok := values.([]any)
		if !ok {
			return nil, fmt.Errorf("parameter %q needs a list of values", name)
		}
		allowed[name] = list
	}
	return allowed, nil
}
