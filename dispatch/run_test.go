package dispatch_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/callwright/callwright/dispatch"
	"github.com/callwright/callwright/parser"
	"github.com/callwright/callwright/registry"
)

// plan is a set of calls, each of a tool of its own, with what they wait for. A call waits
// for calls of lower numbers only; order says where in the text each stands.
type plan struct {
	order    []int
	uses     [][]int // results in the arguments
	after    [][]int // dependencies of the tool
	delay    []time.Duration
	fails    []bool
	needs    []bool
	priority []int
	parallel int
}

func drawPlan(t *rapid.T) plan {
	n := rapid.IntRange(1, 12).Draw(t, "calls")
	numbers := make([]int, n)
	for i := range numbers {
		numbers[i] = i
	}
	p := plan{order: rapid.Permutation(numbers).Draw(t, "order"), parallel: rapid.SampledFrom([]int{1, 2, 3, 100}).Draw(t, "parallel")}
	for i := range n {
		var uses, after []int
		for j := range i {
			switch rapid.IntRange(0, 7).Draw(t, "edge") {
			case 0:
				uses = append(uses, j)
			case 1:
				after = append(after, j)
			}
		}
		p.uses, p.after = append(p.uses, uses), append(p.after, after)
		p.delay = append(p.delay, time.Duration(rapid.IntRange(0, 5).Draw(t, "delay"))*time.Second)
		p.fails = append(p.fails, rapid.IntRange(0, 9).Draw(t, "fails") == 0)
		p.needs = append(p.needs, rapid.IntRange(0, 4).Draw(t, "needs") == 0)
		p.priority = append(p.priority, rapid.IntRange(0, 2).Draw(t, "priority"))
	}
	return p
}

// span is when a call ran.
type span struct{ start, end time.Duration }

// execute runs a plan in time that is not real, and returns when each call ran.
func (p *plan) execute(ctx context.Context) (*dispatch.Report, map[int]span, error) {
	d := &dispatch.Dispatcher{Parallel: p.parallel}
	begin := time.Now()
	var mu sync.Mutex
	ran := map[int]span{}
	for i := range p.order {
		tool := dispatch.Tool{Priority: p.priority[i], NeedsBefore: p.needs[i], Run: func(ctx context.Context, _ *dispatch.Call) (dispatch.Result, error) {
			start := time.Since(begin)
			timer := time.NewTimer(p.delay[i])
			defer timer.Stop()
			select {
			case <-timer.C:
			case <-ctx.Done():
			}
			mu.Lock()
			ran[i] = span{start, time.Since(begin)}
			mu.Unlock()
			if err := ctx.Err(); err != nil {
				return dispatch.Result{}, err
			}
			if p.fails[i] {
				return dispatch.Result{}, errors.New("failed as it should")
			}
			return dispatch.Result{Text: "ok", Value: map[string]any{"n": i}}, nil
		}}
		tool.Name = fmt.Sprintf("tool%d", i)
		for _, j := range p.after[i] {
			tool.Dependencies = append(tool.Dependencies, fmt.Sprintf("tool%d", j))
		}
		if err := d.Add(tool); err != nil {
			return nil, nil, err
		}
	}
	r := &parser.Result{}
	for _, i := range p.order {
		var c parser.Call
		c.ID, c.Tool, c.Confidence = fmt.Sprintf("id-%d", i), fmt.Sprintf("tool%d", i), 1
		list := []any{}
		for _, j := range p.uses[i] {
			list = append(list, fmt.Sprintf("$id-%d.n", j))
		}
		c.Parameters = map[string]any{"list": list}
		r.Calls = append(r.Calls, c)
	}
	report, err := d.Run(ctx, r, nil)
	return report, ran, err
}

// model says what has to come of a plan: which calls run, and when each is ready if all
// others are as early as they can be.
func (p *plan) model() (runs []bool, start []time.Duration, total time.Duration) {
	n := len(p.order)
	runs, start, failed, end := make([]bool, n), make([]time.Duration, n), make([]bool, n), make([]time.Duration, n)
	for i := range n {
		runs[i] = true
		for _, j := range slices.Concat(p.uses[i], p.after[i]) {
			start[i] = max(start[i], end[j])
			if failed[j] && (p.needs[i] || slices.Contains(p.uses[i], j)) {
				runs[i] = false
			}
		}
		end[i] = start[i]
		if runs[i] {
			end[i] += p.delay[i]
		}
		failed[i] = !runs[i] || p.fails[i]
		total = max(total, end[i])
	}
	return runs, start, total
}

// TestSchedule holds that any acyclic set of calls runs in a valid order, as parallel as
// the limit allows, with its results in the text's order.
func TestSchedule(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := drawPlan(rt)
		var problem error
		synctest.Test(t, func(*testing.T) {
			report, ran, err := p.execute(context.Background())
			problem = errors.Join(err, p.check(report, ran))
		})
		if problem != nil {
			rt.Fatalf("%v\n%+v", problem, p)
		}
	})
}

func (p *plan) check(report *dispatch.Report, ran map[int]span) error {
	runs, earliest, total := p.model()
	position := make([]int, len(p.order))
	for at, i := range p.order {
		position[i] = at
		r := &report.Results[at]
		if r.Call.ID != fmt.Sprintf("id-%d", i) {
			return fmt.Errorf("result %d is that of %s, not of %d", at, r.Call.ID, i)
		}
		_, did := ran[i]
		want := dispatch.Code("")
		switch {
		case !runs[i]:
			want = dispatch.CodeDependencyFailed
		case p.fails[i]:
			want = dispatch.CodeFailed
		}
		got := dispatch.Code("")
		if r.Err != nil {
			got = r.Err.Code
		}
		if did != runs[i] || got != want {
			return fmt.Errorf("call %d: ran %v, code %q, want %v, %q", i, did, got, runs[i], want)
		}
		for k, j := range p.uses[i] {
			if did && !slices.Contains(report.Results[at].Call.Uses, dispatch.Reference{
				From: fmt.Sprintf("id-%d", j), To: r.Call.ID, Path: ".n", At: fmt.Sprintf("/list/%d", k),
			}) {
				return fmt.Errorf("call %d does not say that it uses %d: %v", i, j, r.Call.Uses)
			}
		}
	}
	ready := func(i int) (at time.Duration) { // in this run
		for _, j := range slices.Concat(p.uses[i], p.after[i]) {
			at = max(at, p.ended(j, ran))
		}
		return at
	}
	running := func(at time.Duration) (n int) {
		for _, s := range ran {
			if s.start <= at && at < s.end {
				n++
			}
		}
		return n
	}
	var last time.Duration
	for i, s := range ran {
		last = max(last, s.end)
		if s.start < ready(i) {
			return fmt.Errorf("call %d began at %v, before what it waits for ended at %v", i, s.start, ready(i))
		}
		if p.parallel >= len(p.order) && s.start != earliest[i] {
			return fmt.Errorf("call %d began at %v, could have at %v", i, s.start, earliest[i])
		}
		if n := running(s.start); n > p.parallel {
			return fmt.Errorf("%d calls ran at %v, at most %d may", n, s.start, p.parallel)
		}
		for at := ready(i); at < s.start; at += time.Second {
			if n := running(at); n < p.parallel {
				return fmt.Errorf("call %d waited at %v, though only %d of %d ran", i, at, n, p.parallel)
			}
		}
		for j, other := range ran { // that began though this one was ready and comes first
			first := p.priority[i] > p.priority[j] || p.priority[i] == p.priority[j] && position[i] < position[j]
			if ready(i) < other.start && other.start < s.start && first {
				return fmt.Errorf("call %d began at %v before %d, which was ready at %v", j, other.start, i, ready(i))
			}
		}
	}
	if p.parallel >= len(p.order) && last > total {
		return fmt.Errorf("it took %v, the longest path takes %v", last, total)
	}
	return nil
}

// ended is when a call ended in a run: one that did not run ended with those before it.
func (p *plan) ended(i int, ran map[int]span) (at time.Duration) {
	if s, ok := ran[i]; ok {
		return s.end
	}
	for _, j := range slices.Concat(p.uses[i], p.after[i]) {
		at = max(at, p.ended(j, ran))
	}
	return at
}

// TestDependencies holds that a call waits for the calls of the tools that its tool
// depends on: for all that stand before it, or else for the first behind it.
func TestDependencies(t *testing.T) {
	tools := []struct {
		name  string
		after []string
		needs bool
	}{{"a", nil, false}, {"b", []string{"a"}, false}, {"c", []string{"a", "b"}, true}}
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 14).Draw(rt, "calls")
		var kinds []int
		var delays []time.Duration
		var fails []bool
		r := &parser.Result{}
		for i := range n {
			kinds = append(kinds, rapid.IntRange(0, 2).Draw(rt, "tool"))
			delays = append(delays, time.Duration(rapid.IntRange(0, 5).Draw(rt, "delay"))*time.Second)
			fails = append(fails, rapid.IntRange(0, 5).Draw(rt, "fails") == 0)
			var c parser.Call
			c.ID, c.Tool, c.Confidence, c.Parameters = fmt.Sprint(i), tools[kinds[i]].name, 1, map[string]any{}
			r.Calls = append(r.Calls, c)
		}
		before := func(i int) (list []int) { // what a call waits for
			for _, tool := range tools[kinds[i]].after {
				var calls []int
				for j := range n {
					if tools[kinds[j]].name == tool && (j < i || len(calls) == 0) {
						calls = append(calls, j)
					}
				}
				list = append(list, calls...)
			}
			return list
		}
		var problem error
		synctest.Test(t, func(*testing.T) {
			begin := time.Now()
			var mu sync.Mutex
			ran := map[int]span{}
			d := &dispatch.Dispatcher{Parallel: 100}
			for _, tool := range tools {
				problem = errors.Join(problem, d.Add(dispatch.Tool{
					Tool: registry.Tool{Name: tool.name, Dependencies: tool.after}, NeedsBefore: tool.needs,
					Run: func(_ context.Context, c *dispatch.Call) (dispatch.Result, error) {
						start := time.Since(begin)
						i, err := strconv.Atoi(c.ID)
						time.Sleep(delays[i])
						mu.Lock()
						defer mu.Unlock()
						ran[i] = span{start, time.Since(begin)}
						if fails[i] {
							err = errors.New("failed as it should")
						}
						return dispatch.Result{Text: "ok"}, err
					},
				}))
			}
			report, err := d.Run(context.Background(), r, nil)
			problem = errors.Join(problem, err)
			lost := make([]int, n) // 0 not known, 1 no, 2 yes
			var failed func(i int) bool
			failed = func(i int) bool {
				if lost[i] == 0 {
					lost[i] = 1
					if fails[i] {
						lost[i] = 2
					}
					if tools[kinds[i]].needs {
						for _, tool := range tools[kinds[i]].after {
							if !slices.ContainsFunc(before(i), func(j int) bool { return tools[kinds[j]].name == tool }) {
								lost[i] = 2
							}
						}
						for _, j := range before(i) {
							if failed(j) {
								lost[i] = 2
							}
						}
					}
				}
				return lost[i] == 2
			}
			var ended func(i int) time.Duration
			ended = func(i int) (at time.Duration) {
				if s, ok := ran[i]; ok {
					return s.end
				}
				for _, j := range before(i) {
					at = max(at, ended(j))
				}
				return at
			}
			for i := range n {
				if (report.Results[i].Err != nil) != failed(i) {
					problem = errors.Join(problem, fmt.Errorf("call %d: %q, should fail %v", i, code(report.Results[i]), failed(i)))
				}
				s, ok := ran[i]
				if !ok {
					continue
				}
				var ready time.Duration
				for _, j := range before(i) {
					ready = max(ready, ended(j))
				}
				if s.start != ready {
					problem = errors.Join(problem, fmt.Errorf("call %d began at %v, was ready at %v", i, s.start, ready))
				}
			}
		})
		if problem != nil {
			rt.Fatalf("%v\n%v %v %v", problem, kinds, delays, fails)
		}
	})
}

// TestCancel holds that a Run that is cancelled at any time returns at once, starts no more
// calls, and still has a result for each.
func TestCancel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := drawPlan(rt)
		after := time.Duration(rapid.IntRange(0, 12).Draw(rt, "seconds"))*time.Second + time.Millisecond
		var problem error
		synctest.Test(t, func(*testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), after)
			defer cancel()
			begin := time.Now()
			report, ran, err := p.execute(ctx)
			took := time.Since(begin)
			switch {
			case took > after:
				problem = fmt.Errorf("it took %v, cancelled after %v", took, after)
			case err != nil && took < after:
				problem = fmt.Errorf("%w after %v, cancelled after %v", err, took, after)
			case len(report.Results) != len(p.order):
				problem = fmt.Errorf("%d results", len(report.Results))
			}
			for i, s := range ran {
				if s.start >= after {
					problem = fmt.Errorf("call %d began after the end", i)
				}
			}
			for i := range report.Results {
				if r := &report.Results[i]; r.Call == nil || r.Err == nil && r.Text != "ok" {
					problem = fmt.Errorf("result %d: %+v", i, r)
				}
			}
		})
		if problem != nil {
			rt.Fatalf("%v\n%+v", problem, p)
		}
	})
}

// TestCycles holds that whatever waits for itself is found, named, and fails alone: the
// other calls run.
func TestCycles(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 10).Draw(rt, "calls")
		uses := make([][]int, n)
		d := &dispatch.Dispatcher{}
		if err := d.Add(dispatch.Tool{Tool: registry.Tool{Name: "any"}, Run: func(context.Context, *dispatch.Call) (dispatch.Result, error) {
			return dispatch.Result{Text: "ok"}, nil
		}}); err != nil {
			rt.Fatal(err)
		}
		r := &parser.Result{}
		for i := range n {
			list := []any{}
			for j := range n {
				if rapid.IntRange(0, n).Draw(rt, "edge") == 0 {
					uses[i] = append(uses[i], j)
					list = append(list, fmt.Sprintf("$id-%d", j))
				}
			}
			var c parser.Call
			c.ID, c.Tool, c.Confidence, c.Parameters = fmt.Sprintf("id-%d", i), "any", 1, map[string]any{"list": list}
			r.Calls = append(r.Calls, c)
		}
		reaches := func(from, to int) bool { // over at least one edge
			seen := map[int]bool{}
			work := slices.Clone(uses[from])
			for len(work) > 0 {
				i := work[len(work)-1]
				work = work[:len(work)-1]
				if i == to {
					return true
				}
				if !seen[i] {
					seen[i] = true
					work = append(work, uses[i]...)
				}
			}
			return false
		}
		report, err := d.Run(context.Background(), r, nil)
		if err != nil {
			rt.Fatal(err)
		}
		for i := range report.Results {
			x := &report.Results[i]
			want := dispatch.Code("")
			for j := range n {
				if reaches(i, j) && reaches(j, j) {
					want = dispatch.CodeDependencyFailed
				}
			}
			if reaches(i, i) {
				want = dispatch.CodeCycle
			}
			got := dispatch.Code("")
			if x.Err != nil {
				got = x.Err.Code
			}
			if got != want {
				rt.Fatalf("call %d: %v, want %q; %v", i, x.Err, want, uses)
			}
			if want != dispatch.CodeCycle {
				continue
			}
			var ids []int
			for _, id := range x.Err.Calls {
				k := slices.IndexFunc(r.Calls, func(c parser.Call) bool { return c.ID == id })
				ids = append(ids, k)
			}
			for k, id := range ids { // each uses the one before it
				if before := ids[(k+len(ids)-1)%len(ids)]; !slices.Contains(uses[id], before) {
					rt.Fatalf("call %d: %v is no cycle of %v", i, x.Err.Calls, uses)
				}
			}
		}
	})
}

// TestToolLimit holds that a tool's own limit counts, and that others run on meanwhile.
func TestToolLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &dispatch.Dispatcher{}
		var mu sync.Mutex
		now, most := 0, 0
		handler := func(context.Context, *dispatch.Call) (dispatch.Result, error) {
			mu.Lock()
			now++
			most = max(most, now)
			mu.Unlock()
			time.Sleep(time.Second)
			mu.Lock()
			now--
			mu.Unlock()
			return dispatch.Result{Text: "ok"}, nil
		}
		free := func(context.Context, *dispatch.Call) (dispatch.Result, error) {
			time.Sleep(time.Second)
			return dispatch.Result{Text: "ok"}, nil
		}
		if err := d.Add(dispatch.Tool{Tool: registry.Tool{Name: "one"}, Run: handler, Parallel: 1}, dispatch.Tool{Tool: registry.Tool{Name: "free"}, Run: free}); err != nil {
			t.Fatal(err)
		}
		r := &parser.Result{}
		for i := range 8 {
			var c parser.Call
			c.ID, c.Tool, c.Confidence = fmt.Sprint("c", i), []string{"one", "free"}[i%2], 1
			r.Calls = append(r.Calls, c)
		}
		begin := time.Now()
		if _, err := d.Run(context.Background(), r, nil); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begin); most != 1 || took != 4*time.Second {
			t.Errorf("%d at a time, %v", most, took)
		}
	})
}

// TestManyCalls dispatches ten thousand calls, which leave nothing behind.
func TestManyCalls(t *testing.T) {
	d := drawing()
	r := &parser.Result{}
	for i := range dispatch.MaxCalls + 1 {
		var c parser.Call
		c.ID, c.Tool, c.Confidence = fmt.Sprint("c", i), "create_rectangle", 1
		c.Parameters = map[string]any{"x": json.Number(fmt.Sprint(i)), "y": json.Number("1"), "width": json.Number("2"), "height": json.Number("2")}
		if i%2 == 1 {
			c.Tool = "set_corner_radius"
			c.Parameters = map[string]any{"layer": fmt.Sprintf("$c%d.id", i-1), "radius": json.Number("1")}
		}
		r.Calls = append(r.Calls, c)
	}
	report, err := d.Run(context.Background(), r, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range dispatch.MaxCalls {
		x := &report.Results[i]
		want := fmt.Sprintf(`{"id":"r%d","area":4}`, i)
		if i%2 == 1 {
			want = fmt.Sprintf("r%d has radius 1", i-1)
		}
		if x.Err != nil || x.Text != want {
			t.Fatalf("%d: %q %v", i, x.Text, x.Err)
		}
	}
	if x := report.Results[dispatch.MaxCalls]; x.Err == nil || x.Err.Code != dispatch.CodeTooManyCalls {
		t.Error(x.Err)
	}
}

func benchCalls(n int) *parser.Result {
	r := &parser.Result{}
	for i := range n {
		var c parser.Call
		c.ID, c.Tool, c.Confidence = fmt.Sprint("c", i), "noop", 1
		c.Parameters = map[string]any{"x": json.Number("10"), "y": json.Number("20.5"), "width": json.Number("100"), "height": json.Number("50")}
		r.Calls = append(r.Calls, c)
	}
	return r
}

// BenchmarkRun measures a call of a function that does nothing, per call: beside the
// function itself all of it is the dispatcher's.
func BenchmarkRun(b *testing.B) {
	for _, n := range []int{1, 8, 100} {
		b.Run(fmt.Sprintf("calls=%d", n), func(b *testing.B) {
			d := &dispatch.Dispatcher{}
			dispatch.Handle(d, "noop", func(_ context.Context, in rectangle) (shape, error) { return shape{Area: in.X}, nil })
			r := benchCalls(n)
			b.ReportAllocs()
			for b.Loop() {
				report, err := d.Run(context.Background(), r, nil)
				if err != nil || report.Results[0].Err != nil {
					b.Fatal(err, report.Results[0].Err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/call")
		})
	}
}
