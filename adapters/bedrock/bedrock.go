// Package bedrock has the wire format of Amazon Bedrock's Converse.
package bedrock

import (
	"strings"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/internal/convert"
	"github.com/callwright/callwright/internal/wire"
)

// Name is the name of the format.
const Name = "bedrock_converse"

var callID = adapters.IDRule{Prefix: "tooluse_", Max: 64}

// Converse is POST /model/{id}/converse and converse-stream (Amazon Bedrock API
// reference, "Converse"). A request's model stands in its address. Streams are AWS
// event streams; their messages as lines of JSON are read as well.
var Converse = adapters.New(adapters.Format{
	Name: Name, ShortNames: []string{"bedrock"}, Version: "2023-09-30", Framing: string(wire.Binary),
	ContentType: "application/vnd.amazon.eventstream",
	CallFormat:  "claude_tool_use", Sequential: true, ObjectArguments: true, IDs: callID,
	Carries: adapters.Carries{
		Reasoning: true, Signature: true, CallIDs: true, Order: true, Usage: true, CachedTokens: true, CacheWriteTokens: true, Filter: true,
		Sequence: true,
	},
	CarriesRequest: adapters.CarriesRequest{Turns: true, Tools: true, ToolChoice: true, NamedTool: true, Stop: true},
}, codec{})

// codec reads and writes what Converse takes and gives.
type codec struct{}

// NewDecoder returns what reads a stream.
func (codec) NewDecoder() convert.Decoder { return &decoder{} }

// NewEncoder returns what writes a stream.
func (codec) NewEncoder(out *wire.Writer) adapters.Encoder { return &encoder{out: out, block: -1} }

// EncodeError writes an error. Its type is in a header of HTTP, x-amzn-ErrorType.
func (codec) EncodeError(e *adapters.ProviderError) wire.Object {
	var o wire.Object
	o.SetString("message", e.Message)
	return o
}

var eventTypes = []string{"messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop", "metadata"}

// Recognize tells a reply by its output, and a message of a stream by its event.
func (codec) Recognize(o wire.Object, event string) (float64, string) {
	if m := o.Object("output").Object("message"); m != nil && wire.AsList(m.Get("content")) != nil {
		if o.Has("stopReason") {
			return 0.97, "2023-09-30"
		}
		return 0.7, "2023-09-30"
	}
	for _, t := range eventTypes {
		if event == t || len(o) == 1 && o[0].Key == t {
			return 0.95, "2023-09-30"
		}
	}
	return 0, ""
}

var finishReasons = map[string]adapters.FinishReason{
	"end_turn": adapters.FinishStop, "tool_use": adapters.FinishCalls, "max_tokens": adapters.FinishLength,
	"stop_sequence":        adapters.FinishSequence,
	"guardrail_intervened": adapters.FinishFilter, "content_filtered": adapters.FinishFilter, "malformed_tool_use": adapters.FinishError,
	"malformed_model_output": adapters.FinishError, "model_context_window_exceeded": adapters.FinishLength,
}

func finishWord(f adapters.FinishReason) string {
	switch f {
	case adapters.FinishCalls:
		return "tool_use"
	case adapters.FinishLength:
		return "max_tokens"
	case adapters.FinishSequence:
		return "stop_sequence"
	case adapters.FinishFilter:
		return "content_filtered"
	}
	return "end_turn"
}

// DecodeReply reads a reply.
func (codec) DecodeReply(o wire.Object) (*adapters.Reply, error) {
	output := o.TakeObject("output")
	m := output.TakeObject("message")
	m.Take("role")
	c := adapters.Choice{Blocks: decodeContent(m.Take("content")), Finish: convert.TakeFinish(&o, "stopReason", finishReasons, finishWord)}
	r := &adapters.Reply{Choices: []adapters.Choice{c}, Usage: decodeUsage(o.TakeObject("usage"))}
	r.Extra = adapters.ExtraOf(Name, o)
	return r, nil
}

func decodeContent(raw []byte) []adapters.Block {
	var out []adapters.Block
	for _, b := range wire.Objects(raw) {
		out = append(out, decodeBlock(b))
	}
	return out
}

func decodeBlock(o wire.Object) adapters.Block {
	if text, ok := wire.String(o.Get("text")); ok {
		return adapters.Block{Type: adapters.BlockText, Text: text}
	}
	if use := o.Object("toolUse"); use != nil {
		return adapters.Block{
			Type: adapters.BlockCall,
			Call: &adapters.Call{ID: use.String("toolUseId"), Name: use.String("name"), Arguments: convert.ArgumentsText(use.Get("input"))},
		}
	}
	if reasoning := o.Object("reasoningContent"); reasoning != nil {
		if text := reasoning.Object("reasoningText"); text != nil {
			return adapters.Block{Type: adapters.BlockReasoning, Text: text.String("text"), Signature: text.String("signature")}
		}
		return adapters.Block{Type: adapters.BlockReasoning, Signature: reasoning.String("redactedContent"), NativeName: "redactedContent"}
	}
	if result := o.Object("toolResult"); result != nil {
		r := &adapters.ToolResult{CallID: result.String("toolUseId"), IsError: result.String("status") == "error"}
		var parts []adapters.Block
		for _, part := range wire.Objects(result.Get("content")) {
			if part.Has("json") {
				parts = append(parts, adapters.Block{Type: adapters.BlockText, Text: string(part.Get("json"))})
				continue
			}
			parts = append(parts, decodeBlock(part))
		}
		convert.SetResult(r, parts)
		return adapters.Block{Type: adapters.BlockResult, Result: r}
	}
	for _, kind := range []string{"image", "document"} {
		x := o.Object(kind)
		data := x.Object("source").String("bytes")
		if data == "" {
			continue
		}
		mime := kind + "/" + x.String("format")
		if kind == "document" {
			mime = "application/" + x.String("format")
		}
		return adapters.Block{Type: adapters.BlockMedia, Media: &adapters.Media{MIMEType: mime, Data: data, Name: x.String("name")}}
	}
	return adapters.Block{Type: adapters.BlockOther, Extra: adapters.ExtraOf(Name, o)}
}

func decodeUsage(o wire.Object) *adapters.Usage {
	if o == nil {
		return nil
	}
	u := &adapters.Usage{
		CachedTokens: o.TakeInt("cacheReadInputTokens"), CacheWriteTokens: o.TakeInt("cacheWriteInputTokens"),
		OutputTokens: o.TakeInt("outputTokens"),
	}
	u.InputTokens = o.TakeInt("inputTokens") + u.CachedTokens + u.CacheWriteTokens
	o.Take("totalTokens")
	u.Extra = adapters.ExtraOf(Name, o)
	return u
}

func encodeUsage(u *adapters.Usage) wire.Object {
	var o wire.Object
	o.SetInt("inputTokens", max(u.InputTokens-u.CachedTokens-u.CacheWriteTokens, 0))
	o.SetInt("outputTokens", u.OutputTokens)
	o.SetInt("totalTokens", u.InputTokens+u.OutputTokens)
	if u.CachedTokens > 0 {
		o.SetInt("cacheReadInputTokens", u.CachedTokens)
	}
	if u.CacheWriteTokens > 0 {
		o.SetInt("cacheWriteInputTokens", u.CacheWriteTokens)
	}
	o.Merge(convert.Own(u.Extra, Name))
	return o
}

// EncodeReply writes a reply.
func (codec) EncodeReply(r *adapters.Reply) (wire.Object, error) {
	c := r.First()
	var o, output, m wire.Object
	m.SetString("role", "assistant")
	m.SetList("content", encodeBlocks(c.Blocks))
	output.SetObject("message", m)
	o.SetObject("output", output)
	o.SetString("stopReason", convert.FinishWord(c.Finish, convert.Own(r.Extra, Name), "stopReason", finishReasons, finishWord))
	u := r.Usage
	if u == nil {
		u = &adapters.Usage{}
	}
	o.SetObject("usage", encodeUsage(u))
	o.Merge(convert.Own(r.Extra, Name))
	if !o.Has("metrics") {
		var metrics wire.Object
		metrics.SetInt("latencyMs", 0)
		o.SetObject("metrics", metrics)
	}
	return o, nil
}

func encodeBlocks(blocks []adapters.Block) [][]byte { return convert.Objects(blocks, encodeBlock) }

func encodeBlock(b *adapters.Block) wire.Object {
	var o, inner wire.Object
	switch b.Type {
	case adapters.BlockText, adapters.BlockRefusal:
		if b.Text == "" {
			return nil
		}
		o.SetString("text", b.Text)
	case adapters.BlockReasoning:
		if b.Text == "" && b.Signature != "" {
			inner.SetString("redactedContent", b.Signature)
		} else {
			var text wire.Object
			text.SetString("text", b.Text)
			text.SetText("signature", b.Signature)
			inner.SetObject("reasoningText", text)
		}
		o.SetObject("reasoningContent", inner)
	case adapters.BlockCall:
		inner.SetString("toolUseId", callID.FitOrNew(b.Call.ID))
		inner.SetString("name", b.Call.Name)
		inner.Set("input", convert.ArgumentsObject(b.Call))
		o.SetObject("toolUse", inner)
	case adapters.BlockResult:
		o.SetObject("toolResult", encodeResult(b.Result))
	case adapters.BlockMedia:
		return encodeMedia(b.Media)
	case adapters.BlockOther:
		return convert.Own(b.Extra, Name)
	}
	return o
}

func encodeResult(r *adapters.ToolResult) wire.Object {
	var o wire.Object
	o.SetString("toolUseId", callID.Fit(r.CallID))
	var parts [][]byte
	if r.Text != "" || len(r.Media) == 0 {
		var text wire.Object
		text.SetString("text", r.Text)
		parts = append(parts, text.Bytes())
	}
	for i := range r.Media {
		parts = append(parts, encodeMedia(&r.Media[i]).Bytes())
	}
	o.SetList("content", parts)
	if r.IsError {
		o.SetString("status", "error")
	}
	return o
}

func encodeMedia(m *adapters.Media) wire.Object {
	var o, x, source wire.Object
	kind, format, _ := strings.Cut(m.MIMEType, "/")
	switch {
	case m.Data == "" || kind != "image" && kind != "application":
		o.SetString("text", convert.LeftOut(m))
		return o
	case kind == "application":
		kind = "document"
		name := m.Name
		if name == "" {
			name = "document"
		}
		x.SetString("name", name)
	}
	source.SetString("bytes", m.Data)
	x.SetString("format", format)
	x.SetObject("source", source)
	o.SetObject(kind, x)
	return o
}

// numbers are the settings that are numbers.
func numbers(r *adapters.Request) []convert.Number {
	return []convert.Number{
		{Key: "temperature", Value: &r.Temperature},
		{Key: "topP", Value: &r.TopP},
	}
}

// DecodeRequest reads a request.
func (codec) DecodeRequest(o wire.Object) (*adapters.Request, error) {
	r := &adapters.Request{Model: o.TakeString("modelId"), IncludeUsage: true}
	if system := decodeContent(o.Take("system")); len(system) > 0 {
		r.Messages = append(r.Messages, adapters.Message{Role: adapters.RoleSystem, Blocks: system})
	}
	for _, m := range wire.Objects(o.Take("messages")) {
		role := adapters.RoleUser
		if m.String("role") == "assistant" {
			role = adapters.RoleAssistant
		}
		r.Messages = append(r.Messages, convert.Messages(role, decodeContent(m.Get("content")), adapters.Extra{})...)
	}
	config := o.TakeObject("inferenceConfig")
	r.MaxTokens = config.TakeInt("maxTokens")
	convert.TakeNumbers(&config, numbers(r))
	r.Stop = convert.Strings(config.Take("stopSequences"))
	o.SetRest("inferenceConfig", config)
	tools := o.TakeObject("toolConfig")
	for _, t := range wire.Objects(tools.Get("tools")) {
		spec := t.Object("toolSpec")
		if spec == nil {
			r.Tools = append(r.Tools, adapters.Tool{Other: true, Extra: adapters.ExtraOf(Name, t)})
			continue
		}
		r.Tools = append(
			r.Tools,
			adapters.Tool{Name: spec.String("name"), Description: spec.String("description"), Parameters: spec.Object("inputSchema").Get("json")},
		)
	}
	switch choice := tools.Object("toolChoice"); {
	case choice.Has("tool"):
		r.ToolChoice = adapters.ToolChoice{Mode: adapters.ToolNamed, Name: choice.Object("tool").String("name")}
	case choice.Has("any"):
		r.ToolChoice.Mode = adapters.ToolRequired
	case choice.Has("auto"):
		r.ToolChoice.Mode = adapters.ToolAuto
	}
	r.Extra = adapters.ExtraOf(Name, o)
	return r, nil
}

// EncodeRequest writes a request.
func (codec) EncodeRequest(r *adapters.Request) (wire.Object, error) {
	var o wire.Object
	var messages [][]byte
	system, turns := convert.Turns(r.Messages, nil)
	for _, t := range turns {
		if blocks := encodeBlocks(t.Blocks); len(blocks) > 0 {
			var m wire.Object
			m.SetString("role", string(t.Role))
			m.SetList("content", blocks)
			messages = append(messages, m.Bytes())
		}
	}
	o.SetList("messages", messages)
	if system != nil {
		o.SetList("system", encodeBlocks(system))
	}
	var config wire.Object
	if r.MaxTokens > 0 {
		config.SetInt("maxTokens", r.MaxTokens)
	}
	convert.SetStrings(&config, "stopSequences", r.Stop)
	convert.SetNumbers(&config, numbers(r))
	o.SetRest("inferenceConfig", config)
	if tools := encodeTools(r); tools != nil {
		o.SetObject("toolConfig", tools)
	}
	o.Merge(convert.Own(r.Extra, Name))
	return o, nil
}

// encodeTools writes the tools; a choice of "none" cannot be said.
func encodeTools(r *adapters.Request) wire.Object {
	var list [][]byte
	for i := range r.Tools {
		t := &r.Tools[i]
		if t.Other {
			if own := convert.Own(t.Extra, Name); own != nil {
				list = append(list, own.Bytes())
			}
			continue
		}
		var o, spec, schema wire.Object
		spec.SetString("name", t.Name)
		spec.SetText("description", t.Description)
		schema.Set("json", convert.Schema(t, convert.EmptySchema))
		spec.SetObject("inputSchema", schema)
		o.SetObject("toolSpec", spec)
		list = append(list, o.Bytes())
	}
	if list == nil {
		return nil
	}
	var o, choice, name wire.Object
	o.SetList("tools", list)
	switch r.ToolChoice.Mode {
	case adapters.ToolAuto:
		choice.SetObject("auto", nil)
	case adapters.ToolRequired:
		choice.SetObject("any", nil)
	case adapters.ToolNamed:
		name.SetString("name", r.ToolChoice.Name)
		choice.SetObject("tool", name)
	}
	if choice != nil {
		o.SetObject("toolChoice", choice)
	}
	return o
}
