package parser

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/callwright/callwright/call"
	"github.com/callwright/callwright/dialect"
	"github.com/callwright/callwright/fallback"
	"github.com/callwright/callwright/internal/cue"
	"github.com/callwright/callwright/internal/lenient"
	"github.com/callwright/callwright/internal/scan"
	"github.com/callwright/callwright/normalizer"
	"github.com/callwright/callwright/registry"
	"github.com/callwright/callwright/validator"
)

// NOTE: the collector is the sink of the scanner that reads the text, and takes the
// calls of a reply's own field as well. It alone writes the result. The scanner moves
// the cursor; the collector only looks at what was read.

// collector puts what is found in a text into its result.
type collector struct {
	p       *Parser
	context Context
	start   time.Time
	judge   judge
	budget  budget
	explain func(Candidate) // is told of every candidate; nil: nobody is

	res       *Result
	content   joined
	reasoning joined
	ids       idSet
	paired    map[int]bool       // the calls of res that another repeated
	broken    []fallback.Failure // bare objects that look like calls and cannot be read
	reasoned  bool               // it is known what of the text is reasoning
	unclosed  bool               // the reasoning was never closed
	deferred  int                // the first of the calls of res whose events are held back

	out     outbox
	text    teller        // of the call of the text that is being read
	scanner *scan.Scanner // nil as long as nothing is read
	scan    scan.Scanner  // that it points to
}

func newCollector(p *Parser, context Context, start time.Time) *collector {
	c := &collector{}
	c.begin(p, context, start)
	return c
}

// begin makes an empty collector ready for a text.
func (c *collector) begin(p *Parser, context Context, start time.Time) {
	c.p, c.context, c.start, c.reasoned = p, context, start, context.ReasoningOpen
	c.res = emptyResult()
	c.judge = judge{p: p, c: &c.context, start: start}
	c.text = c.newTeller()
}

// newTeller returns a teller of one call.
func (c *collector) newTeller() teller {
	return teller{out: &c.out, coercion: &c.p.o.Validation, whole: c.p.o.Complete}
}

func (c *collector) warn(w string) {
	if !slices.Contains(c.res.Warnings, w) && len(c.res.Warnings) < 64 {
		c.res.Warnings = append(c.res.Warnings, w)
	}
}

// Content takes text for the user.
func (c *collector) Content(text string) {
	text = c.valid(text)
	c.content.add(text)
	c.out.send(Event{Type: EventContent, Text: text})
}

// Reasoning takes text of the model's reasoning.
func (c *collector) Reasoning(text string) {
	text = c.valid(text)
	c.reasoned = true
	c.out.release()
	c.reasoning.add(text)
	c.out.send(Event{Type: EventReasoning, Text: text})
}

// valid returns a text as UTF-8, and warns if it was none.
func (c *collector) valid(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	c.warn("invalid_utf8")
	return lenient.ValidUTF8([]byte(text))
}

// Recast makes reasoning of all content so far: a closing marker stands behind it. The
// calls that were deferred stand in it.
func (c *collector) Recast() {
	c.reasoned = true
	text := c.content.String()
	c.content.reset()
	if c.reasoning.len() > 0 {
		text = "\n" + text
	}
	c.reasoning.add(text)
	if c.out.holding {
		for i := range c.res.Calls[c.deferred:] {
			c.res.Rejected = append(c.res.Rejected, rejectedOf(&c.res.Calls[c.deferred+i], inReasoning))
		}
		c.res.Calls = c.res.Calls[:c.deferred]
		c.out.discard()
	}
	c.out.send(Event{Type: EventRecast})
}

// Draft rejects a call that stands in reasoning that was closed.
func (c *collector) Draft(d *dialect.Row, at int) {
	call := Call{NormalizedToolCall: normalizer.NormalizedToolCall{
		SourceFormat: call.Format(d.Name), Provenance: call.Marked, Span: [2]int{at, at},
	}}
	c.res.Rejected = append(c.res.Rejected, rejectedOf(&call, inReasoning))
}

// Abandoned ends a call that was begun in the events and came to nothing.
func (c *collector) Abandoned() { c.abandon(&c.text) }

func (c *collector) abandon(t *teller) {
	c.freeID(t)
	t.abandon()
}

// Unclosed says that the reasoning was never closed.
func (c *collector) Unclosed() { c.unclosed = true }

// Dropped notes text that is neither content nor reasoning nor a call.
func (c *collector) Dropped(from, to int, w scan.Why) {
	if w == scan.WhyCall {
		c.extend(from, to)
		return
	}
	if to <= from {
		return
	}
	if w.Invented() {
		c.warn("invented_result_dropped")
	}
	why := DropReason(w)
	if n := len(c.res.Dropped); n > 0 && c.res.Dropped[n-1].Why == why && c.res.Dropped[n-1].Span[1] == from {
		c.res.Dropped[n-1].Span[1] = to
		return
	}
	c.res.Dropped = append(c.res.Dropped, Dropped{[2]int{from, to}, why})
}

// extend notes what was taken out of the content with the call that was rejected last,
// where no call was made of the same stretch.
func (c *collector) extend(from, to int) {
	n := len(c.res.Rejected)
	if n == 0 {
		return
	}
	if i := len(c.res.Calls); i > 0 && c.res.Calls[i-1].Provenance != call.Native && c.res.Calls[i-1].Span[0] >= from {
		return
	}
	if x := &c.res.Rejected[n-1]; x.Provenance == call.Marked && x.Span[0] >= from && x.Span[1] <= to {
		x.Extent = [2]int{from, to}
	}
}

// Candidate takes what may be a call of the text, and reports whether its text leaves
// the content.
func (c *collector) Candidate(cand *scan.Candidate) bool { return c.take(cand, &c.text) }

// take takes what may be a call, of which a teller has told.
func (c *collector) take(cand *scan.Candidate, t *teller) (consumed bool) {
	if !c.budget.admits(&c.p.o) {
		c.warn("too_many_candidates")
		return false
	}
	if c.wasBroken(cand) {
		return false
	}
	weigh(cand)
	found, none := c.judge.open(cand, &c.budget)
	if len(found.Entries) == 0 {
		c.decide(cand, &none, t)
		return false
	}
	c.res.Truncated = c.res.Truncated || cand.Unfinished()
	for i := range found.Entries {
		v := c.judge.entry(cand, &found, &found.Entries[i], origin{})
		if v.made() {
			c.admit(&v, t)
		}
		consumed = c.decide(cand, &v, t) || consumed
	}
	if !consumed {
		return false
	}
	if unreadable(cand) { // and yet it was read: it was repaired
		c.res.Strategy = string(fallback.StrategyAutoRepair)
		c.budget.attempts[len(c.budget.attempts)-1].Calls = len(found.Entries)
	}
	if found.Reasoning != "" {
		c.Reasoning(found.Reasoning)
	}
	if found.Content != "" {
		if c.content.len() > 0 {
			found.Content = "\n" + found.Content
		}
		c.Content(found.Content)
	}
	return true
}

// wasBroken reports whether a candidate is the one that was rejected last as
// unreadable: several dialects that share a marker may have tried it.
func (c *collector) wasBroken(cand *scan.Candidate) bool {
	n := len(c.res.Rejected)
	if n == 0 || cand.Err == nil {
		return false
	}
	x := &c.res.Rejected[n-1]
	return x.broken != "" && x.Span[0] == cand.Start && x.Provenance == cand.Provenance
}

// decide does what a verdict says, and reports whether the candidate's text leaves the
// content.
func (c *collector) decide(cand *scan.Candidate, v *verdict, t *teller) bool {
	c.explained(cand, v)
	switch {
	case v.made():
		c.mayDefer(cand)
		c.res.Repaired = c.res.Repaired || len(v.call.Repairs) > 0
		c.add(&v.call, t)
	case len(v.errors) > 0:
		r := rejectedOf(&v.call, v.errors...)
		r.broken, r.named = v.broken, cand.Named
		c.res.Rejected = append(c.res.Rejected, r)
		c.res.Truncated = c.res.Truncated || v.call.Truncated
		c.freeID(t)
		t.end(nil, &c.res.Rejected[len(c.res.Rejected)-1])
	case v.broken != "":
		c.noteBroken(cand, v.broken)
	}
	return v.consumed
}

// admit checks a call against those before it: it may be one too many, or repeat one.
func (c *collector) admit(v *verdict, t *teller) {
	n := len(c.res.Calls)
	switch {
	case n >= c.p.o.MaxCalls:
		err := validator.Error{Code: CodeTooManyCalls, Message: fmt.Sprintf("more than %d calls in one text", c.p.o.MaxCalls)}
		v.reject(string(err.Code), v.call.Provenance != call.Bare, err)
	case !t.started && c.pairs(&v.call):
		c.warn("repeat_dropped")
		v.reason = "stands in the text and in the provider's field"
		t.reset()
	case c.repeatsTurn(&v.call):
		c.warn("repeat_dropped")
		v.reason = "repeats a call of the turn before it"
	case c.p.o.DropRepeats && n > 0 && sameCall(&c.res.Calls[n-1], &v.call):
		c.warn("repeat_dropped")
		v.reason = "repeats the call before it"
	}
}

// maxBroken is how many unreadable objects of a text are remembered.
const maxBroken = 16

// noteBroken remembers an object without a marker that cannot be read, for the
// fallbacks, if it names a tool.
func (c *collector) noteBroken(cand *scan.Candidate, broken string) {
	if !c.p.deep || len(c.broken) >= maxBroken || mentioned(cand) {
		return
	}
	if tool := cue.ToolName(cand.Raw, c.p.registry); tool != "" {
		c.broken = append(c.broken, fallback.Failure{
			Tool: tool, Raw: cand.Raw, Broken: broken, Span: [2]int{cand.Start, cand.End}, Provenance: cand.Provenance, Truncated: cand.Truncated,
		})
	}
}

// explained tells what became of a candidate.
func (c *collector) explained(cand *scan.Candidate, v *verdict) {
	if c.explain != nil {
		c.explain(Candidate{
			Candidate: cand.Plain(), Tool: v.call.Tool, Format: v.call.SourceFormat, Reason: v.reason, Score: v.call.Score,
			Surroundings: why(cand),
		})
	}
}

// add adds a call to the result and ends it in the events.
func (c *collector) add(call *Call, t *teller) {
	c.giveID(call, t)
	c.res.Truncated = c.res.Truncated || call.Truncated
	c.res.Calls = append(c.res.Calls, *call)
	t.end(&c.res.Calls[len(c.res.Calls)-1], nil)
}

// show has a teller send what has become certain of a call whose text is at a cursor.
func (c *collector) show(t *teller, part *scan.Partial, cur *lenient.Cursor) {
	if c.out.emit == nil || t.whole || c.p.o.StrictMode || c.p.o.DropRepeats {
		return
	}
	if part == nil || !part.Marked || part.Doubtful {
		return
	}
	if t.of != part {
		if t.started {
			return // the call before it has not ended yet
		}
		t.reset()
		t.of = part
	}
	if t.stuck {
		return
	}
	v := look(part, cur)
	if !v.certain {
		return
	}
	if !t.started {
		tool := c.mayBegin(v.name)
		if tool == nil {
			t.stuck = true
			return
		}
		t.idLater = v.idLater
		id := ""
		if !v.idLater {
			id = c.uniqueID(v.id)
		}
		t.start(tool, id)
	}
	t.progress(&v, part.Close)
}

// mayBegin returns the tool of a call that may be told of while it is read, nil if it
// is not certain yet that there will be a call.
func (c *collector) mayBegin(name string) *registry.Tool {
	match, ok := c.p.registry.Lookup(name)
	switch {
	case ok && (match.Exact() || match.Rule == "prefix"):
	case c.p.registry.Len() == 0:
		match.Tool = &registry.Tool{Name: registry.BareName(name)}
	default:
		return nil
	}
	if c.mayPair(match.Tool.Name) || len(c.res.Calls) >= c.p.o.MaxCalls || !c.reasoned && c.content.len() > 0 && c.looksLikeReasoning() {
		return nil
	}
	return match.Tool
}

// partial is what has come of a call that is being read: its parameters are unchecked.
func (c *collector) partial(t *teller, v *view) Call {
	call := Call{NormalizedToolCall: normalizer.NormalizedToolCall{ID: t.id, Tool: v.name, Parameters: v.snapshot(), Truncated: true}}
	if call.ID == "" {
		call.ID = v.id
	}
	if m, known := c.p.registry.Lookup(v.name); known {
		call.Tool = m.Tool.Name
	}
	return call
}

// soFar copies the result as it is now.
func (c *collector) soFar() *Result {
	r := *c.res
	r.Calls, r.Rejected = slices.Clone(c.res.Calls), slices.Clone(c.res.Rejected)
	r.Content, r.Reasoning = c.content.String(), c.reasoning.String()
	r.DurationMicroseconds = time.Since(c.start).Microseconds()
	return &r
}

// finish completes the result. Where err says that the text was not read to its end
// nothing more is tried.
func (c *collector) finish(ctx context.Context, err error) *Result {
	r := c.res
	if c.unclosed && len(r.Calls) == 0 && !c.p.o.NoFallbacks && c.reasoning.len() > 0 && strings.TrimSpace(c.content.String()) == "" {
		c.readOpenReasoning()
	}
	c.out.release()
	if err == nil {
		c.fallBack(ctx)
	}
	r.Success = len(r.Calls) > 0
	r.Content, r.Reasoning = c.content.String(), c.reasoning.String()
	for i := range r.Rejected {
		r.Rejected[i].tool = c.toolOf(&r.Rejected[i])
	}
	r.DurationMicroseconds = time.Since(c.start).Microseconds()
	return r
}
