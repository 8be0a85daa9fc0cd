package registry

import (
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/callwright/callwright/internal/text"
)

// cleaner rewrites a tool's schema into one that compiles, within bounds.
type cleaner struct {
	counts
	draft4   bool // the schema says that it is of draft 4, in which exclusive limits are booleans
	tuples   bool // and this that it is of a draft in which "items" may be a list
	warnings []string
}

// Drafts of JSON Schema that are known, by what their URLs hold; and those of them in which
// "items" may be a list.
var (
	drafts      = []string{"draft-04/", "draft-06/", "draft-07/", "draft/2019-09/", "draft/2020-12/"}
	tupleDrafts = drafts[:4]
)

func newCleaner(root map[string]any) *cleaner {
	url, _ := root["$schema"].(string)
	return &cleaner{draft4: isDraft(url, drafts[:1]), tuples: isDraft(url, tupleDrafts)}
}

func isDraft(url string, of []string) bool {
	return strings.Contains(url, "json-schema.org/") && slices.ContainsFunc(of, func(d string) bool { return strings.Contains(url, d) })
}

// maxWarnings bounds the warnings about one schema.
const maxWarnings = 32

func (c *cleaner) warn(code, path, format string, args ...any) {
	if len(c.warnings) < maxWarnings {
		if path == "" {
			path = "/"
		}
		c.warnings = append(c.warnings, fmt.Sprintf("%s: %s: %s", code, path, fmt.Sprintf(format, args...)))
	}
}

// Keywords whose value is one schema, a list of schemas, or schemas by name; and those
// whose value is a number, or a count.
var (
	schemaKeywords = []string{
		"additionalItems", "additionalProperties", "contains", "contentSchema", "else", "if", "items", "not", "propertyNames", "then",
		"unevaluatedItems", "unevaluatedProperties",
	}
	listKeywords   = []string{"allOf", "anyOf", "items", "oneOf", "prefixItems"}
	mapKeywords    = []string{"$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"}
	numberKeywords = []string{"exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum", "multipleOf"}
	countKeywords  = []string{
		"maxContains", "maxItems", "maxLength", "maxProperties", "minContains", "minItems", "minLength", "minProperties",
	}
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
		val, err := c.keyword(out, k, val, at)
		if err != nil {
			return nil, err
		}
		if val == dropped {
			continue
		}
		if k == "items" && !c.tuples {
			if _, isList := val.([]any); isList {
				k = "prefixItems" // its name since draft 2020-12
			}
		} else if k == "additionalItems" && !c.tuples {
			if _, isList := s["items"].([]any); !isList {
				continue
			}
			k = "items"
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
			if !slices.Contains(list, any(name)) {
				list = append(list, name)
			}
		}
		out["required"] = list
	}
	if out["nullable"] == true {
		nullable(out)
	}
	if !c.draft4 {
		exclusive(out, "exclusiveMinimum", "minimum")
		exclusive(out, "exclusiveMaximum", "maximum")
	}
	return out, nil
}

// exclusive rewrites {"minimum": 0, "exclusiveMinimum": true}, as OpenAPI 3.0 writes it.
func exclusive(out map[string]any, k, limit string) {
	is, ok := out[k].(bool)
	if !ok {
		return
	}
	delete(out, k)
	if n, ok := out[limit]; ok && is {
		out[k] = n
		delete(out, limit)
	}
}

// nullable lets a schema take null, as OpenAPI's keyword of that name does.
func nullable(out map[string]any) {
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

// dropped is what keyword returns for a keyword that is left out, or that it has written.
var dropped any = new(struct{ _ int })

// keyword returns what the value of a keyword becomes.
func (c *cleaner) keyword(out map[string]any, k string, val any, at string) (any, error) {
	switch k {
	case "$schema":
		if url, _ := val.(string); isDraft(url, drafts) {
			out[k] = val
		} else {
			c.warn("schema_dialect_ignored", at, "it is read as draft 2020-12")
		}
		return dropped, nil
	case "$ref", "$dynamicRef", "$recursiveRef":
		if ref, ok := val.(string); !ok || !strings.HasPrefix(ref, "#") {
			return nil, &pathError{at, ErrSchemaLoads}
		}
	case "$id", "id":
		return dropped, nil // an identifier would change what references mean
	case "type":
		if t, keep := c.types(val, at); keep {
			out[k] = t
		}
		return dropped, nil
	case "required":
		if b, ok := val.(bool); ok {
			c.warn("required_moved", at, "%v in a property was moved to its object", b)
			return dropped, nil
		}
	case "pattern":
		if p, ok := val.(string); ok && !c.pattern(p, at) {
			return dropped, nil
		}
	case "enum":
		return c.enum(val, at), nil
	case "const", "default", "examples":
		if hasHugeNumber(val, 0) {
			c.warn("number_skipped", at, "%q is not taken: a number of it has more than %d digits or too large an exponent", k, text.MaxNumber)
			return dropped, nil
		}
	}
	if slices.Contains(numberKeywords, k) && hugeNumber(val) {
		c.warn("number_skipped", at, "the limit is not checked: it has more than %d digits or too large an exponent", text.MaxNumber)
		return dropped, nil
	}
	if slices.Contains(countKeywords, k) {
		return c.limit(val, at), nil
	}
	return val, nil
}

// enum leaves out values that no parameter can have.
func (c *cleaner) enum(val any, at string) any {
	list, ok := val.([]any)
	if !ok {
		return val
	}
	if slices.ContainsFunc(list, func(v any) bool { return hasHugeNumber(v, 0) }) {
		c.warn("number_skipped", at, "values are not taken: they have more than %d digits or too large an exponent", text.MaxNumber)
		list = slices.DeleteFunc(slices.Clone(list), func(v any) bool { return hasHugeNumber(v, 0) })
	}
	if len(list) == 0 {
		return dropped
	}
	return list
}

// limit returns a count that fits into an int: no value has more.
func (c *cleaner) limit(val any, at string) any {
	if hugeNumber(val) {
		c.warn("number_skipped", at, "the limit is not checked: it has more than %d digits or too large an exponent", text.MaxNumber)
		return dropped
	}
	if n, ok := val.(json.Number); ok {
		if f, err := n.Float64(); err == nil && f > math.MaxInt32 {
			return json.Number(strconv.Itoa(math.MaxInt32))
		}
	}
	if f, ok := val.(float64); ok && f > math.MaxInt32 {
		return json.Number(strconv.Itoa(math.MaxInt32))
	}
	return val
}

// hugeNumber reports whether a value is a number with too many digits to calculate with.
func hugeNumber(v any) bool {
	n, ok := v.(json.Number)
	return ok && text.HugeNumber(string(n))
}

// hasHugeNumber reports whether a value holds such a number.
func hasHugeNumber(v any, depth int) bool {
	if depth > 2*maxSchemaDepth {
		return false // it is too large for a schema
	}
	switch v := v.(type) {
	case json.Number:
		return hugeNumber(v)
	case []any:
		return slices.ContainsFunc(v, func(e any) bool { return hasHugeNumber(e, depth+1) })
	case map[string]any:
		for _, e := range v {
			if hasHugeNumber(e, depth+1) {
				return true
			}
		}
	}
	return false
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
		if list, ok := member.([]any); ok && k == "dependencies" { // names of properties
			if c.bytes += len(name) + size(list, 0); c.bytes > maxSchemaBytes {
				return nil, &pathError{at, ErrSchemaTooLarge}
			}
			sub[name] = list
			continue
		}
		if t, ok := member.(string); ok && k == "properties" { // {"city": "string"}
			member = map[string]any{"type": t}
		}
		if m, ok := member.(map[string]any); ok && k == "properties" && m["required"] == true {
			*required = append(*required, name)
		}
		c.bytes += len(name)
		var err error
		if sub[name], err = c.clean(member, text.Pointer(at, name), depth+1); err != nil {
			return nil, err
		}
	}
	return sub, nil
}

// types maps a type or a list of types; keep is false if any type will do.
func (c *cleaner) types(v any, path string) (t any, keep bool) {
	switch v := v.(type) {
	case string:
		name, known := typeNames[strings.ToLower(v)]
		if !known {
			c.warn("type_ignored", path, "unknown type %q", text.Clip(v, 80))
		} else if name != v {
			c.warn("type_rewritten", path, "%q is read as %q", v, name)
		}
		return name, name != ""
	case []any:
		var list []any
		for _, e := range v {
			if _, ok := e.(string); !ok {
				c.warn("type_ignored", path, "a type must be a word or a list of words")
				return nil, false
			}
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
	n, ok := instructions(p)
	switch {
	case !ok:
		c.warn("pattern_skipped", path, "the pattern is not checked: only RE2 patterns of up to %d bytes are", maxPatternBytes)
	case c.instructions+n > maxToolInstrs:
		c.warn("pattern_skipped", path, "the pattern is not checked: the tool's patterns are too large together")
	default:
		c.instructions += n
		return true
	}
	return false
}

// resolve finds what a JSON pointer within a schema refers to, nil if it does not.
func resolve(root any, ref string) any {
	pointer, err := url.PathUnescape(strings.TrimPrefix(ref, "#"))
	if err != nil || pointer != "" && pointer[0] != '/' {
		return nil
	}
	at := root
	for _, part := range text.Keys(pointer) {
		switch x := at.(type) {
		case map[string]any:
			at = x[part]
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(x) {
				return nil
			}
			at = x[i]
		default:
			return nil
		}
	}
	return at
}
