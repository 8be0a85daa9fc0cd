package anthropic

import (
	"encoding/json"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/internal/convert"
	"github.com/callwright/callwright/internal/wire"
)

// DefaultMaxTokens is what a request asks for that does not say how long the
// answer may be: the provider wants a bound. What is known of models sets a
// better one; see [adapters.ModelCapabilities.Fit].
const DefaultMaxTokens = 8192

// numbers are the settings that are numbers.
func numbers(r *adapters.Request) []convert.Number {
	return []convert.Number{
		{Key: "temperature", Value: &r.Temperature},
		{Key: "top_p", Value: &r.TopP},
		{Key: "top_k", Value: &r.TopK},
	}
}

// DecodeRequest reads a request.
func (codec) DecodeRequest(o wire.Object) (*adapters.Request, error) {
	r := &adapters.Request{
		Model: o.TakeString("model"), MaxTokens: o.TakeInt("max_tokens"),
		Stop:   convert.Strings(o.Take("stop_sequences")),
		Stream: o.Bool("stream"), IncludeUsage: true,
	}
	convert.TakeNumbers(&o, numbers(r))
	o.Take("stream")
	if system := decodeContent(o.Take("system")); len(system) > 0 {
		r.Messages = append(r.Messages, adapters.Message{Role: adapters.RoleSystem, Blocks: system})
	}
	for _, m := range wire.Objects(o.Take("messages")) {
		r.Messages = append(r.Messages, decodeMessage(m)...)
	}
	for _, t := range wire.Objects(o.Take("tools")) {
		r.Tools = append(r.Tools, decodeTool(t))
	}
	if choice := o.TakeObject("tool_choice"); choice != nil {
		switch choice.String("type") {
		case "auto":
			r.ToolChoice.Mode = adapters.ToolAuto
		case "any":
			r.ToolChoice.Mode = adapters.ToolRequired
		case "none":
			r.ToolChoice.Mode = adapters.ToolNone
		case "tool":
			r.ToolChoice = adapters.ToolChoice{Mode: adapters.ToolNamed, Name: choice.String("name")}
		}
		if disabled := choice.TakeBool("disable_parallel_tool_use"); disabled != nil {
			parallel := !*disabled
			r.ParallelCalls = &parallel
		}
	}
	if thinking := o.Object("thinking"); thinking != nil {
		switch thinking.String("type") {
		case "disabled":
			r.Effort = "off"
		case "enabled", "adaptive":
			r.Effort = "on"
			r.ReasoningTokens = thinking.Int("budget_tokens")
		}
		o.Take("thinking")
	}
	decodeOutputConfig(&o, r)
	if meta := o.TakeObject("metadata"); meta != nil {
		r.User = meta.TakeString("user_id")
		o.SetRest("metadata", meta)
	}
	r.Extra = adapters.ExtraOf(Name, o)
	return r, nil
}

// decodeOutputConfig reads the effort and the wanted format of the answer.
func decodeOutputConfig(o *wire.Object, r *adapters.Request) {
	config := o.TakeObject("output_config")
	if effort := config.TakeString("effort"); effort != "" {
		r.Effort = effort
	}
	format := config.TakeObject("format")
	if format == nil {
		format = o.TakeObject("output_format") // as the beta had it
	}
	if schema := format.Get("schema"); schema != nil {
		r.Response = &adapters.ResponseFormat{Schema: schema}
	}
	o.SetRest("output_config", config)
}

// decodeMessage reads a message. Results become messages of their own.
func decodeMessage(m wire.Object) []adapters.Message {
	role := adapters.RoleUser
	if m.TakeString("role") == "assistant" {
		role = adapters.RoleAssistant
	}
	blocks := decodeContent(m.Take("content"))
	return convert.Messages(role, blocks, adapters.ExtraOf(Name, m))
}

func decodeTool(t wire.Object) adapters.Tool {
	if kind := t.String("type"); kind != "" && kind != "custom" || !t.Has("input_schema") && !t.Has("description") {
		return adapters.Tool{Name: t.String("name"), Other: true, Extra: adapters.ExtraOf(Name, t)}
	}
	out := adapters.Tool{
		Name: t.TakeString("name"), Description: t.TakeString("description"), Parameters: t.Take("input_schema"), Strict: t.TakeBool("strict"),
	}
	out.Extra = adapters.ExtraOf(Name, t)
	return out
}

// EncodeRequest writes a request.
func (codec) EncodeRequest(r *adapters.Request) (wire.Object, error) {
	var o wire.Object
	o.SetString("model", r.Model)
	limit := r.MaxTokens
	if limit <= 0 {
		limit = max(DefaultMaxTokens, r.ReasoningTokens+1024)
	}
	o.SetInt("max_tokens", limit)
	system, messages := encodeMessages(r.Messages)
	if system != nil {
		o.Set("system", system)
	}
	o.SetList("messages", messages)
	if tools := convert.Objects(r.Tools, encodeTool); tools != nil {
		o.SetList("tools", tools)
	}
	if choice := encodeToolChoice(r); choice != nil {
		o.SetObject("tool_choice", choice)
	}
	if r.Stream {
		o.SetBool("stream", true)
	}
	convert.SetNumbers(&o, numbers(r))
	convert.SetStrings(&o, "stop_sequences", r.Stop)
	encodeThinking(&o, r)
	if r.User != "" {
		var meta wire.Object
		meta.SetString("user_id", r.User)
		o.SetObject("metadata", meta)
	}
	o.Merge(convert.Own(r.Extra, Name))
	return o, nil
}

func encodeThinking(o *wire.Object, r *adapters.Request) {
	var thinking, config wire.Object
	switch {
	case r.ReasoningTokens > 0:
		thinking.SetString("type", "enabled")
		thinking.SetInt("budget_tokens", r.ReasoningTokens)
	case r.Effort == "on":
		thinking.SetString("type", "adaptive")
	case r.Effort == "off", r.Effort == "none":
		thinking.SetString("type", "disabled")
	case r.Effort == "minimal":
		config.SetString("effort", "low")
	case r.Effort != "":
		config.SetString("effort", r.Effort)
	}
	if thinking != nil {
		o.SetObject("thinking", thinking)
	}
	if f := r.Response; f != nil && f.Schema != nil {
		var format wire.Object
		format.SetString("type", "json_schema")
		format.Set("schema", f.Schema)
		config.SetObject("format", format)
	}
	if config != nil {
		o.SetObject("output_config", config)
	}
}

func encodeToolChoice(r *adapters.Request) wire.Object {
	var o wire.Object
	switch r.ToolChoice.Mode {
	case adapters.ToolAuto:
		o.SetString("type", "auto")
	case adapters.ToolRequired:
		o.SetString("type", "any")
	case adapters.ToolNone:
		o.SetString("type", "none")
		return o
	case adapters.ToolNamed:
		o.SetString("type", "tool")
		o.SetString("name", r.ToolChoice.Name)
	default:
		if r.ParallelCalls == nil || *r.ParallelCalls || len(r.Tools) == 0 {
			return nil
		}
		o.SetString("type", "auto")
	}
	if r.ParallelCalls != nil {
		o.SetBool("disable_parallel_tool_use", !*r.ParallelCalls)
	}
	return o
}

func encodeTool(t *adapters.Tool) wire.Object {
	if t.Other {
		return convert.Own(t.Extra, Name)
	}
	var o wire.Object
	o.SetString("name", t.Name)
	o.SetText("description", t.Description)
	o.Set("input_schema", schemaOf(t))
	if t.Strict != nil {
		o.SetBool("strict", *t.Strict)
	}
	o.Merge(convert.Own(t.Extra, Name))
	return o
}

// schemaOf is the schema of a tool's parameters: the provider wants one that says
// that they are an object.
func schemaOf(t *adapters.Tool) json.RawMessage {
	schema := convert.Schema(t, convert.EmptySchema)
	s, ok := wire.AsObject(schema)
	if !ok {
		return json.RawMessage(convert.EmptySchema)
	}
	if !s.Has("type") {
		var typed wire.Object
		typed.SetString("type", "object")
		typed.Merge(s)
		return typed.Bytes()
	}
	return schema
}

// encodeMessages writes the system's words apart and the rest in turns of the
// user and the assistant: results are the user's, before what he says himself.
func encodeMessages(messages []adapters.Message) (system []byte, out [][]byte) {
	systemBlocks, turns := convert.Turns(messages, func(before *convert.Turn, m *adapters.Message) bool {
		return m.Role == adapters.RoleTool && !convert.Results(before.Blocks)
	})
	for _, t := range turns {
		blocks := encodeBlocks(t.Blocks)
		if len(blocks) == 0 {
			continue
		}
		var m wire.Object
		m.SetString("role", string(t.Role))
		if len(t.Blocks) == 1 && t.Blocks[0].Type == adapters.BlockText && len(convert.Own(t.Blocks[0].Extra, Name)) == 0 {
			m.SetString("content", t.Blocks[0].Text)
		} else {
			m.SetList("content", blocks)
		}
		for _, x := range t.Extras {
			m.Merge(convert.Own(x, Name))
		}
		out = append(out, m.Bytes())
	}
	switch {
	case len(systemBlocks) == 0:
	case len(systemBlocks) == 1 && len(convert.Own(systemBlocks[0].Extra, Name)) == 0:
		system = wire.Quote(systemBlocks[0].Text)
	default:
		system = wire.List(encodeBlocks(systemBlocks))
	}
	return system, out
}
