package parser_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/callwright/callwright/call"
	"github.com/callwright/callwright/internal/golden"
	"github.com/callwright/callwright/normalizer"
	"github.com/callwright/callwright/parser"
)

const root = "../testdata"

// eachCase runs f for every golden case.
func eachCase(t *testing.T, f func(t *testing.T, c *golden.Case)) {
	if golden.Updating() {
		t.Skip("the golden files are being rewritten")
	}
	for _, file := range golden.Files(t, root) {
		name, _ := filepath.Rel(root, strings.TrimSuffix(file, ".txtar"))
		t.Run(filepath.ToSlash(name), func(t *testing.T) {
			t.Parallel()
			_, cases := golden.Load(t, root, file)
			for _, c := range cases {
				t.Run(c.Name, func(t *testing.T) { f(t, c) })
			}
		})
	}
}

func parse(t rapid.TB, c *golden.Case, text string) *parser.Result {
	t.Helper()
	r, err := c.Parser().Parse(context.Background(), text, c.Context)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestGolden(t *testing.T) {
	for _, file := range golden.Files(t, root) {
		name, _ := filepath.Rel(root, strings.TrimSuffix(file, ".txtar"))
		t.Run(filepath.ToSlash(name), func(t *testing.T) {
			archive, cases := golden.Load(t, root, file)
			got := make(map[string]string)
			for _, c := range cases {
				t.Run(c.Name, func(t *testing.T) {
					got[c.Name] = golden.Render(parse(t, c, c.Text))
					if !golden.Updating() && got[c.Name] != c.Want {
						t.Errorf("%s\n%s (-want +got):\n%s", c.File, c.Text, cmp.Diff(c.Want, got[c.Name]))
					}
				})
			}
			if golden.Updating() {
				golden.Write(t, file, archive, got)
			}
		})
	}
}

// stream parses a text cut into chunks and checks that the events add up to the
// result.
func stream(t rapid.TB, c *golden.Case, chunks [][]byte) *parser.Result {
	t.Helper()
	var content, reasoning strings.Builder
	arguments := map[int]*strings.Builder{}
	var ended []parser.Event
	var result *parser.Result
	f := c.Parser().NewFeeder(context.Background(), c.Context)
	defer f.Close()
	take := func(events []parser.Event, err error) {
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			switch e.Type {
			case parser.EventContent:
				content.WriteString(e.Text)
			case parser.EventReasoning:
				reasoning.WriteString(e.Text)
			case parser.EventRecast:
				if reasoning.Len() > 0 {
					reasoning.WriteString("\n")
				}
				reasoning.WriteString(content.String())
				content.Reset()
			case parser.EventCallStart:
				if arguments[e.Index] != nil {
					t.Fatalf("call %d begins twice", e.Index)
				}
				arguments[e.Index] = &strings.Builder{}
			case parser.EventArguments:
				arguments[e.Index].WriteString(e.Delta)
			case parser.EventCallEnd:
				ended = append(ended, e)
			case parser.EventResult:
				result = e.Result
			}
		}
	}
	for _, chunk := range chunks {
		take(f.Feed(chunk))
	}
	take(f.End())
	if result == nil {
		t.Fatal("no result")
	}
	if content.String() != result.Content || reasoning.String() != result.Reasoning {
		t.Errorf("events say content %q and reasoning %q,\nthe result %q and %q", content.String(), reasoning.String(), result.Content, result.Reasoning)
	}
	made := 0
	for _, e := range ended {
		var params map[string]any
		if e.Call != nil {
			params = e.Call.Parameters
			if made >= len(result.Calls) || !reflect.DeepEqual(result.Calls[made].Parameters, params) {
				t.Errorf("call %d ended as %v, the result says otherwise", e.Index, params)
			}
			made++
		} else {
			params = e.Rejected.Parameters
		}
		var said, want any
		if err := decodeNumbers(arguments[e.Index].String(), &said); err != nil {
			t.Errorf("the arguments of call %d are not JSON: %v\n%s", e.Index, err, arguments[e.Index])
		}
		if params == nil && e.Rejected != nil {
			continue // nothing is said of the parameters of what was no call
		}
		if params == nil {
			params = map[string]any{}
		}
		b, err := json.Marshal(params)
		if err != nil {
			t.Fatal(err)
		}
		if err := decodeNumbers(string(b), &want); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(said, want) {
			t.Errorf("the arguments of call %d add up to\n%s, not\n%s", e.Index, arguments[e.Index], b)
		}
	}
	if made != len(result.Calls) {
		t.Errorf("%d calls ended, the result has %d", made, len(result.Calls))
	}
	return result
}

// decodeNumbers decodes JSON whose numbers may be too big for a float64.
func decodeNumbers(text string, v any) error {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(v); err != nil {
		return err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something stands behind the value")
	}
	return nil
}

// TestCuts cuts every golden case at every byte, the short ones at every pair of
// bytes, and into single bytes.
func TestCuts(t *testing.T) {
	eachCase(t, func(t *testing.T, c *golden.Case) {
		want := golden.Render(parse(t, c, c.Text))
		check := func(chunks ...[]byte) {
			t.Helper()
			if got := golden.Render(stream(t, c, chunks)); got != want {
				t.Fatalf("cut as %q:\n%s", chunks, cmp.Diff(want, got))
			}
		}
		text := []byte(c.Text)
		single := make([][]byte, len(text))
		for i := range text {
			single[i] = text[i : i+1]
		}
		check(single...)
		step := 1 + len(text)/2000
		if testing.Short() {
			step = 1 + len(text)/8
		}
		for i := 0; i <= len(text); i += step {
			check(text[:i], nil, text[i:])
		}
		if len(text) <= 64 && !testing.Short() {
			for i := range text {
				for j := i; j < len(text); j++ {
					check(text[:i], text[i:j], text[j:])
				}
			}
		}
	})
}

// TestPrefixes cuts every golden case off at every byte: a call that is made must
// be one that the whole text makes, each of its values whole. Only where the text
// ends behind a closing marker is what it closes taken as whole, and where nothing
// closes a value, as the plain text of a ReAct action.
func TestPrefixes(t *testing.T) {
	eachCase(t, func(t *testing.T, c *golden.Case) {
		if strings.Contains(c.File, "no_calls") || strings.HasPrefix(c.Name, "draft") {
			t.Skip("half a text that makes no call may make one")
		}
		if strings.Contains(c.File, "react") && c.Name == "pairs" {
			t.Skip("what is cut off of pairs is plain text, which nothing closes")
		}
		if strings.Contains(c.File, "repeated_keys") {
			t.Skip("the value that counts may stand behind the cut")
		}
		whole := append(parse(t, c, c.Text).Calls, calls(parse(t, c, c.Text).Rejected)...)
		step := 1 + len(c.Text)/2000
		if testing.Short() {
			step = 1 + len(c.Text)/8
		}
		for i := 0; i < len(c.Text); i += step {
			prefix := c.Text[:i]
			closed := strings.ContainsAny(lastRune(strings.TrimSpace(prefix)), ">]}」✿") || strings.Contains(c.File, "react")
			// What takes prose back may stand in a sentence that is not there.
			ended := strings.HasSuffix(strings.TrimSpace(prefix), ".")
			for _, x := range parse(t, c, prefix).Calls {
				if !x.Truncated && (x.Metadata.ParsingMethod != call.MethodIntent || !ended) && !slices.ContainsFunc(whole, func(w parser.Call) bool { return partOf(&x, &w, closed) }) {
					t.Errorf("cut off at byte %d, %q makes %s %v", i, prefix, x.Tool, x.Parameters)
				}
			}
		}
	})
}

func lastRune(s string) string {
	r, _ := utf8.DecodeLastRuneInString(s)
	return string(r)
}

func calls(rejected []parser.Rejected) (list []parser.Call) {
	for _, r := range rejected {
		list = append(list, parser.Call{NormalizedToolCall: normalizer.NormalizedToolCall{Tool: r.Tool, Parameters: r.Parameters}})
	}
	return list
}

// partOf reports whether the values of a call that were written are those of the
// whole text's call, or beginnings of them where a marker closed them.
func partOf(x, whole *parser.Call, closed bool) bool {
	for key, v := range x.Parameters {
		if slices.Contains(x.Defaults, "/"+key) {
			continue
		}
		if w := whole.Parameters[key]; !reflect.DeepEqual(v, w) {
			text, _ := v.(string)
			long, _ := w.(string)
			if _, ok := v.(string); !ok || !closed || !strings.HasPrefix(long, text) {
				return false
			}
		}
	}
	return x.Tool == whole.Tool
}
