package cohere

import (
	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/internal/convert"
	"github.com/callwright/callwright/internal/wire"
)

// decoder reads the events of a streamed reply.
type decoder struct {
	calls convert.Calls
	whole bool
}

func (d *decoder) Message(_ string, o wire.Object, emit func(adapters.Event)) error {
	d.calls.Emit = emit
	delta := o.Object("delta")
	m := delta.Object("message")
	index := o.Int("index")
	switch o.String("type") {
	case "message-start":
		emit(adapters.Event{Type: adapters.EventStart, ID: o.String("id")})
	case "content-start", "content-delta":
		content := m.Object("content")
		first := o.String("type") == "content-start"
		if content.String("type") == "thinking" || content.Has("thinking") {
			emit(adapters.Event{Type: adapters.EventReasoning, Text: content.String("thinking"), New: first})
		} else {
			emit(adapters.Event{Type: adapters.EventText, Text: content.String("text"), New: first})
		}
	case "tool-plan-delta":
		emit(adapters.Event{Type: adapters.EventReasoning, Text: m.String("tool_plan"), NativeName: planWord})
	case "tool-call-start":
		call := m.Object("tool_calls")
		f := call.Object("function")
		d.calls.Piece(convert.Piece{
			Key: index, HasKey: true, ID: call.String("id"), Name: f.String("name"), Arguments: convert.ArgumentsText(f.Get("arguments")),
		})
		d.calls.Begin()
	case "tool-call-delta":
		d.calls.Piece(convert.Piece{
			Key: index, HasKey: true, Arguments: convert.ArgumentsText(m.Object("tool_calls").Object("function").Get("arguments")),
		})
	case "tool-call-end":
		d.calls.EndLast(false)
	case "message-end":
		d.calls.End()
		d.whole = true
		if u := decodeUsage(delta.TakeObject("usage")); u != nil {
			emit(adapters.Event{Type: adapters.EventUsage, Usage: u})
		}
		finish := convert.TakeFinish(&delta, "finish_reason", finishReasons, finishWord)
		emit(adapters.Event{Type: adapters.EventFinish, Finish: finish, Envelope: adapters.ExtraOf(Name, delta)})
		if message := delta.String("error"); message != "" {
			return &adapters.ProviderError{Type: "error", Message: message}
		}
	case "citation-start":
		emit(adapters.Event{Type: adapters.EventOther, Extra: adapters.ExtraOf(Name, o)})
	}
	return nil
}

func (d *decoder) End(emit func(adapters.Event)) bool {
	d.calls.Emit = emit
	d.calls.End()
	return d.whole
}

// encoder writes the events of a streamed reply.
type encoder struct {
	out     *wire.Writer
	id      string
	started bool
	content int // of the content that is open, or was last
	open    adapters.BlockType
	finish  adapters.Event
	usage   *adapters.Usage
	pieces  bool
	failed  bool
	message string // of the error with which the stream ends
}

// send writes an event about a part of the message; an index of -1 is left out.
func (e *encoder) send(kind string, index int, key string, value []byte) error {
	var o, delta, message wire.Object
	o.SetString("type", kind)
	if index >= 0 {
		o.SetInt("index", int64(index))
	}
	if key != "" {
		message.Set(key, value)
		delta.SetObject("message", message)
		o.SetObject("delta", delta)
	}
	return e.out.Write(kind, o)
}

func (e *encoder) start() error {
	if e.started {
		return nil
	}
	e.started = true
	var o, delta wire.Object
	if e.id == "" {
		e.id = callID.New()
	}
	o.SetString("type", "message-start")
	o.SetString("id", e.id)
	delta.SetObject("message", encodeMessage("assistant", nil))
	o.SetObject("delta", delta)
	return e.out.Write("message-start", o)
}

func (e *encoder) end() error {
	if err := e.start(); err != nil {
		return err
	}
	if e.open == "" {
		return nil
	}
	e.open = ""
	return e.send("content-end", e.content, "", nil)
}

func (e *encoder) text(t adapters.BlockType, key string, ev adapters.Event) error {
	if ev.Text == "" {
		return nil
	}
	var content wire.Object
	if e.open != t || ev.New {
		if err := e.end(); err != nil {
			return err
		}
		e.content++
		e.open = t
		content.SetString("type", key)
		content.SetString(key, "")
		if err := e.send("content-start", e.content, "content", content.Bytes()); err != nil {
			return err
		}
		content = nil
	}
	content.SetString(key, ev.Text)
	return e.send("content-delta", e.content, "content", content.Bytes())
}

func (e *encoder) Event(ev adapters.Event) error {
	if ev.Choice != 0 {
		return nil
	}
	switch ev.Type {
	case adapters.EventStart:
		e.id = ev.ID
	case adapters.EventText, adapters.EventRefusal:
		return e.text(adapters.BlockText, "text", ev)
	case adapters.EventReasoning:
		if ev.NativeName != planWord {
			return e.text(adapters.BlockReasoning, "thinking", ev)
		}
		if err := e.end(); err != nil {
			return err
		}
		return e.send("tool-plan-delta", -1, "tool_plan", wire.Quote(ev.Text))
	case adapters.EventCallStart:
		if err := e.end(); err != nil {
			return err
		}
		e.pieces = false
		b := adapters.Block{Type: adapters.BlockCall, Call: &adapters.Call{ID: ev.ID, Name: ev.Name}, Extra: ev.Extra}
		return e.send("tool-call-start", ev.Index, "tool_calls", encodeCall(&b, ev.Index).Bytes())
	case adapters.EventArguments:
		if ev.Text == "" {
			return nil
		}
		e.pieces = true
		return e.arguments(ev.Index, ev.Text)
	case adapters.EventCallEnd:
		if !e.pieces && !ev.Truncated {
			if err := e.arguments(ev.Index, "{}"); err != nil {
				return err
			}
		}
		return e.send("tool-call-end", ev.Index, "", nil)
	case adapters.EventOther:
		if own := convert.Own(ev.Extra, Name); own != nil {
			return e.out.Write(own.String("type"), own)
		}
	case adapters.EventFinish:
		e.finish = ev
	case adapters.EventUsage:
		e.usage = ev.Usage
	case adapters.EventPing:
		return e.out.WriteKeepAlive()
	}
	return nil
}

func (e *encoder) arguments(index int, text string) error {
	var call, f wire.Object
	f.SetString("arguments", text)
	call.SetObject("function", f)
	return e.send("tool-call-delta", index, "tool_calls", call.Bytes())
}

// Fail keeps the error: the event that ends the stream tells it.
func (e *encoder) Fail(err *adapters.ProviderError) error {
	e.failed, e.message, e.finish = true, err.Message, adapters.Event{Finish: adapters.FinishError}
	return nil
}

func (e *encoder) End() error {
	end := e.end
	if e.failed { // an open part stays open: it is not whole
		end = e.start
	}
	if err := end(); err != nil {
		return err
	}
	var o, delta wire.Object
	o.SetString("type", "message-end")
	delta.SetText("error", e.message)
	delta.SetString(
		"finish_reason", convert.FinishWord(e.finish.Finish, convert.Own(e.finish.Envelope, Name), "finish_reason", finishReasons, finishWord),
	)
	if e.usage != nil {
		delta.SetObject("usage", encodeUsage(e.usage))
	}
	delta.Merge(convert.Own(e.finish.Envelope, Name))
	o.SetObject("delta", delta)
	return e.out.Write("message-end", o)
}
