package validator_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/callwright/callwright/registry"
	"github.com/callwright/callwright/validator"
)

func decode(t testing.TB, text string) map[string]any {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var m map[string]any
	if err := dec.Decode(&m); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return m
}

func tool(t testing.TB, schema string) *registry.Tool {
	t.Helper()
	r, err := registry.New(registry.Tool{Name: "t", Parameters: decode(t, schema)})
	if err != nil {
		t.Fatal(err)
	}
	return r.Get("t")
}

// TestValidate is long since it is one table.
func TestValidate(t *testing.T) {
	obj := func(properties string) string { return `{"type": "object", "properties": {` + properties + `}}` }
	tests := []struct {
		name, schema, in, out string
		rules                 string // of the coercions
		codes                 string // of the errors
		o                     validator.Options
	}{
		{"fits", obj(`"a": {"type": "string"}`), `{"a": "12"}`, `{"a":"12"}`, "", "", validator.Options{}},
		{"string to integer", obj(`"a": {"type": "integer"}`), `{"a": " 12 "}`, `{"a":12}`, "string_to_number", "", validator.Options{}},
		{"digits kept", obj(`"a": {"type": "number"}`), `{"a": "1.10"}`, `{"a":1.10}`, "string_to_number", "", validator.Options{}},
		{"no rounding", obj(`"a": {"type": "integer"}`), `{"a": "1.5"}`, `{"a":"1.5"}`, "", "invalid_type", validator.Options{}},
		{"no unit", obj(`"a": {"type": "number"}`), `{"a": "5 km"}`, `{"a":"5 km"}`, "", "invalid_type", validator.Options{}},
		{"no European comma", obj(`"a": {"type": "number"}`), `{"a": "3,14"}`, `{"a":"3,14"}`, "", "invalid_type", validator.Options{}},
		{"whole number", obj(`"a": {"type": "integer"}`), `{"a": 3.0, "b": 1}`, `{"a":3.0,"b":1}`, "", "", validator.Options{}},
		{"whole number in a string", obj(`"a": {"type": "integer"}`), `{"a": "3.0"}`, `{"a":3}`, "string_to_number", "", validator.Options{}},
		{"string to boolean", obj(`"a": {"type": "boolean"}`), `{"a": "True"}`, `{"a":true}`, "string_to_boolean", "", validator.Options{}},
		{"yes is no boolean", obj(`"a": {"type": "boolean"}`), `{"a": "yes"}`, `{"a":"yes"}`, "", "invalid_type", validator.Options{}},
		{"yes, lossy", obj(`"a": {"type": "boolean"}`), `{"a": "yes"}`, `{"a":true}`, "word_to_boolean", "", validator.Options{Lossy: true}},
		{"number to string", obj(`"a": {"type": "string"}`), `{"a": 0.50}`, `{"a":"0.50"}`, "number_to_string", "", validator.Options{}},
		{"json in a string", obj(`"a": {"type": "array"}`), `{"a": "[1, \"x\"]"}`, `{"a":[1,"x"]}`, "string_to_json", "", validator.Options{}},
		{"string stays", obj(`"a": {"type": "string"}`), `{"a": "[1]"}`, `{"a":"[1]"}`, "", "", validator.Options{}},
		{
			"single to array", obj(`"a": {"type": "array", "items": {"type": "integer"}}`), `{"a": "3"}`, `{"a":[3]}`, "single_to_array", "",
			validator.Options{},
		},
		{"union keeps its type", obj(`"a": {"type": ["string", "integer"]}`), `{"a": "1"}`, `{"a":"1"}`, "", "", validator.Options{}},
		{
			"any of", obj(`"a": {"anyOf": [{"type": "integer"}, {"type": "boolean"}]}`), `{"a": "7"}`, `{"a":7}`, "string_to_number", "",
			validator.Options{},
		},
		{
			"any of, two ways", obj(`"a": {"anyOf": [{"type": "integer"}, {"type": "array"}]}`), `{"a": "7"}`, `{"a":"7"}`, "", "invalid_type",
			validator.Options{},
		},
		{
			"enum", obj(`"a": {"enum": ["Dark Mode", "light"]}`), `{"a": " dark_mode"}`, `{"a":"Dark Mode"}`, "enum_spelling", "",
			validator.Options{},
		},
		{
			"enum within prose", obj(`"a": {"enum": ["DELETE", "KEEP"]}`), `{"a": "do not DELETE"}`, `{"a":"do not DELETE"}`, "",
			"invalid_enum_value",
			validator.Options{},
		},
		{"key", obj(`"maxDays": {"type": "integer"}`), `{"max_days": 3}`, `{"maxDays":3}`, "key_renamed", "", validator.Options{}},
		{
			"both keys", obj(`"maxDays": {"type": "integer"}`), `{"max_days": 3, "maxDays": 4}`, `{"maxDays":4,"max_days":3}`, "", "",
			validator.Options{},
		},
		{"null of an optional", obj(`"a": {"type": "integer"}`), `{"a": null}`, `{}`, "null_dropped", "", validator.Options{}},
		{
			"unknown", `{"type": "object", "properties": {"a": {}}, "additionalProperties": false}`, `{"a": 1, "zz": 2}`, `{"a":1}`,
			"unknown_dropped", "",
			validator.Options{},
		},
		{
			"unknown kept", `{"type": "object", "properties": {"a": {}}, "additionalProperties": false}`, `{"zz": 2}`, `{"zz":2}`, "",
			"unknown_parameter",
			validator.Options{KeepUnknown: true},
		},
		{"wrapped", obj(`"a": {"type": "integer"}`), `{"arguments": {"a": 1}}`, `{"a":1}`, "unwrapped", "", validator.Options{}},
		{"not wrapped", obj(`"input": {"type": "object"}`), `{"input": {"a": 1}}`, `{"input":{"a":1}}`, "", "", validator.Options{}},
		{
			"nested", obj(`"a": {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "integer"}}}}`),
			`{"a": [{"n": "1"}, {"n": 2}]}`, `{"a":[{"n":1},{"n":2}]}`, "string_to_number", "",
			validator.Options{},
		},
		{
			"reference", `{"$defs": {"n": {"type": "integer"}}, "type": "object", "properties": {"a": {"$ref": "#/$defs/n"}}}`, `{"a": "4"}`,
			`{"a":4}`, "string_to_number", "",
			validator.Options{},
		},
		{
			"all of", obj(`"a": {"allOf": [{"type": "integer"}, {"minimum": 2}]}`), `{"a": "1"}`, `{"a":1}`, "string_to_number",
			"number_out_of_range",
			validator.Options{},
		},
		{"arithmetic", obj(`"a": {"type": "number"}`), `{"a": "2**3 + 1/4"}`, `{"a":8.25}`, "expression_evaluated", "", validator.Options{}},
		{
			"arithmetic without end", obj(`"a": {"type": "number"}`), `{"a": "9**9**9"}`, `{"a":"9**9**9"}`, "", "invalid_type", validator.Options{},
		},
		{
			"huge exponent", obj(`"a": {"type": "number", "minimum": 1}`), `{"a": 1e2000000}`, `{"a":1e2000000}`, "", "number_out_of_range",
			validator.Options{},
		},
		{
			"huge exponent in a string", obj(`"a": {"type": "integer", "minimum": 1}`), `{"a": "1e999999999"}`, `{"a":"1e999999999"}`, "",
			"number_out_of_range",
			validator.Options{},
		},
		{
			"missing", `{"type": "object", "properties": {"a": {}}, "required": ["a"]}`, `{}`, `{}`, "", "required_parameter_missing",
			validator.Options{},
		},
		{
			"pattern", obj(`"a": {"type": "string", "pattern": "^x"}`), `{"a": "y"}`, `{"a":"y"}`, "", "string_pattern_mismatch",
			validator.Options{},
		},
		{"format", obj(`"a": {"type": "string", "format": "email"}`), `{"a": "y"}`, `{"a":"y"}`, "", "invalid_format", validator.Options{}},
		{"none", obj(`"a": {"type": "integer"}`), `{"a": "1"}`, `{"a":"1"}`, "", "invalid_type", validator.Options{NoCoercion: true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res := validator.Validate(tool(t, tt.schema), decode(t, tt.in), tt.o)
			got, err := json.Marshal(res.Parameters)
			if err != nil {
				t.Fatal(err)
			}
			var rules, codes []string
			for _, c := range res.Coercions {
				rules = append(rules, c.Rule)
			}
			for _, e := range res.Errors {
				codes = append(codes, string(e.Code))
			}
			if string(got) != tt.out || strings.Join(rules, ",") != tt.rules || strings.Join(codes, ",") != tt.codes {
				t.Errorf("%s\n got %s %v %v\nwant %s %s %s", tt.in, got, rules, codes, tt.out, tt.rules, tt.codes)
			}
			if res.Factor > 1 || res.Factor <= 0 || len(rules) == 0 && res.Factor != 1 {
				t.Errorf("the factor is %g", res.Factor)
			}
		})
	}
}

func TestDefaults(t *testing.T) {
	const schema = `{"$defs": {"size": {"type": "integer", "default": 5}}, "type": "object", "properties": {
		"a": {"type": "string", "default": "x"}, "null": {"default": null}, "bad": {"type": "integer", "default": "zzz"},
		"in": {"type": "object", "properties": {"b": {"type": "boolean", "default": true}}},
		"list": {"type": "array", "items": {"type": "object", "properties": {"n": {"default": 1}}}}, "ref": {"$ref": "#/$defs/size"},
		"kind": {"enum": ["one", "two"]}},
		"oneOf": [{"properties": {"kind": {"const": "one"}, "only": {"default": 1}}, "required": ["kind"]},
			{"properties": {"kind": {"const": "two"}, "other": {"default": 2}}, "required": ["kind"]}, {"not": {"required": ["kind"]}}]}`
	res := validator.Validate(tool(t, schema), decode(t, `{"in": {}, "list": [{}, {"n": 2}], "kind": "two"}`), validator.Options{})
	want := decode(t, `{"a": "x", "null": null, "in": {"b": true}, "list": [{"n": 1}, {"n": 2}], "ref": 5, "kind": "two", "other": 2}`)
	if !reflect.DeepEqual(res.Parameters, want) || len(res.Errors) > 0 {
		t.Errorf("%v, not %v; %v", res.Parameters, want, res.Errors)
	}
	if got := strings.Join(res.Defaults, " "); got != "/a /in/b /list/0/n /null /ref /other" {
		t.Errorf("defaults %s", got)
	}
	res = validator.Validate(tool(t, schema), decode(t, `{}`), validator.Options{NoDefaults: true})
	if len(res.Parameters) != 0 {
		t.Errorf("%v", res.Parameters)
	}
	res = validator.Validate(
		tool(t, `{"type": "object", "properties": {"layerId": {"type": "string"}, "n": {"type": "integer"}}, "required": ["n"]}`),
		decode(t, `{}`), validator.Options{Values: map[string]any{"layerId": "l1", "x": 2}, TypeDefaults: true},
	)
	if res.Parameters["layerId"] != "l1" || res.Parameters["n"] != 0 || res.Parameters["x"] != nil {
		t.Errorf("%v", res.Parameters)
	}
}

// TestProperties checks that validating twice changes nothing more, and that what
// is said to be valid is.
func TestProperties(t *testing.T) {
	tl := tool(
		t,
		`{"type": "object", "properties": {"i": {"type": "integer", "default": 1}, "s": {"type": "string"}, "b": {"type": "boolean"}, "l": `+
			`{"type": "array", "items": {"type": "number"}}, "e": {"enum": ["Ab", "cd"]}}, "additionalProperties": false}`,
	)
	value := rapid.OneOf(
		rapid.Just[any]("12"), rapid.Just[any]("true"), rapid.Just[any]("[1, \"2\"]"), rapid.Just[any]("AB"), rapid.Just[any](json.Number("3.0")),
		rapid.Just[any](nil),
		rapid.Just[any](true), rapid.Just[any]([]any{"1"}), rapid.Map(rapid.String(), func(s string) any { return s }),
	)
	rapid.Check(t, func(rt *rapid.T) {
		m := map[string]any{}
		for _, k := range []string{"i", "s", "b", "l", "e", "I", "zz"} {
			if rapid.Bool().Draw(rt, "has "+k) {
				m[k] = value.Draw(rt, k)
			}
		}
		first := validator.Validate(tl, m, validator.Options{})
		if first.Valid() != (tl.Schema().Validate(first.Parameters) == nil) {
			rt.Fatalf("%v is said to be valid: %v", first.Parameters, first.Valid())
		}
		if !first.Valid() {
			return
		}
		again := validator.Validate(tl, first.Parameters, validator.Options{})
		if len(again.Coercions) > 0 || len(again.Defaults) > 0 {
			rt.Fatalf("%v changes again: %v %v", first.Parameters, again.Coercions, again.Defaults)
		}
	})
}
