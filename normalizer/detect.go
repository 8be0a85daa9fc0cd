package normalizer

import (
	"slices"

	"github.com/callwright/callwright/call"
	"github.com/callwright/callwright/internal/lenient"
	"github.com/callwright/callwright/registry"
)

// openAIReply reads a whole reply: choices[].message.tool_calls.
func (n *normalization) openAIReply(m map[string]any, f *Found) bool {
	for _, c := range array(m["choices"]) {
		choice := object(c)
		message := object(choice["message"])
		if message == nil {
			message = object(choice["delta"])
		}
		n.message(message, f)
	}
	for _, item := range array(m["output"]) { // a reply of the Responses API
		o := object(item)
		n.holder = o
		switch o["type"] {
		case "function_call":
			n.entry(f, str(o["name"]), id(o), o["arguments"], true)
		case "message":
			for _, part := range array(o["content"]) {
				f.Content = joinText(f.Content, str(object(part)["text"]))
			}
		}
	}
	return true
}

// message reads one message with tool calls.
func (n *normalization) message(m map[string]any, f *Found) {
	if m == nil {
		return
	}
	calls := array(m["tool_calls"])
	for _, c := range calls {
		if inner, ok := n.value(c); ok {
			f.add(inner)
		}
	}
	if call := object(m["function_call"]); call != nil {
		n.holder = call
		n.entry(f, str(call["name"]), "", call["arguments"], true)
	}
	if len(f.Entries) == 0 {
		if inner, ok := n.document(str(m["content"])); ok {
			f.add(inner)
			return
		}
	}
	if len(f.Entries) > 0 {
		f.Content = joinText(f.Content, str(m["content"]))
		for _, k := range []string{"reasoning_content", "reasoning", "thinking"} {
			f.Reasoning = joinText(f.Reasoning, str(m[k]))
		}
	}
}

// claudeReply reads content blocks, or one block.
func (n *normalization) claudeReply(m map[string]any, f *Found) bool {
	blocks := array(m["content"])
	if blocks == nil {
		blocks = []any{m}
	}
	for _, b := range blocks {
		block := object(b)
		n.holder = block
		switch block["type"] {
		case "tool_use", "server_tool_use", "mcp_tool_use":
			if block["type"] != "tool_use" {
				f.Format = call.AnthropicBetaTools
			}
			if _, ok := block["input"]; ok || n.o.Marked {
				n.entry(f, str(block["name"]), id(block), block["input"], true)
			}
		case "text":
			f.Content = joinText(f.Content, str(block["text"]))
		case "thinking":
			f.Reasoning = joinText(f.Reasoning, str(block["thinking"]))
		}
		if use := object(block["toolUse"]); use != nil { // Bedrock
			n.holder = use
			n.entry(f, str(use["name"]), id(use), use["input"], true)
		}
	}
	return true
}

// ollamaReply reads message.tool_calls.
func (n *normalization) ollamaReply(m map[string]any, f *Found) bool {
	n.message(object(m["message"]), f)
	return true
}

// gemini reads functionCall parts.
func (n *normalization) gemini(m map[string]any, f *Found) bool {
	parts := array(m["parts"])
	for _, c := range array(m["candidates"]) {
		parts = append(parts, array(object(object(c)["content"])["parts"])...)
	}
	if parts == nil {
		parts = []any{m}
	}
	for _, p := range parts {
		part := object(p)
		for _, k := range []string{"functionCall", "function_call"} {
			call := object(part[k])
			if args, ok := call["args"]; ok || k == "functionCall" && call != nil {
				n.holder = call
				n.entry(f, str(call["name"]), id(call), args, true)
			}
		}
		if len(parts) > 1 || m["parts"] != nil {
			f.Content = joinText(f.Content, str(part["text"]))
		}
	}
	return true
}

// openAICall reads {"function": {"name", "arguments"}} and its kin.
func (n *normalization) openAICall(m map[string]any, f *Found) bool {
	for _, k := range []string{"function", "function_call", "tool_call", "tool", "call"} {
		call := object(m[k])
		if call == nil {
			continue
		}
		_, name := n.name(call)
		if name == "" {
			continue
		}
		if other := str(m["name"]); other != "" && other != name && hasAny(m, argsKeys) {
			return false // two calls in one: which one is meant?
		}
		args, has := firstOf(call, argsKeys)
		if !has {
			args, has = firstOf(m, argsKeys)
		}
		if isDeclaration(call) {
			return false
		}
		if has || n.isKnown(name) && (m["type"] == "function" || n.o.Marked || n.depth > 1) {
			callID := id(m)
			if callID == "" {
				callID = id(call)
			}
			n.holder = call
			n.entry(f, name, callID, args, has)
		}
		return len(f.Entries) > 0
	}
	if m["type"] == "function_call" && str(m["name"]) != "" {
		if args, ok := m["arguments"]; ok {
			return n.entry(f, str(m["name"]), id(m), args, true)
		}
	}
	return false
}

// parallel reads {"multi_tool_use.parallel": {"tool_uses": […]}}.
func (n *normalization) parallel(m map[string]any, f *Found) bool {
	uses := object(m["multi_tool_use.parallel"])
	if _, name := n.name(m); name == "multi_tool_use.parallel" || name == "parallel" {
		args, _ := firstOf(m, argsKeys)
		uses = object(args)
	}
	if uses == nil {
		return false
	}
	return n.list(uses, f)
}

// list reads calls under a key that holds them, with text beside it.
func (n *normalization) list(m map[string]any, f *Found) bool {
	for _, k := range listKeys {
		list := array(m[k])
		if one := object(m[k]); one != nil && slices.Contains(singleKeys, k) {
			list = []any{one}
		}
		if len(list) == 0 || k == "tools" && hasAny(m, nameKeys) {
			continue
		}
		switch k {
		case "tool_calls", "toolcalls", "toolCalls", "function_calls":
			f.Format = call.OpenAIFunctionCall
		case "actions", "calls", "functions", "steps", "tool_uses", "tools":
			f.Format = call.CustomStructured
		}
		if _, name := n.name(m); name != "" && hasAny(m, argsKeys) {
			return false
		}
		unread := false
		for _, e := range list {
			inner, ok := n.value(e)
			unread = unread || !ok && seemsCall(e) && !n.isCut(e)
			if ok {
				f.add(inner)
			}
		}
		if len(f.Entries) > 0 {
			n.half = n.half || unread && f.known()
			f.beside(m)
			return true
		}
	}
	return false
}

// nameAndArguments reads {"name": …, "arguments": …} under any of their keys.
func (n *normalization) nameAndArguments(m map[string]any, f *Found) bool {
	key, name := n.name(m)
	if name == "" || isDeclaration(m) {
		return false
	}
	tool := n.tool(name)
	for _, k := range argsKeys {
		v, ok := m[k]
		if !ok || k == key {
			continue
		}
		switch v := v.(type) {
		case map[string]any, nil:
		case string, lenient.Text:
			// A string that holds no object may be one argument among others.
			if args, _ := Arguments(v); isPlain(args) && (k == "input" || k == "inputs") && (tool == nil || hasProperty(tool.Parameters, k)) {
				continue
			} else if isPlain(args) && !n.o.Marked && tool == nil {
				continue
			}
		case []any:
			if tool != nil && hasProperty(tool.Parameters, k) {
				continue
			}
		default:
			continue
		}
		if key != "name" || k != "arguments" && k != "parameters" {
			f.Format = call.CustomStructured
		}
		if !n.entry(f, name, id(m), v, true) {
			return false
		}
		for _, k := range []string{"thought", "thinking", "reasoning"} {
			if tool == nil || !hasProperty(tool.Parameters, k) {
				f.Reasoning = joinText(f.Reasoning, str(m[k]))
			}
		}
		return true
	}
	return false
}

func isPlain(args any) bool { _, ok := args.(lenient.Text); return ok }

// wrapped reads a call under a key such as AutoGPT's "command".
func (n *normalization) wrapped(m map[string]any, f *Found) bool {
	for _, k := range []string{
		"command", "action", "tool_use", "toolUse", "next_action", "tool", "tool_call", "function", "function_call", "call",
	} {
		inner := object(m[k])
		if inner == nil {
			continue
		}
		if found, ok := n.value(inner); ok {
			f.add(found)
			f.beside(m)
			return true
		}
	}
	return false
}

// remoteCall reads a request of MCP: {"method": "tools/call", "params": {"name", "arguments"}}.
func (n *normalization) remoteCall(m map[string]any, f *Found) bool {
	params := object(m["params"])
	if m["method"] != "tools/call" || str(params["name"]) == "" {
		return false
	}
	args, has := params["arguments"]
	return n.entry(f, str(params["name"]), id(m), args, has)
}

// envelope reads a message whose text is a call in JSON: {"role": "assistant",
// "content": "{\"tool\": …}"}. Beside the text stands nothing but who says it, and
// reasoning.
func (n *normalization) envelope(m map[string]any, f *Found) bool {
	text := ""
	for k, v := range m {
		switch {
		case k == "role" || slices.Contains(reasoningKeys, k):
		case slices.Contains(envelopeKeys, k) && text == "" && str(v) != "":
			text = str(v)
		default:
			return false
		}
	}
	inner, ok := n.document(text)
	if !ok {
		return false
	}
	f.add(inner)
	f.Format = inner.Format
	for _, k := range reasoningKeys {
		f.Reasoning = joinText(f.Reasoning, str(m[k]))
	}
	return true
}

// flat reads {"tool": name, …arguments}.
func (n *normalization) flat(m map[string]any, f *Found) bool {
	key, name := n.name(m)
	if name == "" || isDeclaration(m) {
		return false
	}
	tool := n.tool(name)
	if !n.known && !isIdentifier(name) {
		return false
	}
	if tool == nil && (n.known || !n.o.Marked && key != "tool") {
		begun := n.o.Open != nil && n.known && n.o.Registry.Suggest(name) != ""
		return (n.o.Marked || begun) && len(m) == 1 && n.entry(f, name, "", nil, false)
	}
	args, matched := flatArguments(m, key, tool)
	if tool != nil && !n.o.Marked && !n.fitsFlat(tool, key, len(args), matched) {
		return false
	}
	if tool == nil && len(args) == 0 && !n.o.Marked {
		return false
	}
	if !n.entry(f, name, id(m), args, false) {
		return false
	}
	e := &f.Entries[len(f.Entries)-1]
	e.CutKey, e.Cut = n.cutFlat()
	return true
}

// flatArguments returns the members of an object that are arguments beside the call's
// name, and how many of them the tool knows.
func flatArguments(m map[string]any, nameKey string, tool *registry.Tool) (args map[string]any, matched int) {
	args = make(map[string]any, len(m))
	for k, v := range m {
		has := tool != nil && hasProperty(tool.Parameters, k)
		switch {
		case k == nameKey:
			continue
		case has:
			matched++
		case slices.Contains(idKeys, k), k == "type", slices.Contains(reasoningKeys, k):
			continue
		case slices.Contains(argsKeys, k) && (v == nil || v == ""):
			continue
		}
		args[k] = v
	}
	return args, matched
}

// fitsFlat reports whether an object that nothing announces is a flat call of a tool
// rather than data that happens to name it: how many of its members are the tool's
// tells.
func (n *normalization) fitsFlat(tool *registry.Tool, nameKey string, args, matched int) bool {
	schemaKnown := len(object(tool.Parameters["properties"])) > 0
	if args == 0 {
		weak := nameKey == "name" || nameKey == "type" || nameKey == "command" || nameKey == "action"
		return !weak || n.depth > 1 || len(tool.Order()) == 0
	}
	if !schemaKnown {
		return nameKey != "name" && nameKey != "type"
	}
	return matched > 0 && (nameKey != "name" || matched == args)
}

// nameAsKey reads {name: {…arguments}}. The arguments may be encoded as a string, and a
// list of them is as many calls.
func (n *normalization) nameAsKey(m map[string]any, f *Found) bool {
	if len(m) == 0 || len(m) > 16 {
		return false
	}
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		tool := n.tool(k)
		own := slices.Contains(argsKeys, k) || slices.Contains(nameKeys, k) || !isIdentifier(k)
		if tool == nil && (n.known || !n.o.Marked || len(m) != 1 || own) {
			return false
		}
		list, isList := m[k].([]any)
		if !isList || len(list) == 0 || tool == nil {
			list = []any{m[k]}
		}
		for _, v := range list {
			args, ok := Arguments(v)
			object, isObject := args.(map[string]any)
			if !ok || !isObject || tool != nil && !n.o.Marked && !fits(tool, object) {
				return false
			}
			n.entry(f, k, "", object, true)
		}
	}
	return len(f.Entries) > 0
}

// fits reports whether a tool has all parameters of an object.
func fits(tool *registry.Tool, args map[string]any) bool {
	if len(object(tool.Parameters["properties"])) == 0 {
		return true
	}
	for arg := range args {
		if !hasProperty(tool.Parameters, arg) {
			return false
		}
	}
	return true
}

func firstOf(m map[string]any, keys []string) (any, bool) {
	for _, k := range keys {
		if v, ok := m[k]; ok {
			return v, true
		}
	}
	return nil, false
}

func hasProperty(schema map[string]any, key string) bool {
	_, ok := object(schema["properties"])[key]
	return ok
}

// isDeclaration reports whether an object declares a tool and does not call it:
// it has a schema where arguments would be.
func isDeclaration(m map[string]any) bool {
	for _, k := range []string{"parameters", "input_schema", "inputSchema"} {
		p := object(m[k])
		if p == nil {
			continue
		}
		_, hasProperties := p["properties"].(map[string]any)
		described := m["description"] != nil
		t := str(p["type"])
		if hasProperties && (described || t == "object" || t == "dict") || described && len(p) == 1 && (t == "object" || t == "dict") {
			return true
		}
	}
	_, hasArguments := m["arguments"]
	return m["description"] != nil && m["parameters"] != nil && !hasArguments && m["name"] != nil
}
