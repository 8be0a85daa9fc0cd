package validator

import (
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/callwright/callwright/internal/text"
)

// NOTE: coercion never changes a value in place: what it changes it copies, so that the
// list of changes keeps what was there, and what is remembered of a value stays true. A
// new rule belongs into the table of docs/recovery.md; replay in property_test.go makes
// the result again of the list of changes, whatever the rule.

// coerce makes a value fit a node if there is exactly one lossless way. A value that fits
// is left as it is, but for keys of objects that differ from a property's only in case and
// separators.
func (v *validation) coerce(n *node, value any, at *step, depth int) any {
	return v.within(n, n, value, at, depth)
}

// attempt is what coercion made of a value.
type attempt struct {
	value   any
	changes []change
	path    string
}

// attemptKey is a value, a node, and the node that led to the value.
type attemptKey struct {
	pair
	top *node
}

// within is coerce for one of the nodes that apply to a value: top is the one that led to
// it. What it makes of a value is remembered where the value may come again.
func (v *validation) within(n, top *node, value any, at *step, depth int) any {
	if n.always || n.never || depth > maxDepth || !v.walk.step(1) {
		return value
	}
	fits := v.walk.fits(n, value, depth) == fitting
	p, compound := pairOf(n, value)
	if fits && (!v.walk.strange || !compound) {
		return value
	}
	if !compound || !n.shared || !v.walk.plan.ambiguous {
		return v.made(n, top, value, at, depth, fits)
	}
	key, path := attemptKey{p, top}, at.String()
	if known, ok := v.coerced[key]; ok && known.path == path {
		v.recordAll(known.changes)
		return known.value
	}
	m := v.mark()
	made := v.made(n, top, value, at, depth, fits)
	if v.coerced == nil {
		v.coerced = make(map[attemptKey]attempt)
	}
	v.coerced[key] = attempt{made, slices.Clone(v.changes[m:]), path}
	return made
}

// made returns what a node makes of a value. One that fits must fit thereafter.
func (v *validation) made(n, top *node, value any, at *step, depth int, fits bool) any {
	m := v.mark()
	made := v.remake(n, top, value, at, depth, fits, true)
	if !fits || !v.grew(m) || v.walk.fits(n, made, depth) == fitting {
		return made
	}
	v.undo(m)
	made = v.remake(n, top, value, at, depth, fits, false) // only what is in it
	if v.grew(m) && v.walk.fits(n, made, depth) != fitting {
		v.undo(m)
		return value
	}
	return made
}

// remake applies a node's keywords to a value, and those of the nodes that apply to it too.
// fits says that the value fits as it is, keys that its own keys may be changed.
func (v *validation) remake(n, top *node, value any, at *step, depth int, fits, keys bool) any {
	for _, ref := range n.refs {
		value = v.within(ref, top, value, at, depth)
	}
	if n.refOnly {
		return value
	}
	if !fits {
		value = v.convert(n, value, at, depth)
	}
	for _, branches := range [][]*node{n.any, n.one} {
		if len(branches) > 0 {
			value = v.branch(branches, top, value, at, depth)
		}
	}
	for _, sub := range n.all {
		value = v.within(sub, top, value, at, depth)
	}
	switch x := value.(type) {
	case map[string]any:
		value = v.object(n, top, x, at, depth, fits, keys)
	case []any:
		value = v.array(n, x, at, depth)
	}
	if n.cond != nil {
		chosen := n.no
		if v.walk.fits(n.cond, value, depth) == fitting {
			chosen = n.yes
		}
		if chosen != nil {
			value = v.within(chosen, top, value, at, depth)
		}
	}
	for i := range n.dependents {
		d := &n.dependents[i]
		if m, ok := value.(map[string]any); ok && d.node != nil {
			if _, there := m[d.key]; there {
				value = v.within(d.node, top, value, at, depth)
			}
		}
	}
	return value
}

// object coerces the keys of an object, and its members.
func (v *validation) object(n, top *node, m map[string]any, at *step, depth int, fits, keys bool) map[string]any {
	o := edited{was: m, now: m}
	if n.members != nil && keys {
		v.keys(n, top, &o, at, depth, fits)
	}
	for _, k := range text.SortedKeys(o.now) {
		sub := n.memberOrPattern(k)
		if sub == nil {
			sub = n.additional
		}
		if sub == nil {
			continue
		}
		here := at.member(k)
		optional := func() bool { return v.walk.step(top.reach) && !top.requires(k) }
		if o.now[k] == nil && sub.accepts&tNull == 0 && optional() {
			v.record(&here, nil, nil, "null_dropped", 0.95)
			o.drop(k)
			continue
		}
		was := v.mark()
		made := v.coerce(sub, o.now[k], &here, depth+1)
		if v.grew(was) {
			o.set(k, made)
		}
		if v.o.Lossy && made == any("") && sub.accepts&tString == 0 && optional() {
			v.record(&here, "", nil, "empty_dropped", 0.8)
			o.drop(k)
		}
	}
	return o.now
}

// edited is an object that is copied when it is changed.
type edited struct {
	was, now map[string]any
	copied   bool
}

func (o *edited) copy() {
	if !o.copied {
		o.now, o.copied = maps.Clone(o.was), true
	}
}

func (o *edited) set(key string, value any) {
	o.copy()
	o.now[key] = value
}

func (o *edited) drop(key string) {
	o.copy()
	delete(o.now, key)
}

// requires reports whether a node, or one that applies to the same value, requires a member.
func (n *node) requires(name string) bool {
	return n.find(func(n *node) *node {
		if slices.Contains(n.schema.Required, name) {
			return n
		}
		return nil
	}) != nil
}

// keys renames keys that differ from one property's name only in case and separators, if
// that is not there, and drops keys that the schema forbids. A key that any schema of the object names stays.
func (v *validation) keys(n, top *node, o *edited, at *step, depth int, fits bool) {
	var strange []string
	for k := range o.now {
		if n.memberOrPattern(k) == nil && v.walk.step(top.reach) && top.named(k) == nil {
			strange = append(strange, k)
		}
	}
	if strange == nil {
		return
	}
	slices.Sort(strange)
	alike := make(map[string][]string) // names of properties
	for i := range n.members {
		f := foldKey(n.members[i].name)
		alike[f] = append(alike[f], n.members[i].name)
	}
	claims := make(map[string]int, len(strange))
	for _, k := range strange {
		claims[foldKey(k)]++
	}
	for _, k := range strange {
		f := foldKey(k)
		if properties := alike[f]; len(properties) == 1 && claims[f] == 1 && v.mayRename(n, o, k, properties[0], at, depth, fits) {
			name := properties[0]
			here := at.member(name)
			v.record(&here, k, name, "key_renamed", 0.9)
			value := o.now[k]
			o.drop(k)
			o.set(name, value)
			continue
		}
		if n.closed && !v.o.KeepUnknown && !v.tool.RequireMarker {
			here := at.member(k)
			v.record(&here, o.now[k], nil, "unknown_dropped", 0.9)
			o.drop(k)
		}
	}
}

// mayRename reports whether a key may become a property's name. In an object that fits as
// it is, the value must be one for the property.
func (v *validation) mayRename(n *node, o *edited, key, name string, at *step, depth int, fits bool) bool {
	if _, taken := o.now[name]; taken {
		return false
	}
	if !fits {
		return true
	}
	sub := n.member(name)
	m := v.mark()
	here := at.member(name)
	made := v.coerce(sub, o.now[key], &here, depth+1)
	v.undo(m)
	return n.additional == nil && v.walk.fits(sub, made, depth+1) == fitting
}

func foldKey(k string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == ' ' || r == '.' || r == ':' {
			return -1
		}
		return unicode.ToLower(r)
	}, k)
}

// maxListed is how many changes to what is in one list are listed one by one: more are
// listed as one change of the list.
const maxListed = 64

// array coerces the items of a list.
func (v *validation) array(n *node, list []any, at *step, depth int) []any {
	var out []any
	start := v.mark()
	for i, e := range list {
		sub := n.item(i)
		if sub == nil {
			if i >= len(n.prefix) {
				break
			}
			continue
		}
		here := at.at(i)
		was := v.mark()
		made := v.coerce(sub, e, &here, depth+1)
		if v.grew(was) {
			if out == nil {
				out = slices.Clone(list)
			}
			out[i] = made
		}
	}
	if out == nil {
		return list
	}
	if changes := v.changes[start:]; len(changes) > maxListed {
		rule, factor := changes[0].Rule, factorOf(changes)
		if slices.ContainsFunc(changes, func(c change) bool { return c.Rule != rule }) {
			rule = "several"
		}
		v.undo(start)
		v.record(at, list, out, rule, factor)
	}
	return out
}

// branch coerces a value to the branch of anyOf or oneOf that takes the fewest
// changes. Two branches that would make different values of it leave it as it is.
func (v *validation) branch(branches []*node, top *node, value any, at *step, depth int) any {
	var fits []*node
	for _, b := range branches {
		if v.walk.fits(b, value, depth) == fitting {
			fits = append(fits, b)
		}
	}
	switch {
	case len(fits) == 1:
		return v.within(fits[0], top, value, at, depth)
	case len(fits) > 1:
		return value
	}
	var best []attempt
	for _, b := range branches {
		m := v.mark()
		made := v.within(b, top, value, at, depth)
		changes := slices.Clone(v.changes[m:])
		v.undo(m)
		if len(changes) == 0 || v.walk.fits(b, made, depth) != fitting {
			continue
		}
		a := attempt{value: made, changes: changes}
		switch {
		case len(best) == 0 || len(changes) < len(best[0].changes):
			best = []attempt{a}
		case len(changes) == len(best[0].changes) && !equal(made, best[0].value):
			best = append(best, a)
		}
	}
	if len(best) != 1 {
		return value
	}
	v.recordAll(best[0].changes)
	return best[0].value
}
