package dispatch

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/callwright/callwright/call"
	"github.com/callwright/callwright/internal/text"
	"github.com/callwright/callwright/parser"
	"github.com/callwright/callwright/validator"
)

// Plan orders the calls of a result without running them: a dry run. Its error joins the
// [*Error] of each call that cannot run.
func (d *Dispatcher) Plan(r *parser.Result, c *Context) (*Plan, error) {
	g := d.collect(r, c)
	p := g.plan()
	var errs []error
	for i, n := range g.nodes[:g.calls] {
		if n.err != nil {
			errs = append(errs, n.err)
			continue
		}
		p.Steps[i].Decision, p.Steps[i].Why = d.Policy.decide(context.Background(), n.call)
	}
	return p, errors.Join(errs...)
}

// Run runs the calls of a result, and gives a result for each of them and for each
// rejected one, in the text's order, whatever became of it. The result has to come from a
// parser with the dispatcher's [Dispatcher.Registry]. c may be nil.
//
// A call starts as soon as those that it waits for have ended and there is room for it: as
// the policy allows, with other calls' results in its arguments, which are then validated
// again. When ctx ends, running handlers are told, no more calls start, and Run returns
// when the handlers have. Its error is that of ctx, and no other.
func (d *Dispatcher) Run(ctx context.Context, r *parser.Result, c *Context) (*Report, error) {
	return d.run(ctx, r, c, &session{})
}

// Call runs one call of a tool with arguments that are validated first: for programs that
// know what to call. Middleware and policy hold as ever.
func (d *Dispatcher) Call(ctx context.Context, tool string, arguments map[string]any, c *Context) Result {
	var made parser.Call
	made.ID, made.Tool, made.Provenance, made.Confidence = "call_1", tool, call.Native, 1
	made.Parameters, _ = text.Clone(arguments).(map[string]any)
	r := &parser.Result{Calls: []parser.Call{made}}
	if b := d.table().lookup(tool); b != nil {
		v := validator.Validate(b.entry, made.Parameters, d.Validation)
		if v.Valid() {
			r.Calls[0].Parameters, r.Calls[0].Coercions, r.Calls[0].Defaults = v.Parameters, v.Coercions, v.Defaults
		} else { // the context may fill in what is missing
			r = &parser.Result{Rejected: []parser.Rejected{{
				ID: made.ID, Tool: tool, Parameters: v.Parameters, Provenance: call.Native, Confidence: 1, Errors: v.Errors,
			}}}
		}
	}
	report, _ := d.Run(ctx, r, c) // the result says it where ctx ended
	return report.Results[0]
}

// session is what is approved for the rest of a Run, or of a Loop.
type session struct {
	turn  string        // separates the ids of one reply's calls from another's
	start func(*Call)   // is told of a call that starts; may be nil
	end   func(*Result) // is told what became of each call; may be nil

	mu     sync.Mutex
	always map[string]bool // by tool
}

func (s *session) allows(tool string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.always[tool]
}

func (s *session) allow(tool string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.always == nil {
		s.always = map[string]bool{}
	}
	s.always[tool] = true
}

// run is one Run.
//
// NOTE: mu guards what is below it, and the fields of nodes that have not started. Between
// take and finish a node belongs to the goroutine that took it.
type run struct {
	d       *Dispatcher
	ctx     context.Context
	c       *Context
	g       *graph
	session *session
	results []Result
	limit   int // how many workers there may be
	group   sync.WaitGroup

	mu       sync.Mutex
	changed  sync.Cond
	memory   Memory // of this run, if the dispatcher has none
	waits    []int  // by node: how many of those that it waits for have not ended
	ready    queue
	active   map[*bound]int     // running calls, of tools with a limit of their own
	parked   map[*bound][]*node // ready calls beyond that limit
	asks     []*node            // calls to be asked about, in the text's order
	asking   bool
	left     int // nodes that have not ended
	workers  int // goroutines that run calls, the caller's included
	idle     int // of these, how many wait
	watchdog *time.Timer
}

func (d *Dispatcher) run(ctx context.Context, result *parser.Result, c *Context, s *session) (*Report, error) {
	g := d.collect(result, c)
	r := &run{
		d: d, ctx: ctx, c: c, g: g, session: s, results: make([]Result, g.calls), limit: d.Parallel, waits: make([]int, len(g.nodes)),
		left: len(g.nodes), workers: 1,
	}
	if r.limit <= 0 {
		r.limit = DefaultParallel
	}
	r.changed.L = &r.mu
	r.watchdog = time.AfterFunc(stuckAfter, r.watch)
	var first []*node
	for i, n := range g.nodes {
		if r.waits[i] = len(n.after); r.waits[i] == 0 {
			first = append(first, n)
		}
	}
	r.mu.Lock()
	r.release(first)
	r.work()
	r.mu.Unlock()
	r.group.Wait()
	r.mu.Lock()
	r.watchdog.Stop()
	r.mu.Unlock()
	report := &Report{Results: r.results, graph: g, vision: c != nil && c.Capabilities.SupportsVision}
	for i := range r.results {
		x := &r.results[i]
		if s.end != nil && !g.nodes[i].told {
			s.end(x)
		}
		report.Stop = report.Stop || x.stop
		if x.Err != nil && x.Err.Code == CodePending {
			report.Pending = append(report.Pending, x.Call)
		}
	}
	return report, ctx.Err()
}

// work runs calls until all have ended. mu is held.
func (r *run) work() {
	for r.left > 0 {
		n := r.take()
		if n == nil {
			r.idle++
			r.changed.Wait()
			r.idle--
			continue
		}
		r.wake(r.ready.Len())
		r.mu.Unlock()
		ask := r.start(n)
		if !ask && r.session.end != nil {
			n.told = true
			r.session.end(&r.results[n.index])
		}
		r.mu.Lock()
		r.leave(n)
		if ask {
			r.ask(n)
		} else {
			r.finish(n)
		}
	}
	r.changed.Broadcast()
}

// take returns the next ready call whose tool has room for it; nil if there is none. mu is
// held.
func (r *run) take() *node {
	for r.ready.Len() > 0 {
		n := heap.Pop(&r.ready).(*node)
		if most := n.tool.Parallel; most > 0 {
			if r.active == nil {
				r.active, r.parked = map[*bound]int{}, map[*bound][]*node{}
			}
			if r.active[n.tool] >= most {
				r.parked[n.tool] = append(r.parked[n.tool], n)
				continue
			}
			r.active[n.tool]++
		}
		n.started = time.Now()
		return n
	}
	return nil
}

// leave makes room for another call of a tool. mu is held.
func (r *run) leave(n *node) {
	n.started = time.Time{}
	if n.tool.Parallel <= 0 {
		return
	}
	r.active[n.tool]--
	if waiting := r.parked[n.tool]; len(waiting) > 0 {
		heap.Push(&r.ready, waiting[0])
		r.parked[n.tool] = waiting[1:]
	}
}

// wake has other goroutines run so many ready calls, as far as there may be more. mu is
// held.
func (r *run) wake(calls int) {
	for range min(calls, r.idle) {
		r.changed.Signal()
	}
	for calls -= r.idle; calls > 0 && r.workers < r.limit; calls-- {
		r.workers++
		r.group.Go(func() {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.work()
		})
	}
}

// finish ends a call. mu is held.
func (r *run) finish(n *node) {
	r.release(r.ended(n, nil))
}

// ended takes note that a node has ended, and appends to list those that waited for
// nothing else. mu is held.
func (r *run) ended(n *node, list []*node) []*node {
	r.left--
	failed := n.call != nil && r.results[n.index].Err != nil
	for _, i := range n.next {
		next := r.g.nodes[i]
		switch {
		case failed && next.uses[n]:
			next.lost = append(next.lost, n)
			next.broken = true
		case failed:
			next.lost = append(next.lost, n)
		case n.call == nil && len(next.lost) < maxShown:
			next.lost = append(next.lost, n.lost[:min(len(n.lost), maxShown)]...)
		}
		if r.waits[i]--; r.waits[i] == 0 {
			list = append(list, next)
		}
	}
	return list
}

// release makes nodes ready that wait for nothing any more. Those that cannot run end at
// once, which may release others. mu is held.
func (r *run) release(list []*node) {
	for len(list) > 0 {
		n := list[len(list)-1]
		list = list[:len(list)-1]
		if n.call != nil {
			err := n.err
			if err == nil && (n.broken || n.tool.NeedsBefore && len(n.lost) > 0) {
				err = r.dependencyFailed(n)
			}
			if err == nil {
				heap.Push(&r.ready, n)
				continue
			}
			r.results[n.index] = Result{Call: n.call, Err: err, Level: n.level}
		}
		list = r.ended(n, list)
	}
	if r.left == 0 {
		r.changed.Broadcast()
	}
}

// dependencyFailed returns the error of a call that does not run because of those that it
// waited for.
func (r *run) dependencyFailed(n *node) *Error {
	e := &Error{Code: CodeDependencyFailed, ID: n.call.ID, Tool: n.call.Tool}
	var said []string
	for _, lost := range n.lost {
		if !n.tool.NeedsBefore && !n.uses[lost] || slices.Contains(e.Calls, lost.call.ID) {
			continue
		}
		e.Calls = append(e.Calls, lost.call.ID)
		if lost.call.Within == n.call.ID {
			said = append(said, fmt.Sprintf("the call of %s in its arguments: %s", lost.call.Tool, r.results[lost.index].Err.Message))
		} else {
			said = append(said, fmt.Sprintf("%s (%s) failed: call it again, then this one", lost.call.ID, lost.call.Tool))
		}
		if len(said) == maxShown {
			break
		}
	}
	e.Message = strings.Join(said, "; ")
	return e
}

// start takes a call as far as it goes without asking anybody, and reports whether a
// person has to be asked. The result is in results else.
func (r *run) start(n *node) (ask bool) {
	x := &r.results[n.index]
	x.Call, x.Level = n.call, n.level
	defer func() {
		if p := recover(); p != nil { // of the dispatcher itself: handlers have their own
			ask, x.Err = false, errorOf(r.ctx, n.call, panicError(p))
		}
	}()
	if err := r.ctx.Err(); err != nil {
		x.Err = &Error{Code: CodeCancelled, ID: n.call.ID, Tool: n.call.Tool, Message: "the call was not begun: all were cancelled", Err: err}
		return false
	}
	if !n.decided {
		if err := r.final(n); err != nil {
			err.ID, err.Tool = n.call.ID, n.call.Tool
			x.Err = err
			return false
		}
		n.decided = true
		decision, why := r.d.Policy.decide(r.ctx, n.call)
		n.why = why
		switch {
		case decision == Deny:
			x.Err = denied(n.call, why)
			return false
		case decision == Ask && !r.session.allows(n.call.Tool):
			if r.limit > 1 && r.d.Policy.Ask != nil {
				return true
			}
			if x.Err = r.answer(n, 0); x.Err != nil {
				return false
			}
		}
	}
	r.execute(n)
	return false
}

func denied(c *Call, why string) *Error {
	if why != "" {
		why = ": " + why
	}
	return &Error{
		Code: CodeDenied, ID: c.ID, Tool: c.Tool, Message: fmt.Sprintf("%s is not allowed%s. Do not call it so again.", c.Tool, why),
	}
}

// ask puts a call among those to be asked about, and begins to ask. mu is held.
func (r *run) ask(n *node) {
	at, _ := slices.BinarySearchFunc(r.asks, n, func(a, b *node) int { return a.index - b.index })
	r.asks = slices.Insert(r.asks, at, n)
	if !r.asking {
		r.asking = true
		r.group.Go(r.askAll)
	}
}

// askAll asks about one call after another.
func (r *run) askAll() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.asks) > 0 {
		n := r.asks[0]
		r.asks = r.asks[1:]
		waiting := len(r.asks)
		r.mu.Unlock()
		var err *Error
		if !r.session.allows(n.call.Tool) {
			err = r.answer(n, waiting)
		}
		r.mu.Lock()
		if err != nil {
			r.results[n.index].Err = err
			r.finish(n)
		} else {
			heap.Push(&r.ready, n)
		}
		r.wake(r.ready.Len())
	}
	r.asking = false
}

// answer asks about a call, and returns why it does not run; nil if it does.
func (r *run) answer(n *node, waiting int) *Error {
	a, err := r.d.Policy.ask(r.ctx, Question{Call: n.call, Why: n.why, Waiting: waiting})
	if refused := refusal(n.call, a, err); refused != nil {
		return refused
	}
	if a.Always {
		r.session.allow(n.call.Tool)
	}
	if a.Parameters == nil {
		return nil
	}
	n.call.Parameters, n.call.key = a.Parameters, ""
	if wrong := r.validate(n); wrong != nil {
		return wrong
	}
	if d, why := r.d.Policy.decide(r.ctx, n.call); d == Deny {
		return denied(n.call, why)
	}
	return nil
}

// execute runs a call whose arguments are final and which may run.
func (r *run) execute(n *node) {
	x := &r.results[n.index]
	if r.session.start != nil {
		r.session.start(n.call)
	}
	begin := time.Now()
	var out Result
	var repeated bool
	var err error
	if n.tool.once || r.d.Memory != nil {
		out, repeated, err = r.remembered(n)
	} else {
		out, err = r.handle(n)
	}
	x.Took, x.Repeated = time.Since(begin), repeated
	if err != nil {
		x.Err = errorOf(r.ctx, n.call, err)
		if x.Err.Stack != nil {
			r.d.log().Error("a tool panicked", "tool", n.call.Tool, "call", n.call.ID, "cause", x.Err.Err.Error(), "stack", string(x.Err.Stack))
		}
		return
	}
	x.Text, x.Value, x.Media, x.stop = out.Text, out.Value, out.Media, out.stop
	r.d.Output.limit(x)
}

// handle has the tool run a call.
func (r *run) handle(n *node) (Result, error) {
	out, err := n.tool.handler(r.ctx, n.call)
	if err != nil && onlyStop(err) {
		out.stop, err = true, nil
	}
	if out.Value == nil {
		out.Value = out.Text
	}
	if err != nil && n.tool.once {
		if e := errorOf(r.ctx, n.call, err); e.Code == CodeTimeout || e.Code == CodeCancelled {
			err = &Error{Code: e.Code, Message: e.Message + "; " + ErrUnknown.Error(), Err: errors.Join(err, ErrUnknown)}
		}
	}
	return out, err
}

// remembered runs a call, or gives what it came to before.
func (r *run) remembered(n *node) (Result, bool, error) {
	m, key := r.d.Memory, n.call.Key()
	if !n.tool.once {
		key = r.session.turn + "\x00" + n.call.ID + "\x00" + key
	}
	if m == nil {
		r.mu.Lock()
		if r.memory == nil {
			r.memory = NewMemory(r.g.calls)
		}
		m = r.memory
		r.mu.Unlock()
	}
	return m.Do(r.ctx, key, func() (Result, error) { return r.handle(n) })
}

// stuckAfter is how long after its time a handler may go on before that is logged.
const stuckAfter = 5 * time.Second

// watch logs handlers that go on after their time.
func (r *run) watch() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.left == 0 {
		return
	}
	for _, n := range r.g.nodes[:r.g.calls] {
		late := !n.started.IsZero() && (r.ctx.Err() != nil || n.tool.timeout > 0 && time.Since(n.started) > n.tool.timeout+stuckAfter)
		if late && !n.logged {
			n.logged = true
			r.d.log().Warn("a tool goes on though its time is over", "tool", n.call.Tool, "seconds", int(time.Since(n.started).Seconds()))
		}
	}
	r.watchdog.Reset(stuckAfter)
}

// queue is the calls that are ready: those of the highest priority first, then in the
// text's order.
type queue []*node

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	if a, b := q[i].tool.Priority, q[j].tool.Priority; a != b {
		return a > b
	}
	return q[i].index < q[j].index
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)   { *q = append(*q, x.(*node)) }
func (q *queue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}
