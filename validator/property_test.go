package validator_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/callwright/callwright/internal/text"
	"github.com/callwright/callwright/registry"
	"github.com/callwright/callwright/validator"
)

// names are those of members in generated schemas and values: some differ in spelling only,
// some are words that a schema or a wrapper uses.
var names = []string{"a", "b", "maxDays", "max_days", "MaxDays", "not", "", "input", "items", "$ref", "a/b~c"}

// scalars are values that coercions look at.
var scalars = []any{
	nil, true, false, json.Number("0"), json.Number("-0"), json.Number("1"), json.Number("3.0"), json.Number("1e2"), json.Number("2.5"),
	json.Number("12345678901234567890123"), "", "1", " 12 ", "3.0", "+7", "1e2", "true", "False", "yes", "null", "None", "ab", "A b", "A_B", "x",
	"[1, \"2\"]", "{\"a\": 1}", "{'a': [1,]}", "{\"a\": {\"b\": \"1\"}}", "2**3", "7 // 2", "1<<1000000000", "\"a\" + b", "1,000", "aaa@b.co", "[1",
}

func genValue(t *rapid.T, depth int) any {
	kind := rapid.IntRange(0, 9).Draw(t, "kind")
	switch {
	case kind < 6 || depth == 0:
		return rapid.SampledFrom(scalars).Draw(t, "scalar")
	case kind < 8:
		list := make([]any, rapid.IntRange(0, 4).Draw(t, "items"))
		for i := range list {
			list[i] = genValue(t, depth-1)
		}
		return list
	}
	return genObject(t, depth-1)
}

func genObject(t *rapid.T, depth int) map[string]any {
	m := map[string]any{}
	for range rapid.IntRange(0, 4).Draw(t, "members") {
		m[rapid.SampledFrom(names).Draw(t, "name")] = genValue(t, depth)
	}
	return m
}

var jsonTypes = []any{"string", "integer", "number", "boolean", "array", "object", "null"}

// genSchema makes a schema of some of the keywords. References lead to three definitions,
// so that schemas are recursive.
func genSchema(t *rapid.T, depth int) any {
	if rapid.IntRange(0, 19).Draw(t, "bool") == 0 {
		return rapid.Bool().Draw(t, "any")
	}
	s := map[string]any{}
	if rapid.IntRange(0, 3).Draw(t, "typed") > 0 {
		s["type"] = rapid.SampledFrom(jsonTypes).Draw(t, "type")
		if rapid.IntRange(0, 5).Draw(t, "types") == 0 {
			s["type"] = []any{s["type"], rapid.SampledFrom(jsonTypes).Draw(t, "or")}
		}
	}
	sub := func() any { return genSchema(t, depth-1) }
	subs := func() []any {
		list := make([]any, rapid.IntRange(1, 3).Draw(t, "branches"))
		for i := range list {
			list[i] = sub()
		}
		return list
	}
	name := func() string { return rapid.SampledFrom(names).Draw(t, "property") }
	small := func() json.Number { return json.Number(strconv.Itoa(rapid.IntRange(0, 3).Draw(t, "n"))) }
	for range rapid.IntRange(0, 3).Draw(t, "keywords") {
		k := rapid.IntRange(0, 33).Draw(t, "keyword")
		if depth == 0 {
			k = min(k, 13)
		}
		switch k {
		case 0:
			s["enum"] = rapid.SliceOfN(rapid.SampledFrom(scalars), 1, 4).Draw(t, "enum")
		case 1:
			s["const"] = rapid.SampledFrom(scalars).Draw(t, "const")
		case 2:
			s["minimum"] = small()
		case 3:
			s["exclusiveMaximum"] = json.Number("2.5")
		case 4:
			s["multipleOf"] = rapid.SampledFrom([]any{json.Number("2"), json.Number("0.5")}).Draw(t, "multiple")
		case 5:
			s["minLength"] = small()
		case 6:
			s["maxLength"] = small()
		case 7:
			s["pattern"] = rapid.SampledFrom([]any{"^a", "^[0-9]+$", "(?=x)"}).Draw(t, "pattern")
		case 8:
			s["format"] = rapid.SampledFrom([]any{"email", "date", "regex", "unknown"}).Draw(t, "format")
		case 9:
			s["default"] = genValue(t, 1)
		case 10:
			switch n := rapid.IntRange(0, 7).Draw(t, "ref"); {
			case n < 6:
				s["$ref"] = fmt.Sprintf("#/$defs/d%d", n/2)
			case n == 6:
				s["$dynamicRef"] = "#dynamic"
			default:
				s["$ref"] = "#anchor"
			}
		case 11:
			s["required"] = []any{name()}
		case 12:
			s["additionalProperties"] = rapid.Bool().Draw(t, "more")
		case 13:
			s["nullable"] = true
		case 14, 15, 16, 17, 18, 19, 20:
			properties := map[string]any{}
			for range rapid.IntRange(1, 3).Draw(t, "properties") {
				properties[name()] = sub()
			}
			s["properties"] = properties
		case 21:
			s["items"] = sub()
		case 22:
			s["items"] = subs()
		case 23:
			s["anyOf"] = subs()
		case 24:
			s["oneOf"] = subs()
		case 25:
			s["allOf"] = subs()
		case 26:
			s["not"] = sub()
		case 27:
			s["if"], s["then"], s["else"] = sub(), sub(), sub()
		case 28:
			s["additionalProperties"] = sub()
		case 29:
			s["patternProperties"] = map[string]any{"^m": sub()}
		case 30:
			s["contains"], s["maxContains"] = sub(), small()
		case 31:
			s["uniqueItems"], s["minItems"], s["maxItems"] = true, small(), json.Number("3")
		case 32:
			s["dependentSchemas"] = map[string]any{name(): sub()}
			s["dependentRequired"] = map[string]any{name(): []any{name()}}
			s["propertyNames"] = map[string]any{"maxLength": json.Number("6")}
			s["minProperties"] = small()
		case 33:
			s["unevaluatedProperties"] = rapid.SampledFrom([]any{false, map[string]any{"type": "integer"}}).Draw(t, "unevaluated")
		}
	}
	return s
}

// genTool makes a tool with a schema of an object and three definitions.
func genTool(t *rapid.T) (*registry.Tool, map[string]any) {
	s, ok := genSchema(t, 3).(map[string]any)
	if !ok {
		s = map[string]any{}
	}
	if rapid.IntRange(0, 3).Draw(t, "object") > 0 {
		s["type"] = "object"
		if s["properties"] == nil {
			s["properties"] = map[string]any{}
		}
		for _, name := range []string{"a", "maxDays"} {
			s["properties"].(map[string]any)[name] = genSchema(t, 2)
		}
	}
	defs := map[string]any{}
	for i := range 3 {
		defs[fmt.Sprintf("d%d", i)] = genSchema(t, 2)
	}
	s["$defs"] = defs
	if d0, ok := defs["d0"].(map[string]any); ok {
		d0["$dynamicAnchor"], d0["$anchor"] = "dynamic", "anchor"
	}
	switch rapid.IntRange(0, 15).Draw(t, "draft") {
	case 0:
		s["$schema"] = "http://json-schema.org/draft-04/schema#"
	case 1:
		s["$schema"] = "http://json-schema.org/draft-06/schema#"
	case 2:
		s["$schema"] = "http://json-schema.org/draft-07/schema#"
	case 3:
		s["$schema"], s["$recursiveAnchor"] = "https://json-schema.org/draft/2019-09/schema", true
		if properties, ok := s["properties"].(map[string]any); ok {
			properties["b"] = map[string]any{"anyOf": []any{map[string]any{"$recursiveRef": "#"}, map[string]any{"type": "string"}}}
		}
	}
	r, err := registry.New(registry.Tool{Name: "t", Parameters: s, RequireMarker: rapid.IntRange(0, 7).Draw(t, "marker") == 0})
	if err != nil {
		t.Fatal(err)
	}
	return r.Get("t"), s
}

// spellings are values that nearly fit a type.
var spellings = map[string][]any{
	"string": {"ab", "A b", "x", "", json.Number("1"), true, json.Number("2.50")}, "null": {nil, "null", "None", ""},
	"integer": {json.Number("1"), json.Number("3.0"), "1", " 12 ", "1e2", "3.0", "2**3", "7 // 2", "1<<9", json.Number("-0"), "1,000"},
	"number":  {json.Number("2.5"), json.Number("1e2"), "2.5", "+7", "1/4", json.Number("12345678901234567890123"), "1_000"},
	"boolean": {true, false, "true", "False", "yes", json.Number("1")},
}

// genNear makes a value that fits a schema, or nearly.
func genNear(t *rapid.T, schema any, defs map[string]any, depth int) any {
	s, ok := schema.(map[string]any)
	if !ok || depth == 0 || rapid.IntRange(0, 9).Draw(t, "stray") == 0 {
		return genValue(t, max(depth, 1)-1)
	}
	if ref, ok := s["$ref"].(string); ok {
		return genNear(t, defs[strings.TrimPrefix(ref, "#/$defs/")], defs, depth-1)
	}
	for _, k := range []string{"anyOf", "oneOf", "allOf"} {
		if list, ok := s[k].([]any); ok && rapid.Bool().Draw(t, "branch") {
			return genNear(t, rapid.SampledFrom(list).Draw(t, "of"), defs, depth-1)
		}
	}
	if list, ok := s["enum"].([]any); ok {
		return rapid.SampledFrom(list).Draw(t, "listed")
	}
	if c, ok := s["const"]; ok {
		return c
	}
	kind, ok := s["type"].(string)
	if list, isList := s["type"].([]any); isList {
		kind, ok = list[0].(string), true
	}
	if !ok && s["properties"] != nil {
		kind = "object"
	}
	switch kind {
	case "object":
		m := map[string]any{}
		properties, _ := s["properties"].(map[string]any)
		for _, name := range text.SortedKeys(properties) {
			if rapid.IntRange(0, 4).Draw(t, "there") > 0 {
				key := name
				if rapid.IntRange(0, 7).Draw(t, "respelled") == 0 {
					key = strings.ToUpper(name)
				}
				m[key] = genNear(t, properties[name], defs, depth-1)
			}
		}
		if len(m) == 1 && rapid.IntRange(0, 3).Draw(t, "more") == 0 {
			m[rapid.SampledFrom(names).Draw(t, "name")] = genValue(t, depth-1)
		}
		return m
	case "array":
		items := s["items"]
		if list, ok := items.([]any); ok {
			items = list[0]
		}
		if rapid.IntRange(0, 3).Draw(t, "single") == 0 {
			return genNear(t, items, defs, depth-1)
		}
		list := make([]any, rapid.IntRange(0, 3).Draw(t, "items"))
		for i := range list {
			list[i] = genNear(t, items, defs, depth-1)
		}
		return list
	}
	if list := spellings[kind]; list != nil {
		return rapid.SampledFrom(list).Draw(t, "spelling")
	}
	return genValue(t, depth-1)
}

// genParameters makes the parameters of a call of a tool.
func genParameters(t *rapid.T, schema map[string]any) map[string]any {
	m, ok := genNear(t, schema, schema["$defs"].(map[string]any), 4).(map[string]any)
	if !ok {
		m = genObject(t, 3)
	}
	switch rapid.IntRange(0, 15).Draw(t, "wrapped") {
	case 0:
		return map[string]any{"arguments": m}
	case 1:
		return map[string]any{"input": strings.TrimSpace(encode(t, m))}
	}
	return m
}

func genOptions(t *rapid.T) validator.Options {
	return validator.Options{
		NoCoercion: rapid.IntRange(0, 7).Draw(t, "no coercion") == 0, NoDefaults: rapid.IntRange(0, 3).Draw(t, "no defaults") == 0,
		Lossy: rapid.IntRange(0, 3).Draw(t, "lossy") == 0, KeepUnknown: rapid.IntRange(0, 3).Draw(t, "keep unknown") == 0,
	}
}

func encode(t rapid.TB, v any) string {
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(v); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// replay makes the result again of what was given, the changes and the defaults. What it
// cannot place is an error: a change whose From is not what stands there.
func replay(given map[string]any, r *validator.Result) (any, error) {
	now := text.Clone(given)
	for _, c := range r.Coercions {
		keys := text.Keys(c.Path)
		var err error
		switch {
		case strings.HasSuffix(c.Rule, "_dropped"):
			now, err = edit(now, keys, func(m map[string]any, key string) error {
				was, there := m[key]
				if delete(m, key); !there || !reflect.DeepEqual(was, c.From) {
					return fmt.Errorf("drops %v, there is %v", c.From, was)
				}
				return nil
			})
		case c.Rule == "key_renamed":
			now, err = edit(now, keys, func(m map[string]any, key string) error {
				from, _ := c.From.(string)
				value, there := m[from]
				if _, taken := m[key]; !there || taken || c.To != key {
					return fmt.Errorf("renames %v", c.From)
				}
				delete(m, from)
				m[key] = value
				return nil
			})
		default:
			now, err = set(now, keys, c.From, c.To)
		}
		if err != nil {
			return nil, fmt.Errorf("%s at %q: %w", c.Rule, c.Path, err)
		}
	}
	for _, path := range r.Defaults {
		keys := text.Keys(path)
		value, ok := find(any(r.Parameters), keys)
		if !ok {
			return nil, fmt.Errorf("no default at %q", path)
		}
		var err error
		if now, err = edit(now, keys, func(m map[string]any, key string) error {
			if _, there := m[key]; there {
				return fmt.Errorf("default for what is there")
			}
			m[key] = text.Clone(value)
			return nil
		}); err != nil {
			return nil, fmt.Errorf("default at %q: %w", path, err)
		}
	}
	return now, nil
}

// edit changes the object that holds the last of some keys.
func edit(v any, keys []string, change func(m map[string]any, key string) error) (any, error) {
	if len(keys) == 0 {
		return nil, fmt.Errorf("no key")
	}
	holder, ok := find(v, keys[:len(keys)-1])
	m, isObject := holder.(map[string]any)
	if !ok || !isObject {
		return nil, fmt.Errorf("no object there")
	}
	return v, change(m, keys[len(keys)-1])
}

func set(v any, keys []string, from, to any) (any, error) {
	was, ok := find(v, keys)
	if !ok || !reflect.DeepEqual(was, from) {
		return nil, fmt.Errorf("changes %v, there is %v", from, was)
	}
	to = text.Clone(to)
	if len(keys) == 0 {
		return to, nil
	}
	holder, _ := find(v, keys[:len(keys)-1])
	switch x := holder.(type) {
	case map[string]any:
		x[keys[len(keys)-1]] = to
	case []any:
		i, err := strconv.Atoi(keys[len(keys)-1])
		if err != nil {
			return nil, err
		}
		x[i] = to
	}
	return v, nil
}

func find(v any, keys []string) (any, bool) {
	for _, k := range keys {
		switch x := v.(type) {
		case map[string]any:
			e, ok := x[k]
			if !ok {
				return nil, false
			}
			v = e
		case []any:
			i, err := strconv.Atoi(k)
			if err != nil || i < 0 || i >= len(x) {
				return nil, false
			}
			v = x[i]
		default:
			return nil, false
		}
	}
	return v, true
}

// accepts asks the schema library itself.
func accepts(tool *registry.Tool, value any) bool { return tool.Schema().Validate(value) == nil }

// checkValidate holds what is promised of every validation.
func checkValidate(t rapid.TB, tool *registry.Tool, given map[string]any, o validator.Options) {
	before := text.Clone(given).(map[string]any)
	r := validator.Validate(tool, given, o)
	show := func() string {
		schema, _ := json.Marshal(tool.Parameters)
		value, _ := json.Marshal(before)
		result, _ := json.Marshal(r.Parameters)
		return fmt.Sprintf("\nschema %s\ngiven  %s\nresult %s\noptions %+v\ncoercions %+v\ndefaults %q\nerrors %v", schema, value, result, o, r.Coercions, r.Defaults, r.Errors)
	}
	if !reflect.DeepEqual(given, before) {
		t.Fatalf("what was given is changed%s", show())
	}
	if tool.Schema() == nil {
		if !reflect.DeepEqual(r.Parameters, before) || !r.Valid() {
			t.Fatalf("a tool without a schema takes everything%s", show())
		}
		return
	}
	for _, e := range r.Errors {
		if e.Code == validator.ValidationTooCostly {
			return
		}
	}
	if r.Valid() != accepts(tool, r.Parameters) {
		t.Fatalf("valid is %v, and the schema library says otherwise%s", r.Valid(), show())
	}
	again, err := replay(before, &r)
	if err != nil {
		t.Fatalf("the changes cannot be made again: %v%s", err, show())
	}
	if !reflect.DeepEqual(again, any(r.Parameters)) {
		t.Fatalf("the changes make %v%s", again, show())
	}
	kept := slices.DeleteFunc(slices.Clone(r.Coercions), func(c validator.Coercion) bool {
		return c.Rule == "key_renamed" || c.Rule == "unwrapped"
	})
	if o.NoCoercion && len(r.Coercions) > 0 || len(kept) > 0 && len(kept) == len(r.Coercions) && accepts(tool, before) {
		t.Fatalf("what fits is changed%s", show())
	}
	if o.NoDefaults && len(r.Defaults) > 0 || r.Factor <= 0 || r.Factor > 1 || len(r.Coercions) == 0 && r.Factor != 1 {
		t.Fatalf("factor %g%s", r.Factor, show())
	}
	if !r.Valid() {
		return
	}
	twice := validator.Validate(tool, r.Parameters, o)
	freed := slices.ContainsFunc(r.Coercions, func(c validator.Coercion) bool { return strings.HasSuffix(c.Rule, "_dropped") })
	if len(twice.Coercions) > 0 && !freed || !twice.Valid() { // a name that is free again may be given to another key
		t.Fatalf("it changes again: %+v%s", twice.Coercions, show())
	}
	if len(r.Coercions) > 0 && r.Coercions[0].Rule == "unwrapped" {
		return
	}
	for name, value := range before {
		if made, ok := validator.ValidateParameter(tool, name, value, o); ok && !reflect.DeepEqual(made, r.Parameters[name]) {
			t.Fatalf("parameter %q alone becomes %v%s", name, made, show())
		}
	}
}

// validateAny checks one generated tool with a few generated values.
func validateAny(t *rapid.T) {
	tool, schema := genTool(t)
	for range 4 {
		checkValidate(t, tool, genParameters(t, schema), genOptions(t))
	}
}

// TestNothingInSilence holds that what fits is left alone, that whatever is changed is
// listed so that it can be made again, and that the verdict is the schema library's.
func TestNothingInSilence(t *testing.T) { rapid.Check(t, validateAny) }

// FuzzValidate is the same for the fuzzer.
func FuzzValidate(f *testing.F) { f.Fuzz(rapid.MakeFuzz(validateAny)) }
