// Package registry holds the tools that a model may call: their names and near
// names, their JSON Schemas, compiled once, and their defaults.
package registry

import (
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Tool is what a model may call.
type Tool struct {
	// ID identifies the tool to its owner; empty means the name.
	ID string `json:"id,omitempty"`
	// Name is what a model calls it by.
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	// Parameters is the JSON Schema of the parameters, as decoded JSON. nil
	// means that nothing is known of them.
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

	schema   *jsonschema.Schema
	order    []string
	warnings []string
}

// Schema is the compiled schema of the parameters; nil if there is none or it
// does not compile.
func (t *Tool) Schema() *jsonschema.Schema { return t.schema }

// Warnings says what was changed or left out of the tool's schema to make it
// usable, as "code: text" lines such as "pattern_skipped: …".
func (t *Tool) Warnings() []string { return t.warnings }

// Order is the names of the parameters in the order in which positional
// arguments are bound: as the definition wrote them, or as its
// "propertyOrdering" says; else the required ones as listed, then the others by
// name.
func (t *Tool) Order() []string { return t.order }

// MaxNameBytes is how long a name may be to be matched.
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
