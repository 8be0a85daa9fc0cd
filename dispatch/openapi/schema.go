package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/callwright/callwright/internal/text"
)

// schema is the schema of one tool's parameters in the making.
type schema struct {
	root       map[string]any // the document
	properties map[string]any
	order      []any
	required   []any
	defs       map[string]any
	defOf      map[string]string // names in defs, by the reference in the document
}

func newSchema(root map[string]any) *schema {
	return &schema{root: root, properties: map[string]any{}, defs: map[string]any{}, defOf: map[string]string{}}
}

// add adds a parameter under a name that is free, and returns the name.
func (s *schema) add(name, suffix string, p any, description string, required bool) string {
	if _, taken := s.properties[name]; taken {
		name += "_" + suffix
	}
	if m, ok := p.(map[string]any); ok && description != "" && m["description"] == nil {
		m["description"] = description
	}
	s.properties[name] = p
	s.order = append(s.order, name)
	if required {
		s.required = append(s.required, name)
	}
	return name
}

// done returns the schema.
func (s *schema) done() map[string]any {
	out := map[string]any{"type": "object", "properties": s.properties, "additionalProperties": false}
	if len(s.order) > 0 {
		out["propertyOrdering"] = s.order
	}
	if len(s.required) > 0 {
		out["required"] = s.required
	}
	if len(s.defs) > 0 {
		out["$defs"] = s.defs
	}
	return out
}

// maxDepth is how deep schemas may nest.
const maxDepth = 64

// convert turns a schema of the document into JSON Schema 2020-12. Schemas that it refers
// to go under $defs, once each.
func (s *schema) convert(v any, depth int) (any, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("a schema nests more than %d deep", maxDepth)
	}
	switch v := v.(type) {
	case map[string]any:
		if ref, ok := v["$ref"].(string); ok {
			name, err := s.define(ref, depth)
			if err != nil {
				return nil, err
			}
			out := map[string]any{"$ref": "#/$defs/" + name}
			if d, ok := v["description"]; ok {
				out["description"] = d
			}
			return out, nil
		}
		return s.object(v, depth)
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			var err error
			if out[i], err = s.convert(e, depth+1); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return v, nil
}

// Keywords by what their value is: a schema or a list of them, schemas by name, or
// nothing that a tool needs.
var (
	schemaKeywords = []string{
		"additionalProperties", "allOf", "anyOf", "contains", "else", "if", "items", "not", "oneOf", "prefixItems", "propertyNames", "then",
		"unevaluatedItems", "unevaluatedProperties",
	}
	mapKeywords  = []string{"$defs", "dependentSchemas", "patternProperties", "properties"}
	leftKeywords = []string{"discriminator", "example", "externalDocs", "readOnly", "xml"}
)

// object converts a schema that is no reference.
func (s *schema) object(v map[string]any, depth int) (map[string]any, error) {
	out := make(map[string]any, len(v))
	for k, e := range v {
		out[k] = e
	}
	for _, k := range leftKeywords {
		delete(out, k)
	}
	if example, ok := v["example"]; ok && v["examples"] == nil {
		out["examples"] = []any{example}
	}
	for exclusive, bound := range map[string]string{"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"} {
		if is, ok := v[exclusive].(bool); ok { // of OpenAPI 3.0
			delete(out, exclusive)
			if is && v[bound] != nil {
				out[exclusive] = v[bound]
				delete(out, bound)
			}
		}
	}
	if v["nullable"] == true { // of OpenAPI 3.0
		orNull(out)
	}
	delete(out, "nullable")
	var err error
	for _, k := range schemaKeywords {
		if e, ok := out[k]; ok {
			if out[k], err = s.convert(e, depth+1); err != nil {
				return nil, err
			}
		}
	}
	for _, k := range mapKeywords {
		members, ok := out[k].(map[string]any)
		if !ok {
			continue
		}
		kept := make(map[string]any, len(members))
		for _, name := range text.SortedKeys(members) {
			if k == "properties" && s.readOnly(members[name]) {
				if list, ok := out["required"].([]any); ok {
					out["required"] = without(list, name)
				}
				continue
			}
			if kept[name], err = s.convert(members[name], depth+1); err != nil {
				return nil, err
			}
		}
		out[k] = kept
	}
	return out, nil
}

// orNull has a schema allow null.
func orNull(s map[string]any) {
	if kind, ok := s["type"].(string); ok {
		s["type"] = []any{kind, "null"}
	}
	if enum, ok := s["enum"].([]any); ok && !slices.Contains(enum, nil) {
		s["enum"] = append(slices.Clone(enum), nil)
	}
}

// readOnly reports whether a property is the server's alone: it is not sent.
func (s *schema) readOnly(p any) bool {
	m, _ := p.(map[string]any)
	if ref, ok := m["$ref"].(string); ok {
		if target, err := s.lookup(ref); err == nil {
			m, _ = target.(map[string]any)
		}
	}
	return m["readOnly"] == true
}

func without(list []any, name string) []any {
	var out []any
	for _, e := range list {
		if e != name {
			out = append(out, e)
		}
	}
	return out
}

// define puts what a reference leads to under $defs, and returns its name there.
func (s *schema) define(ref string, depth int) (string, error) {
	if name, ok := s.defOf[ref]; ok {
		return name, nil
	}
	target, err := s.lookup(ref)
	if err != nil {
		return "", err
	}
	keys := text.Keys(strings.TrimPrefix(ref, "#"))
	base := "schema"
	if len(keys) > 0 {
		base = strings.Map(func(r rune) rune {
			if strings.ContainsRune("/~#%", r) {
				return '_'
			}
			return r
		}, keys[len(keys)-1])
	}
	name := base
	for i := 2; s.defs[name] != nil; i++ {
		name = base + "_" + strconv.Itoa(i)
	}
	s.defOf[ref], s.defs[name] = name, map[string]any{}
	converted, err := s.convert(target, depth+1)
	if err != nil {
		return "", err
	}
	s.defs[name] = converted
	return name, nil
}

// lookup returns what a reference within the document leads to.
func (s *schema) lookup(ref string) (any, error) {
	if !strings.HasPrefix(ref, "#/") {
		return nil, fmt.Errorf("the reference %q leads out of the document", ref)
	}
	var at any = s.root
	for _, key := range text.Keys(ref[1:]) {
		switch v := at.(type) {
		case map[string]any:
			at = v[key]
		case []any:
			i, err := strconv.ParseUint(key, 10, 31)
			if err != nil || int(i) >= len(v) {
				at = nil
				continue
			}
			at = v[i]
		default:
			at = nil
		}
	}
	if at == nil {
		return nil, fmt.Errorf("the reference %q leads nowhere", ref)
	}
	return at, nil
}

// resolved follows a schema through references.
func (s *schema) resolved(v any) map[string]any {
	for range maxDepth {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		ref, ok := m["$ref"].(string)
		if !ok {
			return m
		}
		var err error
		if v, err = s.lookup(ref); err != nil {
			return nil
		}
	}
	return nil
}

// decode decodes a JSON object with the digits of its numbers.
func decode(data []byte) (m map[string]any, err error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	err = d.Decode(&m)
	return m, err
}
