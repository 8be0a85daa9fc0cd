package registry

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/callwright/callwright/internal/text"
)

// Bounds of a signature.
const (
	maxSignatureParameters = 32
	maxSignatureEnum       = 12
	maxSignatureDepth      = 3
	maxLiteralBytes        = 64
)

// Signature returns a short signature of the tool, for messages to people and models:
//
//	get_weather(city: string, unit?: "c" | "f", days?: integer = 3)
//
// Types are written as in TypeScript; optional parameters have a question mark.
func (t *Tool) Signature() string {
	properties, _ := t.Parameters["properties"].(map[string]any)
	if properties == nil && t.Parameters != nil && t.Parameters["type"] == nil {
		properties = propertyMap(t.Parameters)
	}
	var parts []string
	for i, name := range t.Order() {
		if i == maxSignatureParameters {
			parts = append(parts, "…")
			break
		}
		property, _ := properties[name].(map[string]any)
		var b strings.Builder
		b.WriteString(name)
		if !t.Requires(name) {
			b.WriteByte('?')
		}
		b.WriteString(": " + typeName(property, 0))
		value, ok := t.Defaults[name]
		if !ok {
			value, ok = property["default"]
		}
		if ok {
			b.WriteString(" = " + literal(value))
		}
		parts = append(parts, b.String())
	}
	return t.Name + "(" + strings.Join(parts, ", ") + ")"
}

// Requires reports whether a parameter is required.
func (t *Tool) Requires(name string) bool {
	required := t.Required
	if t.prepared != nil {
		required = t.prepared.required
	}
	return slices.Contains(required, name)
}

// typeName writes a schema as a type.
func typeName(schema map[string]any, depth int) string {
	if enum, ok := schema["enum"].([]any); ok && len(enum) > 0 {
		var values []string
		for i, v := range enum {
			if i == maxSignatureEnum {
				values = append(values, "…")
				break
			}
			values = append(values, literal(v))
		}
		return strings.Join(values, " | ")
	}
	kind := ""
	switch t := schema["type"].(type) {
	case string:
		kind = t
	case []any:
		var kinds []string
		for _, k := range t {
			if s, ok := k.(string); ok {
				kinds = append(kinds, s)
			}
		}
		kind = strings.Join(kinds, " | ")
	}
	switch {
	case kind == "array" && depth < maxSignatureDepth:
		items, _ := schema["items"].(map[string]any)
		if of := typeName(items, depth+1); !strings.Contains(of, " ") {
			return of + "[]"
		}
		return "array"
	case kind == "object" && depth < maxSignatureDepth:
		properties, _ := schema["properties"].(map[string]any)
		if len(properties) == 0 || len(properties) > maxSignatureEnum {
			return "object"
		}
		var members []string
		for name, p := range properties {
			inner, _ := p.(map[string]any)
			members = append(members, name+": "+typeName(inner, depth+1))
		}
		slices.Sort(members)
		return "{" + strings.Join(members, ", ") + "}"
	case kind == "":
		return "any"
	}
	return kind
}

// literal writes a value as JSON, shortened.
func literal(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return "…"
	}
	return text.Clip(string(b), maxLiteralBytes)
}

// HasDefault reports whether a parameter has a default.
func (t *Tool) HasDefault(name string) bool {
	if _, ok := t.Defaults[name]; ok {
		return true
	}
	properties, _ := t.Parameters["properties"].(map[string]any)
	property, _ := properties[name].(map[string]any)
	_, ok := property["default"]
	return ok
}
