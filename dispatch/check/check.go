// Package check warns of what models and model servers trip over in the definitions of
// tools: names that a server refuses, missing descriptions, schemas that a server's grammar
// cannot express.
package check

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/callwright/callwright/internal/text"
	"github.com/callwright/callwright/registry"
)

// Finding is something that is wrong, or may be, with a tool.
type Finding struct {
	Tool string `json:"tool"`
	// Path is a JSON pointer into the tool's schema.
	Path    string `json:"path"`
	Code    Code   `json:"code"`
	Message string `json:"message"`
}

// String returns a finding as one line.
func (f Finding) String() string {
	where := f.Tool
	if f.Path != "" {
		where += " " + f.Path
	}
	return fmt.Sprintf("%s: %s: %s", where, f.Code, f.Message)
}

// Code says what kind of finding it is. Codes are part of the JSON contract.
type Code string

// The codes of findings.
const (
	Name          Code = "name"           // model servers refuse the name
	SimilarName   Code = "similar_name"   // two names differ in case and separators only
	Schema        Code = "schema"         // the schema does not compile
	NoDescription Code = "no_description" // a tool without a description
	LongText      Code = "long_text"      // a description of more than 1 KB
	FreeForm      Code = "free_form"      // an object that does not say what is in it
	LargeEnum     Code = "large_enum"     // an enum of more than 100 values
	Nesting       Code = "nesting"        // more than 5 levels
	Recursion     Code = "recursion"      // the schema refers to itself
	RootVariants  Code = "root_variants"  // the parameters as a whole are one of several schemas
	Pattern       Code = "pattern"        // a pattern that not all regular expressions know
	Keyword       Code = "keyword"        // a server's grammar does not know the keyword
	Default       Code = "default"        // a default that does not fit its schema
	ContextPath   Code = "context_path"   // x-context leads nowhere
)

// Limits from which on there are findings.
const (
	maxDescription = 1024
	maxEnum        = 100
	maxNesting     = 5
	maxFindings    = 1000 // of one tool
	maxDepth       = 64   // of a schema that is looked at
)

var goodName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// grammars are the keywords that constrained decoding does not know, by who does not.
// Sources: OpenAI's guide to structured outputs ("Some type-specific keywords are not yet
// supported"), llama.cpp's grammars/README.md ("JSON Schemas → GBNF", unsupported features).
var grammars = map[string]string{
	"allOf": "OpenAI's strict mode", "not": "OpenAI's strict mode and llama.cpp", "if": "OpenAI's strict mode and llama.cpp",
	"dependentRequired": "OpenAI's strict mode", "dependentSchemas": "OpenAI's strict mode and llama.cpp",
	"uniqueItems": "llama.cpp", "contains": "llama.cpp", "$anchor": "llama.cpp", "patternProperties": "OpenAI's strict mode and llama.cpp",
}

// rootVariants are keywords that Anthropic and OpenAI refuse at the root of a tool's
// parameters.
var rootVariants = []string{"oneOf", "anyOf", "allOf"}

// contextRoots begin the paths that a dispatch.Context has. Any other path is one of its
// named values.
var contextRoots = map[string]string{
	"selection": "an index, such as selection.0", "history": "an index, such as history.-1.text",
	"last_call":    "a member, such as last_call.id",
	"capabilities": "a member, such as capabilities.supports_vision",
}

// Tools returns what is wrong with tools, in their order.
func Tools(tools ...registry.Tool) []Finding {
	var out []Finding
	folded := map[string]string{}
	for i := range tools {
		t := &tools[i]
		c := checker{tool: t}
		if !goodName.MatchString(t.Name) {
			c.add("", Name, "model servers take 1 to 64 letters, digits, _ and -")
		}
		key := strings.ToLower(strings.NewReplacer("_", "", "-", "", ".", "", " ", "").Replace(t.Name))
		if other, there := folded[key]; there {
			c.add("", SimilarName, fmt.Sprintf("it differs from %q in case and separators only, or not at all: models confuse them", other))
		} else {
			folded[key] = t.Name
		}
		if t.Description == "" {
			c.add("", NoDescription, "say what the tool does, and when to call it")
		}
		c.long("", t.Description)
		c.compiles()
		c.root()
		out = append(out, c.findings...)
	}
	return out
}

// checker looks at one tool.
type checker struct {
	tool     *registry.Tool
	findings []Finding
}

func (c *checker) add(path string, code Code, message string) {
	if len(c.findings) < maxFindings {
		c.findings = append(c.findings, Finding{c.tool.Name, path, code, message})
	}
}

func (c *checker) long(path, description string) {
	if len(description) > maxDescription {
		c.add(path, LongText, fmt.Sprintf("%d bytes, which every request sends: %d are enough", len(description), maxDescription))
	}
}

// compiles compiles the schema.
func (c *checker) compiles() {
	alone := *c.tool
	if alone.Name == "" {
		alone.Name = "tool"
	}
	r, err := registry.New(alone)
	err = errors.Join(err, r.Check(context.Background()))
	var bad *registry.SchemaError
	switch {
	case errors.As(err, &bad):
		c.add(bad.Path, Schema, bad.Err.Error())
	case err != nil:
		c.add("", Name, err.Error())
	}
	if t := r.Get(alone.Name); t != nil && bad == nil {
		for _, w := range t.Warnings() {
			c.add("", Schema, w)
		}
	}
}

// root looks at the parameters as a whole.
func (c *checker) root() {
	p := c.tool.Parameters
	if p == nil {
		return
	}
	for _, k := range rootVariants {
		if p[k] != nil {
			c.add("", RootVariants, fmt.Sprintf("Anthropic and OpenAI refuse %q at the root: put the variants into a parameter", k))
		}
	}
	if kind, ok := p["type"].(string); ok && kind != "object" {
		c.add("", Schema, "the parameters must be an object, not "+kind)
	}
	c.schema(p, "", 0)
}

// schema looks at a schema and what is in it.
func (c *checker) schema(s map[string]any, path string, depth int) {
	if depth > maxDepth {
		return
	}
	if depth == maxNesting+1 {
		c.add(path, Nesting, fmt.Sprintf("nested more than %d deep: models lose count", maxNesting))
	}
	for _, k := range text.SortedKeys(s) {
		if who := grammars[k]; who != "" && (path != "" || k != "allOf") {
			c.add(path, Keyword, fmt.Sprintf("%q is not known to the grammars of %s", k, who))
		}
	}
	c.value(s, path)
	c.context(s, path)
	if d, ok := s["description"].(string); ok {
		c.long(path, d)
	}
	if ref, ok := s["$ref"].(string); ok && c.recursive(ref, map[string]bool{}) {
		c.add(path, Recursion, ref+" refers to itself: grammars cannot express it, or cut it off")
	}
	for _, k := range []string{"properties", "$defs", "definitions"} {
		inner, _ := s[k].(map[string]any)
		for _, name := range text.SortedKeys(inner) {
			if p, ok := inner[name].(map[string]any); ok {
				c.schema(p, text.Pointer(path+"/"+k, name), depth+1)
			}
		}
	}
	for _, k := range []string{"items", "additionalProperties"} {
		if p, ok := s[k].(map[string]any); ok {
			c.schema(p, path+"/"+k, depth+1)
		}
	}
	for _, k := range []string{"oneOf", "anyOf", "allOf"} {
		list, _ := s[k].([]any)
		for i, e := range list {
			if p, ok := e.(map[string]any); ok {
				c.schema(p, path+"/"+k+"/"+strconv.Itoa(i), depth+1)
			}
		}
	}
}

// value looks at what a schema says of its own values.
func (c *checker) value(s map[string]any, path string) {
	if list, ok := s["enum"].([]any); ok && len(list) > maxEnum {
		c.add(path, LargeEnum, fmt.Sprintf("%d values, which every request sends: take a string, or a tool that searches", len(list)))
	}
	describes := false
	for _, k := range []string{"properties", "additionalProperties", "patternProperties", "$ref", "oneOf", "anyOf", "allOf", "enum", "const"} {
		describes = describes || s[k] != nil
	}
	if s["type"] == "object" && path != "" && !describes {
		c.add(path, FreeForm, "an object that does not say what is in it: name its properties")
	}
	if s["type"] == "array" && s["items"] == nil && s["prefixItems"] == nil {
		c.add(path, FreeForm, "a list that does not say what is in it: Gemini and OpenAI refuse it without items")
	}
	if p, ok := s["pattern"].(string); ok {
		if _, err := regexp.Compile(p); err != nil {
			c.add(path, Pattern, "not a regular expression that all servers know, such as one with look-ahead: "+p)
		}
	}
	if d, there := s["default"]; there && path != "" {
		only := map[string]any{}
		for k, v := range s {
			if k != "default" {
				only[k] = v
			}
		}
		for _, k := range []string{"$defs", "definitions"} {
			if v := c.tool.Parameters[k]; v != nil {
				only[k] = v
			}
		}
		if message := misfit(only, d); message != "" {
			c.add(path, Default, message)
		}
	}
}

// misfit says why a value does not fit a schema, "" if it does.
func misfit(schema map[string]any, value any) string {
	whole := map[string]any{"type": "object", "properties": map[string]any{"v": schema}}
	for _, k := range []string{"$defs", "definitions"} {
		if schema[k] != nil {
			whole[k] = schema[k]
		}
	}
	r, err := registry.New(registry.Tool{Name: "t", Parameters: whole})
	if err != nil || r.Get("t").Schema() == nil {
		return "" // that is another finding
	}
	if err := r.Get("t").Schema().Validate(map[string]any{"v": value}); err != nil {
		shown, _ := json.Marshal(value)
		return fmt.Sprintf("the default %s does not fit the schema", shown)
	}
	return ""
}

// context looks at where a parameter is filled in from.
func (c *checker) context(s map[string]any, path string) {
	x, there := s["x-context"]
	if !there {
		return
	}
	from, _ := x.(string)
	first, rest, _ := strings.Cut(from, ".")
	if first == "" {
		c.add(path, ContextPath, "x-context must be a path, such as \"selection.0\"")
	} else if wants := contextRoots[first]; wants != "" && rest == "" && first != "selection" {
		c.add(path, ContextPath, fmt.Sprintf("x-context %q needs %s", from, wants))
	}
}

// recursive reports whether a definition refers to itself, through others too.
func (c *checker) recursive(ref string, seen map[string]bool) bool {
	if seen[ref] {
		return true
	}
	path, ok := strings.CutPrefix(ref, "#")
	if !ok || len(seen) > maxDepth {
		return false
	}
	var at any = c.tool.Parameters
	for _, k := range text.Keys(path) {
		m, _ := at.(map[string]any)
		at = m[k]
	}
	seen[ref] = true
	defer delete(seen, ref)
	return c.refers(at, seen, 0)
}

// refers reports whether a schema refers to one that is seen.
func (c *checker) refers(v any, seen map[string]bool, depth int) bool {
	if depth > maxDepth {
		return false
	}
	switch x := v.(type) {
	case map[string]any:
		if ref, ok := x["$ref"].(string); ok && c.recursive(ref, seen) {
			return true
		}
		for _, e := range x {
			if c.refers(e, seen, depth+1) {
				return true
			}
		}
	case []any:
		for _, e := range x {
			if c.refers(e, seen, depth+1) {
				return true
			}
		}
	}
	return false
}
