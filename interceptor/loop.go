package interceptor

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/internal/text"
	"github.com/callwright/callwright/internal/wire"
)

// NOTE: Loops are found in the request's own history: no state is kept. A loop is one call
// after the other with the same arguments and the same result, with nothing between. A
// test that fails again behind an edit is none.

// loopHeader is the response header that says what was done about a loop.
const loopHeader = "Callwright-Loop"

var (
	// polling matches tools that are rightly called until their result changes.
	polling = regexp.MustCompile(`(?i)(?:^|[_.\-/])(?:wait|poll|sleep|status|watch|monitor|tail|await|bashoutput)`)
	// reading matches tools that change nothing: a loop of them is told to the model only.
	reading = regexp.MustCompile(`(?i)(?:^|[_.\-/])(?:read|get|list|search|find|view|show|glob|grep|ls|cat|fetch|query|describe)`)
)

// toldOfLoop begins what a model is told of a loop.
const toldOfLoop = "\n\n[This call was made "

// round is a call with its result.
type round struct{ tool, arguments, result string }

// repeatedRound returns the call that ends a conversation, and how often it stands there
// one behind the other with the same result, since the user last said something.
func repeatedRound(messages []adapters.Message) (last round, times int) {
	calls := map[string]*adapters.Call{}
	var pending []*adapters.Call // of formats without ids
	for i := range messages {
		m := &messages[i]
		if m.Role == adapters.RoleUser && strings.TrimSpace(m.Text()) != "" {
			last, times, pending = round{}, 0, nil
		}
		for j := range m.Blocks {
			switch b := &m.Blocks[j]; {
			case b.Call != nil && b.Call.ID != "":
				calls[b.Call.ID] = b.Call
			case b.Call != nil:
				pending = append(pending, b.Call)
			case b.Result != nil:
				c := calls[b.Result.CallID]
				if c == nil && len(pending) > 0 {
					c, pending = pending[0], pending[1:]
				}
				if c == nil || len(b.Result.Media) > 0 {
					last, times = round{}, 0
					continue
				}
				result, _, _ := strings.Cut(b.Result.Text, toldOfLoop) // in a round before this one
				if r := (round{c.Name, compactJSON(c.Arguments), result}); r == last {
					times++
				} else {
					last, times = r, 1
				}
			}
		}
	}
	return last, times
}

// compactJSON is JSON without white space, what is none as it is.
func compactJSON(s string) string {
	if o, err := wire.ParseObject([]byte(s)); err == nil {
		slices.SortStableFunc(o, func(a, b wire.Member) int { return strings.Compare(a.Key, b.Key) })
		return string(o.Bytes())
	}
	return strings.TrimSpace(s)
}

// guardLoop tells the model of a loop, behind the last result. From twice the limit on it
// returns the reply that ends the loop; the model is not asked.
func (x *exchange) guardLoop() *adapters.Reply {
	limit := x.s.c.Server.LoopLimit
	if limit == 0 || !x.mayCall() {
		return nil
	}
	last, times := repeatedRound(x.req.Messages)
	exempt := func(p string) bool { return adapters.Matches(p, last.tool) }
	if times < limit || polling.MatchString(last.tool) || slices.ContainsFunc(x.s.c.Server.LoopExempt, exempt) {
		return nil
	}
	refused := times >= 2*limit && !reading.MatchString(last.tool)
	x.w.Header().Set(loopHeader, fmt.Sprintf("%s; %d", map[bool]string{true: "refused", false: "told"}[refused], times))
	x.h.log.Info(
		"a loop", "request", x.w.Header().Get(requestHeader), "tool", text.Clip(last.tool, maxModelName), "times", times, "refused", refused,
	)
	if refused {
		x.h.counts.rescues.WithLabelValues("loop", "refused").Inc()
		return &adapters.Reply{Model: x.req.Model, Choices: []adapters.Choice{{
			Finish: adapters.FinishStop, Blocks: []adapters.Block{{Type: adapters.BlockText, Text: fmt.Sprintf(
				"The tool %s was called %d times with the same arguments and gave the same result each time. I stop here: tell me how to go on.",
				last.tool, times,
			)}},
		}}}
	}
	x.h.counts.rescues.WithLabelValues("loop", "told").Inc()
	x.tell(fmt.Sprintf(
		toldOfLoop+"%d times now, with the same arguments and the same result. Do something else, or give your answer.]", times,
	))
	return nil
}

// tell adds words to the last result of the conversation.
func (x *exchange) tell(words string) {
	req := *x.req
	req.Messages = slices.Clone(req.Messages)
	for i := range slices.Backward(req.Messages) {
		m := &req.Messages[i]
		for j := range slices.Backward(m.Blocks) {
			if m.Blocks[j].Result == nil {
				continue
			}
			m.Blocks = slices.Clone(m.Blocks)
			result := *m.Blocks[j].Result
			result.Text += words
			m.Blocks[j].Result = &result
			x.req, x.changed = &req, true
			return
		}
	}
}
