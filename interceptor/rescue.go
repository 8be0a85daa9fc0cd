package interceptor

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/openai"
	"github.com/callwright/callwright/internal/text"
	"github.com/callwright/callwright/internal/wire"
)

// NOTE: Every turn ends in a call, a text, or one error. Where a server or a model lets a
// turn die, it is saved here, by at most one more request: what the client already has of
// the first answer stays, and the second one continues it. A turn that answers is never
// asked again.

// Reasons of a rescue, as the header, the metrics and the log name them.
const (
	rescueNoTools   = "no_tools"       // the server takes no tools: they are emulated
	rescueRefused   = "refused_call"   // the server could not read a call: its error holds it
	rescueSwallowed = "swallowed"      // the model wrote more than the server shows
	rescueEmpty     = "empty"          // the model said nothing
	rescueReasoning = "reasoning_only" // the model only thought
	rescueRunaway   = "runaway"        // its thinking repeats itself or passes the budget
	rescueAnnounced = "announced"      // the model said what it does and did not do it
	rescueInvalid   = "invalid_call"   // no tool has the name, or the arguments do not fit
	rescueFailover  = "failover"       // the first server does not answer: the second is asked
	rescueNoJSON    = "no_json"        // the client wants JSON, and the text holds none that fits
	rescueBroken    = "broken_off"     // the answer ended before it began
)

// Errors of turns that cannot be saved, in words for the client.
var (
	errNoAnswer = &adapters.ProviderError{
		Type: defaultErrorType, Message: "the model ended its turn without a call or an answer, also when it was asked to go on",
	}
	errRunaway = &adapters.ProviderError{Type: defaultErrorType, Message: "the model's thinking repeats itself or passes the budget"}
)

// mayRescue reports whether one more request may save the turn.
func (x *exchange) mayRescue() bool {
	return x.s.c.Server.Rescue && x.mayCall() && x.req.Choices <= 1 && x.extra == 0 &&
		time.Since(x.turn) < time.Duration(x.s.c.Server.RetryTimeoutMS)*time.Millisecond
}

// note notes a rescue.
func (x *exchange) noteRescue(reason string, saved bool) {
	x.done.rescue, x.done.rescued = reason, saved
	x.h.counts.rescues.WithLabelValues(reason, map[bool]string{true: "saved", false: "lost"}[saved]).Inc()
	x.h.log.Info(
		"a turn had no end", "request", x.w.Header().Get(requestHeader), "reason", reason, "saved", saved,
		"model", text.Clip(x.req.Model, maxModelName),
	)
}

// recover looks at the first response. Where the upstream does not know the format that was
// guessed, it is asked in another one. Where the model does not support tools, they
// are emulated. Where the server could not read a call, the call is read here, or emulated
// as well. What cannot be helped is returned as it is.
func (x *exchange) recover(ctx context.Context, r *http.Response) *http.Response {
	if x.guess && x.server == openai.Chat && (noPath(r) || anthropicError(r)) {
		r = x.askAnthropic(ctx, r)
	}
	r = x.adapt(ctx, r)
	if r.StatusCode < 400 || len(x.req.Tools) == 0 {
		return r
	}
	body := peek(r)
	if x.auto && withoutTools(body) {
		x.s.learned.noteWithoutTools(x.req.Model)
		x.h.log.Info("the model does not support tools: they are written into the prompt", "model", text.Clip(x.req.Model, 96))
		return x.emulateInstead(ctx, r, rescueNoTools)
	}
	reported := adapters.ErrorOf(body)
	if reported == nil || reported.Generation == "" || !x.mayRescue() {
		return r
	}
	if reply := x.generation(ctx, reported.Generation); reply != nil {
		if second := x.response(reply); second != nil {
			r.Body.Close()
			x.noteRescue(rescueRefused, true)
			return second
		}
	}
	if !x.auto {
		return r
	}
	return x.emulateInstead(ctx, r, rescueRefused)
}

// emulateInstead asks again with the tools in the prompt. If that fails, it returns the
// first response.
func (x *exchange) emulateInstead(ctx context.Context, first *http.Response, reason string) *http.Response {
	x.mode, x.auto = "emulate", false
	x.extra++
	second, err := x.ask(ctx, x.firstRequest())
	x.noteRescue(reason, err == nil && second.StatusCode == http.StatusOK)
	if err != nil {
		return first
	}
	if second.StatusCode != http.StatusOK && reason != rescueNoTools {
		second.Body.Close()
		return first
	}
	first.Body.Close()
	return second
}

// generation returns the reply of which a server said that it cannot read the call in it;
// nil if it holds no valid call.
func (x *exchange) generation(ctx context.Context, said string) *adapters.Reply {
	for _, said := range []string{said, x.namedCall(said)} {
		if said == "" {
			continue
		}
		if r, err := x.parser.Parse(ctx, said, x.pc); err == nil && len(r.Calls) > 0 {
			return &adapters.Reply{Model: x.req.Model, Choices: []adapters.Choice{{
				Finish: adapters.FinishStop, Blocks: []adapters.Block{{Type: adapters.BlockText, Text: said}},
			}}}
		}
	}
	return nil
}

// namedCall writes bare arguments as the call that they can only be: of the tool that the
// client requires, or of the only one. It is empty if there is none such.
func (x *exchange) namedCall(arguments string) string {
	arguments = strings.TrimSpace(arguments)
	name := x.req.ToolChoice.Name
	if offered := x.offered(); name == "" && len(offered) == 1 && !offered[0].Other {
		name = offered[0].Name
	}
	if name == "" || !strings.HasPrefix(arguments, "{") {
		return ""
	}
	return "<tool_call>\n{\"name\": " + string(wire.Quote(name)) + ", \"arguments\": " + arguments + "}\n</tool_call>"
}

// response writes a reply as the upstream would have; nil if it cannot be written.
func (x *exchange) response(reply *adapters.Reply) *http.Response {
	var b bytes.Buffer
	kind := "application/json"
	if x.req.Stream {
		kind = x.server.ContentType
		if x.server.EncodeStream(&b, reply) != nil {
			return nil
		}
	} else {
		data, err := x.server.EncodeReply(reply)
		if err != nil {
			return nil
		}
		b.Write(data)
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {kind}}, Body: io.NopCloser(&b)}
}

// Bounds of a turn in which the server showed less than the model wrote: a token has a
// letter at least, and some stand for the ends of turns.
const (
	leastSwallowed  = 8  // tokens, where nothing is shown
	moreThanIsShown = 24 // tokens beside those that are shown
)

// diagnose says why a turn leaves the client with nothing to go on with; "" if it does not.
func (w *rewrite) diagnose(a *answer, err error) string {
	if !w.x.mayRescue() || a.called() || a.gaveUp() || w.ctx.Err() != nil {
		return ""
	}
	if err != nil {
		return a.diagnoseError(err)
	}
	if a.result == nil || a.hasOther {
		return ""
	}
	finish := adapters.FinishStop
	if a.finish != nil {
		finish = a.finish.Finish
	}
	said := strings.TrimSpace(a.result.Content)
	switch finish {
	case adapters.FinishLength:
		if said == "" && a.thought > 0 && !a.failed() {
			return rescueRunaway
		}
		return ""
	case adapters.FinishStop, adapters.FinishCalls, "":
	default:
		return ""
	}
	hidden := a.hiddenTokens()
	switch {
	case a.failed():
		if a.result.Truncated || len(a.half) > 0 || len(a.native) > 0 && w.x.req.Stream {
			return ""
		}
		return rescueInvalid
	case said == "" && a.thought == 0 && hidden >= leastSwallowed, hidden >= moreThanIsShown:
		return rescueSwallowed
	case said == "" && a.thought > 0:
		return rescueReasoning
	case said == "":
		return rescueEmpty
	case announced(said):
		return rescueAnnounced
	}
	return ""
}

// diagnoseError is [rewrite.diagnose] for an answer that ended with an error.
func (a *answer) diagnoseError(err error) string {
	var reported *adapters.ProviderError
	switch {
	case errors.Is(err, errRunaway):
		return rescueRunaway
	case errors.As(err, &reported):
		if reported.Generation != "" {
			return rescueRefused
		}
	case errors.Is(err, adapters.ErrUnexpectedEnd) && a.full.Len() == 0 && a.thought == 0 && len(a.native) == 0 && !a.hasOther:
		return rescueBroken
	}
	return ""
}

// hiddenTokens is a lower bound of the tokens that the model wrote and the server did not
// show, 0 if it does not say how many there were.
func (a *answer) hiddenTokens() int {
	if a.usage == nil || a.usage.Usage == nil {
		return 0
	}
	u := a.usage.Usage
	shown := utf8.RuneCountInString(a.full.String()) + a.thoughtRunes
	for _, c := range a.native {
		if c != nil {
			shown += len(c.name) + c.args.Len()
		}
	}
	return int(u.OutputTokens-u.ReasoningTokens) - shown
}

// rescue saves a turn that has no end, with what the server said of it or by one more
// request. It returns the answer that continues the first one, nil if there is none.
func (w *rewrite) rescue(first *answer, err error) (*answer, error) {
	x := w.x
	reason := w.diagnose(first, err)
	if reason == "" {
		return nil, nil
	}
	if w.closeFirst != nil {
		w.closeFirst() // a server with one place has to be rid of the first answer
	}
	var reported *adapters.ProviderError
	if reason == rescueRefused && errors.As(err, &reported) {
		if reply := x.generation(w.ctx, reported.Generation); reply != nil {
			next := w.continued(first)
			if err := next.read(eventsOf(reply)); err == nil && next.called() {
				x.noteRescue(reason, true)
				return next, nil
			}
		}
	}
	next, err := w.askMore(w.continued(first), w.secondRequest(first, reason))
	saved := next != nil && (next.called() || err == nil && next.says() && !next.failed() && !next.result.Truncated)
	x.noteRescue(reason, saved)
	if !saved {
		return nil, nil
	}
	return next, err
}

// says reports whether an answer has a text.
func (a *answer) says() bool { return a.result != nil && strings.TrimSpace(a.result.Content) != "" }

// lost reports whether the client got nothing of an answer that was to be rescued.
func (a *answer) lost() bool {
	switch a.x.done.rescue {
	case rescueEmpty, rescueReasoning, rescueSwallowed:
		return !a.x.done.rescued && a.calls == 0 && !a.says()
	}
	return false
}

// continued returns an answer that continues another one.
func (w *rewrite) continued(first *answer) *answer {
	next := w.newAnswer()
	next.holding, next.after = true, first
	return next
}

// goOn is what a model is told that ended its turn with nothing.
const goOn = "You ended your turn without calling a tool and without an answer. Go on now: call the tool that comes next, " +
	"or give your answer if nothing is left to do."

// maxToldThinking bounds how much of its own thinking a model is told, in bytes.
const maxToldThinking = 2000

// secondRequest is the request that is to save a turn.
func (w *rewrite) secondRequest(first *answer, reason string) *upstreamRequest {
	x := w.x
	req := *x.req
	switch reason {
	case rescueBroken:
		return x.firstRequest()
	case rescueRefused, rescueSwallowed:
		if x.auto && x.mode == "native" { // the prompt keeps the server from reading calls
			x.mode, x.auto = "emulate", false
		} else {
			req.Messages = toldTo(req.Messages, strings.TrimSpace(first.sent.String()), goOn)
		}
	case rescueInvalid:
		req = *withFeedback(x.req, first.native, first.result, first.result.Feedback())
	case rescueRunaway:
		req.Effort, req.ReasoningTokens = "off", 0
		if x.server == openai.Chat && !x.s.isAt("openai.com") {
			req.Extra = withoutThinking(req.Extra, x.server.Name)
		}
		req.Messages = toldTo(req.Messages, "", "Do not think about it any longer. Call the tool that comes next, or give your answer.")
	case rescueReasoning:
		thought := strings.TrimSpace(first.result.Reasoning)
		req.Messages = toldTo(req.Messages, strings.ToValidUTF8(thought[max(0, len(thought)-maxToldThinking):], ""), goOn)
	default:
		req.Messages = toldTo(req.Messages, strings.TrimSpace(first.result.Content), goOn)
	}
	x.req = &req
	if x.mode == "emulate" {
		return &upstreamRequest{req: x.emulated()}
	}
	return &upstreamRequest{req: x.req}
}

// toldTo returns a conversation with what the model said and what it is told then.
func toldTo(messages []adapters.Message, said, told string) []adapters.Message {
	if said == "" {
		said = "…"
	}
	block := func(s string) []adapters.Block { return []adapters.Block{{Type: adapters.BlockText, Text: s}} }
	return append(
		append([]adapters.Message{}, messages...), adapters.Message{Role: adapters.RoleAssistant, Blocks: block(said)},
		adapters.Message{Role: adapters.RoleUser, Blocks: block(told)},
	)
}

// withoutThinking adds the switch by which vLLM, SGLang and llama.cpp leave out thinking.
func withoutThinking(e adapters.Extra, format string) adapters.Extra {
	members := wire.Object(nil)
	if e.Format == format {
		members = wire.Object(e.Clone().Members)
	}
	members.Set("chat_template_kwargs", []byte(`{"enable_thinking":false}`))
	return adapters.ExtraOf(format, members)
}

// rest returns the events of an answer that continues another one: without its start,
// and without text that the client already has.
func (a *answer) rest(held []wireEvent) []wireEvent {
	before := strings.TrimSpace(a.after.sent.String())
	var all strings.Builder
	for i := range held {
		if held[i].Type == adapters.EventText && held[i].Choice == 0 {
			all.WriteString(held[i].Text)
		}
	}
	said := strings.TrimSpace(all.String())
	skip, between := 0, ""
	switch {
	case before == "" || said == "":
	case strings.Contains(before, said):
		skip = all.Len()
	case strings.HasPrefix(said, before):
		skip = strings.Index(all.String(), before) + len(before)
	default:
		between = "\n\n"
	}
	var out []wireEvent
	for _, e := range held {
		switch {
		case e.Type == adapters.EventStart:
			continue
		case e.Type == adapters.EventText && e.Choice == 0:
			n := min(skip, len(e.Text))
			skip -= n
			if e.Text = e.Text[n:]; e.Text == "" {
				continue
			}
			e.Text, between = between+e.Text, ""
		}
		out = append(out, e)
	}
	return out
}
