package validator

import (
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/callwright/callwright/internal/text"
	"github.com/callwright/callwright/registry"
)

// NOTE: the plan holds every keyword that the schema library checks, but for unevaluated
// properties and items. A keyword that is added here belongs into fits and explain too;
// TestAgrees and FuzzAgrees hold both to the library's verdicts.

// plan is a tool's compiled schema in the form in which values are walked along it.
type plan struct {
	root *node
	// ambiguous says that one value may be checked against one node more than once: then
	// what is found for nodes that are shared is remembered.
	ambiguous bool
	warnings  []string
}

// node is one schema of a plan. Schemas that refer to each other are nodes that do.
type node struct {
	schema        *jsonschema.Schema
	always, never bool // the schemas true and false
	shared        bool // more than one node leads to it
	types         int  // that it names itself; tAny if none
	accepts       int  // that it accepts, with all that applies to the same value; 0 until known
	reach         int  // how many nodes apply to the same value at most, with itself
	enum          []any
	words         map[string]bool // of an enum of many strings
	constant      *any
	format        *jsonschema.Format

	// What applies to the same value too.
	refs           []*node
	refOnly        bool // other keywords beside the reference do not count, as before draft 2019-09
	all, any, one  []*node
	not            *node
	cond, yes, no  *node // if, then, else
	loose          *node // unevaluatedProperties
	looseItems     *node // unevaluatedItems
	object, array  bool  // has keywords for objects, for arrays
	members        []member
	byName         map[string]int
	minMembers     int
	maxMembers     int
	required       []string // those that are no member
	patterns       []patternMember
	additional     *node
	closed         bool // no additional members
	names          *node
	dependents     []dependent
	minItems       int
	maxItems       int
	unique         bool
	prefix         []*node
	rest           *node
	closedItems    bool // no items behind the prefix
	contains       *node
	minContains    int
	maxContains    int
	minLength      int
	maxLength      int
	pattern        jsonschema.Regexp
	patternSize    int
	minimum        *bound
	maximum        *bound
	aboveMinimum   *bound // exclusive
	belowMaximum   *bound
	multipleOf     *bound
	fallback       *any // its default, or that of what it refers to; nil if there is none that fits
	fallbackSought bool
	fills          bool // there are defaults in it
}

// member is a property of an object.
type member struct {
	name     string
	node     *node
	required bool
}

type patternMember struct {
	pattern jsonschema.Regexp
	size    int
	node    *node
}

// dependent is what holds for an object that has a key.
type dependent struct {
	key      string
	required []string
	node     *node
}

// unbounded stands for a limit that there is not.
const unbounded = -1

// planOf returns the plan of a tool's schema, nil if it has none.
func planOf(t *registry.Tool) *plan {
	p, _ := t.Derived(func(s *jsonschema.Schema) any { return newPlan(s) }).(*plan)
	return p
}

// wordsFrom is from how many strings on an enum is looked up, not searched.
const wordsFrom = 16

func newPlan(s *jsonschema.Schema) *plan {
	b := planner{nodes: make(map[*jsonschema.Schema]*node)}
	p := &plan{root: b.node(s)}
	p.root.shared = true
	for len(b.work) > 0 {
		n := b.work[len(b.work)-1]
		b.work = b.work[:len(b.work)-1]
		b.fill(n)
		p.ambiguous = p.ambiguous || n.ambiguous()
	}
	for _, n := range b.order {
		n.acceptedTypes()
	}
	b.defaults(p)
	return p
}

// planner makes the nodes of a plan.
type planner struct {
	nodes map[*jsonschema.Schema]*node
	order []*node
	work  []*node
}

// node returns the node of a schema, to be filled later.
func (b *planner) node(s *jsonschema.Schema) *node {
	if s == nil {
		return nil
	}
	if n := b.nodes[s]; n != nil {
		n.shared = true
		return n
	}
	n := &node{schema: s}
	b.nodes[s] = n
	b.order = append(b.order, n)
	b.work = append(b.work, n)
	return n
}

func (b *planner) list(schemas []*jsonschema.Schema) (nodes []*node) {
	for _, s := range schemas {
		nodes = append(nodes, b.node(s))
	}
	return nodes
}

func limitOf(n *int) int {
	if n == nil {
		return unbounded
	}
	return *n
}

// fill takes over the keywords of a node's schema.
func (b *planner) fill(n *node) {
	s := n.schema
	n.types = tAny
	if s.Bool != nil {
		n.always, n.never = *s.Bool, !*s.Bool
	}
	if s.Types != nil && !s.Types.IsEmpty() {
		n.types = 0
		for _, name := range s.Types.ToStrings() {
			n.types |= typeBits[name]
		}
	}
	n.constant = s.Const
	if s.Enum != nil {
		n.setEnum(s.Enum.Values)
	}
	n.format = s.Format
	// A tool's schema is one resource, so that a dynamic reference leads where it would
	// lead if it were none.
	refs := []*jsonschema.Schema{s.Ref, s.RecursiveRef}
	if s.DynamicRef != nil {
		refs = append(refs, s.DynamicRef.Ref)
	}
	for _, ref := range refs {
		if ref != nil {
			n.refs = append(n.refs, b.node(ref))
		}
	}
	n.refOnly = s.Ref != nil && s.DraftVersion < 2019
	n.all, n.any, n.one, n.not = b.list(s.AllOf), b.list(s.AnyOf), b.list(s.OneOf), b.node(s.Not)
	if n.cond = b.node(s.If); n.cond != nil {
		n.yes, n.no = b.node(s.Then), b.node(s.Else)
	}
	n.loose, n.looseItems = b.node(s.UnevaluatedProperties), b.node(s.UnevaluatedItems)
	b.fillObject(n)
	b.fillArray(n)
	n.minLength, n.maxLength, n.pattern = limitOf(s.MinLength), limitOf(s.MaxLength), s.Pattern
	n.patternSize = patternSize(s.Pattern)
	n.minimum, n.maximum = newBound(s.Minimum), newBound(s.Maximum)
	n.aboveMinimum, n.belowMaximum = newBound(s.ExclusiveMinimum), newBound(s.ExclusiveMaximum)
	n.multipleOf = newBound(s.MultipleOf)
}

func (n *node) setEnum(values []any) {
	n.enum = values
	if len(values) < wordsFrom {
		return
	}
	n.words = make(map[string]bool, len(values))
	for _, v := range values {
		s, ok := v.(string)
		if !ok {
			n.words = nil
			return
		}
		n.words[s] = true
	}
}

// patternSize is about how many instructions a pattern's program has.
func patternSize(p jsonschema.Regexp) int {
	if sized, ok := p.(interface{ Instructions() int }); ok {
		return sized.Instructions()
	}
	return 1
}

func (b *planner) fillObject(n *node) {
	s := n.schema
	n.minMembers, n.maxMembers = limitOf(s.MinProperties), limitOf(s.MaxProperties)
	required := make(map[string]bool, len(s.Required))
	for _, name := range s.Required {
		required[name] = true
		if s.Properties[name] == nil {
			n.required = append(n.required, name)
		}
	}
	if len(s.Properties) > 0 {
		n.byName = make(map[string]int, len(s.Properties))
		for i, name := range text.SortedKeys(s.Properties) {
			n.byName[name] = i
			n.members = append(n.members, member{name, b.node(s.Properties[name]), required[name]})
		}
	}
	for re, sub := range s.PatternProperties {
		n.patterns = append(n.patterns, patternMember{re, patternSize(re), b.node(sub)})
	}
	slices.SortFunc(n.patterns, func(x, y patternMember) int { return strings.Compare(x.pattern.String(), y.pattern.String()) })
	switch additional := s.AdditionalProperties.(type) {
	case bool:
		n.closed = !additional
	case *jsonschema.Schema:
		n.additional = b.node(additional)
	}
	n.names = b.node(s.PropertyNames)
	for _, key := range text.SortedKeys(s.Dependencies) {
		switch dep := s.Dependencies[key].(type) {
		case []string:
			n.dependents = append(n.dependents, dependent{key: key, required: dep})
		case *jsonschema.Schema:
			n.dependents = append(n.dependents, dependent{key: key, node: b.node(dep)})
		}
	}
	for _, key := range text.SortedKeys(s.DependentSchemas) {
		n.dependents = append(n.dependents, dependent{key: key, node: b.node(s.DependentSchemas[key])})
	}
	for _, key := range text.SortedKeys(s.DependentRequired) {
		n.dependents = append(n.dependents, dependent{key: key, required: s.DependentRequired[key]})
	}
	n.object = n.minMembers != unbounded || n.maxMembers != unbounded || len(s.Required) > 0 || n.members != nil || n.patterns != nil ||
		n.additional != nil || n.closed || n.names != nil || n.dependents != nil
}

func (b *planner) fillArray(n *node) {
	s := n.schema
	n.minItems, n.maxItems, n.unique = limitOf(s.MinItems), limitOf(s.MaxItems), s.UniqueItems
	n.contains, n.minContains, n.maxContains = b.node(s.Contains), limitOf(s.MinContains), limitOf(s.MaxContains)
	if s.DraftVersion >= 2020 {
		n.prefix, n.rest = b.list(s.PrefixItems), b.node(s.Items2020)
	} else {
		switch items := s.Items.(type) {
		case *jsonschema.Schema:
			n.rest = b.node(items)
		case []*jsonschema.Schema:
			n.prefix = b.list(items)
			switch additional := s.AdditionalItems.(type) {
			case bool:
				n.closedItems = !additional
			case *jsonschema.Schema:
				n.rest = b.node(additional)
			}
		}
	}
	n.array = n.minItems != unbounded || n.maxItems != unbounded || n.unique || n.contains != nil || n.prefix != nil || n.rest != nil ||
		n.closedItems
}

// ambiguous reports whether a node may check one value, or one member of it, more than
// once.
func (n *node) ambiguous() bool {
	ways := len(n.refs) + len(n.all) + len(n.any) + len(n.one)
	for _, sub := range []*node{n.not, n.cond, n.yes, n.no} {
		if sub != nil {
			ways++
		}
	}
	for i := range n.dependents {
		if n.dependents[i].node != nil {
			ways++
		}
	}
	members := len(n.patterns)
	if n.members != nil {
		members++
	}
	if n.members != nil || n.patterns != nil || n.additional != nil || n.prefix != nil || n.rest != nil {
		ways++
	}
	return ways > 1 || members > 1 || n.contains != nil
}

// acceptedTypes returns the types that a node accepts, as far as schemas name any, and
// counts the nodes that apply with it.
func (n *node) acceptedTypes() int {
	if n.accepts != 0 {
		return n.accepts
	}
	n.reach = 1
	n.eachInPlace(func(sub *node) {
		sub.acceptedTypes()
		n.reach += sub.reach
	})
	set := n.types
	if set == tAny {
		switch {
		case n.enum != nil:
			set = 0
			for _, e := range n.enum {
				set |= typeBits[kindOf(e)]
			}
		case n.constant != nil:
			set = typeBits[kindOf(*n.constant)]
		}
	}
	for _, list := range [][]*node{n.refs, n.all} {
		for _, sub := range list {
			set &= sub.acceptedTypes()
		}
	}
	for _, branches := range [][]*node{n.any, n.one} {
		if len(branches) > 0 {
			union := 0
			for _, sub := range branches {
				union |= sub.acceptedTypes()
			}
			set &= union
		}
	}
	if set == 0 {
		set = tAny
	}
	n.accepts = set
	return set
}

// maxDefaultSteps bounds what checking the defaults of a schema may cost.
const maxDefaultSteps = 1 << 20

// defaults finds the default of each property, and where in the plan there are any. A
// default that does not fit is none.
func (b *planner) defaults(p *plan) {
	w := walk{plan: p, limit: maxDefaultSteps, most: maxDefaultSteps}
	leads := map[*node][]*node{} // from a node to those that lead to it
	var work []*node
	for _, n := range b.order {
		n.each(func(sub *node) { leads[sub] = append(leads[sub], n) })
		for i := range n.members {
			if w.defaultOf(n.members[i].node) != nil && !n.fills {
				n.fills = true
				work = append(work, n)
			}
		}
	}
	for _, n := range b.order {
		if n.schema.Default != nil && n.fallback == nil && n.fallbackSought && len(p.warnings) < maxErrors {
			_, at, _ := strings.Cut(n.schema.Location, "#")
			p.warnings = append(p.warnings, "default_ignored: "+at+": it does not fit its own schema")
		}
	}
	for len(work) > 0 {
		n := work[len(work)-1]
		work = work[:len(work)-1]
		for _, m := range leads[n] {
			if !m.fills {
				m.fills = true
				work = append(work, m)
			}
		}
	}
}

// defaultOf returns a node's default, its own before that of what it refers to.
func (w *walk) defaultOf(n *node) *any {
	if n.fallbackSought {
		return n.fallback
	}
	n.fallbackSought = true
	if d := n.schema.Default; d != nil {
		if w.fits(n, *d, 0) == fitting {
			n.fallback = d
		}
		return n.fallback
	}
	for _, list := range [][]*node{n.refs, n.all} {
		for _, sub := range list {
			if n.fallback == nil {
				n.fallback = w.defaultOf(sub)
			}
		}
	}
	return n.fallback
}

// each calls f for each node that a node leads to.
func (n *node) each(f func(*node)) {
	n.eachInPlace(f)
	for i := range n.members {
		f(n.members[i].node)
	}
	for i := range n.patterns {
		f(n.patterns[i].node)
	}
	for _, sub := range n.prefix {
		f(sub)
	}
	for _, sub := range []*node{n.additional, n.names, n.rest, n.contains, n.loose, n.looseItems} {
		if sub != nil {
			f(sub)
		}
	}
}

// eachInPlace calls f for each node that applies to the same value.
func (n *node) eachInPlace(f func(*node)) {
	for _, list := range [][]*node{n.refs, n.all, n.any, n.one} {
		for _, sub := range list {
			f(sub)
		}
	}
	for _, sub := range []*node{n.not, n.cond, n.yes, n.no} {
		if sub != nil {
			f(sub)
		}
	}
	for i := range n.dependents {
		if sub := n.dependents[i].node; sub != nil {
			f(sub)
		}
	}
}

// item returns the node of an array's element, nil if nothing is said of it.
func (n *node) item(i int) *node {
	if i < len(n.prefix) {
		return n.prefix[i]
	}
	return n.rest
}

// member returns the node of an object's property by its name, nil if it has none.
func (n *node) member(key string) *node {
	if i, ok := n.byName[key]; ok {
		return n.members[i].node
	}
	return nil
}

// memberOrPattern returns the node of an object's member by its name, or by a pattern that
// the name matches.
func (n *node) memberOrPattern(key string) *node {
	if m := n.member(key); m != nil {
		return m
	}
	for i := range n.patterns {
		if n.patterns[i].pattern.MatchString(key) {
			return n.patterns[i].node
		}
	}
	return nil
}

// named finds the node of a property through all that applies to the same value: nil if no
// schema names it, by itself or by a pattern.
func (n *node) named(key string) *node {
	return n.find(func(n *node) *node { return n.memberOrPattern(key) })
}

// find returns the first node that f finds in a node or in what applies to the same value,
// but for what must not apply.
func (n *node) find(f func(*node) *node) *node {
	if n == nil {
		return nil
	}
	if found := f(n); found != nil {
		return found
	}
	for _, list := range [][]*node{n.refs, n.all, n.any, n.one, {n.yes, n.no}} {
		for _, sub := range list {
			if found := sub.find(f); found != nil {
				return found
			}
		}
	}
	for i := range n.dependents {
		if found := n.dependents[i].node.find(f); found != nil {
			return found
		}
	}
	return nil
}

// property finds the node of an object's member: of a property, else that of additional
// ones.
func (n *node) property(key string) *node {
	if found := n.named(key); found != nil {
		return found
	}
	return n.find(func(n *node) *node { return n.additional })
}

// element finds the node of an array's element.
func (n *node) element(i int) *node { return n.find(func(n *node) *node { return n.item(i) }) }
