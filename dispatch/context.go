package dispatch

import (
	"strconv"
	"strings"

	"github.com/callwright/callwright/adapters"
)

// Context is what the application knows and no text can tell: the specification's
// ParserContext. A parameter whose schema has "x-context": "selection.0" is filled from it
// where the model left it out. All of it is optional.
type Context struct {
	Model        string
	Capabilities adapters.ModelCapabilities
	// Selection are the ids of what is selected, Viewport says what is visible, ActiveTool
	// names the tool that the user has in hand.
	Selection  []string
	Viewport   map[string]any
	ActiveTool string
	// History is the conversation so far, LastCall the last call that ran.
	History  []adapters.Message
	LastCall *Call
	// Intent is what the user wants, in his words or the application's.
	Intent string
	// Values are named values of the application.
	Values map[string]any
}

// Lookup returns the value at a path: "selection.0", "viewport.x", "active_tool",
// "last_call.parameters.city", "history.-1.text", "intent", "model",
// "capabilities.supports_vision", or the name of one of the Values, with or without
// "values." before it. Negative indexes count from the end. ok is false where there is
// nothing, or nothing but an empty string.
func (c *Context) Lookup(path string) (v any, ok bool) {
	if c == nil || path == "" {
		return nil, false
	}
	first, rest, _ := strings.Cut(path, ".")
	switch first {
	case "model":
		v = c.Model
	case "capabilities":
		v = capabilities(&c.Capabilities)
	case "selection":
		list := make([]any, len(c.Selection))
		for i, s := range c.Selection {
			list[i] = s
		}
		v = list
		if len(list) == 0 {
			return nil, false
		}
	case "viewport":
		v = c.Viewport
	case "active_tool":
		v = c.ActiveTool
	case "history":
		return message(c.History, rest)
	case "last_call":
		if c.LastCall == nil {
			return nil, false
		}
		v = map[string]any{"id": c.LastCall.ID, "tool": c.LastCall.Tool, "parameters": c.LastCall.Parameters}
	case "intent":
		v = c.Intent
	case "values":
		v = c.Values
	default:
		v, rest = c.Values, path
	}
	return step(v, rest)
}

// step follows a path of names and indexes.
func step(v any, path string) (any, bool) {
	for path != "" {
		var name string
		name, path, _ = strings.Cut(path, ".")
		switch x := v.(type) {
		case map[string]any:
			inner, there := x[name]
			if !there && path != "" { // a name with dots in it
				if inner, there = x[name+"."+path]; there {
					path = ""
				}
			}
			if !there {
				return nil, false
			}
			v = inner
		case []any:
			i, ok := index(name, len(x))
			if !ok {
				return nil, false
			}
			v = x[i]
		default:
			return nil, false
		}
	}
	switch x := v.(type) {
	case nil:
		return nil, false
	case string:
		return x, x != ""
	case map[string]any:
		return x, x != nil
	}
	return v, true
}

func index(s string, n int) (int, bool) {
	i, err := strconv.Atoi(s)
	if i < 0 {
		i += n
	}
	return i, err == nil && i >= 0 && i < n
}

func capabilities(c *adapters.ModelCapabilities) map[string]any {
	return map[string]any{
		"supports_native_tool_calls": c.SupportsNativeToolCalls, "supports_structured_output": c.SupportsStructuredOutput,
		"supports_vision": c.SupportsVision, "max_output_tokens": c.MaxOutputTokens,
	}
}

// message returns the role or the text of a message.
func message(history []adapters.Message, path string) (any, bool) {
	at, member, _ := strings.Cut(path, ".")
	i, ok := index(at, len(history))
	if !ok {
		return nil, false
	}
	m := &history[i]
	switch member {
	case "text", "":
		return m.Text(), m.Text() != ""
	case "role":
		return string(m.Role), true
	}
	return nil, false
}
