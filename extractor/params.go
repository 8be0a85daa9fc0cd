package extractor

import (
	"bytes"
	"strings"

	"github.com/callwright/callwright/internal/lenient"
	"github.com/callwright/callwright/registry"
)

// params reads calls whose parameters stand in tags of their own.
func (s *Scanner) params(k *construct) bool {
	for {
		at := s.c.SpaceEnd(s.c.Offset())
		for s.skipsPrefix(k, &at) {
		}
		t, ok := s.tag(at)
		if !ok || t.close || !t.call() {
			if ok && !t.close && t.wrapper() && k.got == 0 {
				s.c.Seek(t.end) // a wrapper within the wrapper
				continue
			}
			if ok && !t.close && t.param() && k.got == 0 {
				// Parameters of a call whose own tag is missing: nothing says
				// which tool is meant.
				return s.fail(k)
			}
			if e := matchAny(s.c, at, []string{"<｜tool▁sep｜>"}); e >= 0 {
				s.c.Seek(e)
				continue
			}
			if e := matchAny(s.c, at, []string{"function<｜tool▁sep｜>", "function"}); e >= 0 && k.got == 0 {
				s.c.Seek(e)
				continue
			}
			break
		}
		if k.got > 0 {
			k.next = at
		}
		s.c.Seek(t.end)
		if !s.paramCall(k, t) {
			if k.got == 0 {
				return s.fail(k)
			}
			break
		}
	}
	s.closing(k)
	return s.close(k)
}

// skipsPrefix moves over the token that leads every tag of a row's body.
func (s *Scanner) skipsPrefix(k *construct, at *int) bool {
	p := k.row.Options.Prefix
	if p == "" || !s.c.HasPrefixAt(*at, p) {
		return false
	}
	*at = s.c.SpaceEnd(*at + len(p))
	return true
}

// paramCall reads one call behind its tag.
func (s *Scanner) paramCall(k *construct, t tag) bool {
	c := s.c
	cand := &Candidate{Named: true, Name: t.name}
	if id := t.attrs["id"]; id != "" {
		cand.ID = id
	}
	args := map[string]any{}
	cand.Arguments = args
	var keys []string
	if t.selfClose {
		return s.deliver(k, cand, t.end)
	}
	if t.name == "" {
		// <function>NAME</function> and then the parameters, or the older form in
		// which the name is an element.
		at := c.SpaceEnd(t.end)
		inner, ok := s.tag(at)
		if ok && !inner.close && (inner.word == "tool_name" || inner.word == "name") {
			return s.elementCall(k, cand, t)
		}
		end := s.nameEnd(at)
		closing, ok := s.tag(c.SpaceEnd(end))
		if end == at || !ok || !closing.close || closing.word != t.word {
			return false
		}
		cand.Name = string(c.Slice(at, end))
		c.Seek(closing.end)
	}
	if at := c.SpaceEnd(c.Offset()); s.c.HasPrefixAt(at, "{") {
		c.Seek(at)
		return s.argumentsIn(k, cand, t)
	}
	tool := s.lookup(cand.Name)
	s.watch(k, cand.Name, &keys, args)
	for {
		at := c.SpaceEnd(c.Offset())
		c.Seek(at)
		p, ok := s.tag(at)
		switch {
		case !ok && c.EOF():
			// All parameters are closed: only the call's own end is missing.
			cand.Evidence.MissingClose = true
			return s.deliver(k, cand, c.Offset())
		case !ok:
			if !s.skipStray(at) {
				cand.Truncated = s.cutTag(at)
				if cand.Truncated {
					c.Seek(c.Limit())
				}
				cand.Evidence.MissingClose = true
				return s.deliver(k, cand, c.Offset())
			}
			continue
		case p.close && (p.call() || p.wrapper() || p.word == t.word || p.word == cand.Name):
			c.Seek(p.end)
			return s.deliver(k, cand, c.Offset())
		case p.close:
			c.Seek(p.end) // a stray end
			continue
		case p.param():
			key := p.name
			c.Seek(p.end)
			if key == "" {
				// <parameter>KEY</parameter> VALUE
				end := s.nameEnd(p.end)
				closing, ok := s.tag(end)
				if end == p.end || !ok || !closing.close {
					return false
				}
				key = string(c.Slice(p.end, end))
				cand.Evidence.Guess = true
				c.Seek(closing.end)
			}
			value, ok := s.paramValue(k, cand, p, key, tool)
			if ok {
				s.setParam(k, cand, args, &keys, key, value)
			}
			if cand.Truncated {
				return s.deliver(k, cand, c.Offset())
			}
		case p.call() && (p.name != "" || p.word == t.word), p.wrapper():
			cand.Evidence.MissingClose = true
			return s.deliver(k, cand, at)
		case p.selfClose:
			c.Seek(p.end)
		default:
			// A parameter's own name as the tag.
			c.Seek(p.end)
			value, ok := s.paramValue(k, cand, p, p.word, tool)
			if ok {
				s.setParam(k, cand, args, &keys, p.word, value)
				if tool != nil && !hasProperty(tool, p.word) {
					cand.Evidence.Guess = true
				}
			}
			if cand.Truncated {
				return s.deliver(k, cand, c.Offset())
			}
		}
	}
}

// watch shows the parameters read so far.
func (s *Scanner) watch(k *construct, name string, keys *[]string, values map[string]any) {
	s.show(k, Partial{Name: name, Keys: *keys, Values: values})
}

func (s *Scanner) setParam(k *construct, cand *Candidate, args map[string]any, keys *[]string, key string, value any) {
	if _, twice := args[key]; twice {
		cand.Fixes.Add(s.c.Offset(), lenient.DuplicateKey)
		if k.row != nil && k.row.Options.FirstWins {
			return
		}
	}
	args[key] = value
	*keys = append(*keys, key)
	if s.partial != nil {
		s.partial.Keys = *keys
		s.partial.OpenKey = ""
	}
}

// argumentsIn reads the JSON arguments within a call's tags.
func (s *Scanner) argumentsIn(k *construct, cand *Candidate, t tag) bool {
	c := s.c
	from := c.Offset()
	r := lenient.NewReader(c, lenient.Options{Close: append(plainClose(k.close), "</function>", "</invoke>"), Watch: s.o.Watch})
	s.show(k, Partial{Name: cand.Name, Arguments: r})
	v, err := r.Value()
	if err != nil {
		c.Seek(from)
		return s.broken(k, from, err)
	}
	if k.ev.MissingOpen {
		cand.Dialect = s.t.byName["llama_function_tag"]
	}
	cand.Arguments, cand.Fixes = v, r.Fixes
	cand.Truncated = r.OpenAtEnd > 0 || r.CutToken
	at := c.SpaceEnd(c.Offset())
	if closing, ok := s.tag(at); ok && closing.close && (closing.call() || closing.word == t.word || closing.word == cand.Name) {
		c.Seek(closing.end)
	}
	return s.deliver(k, cand, c.Offset())
}

// skipStray moves over text between tags, up to the next tag of a call, and
// reports whether there is one nearby.
func (s *Scanner) skipStray(at int) bool {
	const nearby = 256
	for off := at; off < at+nearby; off++ {
		b, ok := s.c.At(off)
		if !ok {
			return false
		}
		if b == '<' {
			if t, ok := s.tag(off); ok && (t.param() || t.call() || t.close && t.wrapper()) {
				s.c.Seek(off)
				return true
			}
		}
	}
	return false
}

// cutTag reports whether the text ends at or soon behind off, within a tag.
func (s *Scanner) cutTag(off int) bool {
	b, ok := s.c.At(off)
	if !ok || b != '<' {
		return false
	}
	return s.c.EOFAt(off + maxTag)
}

// paramValue reads a parameter's value behind its tag, and what closes it.
func (s *Scanner) paramValue(k *construct, cand *Candidate, p tag, key string, tool *registry.Tool) (any, bool) {
	start := s.c.Offset()
	v := &valueScan{s: s, k: k, key: key, open: p, tool: tool}
	if s.partial != nil {
		s.partial.OpenKey, s.partial.OpenFrom, s.partial.OpenSafe, s.partial.OpenRaw = key, start, start, p.kind == "string"
		if p.kind != "" && p.kind != "string" || k.row.Options.Entities {
			s.partial.OpenKey = ""
		}
	}
	to, next, ok := v.end(start, !s.flat)
	if v.nested && v.missing && !s.flat {
		// Tags within the value took its own end for theirs: they were only
		// spoken of.
		s.flat = true
		to, next, ok = v.end(start, false)
	}
	if !ok {
		// The text ended inside the value.
		cand.Truncated = true
		to, next = s.c.Limit(), s.c.Limit()
		to = v.trimCut(start, to)
	}
	if v.foreign {
		cand.Evidence.ForeignClose = true
	}
	if v.missing {
		cand.Evidence.MissingClose = true
	}
	raw := string(s.c.Slice(start, to))
	s.c.Seek(next)
	return s.paramText(k, p, raw, v.missing), true
}

// paramText makes a parameter's value of the text between its tags: all of it
// but for one newline at either end, its type for the schema to say unless the
// tag says it.
func (s *Scanner) paramText(k *construct, p tag, raw string, missing bool) any {
	if p.kind == "string" {
		return lenient.ValidUTF8([]byte(raw))
	}
	raw = trimNewlines(raw)
	if inner, ok := cdata(raw); ok {
		return inner
	}
	if trimmed := strings.TrimSpace(raw); strings.HasPrefix(trimmed, "<value>") && strings.HasSuffix(trimmed, "</value>") {
		raw = trimNewlines(trimmed[len("<value>") : len(trimmed)-len("</value>")])
	}
	if missing {
		raw = dropForeignClose(raw)
	}
	if k.row != nil && k.row.Options.Entities && !strings.Contains(raw, "<") {
		raw = entities.Replace(raw)
	}
	raw = lenient.ValidUTF8([]byte(raw))
	if p.kind != "" && p.kind != "string" {
		if v, _, err := lenient.Parse(raw, lenient.Options{Python: true}); err == nil {
			if _, isString := v.(string); !isString || strings.HasPrefix(strings.TrimSpace(raw), `"`) {
				return v
			}
		}
	}
	return lenient.Text(raw)
}

// dropForeignClose takes a last closing tag off a value that nothing in it opens.
func dropForeignClose(raw string) string {
	trimmed := strings.TrimRight(raw, " \n\r\t")
	i := strings.LastIndex(trimmed, "</")
	if i < 0 || !strings.HasSuffix(trimmed, ">") || strings.ContainsAny(trimmed[i+2:len(trimmed)-1], "<> \n") {
		return raw
	}
	word := trimmed[i+2 : len(trimmed)-1]
	if strings.Contains(trimmed[:i], "<"+word) {
		return raw
	}
	return strings.TrimSuffix(strings.TrimSuffix(trimmed[:i], "\n"), "\r")
}

// trimNewlines takes one newline off either end.
func trimNewlines(s string) string {
	if rest, ok := strings.CutPrefix(s, "\r\n"); ok {
		s = rest
	} else {
		s = strings.TrimPrefix(s, "\n")
	}
	if rest, ok := strings.CutSuffix(s, "\r\n"); ok {
		return rest
	}
	return strings.TrimSuffix(s, "\n")
}

// cdata takes <![CDATA[…]]> off a value that is nothing else.
func cdata(s string) (string, bool) {
	t := strings.TrimSpace(s)
	inner, ok := strings.CutPrefix(t, "<![CDATA[")
	if !ok {
		return s, false
	}
	inner, ok = strings.CutSuffix(inner, "]]>")
	if !ok {
		return s, false
	}
	return strings.ReplaceAll(inner, "]]]]><![CDATA[>", "]]>"), true
}

// valueScan finds the end of a value that is raw text: the closing tag that
// counts is the one that something legal follows.
type valueScan struct {
	s       *Scanner
	k       *construct
	key     string
	open    tag
	tool    *registry.Tool
	nested  bool // tags of a call were seen within the value
	missing bool // its closing tag is missing
	foreign bool // another tag closes it
}

// end returns where the value ends and where to go on. With nesting, calls within
// the value are part of it.
func (v *valueScan) end(start int, nesting bool) (to, next int, ok bool) {
	s := v.s
	depth, inner := 0, 0 // open calls, and open parameters, within the value
	v.missing, v.foreign = false, false
	prefix := v.k.row.Options.Prefix
	inCDATA := s.c.HasPrefixAt(start, "<![CDATA[")
	fallback, fallbackNext := -1, -1
	for off := start; ; {
		p := s.c.Slice(off, s.c.Limit())
		i := bytes.IndexByte(p, '<')
		if i < 0 {
			i = len(p)
		}
		off += i
		if depth == 0 && s.partial != nil && !v.nested {
			s.partial.OpenSafe = off
		}
		b, in := s.c.At(off)
		if !in {
			break
		}
		if b != '<' {
			continue
		}
		if inCDATA {
			if s.c.HasPrefixAt(off, "<![CDATA[") {
				off += len("<![CDATA[")
				continue
			}
			if before := s.c.Slice(max(start, off-3), off); string(before) != "]]>" {
				off++
				continue
			}
		}
		t, isTag := s.tag(off)
		if !isTag {
			if e := matchAny(s.c, off, v.k.close); e >= 0 && depth == 0 && s.c.EOFAt(s.c.SpaceEnd(e)) {
				v.missing = true
				return off, off, true
			}
			off++
			continue
		}
		at := off
		if prefix != "" {
			at = off - len(prefix)
			if at < start || !s.c.HasPrefixAt(at, prefix) {
				off = t.end
				continue
			}
		}
		switch {
		case !t.close && (t.call() && (t.name != "" || t.word == "invoke") || t.wrapper()):
			if nesting && !t.selfClose {
				v.nested = true
				depth++
			}
		case t.close && (t.call() || t.wrapper()) && depth > 0:
			depth--
		case !t.close && t.param() && t.name != "" && nesting && (depth > 0 || !v.opensNext(t, start)):
			v.nested = true
			inner++
		case t.close && t.param() && inner > 0:
			inner--
		case t.close && v.closesValue(t):
			if v.legal(t.end) {
				return at, t.end, true
			}
		case depth > 0:
		case t.close && (t.call() || t.wrapper() || t.word == v.open.word):
			// The call ends here: the value's own end is missing.
			if fallback < 0 && s.endsHere(t.end) {
				fallback, fallbackNext = at, at
			}
			if v.endsCall(t) {
				v.missing = true
				return at, at, true
			}
		case t.close && !v.known(t.word) && v.legalParam(t.end):
			// Another tag in the place of the value's own.
			if !strings.Contains(string(s.c.Slice(start, off)), "<"+t.word) {
				v.foreign = true
				return at, t.end, true
			}
		case !t.close && t.param() && t.name != "" && v.opensNext(t, start):
			v.missing = true
			return at, at, true
		}
		off = t.end
	}
	if fallback >= 0 && depth == 0 {
		v.missing = true
		return fallback, fallbackNext, true
	}
	return 0, 0, false
}

func (s *Scanner) lineBefore(off, start int) bool {
	for i := off - 1; i >= start; i-- {
		switch b, _ := s.c.At(i); b {
		case ' ', '\t', '\r':
		case '\n':
			return true
		default:
			return false
		}
	}
	return true
}

// closesValue reports whether a closing tag is the value's own.
func (v *valueScan) closesValue(t tag) bool {
	return t.param() || t.word == v.open.word && v.open.word != "" || t.word == v.key
}

func (v *valueScan) known(word string) bool { return word == v.key }

// legal reports whether what stands behind a value's closing tag can follow it.
func (v *valueScan) legal(off int) bool {
	s := v.s
	next := s.c.SpaceEnd(off)
	for s.skipsPrefix(v.k, &next) {
	}
	b, ok := s.c.At(next)
	if !ok {
		return true
	}
	if b != '<' && b != '[' {
		return false
	}
	t, ok := s.tag(next)
	if ok {
		switch {
		case t.param() && !t.close, t.call(), t.wrapper():
			return true
		case v.open.param() && t.close && t.param():
			return false // its own closing tag comes once more: this one is text
		case !t.close && v.tool != nil && hasProperty(v.tool, t.word):
			return true
		case t.close && v.k.row != nil && t.word != v.key:
			return s.closer(next, v.k.close) >= 0 && s.known && s.isKnown(t.word) || matchAny(s.c, next, v.k.close) >= 0
		}
		return false
	}
	return matchAny(s.c, next, v.k.close) >= 0 || s.endsTurn(next) || s.cutTag(next) && s.cutClose(next, closingWords)
}

// closingWords are what may be cut off at the end of a text.
var closingWords = []string{"</function>", "</invoke>", "</parameter>", "</tool_call>", "</function_calls>", "<parameter", "</minimax:tool_call>", "</｜DSML｜"}

// legalParam reports whether another parameter or the call's end follows.
func (v *valueScan) legalParam(off int) bool {
	s := v.s
	next := s.c.SpaceEnd(off)
	for s.skipsPrefix(v.k, &next) {
	}
	t, ok := s.tag(next)
	if !ok {
		return false
	}
	return t.param() && !t.close && t.name != "" || t.close && t.call() && v.endsCall(t)
}

// endsCall reports whether what stands behind a call's closing tag can follow a
// call rather than text about one.
func (v *valueScan) endsCall(t tag) bool {
	s := v.s
	next := s.c.SpaceEnd(t.end)
	if s.c.EOFAt(next) {
		return true
	}
	if t2, ok := s.tag(next); ok {
		return t2.wrapper() || t2.call() && !t2.close || t2.close && t.word == "parameter"
	}
	if matchAny(s.c, next, v.k.close) >= 0 || s.endsTurn(next) {
		return true
	}
	return t.wrapper() && s.lineBefore(t.start, s.c.Kept()) && s.endsHere(t.end)
}

// opensNext reports whether a parameter's tag within a value opens the next
// parameter, the end of this one being missing.
func (v *valueScan) opensNext(t tag, start int) bool {
	if t.name == v.key {
		return false
	}
	if v.tool != nil && v.tool.Parameters != nil {
		return hasProperty(v.tool, t.name)
	}
	return v.s.lineBefore(t.start, start)
}

// trimCut takes an incomplete tag off the end of a value that the text cut off.
func (v *valueScan) trimCut(start, to int) int {
	p := string(v.s.c.Slice(start, to))
	if i := strings.LastIndexByte(p, '<'); i >= 0 && len(p)-i < 24 {
		for _, w := range closingWords {
			if strings.HasPrefix(w, p[i:]) {
				return start + i
			}
		}
	}
	return to
}

// hasProperty reports whether a tool's schema names a property.
func hasProperty(tool *registry.Tool, key string) bool {
	properties, _ := tool.Parameters["properties"].(map[string]any)
	_, ok := properties[key]
	return ok
}

// propertyOf returns what a tool's schema says of a property.
func propertyOf(tool *registry.Tool, key string) map[string]any {
	if tool == nil {
		return nil
	}
	properties, _ := tool.Parameters["properties"].(map[string]any)
	p, _ := properties[key].(map[string]any)
	return p
}
