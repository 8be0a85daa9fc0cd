// Package registry holds the tools that a model may call: their names, their JSON Schemas,
// compiled when a tool is asked for, and their defaults. It finds a tool by its name, or by
// a name that a model wrote for it, such as "functions.getWeather:0" for "get_weather".
package registry

import (
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Tool is a tool that a model may call.
type Tool struct {
	// ID identifies the tool to its owner; empty means the name.
	ID string `json:"id,omitempty"`
	// Name is the name by which a model calls it, of at most [MaxNameBytes].
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	// Parameters is the JSON Schema of the parameters, as decoded JSON, or a map of the
	// parameters' schemas by name. nil means that any parameters are accepted. Of a tool
	// that a registry returns it is the schema with the words of other schema languages
	// rewritten; the map that was given is left as it is.
	Parameters map[string]any `json:"parameters,omitempty"`
	// Required names parameters that must be there, besides those that the
	// schema requires.
	Required []string `json:"required,omitempty"`
	// Defaults are values for parameters that a call leaves out, besides the
	// schema's own defaults, over which they take precedence.
	Defaults map[string]any `json:"defaults,omitempty"`
	// Returns is the JSON Schema of what the tool returns.
	Returns map[string]any `json:"returns,omitempty"`
	// Dependencies names tools that must run before this one.
	Dependencies []string `json:"dependencies,omitempty"`
	// RequireMarker says that only a call which the model marked as one may
	// reach the tool: never JSON that merely looks like a call, and never by a
	// near name. It is set for tools that MCP annotates as destructive.
	RequireMarker bool `json:"require_marker,omitempty"`

	prepared *prepared // of a tool in a registry
}

// Schema is the compiled schema of the parameters; nil if there is none, if it does not
// compile, or if the tool is in no registry. The first call compiles it.
func (t *Tool) Schema() *jsonschema.Schema { return t.compiled().schema }

// Derived returns what build makes of [Tool.Schema], nil if that is nil. It is made once
// and kept beside the schema: for a package that keeps a form of its own of it. All calls
// for a tool must be given the same function.
func (t *Tool) Derived(build func(*jsonschema.Schema) any) any {
	c := t.compiled()
	if c.schema == nil {
		return nil
	}
	c.derive.Do(func() { c.derived = build(c.schema) })
	return c.derived
}

// DerivedParameters returns what build makes of [Tool.Parameters]. It is made once and kept
// with a tool that is in a registry: for a package that keeps a form of its own of them. All
// calls for a tool must be given the same function.
func (t *Tool) DerivedParameters(build func(map[string]any) any) any {
	p := t.prepared
	if p == nil {
		return build(t.Parameters)
	}
	t.ready()
	p.deriving.Do(func() { p.derived = build(t.Parameters) })
	return p.derived
}

// Warnings says what was changed or left out to make the tool's schema usable, as lines
// "code: text", such as "pattern_skipped: …". The first call compiles the schema.
func (t *Tool) Warnings() []string { return t.compiled().warnings }

// Order returns the names of the parameters in the order of positional arguments: that of
// the definition that [Parse] read, or of its "propertyOrdering"; else the required ones
// as listed, then the others sorted.
func (t *Tool) Order() []string {
	if t.prepared == nil {
		return nil
	}
	return t.prepared.order
}

// MaxNameBytes is the maximum length of a name, in bytes.
const MaxNameBytes = 256

// validName reports whether a name can be matched: not empty, not too long, and
// without control and bidirectional formatting characters.
func validName(name string) bool {
	if name == "" || len(name) > MaxNameBytes {
		return false
	}
	return !strings.ContainsFunc(name, func(r rune) bool {
		return r < 0x20 || r >= 0x7F && r <= 0x9F || r >= 0x200E && r <= 0x200F || r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069
	})
}
