package validator

import (
	"fmt"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/callwright/callwright/internal/text"
)

// fill fills in what a call leaves out: the schema's defaults at every depth, then the
// caller's values, then, by option, empty values.
func (v *validation) fill(parameters map[string]any, s *jsonschema.Schema) {
	v.defaults(parameters, s, "", 0)
	for _, name := range text.SortedKeys(v.o.Values) {
		if _, there := parameters[name]; there {
			continue
		}
		if p := property(s, name, 0); p != nil {
			parameters[name] = text.Clone(v.o.Values[name])
			v.res.Defaults = append(v.res.Defaults, text.Pointer("", name))
		}
	}
	if v.o.TypeDefaults {
		top := target(s)
		for _, name := range top.Required {
			if _, there := parameters[name]; there {
				continue
			}
			if p := top.Properties[name]; p != nil {
				parameters[name] = emptyValue(typesOf(p, 0))
				v.res.Defaults = append(v.res.Defaults, text.Pointer("", name))
			}
		}
	}
}

func emptyValue(types int) any {
	switch {
	case types&tNull != 0:
		return nil
	case types&tString != 0:
		return ""
	case types&(tNumber|tInteger) != 0:
		return 0
	case types&tBoolean != 0:
		return false
	case types&tArray != 0:
		return []any{}
	}
	return map[string]any{}
}

// defaults walks a value along its schema and fills in explicit defaults, the
// nearest first.
func (v *validation) defaults(value any, s *jsonschema.Schema, path string, depth int) {
	if v.steps++; s == nil || depth > maxCoerceDepth || v.steps > maxSteps {
		return
	}
	// What applies is decided on the value as it is before anything is filled in.
	var applies []*jsonschema.Schema
	if s.Ref != nil {
		applies = append(applies, s.Ref)
	}
	applies = append(applies, s.AllOf...)
	for _, branches := range [][]*jsonschema.Schema{s.AnyOf, s.OneOf} {
		if b := theBranch(branches, value); b != nil {
			applies = append(applies, b)
		}
	}
	if s.If != nil {
		if validate(s.If, value) == nil {
			applies = append(applies, s.Then)
		} else {
			applies = append(applies, s.Else)
		}
	}
	switch x := value.(type) {
	case map[string]any:
		for _, key := range text.SortedKeys(s.DependentSchemas) {
			if _, there := x[key]; there {
				applies = append(applies, s.DependentSchemas[key])
			}
		}
		for _, name := range text.SortedKeys(s.Properties) {
			p := s.Properties[name]
			if _, there := x[name]; !there {
				if d := defaultOf(p, 0); d != nil {
					x[name] = text.Clone(*d)
					v.res.Defaults = append(v.res.Defaults, text.Pointer(path, name))
				}
				continue
			}
			v.defaults(x[name], p, text.Pointer(path, name), depth+1)
		}
		if extra, ok := s.AdditionalProperties.(*jsonschema.Schema); ok {
			for _, name := range text.SortedKeys(x) {
				if s.Properties[name] == nil && patternProperty(s, name) == nil {
					v.defaults(x[name], extra, text.Pointer(path, name), depth+1)
				}
			}
		}
	case []any:
		for i, e := range x {
			if sub := itemsHere(s, i); sub != nil {
				v.defaults(e, sub, fmt.Sprintf("%s/%d", path, i), depth+1)
			}
		}
	}
	for _, sub := range applies {
		v.defaults(value, sub, path, depth+1)
	}
}

// theBranch returns the one branch that a value is valid in, or nil.
func theBranch(branches []*jsonschema.Schema, value any) *jsonschema.Schema {
	var found *jsonschema.Schema
	for _, b := range branches {
		if validate(b, value) == nil {
			if found != nil {
				return nil
			}
			found = b
		}
	}
	return found
}

// defaultOf returns a schema's default, its own before that of what it refers
// to. A default that does not fit its own schema is none.
func defaultOf(s *jsonschema.Schema, depth int) *any {
	if s == nil || depth > maxRefs {
		return nil
	}
	if s.Default != nil {
		if validate(s, text.Clone(*s.Default)) != nil {
			return nil
		}
		return s.Default
	}
	if d := defaultOf(s.Ref, depth+1); d != nil {
		return d
	}
	for _, sub := range s.AllOf {
		if d := defaultOf(sub, depth+1); d != nil {
			return d
		}
	}
	return nil
}
