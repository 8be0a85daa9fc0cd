package interceptor

import (
	"slices"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/cache"
)

// NOTE: Where a model calls tools of the client and tools that run here in one answer, the
// client is given its own calls only. The others are kept, with their results, until the
// client comes back with the results of its calls: then they are put back into the
// conversation. If they are gone by then, the conversation lacks them and is whole all the
// same.

// Bounds of what is kept.
const (
	maxKeptCalls = 1024
	maxKeptBytes = 64 << 20
)

// keptCalls are the calls of an answer that are none of the client's, and their results.
type keptCalls struct {
	calls   []adapters.Block
	results []adapters.Message
}

// runBeside runs the calls that stand beside calls of the client, and keeps their results.
// Where the client's calls have no ids they could not be found again: then nothing runs.
func (w *rewrite) runBeside(a *answer) error {
	x := w.x
	if len(a.own) == 0 || a.calls == 0 || len(a.ids) == 0 || !x.client.Carries.CallIDs || len(a.half) > 0 {
		return nil
	}
	if w.beforeWait != nil {
		w.beforeWait()
	}
	if w.closeFirst != nil {
		w.closeFirst()
	}
	messages, err := w.runOwn(a)
	if err != nil {
		return err
	}
	k := &keptCalls{results: messages[1:]}
	size := 0
	for _, b := range messages[0].Blocks {
		if b.Type == adapters.BlockCall {
			k.calls = append(k.calls, b)
			size += len(b.Call.Name) + len(b.Call.Arguments) + 64
		}
	}
	for i := range k.results {
		for j := range k.results[i].Blocks {
			if r := k.results[i].Blocks[j].Result; r != nil {
				size += len(r.Text) + 64
			}
		}
	}
	x.h.kept.Add(x.keptKey(a.ids[0], x.req.Messages), k, size)
	return nil
}

// keptKey identifies what is kept: by the client, the id of its first call, and what the
// user said before it, since ids need not be unique.
func (x *exchange) keptKey(id string, before []adapters.Message) cache.Key {
	said := ""
	for i := range slices.Backward(before) {
		if before[i].Role == adapters.RoleUser {
			said = before[i].Text()
			break
		}
	}
	return cache.KeyOf(x.pc.Tenant, id, said)
}

// restoreCalls puts kept calls and their results back into the conversation.
func (x *exchange) restoreCalls() {
	var out []adapters.Message
	for i := range x.req.Messages {
		m := x.req.Messages[i]
		calls := m.Calls()
		var k *keptCalls
		if len(calls) > 0 {
			k, _ = x.h.kept.Get(x.keptKey(calls[0].ID, x.req.Messages[:i]))
		}
		if k == nil {
			if out != nil {
				out = append(out, m)
			}
			continue
		}
		if out == nil {
			out = slices.Clone(x.req.Messages[:i])
		}
		m.Blocks = slices.Concat(m.Blocks, k.calls)
		out = append(append(out, m), k.results...)
	}
	if out != nil {
		x.req.Messages = out // the request is a copy of the client's
	}
}
