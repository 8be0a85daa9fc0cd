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

// wantsRetry reports whether to ask the model again, and with what feedback: if a call was
// invalid and on_invalid is "retry", or if a call was required and there is none.
func (w *rewrite) wantsRetry(result *parser.Result) (feedback string, ok bool) {
	x := w.x
	server := &x.s.c.Server
	if result == nil || w.calls > 0 {
		return "", false
	}
	required := x.mustCall()
	if server.OnInvalid == "retry" || required {
		feedback = result.Feedback()
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
	late := time.Since(x.start) > time.Duration(server.RetryTimeoutMS)*time.Millisecond
	if feedback == "" || x.done.retries >= most || late || result.Truncated || w.ctx.Err() != nil {
		x.done.unmet = required && feedback != ""
		return "", false
	}
	return feedback, true
}

// askAgain sends a retry, with the answer and what was wrong with it, and handles the
// calls of the next answer.
func (w *rewrite) askAgain(a *answer, result *parser.Result, feedback string) error {
	x := w.x
	x.done.retries++
	x.req = withFeedback(x.req, a.native, result, feedback)
	q := &upstreamRequest{req: x.req}
	if x.mode == "emulate" {
		q.req = x.emulated()
	}
	deadline := x.start.Add(time.Duration(x.s.c.Server.RetryTimeoutMS) * time.Millisecond)
	ctx, cancel := context.WithDeadlineCause(w.ctx, deadline, errIdle)
	defer cancel()
	if w.beforeWait != nil {
		w.beforeWait()
	}
	response, err := x.ask(ctx, q)
	if err != nil {
		x.done.unmet = x.mustCall()
		return nil
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK || !isReply(response) {
		x.done.unmet = x.mustCall()
		return nil
	}
	return w.answer(x.events(response, x.req.Stream), true)
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
