package validator

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

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

// Bounds of what errors say.
const (
	maxErrors     = 20
	maxNamed      = 10
	maxQuoteBytes = 80
)

// translate turns the errors of the schema library into ours, sorted by path.
func translate(err error, root any) []Error {
	var verr *jsonschema.ValidationError
	if !errors.As(err, &verr) {
		return []Error{{Code: SchemaViolation, Message: err.Error()}}
	}
	errs := leaves(verr, root, 0)
	sortErrors(errs)
	errs = slices.CompactFunc(errs, func(a, b Error) bool { return a == b })
	if len(errs) > maxErrors {
		errs = errs[:maxErrors]
	}
	return errs
}

func sortErrors(errs []Error) {
	slices.SortFunc(errs, func(a, b Error) int {
		if c := strings.Compare(a.Path, b.Path); c != 0 {
			return c
		}
		if c := strings.Compare(string(a.Code), string(b.Code)); c != 0 {
			return c
		}
		return strings.Compare(a.Message, b.Message)
	})
}

// leaves collects the innermost errors. Of the branches of anyOf and oneOf it takes the
// one that nearly fits.
func leaves(e *jsonschema.ValidationError, root any, depth int) []Error {
	if depth > maxCoerceDepth || len(e.Causes) == 0 {
		return explain(e, root)
	}
	switch e.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf:
		var best []Error
		for _, c := range e.Causes {
			errs := leaves(c, root, depth+1)
			if best == nil || better(errs, best, len(e.InstanceLocation)) {
				best = errs
			}
		}
		return best
	}
	var all []Error
	for _, c := range e.Causes {
		if all = append(all, leaves(c, root, depth+1)...); len(all) > 10*maxErrors {
			break
		}
	}
	return all
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

// explain translates one error of the schema library.
func explain(e *jsonschema.ValidationError, root any) []Error {
	path := ""
	for _, p := range e.InstanceLocation {
		path = text.Pointer(path, p)
	}
	got := find(root, e.InstanceLocation)
	one := func(code Code, fix, format string, args ...any) []Error {
		return []Error{{Path: path, Code: code, Message: fmt.Sprintf(format, args...), SuggestedFix: fix}}
	}
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		var errs []Error
		for _, name := range k.Missing {
			errs = append(errs, Error{
				Path: text.Pointer(path, name), Code: RequiredParameterMissing, Message: fmt.Sprintf("parameter %q is required", name),
				SuggestedFix: fmt.Sprintf("add %q", name),
			})
		}
		return errs
	case *kind.DependentRequired:
		return one(RequiredParameterMissing, "", "%q also needs %s", k.Prop, strings.Join(k.Missing, ", "))
	case *kind.Type:
		return one(
			InvalidType, "give "+article(strings.Join(k.Want, " or ")), "must be %s, not %s %s", strings.Join(k.Want, " or "), kindOf(got),
			quote(got),
		)
	case *kind.Enum:
		return one(InvalidEnumValue, list(k.Want), "%s is not one of the allowed values", quote(got))
	case *kind.Const:
		return one(InvalidEnumValue, quote(k.Want), "must be %s", quote(k.Want))
	case *kind.Minimum:
		return one(NumberOutOfRange, "", "must be at least %s", rat(k.Want))
	case *kind.Maximum:
		return one(NumberOutOfRange, "", "must be at most %s", rat(k.Want))
	case *kind.ExclusiveMinimum:
		return one(NumberOutOfRange, "", "must be more than %s", rat(k.Want))
	case *kind.ExclusiveMaximum:
		return one(NumberOutOfRange, "", "must be less than %s", rat(k.Want))
	case *kind.MultipleOf:
		return one(NumberNotMultiple, "", "must be a multiple of %s", rat(k.Want))
	case *kind.Pattern:
		return one(StringPatternMismatch, "", "%s does not match the pattern %s", quote(got), k.Want)
	case *kind.MinLength:
		return one(StringLength, "", "must have at least %d characters, not %d", k.Want, k.Got)
	case *kind.MaxLength:
		return one(StringLength, "", "must have at most %d characters, not %d", k.Want, k.Got)
	case *kind.MinItems:
		return one(ArrayLength, "", "must have at least %d items, not %d", k.Want, k.Got)
	case *kind.MaxItems:
		return one(ArrayLength, "", "must have at most %d items, not %d", k.Want, k.Got)
	case *kind.UniqueItems:
		return one(ItemsNotUnique, "", "items %d and %d are equal", k.Duplicates[0], k.Duplicates[1])
	case *kind.Format:
		return one(InvalidFormat, "", "%s is no valid %s", quote(got), k.Want)
	case *kind.AdditionalProperties:
		var errs []Error
		for _, name := range k.Properties {
			errs = append(errs, Error{
				Path: text.Pointer(path, name), Code: UnknownParameter, Message: fmt.Sprintf("there is no parameter %q", name),
				SuggestedFix: fmt.Sprintf("leave out %q", name),
			})
		}
		return errs
	case *kind.OneOf:
		return one(AmbiguousVariant, "", "fits more than one of the variants")
	}
	return one(SchemaViolation, "", "%s", strings.ReplaceAll(fmt.Sprint(e), "\n", " "))
}

func article(s string) string {
	if s != "" && strings.ContainsRune("aeiou", rune(s[0])) {
		return "an " + s
	}
	return "a " + s
}

func rat(r interface{ RatString() string }) string { return r.RatString() }

// quote writes a value for a message, shortened.
func quote(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("%T", v)
	}
	return text.Clip(string(b), maxQuoteBytes)
}

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

// find returns what stands at a place in a value.
func find(v any, location []string) any {
	for _, p := range location {
		switch x := v.(type) {
		case map[string]any:
			v = x[p]
		case []any:
			var i int
			if _, err := fmt.Sscanf(p, "%d", &i); err != nil || i < 0 || i >= len(x) {
				return nil
			}
			v = x[i]
		}
	}
	return v
}
