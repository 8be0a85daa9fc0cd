package validator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/registry"
)

func toolOf(t testing.TB, schema string) *registry.Tool {
	t.Helper()
	tools, err := registry.Parse([]byte(`{"name":"t","parameters":` + schema + `}`))
	if err != nil {
		t.Fatalf("%s: %v", schema, err)
	}
	r, err := registry.New(tools...)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r.Get("t")
}

// steps validates and returns how many steps it took.
func steps(t testing.TB, tool *registry.Tool, value string, o Options) (int, Result) {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(value))
	dec.UseNumber()
	var m map[string]any
	if err := dec.Decode(&m); err != nil {
		t.Fatalf("%.100s: %v", value, err)
	}
	v := validation{o: o, tool: tool, wrapped: -1, base: 1, keepObject: true}
	v.validate(context.Background(), m)
	return v.walk.steps, v.result()
}

func nested(open, leaf, shut string, n int) string {
	return strings.Repeat(open, n) + leaf + strings.Repeat(shut, n)
}

const expr = `"$defs":{"expr":{"anyOf":[
	{"type":"object","properties":{"op":{"const":"and"},"args":{"type":"array","items":{"$ref":"#/$defs/expr"}}},"required":["op","args"]},
	{"type":"object","properties":{"op":{"const":"or"},"args":{"type":"array","items":{"$ref":"#/$defs/expr"}}},"required":["op","args"]},
	{"type":"string"}]}},"type":"object","properties":{"a":{"$ref":"#/$defs/expr"}}`

// TestLinear counts steps for schemas of every kind that applies several schemas to one
// value, with values that fit, that do not fit at the innermost place, and that are nearly
// right: twice the value may take twice the steps.
func TestLinear(t *testing.T) {
	for _, tt := range []struct {
		name, schema string
		value        func(n int) string
	}{
		{"filters that do not fit", `{` + expr + `}`, func(n int) string { return `{"a":` + nested(`{"op":"xor","args":[`, "5", "]}", n/2) + `}` }},
		{"filters that fit", `{` + expr + `}`, func(n int) string { return `{"a":` + nested(`{"op":"or","args":[`, `"x"`, "]}", n/2) + `}` }},
		{"filters that nearly fit", `{` + expr + `}`, func(n int) string { return `{"a":` + nested(`{"op":"OR","args":[`, `5`, "]}", n/2) + `}` }},
		{"filters side by side", `{` + expr + `}`, func(n int) string {
			return `{"a":{"op":"or","args":[` + strings.TrimSuffix(strings.Repeat(`{"op":"or","args":["x",{"op":"and","args":["y"]}]},`, n), ",") + `]}}`
		}},
		{
			"two ways to the same", `{"type":"object","properties":{"a":{"anyOf":[{"$ref":"#"},{"$ref":"#"}]}}}`,
			func(n int) string { return nested(`{"a":`, "5", "}", n) },
		},
		{
			"one of two", `{"type":"object","properties":{"a":{"oneOf":[{"$ref":"#"},{"$ref":"#"},{"type":"null"}]}}}`,
			func(n int) string { return nested(`{"a":`, "null", "}", n) },
		},
		{
			"all of two", `{"type":"object","allOf":[{"properties":{"a":{"$ref":"#"}}},{"properties":{"a":{"$ref":"#"}}}]}`,
			func(n int) string { return nested(`{"a":`, "5", "}", n) },
		},
		{
			"properties and patterns", `{"type":"object","properties":{"a":{"$ref":"#"}},"patternProperties":{"a":{"$ref":"#"},"^a":{"$ref":"#"}}}`,
			func(n int) string { return nested(`{"a":`, "5", "}", n) },
		},
		{
			"conditions", `{"type":"object","if":{"properties":{"a":{"$ref":"#"}}},"then":{"properties":{"a":{"$ref":"#"}}},"else":{"properties":{"a":{"$ref":"#"}}}}`,
			func(n int) string { return nested(`{"a":`, "5", "}", n) },
		},
		{
			"dependents", `{"type":"object","dependentSchemas":{"a":{"properties":{"a":{"$ref":"#"}}}},"properties":{"a":{"$ref":"#"}}}`,
			func(n int) string { return nested(`{"a":`, "5", "}", n) },
		},
		{
			"not", `{"type":"object","not":{"properties":{"a":{"not":{"$ref":"#"}}},"required":["b"]},"properties":{"a":{"$ref":"#"}}}`,
			func(n int) string { return nested(`{"a":`, "5", "}", n) },
		},
		{
			"contains", `{"type":"object","properties":{"a":{"type":"array","contains":{"$ref":"#"},"items":{"$ref":"#"}}}}`,
			func(n int) string { return nested(`{"a":[`, "5", "]}", n/2) },
		},
		{
			"lists of themselves", `{"type":"object","properties":{"a":{"$ref":"#/$defs/l"}},"$defs":{"l":{"anyOf":[{"type":"array","items":{"$ref":"#/$defs/l"}},{"type":"array","items":{"$ref":"#/$defs/l"}}]}}}`,
			func(n int) string { return `{"a":` + nested(`[`, "5", "]", n) + `}` },
		},
		{
			"a value for lists of themselves", `{"type":"object","properties":{"a":{"type":"array","items":{"$ref":"#/$defs/l"}}},"$defs":{"l":{"anyOf":[{"type":"array","items":{"$ref":"#/$defs/l"}},{"type":"array","minItems":2,"items":{"$ref":"#/$defs/l"}}]}}}`,
			func(n int) string { return `{"a":[` + strings.TrimSuffix(strings.Repeat("5,", n), ",") + `]}` },
		},
		{
			"defaults", `{"type":"object","properties":{"a":{"anyOf":[{"$ref":"#"},{"$ref":"#/$defs/o"}]},"b":{"type":"integer","default":1}},"$defs":{"o":{"type":"object","required":["z"]}}}`,
			func(n int) string { return nested(`{"a":`, "{}", "}", n) },
		},
		{
			"rows of wrong types", `{"type":"object","properties":{"rows":{"type":"array","items":{"type":"object","properties":{"n":{"type":"integer"},"s":{"type":"string"}}}}}}`,
			func(n int) string {
				return `{"rows":[` + strings.TrimSuffix(strings.Repeat(`{"n":"1","s":2},`, n), ",") + `]}`
			},
		},
		{
			"unknown keys", `{"type":"object","additionalProperties":false,"properties":{"abc":{"type":"integer"}}}`,
			func(n int) string {
				var b strings.Builder
				for i := range n {
					fmt.Fprintf(&b, `"k%d":1,`, i)
				}
				return `{` + strings.TrimSuffix(b.String(), ",") + `}`
			},
		},
		{
			"equal hashes", `{"type":"object","properties":{"a":{"type":"array","uniqueItems":true}}}`,
			func(n int) string {
				var list []string
				for i := range n {
					list = append(list, `["`+strings.Repeat("a", i%40)+`","`+strings.Repeat("a", 40-i%40)+fmt.Sprint(i)+`"]`)
				}
				return `{"a":[` + strings.Join(list, ",") + `]}`
			},
		},
		{
			"JSON in strings", `{"type":"object","properties":{"a":{"anyOf":[{"type":"object"},{"type":"array"},{"type":"object","required":["b"]}]}}}`,
			func(n int) string { return `{"a":"{\"x\":\"` + strings.Repeat("y", 100*n) + `\"}"}` },
		},
		{
			"unevaluated", `{"type":"object","properties":{"a":{"$ref":"#"}},"allOf":[{"properties":{"b":{"$ref":"#"}}}],"unevaluatedProperties":false}`,
			func(n int) string { return nested(`{"a":`, `{"c":1}`, "}", n/4) },
		},
	} {
		for _, o := range []Options{{}, {Lossy: true}, {NoCoercion: true}} {
			tool := toolOf(t, tt.schema)
			var last int
			for n := 50; n <= 400; n *= 2 {
				count, res := steps(t, tool, tt.value(n), o)
				for _, e := range res.Errors {
					if e.Code == ValidationTooCostly {
						t.Errorf("%s, %d: %v", tt.name, n, e)
					}
				}
				if last > 0 && float64(count) > 2.2*float64(last)+2*firstSteps {
					t.Errorf("%s: %d take %d steps, half as many %d", tt.name, n, count, last)
				}
				last = count
			}
		}
	}
}

// TestCapped holds that what cannot be bounded by remembering ends with an error that says
// what to do.
func TestCapped(t *testing.T) {
	// A pattern of many instructions and a long text.
	long := `{"a":"` + strings.Repeat("ab", 2<<20) + `"}`
	tool := toolOf(t, `{"type":"object","properties":{"a":{"type":"string","pattern":"^(a|b|ab){900}x$"}}}`)
	_, res := steps(t, tool, long, Options{})
	if len(res.Errors) != 1 || res.Errors[0].Code != ValidationTooCostly || !strings.Contains(res.Errors[0].Message, "take a part of the schema away") {
		t.Errorf("%v", res.Errors)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var m map[string]any
	if err := json.Unmarshal([]byte(`{"a":[`+strings.TrimSuffix(strings.Repeat(`"x",`, 100_000), ",")+`]}`), &m); err != nil {
		t.Fatal(err)
	}
	rows := toolOf(t, `{"type":"object","properties":{"a":{"type":"array","items":{"type":"string","minLength":1}}}}`)
	r := ValidateContext(ctx, rows, m, Options{})
	if len(r.Errors) != 1 || r.Errors[0].Code != ValidationTooCostly || !strings.Contains(r.Errors[0].Message, context.Canceled.Error()) {
		t.Errorf("%v", r.Errors)
	}
	if r := ValidateContext(t.Context(), rows, m, Options{}); !r.Valid() {
		t.Errorf("%v", r.Errors)
	}
	deep := any("x")
	for range maxDepth + 10 {
		deep = map[string]any{"a": deep}
	}
	recursive := toolOf(t, `{"type":"object","properties":{"a":{"$ref":"#"}}}`)
	r = Validate(recursive, deep.(map[string]any), Options{})
	if len(r.Errors) != 1 || r.Errors[0].Code != ValidationTooCostly || !strings.Contains(r.Errors[0].Message, errTooDeep.Error()) {
		t.Errorf("%v", r.Errors)
	}
}

// TestLibraryIsGuarded holds that the schema library is not asked about a value for which
// it would take too long.
func TestLibraryIsGuarded(t *testing.T) {
	tool := toolOf(t, `{"type":"object","unevaluatedProperties":false,"properties":{"a":{"anyOf":[{"$ref":"#"},{"$ref":"#"}]}}}`)
	w := newWalk(t.Context(), planOf(tool), nil)
	deep := any(5)
	for range 40 {
		deep = map[string]any{"a": deep}
	}
	start := time.Now()
	if err := w.ask(planOf(tool).root, deep); !errors.Is(err, errTooManySteps) {
		t.Errorf("%v after %v", err, time.Since(start))
	}
	w = newWalk(t.Context(), planOf(tool), nil)
	if err := w.ask(planOf(tool).root, map[string]any{"a": map[string]any{}}); err != nil {
		t.Error(err)
	}
}

// TestManyErrors holds that the errors of a large value take little memory.
func TestManyErrors(t *testing.T) {
	if testing.Short() {
		t.Skip("measures memory")
	}
	tool := toolOf(t, `{"type":"object","properties":{"a":{"type":"array","items":{"type":"object"}}}}`)
	list := make([]any, 1_000_000)
	for i := range list {
		list[i] = true
	}
	parameters := map[string]any{"a": list}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := Validate(tool, parameters, Options{})
	runtime.ReadMemStats(&after)
	if len(r.Errors) != maxErrors || after.TotalAlloc-before.TotalAlloc > 64<<20 {
		t.Errorf("%d errors, %d bytes allocated", len(r.Errors), after.TotalAlloc-before.TotalAlloc)
	}
}
