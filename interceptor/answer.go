package interceptor

import (
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/call"
	"github.com/callwright/callwright/parser"
)

// answer is one answer of the upstream, while it is rewritten.
type answer struct {
	*rewrite
	feeder *parser.ReplyFeeder
	result *parser.Result // what the parser made of it; nil until it has ended
	full   strings.Builder
	ending bool // no more of it comes
	broken bool // it broke off

	holding bool // its events wait until it is known that the client gets this answer
	held    []wireEvent
	after   *answer // that it continues; nil if it is the first

	sent         strings.Builder // its text for the client, as far as it may be needed again
	thought      int             // bytes of reasoning
	thoughtRunes int
	thinking     thinking
	structured   structured
	live         bool // it comes piece by piece
	hasOther     bool // it has something besides text, reasoning and calls

	started bool
	calls   int // that were started for the client
	cut     bool
	finish  *wireEvent // is sent at the end
	usage   *wireEvent // is sent behind it

	index map[int]int          // of the parser's calls that were begun, among the client's
	tools map[int]string       // that they call
	shown map[string]int       // texts of calls that were begun and then rejected
	half  []*parser.Call       // that the parser made though they were cut off
	own   []parser.Call        // of tools that run here
	ids   []string             // of the calls that were started for the client, where tools run here
	said  adapters.Accumulator // what came of the first choice, where tools run here

	follows bool // it is not the first of the client's reply
	texted  bool // it has some text

	native []*upstreamCall // in the order in which they began; nil where one was passed on
	open   map[int]*upstreamCall
}

// upstreamCall is a call in the upstream's field for calls, as it came.
type upstreamCall struct {
	id, name string
	args     strings.Builder
	custom   bool
}

// newAnswer returns an answer of which nothing has come. If the model may be asked again
// its events are held back: the client gets one answer or the other.
func (w *rewrite) newAnswer() *answer {
	return &answer{
		rewrite: w, holding: w.x.mayRetry(), live: w.live, follows: w.rounds > 0,
		index: map[int]int{}, tools: map[int]string{}, shown: map[string]int{}, open: map[int]*upstreamCall{},
	}
}

// read handles the events of the answer, up to its end or an error.
func (a *answer) read(events iter.Seq2[wireEvent, error]) error {
	if a.x.mayCall() {
		a.feeder = a.x.parser.NewReplyFeeder(a.ctx, a.x.pc)
		defer a.feeder.Close()
	}
	defer func() { a.addUsage(a.usage) }()
	for e, err := range events {
		if err == nil {
			err = a.event(e)
		} else {
			a.broken = true
			_ = a.end() // the error of the events counts
		}
		if err != nil {
			return err
		}
	}
	return a.end()
}

// send sends an event to the client, or holds it back.
func (a *answer) send(e wireEvent) error {
	if e.Type == adapters.EventText && e.Choice == 0 && a.x.wantsJSON() {
		now := a.holdText(e)
		if now == nil {
			return nil
		}
		e = *now
	}
	if a.holding {
		a.held = append(a.held, e.Clone())
		return nil
	}
	return a.emit(e)
}

// commit decides that the client gets this answer, and sends what was held back: first
// that of the answer that it continues.
func (a *answer) commit() error {
	held, first := a.held, a.after
	a.holding, a.held = false, nil
	if first != nil && len(held) > 0 {
		if err := first.commit(); err != nil {
			return err
		}
		held = a.rest(held)
	}
	for _, e := range held {
		if err := a.emit(e); err != nil {
			return err
		}
	}
	return nil
}

// event handles one event of the upstream.
func (a *answer) event(e wireEvent) error {
	if e.Type == adapters.EventStart {
		if a.started {
			return nil
		}
		a.started = true
		if a.x.client != a.x.server { // the id is of another format, and may not be unique
			e.ID = ""
		}
	}
	if a.feeder == nil || e.Choice != 0 {
		return a.pass(e)
	}
	if e.Type == adapters.EventCallStart {
		e.Name = a.x.withoutTokens(e.Name)
	}
	if a.x.offer != nil {
		a.said.Add(e)
	}
	switch e.Type {
	case adapters.EventStart:
		if _, err := a.feeder.Feed(e); err != nil || a.follows {
			return err
		}
		return a.send(e)
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
		a.keepUsage(e)
	case adapters.EventText:
		a.full.WriteString(e.Text)
	case adapters.EventReasoning, adapters.EventCallEnd:
	default:
		a.hasOther = a.hasOther || e.Type == adapters.EventOther || e.Type == adapters.EventRefusal || e.Type == adapters.EventSignature
		return a.pass(e)
	}
	out, err := a.feeder.Feed(e)
	if err != nil {
		return err
	}
	return a.parsed(out, &e)
}

// pass passes on an event as it is. The finish and the usage are kept for the end.
func (a *answer) pass(e wireEvent) error {
	switch {
	case a.x.mustNotCall() && (e.Type == adapters.EventCallStart || e.Type == adapters.EventArguments || e.Type == adapters.EventCallEnd):
		return nil // some servers call all the same
	case e.Choice == 0 && e.Type == adapters.EventFinish:
		a.keepFinish(e)
		return nil
	case e.Type == adapters.EventUsage:
		a.keepUsage(e)
		return nil
	case e.Type == adapters.EventCallStart:
		e.Name = a.x.ownName(e.Name)
		if e.Choice == 0 {
			a.calls++
		}
	}
	return a.send(e)
}

// keepFinish keeps the finish event for the end.
func (a *answer) keepFinish(e wireEvent) {
	e = e.Clone()
	a.finish = &e
}

// keepUsage keeps the usage so far for the end.
func (a *answer) keepUsage(e wireEvent) {
	e = e.Clone()
	a.usage = &e
}

// end says that no more of the answer comes.
func (a *answer) end() error {
	if a.feeder == nil {
		return nil
	}
	a.ending = true
	out, err := a.feeder.End()
	if err != nil {
		return err
	}
	for i := range out {
		if out[i].Type == parser.EventResult {
			a.result = out[i].Result
		}
	}
	a.note()
	return a.parsed(out, nil)
}

// parsed sends what the parser makes of an event of the upstream; from is nil at the end
// of the answer.
func (a *answer) parsed(events []parsedEvent, from *wireEvent) error {
	for i := range events {
		var err error
		switch p := &events[i]; p.Type {
		case parser.EventContent:
			err = a.text(p.Text, from)
		case parser.EventReasoning:
			err = a.reasoning(p.Text, from)
		case parser.EventCallStart:
			err = a.callStart(p, from)
		case parser.EventArguments:
			err = a.arguments(events[i:])
		case parser.EventCallEnd:
			err = a.callEnd(p)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// text sends text. from is the upstream's event that it comes from, nil if there is none.
func (a *answer) text(s string, from *wireEvent) error {
	if s == "" {
		return nil
	}
	out := wireEvent{Type: adapters.EventText, Text: s}
	if from != nil && from.Type == adapters.EventText && from.Text == s {
		out = *from
	}
	if !a.texted && a.follows && a.told && !a.x.wantsJSON() { // the text of the round before ends here
		out.Text = "\n\n" + strings.TrimLeft(s, "\n")
	}
	a.texted = true
	a.told = a.told || strings.TrimSpace(s) != ""
	if a.x.s.c.Server.Rescue && a.sent.Len() <= maxSent {
		a.sent.WriteString(s)
	}
	return a.send(out)
}

// maxSent bounds how much of an answer's text is kept to continue it, in bytes.
const maxSent = 256 << 10

func (a *answer) reasoning(text string, from *wireEvent) error {
	a.thought += len(strings.TrimSpace(text))
	a.thoughtRunes += utf8.RuneCountInString(text)
	if a.live && a.thinking.add(text, a.x.s.c.Server.ThinkingBudget) && a.after == nil && a.calls == 0 && a.x.mayRescue() &&
		strings.TrimSpace(a.sent.String()) == "" {
		return errRunaway
	}
	out := wireEvent{Type: adapters.EventReasoning, Text: text}
	if from != nil && from.Type == adapters.EventReasoning {
		out = *from
		out.Text = text
	}
	return a.send(out)
}

// conclude sends the end of the answer.
func (a *answer) conclude() error {
	x := a.x
	if a.finish == nil && (a.calls > 0 || a.cut) { // not all servers say why they end
		a.finish = &wireEvent{Type: adapters.EventFinish, Finish: adapters.FinishCalls}
	}
	if a.finish != nil {
		e := *a.finish
		switch {
		case e.Finish == adapters.FinishError && x.client != x.server && !x.client.Carries.Error:
			return &adapters.ProviderError{Type: defaultErrorType, Message: "the model server ended the reply with an error"}
		case x.mustNotCall() && e.Finish == adapters.FinishCalls:
			e.Finish, e.NativeName = adapters.FinishStop, ""
		case !x.mayCall():
		case a.cut && e.Finish != adapters.FinishError && e.Finish != adapters.FinishFilter:
			e.Finish, e.NativeName = adapters.FinishLength, ""
		case a.calls > 0 && (e.Finish == adapters.FinishStop || e.Finish == adapters.FinishSequence || e.Finish == ""):
			e.Finish, e.NativeName = adapters.FinishCalls, ""
		case a.calls == 0 && e.Finish == adapters.FinishCalls:
			e.Finish, e.NativeName = adapters.FinishStop, ""
		}
		if err := a.send(e); err != nil {
			return err
		}
	}
	if u := a.rewrite.usage; u != nil && (!x.req.Stream || x.req.IncludeUsage || !a.askedUsage) {
		return a.send(*u)
	}
	return nil
}

// note counts what was rejected, and shows the result to the inspector.
func (a *answer) note() {
	if a.result == nil {
		return
	}
	a.x.h.ring.note(a.x, a.result)
	for i := range a.result.Rejected {
		if a.result.Rejected[i].Meant() {
			a.x.done.invalid++
		}
	}
}

// failed reports whether the model meant a call that could not be made.
func (a *answer) failed() bool {
	return len(a.half) > 0 || a.result != nil && slices.ContainsFunc(a.result.Rejected, func(r parser.Rejected) bool { return r.Meant() })
}

// settle sends what was rejected, once no more of the answer comes.
func (a *answer) settle() error {
	if a.result == nil {
		return nil
	}
	for _, c := range a.half {
		if err := a.sendHalf(c); err != nil {
			return err
		}
	}
	for i := range a.result.Rejected {
		r := &a.result.Rejected[i]
		if !r.Meant() {
			continue
		}
		a.cut = a.cut || a.rejectedCut(r)
		if a.shown[r.Raw] > 0 { // the client has seen of it what there is
			a.shown[r.Raw]--
			continue
		}
		if a.x.isOwn(r.Tool) && (r.Provenance == call.Native || a.called()) {
			continue
		}
		if err := a.sendRejected(r); err != nil {
			return err
		}
	}
	return nil
}

// sendRejected sends a rejected call. One in the upstream's field for calls is passed on
// as it came, since the client may know better. One in the text stays text, or becomes a
// call with on_invalid "pass".
func (a *answer) sendRejected(r *parser.Rejected) error {
	switch {
	case r.Provenance == call.Native:
		if c := a.takeNative(r.ID, r.Raw); c != nil && !a.broken {
			return a.passCall(c, a.rejectedCut(r))
		}
	case r.Provenance == call.Marked && a.x.s.c.Server.OnInvalid == "pass" && a.passable(r) && !a.x.isOwn(r.Tool):
		c := &upstreamCall{id: r.ID, name: r.Tool}
		c.args.WriteString(arguments(r.Parameters))
		return a.passCall(c, false)
	case r.Provenance == call.Marked:
		from, to := r.Extent[0], r.Extent[1]
		if to <= from {
			from, to = r.Span[0], r.Span[1]
		}
		return a.text(a.removed(from, to, r.Raw), nil)
	}
	return nil
}

// passable reports whether a rejected call of the text can become a call all the same: it
// names a tool and is whole.
func (a *answer) passable(r *parser.Rejected) bool {
	if len(r.Parameters) == 0 && a.atEnd(r.Span) { // its parameters may have been to come
		return false
	}
	return r.Tool != "" && r.Parameters != nil && !r.Truncated && (!a.atEnd(r.Span) || a.closed(r.Raw, string(r.Format)))
}

// removed is the text that was removed from the content with a call: with its markers and
// the white space around it. raw is the call's own text.
func (a *answer) removed(from, to int, raw string) string {
	for i := range slices.Backward(a.result.Dropped) {
		if d := a.result.Dropped[i].Span; d[1] == from {
			from = d[0]
		}
	}
	for _, d := range a.result.Dropped {
		if d.Span[0] == to {
			to = d.Span[1]
		}
	}
	if from < 0 || to > a.full.Len() || to <= from {
		return raw
	}
	return a.full.String()[from:to]
}
