package openai

import (
	"strings"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/internal/convert"
	"github.com/callwright/callwright/internal/wire"
)

// responsesNumbers are the settings that are numbers.
func responsesNumbers(r *adapters.Request) []convert.Number {
	return []convert.Number{
		{Key: "temperature", Value: &r.Temperature},
		{Key: "top_p", Value: &r.TopP},
	}
}

// between stands between the name of a namespace and that of a tool in it.
const between = "__"

// withoutNamespace is the name of a tool within its namespace.
func withoutNamespace(name, namespace string) string {
	if namespace == "" {
		return name
	}
	return strings.TrimPrefix(name, namespace+between)
}

// encodeResponsesTools writes tools, those of a namespace together.
func encodeResponsesTools(r *adapters.Request) (list [][]byte) {
	for i := 0; i < len(r.Tools); i++ {
		name := r.Tools[i].Namespace
		if name == "" {
			if o := encodeResponsesTool(&r.Tools[i], r.Format == ResponsesName); o != nil {
				list = append(list, o.Bytes())
			}
			continue
		}
		var group wire.Object
		var inner [][]byte
		group.SetString("type", "namespace")
		group.SetString("name", name)
		for ; i < len(r.Tools) && r.Tools[i].Namespace == name; i++ {
			t := r.Tools[i]
			t.Name = withoutNamespace(t.Name, name)
			if o := encodeResponsesTool(&t, r.Format == ResponsesName); o != nil {
				inner = append(inner, o.Bytes())
			}
		}
		i--
		group.SetList("tools", inner)
		list = append(list, group.Bytes())
	}
	return list
}

// DecodeRequest reads a request.
func (responses) DecodeRequest(o wire.Object) (*adapters.Request, error) {
	r := &adapters.Request{
		Model: o.TakeString("model"), MaxTokens: o.TakeInt("max_output_tokens"),
		Stream: o.Bool("stream"), IncludeUsage: true, User: o.TakeString("user"),
	}
	convert.TakeNumbers(&o, responsesNumbers(r))
	o.Take("stream")
	if s := o.TakeString("instructions"); s != "" {
		r.Messages = append(
			r.Messages,
			adapters.Message{Role: adapters.RoleSystem, NativeName: "instructions", Blocks: []adapters.Block{{Type: adapters.BlockText, Text: s}}},
		)
	}
	raw := o.Take("input")
	if s, ok := wire.String(raw); ok {
		r.Messages = append(r.Messages, adapters.Message{Role: adapters.RoleUser, Blocks: []adapters.Block{{Type: adapters.BlockText, Text: s}}})
	}
	for _, item := range wire.Objects(raw) {
		addItem(r, item)
	}
	for _, t := range wire.Objects(o.Take("tools")) {
		if name := t.String("name"); t.String("type") == "namespace" && name != "" {
			for _, inner := range wire.Objects(t.Get("tools")) {
				tool := decodeResponsesTool(inner)
				tool.Name, tool.Namespace = name+between+tool.Name, name
				r.Tools = append(r.Tools, tool)
			}
			continue
		}
		r.Tools = append(r.Tools, decodeResponsesTool(t))
	}
	r.ParallelCalls = o.TakeBool("parallel_tool_calls")
	r.ToolChoice = (chat{}).choiceOf(&o)
	if reasoning := o.TakeObject("reasoning"); reasoning != nil {
		r.Effort = reasoning.TakeString("effort")
		o.SetRest("reasoning", reasoning)
	}
	if text := o.TakeObject("text"); text != nil {
		f := text.Object("format")
		switch f.String("type") {
		case "json_object":
			r.Response = &adapters.ResponseFormat{}
			text.Take("format")
		case "json_schema":
			r.Response = &adapters.ResponseFormat{Name: f.TakeString("name"), Schema: f.Take("schema"), Strict: f.TakeBool("strict")}
			text.Take("format")
		}
		o.SetRest("text", text)
	}
	r.Extra = adapters.ExtraOf(ResponsesName, o)
	return r, nil
}

// addItem adds an item of the input to the conversation: what the assistant said
// and called in a row is one message.
func addItem(r *adapters.Request, o wire.Object) {
	kind, role := o.String("type"), o.String("role")
	if kind == "message" || kind == "" && role != "" {
		m := adapters.Message{Blocks: decodeParts(o.Get("content"))}
		switch role {
		case "assistant":
			all := append(wire.Object(nil), o...)
			all.SetString("type", "message")
			addAssistant(r, decodeItem(all))
			return
		case "system", "developer":
			m.Role = adapters.RoleSystem
			if m.NativeName = role; role == "system" {
				m.NativeName = ""
			}
		default:
			m.Role = adapters.RoleUser
		}
		r.Messages = append(r.Messages, m)
		return
	}
	blocks := decodeItem(o)
	if blocks[0].Result != nil {
		r.Messages = append(r.Messages, adapters.Message{Role: adapters.RoleTool, Blocks: blocks})
		return
	}
	addAssistant(r, blocks)
}

func addAssistant(r *adapters.Request, blocks []adapters.Block) {
	if last := len(r.Messages) - 1; last >= 0 && r.Messages[last].Role == adapters.RoleAssistant {
		r.Messages[last].Blocks = append(r.Messages[last].Blocks, blocks...)
		return
	}
	r.Messages = append(r.Messages, adapters.Message{Role: adapters.RoleAssistant, Blocks: blocks})
}

func decodeResponsesTool(t wire.Object) adapters.Tool {
	switch t.String("type") {
	case "function":
		out := (chat{}).function(t)
		rest := wire.Object(out.Extra.Members)
		rest.Take("type")
		out.Extra = adapters.ExtraOf(ResponsesName, rest)
		return out
	case "custom":
		out := adapters.Tool{Name: t.TakeString("name"), Description: t.TakeString("description"), Custom: true}
		t.Take("type")
		out.Extra = adapters.ExtraOf(ResponsesName, t)
		return out
	}
	return adapters.Tool{Name: t.String("name"), Other: true, Extra: adapters.ExtraOf(ResponsesName, t)}
}

// EncodeRequest writes a request.
func (responses) EncodeRequest(r *adapters.Request) (wire.Object, error) {
	var o wire.Object
	o.SetString("model", r.Model)
	var items [][]byte
	for i := range r.Messages {
		m := &r.Messages[i]
		if i == 0 && m.Role == adapters.RoleSystem && (m.NativeName == "instructions" || r.Format != ResponsesName) {
			o.SetString("instructions", m.Text())
			continue
		}
		items = append(items, encodeTurn(m)...)
	}
	o.SetList("input", items)
	if tools := encodeResponsesTools(r); tools != nil {
		o.SetList("tools", tools)
	}
	switch r.ToolChoice.Mode {
	case adapters.ToolAuto, adapters.ToolNone, adapters.ToolRequired:
		o.SetString("tool_choice", string(r.ToolChoice.Mode))
	case adapters.ToolNamed:
		var choice wire.Object
		choice.SetString("type", "function")
		for i := range r.Tools {
			if r.Tools[i].Name == r.ToolChoice.Name && r.Tools[i].Custom {
				choice.SetString("type", "custom")
			}
		}
		choice.SetString("name", r.ToolChoice.Name)
		o.SetObject("tool_choice", choice)
	}
	if r.ParallelCalls != nil {
		o.SetBool("parallel_tool_calls", *r.ParallelCalls)
	}
	if r.Stream {
		o.SetBool("stream", true)
	}
	if r.MaxTokens > 0 {
		o.SetInt("max_output_tokens", r.MaxTokens)
	}
	convert.SetNumbers(&o, responsesNumbers(r))
	o.SetText("user", r.User)
	switch r.Effort {
	case "", "on", "off":
	default:
		var reasoning wire.Object
		reasoning.SetString("effort", r.Effort)
		o.SetObject("reasoning", reasoning)
	}
	if f := r.Response; f != nil {
		var text, format wire.Object
		if f.Schema == nil {
			format.SetString("type", "json_object")
		} else {
			name := f.Name
			if name == "" {
				name = "answer"
			}
			format.SetString("type", "json_schema")
			format.SetString("name", name)
			format.Set("schema", f.Schema)
			if f.Strict != nil {
				format.SetBool("strict", *f.Strict)
			}
		}
		text.SetObject("format", format)
		o.SetObject("text", text)
	}
	o.Merge(convert.Own(r.Extra, ResponsesName))
	return o, nil
}

func encodeTurn(m *adapters.Message) [][]byte {
	switch m.Role {
	case adapters.RoleAssistant, adapters.RoleTool:
		return encodeItems(m.Blocks, false)
	}
	var o wire.Object
	role := "user"
	if m.Role == adapters.RoleSystem {
		role = "system"
		if m.NativeName == "developer" {
			role = m.NativeName
		}
	}
	o.SetString("type", "message")
	o.SetString("role", role)
	o.SetList("content", convert.Objects(m.Blocks, inputPart))
	return [][]byte{o.Bytes()}
}

func encodeResponsesTool(t *adapters.Tool, own bool) wire.Object {
	if t.Other {
		return convert.Own(t.Extra, ResponsesName)
	}
	var o wire.Object
	if t.Custom {
		o.SetString("type", "custom")
		o.SetString("name", t.Name)
		o.SetText("description", t.Description)
		o.Merge(convert.Own(t.Extra, ResponsesName))
		return o
	}
	o.SetString("type", "function")
	o.SetString("name", t.Name)
	o.SetText("description", t.Description)
	o.Set("parameters", convert.Schema(t, convert.EmptySchema))
	// The provider takes a schema as strict unless it is told otherwise.
	if !own || t.Strict != nil {
		o.SetBool("strict", t.Strict != nil && *t.Strict)
	}
	o.Merge(convert.Own(t.Extra, ResponsesName))
	return o
}
