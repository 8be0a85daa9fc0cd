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

	"github.com/go-json-experiment/json/jsontext"
)

// ErrNoDefinition says that a JSON value has none of the known shapes of a tool
// definition.
var ErrNoDefinition = errors.New("not a tool definition of OpenAI, Anthropic, Ollama, Gemini or MCP")

// Parse reads tool definitions in the formats of OpenAI, Anthropic, Ollama, Gemini and
// MCP: one, a list, or an object with a list under "tools" or "functions". The format is
// detected for each definition; keys are case-sensitive. The error is [ErrNoDefinition],
// or says where the JSON is invalid.
//
// Each format may carry what the specification adds, beside the name or around it:
// "dependencies", "required", "defaults", "require_marker".
func Parse(data []byte) ([]Tool, error) {
	data = bytes.TrimPrefix(data, []byte(byteOrderMark))
	d := definitionReader{
		dec:   jsontext.NewDecoder(bytes.NewBuffer(data), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)),
		names: make(map[string]string, 64),
	}
	v, _, err := d.value(0, false)
	if err != nil {
		return nil, fmt.Errorf("tool definitions are not JSON: %w", err)
	}
	if _, err := d.dec.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errors.New("tool definitions: text behind the JSON")
	}
	return FromJSON(v)
}

// byteOrderMark is what some editors put before a text.
const byteOrderMark = "\ufeff"

// orderKey is where a schema lists its properties in the order in which they
// were written: Gemini's own keyword for it.
const orderKey = "propertyOrdering"

// Bounds of definitions: how deep they nest, and how many names of members are kept once.
const (
	maxDefinitionDepth = 256
	maxSharedNames     = 4096
)

// definitionReader decodes JSON as encoding/json does, with [json.Number]. Beside each
// object under the key "properties" it notes the order of its keys, which a map does not
// keep and positional arguments need.
type definitionReader struct {
	dec   *jsontext.Decoder
	names map[string]string // that were read, each in memory once
}

// value decodes the next value and, if ordered, the order of its keys.
func (d *definitionReader) value(depth int, ordered bool) (v any, keys []any, err error) {
	token, err := d.dec.ReadToken()
	if err != nil {
		return nil, nil, err
	}
	if depth > maxDefinitionDepth {
		return nil, nil, fmt.Errorf("nested more than %d deep", maxDefinitionDepth)
	}
	switch token.Kind() {
	case '{':
		m := map[string]any{}
		for d.dec.PeekKind() != '}' {
			name, err := d.name()
			if err != nil {
				return nil, nil, err
			}
			member, inner, err := d.value(depth+1, name == "properties")
			if err != nil {
				return nil, nil, err
			}
			m[name] = member
			if ordered {
				keys = append(keys, name)
			}
			if inner != nil && m[orderKey] == nil {
				m[orderKey] = inner
			}
		}
		_, err := d.dec.ReadToken()
		return m, keys, err
	case '[':
		list := []any{}
		for d.dec.PeekKind() != ']' {
			e, _, err := d.value(depth+1, false)
			if err != nil {
				return nil, nil, err
			}
			list = append(list, e)
		}
		_, err := d.dec.ReadToken()
		return list, nil, err
	case 't', 'f':
		return token.Bool(), nil, nil
	case '"':
		return token.String(), nil, nil
	case '0':
		return json.Number(token.String()), nil, nil
	}
	return nil, nil, nil
}

// name decodes the name of a member.
func (d *definitionReader) name() (string, error) {
	raw, err := d.dec.ReadValue()
	if err != nil {
		return "", err
	}
	if name, ok := d.names[string(raw)]; ok {
		return name, nil
	}
	name, err := jsontext.AppendUnquote(nil, raw)
	if err != nil && len(name) == 0 {
		return "", err
	}
	if len(d.names) < maxSharedNames {
		d.names[string(raw)] = string(name)
	}
	return string(name), nil
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
		return fromObject(withOuter(f, m))
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
	if t.Dependencies = words(m["dependencies"]); t.Dependencies == nil {
		meta, _ := m["_meta"].(map[string]any) // where MCP has what is not its own
		t.Dependencies = words(meta["dependencies"])
	}
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

// withOuter adds to a definition what the object around it says of the tool.
func withOuter(inner, outer map[string]any) map[string]any {
	var all map[string]any
	for _, k := range []string{"id", "required", "defaults", "dependencies", "annotations", "require_marker"} {
		if v, ok := outer[k]; ok && inner[k] == nil {
			if all == nil {
				all = maps.Clone(inner)
			}
			all[k] = v
		}
	}
	if all == nil {
		return inner
	}
	return all
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
