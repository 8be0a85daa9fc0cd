package interceptor

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/call"
	"github.com/callwright/callwright/parser"
)

// NOTE: Where the model may be asked again, the client gets one answer or the other and
// never both: nothing of an answer is sent before it has a valid call, or is the last.

// mayRetry reports whether the model may be asked again.
func (x *exchange) mayRetry() bool {
	return x.mayCall() && (x.mustCall() || x.s.c.Server.OnInvalid == "retry" && x.s.c.Server.Retries > 0)
}

// wantsRetry reports whether to ask the model again, and with what feedback: if a call was
// invalid and on_invalid is "retry", or if a call was required and there is none.
func (w *rewrite) wantsRetry(a *answer) (feedback string, ok bool) {
	x := w.x
	server := &x.s.c.Server
	if a.result == nil || a.called() || !x.mayRetry() {
		return "", false
	}
	required := x.mustCall()
	if server.OnInvalid == "retry" || required {
		feedback = a.result.Feedback()
	}
	if feedback == "" && required {
		feedback = "A tool has to be called now. Call one and say nothing else."
		if name := x.req.ToolChoice.Name; name != "" {
			feedback = "The tool " + name + " has to be called now. Call it and say nothing else."
		}
	}
	most := server.Retries
	if required {
		most = max(most, 1)
	}
	late := time.Since(x.turn) > time.Duration(server.RetryTimeoutMS)*time.Millisecond
	return feedback, feedback != "" && x.done.retries < most && !late && !a.result.Truncated && w.ctx.Err() == nil
}

// succeeded reports whether the answer to a retry takes the place of the first one: it
// has a call, or it is one that needs none.
func (w *rewrite) succeeded(a *answer) bool {
	return a.called() || !w.x.mustCall() && !a.failed() && !a.result.Truncated
}

// askAgain sends a retry, with the answer and what was wrong with it. It returns the next
// answer, nil if there is none to use. The error is that of an answer of which the client
// has already got something.
func (w *rewrite) askAgain(last *answer, feedback string) (*answer, error) {
	x := w.x
	x.done.retries++
	x.req = withFeedback(x.req, last.native, last.result, feedback)
	q := &upstreamRequest{req: x.req}
	if x.mode == "emulate" {
		q.req = x.emulated()
	}
	if held := x.heldToCall(); held != nil {
		q.req = held
	}
	return w.askMore(w.newAnswer(), q)
}

// askMore sends one more request and reads the answer to it. It returns nil if there is
// none to use. The error is that of an answer of which the client has already got
// something.
func (w *rewrite) askMore(next *answer, q *upstreamRequest) (*answer, error) {
	x := w.x
	x.extra++
	deadline := x.turn.Add(time.Duration(x.s.c.Server.RetryTimeoutMS) * time.Millisecond)
	ctx, cancel := context.WithDeadlineCause(w.ctx, deadline, errIdle)
	defer cancel()
	if w.beforeWait != nil {
		w.beforeWait()
	}
	response, err := x.ask(ctx, q)
	if err != nil {
		return nil, nil // the answer before it stands
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK || !isReply(response) {
		if q.req.Response != nil && refusesSchema(response.StatusCode) {
			x.s.learned.noteWithoutSchema(x.req.Model)
		}
		return nil, nil
	}
	if err := next.read(x.events(response, x.req.Stream)); err != nil && next.calls == 0 {
		return nil, nil
	} else if err != nil {
		return next, err
	}
	return next, nil
}

// withFeedback returns the request with a wrong answer, and the feedback on it, at the
// end of the conversation.
func withFeedback(r *adapters.Request, native []*upstreamCall, result *parser.Result, feedback string) *adapters.Request {
	out := *r
	said := adapters.Message{Role: adapters.RoleAssistant}
	var text strings.Builder
	text.WriteString(result.Content)
	for i := range result.Rejected {
		if result.Rejected[i].Provenance == call.Marked {
			text.WriteString(result.Rejected[i].Raw)
		}
	}
	if text.Len() > 0 {
		said.Blocks = append(said.Blocks, adapters.Block{Type: adapters.BlockText, Text: text.String()})
	}
	var results []adapters.Message
	for _, n := range native {
		if n == nil {
			continue
		}
		args := n.args.String()
		if strings.TrimSpace(args) == "" {
			args = "{}"
		}
		said.Blocks = append(
			said.Blocks, adapters.Block{Type: adapters.BlockCall, Call: &adapters.Call{ID: n.id, Name: n.name, Arguments: args, Custom: n.custom}},
		)
		results = append(results, adapters.Message{Role: adapters.RoleTool, Blocks: []adapters.Block{{
			Type: adapters.BlockResult, Result: &adapters.ToolResult{CallID: n.id, Name: n.name, Text: feedback, IsError: true},
		}}})
	}
	if len(said.Blocks) == 0 {
		said.Blocks = []adapters.Block{{Type: adapters.BlockText, Text: "…"}}
	}
	out.Messages = append(append([]adapters.Message{}, r.Messages...), said)
	if len(results) > 0 {
		out.Messages = append(out.Messages, results...)
	} else {
		out.Messages = append(
			out.Messages, adapters.Message{Role: adapters.RoleUser, Blocks: []adapters.Block{{Type: adapters.BlockText, Text: feedback}}},
		)
	}
	return &out
}
