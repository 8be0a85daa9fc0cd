package dispatch

import (
	"slices"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/internal/text"
	"github.com/callwright/callwright/internal/wire"
	"github.com/callwright/callwright/registry"
)

// orderKey is where a schema that package registry read notes the order of its properties.
const orderKey = "propertyOrdering"

// Describe returns a tool as a request tells a model of it. Properties stand in the order
// in which they were defined.
func Describe(t *registry.Tool) adapters.Tool {
	out := adapters.Tool{Name: t.Name, Description: t.Description}
	if t.Parameters != nil {
		if data, err := appendSchema(nil, t.Parameters, 0); err == nil {
			out.Parameters = data
		}
	}
	return out
}

// appendSchema appends a schema as JSON.
func appendSchema(b []byte, v any, depth int) ([]byte, error) {
	if depth > maxDepth {
		return nil, errDepth
	}
	var err error
	switch x := v.(type) {
	case map[string]any:
		return appendMembers(b, x, text.SortedKeys(x), depth)
	case []any:
		b = append(b, '[')
		for i, e := range x {
			if i > 0 {
				b = append(b, ',')
			}
			if b, err = appendSchema(b, e, depth+1); err != nil {
				return nil, err
			}
		}
		return append(b, ']'), nil
	}
	data, err := wire.Encode(v)
	return append(b, data...), err
}

// appendMembers appends an object, its members in the order of the keys.
func appendMembers(b []byte, m map[string]any, keys []string, depth int) ([]byte, error) {
	b = append(b, '{')
	first := true
	for _, k := range keys {
		v := m[k]
		order, ordered := m[orderKey].([]any)
		if _, properties := m["properties"].(map[string]any); properties && ordered && k == orderKey {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(append(b, wire.Quote(k)...), ':')
		var err error
		if inner, ok := v.(map[string]any); ok && k == "properties" && ordered {
			b, err = appendMembers(b, inner, inOrder(inner, order), depth+1)
		} else {
			b, err = appendSchema(b, v, depth+1)
		}
		if err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

// inOrder returns the keys of an object: those of a list first, then the others, sorted.
func inOrder(m map[string]any, order []any) []string {
	var keys []string
	for _, e := range order {
		k, _ := e.(string)
		if _, there := m[k]; there && !slices.Contains(keys, k) {
			keys = append(keys, k)
		}
	}
	if len(keys) == len(m) {
		return keys
	}
	for _, k := range text.SortedKeys(m) {
		if !slices.Contains(keys, k) {
			keys = append(keys, k)
		}
	}
	return keys
}
