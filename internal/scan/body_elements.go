package scan

import (
	"errors"
	"strings"

	"github.com/callwright/callwright/dialect"
	"github.com/callwright/callwright/internal/lenient"
	"github.com/callwright/callwright/registry"
)

// elementsBody is calls whose tag is the tool's name, and whose parameters' tags are
// their names.
type elementsBody struct{}

func (elementsBody) at(l *look, off int, rows []*dialect.Row) (int, bool) {
	if l.prefixAt(off, rows, dialect.BodyElements) >= 0 {
		return off, true
	}
	t, ok := l.tag(off)
	return off, ok && !t.close && !t.call() && (l.isKnown(t.word) || hasBody(rows, dialect.BodyElements))
}

func (elementsBody) read(k *construct) outcome {
	if t, ok := k.tag(k.start); ok && t.end == k.opened {
		k.c.Seek(k.start) // the marker is the call's own tag
	}
	for {
		at := k.c.SpaceEnd(k.c.Offset())
		for k.skipsPrefix(&at) {
		}
		t, ok := k.tag(at)
		if !ok || t.close {
			break
		}
		if t.wrapper() && k.got == 0 && !k.protocolTag(t) {
			k.c.Seek(t.end)
			continue
		}
		if k.got > 0 {
			k.next = at
		}
		k.c.Seek(t.end)
		if !k.elementCall(&Candidate{Named: true, Name: t.word}, t) {
			if k.got == 0 {
				return k.fail()
			}
			break
		}
	}
	for range 4 {
		at := k.c.SpaceEnd(k.c.Offset())
		if !k.skipsPrefix(&at) {
			break
		}
		k.c.Seek(at)
	}
	return k.closeAndFinish()
}

// elementCall reads a call of elements behind its opening tag.
func (k *construct) elementCall(cand *Candidate, t tag) bool {
	c := k.c
	if t.call() && t.name != "" {
		cand.Name = t.name
	}
	tool := k.lookup(cand.Name)
	args := map[string]any{}
	cand.Arguments = args
	for key, value := range t.attrs { // <get_weather city="Rome"/>
		if key != "name" || !t.call() {
			args[key] = lenient.Text(value)
		}
	}
	if t.selfClose {
		return k.deliver(cand, t.end)
	}
	var keys []string
	server := ""
	k.showParams(cand.Name, args)
	for {
		at := c.SpaceEnd(c.Offset())
		for k.skipsPrefix(&at) {
		}
		b, ok := c.At(at)
		if !ok {
			c.Seek(at)
			cand.Truncated = true
			break
		}
		if b != '<' {
			if len(args) > 0 || !k.elementText(cand, t, tool) {
				return false
			}
			break
		}
		p, isTag := k.tag(at)
		if !isTag {
			if k.cutTag(at) {
				c.Seek(c.Limit())
				cand.Truncated = true
				break
			}
			return false
		}
		if p.close {
			if p.word != t.word && p.word != cand.Name && !p.wrapper() {
				if p.param() || p.word == "arguments" {
					c.Seek(p.end)
					continue
				}
				return false
			}
			c.Seek(p.end)
			break
		}
		c.Seek(p.end)
		if p.selfClose {
			k.addElement(args, &keys, p.word, lenient.Text(""))
			continue
		}
		v := &valueScan{k: k, key: p.word, open: p, tool: tool}
		to, next, ok := v.elementEnd(p, t)
		if !ok {
			cand.Truncated = true
			to, next = c.Limit(), c.Limit()
		}
		raw := string(c.Slice(p.end, to))
		c.Seek(next)
		key := p.word
		if p.param() && p.name != "" {
			key = p.name
		}
		switch {
		case !ok:
			args[key] = lenient.Text(lenient.ValidUTF8([]byte(raw)))
		case (key == "tool_name" || key == "name" || key == "server_name") && k.namesItself(t):
			if key == "server_name" {
				server = strings.TrimSpace(raw)
			} else {
				cand.Name = strings.TrimSpace(raw)
				tool = k.lookup(cand.Name)
			}
		case isArgsKey(key) && (tool == nil || !hasProperty(tool, key)):
			k.wrappedElements(args, &keys, raw)
		default:
			k.addElement(args, &keys, key, k.elementValue(raw, propertyOf(tool, key), 0))
		}
		if cand.Truncated {
			break
		}
	}
	if server != "" {
		for _, full := range []string{server + "." + cand.Name, server + "__" + cand.Name, "mcp__" + server + "__" + cand.Name} {
			if k.known() && k.registry.Get(cand.Name) == nil && k.registry.Get(full) != nil {
				cand.Name = full
			}
		}
	}
	if cand.Name == "" {
		return false
	}
	return k.deliver(cand, c.Offset())
}

// protocolTag reports whether a call's tag is a protocol's word and no tool'k.
func (l *look) protocolTag(t tag) bool { return t.word == "use_mcp_tool" }

// namesItself reports whether a call's tag is a protocol's word, and the tool's
// name one of its elements.
func (l *look) namesItself(t tag) bool {
	return l.protocolTag(t) || t.call() && t.name == "" || !l.isKnown(t.word)
}

func isArgsKey(key string) bool {
	switch key {
	case "arguments", "parameters", "args", "tool_input", "input":
		return true
	}
	return false
}

// wrappedElements reads arguments in JSON or as elements within an element.
func (k *construct) wrappedElements(args map[string]any, keys *[]string, raw string) {
	trimmed := strings.TrimSpace(raw)
	if strings.HasPrefix(trimmed, "{") {
		if v, _, err := lenient.Parse(trimmed, lenient.Options{}); err == nil || errors.Is(err, lenient.ErrTrailing) {
			if m, ok := v.(map[string]any); ok {
				for key, value := range m {
					k.addElement(args, keys, key, value)
				}
				return
			}
		}
	}
	if v, ok := children(trimmed, 0); ok {
		for key, value := range v {
			k.addElement(args, keys, key, value)
		}
		return
	}
	if trimmed != "" {
		args["input"] = lenient.Text(raw)
	}
}

// elementText takes a call whose body is text: its only parameter, JSON, or lines
// of YAML.
func (k *construct) elementText(cand *Candidate, t tag, tool *registry.Tool) bool {
	c := k.c
	start := c.Offset()
	v := &valueScan{k: k, key: t.word, open: t, tool: tool}
	to, next, ok := v.elementEnd(t, tag{})
	if !ok {
		cand.Truncated = true
		to, next = c.Limit(), c.Limit()
	}
	raw := string(c.Slice(start, to))
	trimmed := strings.TrimSpace(raw)
	c.Seek(next)
	if strings.HasPrefix(trimmed, "{") {
		if v, r, err := lenient.Parse(trimmed, lenient.Options{}); err == nil {
			if m, ok := v.(map[string]any); ok {
				cand.Arguments = m
				cand.Fixes.Merge(&r.Fixes)
				return true
			}
		}
	}
	if m, ok := parseMapping(trimmed); ok {
		if args, ok := m.(map[string]any); ok && (tool == nil || anyProperty(tool, args)) {
			cand.Arguments = args
			return true
		}
	}
	if tool == nil || trimmed == "" {
		return trimmed == ""
	}
	cand.Arguments = lenient.Text(trimNewlines(raw))
	return true
}

func anyProperty(tool *registry.Tool, args map[string]any) bool {
	for key := range args {
		if hasProperty(tool, key) {
			return true
		}
	}
	return false
}

// elementEnd finds the end of an element: its closing tag that another element,
// the call's end or the text's end follows.
func (v *valueScan) elementEnd(open, outer tag) (to, next int, ok bool) {
	k := v.k
	prefix := k.row.Options.Prefix
	depth := 0
	last, lastNext, end := -1, -1, -1
	for off := k.c.Offset(); ; off++ {
		b, in := k.c.At(off)
		if !in {
			break
		}
		if b != '<' {
			continue
		}
		t, isTag := k.tag(off)
		if !isTag {
			continue
		}
		if prefix != "" {
			if off < len(prefix) || !k.c.HasPrefixAt(max(off-len(prefix), k.c.Kept()), prefix) {
				continue
			}
			if t.word == open.word && !t.close {
				depth++
			}
			if t.word == open.word && t.close {
				if depth == 0 {
					return off - len(prefix), t.end, true
				}
				depth--
			}
			continue
		}
		if !t.close || t.word != open.word {
			if t.close && outer.word != "" && t.word == outer.word {
				if last >= 0 {
					return last, lastNext, true
				}
				if end < 0 {
					end = off // the element's own end may be missing
				}
			}
			continue
		}
		after := k.c.SpaceEnd(t.end)
		if outer.word == "" || k.c.EOFAt(after) {
			if outer.word == "" {
				return off, t.end, true
			}
			last, lastNext = off, t.end
			continue
		}
		if n, ok := k.tag(after); ok {
			if n.close && (n.word == outer.word || n.wrapper()) {
				return off, t.end, true
			}
			if !n.close && (v.tool == nil || hasProperty(v.tool, n.word) || v.tool.Parameters == nil || n.word == "tool_name" || isArgsKey(n.word)) {
				return off, t.end, true
			}
		}
		last, lastNext = off, t.end
	}
	switch {
	case last >= 0:
		return last, lastNext, true
	case end >= 0:
		return end, end, true
	}
	return 0, 0, false
}

// addElement sets a parameter; one that comes again makes an array.
func (k *construct) addElement(args map[string]any, keys *[]string, key string, value any) {
	old, again := args[key]
	if !again {
		args[key] = value
		*keys = append(*keys, key)
		k.showKeys(nil) // may become an array yet
		return
	}
	if list, ok := old.([]any); ok {
		args[key] = append(list, value)
		return
	}
	args[key] = []any{old, value}
}

// maxElementDepth is how deep elements may nest.
const maxElementDepth = 32

// elementValue reads an element's text: as elements where the schema wants an
// object or an array and elements stand there, else as text.
func (k *construct) elementValue(raw string, schema map[string]any, depth int) any {
	if p := k.row.Options.Prefix; p != "" {
		raw = strings.ReplaceAll(raw, p, "")
	}
	raw = lenient.ValidUTF8([]byte(raw))
	trimmed := strings.TrimSpace(raw)
	if schema["type"] != "string" && strings.HasPrefix(trimmed, "<") {
		if v, ok := children(trimmed, depth); ok {
			return v
		}
	}
	if inner, ok := cdata(raw); ok {
		return inner
	}
	return lenient.Text(trimNewlines(raw))
}

// children reads elements that are nothing but elements.
func children(text string, depth int) (map[string]any, bool) {
	if depth > maxElementDepth {
		return nil, false
	}
	out := map[string]any{}
	var keys []string
	for text != "" {
		if text[0] != '<' {
			return nil, false
		}
		end := strings.IndexByte(text, '>')
		if end < 2 {
			return nil, false
		}
		word := text[1:end]
		if strings.ContainsAny(word, " \n</\"'=!") {
			return nil, false
		}
		rest := text[end+1:]
		at := matchingEnd(rest, word)
		if at < 0 {
			return nil, false
		}
		inner := rest[:at]
		var value any = lenient.Text(trimNewlines(inner))
		if t := strings.TrimSpace(inner); strings.HasPrefix(t, "<") {
			if v, ok := children(t, depth+1); ok {
				value = v
			}
		}
		if old, again := out[word]; again {
			if list, ok := old.([]any); ok && len(keys) > 0 {
				out[word] = append(list, value)
			} else {
				out[word] = []any{old, value}
			}
		} else {
			out[word] = value
		}
		keys = append(keys, word)
		text = strings.TrimSpace(rest[at+len("</>")+len(word):])
	}
	return out, len(out) > 0
}

// matchingEnd finds the end of an element behind its opening tag, over elements
// of the same name within it.
func matchingEnd(text, word string) int {
	open, end := "<"+word+">", "</"+word+">"
	depth := 0
	for i := 0; i < len(text); {
		n := strings.IndexByte(text[i:], '<')
		if n < 0 {
			return -1
		}
		i += n
		switch {
		case strings.HasPrefix(text[i:], end):
			if depth == 0 {
				return i
			}
			depth--
		case strings.HasPrefix(text[i:], open):
			depth++
		}
		i++
	}
	return -1
}

// looseElements reads elements without the tool's tag around them.
func (k *construct) looseElements(cand *Candidate) outcome {
	c := k.c
	tool := k.lookup(cand.Name)
	args := map[string]any{}
	cand.Arguments = args
	var keys []string
	for {
		at := c.SpaceEnd(c.Offset())
		t, ok := k.tag(at)
		if !ok || t.close || tool == nil || !hasProperty(tool, t.word) {
			break
		}
		c.Seek(t.end)
		v := &valueScan{k: k, key: t.word, open: t, tool: tool}
		to, next, ok := v.elementEnd(t, tag{})
		if !ok {
			cand.Truncated = true
			to, next = c.Limit(), c.Limit()
		}
		k.addElement(args, &keys, t.word, k.elementValue(string(c.Slice(t.end, to)), propertyOf(tool, t.word), 0))
		c.Seek(next)
	}
	if t, ok := k.tag(c.SpaceEnd(c.Offset())); ok && t.close && t.word == cand.Name {
		c.Seek(t.end)
	}
	k.deliver(cand, c.Offset())
	return k.finish()
}
