package schema

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// field is a member of the JSON object that a struct is written as.
type field struct {
	reflect.StructField
	name     string
	optional bool // its tag says omitempty or omitzero
}

// maxEmbedded is how deep structs may be embedded in each other.
const maxEmbedded = 16

// fields returns the members of a struct, those of embedded structs included. It is an
// error if a struct embeds itself.
func fields(t reflect.Type, depth int) (list []field, err error) {
	if depth > maxEmbedded {
		return nil, fmt.Errorf("type %v is embedded more than %d deep", t, maxEmbedded)
	}
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" && options == "" || f.Tag.Get("jsonschema") == "-" {
			continue
		}
		if f.Anonymous && name == "" {
			inner := f.Type
			if inner.Kind() == reflect.Pointer {
				inner = inner.Elem()
			}
			if inner.Kind() == reflect.Struct {
				more, err := fields(inner, depth+1)
				if err != nil {
					return nil, err
				}
				list = append(list, more...)
				continue
			}
		}
		if !f.IsExported() {
			continue
		}
		if name == "" {
			name = f.Name
		}
		said := strings.Split(options, ",")
		list = append(list, field{f, name, slices.Contains(said, "omitempty") || slices.Contains(said, "omitzero")})
	}
	return list, nil
}

// check walks over a type, finds what has no schema, and notes the types that contain
// themselves. at names the place, for errors.
func (w *walk) check(t reflect.Type, at string) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if givesOwn(t) || hasTextForm(t) {
		return nil
	}
	switch t.Kind() {
	case reflect.Chan, reflect.Func, reflect.Complex64, reflect.Complex128, reflect.UnsafePointer, reflect.Uintptr:
		return fmt.Errorf("%s: a %v has no JSON form", at, t.Kind())
	case reflect.Interface:
		if t.NumMethod() > 0 {
			return fmt.Errorf("%s: the interface %v does not say what to decode into: use any, or a type with UnmarshalJSON", at, t)
		}
		return nil
	case reflect.Slice, reflect.Array, reflect.Map, reflect.Struct:
	default:
		return nil
	}
	switch w.state[t] {
	case left:
		return nil
	case entered:
		if t.Name() == "" {
			return fmt.Errorf("%s: the type %v contains itself and has no name", at, t)
		}
		if w.defined[t] == "" {
			w.defined[t] = w.name(t)
		}
		return nil
	}
	w.state[t] = entered
	defer func() { w.state[t] = left }()
	switch t.Kind() {
	case reflect.Map:
		if k := t.Key().Kind(); k != reflect.String && (k < reflect.Int || k > reflect.Uint64) && !hasTextForm(t.Key()) {
			return fmt.Errorf("%s: a map's keys must be strings or integers, not %v", at, t.Key())
		}
		return w.check(t.Elem(), at+"[]")
	case reflect.Slice, reflect.Array:
		return w.check(t.Elem(), at+"[]")
	}
	members, err := fields(t, 0)
	if err != nil {
		return fmt.Errorf("%s: %w", at, err)
	}
	seen := map[string]bool{}
	for _, f := range members {
		place := at + "." + f.Name
		if seen[f.name] {
			return fmt.Errorf("%s: two members are named %q", place, f.name)
		}
		seen[f.name] = true
		if err := checkTag(f); err != nil {
			return fmt.Errorf("%s: %w", place, err)
		}
		if err := w.check(f.Type, place); err != nil {
			return err
		}
	}
	return nil
}

// Keywords that tags may have: of all types, and by the type in the schema.
var (
	general = []string{
		"title", "description", "type", "anchor", "oneof_required", "anyof_required", "oneof_ref", "anyof_ref", "oneof_type", "anyof_type",
	}
	byType = map[string][]string{
		"string":  {"minLength", "maxLength", "pattern", "format", "readOnly", "writeOnly", "default", "example", "enum"},
		"number":  {"multipleOf", "minimum", "maximum", "exclusiveMaximum", "exclusiveMinimum", "default", "example", "enum"},
		"integer": {"multipleOf", "minimum", "maximum", "exclusiveMaximum", "exclusiveMinimum", "default", "example", "enum"},
		"boolean": {"default"},
		"array":   {"minItems", "maxItems", "uniqueItems", "default", "format", "pattern"},
	}
)

// checkTag finds what the library would leave out of a field's tag without a word.
func checkTag(f field) error {
	kind, items := typeOf(f.Type), ""
	if kind == "array" {
		items = typeOf(element(f.Type))
	}
	if quoted := strings.Split(f.Tag.Get("json"), ",")[1:]; slices.Contains(quoted, "string") && kind != "array" {
		kind = "string"
	}
	before := ""
	for i, part := range split(f.Tag.Get("jsonschema")) {
		key, value, ok := strings.Cut(part, "=")
		if !ok {
			if part == "required" || part == "nullable" || part == "" && i == 0 {
				continue
			}
			if before == "description" || before == "title" {
				return fmt.Errorf(
					"the tag jsonschema ends its %s at a comma, before %q: write it into the tag jsonschema_description", before, part,
				)
			}
			return fmt.Errorf("the tag jsonschema has no keyword %q", part)
		}
		before = key
		of := kind
		switch {
		case slices.Contains(general, key):
			continue
		case slices.Contains(byType[kind], key):
		case kind == "array" && key != "default" && slices.Contains(byType[items], key):
			of = items
		default:
			return fmt.Errorf("the tag jsonschema: %q does nothing for a %s", key, word(kind))
		}
		if err := checkValue(of, items, key, value); err != nil {
			return err
		}
	}
	return nil
}

// checkValue finds values that the library would drop.
func checkValue(kind, items, key, value string) (err error) {
	if kind == "array" && key == "default" {
		kind = items
	}
	switch {
	case key == "minLength" || key == "maxLength" || key == "minItems" || key == "maxItems":
		_, err = strconv.ParseUint(value, 10, 64)
	case kind == "integer" && (key == "default" || key == "enum" || key == "example"):
		_, err = strconv.ParseInt(value, 10, 64)
	case kind == "number" || kind == "integer":
		_, err = strconv.ParseFloat(value, 64)
	case kind == "boolean" && value != "true" && value != "false":
		err = strconv.ErrSyntax
	}
	if err != nil {
		return fmt.Errorf("the tag jsonschema: %s=%s is no value for a %s", key, value, word(kind))
	}
	return nil
}

// split splits a tag at its commas, but for those behind a backslash.
func split(tag string) (parts []string) {
	if tag == "" {
		return nil
	}
	for p := range strings.SplitSeq(tag, ",") {
		if n := len(parts); n > 0 && strings.HasSuffix(parts[n-1], `\`) {
			parts[n-1] = strings.TrimSuffix(parts[n-1], `\`) + "," + p
			continue
		}
		parts = append(parts, p)
	}
	return parts
}

func element(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() == reflect.Slice || t.Kind() == reflect.Array {
		return t.Elem()
	}
	return t
}

// typeOf names the JSON type of a Go type; "" is any.
func typeOf(t reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if s := mapper(t); s != nil {
		return s.Type
	}
	switch k := t.Kind(); {
	case k == reflect.String, k == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		return "string"
	case k >= reflect.Int && k <= reflect.Uint64:
		return "integer"
	case k == reflect.Float32 || k == reflect.Float64:
		return "number"
	case k == reflect.Bool:
		return "boolean"
	case k == reflect.Slice || k == reflect.Array:
		return "array"
	case k == reflect.Struct || k == reflect.Map:
		return "object"
	}
	return ""
}

// word names a JSON type in a message.
func word(kind string) string {
	if kind == "" {
		return "value of any type"
	}
	return kind
}
