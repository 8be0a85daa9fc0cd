package registry

import (
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Limits of what a compiled schema does with one value: how many schemas apply to it in
// the worst case, and through how many of them the way to one leads.
const (
	maxApplied = 10_000
	maxInPlace = 128
)

// bound refuses schemas that apply themselves to the same value without end, or too many
// schemas to one value. What goes on in a value's members is bounded by the value.
func bound(root *jsonschema.Schema) error {
	b := bounder{seen: make(map[*jsonschema.Schema]*applied)}
	work := []*jsonschema.Schema{root}
	known := map[*jsonschema.Schema]bool{root: true}
	for len(work) > 0 {
		s := work[len(work)-1]
		work = work[:len(work)-1]
		if _, err := b.count(s, 0); err != nil {
			return err
		}
		if s.Format != nil && s.Format.Name == regexFormat.Name {
			s.Format = regexFormat
		}
		for _, list := range [][]*jsonschema.Schema{inPlace(s), inMembers(s)} {
			for _, sub := range list {
				if !known[sub] {
					known[sub] = true
					work = append(work, sub)
				}
			}
		}
	}
	return nil
}

// applied is what a schema applies to the value that it is applied to.
type applied struct {
	schemas int // how many
	depth   int // the longest way to one of them
}

type bounder struct {
	seen map[*jsonschema.Schema]*applied // nil while it is being counted
}

func (b *bounder) count(s *jsonschema.Schema, depth int) (*applied, error) {
	if a, ok := b.seen[s]; ok {
		if a == nil {
			return nil, &pathError{location(s), ErrSchemaCycle}
		}
		return a, nil
	}
	if depth > maxSchemaNodes {
		return nil, &pathError{location(s), ErrSchemaTooLarge}
	}
	b.seen[s] = nil
	a := &applied{schemas: 1}
	for _, sub := range inPlace(s) {
		n, err := b.count(sub, depth+1)
		if err != nil {
			return nil, err
		}
		a.schemas += n.schemas
		a.depth = max(a.depth, n.depth+1)
		if a.schemas > maxApplied || a.depth > maxInPlace {
			return nil, &pathError{location(s), ErrSchemaTooLarge}
		}
	}
	b.seen[s] = a
	return a, nil
}

// location is the JSON pointer to a schema.
func location(s *jsonschema.Schema) string {
	_, pointer, _ := strings.Cut(s.Location, "#")
	return pointer
}

// inPlace returns the schemas that a schema applies to the same value.
func inPlace(s *jsonschema.Schema) (list []*jsonschema.Schema) {
	add := func(subs ...*jsonschema.Schema) {
		for _, sub := range subs {
			if sub != nil {
				list = append(list, sub)
			}
		}
	}
	add(s.Ref, s.RecursiveRef, s.Not, s.If, s.Then, s.Else)
	if s.DynamicRef != nil {
		add(s.DynamicRef.Ref)
	}
	add(s.AllOf...)
	add(s.AnyOf...)
	add(s.OneOf...)
	for _, sub := range s.DependentSchemas {
		add(sub)
	}
	for _, dep := range s.Dependencies {
		if sub, ok := dep.(*jsonschema.Schema); ok {
			add(sub)
		}
	}
	return list
}

// inMembers returns the schemas that a schema applies to the value's members and items, and
// to its keys.
func inMembers(s *jsonschema.Schema) (list []*jsonschema.Schema) {
	add := func(subs ...*jsonschema.Schema) {
		for _, sub := range subs {
			if sub != nil {
				list = append(list, sub)
			}
		}
	}
	for _, sub := range s.Properties {
		add(sub)
	}
	for _, sub := range s.PatternProperties {
		add(sub)
	}
	for _, either := range []any{s.AdditionalProperties, s.Items, s.AdditionalItems} {
		switch sub := either.(type) {
		case *jsonschema.Schema:
			add(sub)
		case []*jsonschema.Schema:
			add(sub...)
		}
	}
	add(s.PrefixItems...)
	add(s.PropertyNames, s.UnevaluatedProperties, s.Contains, s.Items2020, s.UnevaluatedItems, s.ContentSchema)
	return list
}
