package dispatch

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/callwright/callwright/internal/text"
	"github.com/callwright/callwright/validator"
)

// Plan is the order in which the calls of a reply run, without any of them having run.
type Plan struct {
	// Steps has one step for each call, in the text's order. A call that stood in another
	// one's arguments comes right before that one.
	Steps []Step `json:"steps"`
}

// Step is one call of a plan.
type Step struct {
	Call *Call `json:"call"`
	// Level is 0 for a call that waits for no other, else one more than the highest level
	// of those that it waits for. Levels are for people: a call starts as soon as its own
	// predecessors have ended.
	Level int `json:"level"`
	// After are the ids of the calls that it waits for.
	After []string `json:"after,omitempty"`
	// Decision says whether the policy allows it, with the arguments as far as they are
	// known, and Why.
	Decision Decision `json:"decision"`
	Why      string   `json:"why,omitempty"`
	// Err says why it cannot run.
	Err *Error `json:"error,omitempty"`
}

// Levels returns the steps by their level.
func (p *Plan) Levels() [][]*Step {
	var levels [][]*Step
	for i := range p.Steps {
		s := &p.Steps[i]
		for len(levels) <= s.Level {
			levels = append(levels, nil)
		}
		levels[s.Level] = append(levels[s.Level], s)
	}
	return levels
}

// String writes the plan for people, one line a call.
func (p *Plan) String() string {
	var b strings.Builder
	for level, steps := range p.Levels() {
		for _, s := range steps {
			fmt.Fprintf(&b, "%d. %s %s", level+1, s.Call.Tool, s.Call.ID)
			if len(s.After) > 0 {
				fmt.Fprintf(&b, " after %s", strings.Join(s.After, ", "))
			}
			switch {
			case s.Err != nil:
				fmt.Fprintf(&b, ": %s: %s", s.Err.Code, s.Err.Message)
			case s.Decision == Ask || s.Decision == Deny:
				fmt.Fprintf(&b, ": %s: %s", s.Decision, s.Why)
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// node is a call in a graph, or a join: a point that is reached when some calls have
// ended, so that a call can wait for many with one edge.
type node struct {
	call  *Call // nil for a join
	tool  *bound
	place int               // in the text: calls in another one's arguments have that one's
	err   *Error            // why it cannot run, as far as is known before it could
	errs  []validator.Error // what the parser found wrong with it
	level int
	index int            // in the graph
	uses  map[*node]bool // nodes whose results it uses
	after []int          // nodes that it waits for, each once, sorted
	next  []int          // nodes that wait for it
	check bool           // its arguments have to be validated when they are final
	fill  bool           // its arguments have to be filled in from the context, or by resolvers
	refer bool           // its arguments have references, or escaped ones

	// While it runs:
	lost    []*node   // calls before it that failed
	broken  bool      // it uses the result of one of them
	decided bool      // the policy was asked
	why     string    // what the policy said
	started time.Time // zero while it does not run
	logged  bool      // that it goes on too long
	told    bool      // what became of it
}

// graph is the calls of one reply, with what they wait for.
type graph struct {
	nodes []*node // the calls in the text's order, then the joins
	calls int     // how many of the nodes are calls
	names *names
	joins map[string][]int // by tool: the joins of its first two calls, its first three, …
}

// link finds what each node waits for, their levels, and what can never run.
func (g *graph) link() {
	for i, n := range g.nodes {
		n.index = i
	}
	for _, n := range g.nodes {
		if n.err == nil && n.tool != nil && !n.tool.NoReferences && (n.refer || n.check) {
			g.references(n)
		}
	}
	var byTool map[string][]int
	for i, n := range g.nodes[:g.calls] {
		if n.tool == nil || len(n.tool.Dependencies) == 0 {
			continue
		}
		if byTool == nil {
			byTool = map[string][]int{}
			for j, other := range g.nodes[:g.calls] {
				byTool[other.call.Tool] = append(byTool[other.call.Tool], j)
			}
		}
		g.dependencies(i, n, byTool)
	}
	edges := false
	for i, n := range g.nodes {
		slices.Sort(n.after)
		n.after = slices.Compact(n.after)
		for _, before := range n.after {
			g.nodes[before].next = append(g.nodes[before].next, i)
			edges = true
		}
	}
	if edges {
		g.cycles()
		g.levels()
	}
}

// references finds the results that a node's arguments use.
func (g *graph) references(n *node) {
	n.refer = false
	var lost []target
	_ = n.eachString(func(at, s string) (any, error) {
		for _, p := range g.names.scan(s, n) {
			n.refer = true
			switch {
			case !p.ref:
			case p.to.err != nil:
				lost = append(lost, p.to)
			default:
				n.use(p.to, at)
			}
		}
		return s, nil
	})
	if len(lost) > 0 {
		slices.SortFunc(lost, func(a, b target) int { return strings.Compare(a.err.Message, b.err.Message) })
		e := *lost[0].err
		e.Calls = lost[0].list
		n.fail(&e)
	}
}

// use notes that a node uses the result of another.
func (n *node) use(to target, at string) {
	if n.uses == nil {
		n.uses = map[*node]bool{}
	}
	n.uses[to.call] = true
	n.call.Uses = append(n.call.Uses, Reference{From: to.call.call.ID, To: n.call.ID, Path: to.path, At: at})
	n.after = append(n.after, to.call.index)
	n.check = true
}

// eachString rebuilds the parameters of a node: f gives what stands in place of each
// string that may hold references.
func (n *node) eachString(f func(at, s string) (any, error)) error {
	for name, v := range n.call.Parameters {
		if n.tool.noReferences[name] {
			continue
		}
		v, err := rebuild(v, text.Pointer("", name), 1, f)
		if err != nil {
			return err
		}
		n.call.Parameters[name] = v
	}
	return nil
}

// dependencies finds the calls of the tools that a node's tool depends on: those that
// stand before it, or else the first one behind.
func (g *graph) dependencies(i int, n *node, byTool map[string][]int) {
	for _, name := range n.tool.Dependencies {
		calls := byTool[name]
		before, _ := slices.BinarySearch(calls, i)
		switch {
		case name == n.call.Tool:
		case before > 0:
			n.after = append(n.after, g.join(name, calls[:before]))
		case len(calls) > 0:
			n.after = append(n.after, calls[0])
		case n.tool.NeedsBefore && n.err == nil:
			n.fail(&Error{Code: CodeDependencyFailed, Message: fmt.Sprintf("call %s first, then this again", name)})
		}
	}
}

// join returns the node that is reached when the first calls of a tool have ended.
func (g *graph) join(tool string, calls []int) int {
	if len(calls) == 1 {
		return calls[0]
	}
	if g.joins == nil {
		g.joins = map[string][]int{}
	}
	for k := len(g.joins[tool]) + 2; k <= len(calls); k++ {
		before := calls[0]
		if k > 2 {
			before = g.joins[tool][k-3]
		}
		g.nodes = append(g.nodes, &node{after: []int{before, calls[k-1]}})
		g.joins[tool] = append(g.joins[tool], len(g.nodes)-1)
	}
	return g.joins[tool][len(calls)-2]
}

func (n *node) fail(e *Error) {
	e.ID, e.Tool = n.call.ID, n.call.Tool
	n.err = e
}

// cycles gives the calls that wait for themselves, through others, an error that names
// the cycle, and takes the edges among them away. It is Tarjan's algorithm, without
// recursion.
func (g *graph) cycles() {
	count, stack := 0, []int(nil)
	index, low, on := make([]int, len(g.nodes)), make([]int, len(g.nodes)), make([]bool, len(g.nodes))
	type frame struct{ node, edge int }
	var work []frame
	enter := func(v int) {
		count++
		index[v], low[v] = count, count
		stack, on[v] = append(stack, v), true
		work = append(work, frame{v, 0})
	}
	for root := range g.nodes {
		if index[root] == 0 {
			enter(root)
		}
		for len(work) > 0 {
			f := &work[len(work)-1]
			v := f.node
			if f.edge < len(g.nodes[v].after) {
				w := g.nodes[v].after[f.edge]
				f.edge++
				switch {
				case index[w] == 0:
					enter(w)
				case on[w]:
					low[v] = min(low[v], index[w])
				}
				continue
			}
			if work = work[:len(work)-1]; len(work) > 0 {
				up := work[len(work)-1].node
				low[up] = min(low[up], low[v])
			}
			if low[v] == index[v] {
				at := slices.Index(stack, v)
				group := slices.Clone(stack[at:])
				stack = stack[:at]
				for _, w := range group {
					on[w] = false
				}
				if len(group) > 1 || slices.Contains(g.nodes[v].after, v) {
					g.breakCycle(group)
				}
			}
		}
	}
}

// breakCycle fails nodes that all wait for each other.
func (g *graph) breakCycle(group []int) {
	slices.Sort(group)
	in := make(map[int]bool, len(group))
	for _, v := range group {
		in[v] = true
	}
	// One cycle among them: from each to the first that it waits for, until one comes twice.
	var path []int
	seen := map[int]int{}
	for v := group[0]; ; {
		if at, twice := seen[v]; twice {
			path = path[at:]
			break
		}
		seen[v] = len(path)
		path = append(path, v)
		for _, w := range g.nodes[v].after {
			if in[w] {
				v = w
				break
			}
		}
	}
	slices.Reverse(path) // in the order in which one leads to the next
	var ids []string
	for _, v := range path {
		if n := g.nodes[v]; n.call != nil {
			ids = append(ids, n.call.ID)
		}
	}
	shown := ids
	if len(shown) > maxShown {
		shown = append(slices.Clone(shown[:maxShown]), "…")
	}
	message := "the call waits for itself"
	if len(ids) > 1 {
		message = fmt.Sprintf("the calls wait for each other: %s, %s", strings.Join(shown, ", "), ids[0])
	}
	for _, v := range group {
		n := g.nodes[v]
		if n.call != nil && n.err == nil {
			n.fail(&Error{Code: CodeCycle, Calls: ids, Message: message + ": make one of them without the other's result"})
		}
		n.after = slices.DeleteFunc(n.after, func(w int) bool { return in[w] })
		n.next = slices.DeleteFunc(n.next, func(w int) bool { return in[w] })
	}
}

// levels gives the nodes their levels.
func (g *graph) levels() {
	waits := make([]int, len(g.nodes))
	var ready []int
	for i, n := range g.nodes {
		if waits[i] = len(n.after); waits[i] == 0 {
			ready = append(ready, i)
		}
	}
	for len(ready) > 0 {
		i := ready[len(ready)-1]
		ready = ready[:len(ready)-1]
		for _, next := range g.nodes[i].next {
			level := g.nodes[i].level + 1
			if g.nodes[next].call == nil {
				level-- // a join is no level of its own
			}
			g.nodes[next].level = max(g.nodes[next].level, level)
			if waits[next]--; waits[next] == 0 {
				ready = append(ready, next)
			}
		}
	}
}

// maxShown bounds how many ids a list for people has.
const maxShown = 16

// waitsFor returns the ids of the calls that a node waits for.
func (g *graph) waitsFor(n *node) (ids []string) {
	work := slices.Clone(n.after)
	for len(work) > 0 && len(ids) < maxShown {
		before := g.nodes[work[len(work)-1]]
		work = work[:len(work)-1]
		if before.call == nil {
			work = append(work, before.after...)
		} else if !slices.Contains(ids, before.call.ID) {
			ids = append(ids, before.call.ID)
		}
	}
	slices.Reverse(ids)
	if len(work) > 0 {
		ids = append(ids, "…")
	}
	return ids
}

// plan returns the graph as a plan.
func (g *graph) plan() *Plan {
	p := &Plan{Steps: make([]Step, g.calls)}
	for i, n := range g.nodes[:g.calls] {
		p.Steps[i] = Step{Call: n.call, Level: n.level, After: g.waitsFor(n), Err: n.err}
	}
	return p
}
