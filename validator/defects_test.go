package validator_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/callwright/callwright/internal/lenient"
	"github.com/callwright/callwright/internal/text"
	"github.com/callwright/callwright/registry"
	"github.com/callwright/callwright/validator"
)

// TestNeverChanged has parameters of which something was once lost: each comes out as it
// is, with errors or without.
func TestNeverChanged(t *testing.T) {
	obj := func(properties string) string { return `{"type": "object", "properties": {` + properties + `}}` }
	list := obj(`"items": {"type": "array", "items": {"type": "string"}}`)
	for _, tt := range []struct{ name, schema, in, codes string }{
		{"object for a list", list, `{"items": {"not": ["a", "b"]}}`, "invalid_type"},
		{"object with an empty key", list, `{"items": {"": [true]}}`, "invalid_type"},
		{"object for a list, deep", obj(`"a": ` + list), `{"a": {"items": {"item": ["a"]}}}`, "invalid_type"},
		{"object for a list of lists", obj(`"items": {"type": "array", "items": {"type": "array"}}`), `{"items": {"exclude": [["a"]]}}`, "invalid_type"},
		{"free parameters", `{"type": "object"}`, `{"input": {"a": 1}}`, ""},
		{"free parameters in a string", `{"type": "object"}`, `{"arguments": "{\"a\": 1}"}`, ""},
		{"other parameters", obj(`"b": {"type": "integer"}`), `{"params": {"a": 1}}`, ""},
		{"broken parameters in a string", obj(`"a": {"type": "integer"}`), `{"params": "{\"a\": 1, b"}`, ""},
		{
			"keys of other schemas", `{"allOf": [{"properties": {"a": {}}, "additionalProperties": false}, {"properties": {"b": {}}, "additionalProperties": false}]}`,
			`{"a": 1, "b": 2}`, "unknown_parameter,unknown_parameter",
		},
		{"key of another schema", `{"properties": {"max_days": {}}, "allOf": [{"properties": {"maxDays": {"type": "integer"}}}]}`, `{"max_days": "x"}`, ""},
		{"two keys for one", obj(`"maxDays": {}`), `{"max_days": 1, "MaxDays": 2}`, ""},
		{"keys that are data", `{"properties": {"maxDays": {"type": "integer"}}, "additionalProperties": {"type": "string"}}`, `{"MAX_DAYS": "x"}`, ""},
		{"key whose value is none", obj(`"maxDays": {"type": "integer"}`), `{"max_days": {"a": 1}}`, ""},
		{"many digits in a string", obj(`"a": {"type": "number", "minimum": 1}`), `{"a": "` + strings.Repeat("9", 100_000) + `"}`, "number_out_of_range"},
		{"many digits", obj(`"a": {"type": "number"}`), `{"a": ` + strings.Repeat("9", 401) + `}`, "number_out_of_range"},
		{"many digits where a string is wanted", obj(`"a": {"type": "string"}`), `{"a": ` + strings.Repeat("9", 401) + `}`, "number_out_of_range"},
		{"many digits where nothing is said", `{"type": "object"}`, `{"a": {"b": [1e999]}}`, "number_out_of_range"},
		{"large exponent in a string", obj(`"a": {"type": "integer"}`), `{"a": " -1E-401 "}`, "number_out_of_range"},
		{"shift", obj(`"a": {"type": "integer"}`), `{"a": "1<<1000000000"}`, "invalid_type"},
		{"repetition", obj(`"a": {"type": "integer"}`), `{"a": "\"x\"*10**12"}`, "invalid_type"},
		{"sum with a variable", obj(`"a": {"type": "number"}`), `{"a": "1 + b"}`, "invalid_type"},
		{"date", obj(`"a": {"type": "number"}`), `{"a": "2024-01-15"}`, "invalid_type"},
		{"what looks like an option", obj(`"a": {"enum": ["-", "+"]}`), `{"a": ""}`, "invalid_enum_value"},
		{"whole number", obj(`"a": {"type": "integer"}`), `{"a": 3.0, "zz": 1}`, ""},
		{"list of one", obj(`"a": {"type": "string"}`), `{"a": ["x"]}`, "invalid_type"},
		{"lists of lists", obj(`"a": {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}}`), `{"a": 5}`, "invalid_type"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			given := decode(t, tt.in)
			r := validator.Validate(tool(t, tt.schema), given, validator.Options{})
			var codes []string
			for _, e := range r.Errors {
				codes = append(codes, string(e.Code))
			}
			if !reflect.DeepEqual(r.Parameters, decode(t, tt.in)) || len(r.Coercions) > 0 || strings.Join(codes, ",") != tt.codes {
				t.Errorf("%.200v, coercions %v, errors %v, want %s", r.Parameters, r.Coercions, r.Errors, tt.codes)
			}
		})
	}
}

// TestDestructiveToolsKeepUnknown holds that a parameter which a destructive tool does not
// know is an error: it may have been to prevent what the tool does.
func TestDestructiveToolsKeepUnknown(t *testing.T) {
	r, err := registry.New(registry.Tool{
		Name: "t", RequireMarker: true, Parameters: decode(t, `{"type":"object","properties":{"path":{"type":"string"}},"additionalProperties":false}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	res := validator.Validate(r.Get("t"), decode(t, `{"path":"/","dry_run":true}`), validator.Options{})
	if len(res.Errors) != 1 || res.Errors[0].Code != validator.UnknownParameter || len(res.Coercions) > 0 {
		t.Errorf("%v, %v", res.Errors, res.Coercions)
	}
}

// TestUnwrappedSaysWhat holds that the change of an unwrapped call says what it was.
func TestUnwrappedSaysWhat(t *testing.T) {
	tl := tool(t, `{"type":"object","properties":{"a":{"type":"integer"}}}`)
	for _, in := range []string{`{"arguments":{"a":1}}`, `{"input":"{\"a\":1}"}`} {
		r := validator.Validate(tl, decode(t, in), validator.Options{})
		if len(r.Coercions) != 1 || r.Coercions[0].Path != "" || r.Coercions[0].Rule != "unwrapped" || !reflect.DeepEqual(r.Coercions[0].From, any(decode(t, in))) ||
			!reflect.DeepEqual(r.Coercions[0].To, any(decode(t, `{"a":1}`))) {
			t.Errorf("%s: %+v", in, r.Coercions)
		}
	}
}

// TestFixes holds that errors say what to give.
func TestFixes(t *testing.T) {
	for _, tt := range []struct{ property, value, want string }{
		{`{"type":"integer","minimum":1,"maximum":7}`, `9`, "number_out_of_range: give a number of at least 1 and at most 7"},
		{`{"type":"number","exclusiveMinimum":0,"exclusiveMaximum":0.1}`, `0`, "number_out_of_range: give a number of more than 0 and less than 0.1"},
		{`{"type":"number","maximum":3}`, `4`, "number_out_of_range: give a number of at most 3"},
		{`{"type":"integer","multipleOf":5}`, `4`, "number_not_multiple: give a multiple of 5"},
		{`{"type":"string","pattern":"^#[0-9a-f]{6}$"}`, `"red"`, "string_pattern_mismatch: give a text that matches ^#[0-9a-f]{6}$"},
		{`{"type":"string","minLength":1}`, `""`, "string_length_out_of_range: give at least 1 character"},
		{`{"type":"string","minLength":2,"maxLength":3}`, `"x"`, "string_length_out_of_range: give 2 to 3 characters"},
		{`{"type":"array","maxItems":1}`, `[1,2]`, "array_length_out_of_range: give at most 1 item"},
		{`{"type":"array","uniqueItems":true}`, `[1,2,1.0]`, "items_not_unique: give each item once"},
		{`{"type":"object","minProperties":1}`, `{}`, "schema_violation: give at least 1 member"},
		{`{"type":["integer","null"]}`, `"x"`, "invalid_type: give a null or integer"},
		{`{"enum":["a","b"]}`, `"x"`, `invalid_enum_value: "a", "b"`},
	} {
		r := validator.Validate(tool(t, `{"type":"object","properties":{"a":`+tt.property+`}}`), decode(t, `{"a":`+tt.value+`}`), validator.Options{})
		if len(r.Errors) != 1 || fmt.Sprintf("%s: %s", r.Errors[0].Code, r.Errors[0].SuggestedFix) != tt.want {
			t.Errorf("%s of %s: %+v, want %s", tt.value, tt.property, r.Errors, tt.want)
		}
	}
}

// TestBriefErrors holds that errors name at most ten values, are at most twenty, and show
// little of what is long.
func TestBriefErrors(t *testing.T) {
	var values, properties, members []string
	for i := range 1000 {
		values = append(values, fmt.Sprintf(`"value %d"`, i))
		properties = append(properties, fmt.Sprintf(`"p%d":{"type":"integer"}`, i))
		members = append(members, fmt.Sprintf(`"p%d":"x%d"`, i, i))
	}
	r := validator.Validate(tool(t, `{"type":"object","properties":{"a":{"enum":[`+strings.Join(values, ",")+`]}}}`), decode(t, `{"a":"x"}`), validator.Options{})
	if len(r.Errors) != 1 || strings.Count(r.Errors[0].SuggestedFix, "value") != 10 || !strings.Contains(r.Errors[0].SuggestedFix, "… (990 more)") {
		t.Errorf("%+v", r.Errors)
	}
	tl := tool(t, `{"type":"object","properties":{`+strings.Join(properties, ",")+`}}`)
	r = validator.Validate(tl, decode(t, `{`+strings.Join(members, ",")+`}`), validator.Options{})
	if len(r.Errors) != 20 {
		t.Errorf("%d errors", len(r.Errors))
	}
	long := strings.Repeat("x", 1<<20)
	for _, value := range []any{long, []any{long, long}, map[string]any{long: long}, map[string]any{"a": map[string]any{"b": long}}} {
		r := validator.Validate(tool(t, `{"type":"object","properties":{"a":{"type":"integer"},"b":{"const":1}}}`), map[string]any{"a": value, "b": value}, validator.Options{})
		for _, e := range r.Errors {
			if len(e.Error()) > 500 || len(e.SuggestedFix) > 500 {
				t.Errorf("%d and %d bytes", len(e.Error()), len(e.SuggestedFix))
			}
		}
	}
}

// TestTextKeepsItsMeaning gives every kind of untyped text to every type: what is not
// listed as a change is the text, or what it says.
func TestTextKeepsItsMeaning(t *testing.T) {
	texts := rapid.OneOf(
		rapid.SampledFrom([]string{
			"1", " 12 ", "1.50", "1e2", "+3", ".5", "0x1F", "007", "true", "False", "NULL", "none", "None", "yes", "", " ", "[1, 2]", "['a', \"b\"]", "(1, 2)", "{\"a\": 1}",
			"{'a': True}", "[1, 2", "a\nb", "2**3", "7 // 2", "\"quoted\"", "-", "1,000", "not [a]", "{}", "[]", "nul", "2024-01-15",
		}),
		rapid.String(),
	)
	kinds := []string{"string", "integer", "number", "boolean", "null", "array", "object"}
	tools := map[string]*registry.Tool{"": tool(t, `{"type":"object","properties":{"a":{}}}`)}
	for _, a := range kinds {
		for _, b := range kinds {
			tools[a+","+b] = tool(t, fmt.Sprintf(`{"type":"object","properties":{"a":{"type":["%s","%s"]}}}`, a, b))
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		s := texts.Draw(t, "text")
		types := rapid.SampledFrom(text.SortedKeys(tools)).Draw(t, "types")
		r := validator.Validate(tools[types], map[string]any{"a": lenient.Text(s)}, validator.Options{})
		if len(r.Coercions) > 0 {
			return
		}
		if value, there := r.Parameters["a"]; !there || !reads(s, value) {
			t.Fatalf("%q for %s is %#v", s, types, value)
		}
	})
}

// reads reports whether a value is what a text says.
func reads(s string, value any) bool {
	trimmed := strings.TrimSpace(s)
	switch v := value.(type) {
	case string:
		var quoted string
		return v == s || json.Unmarshal([]byte(trimmed), &quoted) == nil && v == quoted
	case nil:
		return strings.Contains(" null none nil ", " "+strings.ToLower(trimmed)+" ") || trimmed == ""
	case bool:
		return strings.EqualFold(trimmed, fmt.Sprint(v))
	case json.Number:
		if string(v) == strings.TrimPrefix(trimmed, "+") {
			return true
		}
		n, _, ok := lenient.OddNumberText(trimmed)
		var a, b float64
		_, err1 := fmt.Sscan(string(v), &a)
		_, err2 := fmt.Sscan(trimmed, &b)
		return ok && n == string(v) || err1 == nil && err2 == nil && a == b
	}
	for _, o := range []lenient.Options{{}, {Python: true}} {
		if read, _, err := lenient.Parse(trimmed, o); err == nil && reflect.DeepEqual(read, value) {
			return true
		}
	}
	return false
}
