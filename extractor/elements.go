package extractor

import (
	"errors"
	"strings"

	"github.com/callwright/callwright/internal/lenient"
	"github.com/callwright/callwright/registry"
)

// elements reads a call whose tag is the tool's name and whose parameters' tags
// are their names.
func (s *Scanner) elements(k *construct) bool {
	for {
		at := s.c.SpaceEnd(s.c.Offset())
		for s.skipsPrefix(k, &at) {
		}
		t, ok := s.tag(at)
		if !ok || t.close {
			break
		}
		if t.wrapper() && k.got == 0 && !s.protocolTag(t) {
			s.c.Seek(t.end)
			continue
		}
		if k.got > 0 {
			k.next = at
		}
		s.c.Seek(t.end)
		if !s.elementCall(k, &Candidate{Named: true, Name: t.word}, t) {
			if k.got == 0 {
				return s.fail(k)
			}
			break
		}
	}
	for range 4 {
		at := s.c.SpaceEnd(s.c.Offset())
		if !s.skipsPrefix(k, &at) {
			break
		}
		s.c.Seek(at)
	}
	s.closing(k)
	return s.close(k)
}

// elementCall reads a call of elements behind its opening tag.
func (s *Scanner) elementCall(k *construct, cand *Candidate, t tag) bool {
	c := s.c
	if t.call() && t.name != "" {
		cand.Name = t.name
	}
	tool := s.lookup(cand.Name)
	args := map[string]any{}
	cand.Arguments = args
	for key, value := range t.attrs { // <get_weather city="Rome"/>
		if key != "name" || !t.call() {
			args[key] = lenient.Text(value)
		}
	}
	if t.selfClose {
		return s.deliver(k, cand, t.end)
	}
	var keys []string
	s.watch(k, cand.Name, &keys, args)
	for {
		at := c.SpaceEnd(c.Offset())
		for s.skipsPrefix(k, &at) {
		}
		b, ok := c.At(at)
		if !ok {
			c.Seek(at)
			cand.Truncated = true
			break
		}
		if b != '<' {
			if len(args) > 0 || !s.elementText(k, cand, t, tool) {
				return false
			}
			break
		}
		p, isTag := s.tag(at)
		if !isTag {
			if s.cutTag(at) {
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
			s.addElement(args, &keys, p.word, lenient.Text(""))
			continue
		}
		v := &valueScan{s: s, k: k, key: p.word, open: p, tool: tool}
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
		case (key == "tool_name" || key == "name" || key == "server_name") && s.namesItself(t):
			if key == "server_name" {
				args["\x00server"] = strings.TrimSpace(raw)
			} else {
				cand.Name = strings.TrimSpace(raw)
				tool = s.lookup(cand.Name)
			}
		case isArgsKey(key) && (tool == nil || !hasProperty(tool, key)):
			s.wrappedElements(args, &keys, raw)
		default:
			s.addElement(args, &keys, key, s.elementValue(k, raw, propertyOf(tool, key), 0))
		}
		if cand.Truncated {
			break
		}
	}
	if server, ok := args["\x00server"].(string); ok {
		delete(args, "\x00server")
		for _, full := range []string{server + "." + cand.Name, server + "__" + cand.Name, "mcp__" + server + "__" + cand.Name} {
			if s.known && s.o.Registry.Get(cand.Name) == nil && s.o.Registry.Get(full) != nil {
				cand.Name = full
			}
		}
	}
	if cand.Name == "" {
		return false
	}
	return s.deliver(k, cand, c.Offset())
}

// protocolTag reports whether a call's tag is a protocol's word and no tool's.
func (s *Scanner) protocolTag(t tag) bool { return t.word == "use_mcp_tool" }

// namesItself reports whether a call's tag is a protocol's word, and the tool's
// name one of its elements.
func (s *Scanner) namesItself(t tag) bool {
	return s.protocolTag(t) || t.call() && t.name == "" || !s.isKnown(t.word)
}

func isArgsKey(key string) bool {
	switch key {
	case "arguments", "parameters", "args", "tool_input", "input":
		return true
	}
	return false
}

// wrappedElements reads arguments in JSON or as elements within an element.
func (s *Scanner) wrappedElements(args map[string]any, keys *[]string, raw string) {
	trimmed := strings.TrimSpace(raw)
	if strings.HasPrefix(trimmed, "{") {
		if v, _, err := lenient.Parse(trimmed, lenient.Options{}); err == nil || errors.Is(err, lenient.ErrTrailing) {
			if m, ok := v.(map[string]any); ok {
				for key, value := range m {
					s.addElement(args, keys, key, value)
				}
				return
			}
		}
	}
	if v, ok := s.children(trimmed, 0); ok {
		for key, value := range v {
			s.addElement(args, keys, key, value)
		}
		return
	}
	if trimmed != "" {
		args["input"] = lenient.Text(raw)
	}
}

// elementText takes a call whose body is text: its only parameter, JSON, or lines
// of YAML.
func (s *Scanner) elementText(k *construct, cand *Candidate, t tag, tool *registry.Tool) bool {
	c := s.c
	start := c.Offset()
	v := &valueScan{s: s, k: k, key: t.word, open: t, tool: tool}
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
	s := v.s
	prefix := v.k.row.Options.Prefix
	depth := 0
	last, lastNext, end := -1, -1, -1
	for off := s.c.Offset(); ; off++ {
		b, in := s.c.At(off)
		if !in {
			break
		}
		if b != '<' {
			continue
		}
		t, isTag := s.tag(off)
		if !isTag {
			continue
		}
		if prefix != "" {
			if off < len(prefix) || !s.c.HasPrefixAt(max(off-len(prefix), s.c.Kept()), prefix) {
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
		after := s.c.SpaceEnd(t.end)
		if outer.word == "" || s.c.EOFAt(after) {
			if outer.word == "" {
				return off, t.end, true
			}
			last, lastNext = off, t.end
			continue
		}
		if n, ok := s.tag(after); ok {
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
func (s *Scanner) addElement(args map[string]any, keys *[]string, key string, value any) {
	old, again := args[key]
	if !again {
		args[key] = value
		*keys = append(*keys, key)
		if s.partial != nil {
			s.partial.Keys, s.partial.OpenKey = nil, "" // may become an array yet
		}
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
func (s *Scanner) elementValue(k *construct, raw string, schema map[string]any, depth int) any {
	if p := k.row.Options.Prefix; p != "" {
		raw = strings.ReplaceAll(raw, p, "")
	}
	raw = lenient.ValidUTF8([]byte(raw))
	trimmed := strings.TrimSpace(raw)
	if schema["type"] != "string" && strings.HasPrefix(trimmed, "<") {
		if v, ok := s.children(trimmed, depth); ok {
			return v
		}
	}
	if inner, ok := cdata(raw); ok {
		return inner
	}
	return lenient.Text(trimNewlines(raw))
}

// children reads elements that are nothing but elements.
func (s *Scanner) children(text string, depth int) (map[string]any, bool) {
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
			if v, ok := s.children(t, depth+1); ok {
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

// tags reads what a tag without a dialect's marker opens: a call's own tag, or
// one that is a known tool's name.
func (s *Scanner) tags(p int) bool {
	if b, ok := s.c.At(p + 1); !ok || !isIdentStart(b) && b != 0xEF && b != '|' && b != 0xE2 {
		return false
	}
	t, ok := s.tag(p)
	if !ok || t.close {
		return false
	}
	k := &construct{start: p, next: p, body: p, ev: s.context(p), marked: true}
	switch {
	case t.call() && t.name != "":
		// <function=f> or <invoke name="f"> without the wrapper around it.
		k.row = s.rowOf(BodyParams, p)
		if k.row == nil || s.known && !s.isKnown(t.name) && !s.paramFollows(t.end) {
			return false
		}
		if !s.paramFollows(t.end) && !s.isKnown(t.name) {
			return false
		}
		k.close = append([]string{"</tool_call>", "</function_calls>"}, k.row.Close...)
		k.ev.MissingOpen = len(k.row.Open) > 0
		s.c.Seek(p)
		return s.params(k)
	case t.call() && t.name == "" && t.word == "invoke":
		k.row = s.rowOf(BodyParams, p)
		if k.row == nil {
			return false
		}
		s.c.Seek(p)
		return s.params(k)
	case s.isKnown(t.word) && (t.selfClose || t.attrs == nil):
		k.row = s.rowOf(BodyElements, p)
		if k.row == nil || !t.selfClose && !s.elementFollows(t) {
			return false
		}
		s.c.Seek(p)
		k.close = k.row.Close
		return s.elements(k)
	}
	return false
}

// rowOf returns the row that reads a body whose tag stands at p without markers.
func (s *Scanner) rowOf(body Body, p int) *Dialect {
	fallback := (*Dialect)(nil)
	for i := range s.t.rows {
		row := &s.t.rows[i]
		if row.Body != body || row.Options.Prefix != "" {
			continue
		}
		if matchAny(s.c, p, row.Options.Tags) >= 0 {
			return row
		}
		if fallback == nil {
			fallback = row
		}
	}
	return fallback
}

// paramFollows reports whether a parameter, JSON or the call's end stands behind
// a call's tag.
func (s *Scanner) paramFollows(off int) bool {
	at := s.c.SpaceEnd(off)
	b, ok := s.c.At(at)
	if ok && b == '{' {
		return s.objectAt(at)
	}
	t, ok := s.tag(at)
	return ok && (t.param() || t.close && t.call())
}

// elementFollows reports whether behind a known tool's tag stands what makes it a
// call and not markup: an element, JSON, a key and a colon, or its end.
func (s *Scanner) elementFollows(open tag) bool {
	at := s.c.SpaceEnd(open.end)
	b, ok := s.c.At(at)
	if !ok {
		return false
	}
	if b == '{' {
		return s.objectAt(at)
	}
	if t, ok := s.tag(at); ok {
		return t.close && t.word == open.word || !t.close
	}
	tool := s.lookup(open.word)
	if isIdentStart(b) && tool != nil {
		end := s.nameEnd(at)
		if n, _ := s.c.At(end); n == ':' && hasProperty(tool, string(s.c.Slice(at, end))) {
			return true
		}
	}
	// Text for the only parameter, with the tag's end on its heels.
	if tool != nil && len(tool.Order()) == 1 {
		_, ok := s.find(at, "</"+open.word+">")
		return ok
	}
	return false
}
