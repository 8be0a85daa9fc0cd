package interceptor

import (
	"encoding/json"
	"strings"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/parser"
)

// NOTE: Where a client wants JSON, it gets JSON: that which the text holds, without fences
// and words around it, mended and checked by the schema. In a stream too the text waits for
// the end.

// structured is the text of an answer that is to be JSON.
type structured struct {
	held   strings.Builder
	passes bool // the text was checked, and is sent
}

// wantsJSON reports whether the client wants an answer in JSON.
func (x *exchange) wantsJSON() bool { return x.req.Response != nil && x.req.Choices <= 1 }

// holdText keeps a piece of text until the end. It returns the event
// to send now, nil if there is none.
func (a *answer) holdText(e wireEvent) *wireEvent {
	s := &a.structured
	if s.passes {
		return &e
	}
	s.held.WriteString(e.Text)
	return nil
}

// decodeText returns the JSON that an answer's held text is to be, and whether the text
// holds such.
func (a *answer) decodeText() (string, bool) {
	text := a.structured.held.String()
	o := parser.DecodeOptions{Validation: a.x.s.parts.Options.Validation}
	if schema := a.x.req.Response.Schema; len(schema) > 0 && json.Unmarshal(schema, &o.Schema) != nil {
		o.Schema = nil
	}
	d, err := parser.DecodeSchema(a.ctx, text, o)
	switch {
	case err != nil || d.JSONTruncated || !d.Validation.Success:
		return text, false
	case !d.JSONRepaired && len(d.Coercions)+len(d.Defaults) == 0 && json.Valid([]byte(text)):
		return text, true // as it was written
	}
	return d.Content, true
}

// notJSON is what a model is told whose answer is no JSON, or not that which was wanted.
const notJSON = "Your answer is not the JSON that is wanted. Answer again with nothing but the JSON, without a word or a fence around it."

// endText sends the text of an answer that waited for the end. If it holds no JSON that
// fits, the model is asked once more; if that helps no more, the text goes as it is.
func (w *rewrite) endText(a *answer) error {
	x := w.x
	if !x.wantsJSON() || a.structured.held.Len() == 0 {
		return nil
	}
	text, ok := a.decodeText()
	if !ok && a.calls == 0 && x.s.c.Server.Rescue && x.extra == 0 && (a.finish == nil || a.finish.Finish != adapters.FinishLength) {
		req := *x.req
		req.Messages = toldTo(req.Messages, strings.TrimSpace(text), notJSON)
		x.req = &req
		q := &upstreamRequest{req: x.req}
		if x.mode == "emulate" {
			q.req = x.emulated()
		}
		next := w.newAnswer()
		next.holding, next.live = true, false
		second, err := w.askMore(next, q)
		better := ""
		if second != nil && err == nil && second.calls == 0 {
			better, ok = second.decodeText()
		}
		if x.noteRescue(rescueNoJSON, ok); ok {
			text = better
		}
	}
	a.structured.held.Reset()
	a.structured.passes = true
	return a.send(wireEvent{Type: adapters.EventText, Text: text})
}
