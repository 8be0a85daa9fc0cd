package extractor

import (
	"bytes"
	"strings"
)

// lineStart tries what may begin at the beginning of a line, where the cursor is.
func (s *Scanner) lineStart() {
	if s.fence != nil || s.quiet != "" {
		return
	}
	for s.lineOpens() {
	}
}

// lineOpens tries one construct and reports whether it was one, so that another
// may follow.
func (s *Scanner) lineOpens() bool {
	s.hand()
	line := s.c.Offset()
	off := s.blanks(line)
	b, ok := s.c.At(off)
	if !ok {
		return false
	}
	if second, ok := s.c.At(off + 1); !ok || !s.mayBegin(b, second) {
		return false
	}
	switch {
	case b == '>' && !s.c.HasPrefixAt(off, ">>>"):
		s.skipLine() // a quotation
		return false
	case b == '\n' || b == '{' || b == '[' || b == '<' || b == '`':
		return false
	}
	for _, m := range s.t.line[b] {
		if end := m.match(s.c, off); end >= 0 {
			switch m.kind {
			case opens:
				if s.dialect(m, off, end) && s.progressed(line) {
					return true
				}
				s.c.Seek(line)
			case thinks:
				if s.opensReasoning(off, m.form) {
					return s.reason(m.form, off, end, false)
				}
			}
		}
	}
	if b == 'T' || b == '*' || b == 't' {
		s.thought = s.thought || s.labelAt(off, "Thought") >= 0
	}
	if b|0x20 == 'o' && s.labelAt(off, "Observation") >= 0 {
		s.skipLine() // what a tool said, or what the model imagines that it did
		return false
	}
	for _, row := range s.t.labels {
		if first := row.Options.Label[0]; b|0x20 != first|0x20 && b != '*' && b != '#' && b != '_' {
			continue
		}
		if s.label(line, off, row) && s.progressed(line) {
			return true
		}
		s.c.Seek(line)
	}
	if s.known && (isIdentStart(b) || b >= '0' && b <= '9' || b == '-') {
		if s.knownLine(line, off, b) && s.progressed(line) {
			return true
		}
		s.c.Seek(line)
	}
	return false
}

// progressed reports whether the cursor is behind a line's beginning.
func (s *Scanner) progressed(line int) bool { return s.c.Offset() > line }

// skipLine moves to the line's end: what it says is text.
func (s *Scanner) skipLine() {
	for {
		rest := s.c.Rest()
		i := bytes.IndexByte(rest, '\n')
		if i >= 0 {
			s.note(rest[:i])
			s.c.Skip(i)
			return
		}
		s.note(rest)
		s.c.Skip(len(rest))
		s.flush()
		if !s.c.Fill() {
			return
		}
	}
}

// knownLine tries a line that begins with a known tool's name.
func (s *Scanner) knownLine(line, off int, b byte) bool {
	c := s.c
	k := &construct{start: line, next: off, body: off}
	if b == '-' || b >= '0' && b <= '9' { // 1. f(a=1)
		end := off
		for {
			n, ok := c.At(end)
			if !ok || n < '0' || n > '9' || end > off+2 {
				break
			}
			end++
		}
		if n, _ := c.At(end); n != '.' && n != ')' && n != '-' {
			return false
		}
		off = s.blanks(end + 1)
	}
	end := s.knownAt(off)
	if end < 0 {
		return s.leak(k, line, off)
	}
	n, ok := c.At(end)
	if !ok {
		return false
	}
	name := string(c.Slice(off, end))
	k.ev = s.context(line)
	k.ev.MissingOpen = true
	next := c.SpaceEnd(end)
	for n == ':' { // an index behind the name
		if i := s.nameEnd(end + 1); i > end+1 && s.isKnown(string(c.Slice(off, i))) {
			end = i
			name = string(c.Slice(off, end))
			n, _ = c.At(end)
			next = c.SpaceEnd(end)
			continue
		}
		break
	}
	if n == '>' { // functions.f:0>{…}
		next = c.SpaceEnd(end + 1)
	}
	brace, _ := c.At(next)
	switch {
	case n == '(':
		k.row = s.t.byName["pythonic"]
		k.ev.MissingOpen = false
		c.Seek(off)
		return s.pythonic(k)
	case brace == '{' && s.objectAt(next) && (n == '{' || n == '>' || n == '\n' || n == ' '):
		k.row = s.t.byName["glm4_9b"]
		if strings.Contains(name, ":") {
			k.row = s.t.byName["kimi_k2"]
		}
		c.Seek(next)
		return s.bareNamed(k, name)
	case c.HasPrefixAt(next, "<|content|>") || c.HasPrefixAt(next, "```json\n") || c.HasPrefixAt(next, "<arg_key>"):
		if c.HasPrefixAt(next, "<arg_key>") {
			k.row, k.marked = s.t.byName["glm45"], true
			k.close = k.row.Close
			k.ev.MissingOpen = true
			c.Seek(off)
			return s.keyValue(k)
		}
		k.row = s.t.byName["functionary_v2"]
		if c.HasPrefixAt(next, "<|content|>") {
			next = c.SpaceEnd(next + len("<|content|>"))
		}
		c.Seek(next)
		return s.bareNamed(k, name)
	case (n == ':' || n == '\n') && s.childFollows(end, name):
		// The tag's name on a line of its own, and its elements behind it.
		k.row, k.marked = s.t.byName["morph_xml"], true
		k.ev.Guess = true
		cand := &Candidate{Named: true, Name: name}
		if n == ':' {
			end++
		}
		c.Seek(c.SpaceEnd(end))
		return s.looseElements(k, cand)
	case n == ':':
		at := s.blanks(end + 1)
		if b, _ := c.At(at); b == '{' && s.objectAt(at) {
			k.row = s.t.byName["glm4_9b"]
			c.Seek(at)
			return s.bareNamed(k, name)
		}
	}
	return false
}

// bareNamed reads arguments behind a known name that no marker announced.
func (s *Scanner) bareNamed(k *construct, name string) bool {
	c := s.c
	for {
		before := k.got
		at := c.Offset()
		k.row = orRow(k.row, s.t.byName["glm4_9b"])
		ok := s.argumentsBare(k, name)
		if !ok || k.got == before {
			if k.got == 0 {
				c.Seek(at)
				return s.fail(k)
			}
			break
		}
		// f{…}g{…}: more of them on its heels.
		next := c.SpaceEnd(c.Offset())
		end := s.knownAt(next)
		if end < 0 {
			break
		}
		brace := c.SpaceEnd(end)
		if b, _ := c.At(brace); b != '{' || !s.objectAt(brace) {
			break
		}
		name = string(c.Slice(next, end))
		k.next = next
		c.Seek(brace)
	}
	return s.close(k)
}

func orRow(a, b *Dialect) *Dialect {
	if a != nil {
		return a
	}
	return b
}

// argumentsBare reads arguments that make a call bare.
func (s *Scanner) argumentsBare(k *construct, name string) bool {
	id := ""
	if strings.Contains(name, ":") {
		id = name
	}
	return s.arguments(k, name, id)
}

// knownAt returns the offset behind a known tool's name at off, or -1. It waits
// only while what has come can still become one.
func (s *Scanner) knownAt(off int) int {
	c := s.c
	from := off
	if c.HasPrefixAt(off, "functions.") {
		off += len("functions.")
	}
	end := off
	for end-off < maxName {
		b, ok := c.At(end)
		if !ok || !isName(b) && b != '\\' && b != ':' {
			break
		}
		if b == '\\' && !c.HasPrefixAt(end, `\_`) || b == ':' && !s.o.Registry.HasPrefix(string(c.Slice(off, end))+":") {
			break
		}
		end++
		if b != '\\' && !s.o.Registry.HasPrefix(strings.ReplaceAll(string(c.Slice(off, end)), `\`, "")) {
			return -1
		}
	}
	if end == off || !s.isKnown(string(c.Slice(from, end))) {
		return -1
	}
	return end
}

// leak tries forms that are left of a dialect when its special tokens were taken out.
func (s *Scanner) leak(k *construct, line, off int) bool {
	c := s.c
	switch {
	case c.HasPrefixAt(off, "call:"):
		from := off + len("call:")
		end := s.nameEnd(from)
		if end == from || !s.isKnown(string(c.Slice(from, end))) {
			return false
		}
		if b, _ := c.At(end); b != '{' {
			return false
		}
		k.ev = s.context(line)
		k.row = s.t.byName["gemma4"]
		c.Seek(off)
		return s.braceCall(k)
	case c.HasPrefixAt(off, "function"):
		end := s.knownAt(off + len("function"))
		if end > 0 && c.HasPrefixAt(c.SpaceEnd(end), "```json") {
			k.ev = s.context(line)
			k.row = s.t.byName["deepseek_v3"]
			name := string(c.Slice(off+len("function"), end))
			c.Seek(c.SpaceEnd(end))
			return s.bareNamed(k, name)
		}
	}
	return false
}

// childFollows reports whether on the line behind a tool's name its elements stand.
func (s *Scanner) childFollows(end int, name string) bool {
	if b, _ := s.c.At(end); b == ':' {
		end++
	}
	at := s.c.SpaceEnd(end)
	if b, _ := s.c.At(at); b != '<' {
		return false
	}
	tool := s.lookup(name)
	t, ok := s.tag(at)
	return ok && !t.close && tool != nil && hasProperty(tool, t.word)
}

// looseElements reads elements without the tool's tag around them.
func (s *Scanner) looseElements(k *construct, cand *Candidate) bool {
	c := s.c
	tool := s.lookup(cand.Name)
	args := map[string]any{}
	cand.Arguments = args
	var keys []string
	for {
		at := c.SpaceEnd(c.Offset())
		t, ok := s.tag(at)
		if !ok || t.close || tool == nil || !hasProperty(tool, t.word) {
			break
		}
		c.Seek(t.end)
		v := &valueScan{s: s, k: k, key: t.word, open: t, tool: tool}
		to, next, ok := v.elementEnd(t, tag{})
		if !ok {
			cand.Truncated = true
			to, next = c.Limit(), c.Limit()
		}
		s.addElement(args, &keys, t.word, s.elementValue(k, string(c.Slice(t.end, to)), propertyOf(tool, t.word), 0))
		c.Seek(next)
	}
	if t, ok := s.tag(c.SpaceEnd(c.Offset())); ok && t.close && t.word == cand.Name {
		c.Seek(t.end)
	}
	s.deliver(k, cand, c.Offset())
	return s.close(k)
}
