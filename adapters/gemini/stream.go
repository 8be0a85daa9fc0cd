package gemini

import (
	"time"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/internal/convert"
	"github.com/callwright/callwright/internal/wire"
)

// decoder reads the pieces of a streamed reply: each is a reply of its own.
type decoder struct {
	started bool
	choices map[int64]*choiceDecoder
	blocked bool
}

type choiceDecoder struct {
	calls    convert.Calls
	finished bool
}

func (d *decoder) Message(_ string, o wire.Object, emit func(adapters.Event)) error {
	id, model, created, usage := takeHead(&o)
	candidates := wire.Objects(o.Take("candidates"))
	envelope := adapters.ExtraOf(Name, o)
	if !d.started {
		d.started = true
		emit(adapters.Event{Type: adapters.EventStart, ID: id, Model: model, Created: created, Envelope: envelope})
	} else if len(o) > 0 {
		emit(adapters.Event{Type: adapters.EventExtra, Envelope: envelope})
	}
	if o.Object("promptFeedback").Has("blockReason") && len(candidates) == 0 {
		d.blocked = true
		emit(adapters.Event{Type: adapters.EventFinish, Finish: adapters.FinishFilter})
	}
	for _, c := range candidates {
		index := max(c.Int("index"), 0)
		if index >= adapters.MaxChoices {
			continue
		}
		if d.choices == nil {
			d.choices = map[int64]*choiceDecoder{}
		}
		if d.choices[index] == nil {
			d.choices[index] = &choiceDecoder{calls: convert.Calls{Choice: int(index)}}
		}
		d.candidate(d.choices[index], int(index), c, emit)
	}
	if usage != nil {
		emit(adapters.Event{Type: adapters.EventUsage, Usage: usage})
	}
	return nil
}

func (d *decoder) candidate(c *choiceDecoder, index int, o wire.Object, emit func(adapters.Event)) {
	c.calls.Emit = emit
	blocks, finish, rest := takeCandidate(&o)
	for _, b := range blocks {
		// A part with members of its own is a block of its own.
		own := len(b.Extra.Members) > 0
		switch b.Type {
		case adapters.BlockText:
			emit(adapters.Event{Type: adapters.EventText, Choice: index, Text: b.Text, New: own, Extra: b.Extra})
		case adapters.BlockReasoning:
			emit(adapters.Event{Type: adapters.EventReasoning, Choice: index, Text: b.Text, New: own, Extra: b.Extra})
			if b.Signature != "" {
				emit(adapters.Event{Type: adapters.EventSignature, Choice: index, Text: b.Signature})
			}
		case adapters.BlockCall:
			c.calls.Piece(convert.Piece{
				Key: int64(c.calls.Len()), HasKey: true, ID: b.Call.ID, Name: b.Call.Name, Arguments: b.Call.Arguments, Extra: b.Extra,
			})
			c.calls.Sign(b.Signature)
			c.calls.EndLast(false)
		case adapters.BlockOther:
			emit(adapters.Event{Type: adapters.EventOther, Choice: index, Extra: b.Extra})
		case adapters.BlockMedia:
			media := encodePart(&b)
			emit(adapters.Event{Type: adapters.EventOther, Choice: index, Extra: adapters.ExtraOf(Name, media)})
		}
	}
	extra := adapters.ExtraOf(Name, rest)
	if finish != "" {
		c.calls.End()
		c.finished = true
		emit(adapters.Event{Type: adapters.EventFinish, Choice: index, Finish: finish, Extra: extra})
	} else if len(rest) > 0 {
		emit(adapters.Event{Type: adapters.EventExtra, Choice: index, Extra: extra})
	}
}

func (d *decoder) End(emit func(adapters.Event)) bool {
	whole := d.blocked || len(d.choices) > 0
	for _, c := range d.choices {
		c.calls.Emit = emit
		c.calls.End()
		whole = whole && c.finished
	}
	return whole
}

// encoder writes pieces of a reply. A call is written when it is whole: clients
// know no pieces of calls.
type encoder struct {
	out       *wire.Writer
	id, model string
	created   time.Time
	call      convert.Gather
	usage     *adapters.Usage
	finish    []adapters.Event
	envelope  wire.Object
	failed    bool
}

func (e *encoder) Event(ev adapters.Event) error {
	if own := convert.Own(ev.Envelope, Name); own != nil {
		e.envelope = own.Clone()
	}
	var b adapters.Block
	switch ev.Type {
	case adapters.EventStart:
		e.id, e.model, e.created = ev.ID, ev.Model, ev.Created
		return nil
	case adapters.EventUsage:
		e.usage = ev.Usage
		return nil
	case adapters.EventPing: // Google's clients take no comments: a piece without parts is one
		return e.write([][]byte{encodeCandidate(0, nil).Bytes()}, nil)
	case adapters.EventText, adapters.EventRefusal:
		if ev.Text == "" {
			return nil
		}
		b = adapters.Block{Type: adapters.BlockText, Text: ev.Text, Extra: ev.Extra}
	case adapters.EventReasoning:
		if ev.Text == "" {
			return nil
		}
		b = adapters.Block{Type: adapters.BlockReasoning, Text: ev.Text, Extra: ev.Extra}
	case adapters.EventSignature:
		b = adapters.Block{Type: adapters.BlockReasoning, Signature: ev.Text}
	case adapters.EventCallStart, adapters.EventArguments, adapters.EventCallEnd:
		var whole bool
		if b, whole = e.call.Event(ev); !whole {
			return nil
		}
	case adapters.EventOther:
		b = adapters.Block{Type: adapters.BlockOther, Extra: ev.Extra}
	case adapters.EventFinish:
		e.finish = append(e.finish, ev)
		return nil
	default:
		return nil
	}
	part := encodePart(&b)
	if part == nil {
		return nil
	}
	return e.write([][]byte{encodeCandidate(ev.Choice, [][]byte{part.Bytes()}).Bytes()}, nil)
}

func (e *encoder) write(candidates [][]byte, usage *adapters.Usage) error {
	var o wire.Object
	o.SetList("candidates", candidates)
	setHead(&o, e.id, e.model, e.created, usage)
	o.Merge(e.envelope)
	e.envelope = nil
	return e.out.Write("", o)
}

// Fail writes an error in the place of a piece of the reply.
func (e *encoder) Fail(err *adapters.ProviderError) error {
	e.failed = true
	return e.out.Write("", codec{}.EncodeError(err))
}

func (e *encoder) End() error {
	if e.failed { // the error is the last piece
		return nil
	}
	var candidates [][]byte
	for _, f := range e.finish {
		c := encodeCandidate(f.Choice, nil)
		c.SetString("finishReason", convert.FinishWord(f.Finish, convert.Own(f.Extra, Name), "finishReason", finishReasons, finishWord))
		c.Merge(convert.Own(f.Extra, Name))
		candidates = append(candidates, c.Bytes())
	}
	return e.write(candidates, e.usage)
}
