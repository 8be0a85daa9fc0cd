package normalizer

import (
	"maps"
	"slices"
	"strings"
	"unicode"

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
	// Half says that the value is a list in which another element names a tool or
	// arguments and cannot be read: then none of the entries is to be called.
	Half bool
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

// usual is the detector of nearly all calls.
var usual = detector{call.OllamaJSON, 0.9, (*normalization).nameAndArguments}

func init() { // the detectors look into envelopes by way of the list itself
	detectors = []detector{
		{call.OpenAIFunctionCall, 0.99, (*normalization).openAIReply},
		{call.ClaudeToolUse, 0.99, (*normalization).claudeReply},
		{call.OllamaJSON, 0.98, (*normalization).ollamaReply},
		{call.GeminiFunctionCall, 0.98, (*normalization).gemini},
		{call.OpenAIFunctionCall, 0.97, (*normalization).openAICall},
		{call.CustomStructured, 0.95, (*normalization).parallel},
		{call.OllamaJSON, 0.93, (*normalization).list},
		usual,
		{call.CustomStructured, 0.9, (*normalization).remoteCall},
		{call.CustomStructured, 0.8, (*normalization).wrapped},
		{call.CustomStructured, 0.85, (*normalization).flat},
		{call.CustomStructured, 0.75, (*normalization).nameAsKey},
		{call.CustomStructured, 0.7, (*normalization).envelope},
	}
}

type normalization struct {
	o     Options
	known bool
	depth int
	half  bool // an element of a list of calls cannot be read
	// holder is the object whose members are a call's name and arguments.
	holder map[string]any
	// found and one are for the outermost object, which mostly is one call.
	found Found
	one   [1]Entry
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
	f.Half = n.half
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
		if f, ok = n.object(x, x); ok {
			return f, true
		}
		if usual, renamed := usualKeys(x); renamed {
			return n.object(usual, x)
		}
	case []any:
		return n.elements(x)
	case string:
		// A whole document encoded as a string.
		if n.o.Marked {
			return n.document(x)
		}
	}
	return f, false
}

// object detects the calls of an object, which was written as holder.
func (n *normalization) object(m, holder map[string]any) (f Found, ok bool) {
	if isUsual(m) && n.try(&usual, m, holder, &f) {
		return f, true
	}
	for i := range detectors {
		if n.try(&detectors[i], m, holder, &f) {
			return f, true
		}
	}
	return f, false
}

// try runs one detector.
func (n *normalization) try(d *detector, m, holder map[string]any, f *Found) bool {
	n.holder = holder
	found := &n.found
	if n.depth > 1 {
		found = new(Found)
	}
	*found = Found{Format: d.format, Confidence: d.confidence}
	if n.depth == 1 {
		found.Entries = n.one[:0]
	}
	ok := d.detect(n, m, found) && len(found.Entries) > 0
	if ok {
		*f = *found
	}
	return ok
}

// isUsual reports whether an object is a name and arguments and nothing else, of which the
// detectors before nameAndArguments know no key.
func isUsual(m map[string]any) bool {
	if len(m) != 2 {
		return false
	}
	name, _ := m["name"].(string)
	_, ok := m["arguments"].(map[string]any)
	return ok && name != "" && name != "parallel" && name != "multi_tool_use.parallel"
}

// elements detects the calls of a list: of objects, or of names with their arguments
// behind them.
func (n *normalization) elements(list []any) (f Found, ok bool) {
	f.Format = call.Unknown
	if len(list) > 0 {
		if _, isName := list[0].(string); isName {
			return n.pairs(list)
		}
	}
	unread := false
	for _, e := range list {
		inner, ok := n.value(e)
		if !ok {
			cut := n.isCut(e)
			if !n.o.Marked && !isText(e) && !seemsCall(e) && !cut {
				return f, false // a list of something else
			}
			unread = unread || seemsCall(e) && !cut
			continue
		}
		if len(f.Entries) == 0 {
			f.Format, f.Confidence = inner.Format, inner.Confidence
		}
		f.add(inner)
	}
	n.half = n.half || unread && f.known()
	return f, len(f.Entries) > 0
}

// pairs reads ["get_weather", {"city": "Rome"}], one pair or several.
func (n *normalization) pairs(list []any) (f Found, ok bool) {
	f.Format, f.Confidence = call.CustomStructured, 0.8
	if len(list)%2 != 0 {
		return f, false
	}
	for i := 0; i < len(list); i += 2 {
		name, _ := list[i].(string)
		args, isObject := list[i+1].(map[string]any)
		if !isObject || n.known && !n.isKnown(name) || !n.known && (!n.o.Marked || !isIdentifier(name)) {
			return f, false
		}
		n.entry(&f, name, "", args, true)
	}
	return f, len(f.Entries) > 0
}

// document detects the calls of a JSON document in a string.
func (n *normalization) document(text string) (f Found, ok bool) {
	text = strings.TrimSpace(text)
	if text == "" || text[0] != '{' && text[0] != '[' {
		return f, false
	}
	v, r, err := lenient.Parse(text, lenient.Options{})
	if err != nil || r.Fixes.Has(lenient.Truncated) {
		return f, false
	}
	return n.value(v)
}

// seemsCall reports whether an element of a list names a tool or arguments.
func seemsCall(e any) bool {
	m := object(e)
	return m != nil && !isText(e) && (hasAny(m, argsKeys) || hasAny(m, nameKeys[:nameKeysCertain]))
}

// isIdentifier reports whether a name looks like one of a tool, rather than like prose.
func isIdentifier(name string) bool {
	for i, r := range name {
		switch {
		case unicode.IsLetter(r) || r == '_' || r == '$':
		case i > 0 && (unicode.IsDigit(r) || strings.ContainsRune("-./:", r)):
		default:
			return false
		}
	}
	return name != ""
}

// usualKeys returns an object whose keys for names, arguments and lists have their usual
// spelling: "Tool" and "actionInput" become "tool" and "action_input". renamed says that
// there were other spellings.
func usualKeys(m map[string]any) (usual map[string]any, renamed bool) {
	const most = 32 // members of an object that may be a call
	if len(m) > most {
		return nil, false
	}
	for k := range m {
		word := usualSpelling[foldKey(k)]
		if word == "" || word == k {
			continue
		}
		if _, taken := m[word]; taken {
			continue
		}
		if usual == nil {
			usual = maps.Clone(m)
		}
		usual[word] = m[k]
		delete(usual, k)
	}
	return usual, usual != nil
}

// foldKey takes case and separators off a key.
func foldKey(k string) string {
	if len(k) > 32 {
		return ""
	}
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(k))
}

// usualSpelling are the keys of calls by their folded form.
var usualSpelling = func() map[string]string {
	words := map[string]string{}
	for _, keys := range [][]string{nameKeys, argsKeys, listKeys} {
		for _, k := range keys {
			if words[foldKey(k)] == "" {
				words[foldKey(k)] = k
			}
		}
	}
	return words
}()

func isText(v any) bool {
	m, ok := v.(map[string]any)
	return ok && (m["type"] == "text" || m["type"] == "thinking")
}

// known reports whether an entry names a known tool.
func (f *Found) known() bool {
	return slices.ContainsFunc(f.Entries, func(e Entry) bool { return e.Known })
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

// Of the name keys so many say by themselves that a tool is named.
const nameKeysCertain = 10

// Keys that hold a name, arguments or an id, in order of preference.
var (
	nameKeys = []string{
		"name", "function", "tool_name", "tool", "function_name", "toolName", "tool_call", "function_call", "func", "recipient_name",
		"action", "command", "type",
	}
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
		"steps", "tools", "plan",
	}
	// Of the list keys these may hold one call without a list around it.
	singleKeys = []string{"tool_calls", "commands", "actions", "calls", "function_calls", "plan"}
	// Keys around a message whose text is a call.
	envelopeKeys = []string{"response", "content", "message", "output", "answer", "text", "reply", "result"}
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
