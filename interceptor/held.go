package interceptor

import (
	"bytes"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/ollama"
	"github.com/callwright/callwright/adapters/openai"
	"github.com/callwright/callwright/internal/wire"
)

// Bounds of the schema to which a required call is held. What is larger, or holds what
// servers' grammars do not know, is left to the parser, which checks by the full schema.
const (
	maxHeldTools  = 32
	maxHeldSchema = 16 << 10 // bytes
)

// heldToCall returns the request with which a model is asked for a required call: at once
// where the tools are emulated, or the server does not know a required choice (Ollama), else
// when it is asked again. The tools stand in the prompt, and the server holds the answer to the JSON of a call. It is
// nil where the server has no such constraint, or refused it. Servers that honor a required
// choice by themselves are asked as ever.
func (x *exchange) heldToCall() *adapters.Request {
	local := x.server == ollama.Chat || x.server == openai.Chat && !x.s.isAt("openai.com")
	if !x.mustCall() || !local || x.s.learned.lacksSchema(x.req.Model) {
		return nil
	}
	held := *x.emulated()
	held.Response = &adapters.ResponseFormat{Name: "call", Schema: callSchema(x.offered())}
	return &held
}

// callSchema is the schema of a call of one of some tools.
func callSchema(tools []adapters.Tool) []byte {
	var list, names [][]byte
	size := 0
	for i := range tools {
		if tools[i].Other {
			continue
		}
		definition := definitionOf(&tools[i])
		parameters := definition.Get("parameters")
		if parameters == nil || bytes.Contains(parameters, []byte(`"$ref"`)) || bytes.Contains(parameters, []byte(`"pattern"`)) {
			parameters = []byte(`{"type":"object"}`)
		}
		size += len(parameters)
		name := wire.Quote(tools[i].Name)
		names = append(names, name)
		list = append(list, callObject([][]byte{name}, parameters).Bytes())
	}
	switch {
	case len(list) == 1:
		return list[0]
	case len(list) > maxHeldTools || size > maxHeldSchema:
		return callObject(names, []byte(`{"type":"object"}`)).Bytes()
	}
	var one wire.Object
	one.SetList("anyOf", list)
	return one.Bytes()
}

// callObject is the schema of a call of tools that share one of their parameters.
func callObject(names [][]byte, parameters []byte) wire.Object {
	var o, properties, name wire.Object
	name.SetString("type", "string")
	name.SetList("enum", names)
	properties.SetObject("name", name)
	properties.Set("arguments", parameters)
	o.SetString("type", "object")
	o.SetObject("properties", properties)
	o.SetList("required", [][]byte{[]byte(`"name"`), []byte(`"arguments"`)})
	return o
}
