package validator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"unicode/utf8"
	"unsafe"

	"github.com/callwright/callwright/internal/lenient"
	"github.com/callwright/callwright/internal/text"
)

// verdict is what is found of a value and a node.
type verdict uint8

const (
	unsure verdict = iota // only the schema library knows, or nobody has the time to find out
	fitting
	wrong
)

// Limits of a walk: how deep a value may nest, how many steps are free, and how many it may
// take for each value that is in a value.
const (
	maxDepth       = lenient.MaxDepth
	freeSteps      = 1 << 20
	stepsPerValue  = 32
	firstSteps     = 1 << 8  // without memory for what was found
	stepsPerCheck  = 1 << 12 // before the context is asked again
	bytesPerStep   = 64      // of a text, and of a text by the instructions of a pattern
	maxAskedVisits = 1 << 16 // of the schema library
)

// errTooManySteps says that checking a value takes too long.
var errTooManySteps = errors.New("checking the parameters against the schema takes too many steps: " +
	"let one property tell the alternatives of its anyOf or oneOf apart, or take a part of the schema away")

// errTooDeep says that a value nests too deep.
var errTooDeep = fmt.Errorf("the parameters nest more than %d deep", maxDepth)

// walk checks values against the nodes of a plan. Each value is checked against each node
// once, so that steps are at most the nodes that may apply to each value, together.
type walk struct {
	plan  *plan
	ctx   context.Context
	steps int
	limit int // of steps, where more are asked for
	most  int // steps at all; 0 until it is known
	root  any // the value that the steps are for
	err   error

	memo map[pair]verdict

	// What was met that matters for what comes after the check.
	first     bool // note it
	noting    bool // and look into values of which the schema says nothing
	typeless  bool // text without a type
	huge      bool // a number that is not calculated with
	strange   bool // keys that a schema does not name, beside those that it does
	defaultly bool // members that are missing and have a default
}

// newWalk returns the walk of a validation, which notes what it meets.
func newWalk(ctx context.Context, p *plan, root any) walk {
	w := walk{plan: p, ctx: ctx, root: root, limit: firstSteps, first: true, noting: !p.ambiguous}
	if p.ambiguous {
		w.note(root) // a value may be checked more than once
	}
	return w
}

// pair is a node and an object or list by its identity.
type pair struct {
	node *node
	at   unsafe.Pointer
	n    int
}

func pairOf(n *node, value any) (p pair, ok bool) {
	switch v := value.(type) {
	case map[string]any:
		return pair{n, reflect.ValueOf(value).UnsafePointer(), len(v)}, len(v) > 0
	case []any:
		return pair{n, reflect.ValueOf(value).UnsafePointer(), len(v)}, len(v) > 0
	}
	return pair{}, false
}

// step counts steps, and reports whether there is time for more.
func (w *walk) step(n int) bool {
	w.steps += n
	return w.steps <= w.limit || w.more()
}

// more is asked each few thousand steps.
func (w *walk) more() bool {
	if w.err != nil {
		return false
	}
	if w.ctx != nil {
		if err := w.ctx.Err(); err != nil {
			w.err = err
			return false
		}
	}
	if w.steps > freeSteps && w.most == 0 {
		w.most = freeSteps + stepsPerValue*countValues(w.root)
	}
	if w.most > 0 && w.steps > w.most {
		w.err = errTooManySteps
		return false
	}
	if w.memo == nil && w.plan.ambiguous {
		w.memo = make(map[pair]verdict)
	}
	w.limit = w.steps + stepsPerCheck
	return true
}

// countValues is how many values are in a value.
func countValues(root any) int {
	n := 0
	work := []any{root}
	for len(work) > 0 {
		v := work[len(work)-1]
		work = work[:len(work)-1]
		n++
		switch x := v.(type) {
		case map[string]any:
			for _, e := range x {
				work = append(work, e)
			}
		case []any:
			work = append(work, x...)
		}
	}
	return n
}

// fits checks a value against a node and all that it leads to. The node's own members come
// before what else applies, and the first thing that is wrong ends it.
func (w *walk) fits(n *node, value any, depth int) verdict {
	if n.always && !w.noting {
		return fitting
	}
	if !w.step(1) {
		return unsure
	}
	if depth > maxDepth {
		w.err = errTooDeep
		return unsure
	}
	if n.never {
		return wrong
	}
	if w.memo != nil && n.shared {
		if key, ok := pairOf(n, value); ok {
			if v, ok := w.memo[key]; ok {
				return v
			}
			v := w.check(n, value, depth)
			if w.err == nil {
				w.memo[key] = v
			}
			return v
		}
	}
	return w.check(n, value, depth)
}

// both is the verdict on a value that must fit two nodes.
func both(a, b verdict) verdict {
	if a == wrong || b == wrong {
		return wrong
	}
	return min(a, b)
}

// typeOf returns the type of a value, tNumber for every number, and of that what JSON
// writes; 0 for what JSON has not.
func typeOf(value any) (have int, number string) {
	switch v := value.(type) {
	case string:
		return tString, ""
	case json.Number:
		return tNumber, string(v)
	case bool:
		return tBoolean, ""
	case nil:
		return tNull, ""
	case map[string]any:
		return tObject, ""
	case []any:
		return tArray, ""
	case lenient.Text:
		return 0, ""
	}
	if number, ok := numberText(value); ok {
		return tNumber, number
	}
	return 0, ""
}

// check is fits, after the limits. It is long since it asks each keyword of a schema in
// turn, the cheapest first.
func (w *walk) check(n *node, value any, depth int) verdict { //nolint:gocyclo // see above
	have, number := typeOf(value)
	if have == 0 {
		_, isText := value.(lenient.Text)
		w.typeless = w.typeless || isText
		return wrong
	}
	if have == tNumber {
		if len(number) > 3 && text.HugeNumber(number) {
			w.huge = true
			return unsure
		}
		if n.types&(tNumber|tInteger) == tInteger && !isWhole(number) || n.types&(tNumber|tInteger) == 0 {
			return wrong
		}
	} else if n.types&have == 0 {
		return wrong
	}
	if (n.constant != nil || n.enum != nil) && !w.listed(n, value) {
		return wrong
	}
	if n.format != nil && n.format.Validate(value) != nil {
		return wrong
	}
	found := fitting
	for _, ref := range n.refs {
		if found = both(found, w.fits(ref, value, depth)); found == wrong {
			return wrong
		}
	}
	if n.refOnly {
		return found
	}
	switch v := value.(type) {
	case map[string]any:
		if n.object || w.noting {
			found = both(found, w.fitsObject(n, v, depth))
		}
	case []any:
		if n.array || w.noting {
			found = both(found, w.fitsArray(n, v, depth))
		}
	case string:
		found = both(found, w.fitsString(n, v))
	default:
		if have == tNumber && !n.fitsNumber(number) {
			return wrong
		}
	}
	if found == wrong {
		return wrong
	}
	found = both(found, w.fitsInPlace(n, value, depth))
	if found == fitting && (n.loose != nil && have == tObject || n.looseItems != nil && have == tArray) {
		return unsure
	}
	return found
}

// listed reports whether a value is the node's constant, or one of its enum's.
func (w *walk) listed(n *node, value any) bool {
	if n.constant != nil && !equal(value, *n.constant) {
		return false
	}
	if n.enum == nil {
		return true
	}
	if n.words != nil {
		s, ok := value.(string)
		return ok && n.words[s]
	}
	w.step(len(n.enum))
	for _, e := range n.enum {
		if equal(value, e) {
			return true
		}
	}
	return false
}

func (n *node) fitsNumber(number string) bool {
	return (n.minimum == nil || n.minimum.compare(number) >= 0) && (n.maximum == nil || n.maximum.compare(number) <= 0) &&
		(n.aboveMinimum == nil || n.aboveMinimum.compare(number) > 0) && (n.belowMaximum == nil || n.belowMaximum.compare(number) < 0) &&
		(n.multipleOf == nil || n.multipleOf.divides(number))
}

func (w *walk) fitsString(n *node, s string) verdict {
	if n.minLength != unbounded || n.maxLength != unbounded {
		length := utf8.RuneCountInString(s)
		if length < n.minLength || n.maxLength != unbounded && length > n.maxLength {
			return wrong
		}
	}
	if n.pattern != nil && !w.matches(n.pattern, n.patternSize, s) {
		if w.err != nil {
			return unsure
		}
		return wrong
	}
	return fitting
}

// matches matches a pattern, whose time is the text's length by the pattern's size.
func (w *walk) matches(p interface{ MatchString(string) bool }, size int, s string) bool {
	return w.step(len(s)/bytesPerStep*size) && p.MatchString(s)
}

// fitsObject checks an object's members. It looks up what the schema names where that is
// less than what the object has.
func (w *walk) fitsObject(n *node, m map[string]any, depth int) verdict {
	if len(m) < n.minMembers || n.maxMembers != unbounded && len(m) > n.maxMembers {
		return wrong
	}
	for _, name := range n.required {
		if _, ok := m[name]; !ok {
			return wrong
		}
	}
	found, left := fitting, len(m)
	for i := range n.members {
		p := &n.members[i]
		e, ok := m[p.name]
		switch {
		case ok:
			left--
			if found = both(found, w.fits(p.node, e, depth+1)); found == wrong {
				return wrong
			}
		case p.required:
			return wrong
		case w.first && p.node.fallback != nil:
			w.defaultly = true
		}
	}
	if left > 0 || n.patterns != nil {
		found = both(found, w.fitsRest(n, m, depth))
	}
	if n.names != nil && found != wrong {
		for k := range m {
			if found = both(found, w.fits(n.names, k, depth+1)); found == wrong {
				return wrong
			}
		}
	}
	for i := range n.dependents {
		d := &n.dependents[i]
		if _, ok := m[d.key]; !ok || found == wrong {
			continue
		}
		for _, name := range d.required {
			if _, ok := m[name]; !ok {
				return wrong
			}
		}
		if d.node != nil {
			found = both(found, w.fits(d.node, m, depth))
		}
	}
	return found
}

// fitsRest checks the members that are no properties, and all by their patterns.
func (w *walk) fitsRest(n *node, m map[string]any, depth int) verdict {
	found := fitting
	for k, e := range m {
		_, known := n.byName[k]
		for i := range n.patterns {
			p := &n.patterns[i]
			if w.matches(p.pattern, p.size, k) {
				known = true
				if found = both(found, w.fits(p.node, e, depth+1)); found == wrong {
					return wrong
				}
			}
			if w.err != nil {
				return unsure
			}
		}
		switch {
		case known:
		case n.closed:
			return wrong
		case n.additional != nil:
			if found = both(found, w.fits(n.additional, e, depth+1)); found == wrong {
				return wrong
			}
		case w.first:
			w.strange = w.strange || n.members != nil
			if w.noting {
				w.note(e)
			}
		}
	}
	return found
}

// note looks for what matters in a value of which the schema says nothing.
func (w *walk) note(value any) {
	work := make([]any, 0, 8)
	for work = append(work, value); len(work) > 0; {
		v := work[len(work)-1]
		work = work[:len(work)-1]
		w.steps++
		switch x := v.(type) {
		case lenient.Text:
			w.typeless = true
		case json.Number:
			w.huge = w.huge || text.HugeNumber(string(x))
		case map[string]any:
			for _, e := range x {
				work = append(work, e)
			}
		case []any:
			work = append(work, x...)
		}
	}
}

func (w *walk) fitsArray(n *node, list []any, depth int) verdict {
	if len(list) < n.minItems || n.maxItems != unbounded && len(list) > n.maxItems || n.closedItems && len(list) > len(n.prefix) {
		return wrong
	}
	found := fitting
	for i, e := range list {
		sub := n.item(i)
		if sub == nil {
			if !w.noting {
				break
			}
			w.note(e)
			continue
		}
		if found = both(found, w.fits(sub, e, depth+1)); found == wrong {
			return wrong
		}
	}
	if n.unique && len(list) > 1 {
		if i, _ := w.duplicates(list); i >= 0 {
			return wrong
		}
	}
	if n.contains != nil {
		found = both(found, w.fitsContains(n, list, depth))
	}
	return found
}

func (w *walk) fitsContains(n *node, list []any, depth int) verdict {
	most, least := 0, 0 // how many items fit, with and without those that may
	for _, e := range list {
		switch w.fits(n.contains, e, depth+1) {
		case fitting:
			least++
			most++
		case unsure:
			most++
		}
	}
	want := 1
	if n.minContains != unbounded {
		want = n.minContains
	}
	switch {
	case most < want, n.maxContains != unbounded && least > n.maxContains:
		return wrong
	case least < want, n.maxContains != unbounded && most > n.maxContains:
		return unsure
	}
	return fitting
}

// fitsInPlace checks a value against what else applies to it.
func (w *walk) fitsInPlace(n *node, value any, depth int) verdict {
	found := fitting
	for _, sub := range n.all {
		if found = both(found, w.fits(sub, value, depth)); found == wrong {
			return wrong
		}
	}
	if n.any != nil {
		branches := wrong
		for _, sub := range n.any {
			v := w.fits(sub, value, depth)
			if v == fitting {
				branches = fitting
				break
			}
			if v == unsure {
				branches = unsure
			}
		}
		if found = both(found, branches); found == wrong {
			return wrong
		}
	}
	if n.one != nil {
		if found = both(found, w.fitsOne(n.one, value, depth)); found == wrong {
			return wrong
		}
	}
	if n.not != nil {
		switch w.fits(n.not, value, depth) {
		case fitting:
			return wrong
		case unsure:
			found = unsure
		}
	}
	if n.cond != nil {
		switch w.fits(n.cond, value, depth) {
		case fitting:
			if n.yes != nil {
				found = both(found, w.fits(n.yes, value, depth))
			}
		case wrong:
			if n.no != nil {
				found = both(found, w.fits(n.no, value, depth))
			}
		default:
			found = unsure
		}
	}
	return found
}

// fitsOne checks that a value fits exactly one node.
func (w *walk) fitsOne(nodes []*node, value any, depth int) verdict {
	fit, maybe := 0, 0
	for _, sub := range nodes {
		switch w.fits(sub, value, depth) {
		case fitting:
			if fit++; fit > 1 {
				return wrong
			}
		case unsure:
			maybe++
		}
	}
	switch {
	case maybe > 0:
		return unsure
	case fit == 1:
		return fitting
	}
	return wrong
}
