// Package schema makes JSON Schemas of Go types, for the parameters of tools that are Go
// functions. The reflection is github.com/invopop/jsonschema's; this package refuses what
// it passes over in silence, and adds what it does not say: the bounds of integer types,
// null for pointers, and types with a text form.
//
// NOTE: this is the only package that imports the reflection library. Its schemas are
// golden files under testdata.
package schema

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"

	"github.com/invopop/jsonschema"

	"github.com/callwright/callwright/registry"
)

// Of returns the JSON Schema of a struct or a map, as decoded JSON. Objects list the
// order of their members under "propertyOrdering", as [registry.Parse] does.
//
// A member is required unless its json tag says omitempty or omitzero. Descriptions,
// defaults, enumerations and ranges come from the tags jsonschema and
// jsonschema_description, other keywords from jsonschema_extras:
//
//	Width float64 `json:"width,omitempty" jsonschema:"default=100,minimum=1" jsonschema_description:"in pixels, at least 1"`
//
// The error names the field whose type has no JSON form, or whose tag would have no
// effect.
func Of(t reflect.Type) (schema map[string]any, err error) {
	defer func() {
		if p := recover(); p != nil { // a method of a type, or the library
			schema, err = nil, fmt.Errorf("type %v has no schema: %v", t, p)
		}
	}()
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct && t.Kind() != reflect.Map || hasTextForm(t) {
		return nil, fmt.Errorf("type %v is no struct and no map: arguments are an object", t)
	}
	w := walk{state: map[reflect.Type]int{}, defined: map[reflect.Type]string{}, names: map[string]bool{}}
	if err := w.check(t, t.String()); err != nil {
		return nil, err
	}
	root, err := w.reflect(t)
	if err != nil {
		return nil, err
	}
	if len(w.defined) > 0 {
		defs := map[string]any{}
		for d, name := range w.defined {
			if defs[name], err = w.reflect(d); err != nil {
				return nil, err
			}
		}
		root["$defs"] = defs
	}
	return root, nil
}

// walk is a walk over a type and those in it.
type walk struct {
	state   map[reflect.Type]int
	defined map[reflect.Type]string // types that contain themselves, by their names under $defs
	names   map[string]bool
}

// The states of a type in a walk.
const (
	unseen = iota
	entered
	left
)

// reflect returns the schema of a type. Types that contain themselves are references in
// it, all others stand where they are used.
func (w *walk) reflect(t reflect.Type) (map[string]any, error) {
	r := jsonschema.Reflector{
		Anonymous: true, DoNotReference: true, Mapper: mapper,
		Lookup: func(t reflect.Type) jsonschema.ID {
			if name, ok := w.defined[t]; ok {
				return jsonschema.ID("#/$defs/" + name)
			}
			return jsonschema.EmptyID
		},
	}
	data, err := json.Marshal(map[string]any{"name": "x", "parameters": r.ReflectFromType(t)})
	if err != nil {
		return nil, fmt.Errorf("type %v has no schema: %w", t, err)
	}
	tools, err := registry.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("type %v has no schema: %w", t, err)
	}
	m := tools[0].Parameters
	delete(m, "$schema")
	delete(m, "$id")
	if t.Kind() == reflect.Map {
		m["type"] = "object"
	}
	w.amend(t, m)
	return m, nil
}

// amend corrects the schema of a type: pointers without omitempty may be null, and the
// elements of default lists get the type that the list's elements have.
func (w *walk) amend(t reflect.Type, m map[string]any) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if m["$ref"] != nil || hasTextForm(t) {
		return
	}
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		if items, ok := m["items"].(map[string]any); ok {
			w.amend(t.Elem(), items)
		}
	case reflect.Map:
		if more, ok := m["additionalProperties"].(map[string]any); ok {
			w.amend(t.Elem(), more)
		}
		patterns, _ := m["patternProperties"].(map[string]any)
		for _, p := range patterns {
			if more, ok := p.(map[string]any); ok {
				w.amend(t.Elem(), more)
			}
		}
	case reflect.Struct:
		properties, _ := m["properties"].(map[string]any)
		members, _ := fields(t, 0) // check has seen them
		for _, f := range members {
			p, ok := properties[f.name].(map[string]any)
			if !ok {
				continue
			}
			w.amend(f.Type, p)
			typeDefaults(p)
			if f.Type.Kind() == reflect.Pointer && !f.optional {
				properties[f.name] = orNull(p)
			}
		}
	}
}

// orNull returns a schema that also allows null.
func orNull(p map[string]any) map[string]any {
	if kind, ok := p["type"].(string); ok && p["enum"] == nil {
		p["type"] = []any{kind, "null"}
		return p
	}
	if _, said := p["oneOf"]; said { // by the tag "nullable"
		return p
	}
	out := map[string]any{"anyOf": []any{p, map[string]any{"type": "null"}}}
	for _, k := range []string{"description", "default"} { // they belong to the parameter
		if v, ok := p[k]; ok {
			out[k] = v
			delete(p, k)
		}
	}
	return out
}

// typeDefaults gives the elements of a default list, which tags have as text, the type
// of the list's elements.
func typeDefaults(p map[string]any) {
	list, ok := p["default"].([]any)
	items, _ := p["items"].(map[string]any)
	if !ok || items == nil {
		return
	}
	for i, e := range list {
		s, _ := e.(string)
		switch items["type"] {
		case "integer", "number":
			list[i] = json.Number(s)
		case "boolean":
			if b, err := strconv.ParseBool(s); err == nil {
				list[i] = b
			}
		}
	}
}

// name returns the name of a type under $defs, unique among those of the schema.
func (w *walk) name(t reflect.Type) string {
	name := t.Name()
	for i := 2; w.names[name]; i++ {
		name = t.Name() + "_" + strconv.Itoa(i)
	}
	w.names[name] = true
	return name
}
