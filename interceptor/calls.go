package interceptor

import (
	"slices"
	"strings"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/call"
	"github.com/callwright/callwright/internal/wire"
	"github.com/callwright/callwright/parser"
	"github.com/callwright/callwright/validator"
)

// NOTE: A call is whole or it is not made. A call of the text is sent when it is whole,
// unless stream_arguments is "eager". A call of the upstream's own field goes on as it
// comes; it is never closed here, and ends as one that was cut off if the upstream did
// not close it.

// callStart begins a call that the parser reads, if it is one to be sent piece by piece.
func (a *answer) callStart(p *parsedEvent, from *wireEvent) error {
	own := from != nil && (from.Type == adapters.EventCallStart || from.Type == adapters.EventArguments)
	if !own && a.x.s.c.Server.StreamArguments != "eager" || a.takesNoMore() || a.x.isOwn(p.Tool) {
		return nil
	}
	_, err := a.begin(p.Index, p.ID, p.Tool)
	return err
}

// takesNoMore reports whether the client takes no more calls.
func (a *answer) takesNoMore() bool { return a.x.single() && a.calls+len(a.own) > 0 }

// arguments sends a piece of the arguments of a call that was begun. events are the piece
// and what comes with it: what would close a call that was cut off is not sent.
func (a *answer) arguments(events []parsedEvent) error {
	p := &events[0]
	index, begun := a.index[p.Index]
	if !begun || a.x.custom(a.tools[p.Index]) {
		return nil
	}
	for i := range events {
		if end := &events[i]; end.Type == parser.EventCallEnd && end.Index == p.Index && !a.mayClose(end) {
			return nil
		}
	}
	return a.send(wireEvent{Type: adapters.EventArguments, Index: index, Text: p.Delta})
}

// callEnd ends a call that the parser has read, or sends all of it.
func (a *answer) callEnd(p *parsedEvent) error {
	index, begun := a.index[p.Index]
	cut := a.isCut(p)
	switch {
	case p.Call != nil && !cut:
		return a.made(p.Index, p.Call)
	case p.Call != nil && !begun: // it is sent at the end, where all is known of it
		a.half = append(a.half, p.Call)
		a.x.done.invalid++
		return nil
	case p.Call != nil:
		a.x.done.invalid++
	case !begun:
		return nil
	default:
		a.shown[p.Rejected.Raw]++
	}
	a.cut = a.cut || cut
	if a.broken { // it has no end
		return nil
	}
	return a.send(wireEvent{Type: adapters.EventCallEnd, Index: index, Truncated: cut})
}

// mayClose reports whether what closes a call that ends is sent: if it is the upstream's
// own, or the call is whole.
func (a *answer) mayClose(p *parsedEvent) bool {
	if r := p.Rejected; r != nil && r.Provenance == call.Native && !a.broken {
		return !a.noEnd(r.Tool, r.Raw) && strings.TrimSpace(r.Raw) != ""
	}
	return !a.isCut(p)
}

// isCut reports whether a call that was begun ends as one that was cut off: it was,
// whatever the parser made of it, or it is one of the text that is none.
func (a *answer) isCut(p *parsedEvent) bool {
	if p.Call != nil {
		return a.isHalf(p.Call)
	}
	return p.Rejected.Provenance != call.Native || a.rejectedCut(p.Rejected)
}

// rejectedCut reports whether a call that was rejected was cut off. One of the upstream's
// own field without a byte of arguments was, if it needs some.
func (a *answer) rejectedCut(r *parser.Rejected) bool {
	if r.Truncated || r.Provenance != call.Native {
		return r.Truncated
	}
	return a.noEnd(r.Tool, r.Raw) || strings.TrimSpace(r.Raw) == "" && r.Reason() == validator.RequiredParameterMissing
}

// noEnd reports whether the arguments of a call in the upstream's own field have no end.
func (a *answer) noEnd(tool, args string) bool {
	return (&adapters.Call{Arguments: args, Custom: a.x.custom(tool)}).Cut()
}

// isHalf reports whether the parser made a call that was cut off: one in the upstream's
// own field whose arguments have no end, or one in the text where the answer broke off,
// or reached its limit, before the call was closed or the reasoning around it was.
func (a *answer) isHalf(c *parser.Call) bool {
	if c.Truncated || c.Provenance == call.Native {
		return c.Truncated || a.noEnd(c.Tool, c.Raw)
	}
	if !a.ending || !a.broken && (a.finish == nil || a.finish.Finish != adapters.FinishLength) {
		return false
	}
	return c.Inferred || a.atEnd(c.Span) && (slices.Contains(c.Repairs, "missing_close") || !a.closed(c.Raw, string(c.SourceFormat)))
}

// atEnd reports whether the text has ended and nothing stands behind a call.
func (a *answer) atEnd(span [2]int) bool {
	return a.ending && (span[1] >= a.full.Len() || strings.TrimSpace(a.full.String()[span[1]:]) == "")
}

// closed reports whether the text of a call ends with a bracket or with the marker that
// closes the calls of its dialect: else more parameters may have been to come.
func (a *answer) closed(raw, dialect string) bool {
	raw = strings.TrimSpace(raw)
	if raw == "" || strings.IndexByte("}])", raw[len(raw)-1]) >= 0 {
		return raw != ""
	}
	for _, row := range a.x.parser.Dialects() {
		if row.Name != dialect && row.Format != dialect {
			continue
		}
		if slices.ContainsFunc(row.Close, func(marker string) bool { return strings.HasSuffix(raw, strings.TrimSpace(marker)) }) {
			return true
		}
	}
	return false
}

// sendHalf sends what there is of a half call that was not begun: one of the upstream's
// own field as it came, one of the text as text.
func (a *answer) sendHalf(c *parser.Call) error {
	a.cut = true
	if c.Provenance != call.Native {
		return a.text(a.removed(c.Span[0], c.Span[1], c.Raw), nil)
	}
	if own := a.takeNative(c.ID, c.Raw); own != nil && !a.broken && !a.x.isOwn(c.Tool) {
		return a.passCall(own, true)
	}
	return nil
}

// begin starts a call that the parser reads and returns its index.
func (a *answer) begin(parsed int, id, tool string) (index int, err error) {
	a.index[parsed], a.tools[parsed] = a.calls, tool
	return a.beginCall(id, tool, a.x.custom(tool))
}

// beginCall starts a call for the client and returns its index. From now on the client
// gets this answer.
func (a *answer) beginCall(id, tool string, custom bool) (index int, err error) {
	if err := a.commit(); err != nil {
		return 0, err
	}
	index = a.calls
	a.calls++
	id = a.x.client.IDs.FitOrNew(id)
	if a.x.offer != nil {
		a.ids = append(a.ids, id)
	}
	return index, a.send(wireEvent{
		Type: adapters.EventCallStart, Index: index, ID: id, Name: a.x.ownName(tool), Custom: custom,
		NativeName: a.x.req.CallNativeName, Extra: a.x.namespaceOf(tool),
	})
}

// withoutTokens is the name of a tool without the special tokens behind it that servers
// leave there, as in "bash<|channel|>commentary".
func (x *exchange) withoutTokens(name string) string {
	before, _, found := strings.Cut(name, "<|")
	known := func(t adapters.Tool) bool { return t.Name == before }
	if found && slices.ContainsFunc(x.req.Tools, known) {
		return before
	}
	return name
}

// namespaceOf is what the client has to be told of the namespace in which it declared a
// tool.
func (x *exchange) namespaceOf(tool string) (e adapters.Extra) {
	for i := range x.req.Tools {
		if t := &x.req.Tools[i]; t.Name == tool && t.Namespace != "" {
			var o wire.Object
			o.SetString("namespace", t.Namespace)
			return adapters.ExtraOf(x.client.Name, o)
		}
	}
	return e
}

// made sends the end of a valid call, and all of it if it was not started yet.
func (a *answer) made(parsed int, c *parser.Call) error {
	index, begun := a.index[parsed]
	if !begun {
		if a.takesNoMore() {
			return nil
		}
		if a.x.isOwn(c.Tool) {
			a.own = append(a.own, *c)
			return nil
		}
		var err error
		if index, err = a.begin(parsed, c.ID, c.Tool); err != nil {
			return err
		}
	}
	custom := a.x.custom(c.Tool)
	if custom || !begun {
		text := arguments(c.Parameters)
		if custom {
			text, _ = c.Parameters["input"].(string)
		}
		if err := a.send(wireEvent{Type: adapters.EventArguments, Index: index, Text: text}); err != nil {
			return err
		}
	}
	a.x.done.count(c)
	return a.send(wireEvent{Type: adapters.EventCallEnd, Index: index, Truncated: c.Truncated})
}

// passCall sends a call as it came.
func (a *answer) passCall(c *upstreamCall, truncated bool) error {
	if a.takesNoMore() {
		return nil
	}
	index, err := a.beginCall(c.id, c.name, c.custom)
	if err != nil {
		return err
	}
	if err := a.send(wireEvent{Type: adapters.EventArguments, Index: index, Text: c.args.String()}); err != nil {
		return err
	}
	return a.send(wireEvent{Type: adapters.EventCallEnd, Index: index, Truncated: truncated})
}

// takeNative returns the upstream's call with these arguments, if there are several that
// with the id, each once; nil if it calls another tool than the one that the client
// requires.
func (a *answer) takeNative(id, args string) *upstreamCall {
	at := -1
	for i, c := range a.native {
		if c != nil && c.args.String() == args && (at < 0 || c.id == id) {
			at = i
		}
	}
	if at < 0 {
		return nil
	}
	c := a.native[at]
	a.native[at] = nil
	if choice := a.x.req.ToolChoice; choice.Mode == adapters.ToolNamed && c.name != choice.Name {
		a.x.done.unmet = true
		return nil
	}
	return c
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
