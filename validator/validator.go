// Package validator checks the parameters of a call against its tool's JSON Schema. It
// coerces values where nothing is lost by it, such as "5" to 5, fills in defaults, and
// reports errors with their paths.
package validator

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/callwright/callwright/internal/lenient"
	"github.com/callwright/callwright/internal/text"
	"github.com/callwright/callwright/registry"
)

// Options say how parameters may be changed. The zero value makes lossless coercions and
// fills in the schema's defaults.
type Options struct {
	// NoCoercion makes no coercions.
	NoCoercion bool `json:"no_coercion,omitempty"`
	// NoDefaults fills in no defaults.
	NoDefaults bool `json:"no_defaults,omitempty"`
	// Lossy allows lossy coercions too: thousands separators, yes/no and 1/0 for booleans,
	// enum values with typing errors, a list of one element for the element, "" for null.
	// Each lowers the confidence.
	Lossy bool `json:"lossy,omitempty"`
	// KeepUnknown keeps parameters that the schema forbids, which is an error; else they
	// are dropped, which is listed as a coercion.
	KeepUnknown bool `json:"keep_unknown,omitempty"`
	// TypeDefaults fills in required parameters without a default with the empty value of
	// their type.
	TypeDefaults bool `json:"type_defaults,omitempty"`
	// Values are the caller's values, by name, for parameters that a call leaves out and
	// that have no default.
	Values map[string]any `json:"-"`
}

// Coercion is one change to a call's parameters.
type Coercion struct {
	Path string `json:"path"` // JSON pointer into the parameters
	From any    `json:"from"`
	To   any    `json:"to"`
	Rule string `json:"rule,omitempty"` // such as "string_to_number"
}

// Result has the parameters of a call after validation.
type Result struct {
	Parameters map[string]any
	Coercions  []Coercion
	Defaults   []string // JSON pointers to what was filled in
	Errors     []Error
	Warnings   []string
	// Factor is the factor by which the coercions lower the call's confidence, from 0 to 1.
	Factor float64
}

// Valid reports whether the parameters fit the tool.
func (r *Result) Valid() bool { return len(r.Errors) == 0 }

// Validate coerces the parameters of a call to the tool's schema, fills in defaults and
// checks them. It may change the map. A tool without a schema accepts any parameters.
func Validate(tool *registry.Tool, parameters map[string]any, o Options) Result {
	v := validation{o: o, tool: tool, res: Result{Factor: 1}}
	if parameters == nil {
		parameters = map[string]any{}
	}
	schema := tool.Schema()
	v.res.Warnings = append(v.res.Warnings, tool.Warnings()...)
	if schema == nil {
		v.res.Parameters = v.typed(parameters, nil, 0).(map[string]any)
		return v.res
	}
	parameters = v.unwrap(parameters, schema)
	parameters = v.typed(parameters, schema, 0).(map[string]any)
	if err := v.guardNumbers(parameters); err != nil {
		v.res.Parameters, v.res.Errors = parameters, err
		return v.res
	}
	err := validate(schema, parameters)
	changes := len(v.res.Coercions)
	if !o.NoCoercion && (err != nil || v.strangeKeys(parameters, schema)) {
		parameters = v.coerce(parameters, schema, "", 0).(map[string]any)
	}
	if !o.NoDefaults {
		v.fill(parameters, schema)
	}
	v.res.Parameters = parameters
	if len(v.res.Coercions) > changes || len(v.res.Defaults) > 0 {
		err = validate(schema, parameters)
	}
	if err != nil {
		v.res.Errors = translate(err, parameters)
	}
	return v.res
}

// validation is the work on one call.
type validation struct {
	o     Options
	tool  *registry.Tool
	res   Result
	steps int
}

// maxSteps bounds the work of coercion over a hostile schema and value.
const maxSteps = 100_000

// change lists a coercion and lowers the confidence by its factor.
func (v *validation) change(path string, from, to any, rule string, factor float64) {
	v.res.Coercions = append(v.res.Coercions, Coercion{path, from, to, rule})
	v.res.Factor *= factor
}

// validate runs the compiled schema over a value, and turns a panic of it into
// an error.
func validate(s *jsonschema.Schema, value any) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the schema cannot be applied: %v", p)
		}
	}()
	return s.Validate(value)
}

// maxNumberDigits and maxExponent bound the numbers that a schema is asked
// about: beyond them its arithmetic takes seconds, or panics.
const (
	maxNumberDigits = 400
	maxExponent     = 400
)

// guardNumbers finds numbers that must not reach the schema.
func (v *validation) guardNumbers(value any) (errs []Error) {
	type at struct {
		path  string
		value any
	}
	work := []at{{"", value}}
	for len(work) > 0 {
		item := work[len(work)-1]
		work = work[:len(work)-1]
		switch x := item.value.(type) {
		case json.Number:
			if len(x) > 3 && hugeNumber(string(x)) {
				errs = append(errs, Error{Path: item.path, Code: NumberOutOfRange, Message: "the number has too many digits or too large an exponent"})
			}
		case map[string]any:
			for k, e := range x {
				switch e.(type) {
				case json.Number, map[string]any, []any:
					work = append(work, at{text.Pointer(item.path, k), e})
				}
			}
		case []any:
			for i, e := range x {
				switch e.(type) {
				case json.Number, map[string]any, []any:
					work = append(work, at{fmt.Sprintf("%s/%d", item.path, i), e})
				}
			}
		}
	}
	sortErrors(errs)
	return errs
}

func hugeNumber(n string) bool {
	if len(n) > maxNumberDigits {
		return true
	}
	for i := range len(n) {
		if n[i] == 'e' || n[i] == 'E' {
			exp := 0
			for _, d := range n[i+1:] {
				if d >= '0' && d <= '9' {
					if exp = exp*10 + int(d-'0'); exp > maxExponent {
						return true
					}
				}
			}
		}
	}
	return false
}

// wrappers are keys under which models nest all arguments.
var wrappers = []string{"arguments", "parameters", "params", "args", "input", "kwargs", "tool_input", "action_input"}

// unwrap unwraps {"arguments": {…}} if the tool has no such parameter.
func (v *validation) unwrap(p map[string]any, s *jsonschema.Schema) map[string]any {
	if len(p) != 1 || v.o.NoCoercion {
		return p
	}
	for key, value := range p {
		if !slices.Contains(wrappers, key) || property(s, key, 0) != nil {
			return p
		}
		switch inner := value.(type) {
		case map[string]any:
			v.change("/"+key, key, "", "unwrapped", 0.97)
			return inner
		case string, lenient.Text:
			text := fmt.Sprint(inner)
			if decoded, r, err := lenient.Parse(text, lenient.Options{}); err == nil && !r.Fixes.Has(lenient.Truncated) {
				if m, ok := decoded.(map[string]any); ok {
					v.change("/"+key, key, "", "unwrapped", 0.95)
					return m
				}
			}
		}
	}
	return p
}

// strangeKeys reports whether parameters have keys that are not among the schema's
// properties.
func (v *validation) strangeKeys(p map[string]any, s *jsonschema.Schema) bool {
	s = target(s)
	if len(s.Properties) == 0 {
		return false
	}
	for k := range p {
		if s.Properties[k] == nil {
			return true
		}
	}
	return false
}

// target follows references of schemas that are nothing but a reference.
func target(s *jsonschema.Schema) *jsonschema.Schema {
	for range 64 {
		if s == nil || s.Ref == nil || s.Properties != nil || s.Types != nil {
			break
		}
		s = s.Ref
	}
	return s
}

// maxRefs bounds how far schemas are followed through references and branches.
const maxRefs = 16

// property finds the schema of a property, through references and branches.
func property(s *jsonschema.Schema, key string, depth int) *jsonschema.Schema {
	if s == nil || depth > maxRefs {
		return nil
	}
	if p := s.Properties[key]; p != nil {
		return p
	}
	for pattern, p := range s.PatternProperties {
		if pattern.MatchString(key) {
			return p
		}
	}
	if p := property(s.Ref, key, depth+1); p != nil {
		return p
	}
	for _, list := range [][]*jsonschema.Schema{s.AllOf, s.AnyOf, s.OneOf, {s.Then, s.Else}} {
		for _, sub := range list {
			if p := property(sub, key, depth+1); p != nil {
				return p
			}
		}
	}
	p, _ := s.AdditionalProperties.(*jsonschema.Schema)
	return p
}

// items returns the schema of an array's elements.
func items(s *jsonschema.Schema, i, depth int) *jsonschema.Schema {
	if s == nil || depth > maxRefs {
		return nil
	}
	if p := itemsHere(s, i); p != nil {
		return p
	}
	if p := items(s.Ref, i, depth+1); p != nil {
		return p
	}
	for _, list := range [][]*jsonschema.Schema{s.AllOf, s.AnyOf, s.OneOf} {
		for _, sub := range list {
			if p := items(sub, i, depth+1); p != nil {
				return p
			}
		}
	}
	return nil
}

// Names of the types, as bits of a set.
const (
	tNull = 1 << iota
	tBoolean
	tInteger
	tNumber
	tString
	tArray
	tObject
	tAny = 1<<iota - 1
)

var typeBits = map[string]int{
	"null": tNull, "boolean": tBoolean, "integer": tInteger, "number": tNumber, "string": tString, "array": tArray, "object": tObject,
}

// typesOf returns the types that a schema accepts, as far as it names any.
func typesOf(s *jsonschema.Schema, depth int) int {
	if s == nil || depth > maxRefs || s.Bool != nil {
		return tAny
	}
	set := tAny
	switch {
	case s.Types != nil:
		set = 0
		for _, name := range s.Types.ToStrings() {
			set |= typeBits[name]
		}
	case s.Enum != nil:
		set = 0
		for _, e := range s.Enum.Values {
			set |= typeBits[kindOf(e)]
		}
	case s.Const != nil:
		set = typeBits[kindOf(*s.Const)]
	}
	if s.Ref != nil {
		set &= typesOf(s.Ref, depth+1)
	}
	for _, sub := range s.AllOf {
		set &= typesOf(sub, depth+1)
	}
	for _, branches := range [][]*jsonschema.Schema{s.AnyOf, s.OneOf} {
		if len(branches) > 0 {
			union := 0
			for _, sub := range branches {
				union |= typesOf(sub, depth+1)
			}
			set &= union
		}
	}
	if set == 0 {
		return tAny
	}
	return set
}

// kindOf names the JSON type of a value.
func kindOf(v any) string {
	switch x := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string, lenient.Text:
		return "string"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	case json.Number:
		if isInteger(string(x)) {
			return "integer"
		}
		return "number"
	case float64:
		if x == float64(int64(x)) {
			return "integer"
		}
	case int, int64:
		return "integer"
	}
	return "number"
}

// isInteger reports whether a number is written without a fraction or exponent.
func isInteger(n string) bool {
	for i := range len(n) {
		if n[i] == '.' || n[i] == 'e' || n[i] == 'E' {
			return false
		}
	}
	return true
}
