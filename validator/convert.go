package validator

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/agnivade/levenshtein"

	"github.com/callwright/callwright/internal/lenient"
	"github.com/callwright/callwright/internal/text"
)

// convert changes a value's own type, or its spelling among an enum's values.
func (v *validation) convert(n *node, value any, at *step, depth int) any {
	if !hasType(n.types, value) {
		if to, rule, factor, ok := v.retype(n, value, at, depth); ok {
			v.record(at, value, to, rule, factor)
			value = to
		}
	}
	if n.enum != nil {
		if to, rule, factor, ok := v.enumValue(value, n.enum); ok {
			v.record(at, value, to, rule, factor)
			value = to
		}
	}
	if n.constant != nil {
		if to, rule, factor, ok := v.enumValue(value, []any{*n.constant}); ok {
			v.record(at, value, to, rule, factor)
			value = to
		}
	}
	return value
}

// retype changes a value to one of the types wanted, none of which it has.
func (v *validation) retype(n *node, value any, at *step, depth int) (to any, rule string, factor float64, ok bool) {
	switch x := value.(type) {
	case string:
		if to, rule, factor, ok = v.fromString(x, n.types); ok {
			return to, rule, factor, true
		}
	case json.Number:
		if n.types&tString != 0 {
			return string(x), "number_to_string", 0.97, true
		}
		if v.o.Lossy && n.types&tBoolean != 0 && (x == "0" || x == "1") {
			return x == "1", "number_to_boolean", 0.7, true
		}
	case bool:
		if n.types&tString != 0 {
			return fmt.Sprint(x), "boolean_to_string", 0.97, true
		}
	case []any:
		if v.o.Lossy && len(x) == 1 && n.types&typeBits[kindOf(x[0])] != 0 {
			return x[0], "only_element", 0.8, true
		}
	case nil:
		return nil, "", 0, false
	}
	if n.types&tArray != 0 && v.wrapped != depth {
		return v.wrap(n, value, at, depth)
	}
	return nil, "", 0, false
}

// wrap makes a list of one value, if that fits as an item.
func (v *validation) wrap(n *node, value any, at *step, depth int) (to any, rule string, factor float64, ok bool) {
	factor = 0.95
	if sub := n.element(0); sub != nil {
		m, outer := v.mark(), v.wrapped
		v.wrapped = depth + 1 // the item is not made a list in turn
		here := at.at(0)
		value = v.within(sub, sub, value, &here, depth+1)
		v.wrapped = outer
		factor *= factorOf(v.changes[m:])
		v.undo(m)
		if v.walk.fits(sub, value, depth+1) != fitting {
			return nil, "", 0, false
		}
	}
	return []any{value}, "single_to_array", factor, true
}

// fromString reads a string as a value of one of the types, if its text is exactly one.
// It is long since it lists what each type accepts, in the order of preference.
func (v *validation) fromString(s string, types int) (to any, rule string, factor float64, ok bool) {
	trimmed := strings.TrimSpace(s)
	if types&(tInteger|tNumber) != 0 {
		if n, rule, factor, ok := v.numberFrom(trimmed, types); ok {
			return json.Number(n), rule, factor, true
		}
	}
	if types&tBoolean != 0 {
		switch strings.ToLower(text.Clip(trimmed, 8)) {
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
	if types&(tArray|tObject) != 0 && trimmed != "" && (trimmed[0] == '[' || trimmed[0] == '{') && v.walk.step(len(trimmed)/bytesPerStep) {
		value, r, err := lenient.Parse(trimmed, lenient.Options{})
		if err == nil && typeBits[kindOf(value)]&types != 0 && harmless(r) {
			return value, "string_to_json", 0.97, true
		}
	}
	return nil, "", 0, false
}

// numberFrom reads text as a number of one of the types.
func (v *validation) numberFrom(s string, types int) (n, rule string, factor float64, ok bool) {
	fit := func(n string) (string, bool) {
		if text.HugeNumber(n) {
			return "", false
		}
		if types&tNumber != 0 || isInteger(n) {
			return n, true
		}
		return wholeNumber(n)
	}
	if lenient.IsNumber(strings.TrimPrefix(s, "+")) && !strings.HasPrefix(s, "+-") {
		if n, ok := fit(strings.TrimPrefix(s, "+")); ok {
			return n, "string_to_number", 0.98, true
		}
	}
	if n, ok := arithmetic(s); ok && (types&tNumber != 0 || isInteger(n)) {
		return n, "expression_evaluated", 0.9, true
	}
	if v.o.Lossy {
		if n, kind, ok := lenient.OddNumberText(s); ok && !text.HugeNumber(n) && (types&tNumber != 0 || isInteger(n)) {
			return n, kind.String(), 0.8, true
		}
	}
	return "", "", 0, false
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

// maxSpelled bounds the length of a text that is compared with an enum's values.
const maxSpelled = 1 << 10

// enumValue finds the one value of an enum that differs only in case, white
// space and separators, or in its type.
func (v *validation) enumValue(value any, values []any) (to any, rule string, factor float64, ok bool) {
	s, isString := value.(string)
	switch value.(type) {
	case string:
	case json.Number, bool:
		s = fmt.Sprint(value)
	default:
		return nil, "", 0, false
	}
	trimmed := strings.TrimSpace(s)
	folded := foldKey(trimmed)
	if len(s) > maxSpelled || folded == "" || !v.walk.step(len(values)) {
		return nil, "", 0, false
	}
	for _, e := range values {
		if equal(e, value) {
			return nil, "", 0, false
		}
	}
	var found []any
	for _, e := range values {
		switch x := e.(type) {
		case string:
			if foldKey(x) == folded {
				found = append(found, e)
			}
		case json.Number, bool, float64:
			if isString && fmt.Sprint(x) == trimmed {
				found = append(found, e)
			}
		}
	}
	if len(found) == 1 {
		return found[0], "enum_spelling", 0.95, true
	}
	if v.o.Lossy && len(found) == 0 && isString && !v.tool.RequireMarker {
		for _, e := range values {
			if x, ok := e.(string); ok && len(x) >= 4 && len(x) < 128 && len(s) < 128 &&
				levenshtein.ComputeDistance(strings.ToLower(x), strings.ToLower(s)) == 1 {
				found = append(found, e)
			}
		}
		if len(found) == 1 {
			return found[0], "enum_typing_error", 0.6, true
		}
	}
	return nil, "", 0, false
}
