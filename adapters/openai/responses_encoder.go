package openai

import (
	"cmp"
	"strings"
	"time"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/internal/convert"
	"github.com/callwright/callwright/internal/wire"
)

// responsesEncoder writes the events of a streamed response.
type responsesEncoder struct {
	out      *wire.Writer
	reply    adapters.Reply
	started  bool
	sequence int64
	items    [][]byte // that are done
	// The item that is open, its first block, and the text of its open part.
	item   wire.Object
	kind   string
	parts  [][]byte
	part   adapters.BlockType
	word   string
	text   strings.Builder
	sign   []byte
	extra  wire.Object
	finish adapters.FinishReason
	failed *adapters.ProviderError
}

func (e *responsesEncoder) send(kind string, o wire.Object) error {
	var typed wire.Object
	typed.SetString("type", kind)
	typed.SetInt("sequence_number", e.sequence)
	e.sequence++
	return e.out.Write(kind, append(typed, o...))
}

func (e *responsesEncoder) start() error {
	if e.started {
		return nil
	}
	e.started = true
	if e.reply.ID == "" {
		e.reply.ID = responseID.New()
	}
	if e.reply.Created.IsZero() {
		e.reply.Created = time.Now()
	}
	r := responseObject(&adapters.Reply{ID: e.reply.ID, Model: e.reply.Model, Created: e.reply.Created}, nil, "")
	r.SetString("status", "in_progress")
	for _, kind := range []string{"response.created", "response.in_progress"} {
		var o wire.Object
		o.SetObject("response", r)
		if err := e.send(kind, o); err != nil {
			return err
		}
	}
	return nil
}

// at is what says which item an event is about.
func (e *responsesEncoder) at() wire.Object {
	var o wire.Object
	o.SetString("item_id", e.item.String("id"))
	o.SetInt("output_index", int64(len(e.items)))
	return o
}

// open begins an item.
func (e *responsesEncoder) open(kind string, item wire.Object) error {
	if err := e.closeItem(false); err != nil {
		return err
	}
	e.kind, e.item = kind, item
	shown := append(wire.Object(nil), item...)
	if kind != "reasoning" {
		shown.SetString("status", "in_progress")
	}
	if kind == "message" {
		shown.SetList("content", nil)
	}
	var o wire.Object
	o.SetInt("output_index", int64(len(e.items)))
	o.SetObject("item", shown)
	return e.send("response.output_item.added", o)
}

// openPart begins a part of a message, or of a summary.
func (e *responsesEncoder) openPart(t adapters.BlockType, word string) error {
	if err := e.closePart(); err != nil {
		return err
	}
	e.part, e.word = t, word
	o := e.at()
	o.SetInt(e.partIndex(), int64(len(e.parts)))
	o.SetObject("part", e.partObject(""))
	return e.send(e.partEvent("added"), o)
}

func (e *responsesEncoder) partIndex() string {
	if e.part == adapters.BlockReasoning && e.word == "" {
		return "summary_index"
	}
	return "content_index"
}

func (e *responsesEncoder) partEvent(what string) string {
	if e.part == adapters.BlockReasoning && e.word == "" {
		return "response.reasoning_summary_part." + what
	}
	return "response.content_part." + what
}

func (e *responsesEncoder) partObject(text string) wire.Object {
	var o wire.Object
	switch {
	case e.part == adapters.BlockText:
		b := adapters.Block{Type: adapters.BlockText, Text: text, Extra: adapters.Extra{Format: ResponsesName, Members: e.extra}}
		return outputPart(&b)
	case e.part == adapters.BlockRefusal:
		o.SetString("type", "refusal")
		o.SetString("refusal", text)
		return o
	case e.word != "":
		o.SetString("type", "reasoning_text")
	default:
		o.SetString("type", "summary_text")
	}
	o.SetString("text", text)
	return o
}

// stem is the name of the open part's events.
func (e *responsesEncoder) stem() (stem, key string) {
	switch {
	case e.part == adapters.BlockText:
		return "response.output_text", "text"
	case e.part == adapters.BlockRefusal:
		return "response.refusal", "refusal"
	case e.word != "":
		return "response.reasoning_text", "text"
	}
	return "response.reasoning_summary_text", "text"
}

func (e *responsesEncoder) delta(text string) error {
	e.text.WriteString(text)
	stem, _ := e.stem()
	o := e.at()
	o.SetInt(e.partIndex(), int64(len(e.parts)))
	o.SetString("delta", text)
	if e.part == adapters.BlockText {
		o.SetList("logprobs", nil)
	}
	return e.send(stem+".delta", o)
}

func (e *responsesEncoder) closePart() error {
	if e.part == "" {
		return nil
	}
	stem, key := e.stem()
	part := e.partObject(e.text.String())
	o := e.at()
	o.SetInt(e.partIndex(), int64(len(e.parts)))
	o.SetString(key, e.text.String())
	if e.part == adapters.BlockText {
		o.SetList("logprobs", nil)
	}
	if err := e.send(stem+".done", o); err != nil {
		return err
	}
	o = e.at()
	o.SetInt(e.partIndex(), int64(len(e.parts)))
	o.SetObject("part", part)
	if err := e.send(e.partEvent("done"), o); err != nil {
		return err
	}
	e.parts = append(e.parts, part.Bytes())
	e.part, e.extra = "", nil
	e.text.Reset()
	return nil
}

// closeItem ends the item that is open. A call that was cut off is never done: clients run
// what is.
func (e *responsesEncoder) closeItem(truncated bool) error {
	if err := e.start(); err != nil {
		return err
	}
	if e.kind == "" {
		return nil
	}
	word := e.word
	if err := e.closePart(); err != nil {
		return err
	}
	item := e.item
	switch e.kind {
	case "message":
		item.SetList("content", e.parts)
		item.SetString("status", "completed")
	case "reasoning":
		if word != "" {
			item.SetList("content", e.parts)
		} else {
			item.SetList("summary", e.parts)
		}
		item.SetText("encrypted_content", string(e.sign))
	default:
		key, event := "arguments", "response.function_call_arguments.done"
		if e.kind == "custom_tool_call" {
			key, event = "input", "response.custom_tool_call_input.done"
		}
		text := e.text.String()
		if text == "" && e.kind == "function_call" && !truncated {
			text = "{}"
		}
		e.text.Reset()
		item.SetString(key, text)
		item.SetString("status", callStatus(truncated))
		if truncated {
			e.kind, e.items = "", append(e.items, item.Bytes())
			return nil
		}
		o := e.at()
		o.SetString(key, text)
		if e.kind == "function_call" {
			o.SetString("name", item.String("name"))
		}
		if err := e.send(event, o); err != nil {
			return err
		}
	}
	e.kind, e.parts, e.sign, e.word = "", nil, nil, ""
	return e.finishItem(item)
}

func (e *responsesEncoder) finishItem(item wire.Object) error {
	var o wire.Object
	o.SetInt("output_index", int64(len(e.items)))
	o.SetObject("item", item)
	e.items = append(e.items, item.Bytes())
	return e.send("response.output_item.done", o)
}

// Event writes an event. It is long since each type of event has its case here, and none
// is more than a few lines.
func (e *responsesEncoder) Event(ev adapters.Event) error {
	switch ev.Type {
	case adapters.EventStart:
		if !e.started {
			e.reply.ID, e.reply.Model, e.reply.Created = ev.ID, ev.Model, ev.Created
			return e.start()
		}
		return nil
	case adapters.EventUsage:
		e.reply.Usage = ev.Usage
		return nil
	case adapters.EventPing:
		return e.out.WriteKeepAlive()
	}
	if ev.Choice != 0 {
		return nil
	}
	own := convert.Own(ev.Extra, ResponsesName)
	switch ev.Type {
	case adapters.EventText, adapters.EventRefusal:
		return e.message(ev, own)
	case adapters.EventReasoning:
		if ev.Text == "" && !ev.New {
			return nil
		}
		if e.kind != "reasoning" || ev.New {
			if err := e.openReasoning(own); err != nil {
				return err
			}
		}
		if ev.Text == "" {
			return nil
		}
		if e.part == "" {
			if err := e.openPart(adapters.BlockReasoning, ev.NativeName); err != nil {
				return err
			}
		}
		return e.delta(ev.Text)
	case adapters.EventSignature:
		if e.kind != "reasoning" || ev.New {
			if err := e.openReasoning(own); err != nil {
				return err
			}
		}
		e.sign = append(e.sign, ev.Text...)
		e.item.Merge(own)
	case adapters.EventCallStart:
		b := adapters.Block{Type: adapters.BlockCall, Call: &adapters.Call{ID: ev.ID, Name: ev.Name, Custom: ev.Custom}, Extra: ev.Extra}
		item := encodeItem(&b, true)
		kind := "function_call"
		if ev.Custom {
			kind = "custom_tool_call"
		} else {
			item.SetString("arguments", "")
		}
		return e.open(kind, item)
	case adapters.EventArguments:
		if ev.Text == "" {
			return nil
		}
		e.text.WriteString(ev.Text)
		o := e.at()
		o.SetString("delta", ev.Text)
		if e.kind == "custom_tool_call" {
			return e.send("response.custom_tool_call_input.delta", o)
		}
		return e.send("response.function_call_arguments.delta", o)
	case adapters.EventCallEnd:
		return e.closeItem(ev.Truncated)
	case adapters.EventOther:
		return e.otherItem(own)
	case adapters.EventFinish:
		e.finish = ev.Finish
		if own := convert.Own(ev.Envelope, ResponsesName); own != nil {
			e.reply.Extra = adapters.Extra{Format: ResponsesName, Members: own.Clone()}
		}
	}
	return nil
}

// otherItem sends an item of another kind whole, as it came.
func (e *responsesEncoder) otherItem(own wire.Object) error {
	if own == nil {
		return nil
	}
	if err := e.closeItem(false); err != nil {
		return err
	}
	var o wire.Object
	o.SetInt("output_index", int64(len(e.items)))
	o.SetObject("item", own)
	if err := e.send("response.output_item.added", o); err != nil {
		return err
	}
	return e.finishItem(own.Clone())
}

func (e *responsesEncoder) openReasoning(own wire.Object) error {
	var item wire.Object
	item.SetString("type", "reasoning")
	id := own.String("id")
	if id == "" {
		id = adapters.IDRule{Prefix: "rs_", Any: true}.New()
	}
	item.SetString("id", id)
	item.SetList("summary", nil)
	return e.open("reasoning", item)
}

func (e *responsesEncoder) message(ev adapters.Event, own wire.Object) error {
	t := adapters.BlockText
	if ev.Type == adapters.EventRefusal {
		t = adapters.BlockRefusal
	}
	if ev.NativeName == "done" { // what is known of the part now that it is whole
		if e.part == t {
			e.extra = own.Clone()
			beside, _ := wire.AsObject(e.extra.Take(outside))
			e.item.Merge(beside)
		}
		return nil
	}
	if ev.Text == "" {
		return nil
	}
	beside, _ := wire.AsObject(own.Get(outside))
	if e.kind != "message" {
		if err := e.open("message", messageItem(nil, beside, true)); err != nil {
			return err
		}
	}
	if e.part != t || ev.New {
		if err := e.openPart(t, ""); err != nil {
			return err
		}
		e.extra = own.Clone()
		e.extra.Take(outside)
	}
	return e.delta(ev.Text)
}

// Fail writes an event of the type "error". The end says "response.failed".
func (e *responsesEncoder) Fail(err *adapters.ProviderError) error {
	if err := e.start(); err != nil {
		return err
	}
	e.failed, e.finish = err, adapters.FinishError
	o := failure(err)
	o.Set("param", []byte("null"))
	return e.send("error", o)
}

// failure says what went wrong, as the events and the response have it.
func failure(err *adapters.ProviderError) wire.Object {
	var o wire.Object
	o.SetString("code", cmp.Or(err.Code, err.Type, "server_error"))
	o.SetString("message", err.Message)
	return o
}

func (e *responsesEncoder) End() error {
	if e.failed == nil { // else the item that is open is not whole
		if err := e.closeItem(false); err != nil {
			return err
		}
	}
	kind := "response.completed"
	switch status, _ := finishStatus(e.finish); status {
	case "incomplete":
		kind = "response.incomplete"
	case "failed":
		kind = "response.failed"
	}
	response := responseObject(&e.reply, e.items, e.finish)
	if e.failed != nil {
		response.SetObject("error", failure(e.failed))
	}
	var o wire.Object
	o.SetObject("response", response)
	return e.send(kind, o)
}
