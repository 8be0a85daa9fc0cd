package dispatch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/callwright/callwright/call"
	"github.com/callwright/callwright/internal/text"
	"github.com/callwright/callwright/normalizer"
	"github.com/callwright/callwright/parser"
	"github.com/callwright/callwright/validator"
)

// NOTE: the parser checks a call before anybody knows what its references stand for, and
// rejects one whose tool wants a number where "$call_1.width" stands. This file makes a
// call of what was rejected for nothing but that, or for what the context fills in; its
// arguments are checked when they are final.

// MaxCalls is how many calls one Run takes; the rest is refused.
const MaxCalls = 10_000

// maxNested is how deep calls may stand in each other's arguments.
const maxNested = 8

// collector makes a graph of a parse's result.
type collector struct {
	d     *Dispatcher
	table *table
	c     *Context
	graph *graph
	inner *parser.Parser // of calls written as expressions
	depth int
}

// collect makes the graph of a result: the calls, and what was rejected.
func (d *Dispatcher) collect(r *parser.Result, c *Context) *graph {
	k := &collector{d: d, table: d.table(), c: c}
	k.graph = &graph{names: &names{known: func(tool string) bool { return k.table.lookup(tool) != nil }}}
	k.graph.names.order = k.top(r)
	k.graph.nodes = make([]*node, 0, len(k.graph.names.order))
	for _, n := range k.graph.names.order {
		k.prepare(n)
		k.graph.nodes = append(k.graph.nodes, n)
	}
	k.graph.calls = len(k.graph.nodes)
	k.graph.link()
	return k.graph
}

// top returns a node for each call and each rejected one, in the text's order. Of a
// provider's own calls only the order among the accepted ones is known; the rejected ones
// stand behind them.
func (k *collector) top(r *parser.Result) []*node {
	nodes := make([]*node, 0, len(r.Calls)+len(r.Rejected))
	made := make([]struct {
		node node
		call Call
	}, len(r.Calls))
	add := func(n *node) {
		n.place = len(nodes)
		if n.place >= MaxCalls {
			n.errs = nil
			n.fail(&Error{Code: CodeTooManyCalls, Message: fmt.Sprintf("a reply may have %d calls", MaxCalls)})
		}
		nodes = append(nodes, n)
	}
	var spanned, rest []*parser.Rejected
	for i := range r.Rejected {
		switch x := &r.Rejected[i]; {
		case !x.Meant():
		case x.Span[1] > x.Span[0]:
			spanned = append(spanned, x)
		default:
			rest = append(rest, x)
		}
	}
	for i := range r.Calls {
		c := &r.Calls[i]
		for len(spanned) > 0 && c.Span[1] > c.Span[0] && spanned[0].Span[0] < c.Span[0] {
			add(k.ofRejected(spanned[0], len(nodes)))
			spanned = spanned[1:]
		}
		m := &made[i]
		m.call.Call, m.call.Attempt = *c, 1
		m.node.call, m.node.tool = &m.call, k.table.lookup(c.Tool)
		add(&m.node)
	}
	for _, x := range slices.Concat(spanned, rest) {
		add(k.ofRejected(x, len(nodes)))
	}
	return nodes
}

// ofRejected returns the node of a rejected call.
func (k *collector) ofRejected(x *parser.Rejected, place int) *node {
	n := &node{call: &Call{Attempt: 1}, tool: k.table.lookup(x.Tool), errs: x.Errors}
	c := &n.call.Call
	c.ID, c.Tool, c.Confidence, c.SourceFormat = x.ID, x.Tool, x.Confidence, x.Format
	c.Provenance, c.Raw, c.Span, c.Truncated, c.Score = x.Provenance, x.Raw, x.Span, x.Truncated, x.Score
	c.Parameters, _ = text.Clone(x.Parameters).(map[string]any)
	if c.ID == "" {
		c.ID = madeID(place, x.Tool, x.Raw)
	}
	n.fail(&Error{Code: CodeRejected, Message: (&parser.Result{Rejected: []parser.Rejected{*x}}).Feedback()})
	return n
}

// madeID returns an id for a call that has none: the same for the same reply.
func madeID(place int, tool, raw string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %q %q", place, tool, raw))
	return "call_" + hex.EncodeToString(sum[:12])
}

// prepare makes a node ready to be linked: it fills in the context, and takes a rejected
// call if nothing is wrong with it that the results of other calls, or the context, cannot
// set right.
func (k *collector) prepare(n *node) {
	if n.tool == nil {
		if n.err == nil {
			message := fmt.Sprintf("there is no tool %q", n.call.Tool)
			if near := k.table.registry.Suggest(n.call.Tool); near != "" {
				message += fmt.Sprintf(": did you mean %q?", near)
			}
			n.fail(&Error{Code: CodeUnknownTool, Message: message})
		}
		return
	}
	n.call.Target = n.tool.Tool
	if n.errs == nil && n.err != nil {
		return
	}
	n.refer = !n.tool.NoReferences && mayRefer(n.call.Parameters, 0)
	if n.refer || len(n.tool.fromContext) > 0 || len(n.tool.Resolve) > 0 || n.errs != nil {
		n.call.Parameters, _ = text.Clone(n.call.Parameters).(map[string]any)
		if n.call.Parameters == nil {
			n.call.Parameters = map[string]any{}
		}
	}
	k.restore(n)
	filled := k.fill(n)
	if n.errs == nil || k.accept(n, filled) {
		n.err, n.errs = nil, nil
	}
}

// restore puts references back that the parser coerced, as a text in place of a list
// becomes a list of one.
func (k *collector) restore(n *node) {
	for _, c := range n.call.Coercions {
		if s, ok := c.From.(string); ok && !n.tool.NoReferences {
			if pieces := k.graph.names.scan(s, n); len(pieces) == 1 && pieces[0].ref {
				set(n.call.Parameters, c.Path, s)
			}
		}
	}
}

// fill fills in what the context has of the parameters that the model left out, and
// returns their names.
func (k *collector) fill(n *node) map[string]bool {
	var filled map[string]bool
	for name, path := range n.tool.fromContext {
		at := text.Pointer("", name)
		_, there := n.call.Parameters[name]
		if there && !slices.Contains(n.call.Defaults, at) {
			continue
		}
		v, ok := k.c.Lookup(path)
		if !ok {
			continue
		}
		n.call.Parameters[name] = text.Clone(v)
		if !there {
			n.call.Defaults = append(slices.Clone(n.call.Defaults), at)
		}
		n.check = true
		if filled == nil {
			filled = map[string]bool{}
		}
		filled[name] = true
	}
	for name := range n.tool.Resolve {
		if _, there := n.call.Parameters[name]; !there {
			n.fill, n.check = true, true
		}
	}
	return filled
}

// accept reports whether what is wrong with a rejected call can be set right later, and
// makes calls of those in its arguments.
func (k *collector) accept(n *node, filled map[string]bool) bool {
	if n.call.Truncated || n.tool.entry.RequireMarker && n.call.Provenance == call.Bare {
		return false
	}
	n.check = true
	n.call.Confidence = confidence(&n.call.Call, n.errs)
	n.call.Score = parser.Score{}
	for i := range n.errs {
		e := &n.errs[i]
		keys := text.Keys(e.Path)
		switch {
		case e.Code == parser.CodeExpression:
			if !k.expressions(n) {
				return false
			}
		case e.Code == validator.RequiredParameterMissing:
			if len(keys) != 1 || !filled[keys[0]] && n.tool.Resolve[keys[0]] == nil {
				return false
			}
		case fromValidator(e.Code):
			if v, ok := get(n.call.Parameters, keys); !ok || !k.waits(n, v, e.Path) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// fromValidator reports whether a code says that a value does not fit its schema.
func fromValidator(c validator.Code) bool {
	switch c {
	case validator.InvalidType, validator.InvalidEnumValue, validator.NumberOutOfRange, validator.StringPatternMismatch,
		validator.StringLength, validator.ArrayLength, validator.ItemsNotUnique, validator.InvalidFormat, validator.NumberNotMultiple,
		validator.AmbiguousVariant, validator.SchemaViolation:
		return true
	}
	return false
}

// confidence is that of a call without what its references, and the calls in its
// arguments, were held against it.
func confidence(c *parser.Call, errs []validator.Error) float64 {
	f := c.Confidence
	for _, e := range c.Score.Evidence {
		expression := errs[0].Code == parser.CodeExpression && (e.What == "repair_doubtful" || e.What == "guessed")
		if (expression || e.What == "invalid" || e.What == "missing_required") && e.Factor > 0 {
			f /= e.Factor
		}
	}
	return min(f, 1)
}

// waits reports whether a value that does not fit is not final: it holds a reference, or
// is a call itself.
func (k *collector) waits(n *node, v any, path string) bool {
	if n.tool.NoReferences || n.tool.noReferences[text.Keys(path + "/")[0]] {
		return false
	}
	switch v := v.(type) {
	case string:
		return slices.ContainsFunc(k.graph.names.scan(v, n), func(p piece) bool { return p.ref })
	case map[string]any:
		if found := normalizer.Detect(v, normalizer.Options{Registry: k.table.registry, Marked: true}); len(found.Entries) == 1 {
			if e := &found.Entries[0]; e.Explicit && e.Known {
				if args, ok := e.Arguments.(map[string]any); ok {
					return k.nest(n, e.Name, args, nil, path, "")
				}
			}
		}
		return k.anyWaits(n, v)
	case []any:
		return k.anyWaits(n, v)
	}
	return false
}

// anyWaits reports whether there is a reference in a value.
func (k *collector) anyWaits(n *node, v any) (found bool) {
	_, _ = rebuild(v, "", 0, func(_, s string) (any, error) {
		found = found || slices.ContainsFunc(k.graph.names.scan(s, n), func(p piece) bool { return p.ref })
		return s, nil
	})
	return found
}

// expressions makes calls of the arguments that are calls in Python's notation, and
// reports whether there was one.
func (k *collector) expressions(n *node) bool {
	made := false
	for _, name := range text.SortedKeys(n.call.Parameters) {
		s, ok := n.call.Parameters[name].(string)
		open, end := strings.IndexByte(s, '('), strings.LastIndexByte(s, ')')
		if !ok || open < 1 || end < open || k.table.lookup(s[:open]) == nil || !validTail(s[end+1:]) {
			continue
		}
		if k.inner == nil {
			p, err := parser.New(k.table.registry, parser.Options{NoFallbacks: true, Validation: k.d.Validation})
			if err != nil {
				return false
			}
			k.inner = p
		}
		r, err := k.inner.Parse(context.Background(), "["+s[:end+1]+"]", parser.Context{})
		if err != nil {
			return false
		}
		path := text.Pointer("", name)
		switch {
		case len(r.Calls) == 1 && len(r.Rejected) == 0 && r.Calls[0].Tool == s[:open]:
			made = k.nest(n, s[:open], r.Calls[0].Parameters, nil, path, s[end+1:]) || made
		case len(r.Calls) == 0 && len(r.Rejected) == 1 && r.Rejected[0].Tool == s[:open]:
			made = k.nest(n, s[:open], r.Rejected[0].Parameters, r.Rejected[0].Errors, path, s[end+1:]) || made
		}
	}
	return made
}

// nest makes a call of an argument of another, and puts a reference to it in its place.
// Tools that require a marker are not called so.
func (k *collector) nest(parent *node, tool string, args map[string]any, errs []validator.Error, path, tail string) bool {
	b := k.table.lookup(tool)
	if b == nil || b.entry.RequireMarker || k.depth >= maxNested {
		return false
	}
	n := &node{tool: b, place: parent.place, call: &Call{Attempt: 1, Within: parent.call.ID}}
	c := &n.call.Call
	*c = parent.call.Call
	c.Tool, c.ID, c.Coercions, c.Defaults = tool, madeID(parent.place, tool, parent.call.ID+path), nil, nil
	c.Parameters, _ = text.Clone(args).(map[string]any)
	if errs == nil {
		v := validator.Validate(b.entry, c.Parameters, k.d.Validation)
		c.Parameters, c.Coercions, c.Defaults, errs = v.Parameters, v.Coercions, v.Defaults, v.Errors
	}
	n.errs = errs
	if len(errs) > 0 {
		n.fail(&Error{Code: CodeInvalid, Message: wrong(b, errs)})
	} else {
		n.errs = nil
	}
	k.graph.names.addNested(n)
	k.depth++
	k.prepare(n)
	k.depth--
	k.graph.nodes = append(k.graph.nodes, n)
	set(parent.call.Parameters, path, "$"+c.ID+tail)
	return true
}

// wrong says what is wrong with a call's arguments, for the model.
func wrong(b *bound, errs []validator.Error) string {
	var out strings.Builder
	for i := range errs {
		e := &errs[i]
		if e.Path != "" {
			out.WriteString(e.Path + ": ")
		}
		out.WriteString(e.Message)
		if e.SuggestedFix != "" {
			out.WriteString(" (" + e.SuggestedFix + ")")
		}
		out.WriteString("; ")
	}
	return out.String() + "it is called so: " + b.entry.Signature()
}

// get returns what stands at a path of keys.
func get(v any, keys []string) (any, bool) {
	for _, key := range keys {
		switch x := v.(type) {
		case map[string]any:
			inner, there := x[key]
			if !there {
				return nil, false
			}
			v = inner
		case []any:
			i, ok := index(key, len(x))
			if !ok || key[0] == '-' {
				return nil, false
			}
			v = x[i]
		default:
			return nil, false
		}
	}
	return v, true
}

// set puts a value at a JSON pointer where there is one.
func set(m map[string]any, path string, value any) {
	keys := text.Keys(path)
	if len(keys) == 0 {
		return
	}
	last := keys[len(keys)-1]
	at, ok := get(m, keys[:len(keys)-1])
	if !ok {
		return
	}
	switch x := at.(type) {
	case map[string]any:
		if _, there := x[last]; there {
			x[last] = value
		}
	case []any:
		if i, ok := index(last, len(x)); ok {
			x[i] = value
		}
	}
}
