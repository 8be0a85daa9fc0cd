package openai

import (
	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/internal/convert"
	"github.com/callwright/callwright/internal/wire"
)

// DecodeRequest reads a request.
func (c chat) DecodeRequest(o wire.Object) (*adapters.Request, error) {
	r := &adapters.Request{
		Model: o.TakeString("model"), Choices: o.TakeInt("n"), Effort: o.TakeString("reasoning_effort"),
		User: o.TakeString("user"), Stop: convert.Strings(o.Take("stop")),
	}
	convert.TakeNumbers(&o, c.numbers(r))
	r.Stream = o.Bool("stream")
	o.Take("stream")
	if options := o.TakeObject("stream_options"); options != nil {
		r.IncludeUsage = options.Bool("include_usage")
		if options.Take("include_usage"); len(options) > 0 {
			o.SetObject("stream_options", options)
		}
	}
	r.ParallelCalls = o.TakeBool("parallel_tool_calls")
	if o.Has("max_completion_tokens") { // stays as a mark of which word was used
		r.MaxTokens = o.Int("max_completion_tokens")
	} else {
		r.MaxTokens = o.TakeInt("max_tokens")
	}
	for _, e := range o.TakeList("messages") {
		if m, ok := wire.AsObject(e); ok {
			r.Messages = append(r.Messages, c.requestMessage(m))
		}
	}
	if o.Has("functions") && !o.Has("tools") {
		r.CallNativeName = functionCall
	}
	for _, e := range o.TakeList("tools") {
		if t, ok := wire.AsObject(e); ok {
			r.Tools = append(r.Tools, c.tool(t))
		}
	}
	for _, e := range o.TakeList("functions") {
		if f, ok := wire.AsObject(e); ok {
			r.Tools = append(r.Tools, c.function(f))
		}
	}
	r.ToolChoice = c.choiceOf(&o)
	r.Response = c.responseFormat(&o)
	r.Extra = adapters.ExtraOf(c.Name, o)
	return r, nil
}

// numbers are the settings that are numbers.
func (c chat) numbers(r *adapters.Request) []convert.Number {
	return []convert.Number{
		{Key: "top_k", Value: &r.TopK},
		{Key: "temperature", Value: &r.Temperature},
		{Key: "top_p", Value: &r.TopP},
		{Key: c.seed(), Value: &r.Seed},
		{Key: "frequency_penalty", Value: &r.FrequencyPenalty},
		{Key: "presence_penalty", Value: &r.PresencePenalty},
	}
}

func (c chat) seed() string {
	if c.Mistral {
		return "random_seed"
	}
	return "seed"
}

func (c chat) requestMessage(m wire.Object) adapters.Message {
	out := adapters.Message{Name: m.TakeString("name")}
	switch role := m.TakeString("role"); role {
	case "system":
		out.Role = adapters.RoleSystem
	case "developer":
		out.Role, out.NativeName = adapters.RoleSystem, role
	case "assistant":
		out.Role = adapters.RoleAssistant
		out.Blocks = c.blocks(&m)
	case "tool", "function":
		out.Role = adapters.RoleTool
		if role == "function" {
			out.NativeName = role
		}
		result := &adapters.ToolResult{CallID: m.TakeString("tool_call_id"), Name: out.Name}
		out.Name = ""
		convert.SetResult(result, c.content(m.Take("content")))
		out.Blocks = []adapters.Block{{Type: adapters.BlockResult, Result: result}}
	default:
		out.Role = adapters.RoleUser
	}
	if out.Blocks == nil {
		out.Blocks = c.content(m.Take("content"))
	}
	out.Extra = adapters.ExtraOf(c.Name, m)
	return out
}

func (c chat) tool(t wire.Object) adapters.Tool {
	all := append(wire.Object(nil), t...)
	switch t.TakeString("type") {
	case "function", "":
		f := t.TakeObject("function")
		if f == nil {
			break
		}
		out := c.function(f)
		if len(t) > 0 {
			out.Extra = adapters.Extra{Format: c.Name, Members: append(out.Extra.Members, wire.Member{Key: outside, Value: t.Bytes()})}
		}
		return out
	case "custom":
		f := t.TakeObject("custom")
		return adapters.Tool{
			Name: f.TakeString("name"), Description: f.TakeString("description"), Custom: true, Extra: adapters.ExtraOf(c.Name, f),
		}
	}
	return adapters.Tool{Name: all.String("name"), Other: true, Extra: adapters.ExtraOf(c.Name, all)}
}

// outside is where the members that stand beside "function" are kept.
const outside = "function:outside"

func (c chat) function(f wire.Object) adapters.Tool {
	t := adapters.Tool{Name: f.TakeString("name"), Description: f.TakeString("description")}
	if f.Has("parameters") {
		t.Parameters = f.Take("parameters")
	}
	t.Strict = f.TakeBool("strict")
	t.Extra = adapters.ExtraOf(c.Name, f)
	return t
}

func (c chat) choiceOf(o *wire.Object) adapters.ToolChoice {
	raw := o.Get("tool_choice")
	if raw == nil {
		raw = o.Take(functionCall)
	}
	if s, ok := wire.String(raw); ok {
		o.Take("tool_choice")
		switch s {
		case "none":
			return adapters.ToolChoice{Mode: adapters.ToolNone}
		case "required", "any":
			return adapters.ToolChoice{Mode: adapters.ToolRequired}
		}
		return adapters.ToolChoice{Mode: adapters.ToolAuto}
	}
	choice, _ := wire.AsObject(raw)
	for _, k := range []string{"function", "custom"} {
		if name := choice.Object(k).String("name"); name != "" {
			o.Take("tool_choice")
			return adapters.ToolChoice{Mode: adapters.ToolNamed, Name: name}
		}
	}
	if name := choice.String("name"); name != "" {
		o.Take("tool_choice")
		return adapters.ToolChoice{Mode: adapters.ToolNamed, Name: name}
	}
	return adapters.ToolChoice{}
}

func (c chat) responseFormat(o *wire.Object) *adapters.ResponseFormat {
	f := o.Object("response_format")
	switch f.String("type") {
	case "json_object":
		o.Take("response_format")
		return &adapters.ResponseFormat{}
	case "json_schema":
		o.Take("response_format")
		s := f.TakeObject("json_schema")
		out := &adapters.ResponseFormat{Name: s.TakeString("name"), Schema: s.Take("schema")}
		out.Strict = s.TakeBool("strict")
		out.Extra = adapters.ExtraOf(c.Name, s)
		return out
	}
	return nil
}

// EncodeRequest writes a request.
func (c chat) EncodeRequest(r *adapters.Request) (wire.Object, error) {
	var o wire.Object
	o.SetString("model", r.Model)
	var messages [][]byte
	for i := range r.Messages {
		messages = append(messages, c.appendMessage(&r.Messages[i])...)
	}
	o.SetList("messages", messages)
	if tools := convert.Objects(r.Tools, c.appendTool); tools != nil {
		o.SetList("tools", tools)
	}
	switch r.ToolChoice.Mode {
	case adapters.ToolAuto, adapters.ToolNone:
		o.SetString("tool_choice", string(r.ToolChoice.Mode))
	case adapters.ToolRequired:
		if c.Mistral {
			o.SetString("tool_choice", "any")
		} else {
			o.SetString("tool_choice", "required")
		}
	case adapters.ToolNamed:
		kind := "function"
		for i := range r.Tools {
			if r.Tools[i].Name == r.ToolChoice.Name && r.Tools[i].Custom && c.Carries.Custom {
				kind = "custom"
			}
		}
		var choice, name wire.Object
		name.SetString("name", r.ToolChoice.Name)
		choice.SetString("type", kind)
		choice.SetObject(kind, name)
		o.SetObject("tool_choice", choice)
	}
	if r.ParallelCalls != nil {
		o.SetBool("parallel_tool_calls", *r.ParallelCalls)
	}
	if r.Stream {
		o.SetBool("stream", true)
		if r.IncludeUsage && !c.Mistral {
			var options wire.Object
			options.SetBool("include_usage", true)
			o.SetObject("stream_options", options)
		}
	}
	extra := convert.Own(r.Extra, c.Name)
	if r.MaxTokens > 0 {
		if extra.Has("max_completion_tokens") {
			o.SetInt("max_completion_tokens", r.MaxTokens)
		} else {
			o.SetInt("max_tokens", r.MaxTokens)
		}
	}
	numbers := c.numbers(r)
	if r.Extra.Format != c.Name { // top_k is an extension of some servers
		numbers = numbers[1:]
	}
	convert.SetNumbers(&o, numbers)
	if r.Choices > 0 {
		o.SetInt("n", r.Choices)
	}
	convert.SetStrings(&o, "stop", r.Stop)
	if f := r.Response; f != nil {
		o.SetObject("response_format", c.appendResponseFormat(f))
	}
	if r.Effort != "" && r.Effort != "on" && r.Effort != "off" && !c.Mistral {
		o.SetString("reasoning_effort", r.Effort)
	}
	if !c.Mistral {
		o.SetText("user", r.User)
	}
	o.Merge(extra)
	return o, nil
}

func (c chat) appendResponseFormat(f *adapters.ResponseFormat) wire.Object {
	var o wire.Object
	if f.Schema == nil {
		o.SetString("type", "json_object")
		return o
	}
	var s wire.Object
	name := f.Name
	if name == "" {
		name = "answer"
	}
	s.SetString("name", name)
	s.Set("schema", f.Schema)
	if f.Strict != nil {
		s.SetBool("strict", *f.Strict)
	}
	s.Merge(convert.Own(f.Extra, c.Name))
	o.SetString("type", "json_schema")
	o.SetObject("json_schema", s)
	return o
}

func (c chat) appendTool(t *adapters.Tool) wire.Object {
	if t.Other {
		return convert.Own(t.Extra, c.Name)
	}
	var o, f wire.Object
	f.SetString("name", t.Name)
	f.SetText("description", t.Description)
	extra := append(wire.Object(nil), convert.Own(t.Extra, c.Name)...)
	beside, _ := wire.AsObject(extra.Take(outside))
	if t.Custom && c.Carries.Custom {
		f.Merge(extra)
		o.SetString("type", "custom")
		o.SetObject("custom", f)
		return o
	}
	f.Set("parameters", convert.Schema(t, ""))
	if t.Strict != nil {
		f.SetBool("strict", *t.Strict)
	}
	f.Merge(extra)
	o.SetString("type", "function")
	o.SetObject("function", f)
	o.Merge(beside)
	return o
}

// appendMessage writes a message: one of a tool for each of its results.
func (c chat) appendMessage(m *adapters.Message) [][]byte {
	var o wire.Object
	switch m.Role {
	case adapters.RoleAssistant:
		o.SetString("role", "assistant")
		o.SetText("name", m.Name)
		message, _ := c.message(m.Blocks)
		o.Merge(message)
		o.Merge(convert.Own(m.Extra, c.Name))
		return [][]byte{o.Bytes()}
	case adapters.RoleTool:
		var out [][]byte
		for i := range m.Blocks {
			if r := m.Blocks[i].Result; r != nil {
				out = append(out, c.appendResult(m, r).Bytes())
			}
		}
		return out
	case adapters.RoleSystem:
		role := "system"
		if m.NativeName == "developer" {
			role = m.NativeName
		}
		o.SetString("role", role)
	default:
		o.SetString("role", "user")
	}
	o.SetText("name", m.Name)
	o.Set("content", c.appendContent(m.Blocks))
	o.Merge(convert.Own(m.Extra, c.Name))
	return [][]byte{o.Bytes()}
}

func (c chat) appendResult(m *adapters.Message, r *adapters.ToolResult) wire.Object {
	var o wire.Object
	if m.NativeName == "function" {
		o.SetString("role", "function")
		o.SetString("name", r.Name)
	} else {
		o.SetString("role", "tool")
		o.SetString("tool_call_id", c.IDs.Fit(r.CallID))
		if c.Mistral {
			o.SetText("name", r.Name)
		}
	}
	o.SetString("content", convert.ResultText(r))
	o.Merge(convert.Own(m.Extra, c.Name))
	return o
}

// appendContent writes text alone as a string, and all else as a list.
func (c chat) appendContent(blocks []adapters.Block) []byte {
	if len(blocks) == 0 {
		return []byte(`""`)
	}
	if len(blocks) == 1 && blocks[0].Type == adapters.BlockText && len(convert.Own(blocks[0].Extra, c.Name)) == 0 {
		return wire.Quote(blocks[0].Text)
	}
	var parts [][]byte
	for i := range blocks {
		b := &blocks[i]
		switch b.Type {
		case adapters.BlockText, adapters.BlockMedia, adapters.BlockRefusal:
			parts = append(parts, c.appendPart(b).Bytes())
		case adapters.BlockOther:
			if own := convert.Own(b.Extra, c.Name); own != nil {
				parts = append(parts, own.Bytes())
			}
		}
	}
	return wire.List(parts)
}
