package scan

import (
	"github.com/callwright/callwright/dialect"
	"github.com/callwright/callwright/registry"
)

// tags reads what a tag without a dialect's marker opens: a call's own tag, or one that
// is a known tool's name. fenced says that it stands in a code fence.
func (s *Scanner) tags(p int, fenced bool) outcome {
	if b, ok := s.c.At(p + 1); !ok || !isIdentStart(b) && b != 0xEF && b != '|' && b != 0xE2 {
		return retry
	}
	t, ok := s.tag(p)
	if !ok {
		t, ok = s.openTag(p)
	}
	if !ok || t.close {
		return retry
	}
	k := s.construct(p, p)
	k.marked = true
	switch {
	case t.call() && t.name != "":
		// <function=f> or <invoke name="f"> without the wrapper around it.
		k.row = s.rowOfTag(dialect.BodyParams, p)
		if k.row == nil || s.known() && !s.isKnown(t.name) && !s.paramFollows(t.end) {
			return retry
		}
		if !s.paramFollows(t.end) && !s.isKnown(t.name) {
			return retry
		}
		k.close = append([]string{"</tool_call>", "</function_calls>"}, k.row.Close...)
		k.ev.MissingOpen = len(k.row.Open) > 0
		k.ev.Trained = k.row.Trained && matchAny(s.c, p, k.row.Options.Tags) >= 0 && !s.openReasoning && !fenced
		s.c.Seek(p)
		return paramsBody{}.read(k)
	case t.call() && t.name == "" && t.word == "invoke":
		k.row = s.rowOfTag(dialect.BodyParams, p)
		if k.row == nil {
			return retry
		}
		s.c.Seek(p)
		return paramsBody{}.read(k)
	case s.isKnown(t.word) && (t.selfClose || t.attrs == nil):
		k.row = s.rowOfTag(dialect.BodyElements, p)
		if k.row == nil || !t.selfClose && !s.elementFollows(t) {
			return retry
		}
		s.c.Seek(p)
		k.close = k.row.Close
		return elementsBody{}.read(k)
	}
	return retry
}

// openTag reads a known tool's name behind "<" where its own bracket is missing: its
// parameters stand on the next lines, and "/>" ends the call.
func (l *look) openTag(p int) (t tag, ok bool) {
	if b, _ := l.c.At(p); b != '<' || l.c.EOFAt(p+1) {
		return t, false
	}
	end := l.nameEnd(p + 1)
	b, _ := l.c.At(end)
	if b != '\n' {
		return t, false
	}
	word := string(l.c.Slice(p+1, end))
	if !l.isKnown(word) {
		return t, false
	}
	if _, ok := l.find(end, "/>"); !ok {
		return t, false
	}
	return tag{words: &l.t.words, word: word, start: p, end: end, unclosed: true}, true
}

// rowOfTag returns the row that reads a body whose tag stands at p without markers.
func (l *look) rowOfTag(body dialect.Body, p int) *dialect.Row {
	var first *dialect.Row
	for i := range l.t.set.Dialects {
		row := &l.t.set.Dialects[i]
		if row.Body != body || row.Options.Prefix != "" {
			continue
		}
		if matchAny(l.c, p, row.Options.Tags) >= 0 {
			return row
		}
		if first == nil {
			first = row
		}
	}
	return first
}

// paramFollows reports whether a parameter, JSON or the call's end stands behind
// a call's tag.
func (l *look) paramFollows(off int) bool {
	at := l.c.SpaceEnd(off)
	b, ok := l.c.At(at)
	if ok && b == '{' {
		return l.objectAt(at)
	}
	t, ok := l.tag(at)
	return ok && (t.param() || t.close && t.call())
}

// elementFollows reports whether behind a known tool's tag stands what makes it a
// call and not markup: an element, JSON, a key and a colon, or its end.
func (l *look) elementFollows(open tag) bool {
	at := l.c.SpaceEnd(open.end)
	b, ok := l.c.At(at)
	if !ok {
		return false
	}
	if b == '{' {
		return l.objectAt(at)
	}
	if t, ok := l.tag(at); ok {
		return t.close && t.word == open.word || !t.close
	}
	if l.c.HasPrefixAt(at, "<![CDATA[") {
		return true
	}
	tool := l.lookup(open.word)
	if tool == nil {
		return false
	}
	if isIdentStart(b) && l.keyLineFollows(at, tool) {
		return true
	}
	// Text for one parameter, with the tag's end.
	if name, certain := tool.TextParameter(); certain || name != "" && !l.looksStructured(open.end) {
		_, ok := l.find(at, "</"+open.word+">")
		return ok
	}
	return false
}

// looksStructured reports whether the text behind a tag stands on lines of its own, or
// begins like a list, an object or a key: then it is no plain text.
func (l *look) looksStructured(off int) bool {
	b, _ := l.c.At(off)
	switch b {
	case '\n', '\r', '-', '[', '{', '#', '|', '>':
		return true
	}
	end := l.nameEnd(off)
	n, _ := l.c.At(end)
	return end > off && n == ':'
}

// keyLineFollows reports whether one of the next lines begins with a parameter's name and
// a colon.
func (l *look) keyLineFollows(at int, tool *registry.Tool) bool {
	for range 4 {
		at = l.blanks(at)
		end := l.nameEnd(at)
		if b, _ := l.c.At(end); end > at && b == ':' && hasProperty(tool, string(l.c.Slice(at, end))) {
			return true
		}
		for off := at; ; off++ {
			b, ok := l.c.At(off)
			if !ok || b == '<' || off-at > maxTag {
				return false
			}
			if b == '\n' {
				at = off + 1
				break
			}
		}
	}
	return false
}
