package schema

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
)

// Most arguments are objects of strings, numbers, booleans and lists. They are put into
// the fields of a struct one by one, which takes a fourth of the time of writing JSON and
// decoding it. What is not plain goes that way.

// assigner puts decoded JSON into a value. It reports false where the JSON is not what it
// expects; the value is then decoded instead, which says why.
type assigner func(into reflect.Value, v any) bool

// assignerOf returns the assigner of a type; nil if the type is not plain, or contains
// itself.
func assignerOf(t reflect.Type, within []reflect.Type) assigner {
	for _, w := range within {
		if w == t {
			return nil
		}
	}
	within = append(within, t)
	if t.PkgPath() != "" && hasTextForm(t) || t == durationType || t == numberType || t == rawType {
		return nil
	}
	switch k := t.Kind(); k {
	case reflect.Bool:
		return assignBool
	case reflect.String:
		return assignString
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return assignInt
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return assignUint
	case reflect.Float64:
		return assignFloat
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return nil // base64
		}
		if element := assignerOf(t.Elem(), within); element != nil {
			return func(into reflect.Value, v any) bool { return assignSlice(into, v, element) }
		}
	case reflect.Pointer:
		if element := assignerOf(t.Elem(), within); element != nil {
			return func(into reflect.Value, v any) bool { return assignPointer(into, v, element) }
		}
	case reflect.Struct:
		return structAssigner(t, within)
	}
	return nil
}

func assignBool(into reflect.Value, v any) bool {
	b, ok := v.(bool)
	into.SetBool(b)
	return ok
}

func assignString(into reflect.Value, v any) bool {
	s, ok := v.(string)
	into.SetString(s)
	return ok
}

func assignInt(into reflect.Value, v any) bool {
	n, ok := v.(json.Number)
	if !ok {
		return false
	}
	i, err := strconv.ParseInt(string(n), 10, 64)
	if err != nil || into.OverflowInt(i) {
		return false
	}
	into.SetInt(i)
	return true
}

func assignUint(into reflect.Value, v any) bool {
	n, ok := v.(json.Number)
	if !ok {
		return false
	}
	i, err := strconv.ParseUint(string(n), 10, 64)
	if err != nil || into.OverflowUint(i) {
		return false
	}
	into.SetUint(i)
	return true
}

func assignFloat(into reflect.Value, v any) bool {
	n, ok := v.(json.Number)
	if !ok {
		return false
	}
	f, err := strconv.ParseFloat(string(n), 64)
	into.SetFloat(f)
	return err == nil
}

func assignSlice(into reflect.Value, v any, element assigner) bool {
	list, ok := v.([]any)
	if !ok {
		return false
	}
	s := reflect.MakeSlice(into.Type(), len(list), len(list))
	for i, e := range list {
		if e == nil || !element(s.Index(i), e) {
			return false
		}
	}
	into.Set(s)
	return true
}

func assignPointer(into reflect.Value, v any, element assigner) bool {
	if v == nil {
		into.SetZero()
		return true
	}
	p := reflect.New(into.Type().Elem())
	if !element(p.Elem(), v) {
		return false
	}
	into.Set(p)
	return true
}

// structAssigner returns the assigner of a struct whose fields are all plain.
func structAssigner(t reflect.Type, within []reflect.Type) assigner {
	type member struct {
		name   string
		index  int
		assign assigner
	}
	var members []member
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" && options == "":
			continue
		case f.Anonymous, strings.Contains(options, "string"), strings.Contains(options, "inline"), strings.Contains(options, "unknown"),
			strings.Contains(options, "format"), strings.Contains(options, "embed"):
			return nil
		case !f.IsExported():
			continue
		case name == "":
			name = f.Name
		}
		assign := assignerOf(f.Type, within)
		if assign == nil {
			return nil
		}
		members = append(members, member{name, i, assign})
	}
	return func(into reflect.Value, v any) bool {
		m, ok := v.(map[string]any)
		if !ok {
			return false
		}
		for i := range members {
			f := &members[i]
			value, there := m[f.name]
			if !there {
				continue
			}
			if value == nil && into.Field(f.index).Kind() != reflect.Pointer || !f.assign(into.Field(f.index), value) {
				return false
			}
		}
		return true
	}
}
