package openai

import (
	"time"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/internal/convert"
	"github.com/callwright/callwright/internal/wire"
)

// decoder reads chunks of chat completions.
type decoder struct {
	chat
	started bool
	choices map[int64]*choiceDecoder
}

type choiceDecoder struct {
	calls    convert.Calls
	finished bool
}

// legacyKey is that of a legacy function_call among the calls.
const legacyKey = -1 << 62

func (d *decoder) Message(_ string, o wire.Object, emit func(adapters.Event)) error {
	choices := o.TakeList("choices")
	usage := o.TakeObject("usage")
	o.Take("usage")
	o.Take("object")
	id, model, created := o.Take("id"), o.Take("model"), o.Take("created")
	e := adapters.Event{Type: adapters.EventExtra}
	if !d.started { // each chunk says them again
		e.ID, _ = wire.String(id)
		e.Model, _ = wire.String(model)
		if n, _ := wire.Int(created); n > 0 {
			e.Created = time.Unix(n, 0).UTC()
		}
	}
	if !d.started && (e.ID != "" || e.Model != "" || len(choices) > 0) {
		d.started = true
		e.Type = adapters.EventStart
	}
	e.Envelope = adapters.ExtraOf(d.Name, o)
	if e.Type == adapters.EventStart || len(o) > 0 && len(choices) == 0 {
		emit(e)
		e.Envelope = adapters.Extra{}
	}
	with := emit
	if envelope := e.Envelope; len(envelope.Members) > 0 { // it goes with the first event of the chunk
		with = func(e adapters.Event) {
			e.Envelope, envelope = envelope, adapters.Extra{}
			emit(e)
		}
	}
	for _, raw := range choices {
		if x, ok := wire.AsObject(raw); ok {
			d.choice(x, with)
		}
	}
	if u := d.usage(usage); u != nil {
		with(adapters.Event{Type: adapters.EventUsage, Usage: u})
	}
	return nil
}

func (d *decoder) choice(x wire.Object, emit func(adapters.Event)) {
	index := max(x.TakeInt("index"), 0)
	if index >= adapters.MaxChoices {
		return
	}
	if d.choices == nil {
		d.choices = map[int64]*choiceDecoder{}
	}
	c := d.choices[index]
	if c == nil {
		c = &choiceDecoder{calls: convert.Calls{Choice: int(index)}}
		d.choices[index] = c
	}
	c.calls.Emit = emit
	finish := convert.TakeFinish(&x, "finish_reason", finishReasons, d.finishWord)
	delta := x.TakeObject("delta")
	if delta == nil {
		delta = x.TakeObject("message")
	}
	delta.Take("role")
	var calls [][]byte
	if list := delta.TakeList("tool_calls"); list != nil {
		calls = list
	}
	function := delta.TakeObject(functionCall)
	blocks := d.blocks(&delta)
	if s := x.TakeString("text"); s != "" {
		blocks = append(blocks, adapters.Block{Type: adapters.BlockText, Text: s})
	}
	x.SetRest("message", delta)
	extra := adapters.ExtraOf(d.Name, x)
	for _, b := range blocks {
		e := adapters.Event{Choice: int(index), Text: b.Text, Extra: extra}
		switch b.Type {
		case adapters.BlockText:
			e.Type = adapters.EventText
		case adapters.BlockReasoning:
			e.Type, e.NativeName = adapters.EventReasoning, b.NativeName
		case adapters.BlockRefusal:
			e.Type = adapters.EventRefusal
		case adapters.BlockOther:
			e.Type, e.Extra = adapters.EventOther, b.Extra
		default:
			continue
		}
		emit(e)
		extra = adapters.Extra{}
	}
	for _, raw := range calls {
		if call, ok := wire.AsObject(raw); ok {
			d.call(c, call)
		}
	}
	if function != nil {
		c.calls.Piece(convert.Piece{
			Key: legacyKey, HasKey: true, Name: function.String("name"), Arguments: convert.ArgumentsText(function.Get("arguments")),
			NativeName: functionCall,
		})
	}
	switch {
	case finish != "":
		c.calls.End()
		c.finished = true
		emit(adapters.Event{Type: adapters.EventFinish, Choice: int(index), Finish: finish, Extra: extra})
	case len(extra.Members) > 0:
		emit(adapters.Event{Type: adapters.EventExtra, Choice: int(index), Extra: extra})
	}
}

func (d *decoder) call(c *choiceDecoder, o wire.Object) {
	raw := o.Take("index")
	key, hasKey := wire.Int(raw)
	custom := wire.AsList(raw) == nil && o.Has("custom")
	b := d.chat.call(o)
	c.calls.Piece(convert.Piece{
		Key: key, HasKey: hasKey, ID: b.Call.ID, Name: b.Call.Name, Arguments: b.Call.Arguments, Custom: custom, Extra: b.Extra,
	})
}

func (d *decoder) End(emit func(adapters.Event)) bool {
	whole := len(d.choices) > 0
	for index := range int64(adapters.MaxChoices) {
		c := d.choices[index]
		if c == nil {
			continue
		}
		c.calls.Emit = emit
		c.calls.End()
		whole = whole && c.finished
	}
	return whole
}

// encoder writes chunks of chat completions.
type encoder struct {
	chat
	out     *wire.Writer
	id      string
	model   string
	created time.Time
	begun   map[int]bool
	legacy  map[int]bool
	calls   map[[2]int]bool // that have arguments
	custom  map[[2]int]bool
	failed  bool
	usage   *adapters.Usage
	early   wire.Object // members that came before the reply began
}

// Event writes an event. It is long since each type of event has its case here, and none
// is more than a few lines.
func (e *encoder) Event(ev adapters.Event) error { //nolint:gocyclo // a case for each kind of event
	if e.begun == nil {
		e.begun, e.legacy = map[int]bool{}, map[int]bool{}
		e.calls, e.custom = map[[2]int]bool{}, map[[2]int]bool{}
	}
	var delta wire.Object
	call := [2]int{ev.Choice, ev.Index}
	switch ev.Type {
	case adapters.EventStart:
		e.start(ev)
		if own := convert.Own(ev.Envelope, e.Name); own != nil && !e.begun[0] {
			return e.role(0, own)
		}
		return nil
	case adapters.EventUsage:
		e.usage = ev.Usage
		return nil
	case adapters.EventPing:
		return e.out.WriteKeepAlive()
	case adapters.EventText:
		if ev.Text == "" && len(convert.Own(ev.Extra, e.Name)) == 0 {
			return nil
		}
		delta.SetString("content", ev.Text)
	case adapters.EventReasoning:
		if ev.Text == "" {
			return nil
		}
		e.reasoning(ev, &delta)
	case adapters.EventRefusal:
		key := "refusal"
		if !e.Carries.Refusal {
			key = "content"
		}
		if ev.Text == "" {
			return nil
		}
		delta.SetString(key, ev.Text)
	case adapters.EventCallStart:
		if ev.NativeName == functionCall {
			var f wire.Object
			f.SetString("name", ev.Name)
			f.SetString("arguments", "")
			e.legacy[ev.Choice] = true
			delta.SetObject(functionCall, f)
			break
		}
		e.custom[call] = ev.Custom
		delta.SetList("tool_calls", [][]byte{e.callStart(ev)})
	case adapters.EventArguments:
		if ev.Text == "" {
			return nil
		}
		e.calls[call] = true
		delta = e.argumentsDelta(ev.Choice, ev.Index, ev.Text)
	case adapters.EventCallEnd:
		if e.calls[call] || e.custom[call] || ev.Truncated {
			return nil
		}
		delta = e.argumentsDelta(ev.Choice, ev.Index, "{}")
	case adapters.EventFinish:
		word := convert.FinishWord(ev.Finish, convert.Own(ev.Extra, e.Name), "finish_reason", finishReasons, e.finishWord)
		if e.legacy[ev.Choice] && ev.Finish == adapters.FinishCalls {
			word = functionCall
		}
		return e.chunk(ev, nil, word)
	case adapters.EventExtra:
		if convert.Own(ev.Extra, e.Name) == nil && convert.Own(ev.Envelope, e.Name) == nil {
			return nil
		}
		if convert.Own(ev.Extra, e.Name) == nil {
			if e.id == "" && len(e.begun) == 0 { // goes with what begins the reply
				e.early = convert.Own(ev.Envelope, e.Name).Clone()
				return nil
			}
			return e.envelope(ev)
		}
	case adapters.EventOther:
		own := convert.Own(ev.Extra, e.Name)
		if own == nil {
			return nil
		}
		delta.SetList("content", [][]byte{own.Bytes()})
		ev.Extra = adapters.Extra{}
	default:
		return nil
	}
	return e.chunk(ev, delta, "")
}

// reasoning sets the reasoning of a delta.
func (e *encoder) reasoning(ev adapters.Event, delta *wire.Object) {
	if !e.Mistral {
		delta.SetString(reasoningKey(ev.NativeName), ev.Text)
		return
	}
	b := adapters.Block{Type: adapters.BlockReasoning, Text: ev.Text, Extra: ev.Extra}
	delta.SetList("content", [][]byte{e.appendPart(&b).Bytes()})
}

// callStart is the first delta of a call, without arguments.
func (e *encoder) callStart(ev adapters.Event) []byte {
	b := adapters.Block{Call: &adapters.Call{ID: ev.ID, Name: ev.Name, Custom: ev.Custom}, Extra: ev.Extra}
	o := e.appendCall(&b, ev.Index)
	if !ev.Custom {
		inner := o.Object("function")
		inner.SetString("arguments", "")
		o.SetObject("function", inner)
	}
	return o.Bytes()
}

func (e *encoder) argumentsDelta(choice, index int, text string) wire.Object {
	var delta, f, o wire.Object
	switch {
	case e.legacy[choice]:
		f.SetString("arguments", text)
		delta.SetObject(functionCall, f)
		return delta
	case e.custom[[2]int{choice, index}]:
		f.SetString("input", text)
		o.SetInt("index", int64(index))
		o.SetObject("custom", f)
	default:
		f.SetString("arguments", text)
		o.SetInt("index", int64(index))
		o.SetObject("function", f)
	}
	delta.SetList("tool_calls", [][]byte{o.Bytes()})
	return delta
}

func (e *encoder) start(ev adapters.Event) {
	if e.id == "" {
		e.id = ev.ID
	}
	if e.model == "" {
		e.model = ev.Model
	}
	if e.created.IsZero() {
		e.created = ev.Created
	}
}

// envelope writes a chunk without choices.
func (e *encoder) envelope(ev adapters.Event) error {
	o := e.chunkHead()
	o.SetList("choices", nil)
	o.Merge(convert.Own(ev.Envelope, e.Name))
	return e.out.Write("", o)
}

func (e *encoder) chunkHead() wire.Object {
	if e.id == "" {
		e.id = idRule.New()
	}
	if e.created.IsZero() {
		e.created = time.Now()
	}
	return e.head(e.id, e.model, e.created, "chat.completion.chunk")
}

// role writes the first chunk of a choice.
func (e *encoder) role(choice int, envelope wire.Object) error {
	e.begun[choice] = true
	var delta wire.Object
	delta.SetString("role", "assistant")
	delta.SetString("content", "")
	return e.write(choice, delta, "", nil, envelope)
}

func (e *encoder) chunk(ev adapters.Event, delta wire.Object, finish string) error {
	if !e.begun[ev.Choice] {
		if err := e.role(ev.Choice, nil); err != nil {
			return err
		}
	}
	return e.write(ev.Choice, delta, finish, convert.Own(ev.Extra, e.Name), convert.Own(ev.Envelope, e.Name))
}

func (e *encoder) write(index int, delta wire.Object, finish string, extra, envelope wire.Object) error {
	extra = append(wire.Object(nil), extra...)
	extra.Take("function")
	delta.Merge(extra.TakeObject("message"))
	var choice wire.Object
	choice.SetInt("index", int64(index))
	choice.SetObject("delta", delta)
	if finish == "" {
		choice.Set("finish_reason", []byte("null"))
	} else {
		choice.SetString("finish_reason", finish)
	}
	if len(delta) == 0 || delta.Get("tool_calls") == nil {
		choice.Merge(extra)
	}
	o := e.chunkHead()
	o.SetList("choices", [][]byte{choice.Bytes()})
	o.Merge(envelope)
	o.Merge(e.early)
	e.early = nil
	return e.out.Write("", o)
}

// Fail writes a chunk that is an error.
func (e *encoder) Fail(err *adapters.ProviderError) error {
	e.failed = true
	return e.out.Write("", e.EncodeError(err))
}

func (e *encoder) End() error {
	if e.usage != nil && !e.failed {
		o := e.chunkHead()
		o.SetList("choices", nil)
		o.SetObject("usage", e.appendUsage(e.usage))
		if err := e.out.Write("", o); err != nil {
			return err
		}
	}
	return e.out.WriteRaw("", []byte("[DONE]"))
}
