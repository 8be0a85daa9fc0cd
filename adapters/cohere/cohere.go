// Package cohere has the wire format of Cohere's chat, version 2.
package cohere

import (
	"strings"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/internal/convert"
	"github.com/callwright/callwright/internal/wire"
)

// Name is the name of the format.
const Name = "cohere_chat"

var callID = adapters.IDRule{Prefix: "call_", Any: true}

// Chat is POST /v2/chat (Cohere's API reference, "Chat"). What a model plans
// before its calls, tool_plan, is reasoning.
var Chat = adapters.New(adapters.Format{
	Name: Name, ShortNames: []string{"cohere"}, Version: "v2", Framing: string(wire.SSE), ContentType: "text/event-stream",
	Paths: []string{"/v2/chat"}, Prefix: "/v2/",
	CallFormat: "openai_function_call", Sequential: true, IDs: callID,
	Carries: adapters.Carries{ID: true, Reasoning: true, CallIDs: true, Usage: true, CachedTokens: true, Sequence: true, Error: true},
	CarriesRequest: adapters.CarriesRequest{
		Model: true, Turns: true, Tools: true, ToolChoice: true, Stop: true, TopK: true, Seed: true, Penalties: true, Schema: true,
		Thinking: true, ReasoningTokens: true,
	},
}, codec{})

// codec reads and writes chats.
type codec struct{}

// NewDecoder returns what reads a stream.
func (codec) NewDecoder() convert.Decoder { return &decoder{} }

// NewEncoder returns what writes a stream.
func (codec) NewEncoder(out *wire.Writer) adapters.Encoder { return &encoder{out: out, content: -1} }

// EncodeError writes an error.
func (codec) EncodeError(e *adapters.ProviderError) wire.Object {
	var o wire.Object
	o.SetString("message", e.Message)
	return o
}

// Recognize tells a reply by its reason of the end, and an event of a stream by its type.
func (codec) Recognize(o wire.Object, _ string) (float64, string) {
	switch o.String("type") {
	case "message-start", "content-start", "content-delta", "content-end", "tool-plan-delta", "tool-call-start", "tool-call-delta",
		"tool-call-end", "citation-start", "citation-end", "message-end":
		return 0.97, "v2"
	}
	m := o.Object("message")
	if m == nil || wire.AsList(o.Get("choices")) != nil {
		return 0, ""
	}
	if _, ok := finishReasons[o.String("finish_reason")]; ok {
		return 0.95, "v2"
	}
	if m.Has("tool_plan") || m.String("role") == "assistant" && wire.AsList(m.Get("content")) != nil {
		return 0.8, "v2"
	}
	return 0, ""
}

var finishReasons = map[string]adapters.FinishReason{
	"COMPLETE": adapters.FinishStop, "STOP_SEQUENCE": adapters.FinishSequence, "MAX_TOKENS": adapters.FinishLength,
	"TOOL_CALL": adapters.FinishCalls,
	"ERROR":     adapters.FinishError, "ERROR_TOXIC": adapters.FinishFilter, "TIMEOUT": adapters.FinishError,
}

func finishWord(f adapters.FinishReason) string {
	switch f {
	case adapters.FinishCalls:
		return "TOOL_CALL"
	case adapters.FinishLength:
		return "MAX_TOKENS"
	case adapters.FinishSequence:
		return "STOP_SEQUENCE"
	case adapters.FinishError:
		return "ERROR"
	}
	return "COMPLETE"
}

// DecodeReply reads a reply.
func (codec) DecodeReply(o wire.Object) (*adapters.Reply, error) {
	r := &adapters.Reply{ID: o.TakeString("id"), Usage: decodeUsage(o.TakeObject("usage"))}
	c := adapters.Choice{Finish: convert.TakeFinish(&o, "finish_reason", finishReasons, finishWord)}
	m := o.TakeObject("message")
	m.Take("role")
	c.Blocks = decodeMessage(&m)
	o.SetRest("message", m)
	r.Choices = []adapters.Choice{c}
	r.Extra = adapters.ExtraOf(Name, o)
	return r, nil
}

// planWord is what the format calls reasoning that comes before calls.
const planWord = "tool_plan"

func decodeMessage(m *wire.Object) []adapters.Block {
	var out []adapters.Block
	if plan := m.TakeString("tool_plan"); plan != "" {
		out = append(out, adapters.Block{Type: adapters.BlockReasoning, Text: plan, NativeName: planWord})
	}
	raw := m.Take("content")
	if text, ok := wire.String(raw); ok && text != "" {
		out = append(out, adapters.Block{Type: adapters.BlockText, Text: text})
	}
	for _, part := range wire.Objects(raw) {
		out = append(out, decodePart(part))
	}
	for _, call := range wire.Objects(m.Take("tool_calls")) {
		f := call.TakeObject("function")
		b := adapters.Block{
			Type: adapters.BlockCall,
			Call: &adapters.Call{ID: call.TakeString("id"), Name: f.String("name"), Arguments: convert.ArgumentsText(f.Get("arguments"))},
		}
		call.Take("type")
		b.Extra = adapters.ExtraOf(Name, call)
		out = append(out, b)
	}
	return out
}

func decodePart(o wire.Object) adapters.Block {
	all := append(wire.Object(nil), o...)
	switch o.TakeString("type") {
	case "text":
		return adapters.Block{Type: adapters.BlockText, Text: o.TakeString("text"), Extra: adapters.ExtraOf(Name, o)}
	case "thinking":
		return adapters.Block{Type: adapters.BlockReasoning, Text: o.TakeString("thinking"), Extra: adapters.ExtraOf(Name, o)}
	case "image_url":
		return adapters.Block{Type: adapters.BlockMedia, Media: convert.MediaOf(o.Object("image_url").String("url"))}
	}
	return adapters.Block{Type: adapters.BlockOther, Extra: adapters.ExtraOf(Name, all)}
}

func decodeUsage(o wire.Object) *adapters.Usage {
	if o == nil {
		return nil
	}
	tokens := o.TakeObject("tokens")
	if tokens == nil {
		tokens = append(tokens, o.Object("billed_units")...)
	}
	u := &adapters.Usage{
		InputTokens: tokens.TakeInt("input_tokens"), OutputTokens: tokens.TakeInt("output_tokens"), CachedTokens: o.TakeInt("cached_tokens"),
	}
	u.Extra = adapters.ExtraOf(Name, o)
	return u
}

func encodeUsage(u *adapters.Usage) wire.Object {
	var o, tokens wire.Object
	tokens.SetInt("input_tokens", u.InputTokens)
	tokens.SetInt("output_tokens", u.OutputTokens)
	o.SetObject("tokens", tokens)
	if u.CachedTokens > 0 {
		o.SetInt("cached_tokens", u.CachedTokens)
	}
	o.Merge(convert.Own(u.Extra, Name))
	return o
}

// EncodeReply writes a reply.
func (codec) EncodeReply(r *adapters.Reply) (wire.Object, error) {
	var o wire.Object
	c := r.First()
	id := r.ID
	if id == "" {
		id = callID.New()
	}
	o.SetString("id", id)
	o.SetString("finish_reason", convert.FinishWord(c.Finish, convert.Own(r.Extra, Name), "finish_reason", finishReasons, finishWord))
	o.SetObject("message", encodeMessage("assistant", c.Blocks))
	if r.Usage != nil {
		o.SetObject("usage", encodeUsage(r.Usage))
	}
	o.Merge(convert.Own(r.Extra, Name))
	return o, nil
}

func encodeMessage(role string, blocks []adapters.Block) wire.Object {
	var o wire.Object
	var parts, calls [][]byte
	var plan strings.Builder
	for i := range blocks {
		switch b := &blocks[i]; b.Type {
		case adapters.BlockReasoning:
			if b.NativeName == planWord {
				plan.WriteString(b.Text)
			} else if b.Text != "" {
				parts = append(parts, encodePart(b).Bytes())
			}
		case adapters.BlockCall:
			calls = append(calls, encodeCall(b, -1).Bytes())
		default:
			if p := encodePart(b); p != nil {
				parts = append(parts, p.Bytes())
			}
		}
	}
	o.SetString("role", role)
	if len(parts) > 0 || len(calls) == 0 {
		o.SetList("content", parts)
	}
	o.SetText("tool_plan", plan.String())
	if calls != nil {
		o.SetList("tool_calls", calls)
	}
	return o
}

func encodeCall(b *adapters.Block, index int) wire.Object {
	var o, f wire.Object
	o.SetString("id", callID.FitOrNew(b.Call.ID))
	o.SetString("type", "function")
	f.SetString("name", b.Call.Name)
	switch {
	case index >= 0: // the arguments follow
		f.SetString("arguments", "")
	case b.Call.Custom || b.Call.Arguments == "" && !b.Call.Truncated:
		f.SetString("arguments", string(convert.ArgumentsObject(b.Call)))
	default:
		f.SetString("arguments", b.Call.Arguments)
	}
	o.SetObject("function", f)
	o.Merge(convert.Own(b.Extra, Name))
	return o
}

func encodePart(b *adapters.Block) wire.Object {
	var o wire.Object
	switch b.Type {
	case adapters.BlockText, adapters.BlockRefusal:
		if b.Text == "" {
			return nil
		}
		o.SetString("type", "text")
		o.SetString("text", b.Text)
	case adapters.BlockReasoning:
		o.SetString("type", "thinking")
		o.SetString("thinking", b.Text)
	case adapters.BlockMedia:
		if !convert.IsImage(b.Media) {
			o.SetString("type", "text")
			o.SetString("text", convert.LeftOut(b.Media))
			return o
		}
		var image wire.Object
		image.SetString("url", convert.URLOf(b.Media))
		o.SetString("type", "image_url")
		o.SetObject("image_url", image)
	case adapters.BlockOther:
		return convert.Own(b.Extra, Name)
	default:
		return nil
	}
	o.Merge(convert.Own(b.Extra, Name))
	return o
}
