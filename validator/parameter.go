package validator

import (
	"github.com/callwright/callwright/internal/text"
	"github.com/callwright/callwright/registry"
)

// ValidateParameter makes the value of one parameter, whole, as [Validate] will make it
// when the other parameters are known too: for those who hand on a call while it is
// still being written. ok is false where the value is not valid, or where the other
// parameters may change it. The value is left as it is.
func ValidateParameter(tool *registry.Tool, name string, value any, o Options) (v any, ok bool) {
	w := validation{o: o, tool: tool, res: Result{Factor: 1}}
	schema := tool.Schema()
	if schema == nil {
		return w.typed(text.Clone(value), nil, 0), len(tool.Parameters) == 0
	}
	p := schema.Properties[name]
	if p == nil || schema.Ref != nil || schema.AllOf != nil || schema.AnyOf != nil || schema.OneOf != nil || schema.If != nil {
		return nil, false
	}
	v = w.typed(text.Clone(value), p, 0)
	if v == nil && typesOf(p, 0)&tNull == 0 || w.guardNumbers(v) != nil {
		return nil, false
	}
	if !o.NoCoercion && validate(p, v) != nil {
		v = w.coerce(v, p, "", 0)
	}
	switch v.(type) {
	case map[string]any, []any:
		// Defaults may yet be filled in.
		if !o.NoDefaults {
			w.defaults(v, p, "", 0)
		}
	}
	return v, validate(p, v) == nil
}

// TakesText reports whether a parameter's value is its text, whatever that is: then the
// text can be handed on as it comes. untyped says that the text has no type of its own,
// as between tags; else it is a string.
func TakesText(tool *registry.Tool, name string, untyped bool) bool {
	schema := tool.Schema()
	if schema == nil {
		return len(tool.Parameters) == 0 && !untyped
	}
	p := schema.Properties[name]
	return p != nil && schema.Ref == nil && schema.AllOf == nil && schema.AnyOf == nil && schema.OneOf == nil && schema.If == nil &&
		p.Types != nil && typesOf(p, 0) == tString && p.Enum == nil && p.Const == nil && p.Ref == nil && p.AllOf == nil && p.AnyOf == nil &&
		p.OneOf == nil && p.If == nil
}
