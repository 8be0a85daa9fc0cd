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
	if t, ok := l.tag(off); ok {
		return off, !t.close && !t.call() && (l.isKnown(t.word) || hasBody(rows, dialect.BodyElements))
	}
	// The name without brackets, and its elements on the lines behind it.
	end := l.nameEnd(off)
	b, _ := l.c.At(end)
	return off, end > off && b == '\n' && l.known() && l.childFollows(end, string(l.c.Slice(off, end)))
}

func (elementsBody) read(k *construct) outcome {
	if at := k.c.Offset(); isIdentStart(k.c.Peek()) {
		end := k.nameEnd(at)
		k.ev.Guess = true
		k.c.Seek(end)
		return k.looseElements(&Candidate{Named: true, Name: string(k.c.Slice(at, end))})
	}
	if t, ok := k.tag(k.start); ok && t.end == k.opened {
		k.c.Seek(k.start) // the marker is the call's own tag
	}
	for {
		at := k.c.SpaceEnd(k.c.Offset())
		for k.skipsPrefix(&at) {
		}
		t, ok := k.tag(at)
		if !ok {
			t, ok = k.openTag(at)
		}
		if !ok || t.close {
			break
		}
		if t.wrapper() && k.got == 0 {
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
	if t.call() && t.name != "" {
		cand.Name = t.name
	}
	e := &elementReader{construct: k, cand: cand, open: t, tool: k.lookup(cand.Name), args: map[string]any{}}
	cand.Arguments = e.args
	for key, value := range t.attrs { // <get_weather city="Rome"/>
		if key != "name" || !t.call() {
			e.args[key] = lenient.Text(value)
		}
	}
	if t.selfClose {
		return k.deliver(cand, t.end)
	}
	k.showParams(cand.Name, e.args)
	if !e.read() {
		return false
	}
	if e.server != "" {
		for _, full := range []string{e.server + "." + cand.Name, e.server + "__" + cand.Name, "mcp__" + e.server + "__" + cand.Name} {
			if k.known() && k.registry.Get(cand.Name) == nil && k.registry.Get(full) != nil {
				cand.Name = full
			}
		}
	}
	return cand.Name != "" && k.deliver(cand, k.c.Offset())
}

// elementReader reads the elements of one call.
type elementReader struct {
	*construct
	cand   *Candidate
	open   tag // of the call
	tool   *registry.Tool
	args   map[string]any
	keys   []string
	server string // the MCP server that the call names
}

// read reads up to the call's end, and reports whether it is a call.
func (e *elementReader) read() bool {
	c := e.c
	for !e.cand.Truncated {
		at := c.SpaceEnd(c.Offset())
		for e.skipsPrefix(&at) {
		}
		b, ok := c.At(at)
		if !ok {
			c.Seek(at)
			e.cand.Truncated = true
			break
		}
		if e.open.unclosed && c.HasPrefixAt(at, "/>") {
			c.Seek(at + len("/>"))
			return true
		}
		if b != '<' || c.HasPrefixAt(at, "<![CDATA[") {
			return len(e.args) == 0 && e.elementText(e.cand, e.open, e.tool)
		}
		t, isTag := e.tag(at)
		switch {
		case !isTag && e.cutTag(at):
			c.Seek(c.Limit())
			e.cand.Truncated = true
		case !isTag:
			return false
		case t.close && (t.word == e.open.word || t.word == e.cand.Name || t.wrapper()):
			c.Seek(t.end)
			return true
		case t.close && (t.param() || t.word == "arguments" || e.args[t.word] != nil):
			c.Seek(t.end) // a stray end
		case t.close:
			return false
		case t.selfClose:
			c.Seek(t.end)
			e.add(t.word, lenient.Text(""))
		default:
			c.Seek(t.end)
			e.element(t)
		}
	}
	return true
}

// element reads one element behind its opening tag.
func (e *elementReader) element(t tag) {
	c := e.c
	v := &valueScan{k: e.construct, key: t.word, open: t, tool: e.tool}
	to, next, ok := v.elementEnd(t, e.open)
	key := t.word
	if t.param() && t.name != "" {
		key = t.name
	}
	if !ok {
		e.cand.cutIn(key)
		to, next = c.Limit(), c.Limit()
	}
	raw := string(c.Slice(t.end, to))
	c.Seek(next)
	switch {
	case !ok:
		e.args[key] = lenient.Text(lenient.ValidUTF8([]byte(raw)))
	case key == "server_name" && e.namesItself(e.open):
		e.server = strings.TrimSpace(raw)
	case (key == "tool_name" || key == "name") && e.namesItself(e.open):
		e.cand.Name = strings.TrimSpace(raw)
		e.tool = e.lookup(e.cand.Name)
	case isArgsKey(key) && (e.tool == nil || !hasProperty(e.tool, key)):
		e.wrapped(raw)
	default:
		e.add(key, e.elementValue(raw, propertyOf(e.tool, key), 0))
	}
}

// wrapped reads arguments in JSON or as elements within an element.
func (e *elementReader) wrapped(raw string) {
	trimmed := strings.TrimSpace(raw)
	if strings.HasPrefix(trimmed, "{") {
		if v, _, err := lenient.Parse(trimmed, lenient.Options{}); err == nil || errors.Is(err, lenient.ErrTrailing) {
			if m, ok := v.(map[string]any); ok {
				for key, value := range m {
					e.add(key, value)
				}
				return
			}
		}
	}
	if v, ok := children(trimmed, 0); ok {
		for key, value := range v {
			e.add(key, value)
		}
		return
	}
	if trimmed != "" {
		e.args["input"] = lenient.Text(raw)
	}
}

// add sets a parameter; one that comes again makes an array.
func (e *elementReader) add(key string, value any) {
	old, twice := e.args[key]
	if !twice {
		e.args[key] = value
		e.keys = append(e.keys, key)
		e.showKeys(nil) // may become an array yet
		return
	}
	if list, ok := old.([]any); ok {
		e.args[key] = append(list, value)
		return
	}
	e.args[key] = []any{old, value}
}

// namesItself reports whether a call's tag is a word of the dialect, and the tool's
// name one of its elements.
func (l *look) namesItself(t tag) bool { return t.call() && t.name == "" || !l.isKnown(t.word) }

func isArgsKey(key string) bool {
	switch key {
	case "arguments", "parameters", "args", "tool_input", "input":
		return true
	}
	return false
}

// elementText takes a call whose body is text: its only parameter, or the only one that
// it must have; JSON; or lines of YAML.
func (k *construct) elementText(cand *Candidate, t tag, tool *registry.Tool) bool {
	c := k.c
	start := c.Offset()
	v := &valueScan{k: k, key: t.word, open: t, tool: tool}
	to, next, ok := v.elementEnd(t, tag{})
	if t.unclosed {
		if next, ok = k.find(start, "/>"); ok {
			to = next - len("/>")
		}
	}
	if !ok {
		cand.cutIn("")
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
	if args, ok := mappingOf(raw, tool); ok {
		cand.Arguments = args
		return true
	}
	if tool == nil || trimmed == "" {
		return trimmed == ""
	}
	if name, certain := tool.TextParameter(); name == "" || !certain && k.looksStructured(start) {
		return false
	}
	cand.Arguments = lenient.Text(plainText(trimNewlines(raw)))
	return true
}

// elementEnd finds the end of an element: its closing tag that another element, the
// call's end or the text's end follows.
func (v *valueScan) elementEnd(open, outer tag) (to, next int, ok bool) {
	k := v.k
	if k.row != nil && k.row.Options.Prefix != "" {
		return v.prefixedEnd(open)
	}
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
		if !isTag || !t.close {
			continue
		}
		if t.word != open.word {
			if outer.word != "" && t.word == outer.word {
				if last >= 0 {
					return last, lastNext, true
				}
				if end < 0 {
					end = off // the element's own end may be missing
				}
			}
			continue
		}
		if outer.word == "" {
			return off, t.end, true
		}
		if n, ok := k.tag(k.c.SpaceEnd(t.end)); ok {
			again := n.close && n.word == t.word && !strings.Contains(string(k.c.Slice(k.c.Offset(), off)), "<"+t.word)
			if n.close && (n.word == outer.word || n.wrapper()) || !n.close && v.isChild(n) || again {
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

// isChild reports whether a tag may be another element of the call.
func (v *valueScan) isChild(t tag) bool {
	return v.tool == nil || hasProperty(v.tool, t.word) || v.tool.Parameters == nil || t.word == "tool_name" || isArgsKey(t.word)
}

// prefixedEnd finds the end of an element whose tags a token of the row leads.
func (v *valueScan) prefixedEnd(open tag) (to, next int, ok bool) {
	c, prefix := v.k.c, v.k.row.Options.Prefix
	depth := 0
	for off := c.Offset(); ; off++ {
		b, in := c.At(off)
		if !in {
			return 0, 0, false
		}
		if b != '<' || off < len(prefix) || !c.HasPrefixAt(max(off-len(prefix), c.Kept()), prefix) {
			continue
		}
		t, isTag := v.k.tag(off)
		switch {
		case !isTag || t.word != open.word:
		case !t.close:
			depth++
		case depth == 0:
			return off - len(prefix), t.end, true
		default:
			depth--
		}
	}
}

// looseElements reads elements without the tool's tag around them.
func (k *construct) looseElements(cand *Candidate) outcome {
	c := k.c
	e := &elementReader{construct: k, cand: cand, tool: k.lookup(cand.Name), args: map[string]any{}}
	cand.Arguments = e.args
	for !cand.Truncated {
		t, ok := k.tag(c.SpaceEnd(c.Offset()))
		if !ok || t.close || e.tool == nil || !hasProperty(e.tool, t.word) {
			break
		}
		c.Seek(t.end)
		v := &valueScan{k: k, key: t.word, open: t, tool: e.tool}
		to, next, ok := v.elementEnd(t, tag{})
		if !ok {
			cand.cutIn(t.word)
			to, next = c.Limit(), c.Limit()
		}
		e.add(t.word, k.elementValue(string(c.Slice(t.end, to)), propertyOf(e.tool, t.word), 0))
		c.Seek(next)
	}
	if t, ok := k.tag(c.SpaceEnd(c.Offset())); ok && t.close && t.word == cand.Name {
		c.Seek(t.end)
	}
	k.deliver(cand, c.Offset())
	return k.finish()
}
