package dispatch

import (
	"context"
	"time"

	"github.com/callwright/callwright/parser"
	"github.com/callwright/callwright/registry"
)

// Tool is a tool with what runs it.
type Tool struct {
	registry.Tool
	// Run runs a call. It is required.
	Run Handler
	// Use is middleware around this tool, inside the dispatcher's, the first outermost.
	Use []Middleware
	// Hints say what the tool does to the world. Destructive makes the registry's tool one
	// that requires a marker.
	Hints Hints
	// Foreign says that someone else's server gave the hints. They are claims: one that
	// warns counts, one that reassures does not.
	Foreign bool
	// Priority orders calls that are ready at the same time, the highest first; those of
	// the same priority run in the text's order.
	Priority int
	// Parallel is how many calls of the tool run at a time; 0 sets no limit of its own.
	Parallel int
	// Timeout bounds one attempt of a call; 0 means the dispatcher's, less than 0 none.
	Timeout time.Duration
	// Once says that calls with the same arguments run once, and get the same result. It
	// holds for destructive tools unless they are Repeatable.
	Once bool
	// Repeatable says that the same call twice runs twice, though the tool is destructive.
	Repeatable bool
	// NoReferences says that the arguments are never searched for references to other
	// calls' results: for tools that take code, or templates. A parameter whose schema has
	// "x-references": false is not searched either.
	NoReferences bool
	// NeedsBefore says that a call does not run unless a call of each of the Dependencies
	// ran before it. Without it, dependencies order the calls that there are.
	NeedsBefore bool
	// Resolve fills parameters that the model left out, by name. What the tool's schema
	// takes from the context, "x-context": "selection.0", needs no function.
	Resolve map[string]Resolver
}

// Hints say what a tool does to the world. The names are MCP's.
type Hints struct {
	ReadOnly    bool `json:"read_only,omitempty"`   // it changes nothing
	Destructive bool `json:"destructive,omitempty"` // it may delete or overwrite
	Idempotent  bool `json:"idempotent,omitempty"`  // the same call again changes nothing more
	OpenWorld   bool `json:"open_world,omitempty"`  // it reaches beyond this system
}

// Handler runs a call. What it sets of the Result besides Text, Value and Media does not
// count. An error is the call's result, of which Error says what the model is told.
type Handler func(ctx context.Context, c *Call) (Result, error)

// Middleware wraps a handler. It may change the call, the result and the error, call the
// handler several times, or not at all.
type Middleware func(Handler) Handler

// Resolver returns the value of a parameter that the model left out; nil leaves it out.
// The context is the one of the Run, nil if there is none.
type Resolver func(ctx context.Context, call *Call, c *Context) (any, error)

// Call is a call on its way. Its Parameters are final where a handler or the policy sees
// them: references are resolved, the context and defaults are filled in, and they fit the
// tool's schema.
type Call struct {
	parser.Call
	// Target is the tool that runs it.
	Target *Tool
	// Uses are the results of other calls in its arguments.
	Uses []Reference
	// Within is the id of the call in whose arguments this one stood, "" if it stands in
	// the text for itself. Models know nothing of such a call's id.
	Within string
	// Attempt counts the attempts to run it, from 1.
	Attempt int

	key string
}

// Reference is a use of one call's result in the arguments of another.
type Reference struct {
	From string `json:"from"` // id of the call whose result is used
	To   string `json:"to"`   // id of the call that uses it
	Path string `json:"path"` // into the result, as it was written; "" is all of it
	At   string `json:"at"`   // JSON pointer to the parameter
}

// Key returns the call's idempotency key: a hash of the tool's name and the canonical form
// of the arguments, in which neither the order of members nor the notation of numbers
// counts. Calls with the same key mean the same.
func (c *Call) Key() string {
	if c.key == "" {
		c.key = keyOf(c.Tool, c.Parameters)
	}
	return c.key
}
