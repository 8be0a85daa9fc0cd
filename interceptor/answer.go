package interceptor

import (
	"errors"
	"iter"
	"slices"
	"strings"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/call"
	"github.com/callwright/callwright/parser"
)

// answer is one answer of the upstream, while it is rewritten.
type answer struct {
	*rewrite
	retry  bool // it answers a retry: only its calls are sent
	broken bool // the upstream broke off
	feeder *parser.ReplyFeeder
	full   strings.Builder // the text that the parser was given

	index map[int]int    // of the parser's calls, among the client's
	tools map[int]string // that they call
	shown map[string]int // texts of calls that were begun and then rejected

	native []*upstreamCall // in the order in which they began; nil where one was passed on
	open   map[int]*upstreamCall
}

// upstreamCall is a call in the upstream's field for calls, as it came.
type upstreamCall struct {
	id, name string
	args     strings.Builder
	custom   bool
}

// answer handles the events of one answer.
func (w *rewrite) answer(events iter.Seq2[wireEvent, error], retry bool) error {
	a := &answer{
		rewrite: w, retry: retry, feeder: w.x.parser.NewReplyFeeder(w.ctx, w.x.pc),
		index: map[int]int{}, tools: map[int]string{}, shown: map[string]int{}, open: map[int]*upstreamCall{},
	}
	defer a.feeder.Close()
	for e, err := range events {
		if err != nil {
			a.broken = true
			if result, feedErr := a.end(); feedErr == nil {
				err = errors.Join(err, a.settle(result))
			}
			return err
		}
		if err := a.event(e); err != nil {
			return err
		}
	}
	result, err := a.end()
	if err != nil {
		return err
	}
	feedback, ok := w.wantsRetry(result)
	if !ok {
		return a.settle(result)
	}
	w.note(result)
	if err := w.askAgain(a, result, feedback); err != nil || w.calls > 0 {
		return err
	}
	return a.rejected(result) // the retry gave nothing: this answer stands
}

// event handles one event of the upstream.
func (a *answer) event(e wireEvent) error {
	if !a.x.mayCall() || e.Choice != 0 {
		return a.pass(e, a.retry)
	}
	switch e.Type {
	case adapters.EventStart:
		if a.started {
			return nil
		}
		a.started = true
		if _, err := a.feeder.Feed(e); err != nil {
			return err
		}
		return a.emit(e)
	case adapters.EventCallStart:
		c := &upstreamCall{id: e.ID, name: e.Name, custom: e.Custom}
		a.open[e.Index] = c
		a.native = append(a.native, c)
	case adapters.EventArguments:
		if c := a.open[e.Index]; c != nil {
			c.args.WriteString(e.Text)
		}
	case adapters.EventFinish:
		a.keepFinish(e)
	case adapters.EventUsage:
		a.addUsage(e, a.retry)
	case adapters.EventText:
		a.full.WriteString(e.Text)
	case adapters.EventReasoning, adapters.EventCallEnd:
	default:
		if a.retry {
			return nil
		}
		return a.pass(e, false)
	}
	out, err := a.feeder.Feed(e)
	if err != nil {
		return err
	}
	return a.parsed(out, &e)
}

// end says that the answer is complete.
func (a *answer) end() (*parser.Result, error) {
	if !a.x.mayCall() {
		return nil, nil
	}
	out, err := a.feeder.End()
	if err != nil {
		return nil, err
	}
	var result *parser.Result
	for i := range out {
		if out[i].Type == parser.EventResult {
			result = out[i].Result
		}
	}
	return result, a.parsed(out, nil)
}

// parsed sends what the parser makes of an event of the upstream; from is nil at the end
// of the answer.
func (a *answer) parsed(events []parsedEvent, from *wireEvent) error {
	for i := range events {
		var err error
		switch p := &events[i]; p.Type {
		case parser.EventContent:
			if !a.retry || !a.hasText {
				err = a.text(p.Text, from)
			}
		case parser.EventReasoning:
			err = a.reasoning(p.Text, from)
		case parser.EventArguments:
			if !cutOff(events[i:]) { // what would close the call, as if it were whole
				err = a.call(p)
			}
		case parser.EventCallStart, parser.EventCallEnd:
			err = a.call(p)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// cutOff reports whether a later event rejects the call of the first one because the text
// ended within it.
func cutOff(events []parsedEvent) bool {
	for i := range events {
		if p := &events[i]; p.Type == parser.EventCallEnd && p.Index == events[0].Index {
			return p.Rejected != nil && p.Rejected.Truncated
		}
	}
	return false
}

func (a *answer) reasoning(text string, from *wireEvent) error {
	if a.retry {
		return nil
	}
	out := wireEvent{Type: adapters.EventReasoning, Text: text}
	if from != nil && from.Type == adapters.EventReasoning {
		out = *from
		out.Text = text
	}
	return a.emit(out)
}

// call sends a piece of a call that the parser reads.
func (a *answer) call(p *parsedEvent) error {
	index, begun := a.index[p.Index]
	switch {
	case !begun && a.x.single() && a.calls > 0:
		return nil // one call at a time, and it was made
	case p.Type == parser.EventCallStart:
		_, err := a.beginParsed(p.Index, p.ID, p.Tool)
		return err
	case p.Type == parser.EventArguments:
		if !begun || a.x.custom(a.tools[p.Index]) {
			return nil
		}
		return a.emit(wireEvent{Type: adapters.EventArguments, Index: index, Text: p.Delta})
	case p.Call != nil:
		return a.made(p.Index, p.Call)
	case !begun:
		return nil
	}
	a.shown[p.Rejected.Raw]++
	if a.broken {
		return nil
	}
	return a.emit(wireEvent{Type: adapters.EventCallEnd, Index: index, Truncated: p.Rejected.Truncated})
}

// beginParsed starts a call that the parser reads.
func (a *answer) beginParsed(parsed int, id, tool string) (index int, err error) {
	a.index[parsed], a.tools[parsed] = a.calls, tool
	return a.begin(id, tool, a.x.custom(tool))
}

// made sends the end of a valid call, and all of it if it was not started yet.
func (a *answer) made(parsed int, c *parser.Call) error {
	index, begun := a.index[parsed]
	if !begun {
		var err error
		if index, err = a.beginParsed(parsed, c.ID, c.Tool); err != nil {
			return err
		}
	}
	custom := a.x.custom(c.Tool)
	if custom || !begun {
		text := arguments(c.Parameters)
		if custom {
			text, _ = c.Parameters["input"].(string)
		}
		if err := a.emit(wireEvent{Type: adapters.EventArguments, Index: index, Text: text}); err != nil {
			return err
		}
	}
	a.x.done.count(c)
	return a.emit(wireEvent{Type: adapters.EventCallEnd, Index: index, Truncated: c.Truncated})
}

// count counts a call.
func (s *summary) count(c *parser.Call) {
	s.calls++
	if len(c.Repairs) > 0 {
		s.repaired++
	}
	if len(c.Coercions)+len(c.Defaults) > 0 {
		s.coerced++
	}
	if f := string(c.SourceFormat); c.Provenance != call.Native && !slices.Contains(s.dialects, f) {
		s.dialects = append(s.dialects, f)
	}
}

// settle counts what the parser rejected, and sends it.
func (a *answer) settle(result *parser.Result) error {
	if result == nil {
		return nil
	}
	a.note(result)
	return a.rejected(result)
}

// note counts what was rejected.
func (w *rewrite) note(result *parser.Result) {
	w.x.h.ring.note(w.x, result)
	for i := range result.Rejected {
		if result.Rejected[i].Meant() {
			w.x.done.invalid++
		}
	}
}

// rejected sends what was rejected. A call in the upstream's field for calls is passed on
// as it came, since the client may know better. One in the text stays text, or becomes a
// call with on_invalid "pass". Of a retry nothing is sent.
func (a *answer) rejected(result *parser.Result) error {
	for i := range result.Rejected {
		r := &result.Rejected[i]
		if !r.Meant() {
			continue
		}
		if a.shown[r.Raw] > 0 { // the client has seen of it what there is
			a.shown[r.Raw]--
			continue
		}
		var err error
		switch {
		case a.retry:
		case r.Provenance == call.Native:
			if c := a.takeNative(r); c != nil && !a.broken {
				err = a.passCall(c, r.Truncated)
			}
		case r.Provenance == call.Marked && a.x.s.c.Server.OnInvalid == "pass" && r.Tool != "" && !r.Truncated && r.Parameters != nil:
			c := &upstreamCall{id: r.ID, name: r.Tool}
			c.args.WriteString(arguments(r.Parameters))
			err = a.passCall(c, false)
		case r.Provenance == call.Marked:
			err = a.text(removed(r, result, a.full.String()), nil)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// removed is the text that was removed from the content with a rejected call: with its
// markers and the white space around it.
func removed(r *parser.Rejected, result *parser.Result, full string) string {
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

// takeNative returns the rejected call of the upstream, each once; nil if it calls
// another tool than the one that the client requires.
func (a *answer) takeNative(r *parser.Rejected) *upstreamCall {
	for i, c := range a.native {
		if c == nil || c.name != r.Tool && r.Tool != "" || c.args.String() != r.Raw {
			continue
		}
		a.native[i] = nil
		if choice := a.x.req.ToolChoice; choice.Mode == adapters.ToolNamed && c.name != choice.Name {
			a.x.done.unmet = true
			return nil
		}
		return c
	}
	return nil
}
