package normalizer

import (
	"slices"
	"strings"

	"github.com/callwright/callwright/call"
	"github.com/callwright/callwright/internal/lenient"
	"github.com/callwright/callwright/registry"
)

// Entry is one call as it was found in JSON, before its tool's schema is asked.
type Entry struct {
	Name, ID string
	// Arguments are a map[string]any, a []any of positional arguments, or a
	// [call.Text] for a tool with one parameter.
	Arguments any
	// Explicit says that the JSON names both a tool and its arguments.
	Explicit bool
	// Known says that the name leads to a known tool.
	Known bool
	// Cut says that the text ended inside the entry. CutKey is the parameter that was
	// being written, as far as its name was written; "" if none was.
	Cut    bool
	CutKey string
}

// Found is what a JSON value holds.
type Found struct {
	Format     call.Format
	Confidence float64 // that the value has this format, from 0 to 1
	Entries    []Entry
	Content    string // text for the user beside the calls
	Reasoning  string // reasoning beside the calls
}

// Options say what is known besides the value.
type Options struct {
	// Registry holds the tools; nil or empty means that any name may be one.
	Registry *registry.Registry
	// Marked says that a marker announced a call, so that looser shapes count.
	Marked bool
	// Open reports whether an object or a list within the value was cut off by the text's
	// end, and which of its members was being written: "" if none was. It is nil where
	// nothing was cut off.
	Open func(v any) (key string, open bool)
}

// detector recognizes one shape.
type detector struct {
	format     call.Format
	confidence float64
	detect     func(n *normalization, m map[string]any, f *Found) bool
}

// detectors are the shapes, the most telling first.
var detectors []detector

func init() { // the detectors look into envelopes by way of the list itself
	detectors = []detector{
		{call.OpenAIFunctionCall, 0.99, (*normalization).openAIReply},
		{call.ClaudeToolUse, 0.99, (*normalization).claudeReply},
		{call.OllamaJSON, 0.98, (*normalization).ollamaReply},
		{call.GeminiFunctionCall, 0.98, (*normalization).gemini},
		{call.OpenAIFunctionCall, 0.97, (*normalization).openAICall},
		{call.CustomStructured, 0.95, (*normalization).parallel},
		{call.OllamaJSON, 0.93, (*normalization).list},
		{call.OllamaJSON, 0.9, (*normalization).nameAndArguments},
		{call.CustomStructured, 0.8, (*normalization).wrapped},
		{call.CustomStructured, 0.85, (*normalization).flat},
		{call.CustomStructured, 0.75, (*normalization).nameAsKey},
	}
}

type normalization struct {
	o     Options
	known bool
	depth int
	// holder is the object whose members are a call's name and arguments.
	holder map[string]any
}

// maxNesting bounds how many envelopes may stand around calls.
const maxNesting = 6

// Detect says what shape a value has and which calls it holds. A value that
// holds none has the format [call.Unknown].
func Detect(v any, o Options) Found {
	n := &normalization{o: o, known: o.Registry != nil && o.Registry.Len() > 0}
	f, ok := n.value(v)
	if !ok {
		return Found{Format: call.Unknown}
	}
	return f
}

// value detects the calls of an object or a list of objects.
func (n *normalization) value(v any) (f Found, ok bool) {
	if n.depth++; n.depth > maxNesting {
		return f, false
	}
	defer func() { n.depth-- }()
	switch x := v.(type) {
	case map[string]any:
		defer func(outer map[string]any) { n.holder = outer }(n.holder)
		for _, d := range detectors {
			n.holder = x
			f = Found{Format: d.format, Confidence: d.confidence}
			if d.detect(n, x, &f) && (len(f.Entries) > 0) {
				return f, true
			}
		}
	case []any:
		f.Format = call.Unknown
		for _, e := range x {
			inner, ok := n.value(e)
			if !ok {
				if !n.o.Marked && !isText(e) && !n.isCut(e) {
					return f, false // a list of something else
				}
				continue
			}
			if len(f.Entries) == 0 {
				f.Format, f.Confidence = inner.Format, inner.Confidence
			}
			f.add(inner)
		}
		return f, len(f.Entries) > 0
	case string:
		// A whole document encoded as a string.
		if t := strings.TrimSpace(x); n.o.Marked && strings.HasPrefix(t, "{") {
			if v, _, err := lenient.Parse(t, lenient.Options{}); err == nil {
				return n.value(v)
			}
		}
	}
	return f, false
}

func isText(v any) bool {
	m, ok := v.(map[string]any)
	return ok && (m["type"] == "text" || m["type"] == "thinking")
}

func (f *Found) add(g Found) {
	f.Entries = append(f.Entries, g.Entries...)
	f.Content = joinText(f.Content, g.Content)
	f.Reasoning = joinText(f.Reasoning, g.Reasoning)
}

func joinText(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n" + b
}

func str(v any) string {
	switch s := v.(type) {
	case string:
		return s
	case lenient.Text:
		return string(s)
	}
	return ""
}

func object(v any) map[string]any { m, _ := v.(map[string]any); return m }

func array(v any) []any { l, _ := v.([]any); return l }

func (n *normalization) isKnown(name string) bool {
	if !n.known || name == "" {
		return false
	}
	_, ok := n.o.Registry.Lookup(name)
	return ok
}

func (n *normalization) tool(name string) *registry.Tool {
	if !n.known {
		return nil
	}
	m, _ := n.o.Registry.Lookup(name)
	return m.Tool
}

// entry makes an entry of a name and arguments.
func (n *normalization) entry(f *Found, name, id string, arguments any, explicit bool) bool {
	name = strings.TrimSpace(name)
	if name == "" {
		return false
	}
	args, ok := Arguments(arguments)
	if !ok {
		return false
	}
	e := Entry{Name: name, ID: id, Arguments: args, Explicit: explicit, Known: n.isKnown(name)}
	e.CutKey, e.Cut = n.cut(arguments, args)
	f.Entries = append(f.Entries, e)
	return true
}

// Arguments reads what stands for a call's arguments: an object; a string that
// holds one, encoded once or twice; nothing; a list of names and values; a list
// of positional arguments; or text.
func Arguments(v any) (any, bool) {
	switch x := v.(type) {
	case nil:
		return map[string]any{}, true
	case map[string]any:
		return x, true
	case string, lenient.Text:
		text := str(x)
		for range 3 {
			t := strings.TrimSpace(text)
			if t == "" || t == "null" || t == "None" {
				return map[string]any{}, true
			}
			if t[0] != '{' && t[0] != '"' && t[0] != '[' {
				break
			}
			inner, r, err := lenient.Parse(t, lenient.Options{})
			if err != nil || r.Fixes.Has(lenient.Truncated) {
				break
			}
			switch y := inner.(type) {
			case map[string]any:
				return y, true
			case string:
				text = y
				continue
			}
			break
		}
		return lenient.Text(text), true
	case []any:
		if m, ok := foldPairs(x); ok {
			return m, true
		}
		if len(x) == 1 {
			if m, ok := x[0].(map[string]any); ok {
				return m, true
			}
		}
		if len(x) == 0 {
			return map[string]any{}, true
		}
		return x, true
	}
	return []any{v}, true
}

// foldPairs reads [{"name": "city", "value": "Rome"}].
func foldPairs(list []any) (map[string]any, bool) {
	m := make(map[string]any, len(list))
	for _, e := range list {
		pair := object(e)
		key := str(pair["name"])
		if key == "" {
			key = str(pair["key"])
		}
		value, ok := pair["value"]
		if key == "" || !ok || len(pair) > 3 {
			return nil, false
		}
		m[key] = value
	}
	return m, len(m) > 0
}

// Keys that hold a name, arguments or an id, in order of preference.
var (
	nameKeys = []string{"name", "function", "tool_name", "tool", "function_name", "toolName", "recipient_name", "action", "command", "type"}
	argsKeys = []string{
		"arguments", "parameters", "args", "input", "params", "kwargs", "tool_input", "action_input", "tool_args",
		"function_args", "tool_arguments", "inputs",
	}
	idKeys = []string{"id", "tool_call_id", "call_id", "tool_use_id", "toolCallId", "toolUseId"}
	// Words under "type" that name no tool.
	typeWords = []string{
		"function", "tool_use", "function_call", "tool_call", "object", "text", "tool", "array", "string", "number", "integer",
		"boolean", "null", "dict", "thinking",
	}
	// Keys beside calls that hold text for the user, or reasoning.
	contentKeys   = []string{"response", "message", "answer", "content", "text", "reply"}
	reasoningKeys = []string{"thinking", "thought", "thoughts", "reasoning", "analysis", "plan"}
	listKeys      = []string{
		"tool_calls", "toolcalls", "toolCalls", "tool_uses", "commands", "actions", "calls", "function_calls", "functions",
		"steps", "tools",
	}
)

// name finds the name in an object: the first name key whose value is a known
// tool, or else the first that may be one.
func (n *normalization) name(m map[string]any) (key, name string) {
	for _, k := range nameKeys {
		s := str(m[k])
		if s == "" || k == "type" && slices.Contains(typeWords, s) {
			continue
		}
		if n.isKnown(s) {
			return k, s
		}
		if key == "" {
			if k == "command" && !hasAny(m, argsKeys) || k == "type" && n.known {
				continue
			}
			key, name = k, s
		}
	}
	return key, name
}

func hasAny(m map[string]any, keys []string) bool {
	for _, k := range keys {
		if _, ok := m[k]; ok {
			return true
		}
	}
	return false
}

func id(m map[string]any) string {
	for _, k := range idKeys {
		switch v := m[k].(type) {
		case string:
			if v != "" {
				return v
			}
		case interface{ String() string }: // a number
			return v.String()
		}
	}
	return ""
}

// beside collects text and reasoning that stand beside a list of calls.
func (f *Found) beside(m map[string]any) {
	for _, k := range contentKeys {
		if s := str(m[k]); s != "" {
			f.Content = joinText(f.Content, s)
		}
	}
	for _, k := range reasoningKeys {
		if s := str(m[k]); s != "" {
			f.Reasoning = joinText(f.Reasoning, s)
		} else if t := object(m[k]); t != nil {
			for _, k := range []string{"text", "reasoning"} {
				f.Reasoning = joinText(f.Reasoning, str(t[k]))
			}
		}
	}
}
