package cohere

import (
	"strings"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/internal/convert"
	"github.com/callwright/callwright/internal/wire"
)

// numbers are the settings that are numbers.
func numbers(r *adapters.Request) []convert.Number {
	return []convert.Number{
		{Key: "temperature", Value: &r.Temperature},
		{Key: "p", Value: &r.TopP},
		{Key: "k", Value: &r.TopK},
		{Key: "seed", Value: &r.Seed},
		{Key: "frequency_penalty", Value: &r.FrequencyPenalty},
		{Key: "presence_penalty", Value: &r.PresencePenalty},
	}
}

// DecodeRequest reads a request.
func (codec) DecodeRequest(o wire.Object) (*adapters.Request, error) {
	r := &adapters.Request{
		Model: o.TakeString("model"), MaxTokens: o.TakeInt("max_tokens"),
		Stop: convert.Strings(o.Take("stop_sequences")), Stream: o.Bool("stream"), IncludeUsage: true,
	}
	convert.TakeNumbers(&o, numbers(r))
	o.Take("stream")
	for _, m := range wire.Objects(o.Take("messages")) {
		r.Messages = append(r.Messages, decodeTurn(m))
	}
	for _, t := range wire.Objects(o.Take("tools")) {
		f := t.Object("function")
		r.Tools = append(r.Tools, adapters.Tool{Name: f.String("name"), Description: f.String("description"), Parameters: f.Get("parameters")})
	}
	switch o.TakeString("tool_choice") {
	case "REQUIRED":
		r.ToolChoice.Mode = adapters.ToolRequired
	case "NONE":
		r.ToolChoice.Mode = adapters.ToolNone
	}
	if f := o.TakeObject("response_format"); f.String("type") == "json_object" {
		r.Response = &adapters.ResponseFormat{Schema: f.Get("json_schema")}
		if r.Response.Schema == nil {
			r.Response.Schema = f.Get("schema")
		}
	}
	thinking := o.TakeObject("thinking")
	switch thinking.String("type") {
	case "enabled":
		r.Effort = "on"
	case "disabled":
		r.Effort = "off"
	}
	r.ReasoningTokens = thinking.Int("token_budget")
	r.Extra = adapters.ExtraOf(Name, o)
	return r, nil
}

func decodeTurn(m wire.Object) adapters.Message {
	out := adapters.Message{Role: adapters.RoleUser}
	switch m.TakeString("role") {
	case "system", "developer":
		out.Role = adapters.RoleSystem
	case "assistant":
		out.Role = adapters.RoleAssistant
	case "tool":
		out.Role = adapters.RoleTool
		result := &adapters.ToolResult{CallID: m.TakeString("tool_call_id")}
		raw := m.Take("content")
		var text strings.Builder
		if s, ok := wire.String(raw); ok {
			text.WriteString(s)
		}
		for _, part := range wire.Objects(raw) {
			if document := part.Object("document"); document != nil {
				if data, ok := wire.String(document.Get("data")); ok {
					text.WriteString(data)
				} else {
					text.Write(document.Get("data"))
				}
				continue
			}
			text.WriteString(part.String("text"))
		}
		result.Text = text.String()
		out.Blocks = []adapters.Block{{Type: adapters.BlockResult, Result: result}}
		return out
	}
	out.Blocks = decodeMessage(&m)
	out.Extra = adapters.ExtraOf(Name, m)
	return out
}

// EncodeRequest writes a request.
func (codec) EncodeRequest(r *adapters.Request) (wire.Object, error) {
	var o wire.Object
	o.SetString("model", r.Model)
	var messages [][]byte
	for i := range r.Messages {
		messages = append(messages, encodeTurn(&r.Messages[i])...)
	}
	o.SetList("messages", messages)
	var tools [][]byte
	for i := range r.Tools {
		t := &r.Tools[i]
		if t.Other {
			continue
		}
		var tool, f wire.Object
		f.SetString("name", t.Name)
		f.SetText("description", t.Description)
		f.Set("parameters", convert.Schema(t, convert.EmptySchema))
		tool.SetString("type", "function")
		tool.SetObject("function", f)
		tools = append(tools, tool.Bytes())
	}
	if tools != nil {
		o.SetList("tools", tools)
	}
	switch r.ToolChoice.Mode {
	case adapters.ToolRequired, adapters.ToolNamed: // a tool cannot be named
		o.SetString("tool_choice", "REQUIRED")
	case adapters.ToolNone:
		o.SetString("tool_choice", "NONE")
	}
	o.SetBool("stream", r.Stream)
	if r.MaxTokens > 0 {
		o.SetInt("max_tokens", r.MaxTokens)
	}
	convert.SetNumbers(&o, numbers(r))
	convert.SetStrings(&o, "stop_sequences", r.Stop)
	if f := r.Response; f != nil {
		var format wire.Object
		format.SetString("type", "json_object")
		format.Set("json_schema", f.Schema)
		o.SetObject("response_format", format)
	}
	var thinking wire.Object
	switch {
	case r.ReasoningTokens > 0:
		thinking.SetString("type", "enabled")
		thinking.SetInt("token_budget", r.ReasoningTokens)
	case r.Effort == "off", r.Effort == "none":
		thinking.SetString("type", "disabled")
	case r.Effort != "":
		thinking.SetString("type", "enabled")
	}
	if thinking != nil {
		o.SetObject("thinking", thinking)
	}
	o.Merge(convert.Own(r.Extra, Name))
	return o, nil
}

func encodeTurn(m *adapters.Message) [][]byte {
	if m.Role == adapters.RoleTool {
		var out [][]byte
		for i := range m.Blocks {
			if result := m.Blocks[i].Result; result != nil {
				var o wire.Object
				o.SetString("role", "tool")
				o.SetString("tool_call_id", result.CallID)
				o.SetString("content", convert.ResultText(result))
				out = append(out, o.Bytes())
			}
		}
		return out
	}
	o := encodeMessage(string(m.Role), m.Blocks)
	if len(m.Blocks) == 1 && m.Blocks[0].Type == adapters.BlockText && len(convert.Own(m.Blocks[0].Extra, Name)) == 0 {
		o.SetString("content", m.Blocks[0].Text)
	}
	o.Merge(convert.Own(m.Extra, Name))
	return [][]byte{o.Bytes()}
}
