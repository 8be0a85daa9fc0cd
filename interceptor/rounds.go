package interceptor

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/call"
	"github.com/callwright/callwright/dispatch"
	"github.com/callwright/callwright/internal/text"
	"github.com/callwright/callwright/parser"
)

// NOTE: A round is an answer with calls of tools that run here, their results, and the next
// question. The client sees one reply: the texts of all rounds, and the calls of the last
// one. Each round may be rescued or retried like a reply of its own.

// maxRejectedRounds is how often in one reply a model is told of calls that could not be
// made, where it made none that could.
const maxRejectedRounds = 2

// lastRound is told behind the results of the last round that a reply may have.
const lastRound = "\n\n[No more tools can be called now. Give your answer.]"

// errWrongCalls says that the model was told what is wrong with its calls, in vain.
var errWrongCalls = &adapters.ProviderError{
	Type: defaultErrorType, Message: "the model calls tools wrongly, also when it is told what is wrong with its calls",
}

// errToolTime says that the tools of a reply took too long.
var errToolTime = &adapters.ProviderError{Type: defaultErrorType, Message: "the tools took longer than server.mcp_timeout_ms"}

// wantsRound reports whether an answer is to be followed by another one, which is given the
// results of its calls.
func (a *answer) wantsRound() bool {
	if a.x.offer == nil || a.result == nil || a.broken || len(a.half) > 0 {
		return false
	}
	return len(a.own) > 0 || a.rejectedRounds < maxRejectedRounds && a.ownRejected()
}

// ownRejected reports whether a call of an answer could not be made that is none of the
// client's.
func (a *answer) ownRejected() bool {
	return slices.ContainsFunc(a.result.Rejected, func(r parser.Rejected) bool {
		return r.Meant() && a.x.isOwn(r.Tool) && !a.rejectedCut(&r)
	})
}

// gaveUp reports whether a model was told often enough what is wrong with its calls.
func (a *answer) gaveUp() bool {
	return a.rejectedRounds >= maxRejectedRounds && a.result != nil && len(a.own) == 0 && a.ownRejected()
}

// called reports whether an answer has a call, of the client or of a tool that runs here.
func (a *answer) called() bool { return a.calls > 0 || a.wantsRound() }

// roundsOf follows an answer by rounds until one comes that is for the client. It returns
// the last answer that was read.
func (w *rewrite) roundsOf(a *answer) (*answer, error) {
	for a.calls == 0 && a.wantsRound() {
		w.rounds++
		if most := w.x.s.c.Server.MCPRounds; w.rounds > most {
			return a, &adapters.ProviderError{
				Type: defaultErrorType, Message: fmt.Sprintf("the model called tools %d times in a row without an answer (server.mcp_rounds)", most),
			}
		}
		next, err := w.round(a)
		if err != nil {
			return next, err
		}
		a = next
	}
	if a.calls == 0 && a.gaveUp() && !a.says() {
		return a, errWrongCalls
	}
	return a, nil
}

// round runs the calls of an answer, and reads what the model says to their results.
func (w *rewrite) round(last *answer) (*answer, error) {
	x := w.x
	if err := last.commit(); err != nil {
		return last, err
	}
	if w.closeFirst != nil {
		w.closeFirst() // nothing more of it is waited for
	}
	if w.beforeWait != nil {
		w.beforeWait()
	}
	if w.rejectedRounds++; len(last.own) > 0 {
		w.rejectedRounds = 0
	}
	messages, err := w.runOwn(last)
	if err != nil {
		return last, err
	}
	req := *x.req
	req.Messages = slices.Concat(req.Messages, messages)
	x.req, x.changed, x.extra, x.turn = &req, true, 0, time.Now()
	x.pc.Prompt = earlierTexts(x.req)
	if reply := x.guardLoop(); reply != nil {
		return w.turn(w.newAnswer(), eventsOf(reply))
	}
	if w.rounds == x.s.c.Server.MCPRounds {
		x.tell(lastRound)
	}
	response, err := x.ask(w.ctx, x.firstRequest())
	if err != nil {
		message := "the model server at " + x.s.upstream.Host + " cannot be reached: " + cause(err)
		return last, &adapters.ProviderError{Type: defaultErrorType, Message: message}
	}
	response = x.recover(w.ctx, response)
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK || !isReply(response) {
		message := http.StatusText(response.StatusCode)
		if reported := adapters.ErrorOf(peek(response)); reported != nil && reported.Message != "" {
			message = reported.Message
		}
		return last, &adapters.ProviderError{Type: defaultErrorType, Message: message}
	}
	response.Body = withIdleTimeout(response.Body, time.Duration(x.s.c.Server.IdleTimeoutMS)*time.Millisecond, x.cancel)
	body := response.Body
	w.closeFirst = func() { _ = body.Close() }
	if w.beforeWait != nil {
		response.Body = flushingBody{body, w.beforeWait}
	}
	return w.turn(w.newAnswer(), x.events(response, x.req.Stream))
}

// runOwn runs the calls of an answer that are no calls of the client. It returns what the
// model said, as far as the client does not send it, and the results.
func (w *rewrite) runOwn(a *answer) ([]adapters.Message, error) {
	x := w.x
	used := map[string]bool{}
	for i := range x.req.Messages {
		for _, c := range x.req.Messages[i].Calls() {
			used[c.ID] = true
		}
	}
	said := a.message()
	for _, c := range said.Calls() { // a model may use an id in each of its turns
		if used[c.ID] {
			id := x.server.IDs.New()
			for i := range a.own {
				if a.own[i].ID == c.ID {
					a.own[i].ID = id
				}
			}
			c.ID = id
		}
	}
	limit := time.Duration(x.s.c.Server.MCPTimeoutMS) * time.Millisecond
	ctx, cancel := context.WithDeadlineCause(w.ctx, x.start.Add(limit), errToolTime)
	defer cancel()
	report, err := x.offer.Run(ctx, a.own)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	} else if err != nil {
		return nil, err
	}
	for i := range report.Results {
		x.noteRun(&report.Results[i])
	}
	return slices.Concat([]adapters.Message{said}, report.Messages(), a.feedback()), nil
}

// noteRun counts a call that ran here, or was refused.
func (x *exchange) noteRun(r *dispatch.Result) {
	outcome := "ok"
	if r.Err != nil {
		outcome = string(r.Err.Code)
	}
	x.done.ran++
	x.h.counts.tools.WithLabelValues(r.Call.Tool, outcome).Inc()
	x.h.log.Info(
		"a tool was called", "request", x.w.Header().Get(requestHeader), "tool", r.Call.Tool, "outcome", outcome,
		"duration_ms", r.Took.Milliseconds(), "model", text.Clip(x.req.Model, maxModelName),
	)
}

// message is an answer as a message of the conversation, with the calls of tools that run
// here only. What only the server's own format knows of it, such as signed reasoning,
// stays.
func (a *answer) message() adapters.Message {
	m := adapters.Message{Role: adapters.RoleAssistant}
	said := a.said.Reply()
	unread := a.result.Content
	for i := range a.result.Rejected {
		if r := &a.result.Rejected[i]; r.Meant() && r.Provenance == call.Marked {
			unread += r.Raw
		}
	}
	asWritten := said.Text() == unread
	own := slices.Clone(a.own)
	for _, b := range said.First().Blocks {
		switch {
		case b.Type == adapters.BlockText && !asWritten:
			if b.Text = strings.TrimSpace(unread); b.Text == "" {
				continue
			}
			unread = ""
		case b.Type == adapters.BlockCall:
			same := func(c parser.Call) bool {
				return c.Provenance == call.Native && (c.ID == b.Call.ID || b.Call.ID == "" && c.Tool == b.Call.Name)
			}
			c := adapters.Call{ID: b.Call.ID, Name: b.Call.Name}
			if at := slices.IndexFunc(own, same); at >= 0 {
				c = callOf(&own[at])
				own = slices.Delete(own, at, at+1)
			} else if a.rejectedNative(b.Call.ID) == nil {
				continue // the client sends it
			} else {
				c.Arguments = mendedObject(a.ctx, b.Call.Arguments)
			}
			b.Call = &c
		}
		m.Blocks = append(m.Blocks, b)
	}
	for i := range own {
		c := callOf(&own[i])
		m.Blocks = append(m.Blocks, adapters.Block{Type: adapters.BlockCall, Call: &c})
	}
	if len(m.Blocks) == 0 {
		m.Blocks = []adapters.Block{{Type: adapters.BlockText, Text: "…"}}
	}
	return m
}

func callOf(c *parser.Call) adapters.Call {
	return adapters.Call{ID: c.ID, Name: c.Tool, Arguments: arguments(c.Parameters)}
}

// rejectedNative returns the rejected call of the server's own field with an id, if it is
// none of the client's.
func (a *answer) rejectedNative(id string) *parser.Rejected {
	for i := range a.result.Rejected {
		r := &a.result.Rejected[i]
		if r.Provenance == call.Native && r.ID == id && r.Meant() && a.calls == 0 {
			return r
		}
	}
	return nil
}

// feedback tells the model of the calls that could not be made.
func (a *answer) feedback() (list []adapters.Message) {
	rest := parser.Result{}
	for i := range a.result.Rejected {
		r := a.result.Rejected[i]
		if !r.Meant() {
			continue
		}
		if r.Provenance != call.Native || r.ID == "" {
			rest.Rejected = append(rest.Rejected, r)
			continue
		}
		if a.rejectedNative(r.ID) == nil {
			continue
		}
		one := parser.Result{Rejected: []parser.Rejected{r}}
		list = append(list, adapters.Message{Role: adapters.RoleTool, Blocks: []adapters.Block{{
			Type: adapters.BlockResult, Result: &adapters.ToolResult{CallID: r.ID, Name: r.Tool, Text: one.Feedback(), IsError: true},
		}}})
	}
	if words := rest.Feedback(); words != "" && a.calls == 0 {
		list = append(list, adapters.Message{
			Role: adapters.RoleUser, Blocks: []adapters.Block{{Type: adapters.BlockText, Text: words}},
		})
	}
	return list
}
