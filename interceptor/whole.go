package interceptor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"reflect"
	"strings"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/internal/wire"
)

// events are the events of the upstream's response.
func (x *exchange) events(r *http.Response, streamed bool) iter.Seq2[wireEvent, error] {
	if streamed {
		return x.server.DecodeStream(r.Body, x.limits())
	}
	_, reply, err := x.readReply(r)
	if err != nil {
		return func(yield func(wireEvent, error) bool) { yield(wireEvent{}, err) }
	}
	return eventsOf(reply)
}

// limits are those of a streamed reply of the upstream.
func (x *exchange) limits() adapters.Limits {
	return adapters.Limits{MaxTotalBytes: x.s.c.Server.MaxReplyBytes}
}

// readReply reads a whole reply of the upstream.
func (x *exchange) readReply(r *http.Response) (data []byte, reply *adapters.Reply, err error) {
	limit := x.s.c.Server.MaxReplyBytes
	data, err = io.ReadAll(io.LimitReader(r.Body, int64(limit)+1))
	if err == nil && len(data) > limit {
		err = adapters.ErrTooLarge
	}
	if err == nil {
		reply, err = x.server.DecodeReply(data)
	}
	return data, reply, err
}

// eventsOf are the events of a reply. None is an error.
func eventsOf(reply *adapters.Reply) iter.Seq2[wireEvent, error] {
	return func(yield func(wireEvent, error) bool) {
		for _, e := range reply.Events() {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// whole replies with a whole reply. Where the parser changed nothing, it is the
// upstream's, byte for byte.
func (x *exchange) whole(ctx context.Context, r *http.Response) {
	data, reply, err := x.readReply(r)
	said := func(yield func(wireEvent, error) bool) { yield(wireEvent{}, err) }
	if err == nil {
		said = eventsOf(reply)
	}
	var events adapters.Accumulator
	cut := map[int]bool{} // calls, by index
	w := &rewrite{x: x, ctx: ctx, closeFirst: func() { _ = r.Body.Close() }, emit: func(e wireEvent) error {
		if e.Type == adapters.EventCallEnd && e.Choice == 0 {
			cut[e.Index] = e.Truncated
		}
		events.Add(e)
		return nil
	}}
	chosen, err := w.run(said)
	if err != nil {
		x.broken(ctx, err)
		return
	}
	x.headers(x.w.Header())
	answer := events.Reply()
	for i, c := range answer.Calls() { // a limit may have cut off what stands behind a call, or before it in the text
		c.Truncated = cut[i]
	}
	body := data
	asIs := reply != nil && x.client == x.server && x.done.retries == 0 && !x.done.rescued && w.rounds == 0 && x.done.ran == 0
	if !asIs || !same(answer, reply) || chosen.cut && x.client.WholeCalls {
		answer.Format = x.server.Name
		if body, err = x.client.EncodeReply(answer); err != nil {
			x.broken(ctx, err)
			return
		}
	}
	x.w.Header().Set("Content-Type", "application/json")
	x.w.WriteHeader(http.StatusOK)
	_, _ = x.w.Write(body) // the client is gone, if anything
}

// same reports whether two replies have the same text, reasoning, calls and reason of the
// end.
func same(a, b *adapters.Reply) bool {
	x, y := a.Calls(), b.Calls()
	if a.Text() != b.Text() || a.Reasoning() != b.Reasoning() || a.First().Finish != b.First().Finish || len(x) != len(y) {
		return false
	}
	for i := range x {
		if x[i].ID != y[i].ID || x[i].Name != y[i].Name || x[i].Arguments != y[i].Arguments && !sameJSON(x[i].Arguments, y[i].Arguments) {
			return false
		}
	}
	return true
}

// sameJSON reports whether two texts are the same JSON, whatever the order of members.
func sameJSON(a, b string) bool {
	var x, y any
	for text, into := range map[string]*any{a: &x, b: &y} {
		dec := json.NewDecoder(strings.NewReader(text))
		dec.UseNumber()
		if dec.Decode(into) != nil {
			return false
		}
	}
	return reflect.DeepEqual(x, y)
}

// broken replies that the upstream's reply cannot be read.
func (x *exchange) broken(ctx context.Context, err error) {
	if x.r.Context().Err() != nil {
		return
	}
	if c := context.Cause(ctx); c != nil {
		err = c
	}
	message := "the model server's reply cannot be read"
	switch {
	case errors.Is(err, errIdle):
		message = errIdle.Error()
	case errors.Is(err, errClosing):
		message = errClosing.Error()
	case errors.Is(err, adapters.ErrTooLarge):
		message = "the model server's reply is too large"
	}
	var reported *adapters.ProviderError
	if errors.As(err, &reported) {
		message = reported.Message
	}
	writeError(x.w, x.client, http.StatusBadGateway, "", message)
}

// headers sets the headers that say what was done.
func (x *exchange) headers(h http.Header) {
	h.Set("Callwright-Calls", fmt.Sprint(x.done.calls))
	if len(x.done.dialects) > 0 {
		h.Set("Callwright-Dialect", strings.Join(x.done.dialects, ", "))
	}
	for name, n := range map[string]int{
		"Callwright-Repaired": x.done.repaired, "Callwright-Coerced": x.done.coerced, "Callwright-Invalid": x.done.invalid,
		"Callwright-Retries": x.done.retries,
	} {
		if n > 0 {
			h.Set(name, fmt.Sprint(n))
		}
	}
	if x.done.ran > 0 {
		h.Set("Callwright-Tools-Run", fmt.Sprint(x.done.ran))
	}
	if reason := x.done.rescue; reason != "" {
		if !x.done.rescued {
			reason += "; lost"
		}
		h.Set("Callwright-Rescue", reason)
	}
	if x.done.unmet {
		h.Set("Callwright-Tool-Choice", "unmet")
	}
}

// trailers are the headers that a stream has at its end.
const trailers = "Callwright-Calls, Callwright-Dialect, Callwright-Repaired, Callwright-Coerced, Callwright-Invalid, Callwright-Retries," +
	" Callwright-Rescue, Callwright-Tool-Choice, Callwright-Tools-Run"

// arguments writes parameters as JSON.
func arguments(p map[string]any) string {
	b, err := wire.Encode(p)
	if err != nil {
		return "{}"
	}
	return string(b)
}
