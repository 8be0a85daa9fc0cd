package ollama

import (
	"time"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/internal/convert"
	"github.com/callwright/callwright/internal/wire"
)

// decoder reads the lines of a streamed reply of chat or generate.
type decoder struct {
	name    string
	started bool
	calls   convert.Calls
	whole   bool
}

func (d *decoder) Message(_ string, o wire.Object, emit func(adapters.Event)) error {
	d.calls.Emit = emit
	model, created, usage, finish, done := takeHead(&o)
	m := o.TakeObject("message")
	var blocks []adapters.Block
	if d.name == GenerateName {
		blocks = generated(&o)
	} else {
		blocks = decodeMessage(&m, d.name)
	}
	if m.Take("role"); len(m) > 0 {
		o.SetObject("message", m)
	}
	envelope := adapters.ExtraOf(d.name, o)
	if !d.started {
		d.started = true
		emit(adapters.Event{Type: adapters.EventStart, Model: model, Created: created})
	}
	for _, b := range blocks {
		switch b.Type {
		case adapters.BlockText:
			emit(adapters.Event{Type: adapters.EventText, Text: b.Text, Envelope: envelope})
		case adapters.BlockReasoning:
			emit(adapters.Event{Type: adapters.EventReasoning, Text: b.Text, Envelope: envelope})
		case adapters.BlockCall:
			// Calls come whole, one or more a line.
			d.calls.Piece(convert.Piece{
				Key: int64(d.calls.Len()), HasKey: true, ID: b.Call.ID, Name: b.Call.Name, Arguments: b.Call.Arguments, Extra: b.Extra,
			})
			d.calls.EndLast(false)
			continue
		default:
			continue
		}
		envelope = adapters.Extra{}
	}
	if done {
		d.whole = true
		emit(adapters.Event{Type: adapters.EventFinish, Finish: finish, Envelope: envelope})
		envelope = adapters.Extra{}
	}
	if usage != nil {
		emit(adapters.Event{Type: adapters.EventUsage, Usage: usage})
	}
	if len(envelope.Members) > 0 {
		emit(adapters.Event{Type: adapters.EventExtra, Envelope: envelope})
	}
	return nil
}

func (d *decoder) End(emit func(adapters.Event)) bool {
	d.calls.Emit = emit
	d.calls.End()
	return d.whole
}

// encoder writes the lines of a streamed reply of chat or generate. A call is
// written when it is whole: the format has no pieces of calls.
type encoder struct {
	name    string
	out     *wire.Writer
	model   string
	created time.Time
	call    convert.Gather
	calls   int
	finish  adapters.Event
	usage   *adapters.Usage
	failed  bool
}

func (e *encoder) Event(ev adapters.Event) error {
	if ev.Choice != 0 {
		return nil
	}
	switch ev.Type {
	case adapters.EventStart:
		e.model, e.created = ev.Model, ev.Created
		if own := convert.Own(ev.Envelope, e.name); own != nil {
			e.finish.Envelope = adapters.Extra{Format: e.name, Members: own.Clone()}
		}
		return nil
	case adapters.EventUsage:
		e.usage = ev.Usage
		return nil
	case adapters.EventPing: // the format has no keep-alive: a piece without text is one
		if e.model == "" {
			e.model = ev.Model
		}
		return e.line("content", []byte(`""`), adapters.Event{})
	case adapters.EventText, adapters.EventRefusal:
		if ev.Text == "" {
			return nil
		}
		return e.line("content", wire.Quote(ev.Text), ev)
	case adapters.EventReasoning:
		if ev.Text == "" {
			return nil
		}
		return e.line("thinking", wire.Quote(ev.Text), ev)
	case adapters.EventCallStart, adapters.EventArguments, adapters.EventCallEnd:
		call, whole := e.call.Event(ev)
		if !whole {
			return nil
		}
		e.calls++
		if e.name == GenerateName {
			return e.line("content", wire.Quote(adapters.WriteCall(call.Call)), ev)
		}
		return e.line("tool_calls", wire.List([][]byte{encodeCall(&call, e.name, e.calls-1).Bytes()}), ev)
	case adapters.EventFinish:
		if e.finish.Envelope.Members != nil && ev.Envelope.Members == nil {
			ev.Envelope = e.finish.Envelope
		}
		e.finish = ev
	}
	return nil
}

func (e *encoder) line(key string, value []byte, ev adapters.Event) error {
	o := head(e.model, e.created)
	if e.name == GenerateName {
		if key == "content" {
			o.Set("response", value)
		} else {
			o.SetString("response", "")
			o.Set(key, value)
		}
	} else {
		var m wire.Object
		m.SetString("role", "assistant")
		if key != "content" {
			m.SetString("content", "")
		}
		m.Set(key, value)
		o.SetObject("message", m)
	}
	o.SetBool("done", false)
	o.Merge(convert.Own(ev.Envelope, e.name))
	return e.out.Write("", o)
}

// Fail writes a line with an error.
func (e *encoder) Fail(err *adapters.ProviderError) error {
	e.failed = true
	return e.out.Write("", encodeError(err))
}

func (e *encoder) End() error {
	o := head(e.model, e.created)
	if e.name == GenerateName {
		o.SetString("response", "")
	} else {
		o.SetObject("message", encodeMessage("assistant", nil, e.name))
	}
	o.SetBool("done", true)
	if e.failed {
		o.SetString("done_reason", "error") // Ollama itself has no word for it
		return e.out.Write("", o)
	}
	o.SetString("done_reason", finishWord(e.finish.Finish))
	setUsage(&o, e.usage)
	o.Merge(convert.Own(e.finish.Envelope, e.name))
	return e.out.Write("", o)
}
