package validator

import (
	"encoding/json"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/callwright/callwright/internal/lenient"
)

// typed gives untyped text its type by the schema. That is not a coercion: in some
// dialects values have no types.
func (v *validation) typed(value any, s *jsonschema.Schema, depth int) any {
	if depth > lenient.MaxDepth {
		return value
	}
	switch x := value.(type) {
	case lenient.Text:
		return v.typeText(string(x), s)
	case map[string]any:
		if list, ok := elementList(x, s); ok {
			return v.typed(list, s, depth+1)
		}
		for k, e := range x {
			switch e.(type) {
			case lenient.Text, map[string]any, []any:
				x[k] = v.typed(e, property(s, k, 0), depth+1)
			}
		}
	case []any:
		for i, e := range x {
			switch e.(type) {
			case lenient.Text, map[string]any, []any:
				x[i] = v.typed(e, items(s, i, 0), depth+1)
			}
		}
	}
	return value
}

// elementList takes <tags><item>a</item><item>b</item></tags> for the array that
// the schema wants.
func elementList(m map[string]any, s *jsonschema.Schema) ([]any, bool) {
	if len(m) != 1 || s == nil || typesOf(s, 0)&(tArray|tObject) != tArray {
		return nil, false
	}
	for _, e := range m {
		switch e := e.(type) {
		case []any:
			return e, true
		case lenient.Text, map[string]any:
			return []any{e}, true
		}
	}
	return nil, false
}

// typeText reads untyped text as the most specific type that the schema accepts and the
// text fits; a string is tried last. It is long since it lists what each type accepts.
func (v *validation) typeText(text string, s *jsonschema.Schema) any {
	if s == nil {
		return untypedText(text)
	}
	types := typesOf(s, 0)
	if types == tString {
		return text
	}
	if types == tAny {
		return untypedText(text)
	}
	trimmed := strings.TrimSpace(text)
	lower := strings.ToLower(trimmed)
	if types&tString == 0 && (trimmed == "null" || trimmed == "None") {
		return nil
	}
	if types&tNull != 0 && (lower == "null" || lower == "none" || lower == "nil" || trimmed == "" && types == tNull) {
		return nil
	}
	if types&tBoolean != 0 {
		switch lower {
		case "true":
			return true
		case "false":
			return false
		}
		if types&^(tBoolean|tNull) == 0 {
			switch lower {
			case "1", "yes", "on":
				v.res.Factor *= 0.9
				return true
			case "0", "no", "off":
				v.res.Factor *= 0.9
				return false
			}
		}
	}
	if types&(tInteger|tNumber) != 0 {
		if n, ok := textNumber(trimmed); ok {
			if types&tNumber != 0 || isInteger(n) {
				return json.Number(n)
			}
			if whole, ok := wholeNumber(n); ok {
				return json.Number(whole)
			}
		}
		if value, ok := arithmetic(trimmed); ok && types&tString == 0 {
			v.res.Factor *= 0.9
			return json.Number(value)
		}
	}
	if types&(tArray|tObject) != 0 && trimmed != "" {
		want := byte('[')
		if trimmed[0] == '{' {
			want = '{'
		}
		if trimmed[0] == want || trimmed[0] == '(' {
			if value, ok := v.typeJSON(trimmed, types); ok {
				return value
			}
		}
	}
	return text
}

// typeJSON reads a list or an object, as JSON or as Python. Where the schema wants
// nothing else a bracket may be missing at its end.
func (v *validation) typeJSON(text string, types int) (any, bool) {
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
	if r.Fixes.Has(lenient.Truncated) {
		if types&tString != 0 {
			return nil, false
		}
		v.res.Factor *= 0.9
		v.res.Warnings = append(v.res.Warnings, "json_repaired: a bracket is missing at the end of a value")
	} else if r.Fixes.Has(lenient.MissingComma) {
		v.res.Factor *= 0.95
		v.res.Warnings = append(v.res.Warnings, "json_repaired: a comma is missing in a value")
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
