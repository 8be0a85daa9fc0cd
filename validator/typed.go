package validator

import (
	"encoding/json"
	"strings"

	"github.com/callwright/callwright/internal/lenient"
)

// typed gives untyped text its type by a node. That is not a coercion: in some dialects
// values have no types. What goes beyond it is listed: expressions that were worked out,
// words for true and false, elements that became a list, brackets that were missing.
func (v *validation) typed(value any, n *node, at *step, depth int) any {
	if depth > maxDepth {
		return value
	}
	switch x := value.(type) {
	case lenient.Text:
		return v.typeText(string(x), n, at)
	case map[string]any:
		if list, ok := v.elements(x, n); ok {
			from := lenient.Plain(x)
			made := v.typed(list, n, at, depth+1)
			v.record(at, from, made, "elements_to_array", 1)
			return made
		}
		for k, e := range x {
			switch e.(type) {
			case lenient.Text, map[string]any, []any:
				here := at.member(k)
				x[k] = v.typed(e, v.propertyOf(n, k), &here, depth+1)
			}
		}
	case []any:
		for i, e := range x {
			switch e.(type) {
			case lenient.Text, map[string]any, []any:
				here := at.at(i)
				x[i] = v.typed(e, v.elementOf(n, i), &here, depth+1)
			}
		}
	}
	return value
}

// propertyOf and elementOf find nodes while there is time.
func (v *validation) propertyOf(n *node, key string) *node {
	if n == nil || !v.walk.step(n.reach) {
		return nil
	}
	return n.property(key)
}

func (v *validation) elementOf(n *node, i int) *node {
	if n == nil || !v.walk.step(n.reach) {
		return nil
	}
	return n.element(i)
}

// elements takes <tags><item>a</item><item>b</item></tags> for the array that the schema
// wants: an object with one key, of text without types. An object of values that have
// their types was written as an object.
func (v *validation) elements(m map[string]any, n *node) ([]any, bool) {
	if len(m) != 1 || n == nil || n.accepts&(tArray|tObject) != tArray {
		return nil, false
	}
	for _, e := range m {
		switch e := e.(type) {
		case []any:
			return e, holdsText(e)
		case lenient.Text:
			return []any{e}, true
		case map[string]any:
			return []any{e}, holdsText(e)
		}
	}
	return nil, false
}

// holdsText reports whether there is untyped text in a value.
func holdsText(value any) bool {
	work := []any{value}
	for len(work) > 0 {
		v := work[len(work)-1]
		work = work[:len(work)-1]
		switch x := v.(type) {
		case lenient.Text:
			return true
		case map[string]any:
			for _, e := range x {
				work = append(work, e)
			}
		case []any:
			work = append(work, x...)
		}
	}
	return false
}

// typeText reads untyped text as the most specific type that the schema accepts and the
// text fits; a string is tried last. It is long since it lists what each type accepts.
func (v *validation) typeText(text string, n *node, at *step) any {
	if n == nil || n.accepts == tAny {
		return untypedText(text)
	}
	types := n.accepts
	if types == tString {
		return text
	}
	trimmed := strings.TrimSpace(text)
	lower := ""
	if len(trimmed) <= len("false") {
		lower = strings.ToLower(trimmed)
	}
	if types&tString == 0 && (trimmed == "null" || trimmed == "None") {
		return nil
	}
	if types&tNull != 0 && (lower == "null" || lower == "none" || lower == "nil" || trimmed == "" && types == tNull) {
		return nil
	}
	if types&tBoolean != 0 {
		if is, ok := v.typeBoolean(text, lower, types, at); ok {
			return is
		}
	}
	if types&(tInteger|tNumber) != 0 {
		if number, ok := textNumber(trimmed); ok {
			if types&tNumber != 0 || isInteger(number) {
				return json.Number(number)
			}
			if whole, ok := wholeNumber(number); ok {
				return json.Number(whole)
			}
		}
		if number, ok := arithmetic(trimmed); ok && types&tString == 0 && !v.o.NoCoercion {
			v.record(at, text, json.Number(number), "expression_evaluated", 0.9)
			return json.Number(number)
		}
	}
	if types&(tArray|tObject) != 0 && trimmed != "" {
		want := byte('[')
		if trimmed[0] == '{' {
			want = '{'
		}
		if trimmed[0] == want || trimmed[0] == '(' {
			if value, ok := v.typeJSON(trimmed, types, at); ok {
				return value
			}
		}
	}
	return text
}

// typeBoolean reads true and false, and other words for them where nothing else is wanted.
func (v *validation) typeBoolean(text, lower string, types int, at *step) (is, ok bool) {
	switch lower {
	case "true", "false":
		return lower == "true", true
	}
	if types&^(tBoolean|tNull) != 0 || v.o.NoCoercion {
		return false, false
	}
	switch lower {
	case "1", "yes", "on":
		is = true
	case "0", "no", "off":
	default:
		return false, false
	}
	v.record(at, text, is, "word_to_boolean", 0.9)
	return is, true
}

// typeJSON reads a list or an object, as JSON or as Python. Where the schema wants
// nothing else a bracket may be missing at its end.
func (v *validation) typeJSON(text string, types int, at *step) (any, bool) {
	value, r, err := lenient.Parse(text, lenient.Options{})
	if err != nil || r.Fixes.Any() {
		if p, python, perr := lenient.Parse(text, lenient.Options{Python: true}); perr == nil &&
			(err != nil || !python.Fixes.Has(lenient.Concatenation) || strings.Contains(text, "'")) {
			value, r, err = p, python, nil
		}
	}
	if err != nil || typeBits[kindOf(value)]&types == 0 || r.CutToken {
		return nil, false
	}
	repaired := func(factor float64, what string) {
		v.base *= factor
		v.res.Warnings = append(v.res.Warnings, "json_repaired: "+what+" is missing in the value of "+at.String())
	}
	if r.Fixes.Has(lenient.Truncated) {
		if types&tString != 0 {
			return nil, false
		}
		repaired(0.9, "a bracket at the end")
	} else if r.Fixes.Has(lenient.MissingComma) {
		repaired(0.95, "a comma")
	}
	return value, true
}

// textNumber reads text that is exactly one number.
func textNumber(text string) (string, bool) {
	if lenient.IsNumber(text) {
		return text, true
	}
	if n, kind, ok := lenient.OddNumberText(text); ok && kind == lenient.OddNumber {
		return n, true
	}
	return "", false
}

// untypedText reads untyped text without a schema: as JSON if it is JSON other than a bare
// word, else as a string.
func untypedText(text string) any {
	trimmed := strings.TrimSpace(text)
	if trimmed == "" {
		return text
	}
	switch trimmed {
	case "True":
		return true
	case "False":
		return false
	case "None":
		return nil
	}
	switch b := trimmed[0]; {
	case b == '{' || b == '[':
		value, r, err := lenient.Parse(trimmed, lenient.Options{Python: true})
		if err == nil && !r.Fixes.Has(lenient.Truncated) && !r.Fixes.Has(lenient.UnquotedValue) && !r.Fixes.Has(lenient.MissingComma) {
			return value
		}
	case b == '"' || b == '-' || b >= '0' && b <= '9' || b == 't' || b == 'f' || b == 'n':
		if value, r, err := lenient.Parse(trimmed, lenient.Options{}); err == nil && !r.Fixes.Any() {
			return value
		}
	}
	return text
}
