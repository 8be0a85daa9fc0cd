package validator

import (
	"slices"

	"github.com/callwright/callwright/internal/text"
)

// fill fills in what a call leaves out: the schema's defaults at every depth, then the
// caller's values, then, by option, empty values. It returns a copy if there is anything.
func (v *validation) fill(root *node, value any) any {
	if root.fills {
		value = v.defaults(root, value, value, nil, 0)
	}
	m, ok := value.(map[string]any)
	if !ok {
		return value
	}
	o := edited{was: m, now: m}
	add := func(name string, value any) {
		o.set(name, value)
		v.res.Defaults = append(v.res.Defaults, text.Pointer("", name))
	}
	for _, name := range text.SortedKeys(v.o.Values) {
		if _, there := o.now[name]; !there && root.property(name) != nil {
			add(name, text.Clone(v.o.Values[name]))
		}
	}
	if v.o.TypeDefaults {
		top := root.target()
		for _, name := range top.schema.Required {
			if _, there := o.now[name]; there {
				continue
			}
			if p := top.member(name); p != nil {
				add(name, emptyValue(p.accepts))
			}
		}
	}
	return o.now
}

// target follows references of nodes that are nothing but a reference.
func (n *node) target() *node {
	for len(n.refs) == 1 && n.members == nil && n.types == tAny {
		n = n.refs[0]
	}
	return n
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

// defaults fills in the defaults that a node has for a value, the nearest first. was is the
// value before anything was filled in, on which is decided what applies to it; now is what
// was made of it so far, and is copied before it is changed.
func (v *validation) defaults(n *node, was, now any, at *step, depth int) any {
	if !n.fills || depth > maxDepth || !v.walk.step(1) {
		return now
	}
	switch old := was.(type) {
	case map[string]any:
		now = v.objectDefaults(n, old, now.(map[string]any), at, depth)
	case []any:
		list := now.([]any)
		for i, e := range old {
			sub := n.item(i)
			if sub == nil || !sub.fills {
				continue
			}
			here := at.at(i)
			filled := len(v.res.Defaults)
			if made := v.defaults(sub, e, list[i], &here, depth+1); len(v.res.Defaults) > filled {
				if &list[0] == &old[0] {
					list = slices.Clone(list)
				}
				list[i] = made
			}
		}
		now = list
	}
	for _, list := range [][]*node{n.refs, n.all} {
		for _, sub := range list {
			now = v.defaults(sub, was, now, at, depth)
		}
	}
	for _, branches := range [][]*node{n.any, n.one} {
		if b := v.theBranch(branches, was, depth); b != nil {
			now = v.defaults(b, was, now, at, depth)
		}
	}
	if n.cond != nil {
		chosen := n.no
		if v.walk.fits(n.cond, was, depth) == fitting {
			chosen = n.yes
		}
		if chosen != nil {
			now = v.defaults(chosen, was, now, at, depth)
		}
	}
	if m, ok := was.(map[string]any); ok {
		for i := range n.dependents {
			d := &n.dependents[i]
			if _, there := m[d.key]; there && d.node != nil {
				now = v.defaults(d.node, was, now, at, depth)
			}
		}
	}
	return now
}

// objectDefaults fills in the members that are missing, and what is missing in those that
// are there.
func (v *validation) objectDefaults(n *node, was, now map[string]any, at *step, depth int) map[string]any {
	o := edited{was: now, now: now}
	inside := func(k string, sub *node) {
		e, there := was[k]
		if !there || sub == nil || !sub.fills {
			return
		}
		here := at.member(k)
		filled := len(v.res.Defaults)
		if made := v.defaults(sub, e, o.now[k], &here, depth+1); len(v.res.Defaults) > filled {
			o.set(k, made)
		}
	}
	for i := range n.members {
		p := &n.members[i]
		if _, there := now[p.name]; there {
			inside(p.name, p.node)
		} else if d := p.node.fallback; d != nil {
			here := at.member(p.name)
			o.set(p.name, text.Clone(*d))
			v.res.Defaults = append(v.res.Defaults, here.String())
		}
	}
	if n.additional != nil && n.additional.fills || n.patterns != nil {
		for _, k := range text.SortedKeys(was) {
			if n.member(k) != nil {
				continue
			}
			if sub := n.memberOrPattern(k); sub != nil {
				inside(k, sub)
			} else {
				inside(k, n.additional)
			}
		}
	}
	return o.now
}

// theBranch returns the one branch that a value is valid in, or nil.
func (v *validation) theBranch(branches []*node, value any, depth int) *node {
	var found *node
	for _, b := range branches {
		if v.walk.fits(b, value, depth) == fitting {
			if found != nil {
				return nil
			}
			found = b
		}
	}
	return found
}
