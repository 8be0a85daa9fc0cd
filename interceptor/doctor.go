package interceptor

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/internal/text"
	"github.com/callwright/callwright/internal/wire"
	"github.com/callwright/callwright/parser"
)

// NOTE: What is wrong with a conversation is mended before a server sees it, since one bad
// message makes servers refuse all that follow. A conversation with which nothing is wrong
// goes on as it was sent, byte for byte.

// mendedHeader is the response header that says what of the request was mended.
const mendedHeader = "Callwright-Mended"

// What is mended, as the header says it.
const (
	mendedArguments = "arguments"       // of an earlier call: no JSON object
	mendedResults   = "orphan_results"  // results of calls that are not there
	mendedCalls     = "unanswered_call" // calls without a result
)

// mend mends the conversation.
func (x *exchange) mend(ctx context.Context) {
	extra := wire.Object(x.req.Extra.For(x.client.Name))
	if extra.Has("previous_response_id") || extra.Has("conversation") { // the server has the rest of it
		return
	}
	var done []string
	messages := mendArguments(ctx, x.req.Messages, &done)
	messages = mendPairs(messages, &done)
	if done == nil {
		return
	}
	req := *x.req
	req.Messages = messages
	x.req, x.changed = &req, true
	for _, what := range done {
		x.noteMended(what)
	}
	x.h.log.Info(
		"the conversation was mended", "request", x.w.Header().Get(requestHeader), "what", done, "model", text.Clip(x.req.Model, maxModelName),
	)
}

// mendArguments gives each earlier call arguments that are a JSON object.
func mendArguments(ctx context.Context, messages []adapters.Message, done *[]string) []adapters.Message {
	out, copied := messages, false
	for i := range messages {
		for j := range messages[i].Blocks {
			c := messages[i].Blocks[j].Call
			if c == nil || c.Custom || isObject(c.Arguments) {
				continue
			}
			if !copied {
				out, copied = slices.Clone(messages), true
				*done = append(*done, mendedArguments)
			}
			if &out[i].Blocks[0] == &messages[i].Blocks[0] {
				out[i].Blocks = slices.Clone(messages[i].Blocks)
			}
			mended := *c
			mended.Arguments = mendedObject(ctx, c.Arguments)
			out[i].Blocks[j].Call = &mended
		}
	}
	return out
}

func isObject(s string) bool {
	return strings.HasPrefix(strings.TrimSpace(s), "{") && json.Valid([]byte(s))
}

// mendedObject is the object that broken arguments mean: that in a string, or one that was
// repaired. What cannot be repaired is told as the member "raw".
func mendedObject(ctx context.Context, s string) string {
	s = strings.TrimSpace(s)
	if s == "" || s == "null" || s == `""` || s == "[]" {
		return "{}"
	}
	var inner string
	if json.Unmarshal([]byte(s), &inner) == nil && isObject(inner) {
		return inner
	}
	d, err := parser.DecodeSchema(ctx, s, parser.DecodeOptions{Schema: map[string]any{"type": "object"}})
	if err == nil && !d.JSONTruncated && strings.HasPrefix(s, "{") && isObject(d.Content) {
		return d.Content
	}
	return arguments(map[string]any{"raw": s})
}

// noResult is told of a call that has no result.
const noResult = "The call was interrupted: it has no result."

// mendPairs tells results whose call is not there as text of the user, and gives calls
// without a result one that says so.
func mendPairs(messages []adapters.Message, done *[]string) []adapters.Message {
	called, answered := map[string]bool{}, map[string]bool{}
	orphan := func(b *adapters.Block) bool {
		return b.Result != nil && b.Result.CallID != "" && !called[b.Result.CallID]
	}
	wrong := false
	for i := range messages {
		for j := range messages[i].Blocks {
			switch b := &messages[i].Blocks[j]; {
			case b.Call != nil:
				called[b.Call.ID] = true
			case b.Result != nil && orphan(b):
				wrong = true
			case b.Result != nil:
				answered[b.Result.CallID] = true
			}
		}
	}
	unanswered := func(c *adapters.Call) bool { return c.ID != "" && !answered[c.ID] && !answered[""] }
	for i := range messages {
		for _, c := range messages[i].Calls() {
			wrong = wrong || unanswered(c)
		}
	}
	if !wrong {
		return messages
	}
	note := func(what string) {
		if !slices.Contains(*done, what) {
			*done = append(*done, what)
		}
	}
	var out []adapters.Message
	clear(called)
	for i := range messages {
		m := messages[i]
		for _, c := range m.Calls() {
			called[c.ID] = true
		}
		if slices.ContainsFunc(m.Blocks, func(b adapters.Block) bool { return orphan(&b) }) {
			note(mendedResults)
			m.Role, m.Blocks = adapters.RoleUser, slices.Clone(m.Blocks)
			for j := range m.Blocks {
				if b := &m.Blocks[j]; orphan(b) {
					name := b.Result.Name
					if name == "" {
						name = "a tool"
					}
					*b = adapters.Block{Type: adapters.BlockText, Text: fmt.Sprintf("[Result of an earlier call of %s:]\n%s", name, b.Result.Text)}
				}
			}
		}
		out = append(out, m)
		for _, c := range m.Calls() {
			if unanswered(c) {
				note(mendedCalls)
				out = append(out, adapters.Message{Role: adapters.RoleTool, Blocks: []adapters.Block{{
					Type: adapters.BlockResult, Result: &adapters.ToolResult{CallID: c.ID, Name: c.Name, Text: noResult, IsError: true},
				}}})
			}
		}
	}
	return out
}
