package validator

import (
	"github.com/callwright/callwright/internal/lenient"
	"github.com/callwright/callwright/registry"
)

// Member makes the value of one parameter as [Validate] will make it, where that
// does not depend on the other parameters. ok is false where it may.
func Member(tool *registry.Tool, key string, value any, o Options) (v any, ok bool) {
	w := validation{o: o, tool: tool, res: Result{Factor: 1}}
	schema := tool.Schema()
	if schema == nil {
		return w.typed(clone(value), nil, 0), len(tool.Parameters) == 0
	}
	p := schema.Properties[key]
	if p == nil || schema.Ref != nil || schema.AllOf != nil || schema.AnyOf != nil || schema.OneOf != nil || schema.If != nil {
		return nil, false
	}
	v = w.typed(clone(value), p, 0)
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

// IsString reports whether a parameter's value is a string whatever its text: its
// text can be handed on as it comes.
func IsString(tool *registry.Tool, key string, value any) bool {
	schema := tool.Schema()
	if schema == nil {
		_, raw := value.(lenient.Text)
		return len(tool.Parameters) == 0 && !raw
	}
	p := schema.Properties[key]
	return p != nil && schema.Ref == nil && schema.AllOf == nil && schema.AnyOf == nil && schema.OneOf == nil && schema.If == nil &&
		p.Types != nil && typesOf(p, 0) == tString && p.Enum == nil && p.Const == nil && p.Ref == nil && p.AllOf == nil && p.AnyOf == nil && p.OneOf == nil && p.If == nil
}
