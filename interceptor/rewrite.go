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

// rewrite turns the upstream's answers into the client's reply. What the model wrote is
// parsed, everything else is passed on. A whole reply is handled as its events.
type rewrite struct {
	x    *exchange
	ctx  context.Context
	emit func(wireEvent) error // writes to the client
	// beforeWait is called before a request is sent to the upstream; nil does nothing.
	beforeWait func()

	started bool       // the start was sent
	hasText bool       // text that is not blank was sent
	calls   int        // that were started for the client
	finish  *wireEvent // is sent at the end
	usage   *wireEvent // is sent behind it
}

// run handles the events of the first answer, retries if needed, and sends the end. The
// error is that of the events, or of writing to the client. What was certain before it
// has been sent.
func (w *rewrite) run(events iter.Seq2[wireEvent, error]) error {
	if err := w.answer(events, false); err != nil {
		return err
	}
	return w.conclude()
}

// text sends text. from is the upstream's event that it comes from, nil if there is none.
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

// begin starts a call for the client and returns its index.
func (w *rewrite) begin(id, tool string, custom bool) (index int, err error) {
	index = w.calls
	w.calls++
	return index, w.emit(wireEvent{
		Type: adapters.EventCallStart, Index: index, ID: w.x.client.IDs.FitOrNew(id), Name: tool, Custom: custom,
		NativeName: w.x.req.CallNativeName,
	})
}

// passCall sends a call as it came.
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

// pass passes on an event as it is. The finish and the usage are kept for the end.
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

// keepFinish keeps the finish event for the end.
func (w *rewrite) keepFinish(e wireEvent) {
	e = e.Clone()
	w.finish = &e
}

// addUsage keeps the usage for the end. That of a retry is added to the usage so far.
func (w *rewrite) addUsage(e wireEvent, retry bool) {
	e = e.Clone()
	if retry && w.usage != nil && w.usage.Usage != nil && e.Usage != nil {
		sum := *w.usage.Usage
		sum.Add(e.Usage)
		e.Usage = &sum
	}
	w.usage = &e
}

// conclude sends the end of the reply.
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

// single reports whether the client takes one call at most.
func (x *exchange) single() bool {
	return x.req.CallNativeName != "" || x.req.ParallelCalls != nil && !*x.req.ParallelCalls
}
