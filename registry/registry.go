package registry

import (
	"context"
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

	"github.com/callwright/callwright/internal/prefix"
)

// Limits of a registry.
const (
	// MaxTools is the maximum number of tools.
	MaxTools = 10_000
	// MaxSchemaBytes is the maximum size of all schemas, in bytes, as JSON.
	MaxSchemaBytes = 8 << 20
)

// Errors of [Registry.Add] about all tools.
var (
	// ErrTooManyTools says that a registry has [MaxTools].
	ErrTooManyTools = fmt.Errorf("more than %d tools: leave out some", MaxTools)
	// ErrSchemasTooLarge says that the schemas have [MaxSchemaBytes].
	ErrSchemasTooLarge = fmt.Errorf("schemas of more than %d bytes in all: leave out some tools", MaxSchemaBytes)
)

// Options are the options of a registry. The zero value accepts tools whose schemas do not
// compile, without their schemas.
type Options struct {
	// Strict refuses tools whose schemas do not compile. All schemas are compiled at once.
	Strict bool
}

// Registry is a set of tools. It is safe for concurrent use; readers do not lock. A tool's
// schema is compiled when it is first asked for, so that many tools cost little.
type Registry struct {
	options Options
	write   sync.Mutex
	now     atomic.Pointer[snapshot]
	keeping keeping
}

// snapshot is the immutable content of a registry.
type snapshot struct {
	tools  []*Tool
	byName map[string]*Tool
	folded map[string][]*Tool // by name without case and separators
	last   map[string][]*Tool // by the folded last part of a dotted name
	sorted []string           // names, for looking up by prefix
	begins prefix.Set         // of names
	bytes  int                // that it takes, about

	hashing sync.Once
	version string
}

// New returns a registry of tools, with default options. The error is that of
// [Registry.Add]; the registry is usable all the same.
func New(tools ...Tool) (*Registry, error) { return NewWith(Options{}, tools...) }

// NewWith is [New] with options.
func NewWith(o Options, tools ...Tool) (*Registry, error) {
	r := &Registry{options: o}
	r.now.Store(&snapshot{})
	return r, r.Add(tools...)
}

// Add adds tools, or replaces those of the same names. The error joins one for each tool
// with a problem. A tool is not added if its name is empty, too long or has control
// characters, or beyond [MaxTools] and [MaxSchemaBytes]. Schemas are not compiled, so
// what is wrong with them is not said, unless the registry is strict: see
// [Registry.Check].
func (r *Registry) Add(tools ...Tool) error {
	r.write.Lock()
	defer r.write.Unlock()
	all := slices.Clone(r.now.Load().tools)
	at := make(map[string]int, len(all)+min(len(tools), MaxTools))
	total := 0
	for i, t := range all {
		at[t.Name] = i
		total += t.prepared.bytes
	}
	added, errs := r.admit(tools, len(all), total, at)
	for _, t := range added {
		if r.options.Strict {
			if err := t.compiled().err; err != nil {
				errs = append(errs, err)
				continue
			}
		}
		if i, ok := at[t.Name]; ok {
			all[i] = t
			continue
		}
		at[t.Name] = len(all)
		all = append(all, t)
	}
	r.now.Store(newSnapshot(all))
	return errors.Join(errs...)
}

// admit returns the tools that a registry of so many tools and bytes may take, before
// anything is compiled. known has the tools that it has.
func (r *Registry) admit(tools []Tool, count, bytes int, known map[string]int) (added []*Tool, errs []error) {
	for i := range tools {
		t := tools[i]
		if !validName(t.Name) {
			errs = append(errs, fmt.Errorf("tool %d: name %q is empty, longer than %d bytes or has control characters", i, t.Name, MaxNameBytes))
			continue
		}
		p := &prepared{registry: r, bytes: size(t.Parameters, 0) + size(t.Defaults, 0)}
		if i, ok := known[t.Name]; ok {
			bytes -= r.now.Load().tools[i].prepared.bytes
		} else {
			count++
		}
		if bytes += p.bytes; count > MaxTools {
			return added, append(errs, ErrTooManyTools)
		} else if bytes > MaxSchemaBytes {
			return added, append(errs, ErrSchemasTooLarge)
		}
		if t.ID == "" {
			t.ID = t.Name
		}
		t.prepared = nil
		p.definition = t
		t.prepared = p
		added = append(added, &t)
	}
	return added, errs
}

// Check compiles the schemas of all tools, until ctx is done, and returns what is wrong
// with them: an error that joins a [*SchemaError] for each tool that is used without its
// schema, or that of ctx. A call of such a tool has a warning "schema_invalid".
func (r *Registry) Check(ctx context.Context) error {
	var errs []error
	for _, t := range r.now.Load().tools {
		if err := ctx.Err(); err != nil {
			return errors.Join(append(errs, err)...)
		}
		if err := t.compiled().err; err != nil {
			errs = append(errs, err)
		}
	}
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
func (r *Registry) Tools() []*Tool {
	tools := slices.Clone(r.now.Load().tools)
	for _, t := range tools {
		t.ready()
	}
	return tools
}

// Len is how many tools there are.
func (r *Registry) Len() int { return len(r.now.Load().tools) }

// Version returns a hash of the tools, in any order: it changes when a tool does. The
// first call hashes them.
func (r *Registry) Version() string {
	s := r.now.Load()
	s.hashing.Do(func() { s.version = version(s.tools) })
	return s.version
}

// What a tool takes in memory, about: so many bytes, and so many for each byte of its
// schema, decoded and cleaned.
const (
	toolBytes        = 1 << 10
	definitionFactor = 8
)

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
		s.bytes += toolBytes + definitionFactor*t.prepared.bytes + 2*len(t.Name) + len(t.Description)
		s.begins.Add(t.Name)
	}
	sort.Strings(s.sorted)
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
		if err := enc.Encode(&t.prepared.definition); err != nil {
			fmt.Fprintf(h, "%q\n", t.Name)
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
