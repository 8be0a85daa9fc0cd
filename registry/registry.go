package registry

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/callwright/callwright/internal/prefix"
)

// MaxTools is the maximum number of tools in a registry.
const MaxTools = 10_000

// ErrTooManyTools says that a registry has [MaxTools].
var ErrTooManyTools = fmt.Errorf("more than %d tools", MaxTools)

// Options are the options of a registry. The zero value accepts tools whose schemas do not
// compile, without their schemas.
type Options struct {
	// Strict refuses tools whose schemas do not compile.
	Strict bool
}

// Registry is a set of tools. It is safe for concurrent use; readers do not lock.
type Registry struct {
	options Options
	write   sync.Mutex
	now     atomic.Pointer[snapshot]
}

// snapshot is the immutable content of a registry.
type snapshot struct {
	tools   []*Tool
	byName  map[string]*Tool
	folded  map[string][]*Tool // by name without case and separators
	last    map[string][]*Tool // by the folded last part of a dotted name
	sorted  []string           // names, for looking up by prefix
	begins  prefix.Set         // of names
	version string
}

// New returns a registry of tools, with default options. The error is that of
// [Registry.Add]; the registry is usable all the same.
func New(tools ...Tool) (*Registry, error) { return NewWith(Options{}, tools...) }

// NewWith is [New] with options.
func NewWith(o Options, tools ...Tool) (*Registry, error) {
	r := &Registry{options: o}
	r.now.Store(&snapshot{version: version(nil)})
	return r, r.Add(tools...)
}

// Add adds tools, or replaces those of the same names. The error joins one for each tool
// with a problem. A schema that does not compile is a [*SchemaError]: the tool is added
// without its schema, unless the registry is strict. A tool is not added if its name is
// empty, too long or has control characters, or beyond [MaxTools].
func (r *Registry) Add(tools ...Tool) error {
	var errs []error
	added := make([]*Tool, 0, len(tools))
	for i := range tools {
		t := tools[i]
		if !validName(t.Name) {
			errs = append(errs, fmt.Errorf("tool %d: name %q is empty, longer than %d bytes or has control characters", i, t.Name, MaxNameBytes))
			continue
		}
		if err := t.prepare(); err != nil {
			errs = append(errs, err)
			if r.options.Strict {
				continue
			}
			t.warnings = append(t.warnings, "schema_invalid: "+err.Error())
		}
		added = append(added, &t)
	}
	r.write.Lock()
	defer r.write.Unlock()
	old := r.now.Load()
	all := make([]*Tool, 0, len(old.tools)+len(added))
	all = append(all, old.tools...)
	at := make(map[string]int, len(all))
	for i, t := range all {
		at[t.Name] = i
	}
	for _, t := range added {
		if i, ok := at[t.Name]; ok {
			all[i] = t
			continue
		}
		if len(all) >= MaxTools {
			errs = append(errs, ErrTooManyTools)
			break
		}
		at[t.Name] = len(all)
		all = append(all, t)
	}
	r.now.Store(newSnapshot(all))
	return errors.Join(errs...)
}

// Remove removes a tool, and reports whether it was there.
func (r *Registry) Remove(name string) bool {
	r.write.Lock()
	defer r.write.Unlock()
	old := r.now.Load()
	if old.byName[name] == nil {
		return false
	}
	r.now.Store(newSnapshot(slices.DeleteFunc(slices.Clone(old.tools), func(t *Tool) bool { return t.Name == name })))
	return true
}

// Tools returns the tools in the order in which they were added.
func (r *Registry) Tools() []*Tool { return slices.Clone(r.now.Load().tools) }

// Len is how many tools there are.
func (r *Registry) Len() int { return len(r.now.Load().tools) }

// Version returns a hash of the tools, in any order: it changes when a tool does.
func (r *Registry) Version() string { return r.now.Load().version }

// prepare compiles the schema of a tool.
func (t *Tool) prepare() error {
	if t.ID == "" {
		t.ID = t.Name
	}
	t.order = slices.Clone(t.Required)
	if t.Parameters == nil {
		if len(t.Required) == 0 && len(t.Defaults) == 0 {
			return nil
		}
		t.Parameters = map[string]any{"type": "object"}
	}
	schema := propertyMap(t.Parameters)
	if len(t.Required) > 0 || len(t.Defaults) > 0 {
		schema = withToolFields(schema, t.Required, t.Defaults)
	}
	compiled, cleaned, warnings, err := compile(schema)
	t.warnings = warnings
	if cleaned != nil {
		t.Parameters = cleaned
	}
	if err != nil {
		e := &SchemaError{Tool: t.Name, Err: err}
		var at *pathError
		if errors.As(err, &at) {
			e.Path, e.Err = at.path, at.err
		}
		return e
	}
	t.schema = compiled
	t.order = parameterOrder(compiled, schema)
	return nil
}

// parameterOrder lists the parameters as the schema was written, where that is
// known; else the required ones as it lists them, then the others by name.
func parameterOrder(s *jsonschema.Schema, source map[string]any) []string {
	for s.Ref != nil && s.Properties == nil {
		s = s.Ref
	}
	var order, rest []string
	for _, name := range append(words(source[orderKey]), s.Required...) {
		if s.Properties[name] != nil && !slices.Contains(order, name) {
			order = append(order, name)
		}
	}
	for name := range s.Properties {
		if !slices.Contains(order, name) {
			rest = append(rest, name)
		}
	}
	sort.Strings(rest)
	return append(order, rest...)
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

// withToolFields adds a tool's own list of required parameters and its defaults
// to its schema.
func withToolFields(schema map[string]any, required []string, defaults map[string]any) map[string]any {
	out := make(map[string]any, len(schema)+2)
	for k, v := range schema {
		out[k] = v
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
	if len(defaults) > 0 {
		old, _ := out["properties"].(map[string]any)
		properties := make(map[string]any, len(old)+len(defaults))
		for k, v := range old {
			properties[k] = v
		}
		for name, value := range defaults {
			property := map[string]any{}
			if m, ok := properties[name].(map[string]any); ok {
				for k, v := range m {
					property[k] = v
				}
			}
			property["default"] = value
			properties[name] = property
		}
		out["properties"] = properties
	}
	return out
}

func newSnapshot(tools []*Tool) *snapshot {
	s := &snapshot{
		tools:  tools,
		byName: make(map[string]*Tool, len(tools)),
		folded: make(map[string][]*Tool, len(tools)),
		last:   make(map[string][]*Tool),
	}
	for _, t := range tools {
		s.byName[t.Name] = t
		key := fold(t.Name)
		s.folded[key] = append(s.folded[key], t)
		if i := lastSeparator(t.Name); i >= 0 {
			key := fold(t.Name[i:])
			s.last[key] = append(s.last[key], t)
		}
		s.sorted = append(s.sorted, t.Name)
		s.begins.Add(t.Name)
	}
	sort.Strings(s.sorted)
	s.version = version(tools)
	return s
}

// version hashes what the tools say, whatever their order.
func version(tools []*Tool) string {
	sorted := slices.Clone(tools)
	slices.SortFunc(sorted, func(a, b *Tool) int { return strings.Compare(a.Name, b.Name) })
	h := sha256.New()
	enc := json.NewEncoder(h)
	for _, t := range sorted {
		// Decoded JSON always encodes; what a caller put there by hand and does
		// not encode still counts by its name.
		if err := enc.Encode(t); err != nil {
			fmt.Fprintf(h, "%q\n", t.Name)
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
