package validator

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/callwright/callwright/internal/text"
)

// Code says what is wrong with a call. The codes are part of the JSON contract.
type Code string

// The codes of errors.
const (
	RequiredParameterMissing Code = "required_parameter_missing"
	InvalidType              Code = "invalid_type"
	InvalidEnumValue         Code = "invalid_enum_value"
	NumberOutOfRange         Code = "number_out_of_range"
	StringPatternMismatch    Code = "string_pattern_mismatch"
	UnknownTool              Code = "unknown_tool"
	UnknownParameter         Code = "unknown_parameter"
	StringLength             Code = "string_length_out_of_range"
	ArrayLength              Code = "array_length_out_of_range"
	ItemsNotUnique           Code = "items_not_unique"
	InvalidFormat            Code = "invalid_format"
	NumberNotMultiple        Code = "number_not_multiple"
	AmbiguousVariant         Code = "ambiguous_variant"
	SchemaViolation          Code = "schema_violation"
	// ValidationTooCostly says that the parameters were not checked: it would have taken
	// too many steps, or longer than there was time.
	ValidationTooCostly Code = "validation_too_costly"
)

// Error is one thing that is wrong with a call.
type Error struct {
	Path         string `json:"path"` // JSON pointer into the parameters
	Code         Code   `json:"code"`
	Message      string `json:"message"`
	SuggestedFix string `json:"suggested_fix,omitempty"`
}

// Error returns the path, the code and the message in one line.
func (e Error) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("%s: %s", e.Code, e.Message)
	}
	return fmt.Sprintf("%s at %s: %s", e.Code, e.Path, e.Message)
}

// Bounds of what errors say: how many there are, how many values one names, and how many
// bytes of a value it shows.
const (
	maxErrors     = 20
	maxNamed      = 10
	maxQuoteBytes = 80
)

// tidy sorts errors by path, and takes out those that are said twice.
func tidy(errs []Error) []Error {
	slices.SortFunc(errs, func(a, b Error) int {
		if c := strings.Compare(a.Path, b.Path); c != 0 {
			return c
		}
		if c := strings.Compare(string(a.Code), string(b.Code)); c != 0 {
			return c
		}
		return strings.Compare(a.Message, b.Message)
	})
	errs = slices.CompactFunc(errs, func(a, b Error) bool { return a == b })
	return errs[:min(len(errs), maxErrors)]
}

// better reports whether errors a are nearer to fitting than errors b: a wrong
// type at the branch itself is farthest, then the more errors.
func better(a, b []Error, depth int) bool {
	wrong := func(errs []Error) bool {
		return len(errs) == 1 && errs[0].Code == InvalidType && strings.Count(errs[0].Path, "/") == depth
	}
	if wrong(a) != wrong(b) {
		return wrong(b)
	}
	return len(a) < len(b)
}

func article(s string) string {
	if s != "" && strings.ContainsRune("aeiou", rune(s[0])) {
		return "an " + s
	}
	return "a " + s
}

// quote writes a value for a message, shortened.
func quote(v any) string { return text.Clip(string(appendBrief(nil, v)), maxQuoteBytes) }

// maxQuotedMembers is how many members an object may have to be shown.
const maxQuotedMembers = 64

// appendBrief writes a value as JSON, of a long one at least what [quote] shows.
func appendBrief(b []byte, v any) []byte {
	if len(b) > maxQuoteBytes {
		return b
	}
	switch x := v.(type) {
	case string:
		v = x[:min(len(x), 2*maxQuoteBytes)]
	case []any:
		b = append(b, '[')
		for i, e := range x {
			if i > 0 {
				b = append(b, ',')
			}
			if b = appendBrief(b, e); len(b) > maxQuoteBytes {
				break
			}
		}
		return append(b, ']')
	case map[string]any:
		if len(x) > maxQuotedMembers {
			return append(b, "{…}"...)
		}
		b = append(b, '{')
		for i, k := range text.SortedKeys(x) {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendBrief(b, k), ':')
			if b = appendBrief(b, x[k]); len(b) > maxQuoteBytes {
				break
			}
		}
		return append(b, '}')
	}
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Appendf(b, "%T", v)
	}
	return append(b, data...)
}

// list writes values for a message, the first ten of them.
func list(values []any) string {
	var parts []string
	for i, v := range values {
		if i == maxNamed {
			parts = append(parts, fmt.Sprintf("… (%d more)", len(values)-maxNamed))
			break
		}
		parts = append(parts, quote(v))
	}
	return strings.Join(parts, ", ")
}
