// Package adapters knows how providers put what a model said on the wire.
package adapters

import (
	"strings"
)

// Reply is what a provider's reply, or one piece of a streamed one, says.
type Reply struct {
	// Text is what the model said, Reasoning what the provider set apart as its
	// reasoning.
	Text, Reasoning string
	// Calls reports whether the reply has calls in the provider's own field.
	Calls bool
	// Known reports whether the shape is that of a known provider.
	Known bool
}

// ReadReply reads the text of a decoded reply of OpenAI, Anthropic, Ollama or
// Gemini, whole or a piece of a stream, told apart by its shape.
func ReadReply(v any) Reply {
	m, _ := v.(map[string]any)
	r := Reply{}
	if m == nil {
		return r
	}
	for _, c := range list(m["choices"]) {
		r.Known = true
		choice := object(c)
		for _, k := range []string{"message", "delta"} {
			r.message(object(choice[k]))
		}
		r.Text += str(choice["text"])
	}
	if message := object(m["message"]); message != nil { // Ollama chat
		r.Known = true
		r.message(message)
	}
	if text, ok := m["response"].(string); ok { // Ollama generate
		r.Known = true
		r.Text += text
		r.Reasoning += str(m["thinking"])
	}
	if blocks := list(m["content"]); blocks != nil { // Anthropic
		r.Known = true
		r.blocks(blocks)
	}
	for _, c := range list(m["candidates"]) { // Gemini
		r.Known = true
		for _, p := range list(object(object(c)["content"])["parts"]) {
			part := object(p)
			if part["thought"] == true {
				r.Reasoning += str(part["text"])
			} else {
				r.Text += str(part["text"])
			}
			r.Calls = r.Calls || part["functionCall"] != nil
		}
	}
	for _, o := range list(m["output"]) { // OpenAI Responses
		r.Known = true
		item := object(o)
		switch item["type"] {
		case "function_call":
			r.Calls = true
		case "message":
			for _, p := range list(item["content"]) {
				r.Text += str(object(p)["text"])
			}
		}
	}
	switch kind := str(m["type"]); { // pieces of streams by events
	case kind == "content_block_delta":
		r.Known = true
		delta := object(m["delta"])
		r.Text += str(delta["text"])
		r.Reasoning += str(delta["thinking"])
	case kind == "response.output_text.delta":
		r.Known = true
		r.Text += str(m["delta"])
	case strings.HasPrefix(kind, "message_") || strings.HasPrefix(kind, "content_block_") || strings.HasPrefix(kind, "response.") || kind == "ping":
		r.Known = true
	}
	return r
}

func (r *Reply) message(m map[string]any) {
	if m == nil {
		return
	}
	switch content := m["content"].(type) {
	case string:
		r.Text += content
	case []any:
		r.blocks(content)
	}
	for _, k := range []string{"reasoning_content", "reasoning", "thinking"} {
		if s := str(m[k]); s != "" {
			r.Reasoning += s
			break
		}
	}
	r.Calls = r.Calls || len(list(m["tool_calls"])) > 0 || m["function_call"] != nil
}

func (r *Reply) blocks(blocks []any) {
	for _, b := range blocks {
		block := object(b)
		switch block["type"] {
		case "text", "output_text":
			r.Text += str(block["text"])
		case "thinking":
			r.Reasoning += str(block["thinking"])
		case "tool_use", "server_tool_use", "mcp_tool_use":
			r.Calls = true
		}
	}
}

func object(v any) map[string]any { m, _ := v.(map[string]any); return m }

func list(v any) []any { l, _ := v.([]any); return l }

func str(v any) string { s, _ := v.(string); return s }
