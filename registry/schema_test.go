package registry_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/callwright/callwright/registry"
)

// one makes a registry of one tool "t" with a schema.
func one(t testing.TB, schema string) (*registry.Registry, *registry.Tool) {
	t.Helper()
	tools, err := registry.Parse([]byte(`{"name":"t","parameters":` + schema + `}`))
	if err != nil {
		t.Fatalf("%s: %v", schema, err)
	}
	r, err := registry.New(tools...)
	if err != nil {
		t.Fatalf("%s: %v", schema, err)
	}
	return r, r.Get("t")
}

// TestCycles holds that a schema which applies itself to the same value is refused, however
// it does so, and that one which applies itself to a member is not.
func TestCycles(t *testing.T) {
	for _, schema := range []string{
		`{"$ref":"#"}`,
		`{"$ref":"#/"}`,
		`{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`,
		`{"$ref":"#/%24defs/a","$defs":{"a":{"$ref":"#/$defs/a"}}}`,
		`{"$ref":"#x","$defs":{"a":{"$anchor":"x","allOf":[{"$ref":"#x"}]}}}`,
		`{"$dynamicAnchor":"x","allOf":[{"$dynamicRef":"#x"}]}`,
		`{"$schema":"https://json-schema.org/draft/2019-09/schema","$recursiveAnchor":true,"anyOf":[{"$recursiveRef":"#"}]}`,
		`{"type":"object","anyOf":[{"type":"string"},{"$ref":"#"}]}`,
		`{"type":"object","oneOf":[{"$ref":"#"}]}`,
		`{"type":"object","not":{"$ref":"#"}}`,
		`{"type":"object","if":{"$ref":"#"}}`,
		`{"type":"object","if":{"type":"object"},"then":{"$ref":"#"}}`,
		`{"type":"object","if":{"type":"object"},"else":{"$ref":"#"}}`,
		`{"type":"object","dependentSchemas":{"a":{"$ref":"#"}}}`,
		`{"type":"object","dependencies":{"a":{"$ref":"#"}}}`,
		`{"type":"object","properties":{"a":{"$ref":"#/properties/a"}}}`,
		`{"type":"object","properties":{"a":{"type":"array","items":{"allOf":[{"$ref":"#/properties/a/items"}]}}}}`,
	} {
		r, tool := one(t, schema)
		_, _, _ = tool.Order(), tool.Signature(), tool.Requires("a")
		err := r.Check(t.Context())
		var bad *registry.SchemaError
		if !errors.As(err, &bad) || tool.Schema() != nil || !strings.Contains(strings.Join(tool.Warnings(), "\n"), "schema_invalid") {
			t.Errorf("%s: %v", schema, err)
		}
		if !strings.Contains(schema, `"#/"`) && !errors.Is(err, registry.ErrSchemaCycle) {
			t.Errorf("%s: %v", schema, err)
		}
	}
	for _, schema := range []string{
		`{"type":"object","properties":{"a":{"$ref":"#"}}}`,
		`{"type":"object","additionalProperties":{"anyOf":[{"$ref":"#"},{"type":"string"}]}}`,
		`{"$ref":"#/$defs/a","$defs":{"a":{"type":"object","properties":{"b":{"type":"array","items":{"$ref":"#"}}}}}}`,
		`{"$dynamicAnchor":"x","type":"object","properties":{"a":{"$dynamicRef":"#x"}}}`,
	} {
		r, tool := one(t, schema)
		if err := r.Check(t.Context()); err != nil || tool.Schema() == nil {
			t.Errorf("%s: %v", schema, err)
		}
	}
}

// TestExpansion holds that schemas which apply too many schemas to one value are refused,
// through whatever references.
func TestExpansion(t *testing.T) {
	for _, refs := range []struct{ name, def, ref string }{
		{"pointer", `"l%d":{"allOf":[%s,%s]}`, `{"$ref":"#/$defs/l%d"}`},
		{"escaped", `"l%d":{"anyOf":[%s,%s]}`, `{"$ref":"#/%%24defs/l%d"}`},
		{"anchor", `"l%d":{"$anchor":"a%[1]d","oneOf":[%s,%s]}`, `{"$ref":"#a%d"}`},
		{"dynamic", `"l%d":{"$dynamicAnchor":"a%[1]d","allOf":[%s,%s]}`, `{"$dynamicRef":"#a%d"}`},
	} {
		defs := []string{`"l0":{"$anchor":"a0","type":"object"}`}
		for i := 1; i <= 22; i++ {
			ref := fmt.Sprintf(refs.ref, i-1)
			defs = append(defs, fmt.Sprintf(refs.def, i, ref, ref))
		}
		if refs.name == "dynamic" {
			defs[0] = `"l0":{"$dynamicAnchor":"a0","type":"object"}`
		}
		r, _ := one(t, `{"allOf":[`+fmt.Sprintf(refs.ref, 22)+`],"$defs":{`+strings.Join(defs, ",")+`}}`)
		if err := r.Check(t.Context()); !errors.Is(err, registry.ErrSchemaTooLarge) {
			t.Errorf("%s: %v", refs.name, err)
		}
	}
	// A chain of references, each of which is a step of recursion for every level of a value.
	var chain []string
	for i := range 2000 {
		chain = append(chain, fmt.Sprintf(`"c%d":{"$ref":"#/$defs/c%d"}`, i, i+1))
	}
	chain = append(chain, `"c2000":{"type":"object","properties":{"a":{"$ref":"#/$defs/c0"}}}`)
	r, _ := one(t, `{"$ref":"#/$defs/c0","$defs":{`+strings.Join(chain, ",")+`}}`)
	if err := r.Check(t.Context()); !errors.Is(err, registry.ErrSchemaTooLarge) {
		t.Error(err)
	}
}

// TestCompiledWhenCalled holds that of many tools only those are compiled that are asked
// for, by one goroutine of many, and that what is held stays bounded.
func TestCompiledWhenCalled(t *testing.T) {
	tools, err := registry.Parse(definitions(registry.MaxTools))
	if err != nil {
		t.Fatal(err)
	}
	r, err := registry.New(tools...)
	if err != nil {
		t.Fatal(err)
	}
	before := r.Bytes()
	if _, ok := r.Lookup("Tool5"); !ok || r.Bytes() != before {
		t.Error("looking a tool up compiles its schema")
	}
	schemas := make([]*jsonschema.Schema, 16)
	var group sync.WaitGroup
	for i := range schemas {
		group.Go(func() { schemas[i] = r.Get("tool_7").Schema() })
	}
	group.Wait()
	for _, s := range schemas {
		if s == nil || s != schemas[0] {
			t.Fatal("concurrent calls compile a schema more than once")
		}
	}
	first := r.Bytes() - before
	if first <= 0 || first > 1<<20 {
		t.Errorf("one schema takes %d bytes", first)
	}
	most := 0
	for i := range registry.MaxTools / 5 {
		if r.Get(fmt.Sprintf("tool_%d", i)).Schema() == nil {
			t.Fatal("no schema")
		}
		most = max(most, r.Bytes()-before)
	}
	if most > 40<<20 || most < 16<<20 {
		t.Errorf("compiled schemas take up to %d bytes", most)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.Check(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestTooMany holds that tools beyond the limits are refused before anything is compiled,
// also by a strict registry.
func TestTooMany(t *testing.T) {
	tools, err := registry.Parse(definitions(2 * registry.MaxTools))
	if err != nil {
		t.Fatal(err)
	}
	r, err := registry.New(tools...)
	if !errors.Is(err, registry.ErrTooManyTools) || r.Len() != registry.MaxTools {
		t.Errorf("%d tools, %v", r.Len(), err)
	}
	if err := r.Add(tools[:3]...); err != nil {
		t.Errorf("replacing tools of a full registry: %v", err)
	}
	large := map[string]any{"type": "object", "description": strings.Repeat("x", 200<<10)}
	for _, strict := range []bool{false, true} {
		r, _ := registry.NewWith(registry.Options{Strict: strict})
		var err error
		for i := range 50 {
			if err = r.Add(registry.Tool{Name: fmt.Sprintf("t%d", i), Parameters: large}); err != nil {
				break
			}
		}
		if !errors.Is(err, registry.ErrSchemasTooLarge) || r.Len() > registry.MaxSchemaBytes/(200<<10) {
			t.Errorf("%d tools of 200 KB, %v", r.Len(), err)
		}
		for range 100 {
			if err := r.Add(registry.Tool{Name: "t0", Parameters: large}); err != nil {
				t.Fatalf("replacing a tool: %v", err)
			}
		}
	}
}

// TestStrictKeepsTheOld holds that a tool which a strict registry refuses does not replace
// the one of its name.
func TestStrictKeepsTheOld(t *testing.T) {
	r, err := registry.NewWith(registry.Options{Strict: true}, registry.Tool{Name: "t", Parameters: map[string]any{"type": "object"}})
	if err != nil {
		t.Fatal(err)
	}
	err = r.Add(registry.Tool{Name: "t", Parameters: map[string]any{"$ref": "#"}}, registry.Tool{Name: "u"})
	if !errors.Is(err, registry.ErrSchemaCycle) || r.Get("t").Schema() == nil || r.Get("u") == nil {
		t.Errorf("%v, %d tools", err, r.Len())
	}
}

// TestHostilePatterns holds that the patterns of a tool are bounded together, that they are
// not compiled before they are matched, and what stands for them in memory.
func TestHostilePatterns(t *testing.T) {
	if testing.Short() {
		t.Skip("measures memory")
	}
	var b strings.Builder
	b.WriteString(`{"type":"object","properties":{`)
	for i := range 800 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"p%d":{"type":"string","pattern":"(a|b){500}x%d"}`, i, i)
	}
	b.WriteString(`}}`)
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	var held []*registry.Registry
	weighed := 0
	for range 12 {
		r, tool := one(t, b.String())
		if tool.Schema() == nil || !strings.Contains(strings.Join(tool.Warnings(), "\n"), "pattern_skipped") {
			t.Fatalf("%q", tool.Warnings())
		}
		value := map[string]any{}
		for i := range 800 {
			value[fmt.Sprintf("p%d", i)] = strings.Repeat("ab", 250) + fmt.Sprintf("x%d", i)
		}
		if err := tool.Schema().Validate(value); err != nil {
			t.Fatal(err)
		}
		held = append(held, r)
		weighed += r.Bytes()
	}
	took := int(heap() - before)
	t.Logf("12 registries hold %d bytes, %d by their own account", took, weighed)
	if took > 100<<20 || weighed < took*2/3 || weighed > 8*took {
		t.Errorf("12 registries hold %d bytes, %d by their own account", took, weighed)
	}
	runtime.KeepAlive(held)
}

// TestBytes holds that what a registry says of its size is near what it takes.
func TestBytes(t *testing.T) {
	if testing.Short() {
		t.Skip("measures memory")
	}
	heap := func() int {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	before := heap()
	tools, err := registry.Parse(definitions(5000))
	if err != nil {
		t.Fatal(err)
	}
	r, err := registry.New(tools...)
	if err != nil {
		t.Fatal(err)
	}
	tools = nil
	parsed, said := heap()-before, r.Bytes()
	t.Logf("5,000 tools take %d bytes, %d by their own account", parsed, said)
	if said < parsed*2/3 || said > 4*parsed {
		t.Errorf("5,000 tools take %d bytes, %d by their own account", parsed, said)
	}
	for i := range 500 {
		if r.Get(fmt.Sprintf("tool_%d", i)).Schema() == nil {
			t.Fatal("no schema")
		}
	}
	compiled, saidCompiled := heap()-before-parsed, r.Bytes()-said
	t.Logf("500 compiled take %d bytes, %d by their own account", compiled, saidCompiled)
	if saidCompiled < compiled*2/3 || saidCompiled > 4*compiled {
		t.Errorf("500 compiled take %d bytes, %d by their own account", compiled, saidCompiled)
	}
	runtime.KeepAlive(tools)
}

// TestWords holds what is made of what JSON Schema does not know, or not in that draft:
// values that fit and do not fit each schema, and the warnings.
func TestWords(t *testing.T) {
	obj := func(a string) string { return `{"type":"object","properties":{"a":` + a + `}}` }
	for _, tt := range []struct {
		name, schema string
		fits, wrong  []string
		warnings     string
	}{
		{"type with a typing error", `{"type":"objec","properties":{"a":{"type":"integer"}}}`, []string{`{"a":1}`}, []string{`{"a":"x"}`}, "type_ignored: /type"},
		{"types within types", obj(`{"type":[["string"],["string"]]}`), []string{`{"a":1}`}, nil, "type_ignored: /properties/a/type"},
		{"list of types", obj(`{"type":["object","array"]}`), []string{`{"a":[]}`, `{"a":{}}`}, []string{`{"a":"x"}`}, ""},
		{
			"tuple", obj(`{"type":"array","items":[{"type":"string"},{"type":"integer"}]}`),
			[]string{`{"a":["x",1]}`, `{"a":["x"]}`, `{"a":["x",1,null]}`},
			[]string{`{"a":[1,1]}`, `{"a":["x","x"]}`},
			"",
		},
		{
			"closed tuple", obj(`{"type":"array","items":[{"type":"string"}],"additionalItems":false}`),
			[]string{`{"a":["x"]}`},
			[]string{`{"a":[1]}`, `{"a":["x",2]}`},
			"",
		},
		{
			"tuple of draft 7",
			`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"a":{"items":[{"type":"string"}],"additionalItems":false}}}`,
			[]string{`{"a":["x"]}`},
			[]string{`{"a":[1]}`, `{"a":["x",2]}`},
			"",
		},
		{"unknown draft", `{"$schema":"https://example.com/s","type":"object","properties":{"a":{"type":"string"}}}`, []string{`{"a":"x"}`}, []string{`{"a":1}`}, "schema_dialect_ignored"},
		{"exclusive limit as a boolean", obj(`{"type":"number","minimum":0,"exclusiveMinimum":true,"maximum":5,"exclusiveMaximum":false}`), []string{`{"a":0.1}`, `{"a":5}`}, []string{`{"a":0}`, `{"a":6}`}, ""},
		{
			"exclusive limit of draft 4",
			`{"$schema":"http://json-schema.org/draft-04/schema#","type":"object","properties":{"a":{"minimum":0,"exclusiveMinimum":true}}}`,
			[]string{`{"a":0.1}`},
			[]string{`{"a":0}`},
			"",
		},
		{"ECMA pattern", obj(`{"type":"string","pattern":"^(?=x)x$"}`), []string{`{"a":"y"}`}, []string{`{"a":1}`}, "pattern_skipped: /properties/a/pattern"},
		{"ECMA pattern of names", `{"type":"object","patternProperties":{"(?!x)":{"type":"string"},"^n":{"type":"number"}}}`, []string{`{"n":1,"a":2}`}, []string{`{"n":"x"}`}, "pattern_skipped: /patternProperties"},
		{"huge limit", obj(`{"type":"number","minimum":1e999999999,"maximum":5}`), []string{`{"a":1}`}, []string{`{"a":6}`}, "number_skipped: /properties/a/minimum"},
		{"huge count", obj(`{"type":"string","maxLength":1e30,"minLength":1}`), []string{`{"a":"x"}`}, []string{`{"a":""}`}, ""},
		{"endless count", obj(`{"type":"string","maxLength":1e999999}`), []string{`{"a":"x"}`}, nil, "number_skipped: /properties/a/maxLength"},
		{"huge values", obj(`{"enum":[1,1e999999],"default":1e999999}`), []string{`{"a":1}`}, []string{`{"a":2}`}, "number_skipped: /properties/a/default"},
		{"only huge values", obj(`{"enum":[1e999999]}`), []string{`{"a":1}`}, nil, "number_skipped: /properties/a/enum"},
		{"dependencies", `{"type":"object","dependencies":{"a":["b"],"c":{"properties":{"d":{"type":"int"}}}}}`, []string{`{"a":1,"b":2}`, `{"c":1,"d":2}`}, []string{`{"a":1}`, `{"c":1,"d":"x"}`}, "type_rewritten: /dependencies/c/properties/d/type"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, tool := one(t, tt.schema)
			if err := r.Check(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(tool.Warnings(), "\n"); tt.warnings == "" && got != "" || !strings.Contains(got, tt.warnings) {
				t.Errorf("warnings %q, want %q", got, tt.warnings)
			}
			for _, text := range tt.fits {
				if err := tool.Schema().Validate(decode(t, text)); err != nil {
					t.Errorf("%s: %v", text, err)
				}
			}
			for _, text := range tt.wrong {
				if tool.Schema().Validate(decode(t, text)) == nil {
					t.Errorf("%s fits", text)
				}
			}
		})
	}
}

func decode(t testing.TB, text string) (v any) {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// TestHiddenSchemas holds that a reference to where no schema stands brings in nothing that
// is not bounded.
func TestHiddenSchemas(t *testing.T) {
	for _, schema := range []string{
		`{"properties":{"a":{"$ref":"#/x-own/s"}},"x-own":{"s":{"pattern":"(a|b){900}(c|d){900}(e|f){900}(g|h){900}(i|j){900}(k|l){900}"}}}`,
		`{"properties":{"a":{"$ref":"#/default"}},"default":{"$ref":"file:///etc/hostname"}}`,
		`{"properties":{"a":{"$ref":"#/examples/0"}},"examples":[{"$ref":"#/examples/0"}]}`,
	} {
		r, tool := one(t, schema)
		if r.Check(t.Context()) == nil || tool.Schema() != nil {
			t.Errorf("%s is taken", schema)
		}
	}
}

// TestRegexFormat holds that a value which must be a regular expression is not compiled.
func TestRegexFormat(t *testing.T) {
	_, tool := one(t, `{"type":"object","properties":{"a":{"type":"string","format":"regex"}}}`)
	for text, fits := range map[string]bool{"a+": true, "(a|b){900}(c|d){900}" + strings.Repeat("x", 5000): true, "(": false} {
		if err := tool.Schema().Validate(map[string]any{"a": text}); (err == nil) != fits {
			t.Errorf("%.20q: %v", text, err)
		}
	}
}

// TestDependencies holds that the tools which must run before one are read from every
// format of definitions, wherever they stand.
func TestDependencies(t *testing.T) {
	const own = `"dependencies":["make_shape","get_layer"]`
	for _, text := range []string{
		`{"name":"t","parameters":{},` + own + `}`,
		`[{"type":"function","function":{"name":"t","parameters":{"type":"object"},` + own + `}}]`,
		`[{"type":"function",` + own + `,"function":{"name":"t","parameters":{"type":"object"}}}]`,
		`{"tools":[{"type":"function","name":"t","parameters":{"type":"object"},` + own + `}]}`,
		`{"name":"t","input_schema":{"type":"object"},` + own + `}`,
		`{"functionDeclarations":[{"name":"t","parameters":{"type":"OBJECT"},` + own + `}]}`,
		`{"result":{"tools":[{"name":"t","inputSchema":{"type":"object"},` + own + `}]}}`,
		`{"tools":[{"name":"t","inputSchema":{"type":"object"},"_meta":{` + own + `}}]}`,
		`{"t":{"description":"d","parameters":{"type":"object"},` + own + `}}`,
	} {
		tools, err := registry.Parse([]byte(text))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		r, err := registry.New(tools...)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Get("t").Dependencies; !slices.Equal(got, []string{"make_shape", "get_layer"}) {
			t.Errorf("%s: %q", text, got)
		}
	}
}
