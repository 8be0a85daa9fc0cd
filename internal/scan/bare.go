package scan

import (
	"github.com/callwright/callwright/call"
	"github.com/callwright/callwright/dialect"
	"github.com/callwright/callwright/internal/lenient"
)

// bare reads JSON, or calls in Python syntax, that no marker announces.
func (s *Scanner) bare(p int, b byte) outcome {
	if b == '{' {
		if !s.keyAt(p) {
			return retry
		}
		return s.bareJSON(s.construct(p, p))
	}
	next := s.c.SpaceEnd(p + 1)
	n, ok := s.c.At(next)
	switch {
	case !ok:
		return retry
	case n == '{':
		if !s.keyAt(next) {
			return retry
		}
	case isIdentStart(n):
		return s.bareList(s.construct(p, p), next)
	case s.anyValue && s.atLineStart(p) && (n == '"' || n == '[' || n == ']' || n == '-' || n >= '0' && n <= '9'):
	case n == '"' || n == '\'':
		return s.listOfStrings(s.construct(p, p))
	default:
		return retry
	}
	return s.bareJSON(s.construct(p, p))
}

// keyAt reports whether an object with a key begins at off: the earliest bytes that
// tell JSON from a brace in prose.
func (l *look) keyAt(off int) bool {
	c := l.c
	at := c.SpaceEnd(off + 1)
	b, ok := c.At(at)
	if ok && b == '{' && at == off+1 { // {{"name": …}}
		at = c.SpaceEnd(at + 1)
		b, ok = c.At(at)
	}
	if !ok {
		return false
	}
	const longest = 80
	end := at
	switch {
	case b == '\\' && c.HasPrefixAt(at, `\"`):
		return true
	case b == '"' || b == '\'' || b == 0xE2:
		for end++; ; end++ {
			k, ok := c.At(end)
			if !ok {
				return end > at+1
			}
			if end-at > longest || k == '\n' {
				return false
			}
			if k == b || b == 0xE2 && k == 0xE2 && end > at+2 {
				break
			}
		}
		if b == 0xE2 {
			return true
		}
		end++
	case isIdentStart(b):
		for end-at <= longest {
			k, ok := c.At(end)
			if !ok {
				return false
			}
			if !isIdent(k) && k != '-' {
				break
			}
			end++
		}
	default:
		return false
	}
	end = c.SpaceEnd(end)
	k, ok := c.At(end)
	return !ok || k == ':' || k == 0xEF && c.HasPrefixAt(end, "：") || k == '=' && c.HasPrefixAt(end, "=>")
}

// bareJSON reads a JSON value in the text.
func (s *Scanner) bareJSON(k *construct) outcome {
	c := s.c
	first := !s.contentBefore(k.start)
	c.Seek(k.start)
	r := lenient.NewReader(c, lenient.Options{})
	v, err := r.Value()
	if err != nil {
		return k.fail()
	}
	end := c.Offset()
	cand := &Candidate{Value: v, Provenance: call.Bare}
	cand.readBy(r)
	after := c.SpaceEnd(end)
	for range 2 { // brackets too many
		if b, ok := c.At(after); !ok || b != '}' && b != ']' || !first && after > end {
			break
		}
		cand.Fixes.Add(after, lenient.ExtraClose)
		end = after + 1
		after = c.SpaceEnd(end)
	}
	k.ev.Whole = first && c.EOFAt(after)
	switch {
	case s.marksEnd(after):
		// The opening marker was swallowed; the closing one is there.
		cand.Provenance = call.Marked
		cand.Evidence.MissingOpen = true
		cand.Method = call.MethodBalanced
	case cand.Truncated || cand.Fixes.Any():
		cand.Method = call.MethodPartial
	case k.ev.Whole:
		cand.Method = call.MethodFullJSON
	default:
		cand.Method = call.MethodBalanced
	}
	c.Seek(end)
	k.deliver(cand, end)
	if k.got > 0 && cand.Provenance == call.Marked {
		k.skipClosing()
	}
	return k.finish()
}

// bareList reads [f(a=1), g()], or the arguments behind [name].
func (s *Scanner) bareList(k *construct, next int) outcome {
	c := s.c
	end := s.nameEnd(next)
	b, ok := c.At(end)
	if !ok {
		return retry
	}
	name := string(c.Slice(next, end))
	switch {
	case b == ']' && k.ev.LineStart && s.isKnown(name):
		at := c.SpaceEnd(end + 1)
		if n, _ := c.At(at); n != '{' || !s.objectAt(at) {
			return retry
		}
		c.Seek(at)
		k.marked = true
		k.close = []string{"[/" + name + "]"}
		if k.row = s.t.without(dialect.BodyNameJSON, dialect.InList, nil); k.row != nil {
			k.close = append(k.close, k.row.Close...)
		}
		if !k.arguments(name, "") {
			return k.fail()
		}
		return k.finish()
	case b == '(' && k.ev.LineStart && (s.isKnown(name) || !s.known() && !s.contentBefore(k.start)):
		k.row = s.t.without(dialect.BodyPythonic, dialect.InList, nil)
		c.Seek(k.start)
		return pythonicBody{}.read(k)
	}
	return retry
}

// listOfStrings reads a list of strings that each hold a call.
func (s *Scanner) listOfStrings(k *construct) outcome {
	c := s.c
	if !k.ev.LineStart || !s.known() {
		return retry
	}
	at := c.SpaceEnd(k.start+1) + 1
	if end := s.nameEnd(at); end == at || !s.isKnown(string(c.Slice(at, end))) {
		return retry
	}
	c.Seek(k.start)
	r := lenient.NewReader(c, lenient.Options{})
	v, err := r.Value()
	list, ok := v.([]any)
	if err != nil || !ok {
		return k.fail()
	}
	k.row = s.t.without(dialect.BodyJSON, dialect.InList, nil)
	for _, e := range list {
		text, _ := e.(string)
		cand := s.callIn(text)
		if cand == nil {
			return k.fail()
		}
		cand.Provenance, cand.Method = call.Bare, call.MethodBalanced
		cand.Fixes.Merge(&r.Fixes)
		k.deliver(cand, c.Offset())
	}
	return k.finish()
}

// callIn reads a text that is one call of a known tool in Python syntax; nil if it is
// none.
func (l *look) callIn(text string) *Candidate {
	k, found := l.detached(text)
	if !k.pythonCall(true) || len(found.found) != 1 {
		return nil
	}
	k.c.SkipSpace()
	if !k.c.EOF() || !l.isKnown(found.found[0].Name) {
		return nil
	}
	return found.found[0]
}
