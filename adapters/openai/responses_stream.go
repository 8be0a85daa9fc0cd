package openai

import (
	"time"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/internal/convert"
	"github.com/callwright/callwright/internal/wire"
)

// responsesDecoder reads the events of a streamed response.
type responsesDecoder struct {
	calls   convert.Calls
	items   map[int64]*itemDecoder
	started bool
	any     bool // an item, or a piece of one, has come
	whole   bool
}

// itemDecoder is an item that is arriving.
type itemDecoder struct {
	pieces bool // something of it came in pieces
	first  bool // the next piece begins a block
}

func (d *responsesDecoder) Message(_ string, o wire.Object, emit func(adapters.Event)) error {
	d.calls.Emit = emit
	if d.items == nil {
		d.items = map[int64]*itemDecoder{}
	}
	index := o.Int("output_index")
	d.any = d.any || o.Has("output_index")
	item := d.items[index]
	if item == nil {
		item = &itemDecoder{first: true}
	}
	piece := func(t adapters.EventType, word string) {
		emit(adapters.Event{Type: t, Text: o.String("delta"), New: item.first, NativeName: word})
		item.pieces, item.first = true, false
	}
	switch kind := o.String("type"); kind {
	case "response.created", "response.in_progress", "response.queued":
		d.start(o.Object("response"), emit)
	case "response.output_item.added":
		if len(d.items) < adapters.MaxCalls {
			d.added(index, o.Object("item"))
		}
	case "response.content_part.added", "response.reasoning_summary_part.added":
		if item.pieces && kind == "response.reasoning_summary_part.added" {
			emit(adapters.Event{Type: adapters.EventReasoning, Text: "\n\n"})
		} else if kind == "response.content_part.added" {
			item.first = true
		}
	case "response.output_text.delta":
		piece(adapters.EventText, "")
	case "response.refusal.delta":
		piece(adapters.EventRefusal, "")
	case "response.reasoning_summary_text.delta":
		piece(adapters.EventReasoning, "")
	case "response.reasoning_text.delta":
		piece(adapters.EventReasoning, "reasoning_text")
	case "response.function_call_arguments.delta", "response.custom_tool_call_input.delta":
		item.pieces = true
		d.calls.Piece(convert.Piece{
			Key: index, HasKey: true, Arguments: o.String("delta"), Custom: kind == "response.custom_tool_call_input.delta",
		})
	case "response.output_item.done":
		d.done(index, o.Object("item"), emit)
	case "response.completed", "response.incomplete":
		d.complete(o.Object("response"), emit)
	case "response.failed":
		e := o.Object("response").Object("error")
		return &adapters.ProviderError{Type: "response.failed", Code: e.String("code"), Message: e.String("message")}
	}
	return nil
}

func (d *responsesDecoder) start(r wire.Object, emit func(adapters.Event)) {
	if d.started || r == nil {
		return
	}
	d.started = true
	e := adapters.Event{Type: adapters.EventStart, ID: r.String("id"), Model: r.String("model")}
	if n := r.Int("created_at"); n > 0 {
		e.Created = time.Unix(n, 0).UTC()
	}
	emit(e)
}

func (d *responsesDecoder) added(index int64, o wire.Object) {
	item := &itemDecoder{first: true}
	d.items[index] = item
	switch o.String("type") {
	case "function_call", "custom_tool_call":
		b := decodeItem(append(wire.Object(nil), o...))[0]
		d.calls.Piece(convert.Piece{
			Key: index, HasKey: true, ID: b.Call.ID, Name: b.Call.Name, Arguments: b.Call.Arguments, Custom: b.Call.Custom, Extra: b.Extra,
		})
		d.calls.Begin()
		item.pieces = b.Call.Arguments != ""
	}
}

// done reads an item that is whole: what of it did not come in pieces comes now.
func (d *responsesDecoder) done(index int64, o wire.Object, emit func(adapters.Event)) {
	item := d.items[index]
	if item == nil {
		d.added(index, o)
		item = d.items[index]
	}
	blocks := decodeItem(append(wire.Object(nil), o...))
	for i := range blocks {
		b := &blocks[i]
		switch b.Type {
		case adapters.BlockCall:
			if !item.pieces {
				d.calls.Piece(convert.Piece{Key: index, HasKey: true, Arguments: b.Call.Arguments, Custom: b.Call.Custom})
			}
			d.calls.EndLast(b.Call.Truncated)
		case adapters.BlockText, adapters.BlockRefusal:
			t := adapters.EventText
			if b.Type == adapters.BlockRefusal {
				t = adapters.EventRefusal
			}
			if !item.pieces {
				emit(adapters.Event{Type: t, Text: b.Text, New: true, Extra: b.Extra})
			} else if i == len(blocks)-1 && len(b.Extra.Members) > 0 {
				emit(adapters.Event{Type: t, NativeName: "done", Extra: b.Extra})
			}
		case adapters.BlockReasoning:
			if !item.pieces {
				emit(adapters.Event{Type: adapters.EventReasoning, Text: b.Text, New: true, NativeName: b.NativeName})
			}
			if b.Signature != "" || len(b.Extra.Members) > 0 {
				emit(adapters.Event{Type: adapters.EventSignature, Text: b.Signature, Extra: b.Extra})
			}
		case adapters.BlockOther:
			emit(adapters.Event{Type: adapters.EventOther, Extra: b.Extra})
		}
	}
	delete(d.items, index)
}

func (d *responsesDecoder) complete(r wire.Object, emit func(adapters.Event)) {
	d.start(r, emit)
	d.calls.End()
	reply, err := responses{}.DecodeReply(append(wire.Object(nil), r...))
	if err != nil || r == nil {
		return
	}
	d.whole = true
	if !d.any { // all of it comes at once
		for _, e := range reply.Events() {
			switch e.Type {
			case adapters.EventStart, adapters.EventFinish, adapters.EventUsage:
			default:
				emit(e)
			}
		}
	}
	emit(adapters.Event{Type: adapters.EventFinish, Finish: reply.Choices[0].Finish, Envelope: reply.Extra})
	if reply.Usage != nil {
		emit(adapters.Event{Type: adapters.EventUsage, Usage: reply.Usage})
	}
}

func (d *responsesDecoder) End(emit func(adapters.Event)) bool {
	d.calls.Emit = emit
	d.calls.End()
	return d.whole
}
