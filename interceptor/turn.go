package interceptor

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/openai"
	"github.com/callwright/callwright/extractor"
	"github.com/callwright/callwright/parser"
)

// turn makes the client's events of the upstream's: what a model says is parsed, and
// all else passes. A whole reply is its events too.
type turn struct {
	x      *exchange
	ctx    context.Context
	emit   func(adapters.Event) error
	feeder *parser.ReplyFeeder

	calls    int         // that were begun for the client
	index    map[int]int // of the feeder's calls, among the client's
	names    map[int]string
	native   []*nativeCall
	open     map[int]*nativeCall
	shown    map[string]int  // texts of calls that were begun and then rejected
	full     strings.Builder // the text that the parser was given
	said     bool            // the client got text
	started  bool
	finish   adapters.Event // is told last, and the usage behind it
	finished bool
	usage    *adapters.Event
	again    bool // this is another answer to the same request: only its calls count
	cut      bool // the upstream broke off
}

// nativeCall is a call in the upstream's own field, as it came.
type nativeCall struct {
	id, name string
	args     strings.Builder
	custom   bool
}

func (x *exchange) turn(ctx context.Context, emit func(adapters.Event) error) *turn {
	return &turn{x: x, ctx: ctx, emit: emit}
}

// run takes the events of one answer, asks again if that is wanted, and tells the end.
// The error is that of the events, or of the client: what was certain has been told.
func (t *turn) run(events iter.Seq2[adapters.Event, error]) error {
	if err := t.answer(events); err != nil {
		return err
	}
	return t.conclude()
}

// answer takes the events of one answer of the upstream.
func (t *turn) answer(events iter.Seq2[adapters.Event, error]) error {
	x := t.x
	t.index, t.names, t.open, t.native, t.shown = map[int]int{}, map[int]string{}, map[int]*nativeCall{}, nil, map[string]int{}
	t.full.Reset()
	t.feeder = x.parser.NewReplyFeeder(t.ctx, x.pc)
	defer t.feeder.Close()
	for e, err := range events {
		if err != nil {
			t.cut = true
			if result, feedErr := t.end(); feedErr == nil {
				feedErr = t.settle(result)
				err = errors.Join(err, feedErr)
			}
			return err
		}
		if err := t.event(e); err != nil {
			return err
		}
	}
	result, err := t.end()
	if err != nil {
		return err
	}
	feedback, ok := t.wantsAgain(result)
	if !ok {
		return t.settle(result)
	}
	t.note(result)
	native, full := t.native, t.full.String()
	if err := t.askAgain(result, feedback); err != nil || t.calls > 0 {
		return err
	}
	t.again, t.native, t.shown = false, native, map[string]int{} // the first answer stands
	return t.tell(result, full)
}

// event takes one event of the upstream.
func (t *turn) event(e adapters.Event) error {
	if !t.x.mayCall() || e.Choice != 0 {
		return t.pass(e)
	}
	switch e.Type {
	case adapters.EventStart:
		if t.started {
			return nil
		}
		t.started = true
		_, err := t.feeder.Feed(e)
		if err != nil {
			return err
		}
		return t.emit(e)
	case adapters.EventCallStart:
		n := &nativeCall{id: e.ID, name: e.Name, custom: e.Custom}
		t.open[e.Index] = n
		t.native = append(t.native, n)
	case adapters.EventArguments:
		if n := t.open[e.Index]; n != nil {
			n.args.WriteString(e.Text)
		}
	case adapters.EventFinish:
		t.finish, t.finished = e.Clone(), true
	case adapters.EventUsage:
		t.count(e.Clone())
	case adapters.EventText:
		t.full.WriteString(e.Text)
	case adapters.EventReasoning, adapters.EventCallEnd:
	default:
		if t.again {
			return nil
		}
		return t.pass(e)
	}
	out, err := t.feeder.Feed(e)
	if err != nil {
		return err
	}
	return t.hand(out, &e)
}

// pass hands an event on as it is. A finish waits until the end.
func (t *turn) pass(e adapters.Event) error {
	switch {
	case e.Choice == 0 && e.Type == adapters.EventFinish:
		t.finish, t.finished = e.Clone(), true
		return nil
	case e.Type == adapters.EventUsage:
		t.count(e.Clone())
		return nil
	case e.Choice == 0 && e.Type == adapters.EventCallStart:
		t.calls++
	}
	return t.emit(e)
}

// hand tells the client what the parser makes of an event.
func (t *turn) hand(events []parser.Event, from *adapters.Event) error {
	for i := range events {
		e := &events[i]
		switch e.Type {
		case parser.EventContent:
			if err := t.text(e.Text, from); err != nil {
				return err
			}
		case parser.EventReasoning:
			if t.again {
				continue
			}
			out := adapters.Event{Type: adapters.EventReasoning, Text: e.Text}
			if from.Type == adapters.EventReasoning {
				out = *from
				out.Text = e.Text
			}
			if err := t.emit(out); err != nil {
				return err
			}
		case parser.EventCallStart, parser.EventArguments, parser.EventCallEnd:
			if e.Type == parser.EventArguments && isCutOff(events[i:]) {
				continue // what would close the call, as if it were whole
			}
			if err := t.call(e); err != nil {
				return err
			}
		}
	}
	return nil
}

// text tells the client text.
func (t *turn) text(s string, from *adapters.Event) error {
	if s == "" || t.again && t.said {
		return nil
	}
	if strings.TrimSpace(s) != "" {
		t.said = true
	}
	out := adapters.Event{Type: adapters.EventText, Text: s}
	if from != nil && from.Type == adapters.EventText && from.Text == s {
		out = *from
	}
	return t.emit(out)
}

// isCutOff reports whether the call of the first event is rejected behind it because
// the text ended inside of it.
func isCutOff(events []parser.Event) bool {
	for i := range events {
		if e := &events[i]; e.Type == parser.EventCallEnd && e.Index == events[0].Index {
			return e.Rejected != nil && e.Rejected.Truncated
		}
	}
	return false
}

// call tells the client of a call that the parser reads.
func (t *turn) call(e *parser.Event) error {
	x := t.x
	i, begun := t.index[e.Index]
	if !begun && x.single() && t.calls > 0 {
		return nil // one call at a time, and it was made
	}
	switch {
	case e.Type == parser.EventCallStart:
		return t.begin(e.Index, e.ID, e.Tool)
	case e.Type == parser.EventArguments:
		if !begun || t.x.custom(t.names[e.Index]) {
			return nil
		}
		return t.emit(adapters.Event{Type: adapters.EventArguments, Index: i, Text: e.Delta})
	case e.Call == nil:
		if !begun {
			return nil
		}
		t.shown[e.Rejected.Raw]++
		if t.cut {
			return nil
		}
		return t.emit(adapters.Event{Type: adapters.EventCallEnd, Index: i, Truncated: e.Rejected.Truncated})
	}
	c := e.Call
	custom := x.custom(c.Tool)
	if !begun {
		if err := t.begin(e.Index, c.ID, c.Tool); err != nil {
			return err
		}
		i = t.index[e.Index]
	}
	switch input, _ := c.Parameters["input"].(string); {
	case custom:
		if err := t.emit(adapters.Event{Type: adapters.EventArguments, Index: i, Text: input}); err != nil {
			return err
		}
	case !begun:
		if err := t.emit(adapters.Event{Type: adapters.EventArguments, Index: i, Text: arguments(c.Parameters)}); err != nil {
			return err
		}
	}
	x.done.calls++
	if len(c.Repairs) > 0 {
		x.done.repaired++
	}
	if len(c.Coercions)+len(c.Defaults) > 0 {
		x.done.coerced++
	}
	if f := string(c.SourceFormat); c.Provenance != extractor.Native && !slices.Contains(x.done.dialects, f) {
		x.done.dialects = append(x.done.dialects, f)
	}
	return t.emit(adapters.Event{Type: adapters.EventCallEnd, Index: i, Truncated: c.Truncated})
}

// begin begins a call for the client.
func (t *turn) begin(index int, id, tool string) error {
	if id == "" {
		id = t.x.front.IDs.New()
	}
	t.index[index], t.names[index] = t.calls, tool
	t.calls++
	return t.emit(adapters.Event{Type: adapters.EventCallStart, Index: t.index[index], ID: t.x.front.IDs.Fit(id), Name: tool, Custom: t.x.custom(tool), NativeName: t.x.word()})
}

// custom reports whether a tool takes free text.
func (x *exchange) custom(tool string) bool {
	return slices.ContainsFunc(x.req.Tools, func(t adapters.Tool) bool { return t.Name == tool && t.Custom })
}

// single reports whether the client wants one call at a time, or knows no more.
func (x *exchange) single() bool {
	return x.legacy || x.req.ParallelCalls != nil && !*x.req.ParallelCalls
}

// word is what the client calls a call.
func (x *exchange) word() string {
	if x.legacy {
		return "function_call"
	}
	return ""
}

// end ends the text for the parser.
func (t *turn) end() (*parser.Result, error) {
	if !t.x.mayCall() {
		return nil, nil
	}
	out, err := t.feeder.End()
	if err != nil {
		return nil, err
	}
	var result *parser.Result
	for i := range out {
		if out[i].Type == parser.EventResult {
			result = out[i].Result
		}
	}
	return result, t.hand(out, &adapters.Event{Type: adapters.EventPing})
}

// settle tells the client what the parser rejected: a call of the upstream's own field
// as it came, since the client may know better; one that stood in the text as text, or
// as a call where that is wanted.
func (t *turn) settle(result *parser.Result) error {
	if result == nil {
		return nil
	}
	t.note(result)
	return t.tell(result, t.full.String())
}

// note counts what was rejected.
func (t *turn) note(result *parser.Result) {
	t.x.h.ring.note(t.x, result)
	for i := range result.Rejected {
		if meantAsCall(&result.Rejected[i]) {
			t.x.done.invalid++
		}
	}
}

// tell tells the client what was rejected of a text.
func (t *turn) tell(result *parser.Result, full string) error {
	for i := range result.Rejected {
		r := &result.Rejected[i]
		if !meantAsCall(r) {
			continue
		}
		if t.shown[r.Raw] > 0 { // the client has seen of it what there is
			t.shown[r.Raw]--
			continue
		}
		var err error
		switch {
		case t.again:
		case r.Provenance == extractor.Native:
			if n := t.take(r); n != nil && !t.cut {
				err = t.passCall(n.id, n.name, n.args.String(), r.Truncated, n.custom)
			}
		case r.Provenance == extractor.Marked && t.x.s.c.Server.OnInvalid == "pass" && r.Tool != "" && !r.Truncated && r.Parameters != nil:
			err = t.passCall(r.ID, r.Tool, arguments(r.Parameters), false, false)
		case r.Provenance == extractor.Marked:
			err = t.text(taken(r, result, full), nil)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// taken is all of the text that was taken out of the content with a rejected call: its
// markers, and the white space around it.
func taken(r *parser.Rejected, result *parser.Result, full string) string {
	from, to := r.Extent[0], r.Extent[1]
	if to <= from {
		from, to = r.Span[0], r.Span[1]
	}
	for i := range slices.Backward(result.Dropped) {
		if d := result.Dropped[i].Span; d[1] == from {
			from = d[0]
		}
	}
	for _, d := range result.Dropped {
		if d.Span[0] == to {
			to = d.Span[1]
		}
	}
	if from < 0 || to > len(full) || to <= from {
		return r.Raw
	}
	return full[from:to]
}

// take returns the upstream's call that was rejected, once. One of another tool than
// the client wants is none.
func (t *turn) take(r *parser.Rejected) *nativeCall {
	for i, n := range t.native {
		if n == nil || n.name != r.Tool && r.Tool != "" || n.args.String() != r.Raw {
			continue
		}
		t.native[i] = nil
		if choice := t.x.req.ToolChoice; choice.Mode == adapters.ToolNamed && n.name != choice.Name {
			t.x.done.unmet = true
			return nil
		}
		return n
	}
	return nil
}

// passCall tells the client of a call as it came.
func (t *turn) passCall(id, name, args string, truncated, custom bool) error {
	if t.x.single() && t.calls > 0 {
		return nil
	}
	index := t.calls
	t.calls++
	for _, e := range []adapters.Event{
		{Type: adapters.EventCallStart, Index: index, ID: t.x.front.IDs.FitOrNew(id), Name: name, Custom: custom, NativeName: t.x.word()},
		{Type: adapters.EventArguments, Index: index, Text: args},
		{Type: adapters.EventCallEnd, Index: index, Truncated: truncated},
	} {
		if err := t.emit(e); err != nil {
			return err
		}
	}
	return nil
}

// meantAsCall reports whether what was rejected is a call that went wrong, and not one
// that was rightly not made.
func meantAsCall(r *parser.Rejected) bool {
	if len(r.Errors) == 0 {
		return false
	}
	switch r.Errors[0].Code {
	case parser.CodeInReasoning, parser.CodeLowConfidence, parser.CodeEcho, parser.CodeMarkerRequired:
		return false
	}
	return true
}

// count adds up what answers to one request used.
func (t *turn) count(e adapters.Event) {
	if t.usage != nil && t.again && t.usage.Usage != nil && e.Usage != nil {
		sum := *t.usage.Usage
		sum.Add(e.Usage)
		e.Usage = &sum
	}
	t.usage = &e
}

// conclude tells the end of the reply.
func (t *turn) conclude() error {
	if !t.finished && t.calls > 0 { // not all servers say why they end
		t.finish, t.finished = adapters.Event{Type: adapters.EventFinish, Finish: adapters.FinishCalls}, true
	}
	if t.finished {
		e := t.finish
		switch {
		case !t.x.mayCall():
		case t.calls > 0 && (e.Finish == adapters.FinishStop || e.Finish == adapters.FinishSequence || e.Finish == ""):
			e.Finish, e.NativeName = adapters.FinishCalls, ""
		case t.calls == 0 && e.Finish == adapters.FinishCalls:
			e.Finish, e.NativeName = adapters.FinishStop, ""
		}
		if err := t.emit(e); err != nil {
			return err
		}
	}
	if t.usage != nil && t.x.wantsUsage() {
		return t.emit(*t.usage)
	}
	return nil
}

// wantsUsage reports whether the client is told of the usage: in a stream of OpenAI's
// chat only if it asked.
func (x *exchange) wantsUsage() bool {
	return x.front != openai.Chat || !x.req.Stream || x.req.IncludeUsage
}
