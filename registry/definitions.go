package registry

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// ErrNoDefinition says that a JSON value has none of the known shapes of a tool
// definition.
var ErrNoDefinition = errors.New("not a tool definition of OpenAI, Anthropic, Ollama, Gemini or MCP")

// Parse reads tool definitions in the formats of OpenAI, Anthropic, Ollama, Gemini and
// MCP: one, a list, or an object with a list under "tools" or "functions". The format is
// detected for each definition; keys are case-sensitive. The error is [ErrNoDefinition],
// or says where the JSON is invalid.
func Parse(data []byte) ([]Tool, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	v, _, err := decode(dec, 0)
	if err != nil {
		return nil, fmt.Errorf("tool definitions are not JSON: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("tool definitions: text behind the JSON")
	}
	return FromJSON(v)
}

// orderKey is where a schema lists its properties in the order in which they
// were written: Gemini's own keyword for it.
const orderKey = "propertyOrdering"

// maxDefinitionDepth is how deep definitions may nest.
const maxDefinitionDepth = 256

// decode decodes the next JSON value and, of an object, the order of its keys.
// Beside each object under the key "properties" it notes that order, which a map
// does not keep and positional arguments need.
func decode(dec *json.Decoder, depth int) (v any, keys []any, err error) {
	token, err := dec.Token()
	if err != nil {
		return nil, nil, err
	}
	if depth > maxDefinitionDepth {
		return nil, nil, fmt.Errorf("nested more than %d deep", maxDefinitionDepth)
	}
	switch token {
	case json.Delim('{'):
		m := map[string]any{}
		for dec.More() {
			key, err := dec.Token()
			if err != nil {
				return nil, nil, err
			}
			name, _ := key.(string)
			member, inner, err := decode(dec, depth+1)
			if err != nil {
				return nil, nil, err
			}
			m[name] = member
			keys = append(keys, name)
			if name == "properties" && inner != nil && m[orderKey] == nil {
				m[orderKey] = inner
			}
		}
		v = m
	case json.Delim('['):
		list := []any{}
		for dec.More() {
			e, _, err := decode(dec, depth+1)
			if err != nil {
				return nil, nil, err
			}
			list = append(list, e)
		}
		v = list
	default:
		return token, nil, nil
	}
	_, err = dec.Token()
	return v, keys, err
}

// FromJSON reads tool definitions from decoded JSON; see [Parse].
func FromJSON(v any) ([]Tool, error) {
	switch v := v.(type) {
	case nil:
		return nil, nil
	case []any:
		var tools []Tool
		for i, e := range v {
			list, err := FromJSON(e)
			if err != nil {
				return nil, fmt.Errorf("tool %d: %w", i, err)
			}
			tools = append(tools, list...)
		}
		return tools, nil
	case map[string]any:
		return fromObject(v)
	}
	return nil, ErrNoDefinition
}

func fromObject(m map[string]any) ([]Tool, error) {
	for _, k := range []string{"tools", "functions", "functionDeclarations", "function_declarations"} {
		if list, ok := m[k].([]any); ok {
			return FromJSON(list)
		}
	}
	if f, ok := m["function"].(map[string]any); ok { // OpenAI chat, Ollama
		return fromObject(f)
	}
	if result, ok := m["result"].(map[string]any); ok { // MCP tools/list
		return fromObject(result)
	}
	name, ok := m["name"].(string)
	if !ok {
		if id, isID := m["id"].(string); isID && m["parameters"] != nil {
			name = id
		} else {
			return byName(m)
		}
	}
	t := Tool{Name: name}
	t.ID, _ = m["id"].(string)
	t.Description, _ = m["description"].(string)
	for _, k := range []string{"parameters", "input_schema", "inputSchema", "parametersJsonSchema", "parameters_json_schema"} {
		if schema, ok := m[k].(map[string]any); ok {
			t.Parameters = schema
			break
		}
		if text, ok := m[k].(string); ok { // a schema that was encoded once too often
			dec := json.NewDecoder(strings.NewReader(text))
			dec.UseNumber()
			if err := dec.Decode(&t.Parameters); err != nil {
				return nil, fmt.Errorf("%q: %q is a string that holds no schema: %w", name, k, err)
			}
			break
		}
		if m[k] != nil {
			return nil, fmt.Errorf("%q: %q must be an object", name, k)
		}
	}
	t.Required = words(m["required"])
	t.Defaults, _ = m["defaults"].(map[string]any)
	t.Dependencies = words(m["dependencies"])
	for _, k := range []string{"returns", "outputSchema", "response"} {
		if schema, ok := m[k].(map[string]any); ok {
			t.Returns = schema
			break
		}
	}
	if notes, ok := m["annotations"].(map[string]any); ok && notes["destructiveHint"] == true {
		t.RequireMarker = true
	}
	if b, ok := m["require_marker"].(bool); ok {
		t.RequireMarker = b
	}
	return []Tool{t}, nil
}

// byName reads {"get_weather": {"description": …, "parameters": …}, …}.
func byName(m map[string]any) ([]Tool, error) {
	var tools []Tool
	for _, name := range slices.Sorted(maps.Keys(m)) {
		def, ok := m[name].(map[string]any)
		if !ok || def["parameters"] == nil && def["description"] == nil && def["input_schema"] == nil && def["inputSchema"] == nil {
			return nil, ErrNoDefinition
		}
		named := maps.Clone(def)
		named["name"] = name
		list, err := fromObject(named)
		if err != nil {
			return nil, err
		}
		tools = append(tools, list...)
	}
	if tools == nil {
		return nil, ErrNoDefinition
	}
	return tools, nil
}

func words(v any) []string {
	list, _ := v.([]any)
	var out []string
	for _, e := range list {
		if s, ok := e.(string); ok {
			out = append(out, s)
		}
	}
	return out
}
