package gemini

import (
	"strings"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/internal/convert"
	"github.com/callwright/callwright/internal/wire"
)

// takeEither takes a member that is written in either of two ways.
func takeEither(o *wire.Object, a, b string) []byte {
	if v := o.Take(a); v != nil {
		return v
	}
	return o.Take(b)
}

// DecodeRequest reads a request.
func (codec) DecodeRequest(o wire.Object) (*adapters.Request, error) {
	r := &adapters.Request{Model: strings.TrimPrefix(o.TakeString("model"), "models/"), IncludeUsage: true}
	if system, ok := wire.AsObject(takeEither(&o, "systemInstruction", "system_instruction")); ok {
		if blocks := decodeParts(system.Get("parts")); len(blocks) > 0 {
			r.Messages = append(r.Messages, adapters.Message{Role: adapters.RoleSystem, Blocks: blocks})
		}
	}
	for _, c := range wire.Objects(o.Take("contents")) {
		r.Messages = append(r.Messages, decodeContent(c)...)
	}
	for _, t := range wire.Objects(o.Take("tools")) {
		declarations := takeEither(&t, "functionDeclarations", "function_declarations")
		for _, f := range wire.Objects(declarations) {
			r.Tools = append(r.Tools, decodeTool(f))
		}
		if len(t) > 0 {
			r.Tools = append(r.Tools, adapters.Tool{Name: t[0].Key, Other: true, Extra: adapters.ExtraOf(Name, t)})
		}
	}
	decodeToolConfig(&o, r)
	config, _ := wire.AsObject(takeEither(&o, "generationConfig", "generation_config"))
	decodeConfig(&config, r)
	o.SetRest("generationConfig", config)
	r.Extra = adapters.ExtraOf(Name, o)
	return r, nil
}

func decodeContent(c wire.Object) []adapters.Message {
	role := adapters.RoleUser
	if c.TakeString("role") == "model" {
		role = adapters.RoleAssistant
	}
	blocks := joined(decodeParts(c.Take("parts")))
	return convert.Messages(role, blocks, adapters.ExtraOf(Name, c))
}

func decodeTool(f wire.Object) adapters.Tool {
	t := adapters.Tool{Name: f.TakeString("name"), Description: f.TakeString("description")}
	for _, k := range []string{"parametersJsonSchema", "parameters_json_schema", "parameters"} {
		if raw := f.Take(k); !wire.IsNull(raw) && t.Parameters == nil {
			t.Parameters = raw
			if k == "parameters" {
				t.Parameters = lowerTypes(raw, 0)
			}
		}
	}
	t.Extra = adapters.ExtraOf(Name, f)
	return t
}

// maxSchemaDepth is how deep types are made lower case.
const maxSchemaDepth = 64

// lowerTypes writes the types of Gemini's own schemas, "STRING", as JSON Schema does.
func lowerTypes(raw []byte, depth int) []byte {
	o, ok := wire.AsObject(raw)
	if !ok || depth > maxSchemaDepth {
		return raw
	}
	for i := range o {
		m := &o[i]
		switch m.Key {
		case "type":
			if s, ok := wire.String(m.Value); ok {
				m.Value = wire.Quote(strings.ToLower(s))
			}
		case "items", "additionalProperties":
			m.Value = lowerTypes(m.Value, depth+1)
		case "properties", "defs", "$defs":
			if inner, ok := wire.AsObject(m.Value); ok {
				for j := range inner {
					inner[j].Value = lowerTypes(inner[j].Value, depth+1)
				}
				m.Value = inner.Bytes()
			}
		case "anyOf":
			list := wire.AsList(m.Value)
			for j := range list {
				list[j] = lowerTypes(list[j], depth+1)
			}
			if list != nil {
				m.Value = wire.List(list)
			}
		}
	}
	return o.Bytes()
}

func decodeToolConfig(o *wire.Object, r *adapters.Request) {
	config, _ := wire.AsObject(takeEither(o, "toolConfig", "tool_config"))
	calling, _ := wire.AsObject(takeEither(&config, "functionCallingConfig", "function_calling_config"))
	names := convert.Strings(calling.Take("allowedFunctionNames"))
	switch mode := strings.ToUpper(calling.TakeString("mode")); {
	case mode == "ANY" && len(names) == 1:
		r.ToolChoice = adapters.ToolChoice{Mode: adapters.ToolNamed, Name: names[0]}
	case mode == "ANY":
		r.ToolChoice.Mode = adapters.ToolRequired
		if len(names) > 1 {
			calling.Set("allowedFunctionNames", convert.QuoteAll(names))
		}
	case mode == "NONE":
		r.ToolChoice.Mode = adapters.ToolNone
	case mode != "":
		r.ToolChoice.Mode = adapters.ToolAuto
	}
	config.SetRest("functionCallingConfig", calling)
	o.SetRest("toolConfig", config)
}

// numbers are the settings that are numbers.
func numbers(r *adapters.Request) []convert.Number {
	return []convert.Number{
		{Key: "temperature", Value: &r.Temperature},
		{Key: "topP", Value: &r.TopP},
		{Key: "topK", Value: &r.TopK},
		{Key: "seed", Value: &r.Seed},
		{Key: "frequencyPenalty", Value: &r.FrequencyPenalty},
		{Key: "presencePenalty", Value: &r.PresencePenalty},
	}
}

func decodeConfig(c *wire.Object, r *adapters.Request) {
	r.MaxTokens = c.TakeInt("maxOutputTokens")
	r.Choices = c.TakeInt("candidateCount")
	convert.TakeNumbers(c, numbers(r))
	r.Stop = convert.Strings(c.Take("stopSequences"))
	if c.String("responseMimeType") == "application/json" {
		c.Take("responseMimeType")
		r.Response = &adapters.ResponseFormat{}
		for _, k := range []string{"responseJsonSchema", "responseSchema"} {
			if raw := c.Take(k); !wire.IsNull(raw) && r.Response.Schema == nil {
				r.Response.Schema = raw
				if k == "responseSchema" {
					r.Response.Schema = lowerTypes(raw, 0)
				}
			}
		}
	}
	thinking := c.TakeObject("thinkingConfig")
	if raw := thinking.Take("thinkingBudget"); raw != nil {
		if n, _ := wire.Int(raw); n > 0 {
			r.ReasoningTokens, r.Effort = n, "on"
		} else if n == 0 {
			r.Effort = "off"
		} else {
			r.Effort = "on"
		}
	}
	if level := thinking.TakeString("thinkingLevel"); level != "" {
		r.Effort = strings.ToLower(level)
	}
	c.SetRest("thinkingConfig", thinking)
}

// EncodeRequest writes a request.
func (codec) EncodeRequest(r *adapters.Request) (wire.Object, error) {
	var o wire.Object
	var contents [][]byte
	// The results of one turn's calls stand together, and by themselves.
	system, turns := convert.Turns(r.Messages, func(before *convert.Turn, m *adapters.Message) bool {
		return (m.Role == adapters.RoleTool) != convert.Results(before.Blocks)
	})
	for _, t := range turns {
		if parts := encodeParts(t.Blocks); len(parts) > 0 {
			var c wire.Object
			c.SetString("role", map[adapters.Role]string{adapters.RoleUser: "user", adapters.RoleAssistant: "model"}[t.Role])
			c.SetList("parts", parts)
			contents = append(contents, c.Bytes())
		}
	}
	o.SetList("contents", contents)
	if system != nil {
		var s wire.Object
		s.SetList("parts", encodeParts(system))
		o.SetObject("systemInstruction", s)
	}
	var tools, declarations [][]byte
	for i := range r.Tools {
		t := &r.Tools[i]
		if t.Other {
			if own := convert.Own(t.Extra, Name); own != nil {
				tools = append(tools, own.Bytes())
			}
			continue
		}
		declarations = append(declarations, encodeTool(t).Bytes())
	}
	if declarations != nil {
		var t wire.Object
		t.SetList("functionDeclarations", declarations)
		tools = append([][]byte{t.Bytes()}, tools...)
	}
	if tools != nil {
		o.SetList("tools", tools)
	}
	encodeToolConfig(&o, r)
	if config := encodeConfig(r); len(config) > 0 {
		o.SetObject("generationConfig", config)
	}
	o.Merge(convert.Own(r.Extra, Name))
	return o, nil
}

func encodeTool(t *adapters.Tool) wire.Object {
	var f wire.Object
	f.SetString("name", t.Name)
	f.SetText("description", t.Description)
	f.Set("parametersJsonSchema", convert.Schema(t, ""))
	f.Merge(convert.Own(t.Extra, Name))
	return f
}

func encodeToolConfig(o *wire.Object, r *adapters.Request) {
	var calling, config wire.Object
	switch r.ToolChoice.Mode {
	case adapters.ToolAuto:
		calling.SetString("mode", "AUTO")
	case adapters.ToolNone:
		calling.SetString("mode", "NONE")
	case adapters.ToolRequired:
		calling.SetString("mode", "ANY")
	case adapters.ToolNamed:
		calling.SetString("mode", "ANY")
		calling.Set("allowedFunctionNames", convert.QuoteAll([]string{r.ToolChoice.Name}))
	default:
		return
	}
	config.SetObject("functionCallingConfig", calling)
	o.SetObject("toolConfig", config)
}

func encodeConfig(r *adapters.Request) wire.Object {
	var c wire.Object
	convert.SetNumbers(&c, numbers(r))
	if r.MaxTokens > 0 {
		c.SetInt("maxOutputTokens", r.MaxTokens)
	}
	if r.Choices > 0 {
		c.SetInt("candidateCount", r.Choices)
	}
	convert.SetStrings(&c, "stopSequences", r.Stop)
	if f := r.Response; f != nil {
		c.SetString("responseMimeType", "application/json")
		c.Set("responseJsonSchema", f.Schema)
	}
	var thinking wire.Object
	switch {
	case r.ReasoningTokens > 0:
		thinking.SetInt("thinkingBudget", r.ReasoningTokens)
	case r.Effort == "off", r.Effort == "none":
		thinking.SetInt("thinkingBudget", 0)
	case r.Effort == "on":
		thinking.SetInt("thinkingBudget", -1)
	case r.Effort != "":
		thinking.SetString("thinkingLevel", r.Effort)
	}
	if thinking != nil {
		c.SetObject("thinkingConfig", thinking)
	}
	return c
}
