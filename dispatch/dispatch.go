package dispatch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/callwright/callwright/registry"
	"github.com/callwright/callwright/validator"
)

// Defaults of a [Dispatcher].
const (
	DefaultParallel = 8
	DefaultTimeout  = time.Minute
)

// ErrInUse says that a dispatcher was given a tool or a middleware after its first use.
var ErrInUse = errors.New("the dispatcher is in use: add tools and middleware before Registry, Plan and Run")

// Dispatcher runs the calls of tools. The zero value is ready to use. Its fields and its
// tools may be set until its first use; from then on it is safe for concurrent use.
type Dispatcher struct {
	// Policy says which calls run. The zero value asks before calls that are destructive,
	// inferred, doubtfully repaired, or of low confidence.
	Policy Policy
	// Parallel is how many calls run at a time: 0 means [DefaultParallel], 1 runs them one
	// by one, in the text's order as far as their dependencies allow.
	Parallel int
	// Timeout bounds one attempt of a call whose tool has no timeout of its own; 0 means
	// [DefaultTimeout], less than 0 none.
	Timeout time.Duration
	// Validation says how arguments may be changed to fit where they are checked again: when
	// they hold other calls' results or values of the context. Give it the parser's.
	Validation validator.Options
	// Output says how much of a result a model is shown.
	Output Output
	// Memory remembers results by key, so that a repeated call runs once; nil remembers
	// within one Run.
	Memory Memory
	// Log is told of panics, with their stacks, and of handlers that do not end; nil tells
	// nobody.
	Log *slog.Logger

	mu    sync.Mutex
	tools []*Tool
	use   []Middleware
	ready *table
}

// table is what the first use of a dispatcher makes of its tools. It does not change.
type table struct {
	registry *registry.Registry
	tools    map[string]*bound
}

// bound is a tool that is ready to run.
type bound struct {
	*Tool
	entry        *registry.Tool // with its compiled schema
	handler      Handler        // in its middleware
	timeout      time.Duration
	destructive  bool
	once         bool
	fromContext  map[string]string // paths into the context, by parameter
	noReferences map[string]bool   // parameters that are never searched for references
}

// Add adds tools. The error joins one for each tool with a problem: one without a name or
// a handler, or of a name that is taken, is not added; one whose schema does not compile,
// a [*registry.SchemaError], is added without its schema.
func (d *Dispatcher) Add(tools ...Tool) error {
	var errs []error
	for i := range tools {
		t := tools[i]
		r, err := registry.New(t.Tool)
		err = errors.Join(err, r.Check(context.Background()))
		var schema *registry.SchemaError
		if err != nil {
			errs = append(errs, err)
			if !errors.As(err, &schema) {
				continue
			}
		}
		if err := d.add(&t); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (d *Dispatcher) add(t *Tool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.ready != nil:
		return fmt.Errorf("tool %q: %w", t.Name, ErrInUse)
	case t.Run == nil:
		return fmt.Errorf("tool %q has no handler: set Run", t.Name)
	case slices.ContainsFunc(d.tools, func(o *Tool) bool { return o.Name == t.Name }):
		return fmt.Errorf("tool %q: there is one of this name already", t.Name)
	}
	d.tools = append(d.tools, t)
	return nil
}

// Use puts middleware around every handler, the first outermost. Middleware of a tool
// stands inside of it. Like [Handle], it panics once the dispatcher is in use.
func (d *Dispatcher) Use(m ...Middleware) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ready != nil {
		panic(ErrInUse)
	}
	d.use = append(d.use, m...)
}

// Registry returns the tools for [github.com/callwright/callwright/parser.New]. It is the
// dispatcher's first use. Of a tool whose schema does not compile, the warnings say so.
func (d *Dispatcher) Registry() *registry.Registry { return d.table().registry }

// Tools returns the tools in the order in which they were added. It is the dispatcher's
// first use.
func (d *Dispatcher) Tools() []*Tool {
	d.table()
	return slices.Clone(d.tools)
}

// table makes the tools ready, once.
func (d *Dispatcher) table() *table {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ready != nil {
		return d.ready
	}
	list := make([]registry.Tool, len(d.tools))
	for i, t := range d.tools {
		list[i] = t.Tool
		list[i].RequireMarker = t.RequireMarker || t.Hints.Destructive
	}
	r, err := registry.New(list...)
	if err = errors.Join(err, r.Check(context.Background())); err != nil {
		d.log().Warn("tools with problems", "cause", err.Error())
	}
	d.ready = &table{registry: r, tools: make(map[string]*bound, len(d.tools))}
	for _, t := range d.tools {
		if entry := r.Get(t.Name); entry != nil {
			d.ready.tools[t.Name] = d.bind(t, entry)
		}
	}
	return d.ready
}

// bind makes one tool ready.
func (d *Dispatcher) bind(t *Tool, entry *registry.Tool) *bound {
	b := &bound{
		Tool: t, entry: entry, destructive: entry.RequireMarker, timeout: t.Timeout,
		fromContext: map[string]string{}, noReferences: map[string]bool{},
	}
	b.once = t.Once || b.destructive && !t.Repeatable
	if b.timeout == 0 {
		b.timeout = d.Timeout
	}
	if b.timeout == 0 {
		b.timeout = DefaultTimeout
	}
	for name, p := range properties(entry) {
		if path, ok := p["x-context"].(string); ok {
			b.fromContext[name] = path
		}
		if p["x-references"] == false || p["x-references"] == "false" {
			b.noReferences[name] = true
		}
	}
	b.handler = Recover(Timeout(b.timeout)(Recover(t.Run)))
	for _, m := range slices.Backward(slices.Concat(d.use, t.Use)) {
		b.handler = m(b.handler)
	}
	b.handler = Recover(b.handler)
	return b
}

// properties are the schemas of a tool's parameters.
func properties(t *registry.Tool) map[string]map[string]any {
	all, _ := t.Parameters["properties"].(map[string]any)
	out := make(map[string]map[string]any, len(all))
	for name, p := range all {
		if m, ok := p.(map[string]any); ok {
			out[name] = m
		}
	}
	return out
}

func (d *Dispatcher) log() *slog.Logger {
	if d.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return d.Log
}

// lookup returns a tool by its name, nil if there is none.
func (t *table) lookup(name string) *bound { return t.tools[name] }
