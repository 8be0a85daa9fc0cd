package registry

import (
	"errors"
	"maps"
	"slices"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/callwright/callwright/internal/text"
)

// NOTE: a tool goes through three states. Add keeps its definition. Whoever is handed the
// tool finds it cleaned: Parameters is rewritten, its order is known (ready). Its schema
// is compiled when it is asked for (compiled), and is dropped again when the registry
// holds too many. A new accessor of [Registry] that hands out a tool must call ready.

// prepared is what a registry makes of a tool's definition.
type prepared struct {
	registry   *Registry
	definition Tool // as it was given
	bytes      int  // of its schema, about

	cleaning sync.Once
	order    []string
	required []string
	warnings []string
	invalid  error // why the schema cannot be used
	counts   counts

	deriving sync.Once
	derived  any

	compiling sync.Mutex
	compiled  atomic.Pointer[compiledSchema]
}

// compiledSchema is a tool's schema in the form in which values are checked.
type compiledSchema struct {
	schema   *jsonschema.Schema
	warnings []string
	err      error
	bytes    int // that it takes, about

	derive  sync.Once
	derived any
}

// none is that of a tool without a schema.
var none = &compiledSchema{}

// ready cleans a tool's schema, once, and returns the tool.
func (t *Tool) ready() *Tool {
	p := t.prepared
	p.cleaning.Do(func() {
		p.order = slices.Clone(t.Required)
		p.required = t.Required
		if t.Parameters == nil {
			if len(t.Required) == 0 && len(t.Defaults) == 0 {
				return
			}
			t.Parameters = map[string]any{"type": "object"}
		}
		source := propertyMap(t.Parameters)
		if len(t.Required) > 0 || len(t.Defaults) > 0 {
			source = withToolFields(source, t.Required, t.Defaults)
		}
		c := newCleaner(source)
		v, err := c.clean(source, "", 0)
		p.warnings, p.counts = c.warnings, c.counts
		if err != nil {
			p.invalid = schemaError(t.Name, err)
			return
		}
		t.Parameters = v.(map[string]any)
		p.outline(t.Parameters, source)
	})
	return t
}

// outline notes the parameters in their order, and those that are required. The order is
// that in which the schema was written, where that is known; else the required ones as it
// lists them, then the others by name.
func (p *prepared) outline(schema, source map[string]any) {
	root := schema
	for range maxInPlace {
		ref, ok := schema["$ref"].(string)
		if !ok || schema["properties"] != nil {
			break
		}
		target, ok := resolve(root, ref).(map[string]any)
		if !ok {
			break
		}
		schema = target
	}
	properties, _ := schema["properties"].(map[string]any)
	p.required = words(schema["required"])
	p.order = nil
	known := make(map[string]bool, len(properties))
	for _, list := range [][]string{words(source[orderKey]), p.required} {
		for _, name := range list {
			if _, ok := properties[name]; ok && !known[name] {
				known[name] = true
				p.order = append(p.order, name)
			}
		}
	}
	rest := len(p.order)
	for name := range properties {
		if !known[name] {
			p.order = append(p.order, name)
		}
	}
	sort.Strings(p.order[rest:])
}

// schemaError makes a [*SchemaError] of what is wrong with a tool's schema.
func schemaError(tool string, err error) *SchemaError {
	e := &SchemaError{Tool: tool, Err: err}
	var at *pathError
	if errors.As(err, &at) {
		e.Path, e.Err = at.path, at.err
	}
	return e
}

// compiled returns the compiled schema, never nil. Concurrent calls compile it once.
func (t *Tool) compiled() *compiledSchema {
	p := t.prepared
	if p == nil {
		return none
	}
	if c := p.compiled.Load(); c != nil {
		return c
	}
	t.ready()
	p.compiling.Lock()
	defer p.compiling.Unlock()
	if c := p.compiled.Load(); c != nil {
		return c
	}
	c := &compiledSchema{warnings: p.warnings}
	err := p.invalid
	if err == nil && t.Parameters != nil {
		if c.schema, err = compile(t.Parameters); err != nil {
			err = schemaError(t.Name, err)
		}
	}
	if err != nil {
		c.err = err
		c.warnings = append(slices.Clone(p.warnings), "schema_invalid: "+err.Error())
	}
	if c.schema != nil {
		c.bytes = p.counts.compiledBytes()
	}
	p.compiled.Store(c)
	p.registry.keep(p, c.bytes)
	return c
}

// maxCompiledBytes bounds the compiled schemas that a registry holds: beyond it those that
// were compiled before are dropped, and compiled anew when they are asked for.
const maxCompiledBytes = 32 << 20

// keeping is what a registry knows of the compiled schemas it holds.
type keeping struct {
	mu    sync.Mutex
	tools []*prepared
	bytes int
}

// keep accounts for a compiled schema.
func (r *Registry) keep(p *prepared, bytes int) {
	k := &r.keeping
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.bytes+bytes > maxCompiledBytes {
		for _, old := range k.tools {
			old.compiled.Store(nil)
		}
		k.tools, k.bytes = nil, 0
	}
	k.tools = append(k.tools, p)
	k.bytes += bytes
}

// Bytes is about how many bytes the registry holds: the definitions of its tools, and what
// was compiled of them so far, which is at most 32 MB. It is for whoever keeps registries
// in a cache: it grows as tools are called.
func (r *Registry) Bytes() int {
	r.keeping.mu.Lock()
	compiled := r.keeping.bytes
	r.keeping.mu.Unlock()
	return r.now.Load().bytes + compiled
}

// withToolFields adds a tool's own list of required parameters and its defaults
// to its schema.
func withToolFields(schema map[string]any, required []string, defaults map[string]any) map[string]any {
	out := maps.Clone(schema)
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
	if len(defaults) > 0 {
		old, _ := out["properties"].(map[string]any)
		properties := make(map[string]any, len(old)+len(defaults))
		maps.Copy(properties, old)
		for _, name := range text.SortedKeys(defaults) {
			property := map[string]any{}
			switch p := properties[name].(type) {
			case map[string]any:
				maps.Copy(property, p)
			case string: // {"city": "string"}
				property["type"] = p
			}
			property["default"] = defaults[name]
			properties[name] = property
		}
		out["properties"] = properties
	}
	return out
}

// propertyMap turns {"city": {"type": "string"}} into a schema of an object with
// those properties. A schema proper is returned as it is.
func propertyMap(p map[string]any) map[string]any {
	if len(p) == 0 {
		return map[string]any{"type": "object"}
	}
	for _, k := range []string{
		"type", "properties", "$ref", "allOf", "anyOf", "oneOf", "$defs", "$schema", "additionalProperties", "not", "if", "required",
	} {
		if v, ok := p[k]; ok {
			if m, isMap := v.(map[string]any); k != "type" || !isMap || m["type"] == nil {
				return p
			}
		}
	}
	for _, v := range p {
		if _, ok := v.(map[string]any); !ok {
			return p
		}
	}
	return map[string]any{"type": "object", "properties": p}
}
