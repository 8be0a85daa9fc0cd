// Package anthropic has the wire format of Anthropic's messages.
package anthropic

import (
	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/internal/convert"
	"github.com/callwright/callwright/internal/wire"
)

// Name is the name of the format.
const Name = "anthropic_messages"

// Messages is POST /v1/messages (Anthropic's API reference, "Messages"). Blocks
// that the provider runs itself, such as server_tool_use, are no calls to run:
// they are kept as they are.
var Messages = adapters.New(adapters.Format{
	Name: Name, ShortNames: []string{"anthropic", "claude"}, Version: "2023-06-01", Framing: string(wire.SSE),
	ContentType: "text/event-stream",
	Paths:       []string{"/v1/messages"}, Prefix: "/v1/messages", Servers: []string{"anthropic"},
	CallFormat: "claude_tool_use", Sequential: true, ObjectArguments: true, IDs: callID,
	Carries: adapters.Carries{
		ID: true, Model: true, Reasoning: true, Signature: true, CallIDs: true, Order: true, StopSequence: true,
		Usage: true, CachedTokens: true, CacheWriteTokens: true, Filter: true, Sequence: true, Pause: true,
	},
	CarriesRequest: adapters.CarriesRequest{
		Model: true, Turns: true, Tools: true, ToolChoice: true, NamedTool: true, ParallelCalls: true, Stop: true, TopK: true,
		Schema: true, Effort: true, Thinking: true, ReasoningTokens: true, User: true,
	},
}, codec{})

// codec reads and writes messages.
type codec struct{}

// NewDecoder returns what reads a stream.
func (codec) NewDecoder() convert.Decoder { return &decoder{} }

// NewEncoder returns what writes a stream.
func (codec) NewEncoder(out *wire.Writer) adapters.Encoder { return &encoder{out: out, block: -1} }

// EncodeError writes an error.
func (codec) EncodeError(e *adapters.ProviderError) wire.Object {
	var o, inner wire.Object
	inner.SetString("type", e.Type)
	inner.SetString("message", e.Message)
	o.SetString("type", "error")
	o.SetObject("error", inner)
	return o
}

var (
	replyID = adapters.IDRule{Prefix: "msg_", Any: true}
	callID  = adapters.IDRule{Prefix: "toolu_", Max: 64}
)

// Recognize tells a message, or an event of its stream, by its type.
func (codec) Recognize(o wire.Object, event string) (float64, string) {
	kind := o.String("type")
	switch kind {
	case "message":
		if o.String("role") == "assistant" && wire.AsList(o.Get("content")) != nil {
			return 0.97, "2023-06-01"
		}
	case "message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta", "message_stop":
		if event == kind || o.Has("delta") || o.Has("message") || o.Has("content_block") || o.Has("index") || len(o) == 1 {
			return 0.96, "2023-06-01"
		}
	case "ping":
		if len(o) == 1 {
			return 0.6, "2023-06-01"
		}
	}
	for _, b := range wire.Objects(o.Get("content")) {
		switch b.String("type") {
		case "tool_use", "thinking", "text":
			if o.Has("stop_reason") {
				return 0.9, "2023-06-01"
			}
			return 0.45, "2023-06-01"
		}
	}
	return 0, ""
}

var finishReasons = map[string]adapters.FinishReason{
	"end_turn": adapters.FinishStop, "max_tokens": adapters.FinishLength, "stop_sequence": adapters.FinishSequence,
	"tool_use":   adapters.FinishCalls,
	"pause_turn": adapters.FinishPause, "refusal": adapters.FinishFilter, "model_context_window_exceeded": adapters.FinishLength,
}

func finishWord(f adapters.FinishReason) string {
	switch f {
	case adapters.FinishLength:
		return "max_tokens"
	case adapters.FinishSequence:
		return "stop_sequence"
	case adapters.FinishCalls:
		return "tool_use"
	case adapters.FinishPause:
		return "pause_turn"
	case adapters.FinishFilter:
		return "refusal"
	}
	return "end_turn"
}

// DecodeReply reads a message.
func (codec) DecodeReply(o wire.Object) (*adapters.Reply, error) {
	r := &adapters.Reply{ID: o.TakeString("id"), Model: o.TakeString("model"), Usage: decodeUsage(o.TakeObject("usage"))}
	o.Take("type")
	o.Take("role")
	c := adapters.Choice{Finish: convert.TakeFinish(&o, "stop_reason", finishReasons, finishWord), StopSequence: o.TakeString("stop_sequence")}
	c.Blocks = decodeContent(o.Take("content"))
	r.Choices = []adapters.Choice{c}
	r.Extra = adapters.ExtraOf(Name, o)
	return r, nil
}

func decodeContent(raw []byte) []adapters.Block {
	if s, ok := wire.String(raw); ok {
		return []adapters.Block{{Type: adapters.BlockText, Text: s}}
	}
	var out []adapters.Block
	for _, b := range wire.Objects(raw) {
		out = append(out, decodeBlock(b))
	}
	return out
}

func decodeBlock(o wire.Object) adapters.Block {
	all := append(wire.Object(nil), o...)
	keep := func() adapters.Extra { return adapters.ExtraOf(Name, o) }
	switch o.TakeString("type") {
	case "text":
		return adapters.Block{Type: adapters.BlockText, Text: o.TakeString("text"), Extra: keep()}
	case "thinking":
		return adapters.Block{Type: adapters.BlockReasoning, Text: o.TakeString("thinking"), Signature: o.TakeString("signature"), Extra: keep()}
	case "redacted_thinking":
		return adapters.Block{Type: adapters.BlockReasoning, Signature: o.TakeString("data"), NativeName: "redacted_thinking", Extra: keep()}
	case "tool_use":
		return adapters.Block{
			Type:  adapters.BlockCall,
			Call:  &adapters.Call{ID: o.TakeString("id"), Name: o.TakeString("name"), Arguments: convert.ArgumentsText(o.Take("input"))},
			Extra: keep(),
		}
	case "tool_result":
		r := &adapters.ToolResult{CallID: o.TakeString("tool_use_id"), IsError: o.Bool("is_error")}
		o.Take("is_error")
		convert.SetResult(r, decodeContent(o.Take("content")))
		return adapters.Block{Type: adapters.BlockResult, Result: r, Extra: keep()}
	case "tool_reference": // what a search for tools found
		return adapters.Block{Type: adapters.BlockText, Text: "Found the tool " + o.TakeString("tool_name") + ".\n", Extra: keep()}
	case "image", "document":
		if m := decodeSource(o.Object("source")); m != nil {
			o.Take("source")
			m.Name = o.TakeString("title")
			return adapters.Block{Type: adapters.BlockMedia, Media: m, Extra: keep()}
		}
	}
	return adapters.Block{Type: adapters.BlockOther, Extra: adapters.ExtraOf(Name, all)}
}

func decodeSource(s wire.Object) *adapters.Media {
	switch s.String("type") {
	case "base64":
		return &adapters.Media{MIMEType: s.String("media_type"), Data: s.String("data")}
	case "url":
		return &adapters.Media{URL: s.String("url")}
	}
	return nil
}

func decodeUsage(o wire.Object) *adapters.Usage {
	if o == nil {
		return nil
	}
	u := &adapters.Usage{
		CachedTokens: o.TakeInt("cache_read_input_tokens"), CacheWriteTokens: o.TakeInt("cache_creation_input_tokens"),
		OutputTokens: o.TakeInt("output_tokens"),
	}
	// Anthropic counts what a cache spared or took apart from the rest.
	u.InputTokens = o.TakeInt("input_tokens") + u.CachedTokens + u.CacheWriteTokens
	u.Extra = adapters.ExtraOf(Name, o)
	return u
}

func encodeUsage(u *adapters.Usage) wire.Object {
	var o wire.Object
	if u == nil {
		u = &adapters.Usage{}
	}
	o.SetInt("input_tokens", max(u.InputTokens-u.CachedTokens-u.CacheWriteTokens, 0))
	o.SetInt("cache_creation_input_tokens", u.CacheWriteTokens)
	o.SetInt("cache_read_input_tokens", u.CachedTokens)
	o.SetInt("output_tokens", u.OutputTokens)
	o.Merge(convert.Own(u.Extra, Name))
	return o
}

// EncodeReply writes a message.
func (codec) EncodeReply(r *adapters.Reply) (wire.Object, error) {
	o := head(r.ID, r.Model)
	c := r.First()
	o.SetList("content", encodeBlocks(c.Blocks))
	o.SetString("stop_reason", convert.FinishWord(c.Finish, convert.Own(r.Extra, Name), "stop_reason", finishReasons, finishWord))
	if c.StopSequence != "" {
		o.SetString("stop_sequence", c.StopSequence)
	} else {
		o.Set("stop_sequence", []byte("null"))
	}
	o.SetObject("usage", encodeUsage(r.Usage))
	o.Merge(convert.Own(r.Extra, Name))
	return o, nil
}

func head(id, model string) wire.Object {
	var o wire.Object
	if id == "" {
		id = replyID.New()
	}
	o.SetString("id", id)
	o.SetString("type", "message")
	o.SetString("role", "assistant")
	o.SetString("model", model)
	return o
}

// encodeBlocks writes blocks; what would be empty is left out, since the provider
// refuses it.
func encodeBlocks(blocks []adapters.Block) [][]byte { return convert.Objects(blocks, encodeBlock) }

func encodeBlock(b *adapters.Block) wire.Object {
	var o wire.Object
	switch b.Type {
	case adapters.BlockText, adapters.BlockRefusal:
		if b.Text == "" {
			return nil
		}
		o.SetString("type", "text")
		o.SetString("text", b.Text)
	case adapters.BlockReasoning:
		if b.Text == "" && b.Signature != "" {
			o.SetString("type", "redacted_thinking")
			o.SetString("data", b.Signature)
			break
		}
		o.SetString("type", "thinking")
		o.SetString("thinking", b.Text)
		o.SetString("signature", b.Signature)
	case adapters.BlockCall:
		o.SetString("type", "tool_use")
		o.SetString("id", callID.FitOrNew(b.Call.ID))
		o.SetString("name", b.Call.Name)
		o.Set("input", convert.ArgumentsObject(b.Call))
	case adapters.BlockResult:
		o = encodeResult(b.Result)
	case adapters.BlockMedia:
		o = encodeMedia(b.Media)
	case adapters.BlockOther:
		return convert.Own(b.Extra, Name)
	default:
		return nil
	}
	o.Merge(convert.Own(b.Extra, Name))
	return o
}

func encodeResult(r *adapters.ToolResult) wire.Object {
	var o wire.Object
	o.SetString("type", "tool_result")
	o.SetString("tool_use_id", callID.Fit(r.CallID))
	if len(r.Media) == 0 {
		o.SetString("content", r.Text)
	} else {
		o.SetList("content", encodeBlocks(convert.ResultBlocks(r)))
	}
	if r.IsError {
		o.SetBool("is_error", true)
	}
	return o
}

func encodeMedia(m *adapters.Media) wire.Object {
	var o, source wire.Object
	kind := "document"
	if convert.IsImage(m) {
		kind = "image"
	}
	switch {
	case m.URL != "":
		source.SetString("type", "url")
		source.SetString("url", m.URL)
	case kind == "image" || m.MIMEType == "application/pdf":
		source.SetString("type", "base64")
		source.SetString("media_type", m.MIMEType)
		source.SetString("data", m.Data)
	default:
		o.SetString("type", "text")
		o.SetString("text", convert.LeftOut(m))
		return o
	}
	o.SetString("type", kind)
	o.SetObject("source", source)
	if kind == "document" {
		o.SetText("title", m.Name)
	}
	return o
}
