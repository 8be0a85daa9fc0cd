package bedrock

import (
	"strings"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/internal/convert"
	"github.com/callwright/callwright/internal/wire"
)

// decoder reads the messages of ConverseStream.
type decoder struct {
	calls   convert.Calls
	isCall  map[int64]bool
	started bool
	begun   map[int64]bool
	whole   bool
}

func (d *decoder) Message(event string, o wire.Object, emit func(adapters.Event)) error {
	d.calls.Emit = emit
	if event == "" && len(o) == 1 { // a line of JSON that wraps the message
		event = o[0].Key
		o = o.Object(event)
	}
	if strings.HasSuffix(event, "Exception") {
		return &adapters.ProviderError{Type: event, Message: o.String("message")}
	}
	if d.begun == nil {
		d.begun, d.isCall = map[int64]bool{}, map[int64]bool{}
	}
	if !d.started {
		d.started = true
		emit(adapters.Event{Type: adapters.EventStart})
	}
	index := o.Int("contentBlockIndex")
	switch event {
	case "contentBlockStart":
		if use := o.Object("start").Object("toolUse"); use != nil && len(d.isCall) < adapters.MaxCalls {
			d.isCall[index] = true
			d.calls.Piece(convert.Piece{Key: index, HasKey: true, ID: use.String("toolUseId"), Name: use.String("name")})
			d.calls.Begin()
		}
	case "contentBlockDelta":
		d.delta(index, o.Object("delta"), emit)
	case "contentBlockStop":
		if d.isCall[index] {
			d.calls.EndLast(false)
		}
		delete(d.isCall, index)
		delete(d.begun, index)
	case "messageStop":
		d.calls.End()
		d.whole = true
		finish := convert.TakeFinish(&o, "stopReason", finishReasons, finishWord)
		emit(adapters.Event{Type: adapters.EventFinish, Finish: finish, Envelope: adapters.ExtraOf(Name, o)})
	case "metadata":
		if u := decodeUsage(o.TakeObject("usage")); u != nil {
			emit(adapters.Event{Type: adapters.EventUsage, Usage: u, Envelope: adapters.ExtraOf(Name, o)})
		}
	}
	return nil
}

func (d *decoder) delta(index int64, o wire.Object, emit func(adapters.Event)) {
	first := !d.begun[index] && len(d.begun) < adapters.MaxCalls
	switch reasoning := o.Object("reasoningContent"); {
	case o.Has("text"):
		emit(adapters.Event{Type: adapters.EventText, Text: o.String("text"), New: first})
	case o.Has("toolUse"):
		d.calls.Piece(convert.Piece{Key: index, HasKey: true, Arguments: o.Object("toolUse").String("input")})
	case reasoning.Has("text"):
		emit(adapters.Event{Type: adapters.EventReasoning, Text: reasoning.String("text"), New: first})
	case reasoning.Has("signature"):
		emit(adapters.Event{Type: adapters.EventSignature, Text: reasoning.String("signature"), New: first})
	case reasoning.Has("redactedContent"):
		emit(adapters.Event{Type: adapters.EventSignature, Text: reasoning.String("redactedContent"), New: true})
	}
	if first {
		d.begun[index] = true
	}
}

func (d *decoder) End(emit func(adapters.Event)) bool {
	d.calls.Emit = emit
	d.calls.End()
	return d.whole
}

// encoder writes the messages of ConverseStream.
type encoder struct {
	out      *wire.Writer
	started  bool
	block    int
	open     adapters.BlockType
	pieces   bool
	finish   adapters.Event
	usage    *adapters.Usage
	metadata wire.Object
	failed   bool
}

func (e *encoder) begin(t adapters.BlockType, start wire.Object) error {
	if err := e.end(); err != nil {
		return err
	}
	e.block++
	e.open = t
	if start == nil { // only calls announce themselves
		return nil
	}
	var o wire.Object
	o.SetObject("start", start)
	o.SetInt("contentBlockIndex", int64(e.block))
	return e.out.Write("contentBlockStart", o)
}

func (e *encoder) end() error {
	if !e.started {
		e.started = true
		var o wire.Object
		o.SetString("role", "assistant")
		if err := e.out.Write("messageStart", o); err != nil {
			return err
		}
	}
	if e.open == "" {
		return nil
	}
	e.open = ""
	var o wire.Object
	o.SetInt("contentBlockIndex", int64(e.block))
	return e.out.Write("contentBlockStop", o)
}

func (e *encoder) delta(delta wire.Object) error {
	var o wire.Object
	o.SetObject("delta", delta)
	o.SetInt("contentBlockIndex", int64(e.block))
	return e.out.Write("contentBlockDelta", o)
}

func (e *encoder) Event(ev adapters.Event) error {
	if ev.Choice != 0 {
		return nil
	}
	var delta, inner wire.Object
	switch ev.Type {
	case adapters.EventText, adapters.EventRefusal:
		if ev.Text == "" {
			return nil
		}
		if e.open != adapters.BlockText || ev.New {
			if err := e.begin(adapters.BlockText, nil); err != nil {
				return err
			}
		}
		delta.SetString("text", ev.Text)
		return e.delta(delta)
	case adapters.EventReasoning, adapters.EventSignature:
		key := "text"
		switch {
		case ev.Type == adapters.EventSignature && ev.New:
			key = "redactedContent"
		case ev.Type == adapters.EventSignature:
			key = "signature"
		}
		if ev.Text == "" {
			return nil
		}
		if e.open != adapters.BlockReasoning || ev.New {
			if err := e.begin(adapters.BlockReasoning, nil); err != nil {
				return err
			}
		}
		inner.SetString(key, ev.Text)
		delta.SetObject("reasoningContent", inner)
		return e.delta(delta)
	case adapters.EventCallStart:
		e.pieces = false
		inner.SetString("toolUseId", callID.FitOrNew(ev.ID))
		inner.SetString("name", ev.Name)
		delta.SetObject("toolUse", inner)
		return e.begin(adapters.BlockCall, delta)
	case adapters.EventArguments:
		if ev.Text == "" {
			return nil
		}
		e.pieces = true
		inner.SetString("input", ev.Text)
		delta.SetObject("toolUse", inner)
		return e.delta(delta)
	case adapters.EventCallEnd:
		if !e.pieces && !ev.Truncated {
			inner.SetString("input", "{}")
			delta.SetObject("toolUse", inner)
			if err := e.delta(delta); err != nil {
				return err
			}
		}
		return e.end()
	case adapters.EventFinish:
		e.finish = ev
	case adapters.EventUsage:
		e.usage = ev.Usage
		e.metadata = convert.Own(ev.Envelope, Name).Clone()
	}
	return nil
}

// Fail writes an exception.
func (e *encoder) Fail(err *adapters.ProviderError) error {
	e.failed = true
	return e.out.Write("internalServerException", codec{}.EncodeError(err))
}

func (e *encoder) End() error {
	if e.failed { // the exception is the last message
		return nil
	}
	if err := e.end(); err != nil {
		return err
	}
	var o wire.Object
	o.SetString(
		"stopReason", convert.FinishWord(e.finish.Finish, convert.Own(e.finish.Envelope, Name), "stopReason", finishReasons, finishWord),
	)
	o.Merge(convert.Own(e.finish.Envelope, Name))
	if err := e.out.Write("messageStop", o); err != nil {
		return err
	}
	if e.usage == nil {
		return nil
	}
	var m wire.Object
	m.SetObject("usage", encodeUsage(e.usage))
	m.Merge(e.metadata)
	return e.out.Write("metadata", m)
}
