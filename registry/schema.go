package registry

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/callwright/callwright/internal/text"
)

// Limits of a tool's schema, which may be hostile.
const (
	maxSchemaNodes   = 20_000
	maxSchemaDepth   = 64
	maxSchemaVisits  = 100_000
	maxSchemaBytes   = 256 << 10
	maxPatternBytes  = 1 << 10
	maxPatternInstrs = 10_000
)

// SchemaError says what is wrong with a tool's schema. The tool is usable without it,
// unless the registry is strict.
type SchemaError struct {
	Tool string
	Path string // JSON pointer into the schema
	Err  error
}

func (e *SchemaError) Error() string {
	at := e.Path
	if at == "" {
		at = "/"
	}
	return fmt.Sprintf("tool %q: schema at %s: %v", e.Tool, at, e.Err)
}

// Unwrap returns the cause.
func (e *SchemaError) Unwrap() error { return e.Err }

// Causes of a [SchemaError]. Others are those of the schema's compiler.
var (
	ErrSchemaTooLarge = errors.New("schema is too large or expands too far")
	ErrSchemaLoads    = errors.New("schema refers outside itself, which is not allowed")
)

// cleaner rewrites a tool's schema into one that compiles, within bounds.
type cleaner struct {
	nodes    int
	bytes    int
	warnings []string
}

func (c *cleaner) warn(code, path, format string, args ...any) {
	if len(c.warnings) < 32 {
		c.warnings = append(c.warnings, fmt.Sprintf("%s: %s: %s", code, path, fmt.Sprintf(format, args...)))
	}
}

type pathError struct {
	path string
	err  error
}

func (e *pathError) Error() string { return e.path + ": " + e.err.Error() }
func (e *pathError) Unwrap() error { return e.err }

// Keywords whose value is one schema, a list of schemas, or schemas by name.
var (
	schemaKeywords = []string{
		"additionalItems", "additionalProperties", "contains", "contentSchema", "else", "if", "items", "not", "propertyNames", "then",
		"unevaluatedItems", "unevaluatedProperties",
	}
	listKeywords = []string{"allOf", "anyOf", "items", "oneOf", "prefixItems"}
	mapKeywords  = []string{"$defs", "definitions", "dependentSchemas", "patternProperties", "properties"}
)

// typeNames maps common names of types to those of JSON Schema; "" is any type.
var typeNames = map[string]string{
	"any": "", "arr": "array", "bool": "boolean", "dict": "object", "double": "number", "float": "number", "int": "integer", "list": "array",
	"long": "integer", "map": "object", "mixed": "", "none": "null", "str": "string", "text": "string", "tuple": "array", "object": "object",
	"string": "string", "number": "number", "integer": "integer", "boolean": "boolean", "array": "array", "null": "null",
}

// clean returns a copy of a schema in which the words of other schema languages
// are JSON Schema's.
func (c *cleaner) clean(v any, path string, depth int) (any, error) {
	s, ok := v.(map[string]any)
	if !ok {
		if b, ok := v.(bool); ok {
			return b, nil
		}
		return nil, &pathError{path, fmt.Errorf("a schema must be an object, not %T", v)}
	}
	if c.nodes++; c.nodes > maxSchemaNodes || depth > maxSchemaDepth {
		return nil, &pathError{path, ErrSchemaTooLarge}
	}
	out := make(map[string]any, len(s))
	var required []string // properties that say so themselves
	for _, k := range text.SortedKeys(s) {
		val, at := s[k], text.Pointer(path, k)
		done, err := c.keyword(out, k, val, at)
		if err != nil {
			return nil, err
		}
		if done {
			continue
		}
		switch list, isList := val.([]any); {
		case isList && slices.Contains(listKeywords, k):
			sub := make([]any, len(list))
			for i := range list {
				if sub[i], err = c.clean(list[i], fmt.Sprintf("%s/%d", at, i), depth+1); err != nil {
					return nil, err
				}
			}
			out[k] = sub
		case slices.Contains(schemaKeywords, k):
			if out[k], err = c.clean(val, at, depth+1); err != nil {
				return nil, err
			}
		case slices.Contains(mapKeywords, k):
			if out[k], err = c.members(k, val, at, depth, &required); err != nil {
				return nil, err
			}
		default:
			if c.bytes += len(k) + size(val, 0); c.bytes > maxSchemaBytes {
				return nil, &pathError{at, ErrSchemaTooLarge}
			}
			out[k] = val
		}
	}
	if len(required) > 0 {
		list, _ := out["required"].([]any)
		list = slices.Clone(list)
		for _, name := range required {
			list = append(list, name)
		}
		out["required"] = list
	}
	if out["nullable"] == true {
		switch t := out["type"].(type) {
		case string:
			out["type"] = []any{t, "null"}
		case []any:
			if !slices.Contains(t, any("null")) {
				out["type"] = append(slices.Clone(t), "null")
			}
		}
		if enum, ok := out["enum"].([]any); ok && !slices.Contains(enum, nil) {
			out["enum"] = append(slices.Clone(enum), nil)
		}
	}
	return out, nil
}

// keyword handles a keyword that is not copied as it is, and reports whether it is done
// with it.
func (c *cleaner) keyword(out map[string]any, k string, val any, at string) (done bool, err error) {
	switch k {
	case "$schema":
		if url, _ := val.(string); strings.Contains(url, "json-schema.org/") {
			out[k] = val
		}
		return true, nil
	case "$ref", "$dynamicRef", "$recursiveRef":
		if ref, ok := val.(string); !ok || !strings.HasPrefix(ref, "#") {
			return false, &pathError{at, ErrSchemaLoads}
		}
	case "$id", "id":
		return true, nil // an identifier would change what references mean
	case "type":
		if t, keep := c.types(val, at); keep {
			out[k] = t
		}
		return true, nil
	case "required":
		if b, ok := val.(bool); ok {
			c.warn("required_moved", at, "%v in a property was moved to its object", b)
			return true, nil
		}
	case "pattern":
		p, ok := val.(string)
		return ok && !c.pattern(p, at), nil
	case "enum":
		list, ok := val.([]any)
		return ok && len(list) == 0, nil
	}
	return false, nil
}

// members cleans schemas by name, and adds to required the properties that are marked so.
func (c *cleaner) members(k string, val any, at string, depth int, required *[]string) (map[string]any, error) {
	members, ok := val.(map[string]any)
	if !ok {
		return nil, &pathError{at, fmt.Errorf("must be an object, not %T", val)}
	}
	sub := make(map[string]any, len(members))
	for _, name := range text.SortedKeys(members) {
		if k == "patternProperties" && !c.pattern(name, at) {
			continue
		}
		member := members[name]
		if t, ok := member.(string); ok && k == "properties" { // {"city": "string"}
			member = map[string]any{"type": t}
		}
		if m, ok := member.(map[string]any); ok && k == "properties" && m["required"] == true {
			*required = append(*required, name)
		}
		var err error
		if sub[name], err = c.clean(member, at+"/"+name, depth+1); err != nil {
			return nil, err
		}
	}
	return sub, nil
}

// size is about how many bytes a JSON value takes.
func size(v any, depth int) int {
	if depth > maxSchemaDepth {
		return maxSchemaBytes + 1
	}
	n := 4
	switch v := v.(type) {
	case string:
		n += len(v)
	case json.Number:
		n += len(v)
	case []any:
		for _, e := range v {
			n += size(e, depth+1)
		}
	case map[string]any:
		for k, e := range v {
			n += len(k) + size(e, depth+1)
		}
	}
	return n
}

// types maps a type or a list of types; keep is false if any type will do.
func (c *cleaner) types(v any, path string) (t any, keep bool) {
	switch v := v.(type) {
	case string:
		name, known := typeNames[strings.ToLower(v)]
		if !known {
			c.warn("type_ignored", path, "unknown type %q", v)
		} else if name != v {
			c.warn("type_rewritten", path, "%q is read as %q", v, name)
		}
		return name, name != ""
	case []any:
		var list []any
		for _, e := range v {
			name, keep := c.types(e, path)
			if !keep {
				return nil, false
			}
			if !slices.Contains(list, name) {
				list = append(list, name)
			}
		}
		return list, len(list) > 0
	}
	c.warn("type_ignored", path, "a type must be a word or a list of words")
	return nil, false
}

// pattern reports whether a pattern can be checked, in linear time and bounded space.
func (c *cleaner) pattern(p, path string) bool {
	if len(p) <= maxPatternBytes {
		if re, err := syntax.Parse(p, syntax.Perl); err == nil {
			if prog, err := syntax.Compile(re.Simplify()); err == nil && len(prog.Inst) <= maxPatternInstrs {
				return true
			}
		}
	}
	c.warn("pattern_skipped", path, "the pattern is not checked: only RE2 patterns of up to %d bytes are", maxPatternBytes)
	return false
}

// visits counts how many schemas are applied to one value in the worst case, through
// references, since a small schema may expand exponentially.
type visits struct {
	root map[string]any
	seen map[string]int // by address of the schema; -1 while it is being counted
}

func (v *visits) count(s any, key string, depth int) int {
	m, ok := s.(map[string]any)
	if !ok {
		return 1
	}
	if n, ok := v.seen[key]; ok {
		return max(n, 0)
	}
	if depth > 16*maxSchemaDepth {
		return maxSchemaVisits + 1
	}
	v.seen[key] = -1
	total := 1
	add := func(s any, key string) {
		if total <= maxSchemaVisits {
			total += v.count(s, key, depth+1)
		}
	}
	for _, k := range schemaKeywords {
		if sub, ok := m[k]; ok {
			add(sub, key+"/"+k)
		}
	}
	for _, k := range listKeywords {
		if list, ok := m[k].([]any); ok {
			for i, sub := range list {
				add(sub, fmt.Sprintf("%s/%s/%d", key, k, i))
			}
		}
	}
	for _, k := range []string{"dependentSchemas", "patternProperties", "properties"} {
		if members, ok := m[k].(map[string]any); ok {
			for name, sub := range members {
				add(sub, key+"/"+k+"/"+name)
			}
		}
	}
	if ref, ok := m["$ref"].(string); ok {
		if target, ok := v.resolve(ref); ok {
			add(target, strings.TrimSuffix(ref, "/"))
		}
	}
	v.seen[key] = min(total, maxSchemaVisits+1)
	return v.seen[key]
}

// resolve finds what a JSON pointer within the schema refers to.
func (v *visits) resolve(ref string) (any, bool) {
	var at any = v.root
	for _, part := range strings.Split(strings.TrimPrefix(ref, "#"), "/")[1:] {
		part = strings.NewReplacer("~1", "/", "~0", "~", "%25", "%").Replace(part)
		switch x := at.(type) {
		case map[string]any:
			at = x[part]
		case []any:
			i := -1
			if _, err := fmt.Sscanf(part, "%d", &i); err != nil || i < 0 || i >= len(x) {
				return nil, false
			}
			at = x[i]
		default:
			return nil, false
		}
	}
	return at, at != nil
}

// noLoader loads no schemas.
type noLoader struct{}

func (noLoader) Load(string) (any, error) { return nil, ErrSchemaLoads }

// compile cleans, bounds and compiles a schema.
func compile(schema map[string]any) (compiled *jsonschema.Schema, cleaned map[string]any, warnings []string, err error) {
	c := &cleaner{}
	v, err := c.clean(schema, "", 0)
	if err != nil {
		return nil, nil, c.warnings, err
	}
	cleaned = v.(map[string]any)
	count := &visits{root: cleaned, seen: map[string]int{}}
	if count.count(cleaned, "#", 0) > maxSchemaVisits {
		return nil, cleaned, c.warnings, ErrSchemaTooLarge
	}
	defer func() {
		if p := recover(); p != nil {
			compiled, err = nil, fmt.Errorf("the schema cannot be compiled: %v", p)
		}
	}()
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(noLoader{})
	compiler.UseRegexpEngine(func(p string) (jsonschema.Regexp, error) { return regexp.Compile(p) })
	compiler.AssertFormat()
	if err := compiler.AddResource("tool:///schema.json", cleaned); err != nil {
		return nil, cleaned, c.warnings, err
	}
	compiled, err = compiler.Compile("tool:///schema.json")
	if err != nil {
		return nil, cleaned, c.warnings, schemaCause(err)
	}
	return compiled, cleaned, c.warnings, nil
}

// schemaCause finds the place in the schema that a compiler's error speaks of.
func schemaCause(err error) error {
	var invalid *jsonschema.SchemaValidationError
	if errors.As(err, &invalid) {
		var verr *jsonschema.ValidationError
		if errors.As(invalid.Err, &verr) {
			for len(verr.Causes) > 0 {
				verr = verr.Causes[0]
			}
			return &pathError{"/" + strings.Join(verr.InstanceLocation, "/"), errors.New(verr.Error())}
		}
	}
	return err
}
