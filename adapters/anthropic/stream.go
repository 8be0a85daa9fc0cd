package anthropic

import (
	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/internal/convert"
	"github.com/callwright/callwright/internal/wire"
)

// decoder reads the events of a streamed message.
type decoder struct {
	calls   convert.Calls
	kinds   map[int64]string // of the blocks that are open
	others  map[int64]*other
	usage   adapters.Usage
	counted bool
	whole   bool
}

// other is a block that only this format knows, while it arrives.
type other struct {
	block wire.Object
	input []byte
}

func (d *decoder) Message(_ string, o wire.Object, emit func(adapters.Event)) error {
	d.calls.Emit = emit
	index := o.Int("index")
	switch o.String("type") {
	case "message_start":
		m := o.TakeObject("message")
		for _, k := range []string{"type", "role", "stop_reason", "stop_sequence"} {
			m.Take(k)
		}
		e := adapters.Event{Type: adapters.EventStart, ID: m.TakeString("id"), Model: m.TakeString("model")}
		d.count(m.TakeObject("usage"), emit)
		blocks := decodeContent(m.Take("content"))
		e.Envelope = adapters.ExtraOf(Name, m)
		emit(e)
		for i := range blocks {
			d.begin(int64(i), blocks[i], emit)
		}
	case "content_block_start":
		if block := o.Object("content_block"); block != nil {
			d.begin(index, decodeBlock(block), emit)
		}
	case "content_block_delta":
		d.delta(index, o.Object("delta"), emit)
	case "content_block_stop":
		d.end(index, emit)
	case "message_delta":
		delta := o.TakeObject("delta")
		d.count(o.TakeObject("usage"), emit)
		sequence := delta.TakeString("stop_sequence")
		finish := convert.TakeFinish(&delta, "stop_reason", finishReasons, finishWord)
		if finish == "" {
			return nil
		}
		d.calls.End()
		d.whole = true
		emit(adapters.Event{Type: adapters.EventFinish, Finish: finish, StopSequence: sequence, Envelope: adapters.ExtraOf(Name, delta)})
	case "message_stop":
		d.whole = true
	case "ping":
		emit(adapters.Event{Type: adapters.EventPing})
	}
	return nil
}

// count takes the usage so far; later messages say only what changed.
func (d *decoder) count(o wire.Object, emit func(adapters.Event)) {
	if o == nil {
		return
	}
	if !o.Has("input_tokens") && d.counted {
		o.SetInt("input_tokens", d.usage.InputTokens-d.usage.CachedTokens-d.usage.CacheWriteTokens)
	}
	for key, known := range map[string]int64{
		"cache_read_input_tokens": d.usage.CachedTokens, "cache_creation_input_tokens": d.usage.CacheWriteTokens,
	} {
		if !o.Has(key) && known > 0 {
			o.SetInt(key, known)
		}
	}
	u := decodeUsage(o)
	if len(u.Extra.Members) == 0 {
		u.Extra = d.usage.Extra
	} else {
		u.Extra = u.Extra.Clone()
	}
	d.usage, d.counted = *u, true
	emit(adapters.Event{Type: adapters.EventUsage, Usage: u})
}

func (d *decoder) begin(index int64, b adapters.Block, emit func(adapters.Event)) {
	if d.kinds == nil {
		d.kinds, d.others = map[int64]string{}, map[int64]*other{}
	}
	if len(d.kinds) >= adapters.MaxCalls {
		return
	}
	d.kinds[index] = string(b.Type)
	switch b.Type {
	case adapters.BlockText:
		emit(adapters.Event{Type: adapters.EventText, Text: b.Text, New: true, Extra: b.Extra})
	case adapters.BlockReasoning:
		if b.NativeName == "redacted_thinking" {
			emit(adapters.Event{Type: adapters.EventSignature, Text: b.Signature, New: true, Extra: b.Extra})
			return
		}
		emit(adapters.Event{Type: adapters.EventReasoning, Text: b.Text, New: true, Extra: b.Extra})
		if b.Signature != "" {
			emit(adapters.Event{Type: adapters.EventSignature, Text: b.Signature})
		}
	case adapters.BlockCall:
		arguments := b.Call.Arguments
		if arguments == "{}" { // what is to come in pieces begins empty
			arguments = ""
		}
		d.calls.Piece(convert.Piece{Key: index, HasKey: true, ID: b.Call.ID, Name: b.Call.Name, Arguments: arguments, Extra: b.Extra})
		d.calls.Begin()
	default:
		d.others[index] = &other{block: b.Extra.Clone().Members}
	}
}

func (d *decoder) delta(index int64, o wire.Object, emit func(adapters.Event)) {
	switch o.String("type") {
	case "text_delta":
		emit(adapters.Event{Type: adapters.EventText, Text: o.String("text")})
	case "thinking_delta":
		emit(adapters.Event{Type: adapters.EventReasoning, Text: o.String("thinking")})
	case "signature_delta":
		emit(adapters.Event{Type: adapters.EventSignature, Text: o.String("signature")})
	case "input_json_delta":
		if x := d.others[index]; x != nil {
			x.input = append(x.input, o.String("partial_json")...)
			return
		}
		if d.kinds[index] == string(adapters.BlockCall) {
			d.calls.Piece(convert.Piece{Key: index, HasKey: true, Arguments: o.String("partial_json")})
		}
	case "citations_delta":
		var extra wire.Object
		extra.SetList("citations", [][]byte{o.Get("citation")})
		emit(adapters.Event{Type: adapters.EventText, NativeName: "citations_delta", Extra: adapters.Extra{Format: Name, Members: extra}})
	}
}

func (d *decoder) end(index int64, emit func(adapters.Event)) {
	switch {
	case d.kinds[index] == string(adapters.BlockCall):
		d.calls.EndLast(false)
	case d.others[index] != nil:
		x := d.others[index]
		if input, err := wire.ParseObject(x.input); err == nil {
			x.block.SetObject("input", input)
		}
		emit(adapters.Event{Type: adapters.EventOther, Extra: adapters.ExtraOf(Name, x.block)})
		delete(d.others, index)
	}
	delete(d.kinds, index)
}

func (d *decoder) End(emit func(adapters.Event)) bool {
	d.calls.Emit = emit
	d.calls.End()
	for index := range d.others {
		d.end(index, emit)
	}
	return d.whole
}

// encoder writes the events of a streamed message.
type encoder struct {
	out     *wire.Writer
	started bool
	id      string
	model   string
	extra   wire.Object
	usage   *adapters.Usage
	block   int // of the block that is open, or was last
	open    adapters.BlockType
	pieces  bool // the open call has arguments
	finish  adapters.Event
	failed  bool
}

func (e *encoder) send(kind string, o wire.Object) error {
	var typed wire.Object
	typed.SetString("type", kind)
	return e.out.Write(kind, append(typed, o...))
}

func (e *encoder) start() error {
	if e.started {
		return nil
	}
	e.started = true
	m := head(e.id, e.model)
	m.SetList("content", nil)
	m.Set("stop_reason", []byte("null"))
	m.Set("stop_sequence", []byte("null"))
	m.SetObject("usage", encodeUsage(e.usage))
	m.Merge(e.extra)
	var o wire.Object
	o.SetObject("message", m)
	return e.send("message_start", o)
}

// begin opens a block.
func (e *encoder) begin(t adapters.BlockType, block wire.Object) error {
	if err := e.end(); err != nil {
		return err
	}
	e.block++
	e.open = t
	var o wire.Object
	o.SetInt("index", int64(e.block))
	o.SetObject("content_block", block)
	return e.send("content_block_start", o)
}

// end closes the block that is open.
func (e *encoder) end() error {
	if err := e.start(); err != nil {
		return err
	}
	if e.open == "" {
		return nil
	}
	e.open = ""
	var o wire.Object
	o.SetInt("index", int64(e.block))
	return e.send("content_block_stop", o)
}

func (e *encoder) delta(kind, key string, value []byte) error {
	var delta, o wire.Object
	delta.SetString("type", kind)
	delta.Set(key, value)
	o.SetInt("index", int64(e.block))
	o.SetObject("delta", delta)
	return e.send("content_block_delta", o)
}

func (e *encoder) Event(ev adapters.Event) error {
	switch ev.Type {
	case adapters.EventStart:
		if e.started {
			return nil
		}
		e.id, e.model, e.extra = ev.ID, ev.Model, convert.Own(ev.Envelope, Name).Clone()
		return nil
	case adapters.EventUsage:
		e.usage = ev.Usage
		return nil
	case adapters.EventPing:
		if !e.started { // the beginning may yet come with an id and a model
			return e.out.WriteKeepAlive()
		}
		return e.send("ping", nil)
	}
	if ev.Choice != 0 {
		return nil
	}
	switch ev.Type {
	case adapters.EventText, adapters.EventRefusal:
		return e.text(ev)
	case adapters.EventReasoning:
		if ev.Text == "" && !ev.New {
			return nil
		}
		if e.open != adapters.BlockReasoning || ev.New {
			var block wire.Object
			block.SetString("type", "thinking")
			block.SetString("thinking", "")
			block.SetString("signature", "")
			if err := e.begin(adapters.BlockReasoning, block); err != nil {
				return err
			}
		}
		if ev.Text == "" {
			return nil
		}
		return e.delta("thinking_delta", "thinking", wire.Quote(ev.Text))
	case adapters.EventSignature:
		if e.open == adapters.BlockReasoning && !ev.New {
			return e.delta("signature_delta", "signature", wire.Quote(ev.Text))
		}
		var block wire.Object
		block.SetString("type", "redacted_thinking")
		block.SetString("data", ev.Text)
		if err := e.begin(adapters.BlockReasoning, block); err != nil {
			return err
		}
		return e.end()
	case adapters.EventCallStart:
		e.pieces = false
		var block wire.Object
		block.SetString("type", "tool_use")
		block.SetString("id", callID.FitOrNew(ev.ID))
		block.SetString("name", ev.Name)
		block.Set("input", []byte("{}"))
		block.Merge(convert.Own(ev.Extra, Name))
		return e.begin(adapters.BlockCall, block)
	case adapters.EventArguments:
		if ev.Text == "" {
			return nil
		}
		e.pieces = true
		return e.delta("input_json_delta", "partial_json", wire.Quote(ev.Text))
	case adapters.EventCallEnd:
		if !e.pieces && !ev.Truncated {
			if err := e.delta("input_json_delta", "partial_json", []byte(`"{}"`)); err != nil {
				return err
			}
		}
		return e.end()
	case adapters.EventOther:
		if own := convert.Own(ev.Extra, Name); own != nil {
			if err := e.begin(adapters.BlockOther, own); err != nil {
				return err
			}
			return e.end()
		}
	case adapters.EventFinish:
		e.finish = ev
	}
	return nil
}

func (e *encoder) text(ev adapters.Event) error {
	own := convert.Own(ev.Extra, Name)
	if ev.NativeName == "citations_delta" {
		for _, c := range wire.AsList(own.Get("citations")) {
			if e.open == adapters.BlockText {
				if err := e.delta("citations_delta", "citation", c); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if ev.Text == "" {
		if ev.New && e.open == adapters.BlockText {
			return e.end()
		}
		return nil
	}
	if e.open != adapters.BlockText || ev.New {
		var block wire.Object
		block.SetString("type", "text")
		block.SetString("text", "")
		block.Merge(own)
		if err := e.begin(adapters.BlockText, block); err != nil {
			return err
		}
	}
	return e.delta("text_delta", "text", wire.Quote(ev.Text))
}

// Fail writes an event of the type "error".
func (e *encoder) Fail(err *adapters.ProviderError) error {
	e.failed = true
	return e.out.Write("error", codec{}.EncodeError(err))
}

func (e *encoder) End() error {
	if e.failed { // an open block stays open: it is not whole
		return e.send("message_stop", nil)
	}
	if err := e.end(); err != nil {
		return err
	}
	var delta, o wire.Object
	own := convert.Own(e.finish.Envelope, Name)
	delta.SetString("stop_reason", convert.FinishWord(e.finish.Finish, own, "stop_reason", finishReasons, finishWord))
	if e.finish.StopSequence != "" {
		delta.SetString("stop_sequence", e.finish.StopSequence)
	} else {
		delta.Set("stop_sequence", []byte("null"))
	}
	delta.Merge(convert.Own(e.finish.Envelope, Name))
	o.SetObject("delta", delta)
	o.SetObject("usage", encodeUsage(e.usage))
	if err := e.send("message_delta", o); err != nil {
		return err
	}
	return e.send("message_stop", nil)
}
