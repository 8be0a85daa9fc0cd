package mcpproxy

import (
	"reflect"
	"unicode/utf8"

	"github.com/callwright/callwright/internal/lenient"
	"github.com/callwright/callwright/internal/text"
	"github.com/callwright/callwright/internal/wire"
	"github.com/callwright/callwright/registry"
	"github.com/callwright/callwright/validator"
)

// mended is what became of a call's arguments.
type mended struct {
	arguments []byte // the new ones; nil if they stay as they are
	changes   []validator.Coercion
	defaults  []string
	errors    []validator.Error // why they cannot be mended
}

// mend makes arguments fit a tool. raw is nil where the call has none. Members that are
// right keep their bytes and their places.
func (p *Proxy) mend(tool *registry.Tool, raw []byte) mended {
	var m mended
	object := raw
	switch {
	case raw == nil:
		object = []byte("{}")
	case wire.IsNull(raw):
		object = []byte("{}")
		m.changes = append(m.changes, validator.Coercion{To: map[string]any{}, Rule: "null_to_object"})
	case raw[0] == '"': // the object as a string
		s, _ := wire.String(raw)
		v, r, err := lenient.Parse(s, lenient.Options{})
		inner, isObject := v.(map[string]any)
		if err == nil && isObject && !r.Fixes.Has(lenient.Truncated) {
			if encoded, err := wire.Encode(inner); err == nil {
				object = encoded
				m.changes = append(m.changes, validator.Coercion{From: s, To: inner, Rule: "string_to_object"})
			}
		}
	}
	before, ok := decode(object)
	if !ok {
		m.errors = []validator.Error{{Code: validator.InvalidType, Message: "the arguments must be an object"}}
		return m
	}
	if !isClear(object, before) {
		return mended{}
	}
	o := validator.Options{Lossy: p.o.Lossy, NoDefaults: !p.o.AllDefaults}
	v := validator.Validate(tool, before, o)
	if o.NoDefaults && missing(v.Errors) {
		before, _ = decode(object)
		o.NoDefaults = false
		v = validator.Validate(tool, before, o)
		dropOptional(tool, &v)
	}
	if !v.Valid() {
		m.errors = v.Errors
		return m
	}
	m.changes, m.defaults = append(m.changes, v.Coercions...), v.Defaults
	if len(m.changes) == 0 && len(m.defaults) == 0 {
		return m
	}
	m.arguments = rewrite(object, v.Parameters)
	return m
}

// isClear reports whether all readers read the same of an object: no key is there twice, and
// no text is broken.
func isClear(object []byte, decoded map[string]any) bool {
	o, _ := wire.AsObject(object)
	if len(o) != len(decoded) || !utf8.Valid(object) {
		return false
	}
	for _, m := range o {
		if _, there := decoded[m.Key]; !there {
			return false
		}
	}
	return true
}

// missing reports whether something required is not there.
func missing(errs []validator.Error) bool {
	for i := range errs {
		if errs[i].Code == validator.RequiredParameterMissing {
			return true
		}
	}
	return false
}

// dropOptional takes defaults of optional parameters out again: they are the server's.
func dropOptional(tool *registry.Tool, v *validator.Result) {
	var kept []string
	for _, at := range v.Defaults {
		if keys := text.Keys(at); len(keys) == 1 && !tool.Requires(keys[0]) {
			delete(v.Parameters, keys[0])
			continue
		}
		kept = append(kept, at)
	}
	v.Defaults = kept
}

// rewrite writes parameters as an object of which as much as possible stays as it is.
func rewrite(object []byte, parameters map[string]any) []byte {
	before, _ := decode(object)
	old, _ := wire.AsObject(object)
	out := []byte{'{'}
	add := func(key string, value []byte) {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, wire.Quote(key)...), ':'), value...)
	}
	for _, m := range old {
		v, there := parameters[m.Key]
		switch {
		case !there:
		case reflect.DeepEqual(v, before[m.Key]):
			add(m.Key, m.Value)
		default:
			add(m.Key, encode(v))
		}
	}
	for _, key := range text.SortedKeys(parameters) {
		if _, there := before[key]; !there {
			add(key, encode(parameters[key]))
		}
	}
	return append(out, '}')
}

// encode writes a value that was decoded from JSON.
func encode(v any) []byte {
	data, err := wire.Encode(v)
	if err != nil {
		return []byte("null") // there is no such value
	}
	return data
}
