package validator

import (
	"github.com/callwright/callwright/internal/text"
	"github.com/callwright/callwright/registry"
)

// ValidateParameter makes the value of one parameter, whole, as [Validate] will make it
// when the other parameters are known too: for those who hand on a call while it is
// still being written. ok is false where the value is not valid, or where the other
// parameters may change it. The value is left as it is.
func ValidateParameter(tool *registry.Tool, name string, value any, o Options) (made any, ok bool) {
	v := validation{o: o, tool: tool, wrapped: -1, base: 1}
	if holdsText(value) {
		value = text.Clone(value)
	}
	p := planOf(tool)
	if p == nil {
		return v.typed(value, nil, nil, 0), len(tool.Parameters) == 0
	}
	n := p.root.apart(name)
	if n == nil {
		return nil, false
	}
	v.walk = walk{plan: p, root: value, limit: firstSteps}
	value = v.typed(value, n, nil, 1)
	if value == nil && n.accepts&tNull == 0 || guardNumbers(value) != nil {
		return nil, false
	}
	v.walk.strange = true
	if !o.NoCoercion {
		value = v.coerce(n, value, nil, 1)
	}
	if !o.NoDefaults {
		value = v.defaults(n, value, value, nil, 1)
	}
	return value, v.verdict(n, value) == fitting
}

// apart returns the node of a property that nothing but itself says anything of, nil if
// there is none.
func (n *node) apart(name string) *node {
	if len(n.refs)+len(n.all)+len(n.any)+len(n.one)+len(n.patterns) > 0 || n.cond != nil || n.not != nil || n.loose != nil {
		return nil
	}
	for i := range n.dependents {
		if n.dependents[i].node != nil {
			return nil
		}
	}
	return n.member(name)
}

// TakesText reports whether a parameter's value is its text, whatever that is: then the
// text can be handed on as it comes. untyped says that the text has no type of its own,
// as between tags; else it is a string.
func TakesText(tool *registry.Tool, name string, untyped bool) bool {
	p := planOf(tool)
	if p == nil {
		return len(tool.Parameters) == 0 && !untyped
	}
	n := p.root.apart(name)
	return n != nil && n.types == tString && n.accepts == tString && n.enum == nil && n.constant == nil && n.refs == nil && n.all == nil &&
		n.any == nil && n.one == nil && n.cond == nil
}
