package validator

import (
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/agnivade/levenshtein"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/callwright/callwright/internal/lenient"
	"github.com/callwright/callwright/internal/text"
)

// maxCoerceDepth bounds recursion over values and schemas.
const maxCoerceDepth = 512

// coerce makes a value fit a schema if there is exactly one lossless way. A value that fits
// is returned as it is.
func (v *validation) coerce(value any, s *jsonschema.Schema, path string, depth int) any {
	if v.steps++; s == nil || s.Bool != nil || depth > maxCoerceDepth || v.steps > maxSteps {
		return value
	}
	if s.Ref != nil {
		value = v.coerce(value, s.Ref, path, depth+1)
	}
	value = v.convert(value, s, path)
	for _, branches := range [][]*jsonschema.Schema{s.AnyOf, s.OneOf} {
		if len(branches) > 0 {
			value = v.branch(value, branches, path, depth)
		}
	}
	for _, sub := range s.AllOf {
		value = v.coerce(value, sub, path, depth+1)
	}
	switch x := value.(type) {
	case map[string]any:
		v.object(x, s, path, depth)
	case []any:
		for i, e := range x {
			if sub := itemsHere(s, i); sub != nil {
				x[i] = v.coerce(e, sub, fmt.Sprintf("%s/%d", path, i), depth+1)
			}
		}
	}
	if s.If != nil {
		chosen := s.Else
		if validate(s.If, value) == nil {
			chosen = s.Then
		}
		value = v.coerce(value, chosen, path, depth+1)
	}
	return value
}

// itemsHere returns the schema of an element that a schema itself gives, without following
// references.
func itemsHere(s *jsonschema.Schema, i int) *jsonschema.Schema {
	if i < len(s.PrefixItems) {
		return s.PrefixItems[i]
	}
	if s.Items2020 != nil {
		return s.Items2020
	}
	switch it := s.Items.(type) {
	case *jsonschema.Schema:
		return it
	case []*jsonschema.Schema:
		if i < len(it) {
			return it[i]
		}
	}
	return nil
}

// object coerces the members of an object, and its keys.
func (v *validation) object(m map[string]any, s *jsonschema.Schema, path string, depth int) {
	if len(s.Properties) > 0 {
		v.keys(m, s, path)
	}
	for _, k := range text.SortedKeys(m) {
		sub := s.Properties[k]
		if sub == nil {
			sub = patternProperty(s, k)
		}
		if sub == nil {
			sub, _ = s.AdditionalProperties.(*jsonschema.Schema)
		}
		if sub == nil {
			continue
		}
		at := text.Pointer(path, k)
		if m[k] == nil && typesOf(sub, 0)&tNull == 0 && !slices.Contains(s.Required, k) {
			v.change(at, nil, nil, "null_dropped", 0.95)
			delete(m, k)
			continue
		}
		m[k] = v.coerce(m[k], sub, at, depth+1)
		if v.o.Lossy && m[k] == "" && typesOf(sub, 0)&tString == 0 && !slices.Contains(s.Required, k) {
			v.change(at, "", nil, "empty_dropped", 0.8)
			delete(m, k)
		}
	}
}

func patternProperty(s *jsonschema.Schema, key string) *jsonschema.Schema {
	for pattern, p := range s.PatternProperties {
		if pattern.MatchString(key) {
			return p
		}
	}
	return nil
}

// keys renames keys that differ from a free property's only in case and
// separators, and drops those that the schema forbids.
func (v *validation) keys(m map[string]any, s *jsonschema.Schema, path string) {
	var free map[string][]string
	for _, k := range text.SortedKeys(m) {
		if s.Properties[k] != nil || patternProperty(s, k) != nil {
			continue
		}
		if free == nil {
			free = make(map[string][]string)
			for name := range s.Properties {
				if _, taken := m[name]; !taken {
					f := foldKey(name)
					free[f] = append(free[f], name)
				}
			}
		}
		f := foldKey(k)
		if names := free[f]; len(names) == 1 {
			v.change(text.Pointer(path, names[0]), k, names[0], "key_renamed", 0.9)
			m[names[0]] = m[k]
			delete(m, k)
			delete(free, f)
			continue
		}
		if s.AdditionalProperties == false && !v.o.KeepUnknown && len(s.AllOf) == 0 {
			v.change(text.Pointer(path, k), m[k], nil, "unknown_dropped", 0.9)
			delete(m, k)
		}
	}
}

func foldKey(k string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == ' ' || r == '.' || r == ':' {
			return -1
		}
		return unicode.ToLower(r)
	}, k)
}

// branch coerces a value to the branch of anyOf or oneOf that takes the fewest
// changes. Two branches that would make different values of it leave it as it is.
func (v *validation) branch(value any, branches []*jsonschema.Schema, path string, depth int) any {
	for _, b := range branches {
		if validate(b, value) == nil {
			return value
		}
	}
	type attempt struct {
		value   any
		changes []Coercion
		factor  float64
	}
	var best []attempt
	for _, b := range branches {
		try := validation{o: v.o, tool: v.tool, steps: v.steps, res: Result{Factor: 1}}
		coerced := try.coerce(text.Clone(value), b, path, depth+1)
		v.steps = try.steps
		if len(try.res.Coercions) == 0 || validate(b, coerced) != nil {
			continue
		}
		a := attempt{coerced, try.res.Coercions, try.res.Factor}
		switch {
		case len(best) == 0 || len(a.changes) < len(best[0].changes):
			best = []attempt{a}
		case len(a.changes) == len(best[0].changes) && !reflect.DeepEqual(a.value, best[0].value):
			best = append(best, a)
		}
	}
	if len(best) != 1 {
		return value
	}
	v.res.Coercions = append(v.res.Coercions, best[0].changes...)
	v.res.Factor *= best[0].factor
	return best[0].value
}

// convert changes a value's own type, or its spelling among an enum's values.
func (v *validation) convert(value any, s *jsonschema.Schema, path string) any {
	if s.Types != nil {
		types := 0
		for _, name := range s.Types.ToStrings() {
			types |= typeBits[name]
		}
		have := typeBits[kindOf(value)]
		fits := types&have != 0 || have == tInteger && types&tNumber != 0
		if !fits || have == tNumber && types&tInteger != 0 && types&tNumber == 0 {
			if to, rule, factor, ok := v.retype(value, types, s); ok {
				v.change(path, value, to, rule, factor)
				value = to
			}
		}
	}
	if s.Enum != nil {
		if to, rule, factor, ok := v.enumValue(value, s.Enum.Values); ok {
			v.change(path, value, to, rule, factor)
			value = to
		}
	}
	if s.Const != nil {
		if to, rule, factor, ok := v.enumValue(value, []any{*s.Const}); ok {
			v.change(path, value, to, rule, factor)
			value = to
		}
	}
	return value
}

// retype changes a value to one of the types wanted, none of which it has.
func (v *validation) retype(value any, types int, s *jsonschema.Schema) (to any, rule string, factor float64, ok bool) {
	switch x := value.(type) {
	case string:
		if to, rule, factor, ok = v.fromString(x, types); ok {
			return to, rule, factor, true
		}
	case json.Number:
		if types&tInteger != 0 {
			if whole, ok := wholeNumber(string(x)); ok {
				return json.Number(whole), "whole_number", 1, true
			}
		}
		if types&tString != 0 {
			return string(x), "number_to_string", 0.97, true
		}
		if v.o.Lossy && types&tBoolean != 0 && (x == "0" || x == "1") {
			return x == "1", "number_to_boolean", 0.7, true
		}
	case bool:
		if types&tString != 0 {
			return fmt.Sprint(x), "boolean_to_string", 0.97, true
		}
	case []any:
		if v.o.Lossy && len(x) == 1 && types&typeBits[kindOf(x[0])] != 0 {
			return x[0], "only_element", 0.8, true
		}
	case nil:
		return nil, "", 0, false
	}
	if types&tArray != 0 && value != nil {
		one := []any{value}
		try := validation{o: v.o, tool: v.tool, steps: v.steps, res: Result{Factor: 1}}
		if sub := items(s, 0, 0); sub != nil {
			one[0] = try.coerce(text.Clone(value), sub, "", 1)
			if validate(sub, one[0]) != nil {
				return nil, "", 0, false
			}
		}
		v.steps = try.steps
		return one, "single_to_array", 0.95 * try.res.Factor, true
	}
	return nil, "", 0, false
}

// fromString reads a string as a value of one of the types, if its text is exactly one.
// It is long since it lists what each type accepts, in the order of preference.
func (v *validation) fromString(text string, types int) (to any, rule string, factor float64, ok bool) {
	trimmed := strings.TrimSpace(text)
	if types&(tInteger|tNumber) != 0 {
		if lenient.IsNumber(trimmed) || strings.HasPrefix(trimmed, "+") && lenient.IsNumber(trimmed[1:]) {
			n := strings.TrimPrefix(trimmed, "+")
			if types&tNumber != 0 || isInteger(n) {
				return json.Number(n), "string_to_number", 0.98, true
			}
			if whole, ok := wholeNumber(n); ok {
				return json.Number(whole), "string_to_number", 0.98, true
			}
		}
		if n, ok := arithmetic(trimmed); ok {
			if types&tNumber != 0 || isInteger(n) {
				return json.Number(n), "expression_evaluated", 0.9, true
			}
		}
		if n, kind, ok := lenient.OddNumberText(trimmed); ok && v.o.Lossy && (types&tNumber != 0 || isInteger(n)) {
			return json.Number(n), kind.String(), 0.8, true
		}
	}
	if types&tBoolean != 0 {
		switch strings.ToLower(trimmed) {
		case "true":
			return true, "string_to_boolean", 0.98, true
		case "false":
			return false, "string_to_boolean", 0.98, true
		case "yes", "on", "1":
			if v.o.Lossy {
				return true, "word_to_boolean", 0.7, true
			}
		case "no", "off", "0":
			if v.o.Lossy {
				return false, "word_to_boolean", 0.7, true
			}
		}
	}
	if types&tNull != 0 {
		switch trimmed {
		case "null", "None":
			return nil, "string_to_null", 0.95, true
		case "":
			if v.o.Lossy {
				return nil, "empty_to_null", 0.8, true
			}
		}
	}
	if types&(tArray|tObject) != 0 && trimmed != "" && (trimmed[0] == '[' || trimmed[0] == '{') {
		value, r, err := lenient.Parse(trimmed, lenient.Options{})
		if err == nil && typeBits[kindOf(value)]&types != 0 && harmless(r) {
			return value, "string_to_json", 0.97, true
		}
	}
	return nil, "", 0, false
}

// harmless reports whether all repairs of a value are unambiguous.
func harmless(r *lenient.Reader) bool {
	for _, k := range r.Fixes.Kinds() {
		switch k {
		case lenient.SingleQuotes, lenient.PythonLiteral, lenient.TrailingComma, lenient.RawControl:
		default:
			return false
		}
	}
	return true
}

// wholeNumber writes a number without a fraction: 3.0 as 3, 1e2 as 100.
func wholeNumber(n string) (string, bool) {
	if hugeNumber(n) {
		return "", false
	}
	r, ok := new(big.Rat).SetString(n)
	if !ok || !r.IsInt() {
		return "", false
	}
	return r.Num().String(), true
}

// enumValue finds the one value of an enum that differs only in case, white
// space and separators, or in its type.
func (v *validation) enumValue(value any, values []any) (to any, rule string, factor float64, ok bool) {
	for _, e := range values {
		if equal(e, value) {
			return nil, "", 0, false
		}
	}
	text, isString := value.(string)
	if !isString {
		text = fmt.Sprint(value)
		switch value.(type) {
		case json.Number, bool:
		default:
			return nil, "", 0, false
		}
	}
	folded := foldKey(strings.TrimSpace(text))
	var found []any
	for _, e := range values {
		switch x := e.(type) {
		case string:
			if foldKey(x) == folded {
				found = append(found, e)
			}
		case json.Number, bool, float64:
			if isString && fmt.Sprint(x) == strings.TrimSpace(text) {
				found = append(found, e)
			}
		}
	}
	if len(found) == 1 {
		return found[0], "enum_spelling", 0.95, true
	}
	if v.o.Lossy && len(found) == 0 && isString && !v.tool.RequireMarker {
		for _, e := range values {
			if x, ok := e.(string); ok && len(x) >= 4 && len(text) < 128 &&
				levenshtein.ComputeDistance(strings.ToLower(x), strings.ToLower(text)) == 1 {
				found = append(found, e)
			}
		}
		if len(found) == 1 {
			return found[0], "enum_typing_error", 0.6, true
		}
	}
	return nil, "", 0, false
}

// equal compares JSON values, numbers by what they are worth.
func equal(a, b any) bool {
	an, aok := asNumber(a)
	bn, bok := asNumber(b)
	if aok && bok {
		if hugeNumber(an) || hugeNumber(bn) {
			return an == bn
		}
		x, ok1 := new(big.Rat).SetString(an)
		y, ok2 := new(big.Rat).SetString(bn)
		return ok1 && ok2 && x.Cmp(y) == 0
	}
	return aok == bok && reflect.DeepEqual(a, b)
}

func asNumber(v any) (string, bool) {
	switch x := v.(type) {
	case json.Number:
		return string(x), true
	case float64, int, int64:
		return fmt.Sprint(x), true
	}
	return "", false
}
