package ollama

import (
	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/internal/convert"
	"github.com/callwright/callwright/internal/wire"
)

// numbers are the settings that are numbers.
func numbers(r *adapters.Request) []convert.Number {
	return []convert.Number{
		{Key: "temperature", Value: &r.Temperature},
		{Key: "top_p", Value: &r.TopP},
		{Key: "top_k", Value: &r.TopK},
		{Key: "seed", Value: &r.Seed},
		{Key: "frequency_penalty", Value: &r.FrequencyPenalty},
		{Key: "presence_penalty", Value: &r.PresencePenalty},
	}
}

// takeCommon takes what requests of chat and generate have in common.
func takeCommon(o *wire.Object, r *adapters.Request) {
	r.Model = o.TakeString("model")
	r.Stream = string(o.Take("stream")) != "false" // it streams unless told not to
	r.IncludeUsage = true
	options := o.TakeObject("options")
	r.MaxTokens = max(options.TakeInt("num_predict"), 0)
	convert.TakeNumbers(&options, numbers(r))
	r.Stop = convert.Strings(options.Take("stop"))
	o.SetRest("options", options)
	switch raw := o.Take("format"); {
	case string(raw) == `"json"`:
		r.Response = &adapters.ResponseFormat{}
	case !wire.IsNull(raw) && string(raw) != `""`:
		r.Response = &adapters.ResponseFormat{Schema: raw}
	}
	switch raw := o.Take("think"); string(raw) {
	case "true":
		r.Effort = "on"
	case "false":
		r.Effort = "off"
	default:
		r.Effort, _ = wire.String(raw)
	}
}

// setCommon writes what requests of chat and generate have in common.
func setCommon(o *wire.Object, r *adapters.Request, name string) {
	o.SetBool("stream", r.Stream)
	var options wire.Object
	if r.MaxTokens > 0 {
		options.SetInt("num_predict", r.MaxTokens)
	}
	convert.SetNumbers(&options, numbers(r))
	convert.SetStrings(&options, "stop", r.Stop)
	o.SetRest("options", options)
	if f := r.Response; f != nil {
		if f.Schema != nil {
			o.Set("format", f.Schema)
		} else {
			o.SetString("format", "json")
		}
	}
	switch r.Effort {
	case "":
	case "on":
		o.SetBool("think", true)
	case "off", "none":
		o.SetBool("think", false)
	case "low", "medium", "high":
		o.SetString("think", r.Effort)
	default:
		o.SetBool("think", true)
	}
	o.Merge(convert.Own(r.Extra, name))
}

// DecodeRequest reads a request.
func (chat) DecodeRequest(o wire.Object) (*adapters.Request, error) {
	r := &adapters.Request{}
	takeCommon(&o, r)
	for _, m := range wire.Objects(o.Take("messages")) {
		r.Messages = append(r.Messages, decodeTurn(m))
	}
	for _, t := range wire.Objects(o.Take("tools")) {
		f := t.TakeObject("function")
		tool := adapters.Tool{Name: f.TakeString("name"), Description: f.TakeString("description")}
		if f.Has("parameters") {
			tool.Parameters = f.Take("parameters")
		}
		tool.Extra = adapters.ExtraOf(ChatName, f)
		r.Tools = append(r.Tools, tool)
	}
	r.Extra = adapters.ExtraOf(ChatName, o)
	return r, nil
}

func decodeTurn(m wire.Object) adapters.Message {
	var out adapters.Message
	switch m.TakeString("role") {
	case "system":
		out.Role = adapters.RoleSystem
	case "assistant":
		out.Role = adapters.RoleAssistant
	case "tool":
		out.Role = adapters.RoleTool
		result := &adapters.ToolResult{CallID: m.TakeString("tool_call_id"), Name: m.TakeString("tool_name"), Text: m.TakeString("content")}
		if result.Name == "" {
			result.Name = m.TakeString("name")
		}
		out.Blocks = []adapters.Block{{Type: adapters.BlockResult, Result: result}}
	default:
		out.Role = adapters.RoleUser
	}
	out.Blocks = append(out.Blocks, decodeMessage(&m, ChatName)...)
	out.Extra = adapters.ExtraOf(ChatName, m)
	return out
}

// EncodeRequest writes a request.
func (chat) EncodeRequest(r *adapters.Request) (wire.Object, error) {
	var o wire.Object
	o.SetString("model", r.Model)
	var messages [][]byte
	for i := range r.Messages {
		m := &r.Messages[i]
		if m.Role == adapters.RoleTool {
			for j := range m.Blocks {
				if result := m.Blocks[j].Result; result != nil {
					var t wire.Object
					t.SetString("role", "tool")
					t.SetString("content", convert.ResultText(result))
					t.SetText("tool_name", result.Name)
					t.SetText("tool_call_id", result.CallID)
					t.Merge(convert.Own(m.Extra, ChatName))
					messages = append(messages, t.Bytes())
				}
			}
			continue
		}
		turn := encodeMessage(string(m.Role), m.Blocks, ChatName)
		turn.Merge(convert.Own(m.Extra, ChatName))
		messages = append(messages, turn.Bytes())
	}
	o.SetList("messages", messages)
	if r.ToolChoice.Mode != adapters.ToolNone { // there is no other way to say it
		if tools := convert.Objects(r.Tools, encodeTool); tools != nil {
			o.SetList("tools", tools)
		}
	}
	setCommon(&o, r, ChatName)
	return o, nil
}

func encodeTool(t *adapters.Tool) wire.Object {
	if t.Other {
		return nil
	}
	var o, f wire.Object
	f.SetString("name", t.Name)
	f.SetText("description", t.Description)
	f.Set("parameters", convert.Schema(t, convert.EmptySchema))
	f.Merge(convert.Own(t.Extra, ChatName))
	o.SetString("type", "function")
	o.SetObject("function", f)
	return o
}
