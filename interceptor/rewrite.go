package interceptor

import (
	"context"
	"iter"
	"slices"
	"strings"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/parser"
)

// NOTE: Two kinds of events meet in this package. A wireEvent is a piece of a reply in
// some wire format: the upstream's answer comes as those, and the client's reply goes as
// those. A parsedEvent is what the parser makes of the upstream's. The way is
//
//	upstream ─wireEvent▶ answer.event ▶ parser ─parsedEvent▶ answer.parsed ─wireEvent▶ rewrite.emit ▶ client
//
// A rewrite lives as long as the reply, an answer as long as one answer of the upstream:
// where the model is asked again, one rewrite has several answers.
type (
	wireEvent   = adapters.Event
	parsedEvent = parser.Event
)

// rewrite makes the client's reply of the upstream's answers: what a model says is
// parsed, and all else passes. A whole reply is its events too.
type rewrite struct {
	x    *exchange
	ctx  context.Context
	emit func(wireEvent) error // writes to the client
	// beforeWait is called before the upstream is waited for; nil does nothing.
	beforeWait func()

	started bool       // the client was told the beginning
	hasText bool       // the client got text that is not blank
	calls   int        // that were begun for the client
	finish  *wireEvent // is told last
	usage   *wireEvent // is told behind it
}

// run takes the events of the first answer, asks again if that is wanted, and tells the
// end. The error is that of the events, or of the client: what was certain has been told.
func (w *rewrite) run(events iter.Seq2[wireEvent, error]) error {
	if err := w.answer(events, false); err != nil {
		return err
	}
	return w.conclude()
}

// text tells the client text. from is the upstream's event that it comes from, if it
// comes from one.
func (w *rewrite) text(s string, from *wireEvent) error {
	if s == "" {
		return nil
	}
	if strings.TrimSpace(s) != "" {
		w.hasText = true
	}
	out := wireEvent{Type: adapters.EventText, Text: s}
	if from != nil && from.Type == adapters.EventText && from.Text == s {
		out = *from
	}
	return w.emit(out)
}

// begin tells the client of a call, and returns its index among the client's calls.
func (w *rewrite) begin(id, tool string, custom bool) (index int, err error) {
	index = w.calls
	w.calls++
	return index, w.emit(wireEvent{
		Type: adapters.EventCallStart, Index: index, ID: w.x.client.IDs.FitOrNew(id), Name: tool, Custom: custom, NativeName: w.x.req.CallNativeName,
	})
}

// passCall tells the client of a call as it came.
func (w *rewrite) passCall(c *upstreamCall, truncated bool) error {
	if w.x.single() && w.calls > 0 {
		return nil
	}
	index, err := w.begin(c.id, c.name, c.custom)
	if err != nil {
		return err
	}
	if err := w.emit(wireEvent{Type: adapters.EventArguments, Index: index, Text: c.args.String()}); err != nil {
		return err
	}
	return w.emit(wireEvent{Type: adapters.EventCallEnd, Index: index, Truncated: truncated})
}

// pass hands on an event as it is. The end and the usage wait.
func (w *rewrite) pass(e wireEvent, retry bool) error {
	switch {
	case e.Choice == 0 && e.Type == adapters.EventFinish:
		w.keepFinish(e)
		return nil
	case e.Type == adapters.EventUsage:
		w.addUsage(e, retry)
		return nil
	case e.Choice == 0 && e.Type == adapters.EventCallStart:
		w.calls++
	}
	return w.emit(e)
}

// keepFinish keeps the reason of the end.
func (w *rewrite) keepFinish(e wireEvent) {
	e = e.Clone()
	w.finish = &e
}

// addUsage keeps the usage: of a retry, together with that of the answers before it.
func (w *rewrite) addUsage(e wireEvent, retry bool) {
	e = e.Clone()
	if retry && w.usage != nil && w.usage.Usage != nil && e.Usage != nil {
		sum := *w.usage.Usage
		sum.Add(e.Usage)
		e.Usage = &sum
	}
	w.usage = &e
}

// conclude tells the end of the reply.
func (w *rewrite) conclude() error {
	if w.finish == nil && w.calls > 0 { // not all servers say why they end
		w.finish = &wireEvent{Type: adapters.EventFinish, Finish: adapters.FinishCalls}
	}
	if w.finish != nil {
		e := *w.finish
		switch {
		case !w.x.mayCall():
		case w.calls > 0 && (e.Finish == adapters.FinishStop || e.Finish == adapters.FinishSequence || e.Finish == ""):
			e.Finish, e.NativeName = adapters.FinishCalls, ""
		case w.calls == 0 && e.Finish == adapters.FinishCalls:
			e.Finish, e.NativeName = adapters.FinishStop, ""
		}
		if err := w.emit(e); err != nil {
			return err
		}
	}
	if w.usage != nil && (!w.x.req.Stream || w.x.req.IncludeUsage) {
		return w.emit(*w.usage)
	}
	return nil
}

// custom reports whether a tool takes free text.
func (x *exchange) custom(tool string) bool {
	return slices.ContainsFunc(x.req.Tools, func(t adapters.Tool) bool { return t.Name == tool && t.Custom })
}

// single reports whether the client wants one call at a time, or knows no more.
func (x *exchange) single() bool {
	return x.req.CallNativeName != "" || x.req.ParallelCalls != nil && !*x.req.ParallelCalls
}
