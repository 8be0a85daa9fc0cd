package scan

import (
	"github.com/callwright/callwright/dialect"
)

// tags reads what a tag without a dialect's marker opens: a call's own tag, or one that
// is a known tool's name. fenced says that it stands in a code fence.
func (s *Scanner) tags(p int, fenced bool) outcome {
	if b, ok := s.c.At(p + 1); !ok || !isIdentStart(b) && b != 0xEF && b != '|' && b != 0xE2 {
		return retry
	}
	t, ok := s.tag(p)
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
	tool := l.lookup(open.word)
	if isIdentStart(b) && tool != nil {
		end := l.nameEnd(at)
		if n, _ := l.c.At(end); n == ':' && hasProperty(tool, string(l.c.Slice(at, end))) {
			return true
		}
	}
	// Text for the only parameter, with the tag's end on its heels.
	if tool != nil && len(tool.Order()) == 1 {
		_, ok := l.find(at, "</"+open.word+">")
		return ok
	}
	return false
}
