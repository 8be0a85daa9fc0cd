package extractor

import (
	"github.com/callwright/callwright/internal/lenient"
)

// bare reads JSON, or calls in Python syntax, that no marker announces.
func (s *Scanner) bare(p int, b byte) bool {
	k := &construct{start: p, next: p, body: p}
	if b == '[' {
		next := s.c.SpaceEnd(p + 1)
		n, ok := s.c.At(next)
		switch {
		case !ok:
			return false
		case n == '{':
			if !s.keyAt(next) {
				return false
			}
		case isIdentStart(n):
			return s.bareList(k, next)
		case s.o.anyValue && s.atLineStart(p) && (n == '"' || n == '[' || n == ']' || n == '-' || n >= '0' && n <= '9'):
		case n == '"' || n == '\'':
			return s.listOfStrings(k)
		default:
			return false
		}
	} else if !s.keyAt(p) {
		return false
	}
	return s.bareJSON(k)
}

// keyAt reports whether an object with a key begins at off: the earliest bytes
// that tell JSON from a brace in prose.
func (s *Scanner) keyAt(off int) bool {
	c := s.c
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
		end = at
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
func (s *Scanner) bareJSON(k *construct) bool {
	c := s.c
	k.ev = s.context(k.start)
	first := !s.said && c.SpaceEnd(s.mark) == k.start
	c.Seek(k.start)
	r := lenient.NewReader(c, lenient.Options{})
	v, err := r.Value()
	if err != nil {
		return s.fail(k)
	}
	end := c.Offset()
	cand := &Candidate{Value: v, Fixes: r.Fixes, Provenance: Bare, Truncated: cutOff(r, v)}
	after := c.SpaceEnd(end)
	for n := 0; n < 2; n++ { // brackets too many
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
		cand.Provenance = Marked
		cand.Evidence.MissingOpen = true
		cand.Method = MethodBalanced
	case cand.Truncated || cand.Fixes.Any():
		cand.Method = MethodPartial
	case k.ev.Whole:
		cand.Method = MethodFullJSON
	default:
		cand.Method = MethodBalanced
	}
	c.Seek(end)
	s.deliver(k, cand, end)
	if k.got > 0 && cand.Provenance == Marked {
		s.closing(k)
	}
	return s.close(k)
}

// marksEnd reports whether a dialect's closing marker stands at off.
func (s *Scanner) marksEnd(off int) bool {
	b, ok := s.c.At(off)
	if !ok || b != '<' && b != '[' {
		return false
	}
	next, ok := s.c.At(off + 1)
	if !ok {
		return false
	}
	for _, m := range s.t.markers[uint16(b)<<8|uint16(next)] {
		if m.kind == closes && m.match(s.c, off) >= 0 {
			return true
		}
	}
	return false
}

// bareList reads [f(a=1), g()], or the arguments behind [name].
func (s *Scanner) bareList(k *construct, next int) bool {
	c := s.c
	end := s.nameEnd(next)
	b, ok := c.At(end)
	if !ok {
		return false
	}
	name := string(c.Slice(next, end))
	k.ev = s.context(k.start)
	switch {
	case b == ']' && k.ev.LineStart && s.isKnown(name):
		at := c.SpaceEnd(end + 1)
		if n, _ := c.At(at); n != '{' || !s.objectAt(at) {
			return false
		}
		c.Seek(at)
		k.row = s.t.byName["bracket_named"]
		k.marked = true
		k.close = []string{"[/" + name + "]", "[END_TOOL_REQUEST]", "[/TOOL_REQUEST]"}
		if !s.arguments(k, name, "") {
			return s.fail(k)
		}
		return s.close(k)
	case b == '(' && k.ev.LineStart && (s.isKnown(name) || !s.known && !s.said):
		if !k.ev.LineStart {
			return false
		}
		k.row = s.t.byName["pythonic"]
		c.Seek(k.start)
		return s.pythonic(k)
	}
	return false
}

// listOfStrings reads a list of strings that each hold a call.
func (s *Scanner) listOfStrings(k *construct) bool {
	c := s.c
	if s.said || !s.known {
		return false
	}
	at := c.SpaceEnd(k.start+1) + 1
	if end := s.nameEnd(at); end == at || !s.isKnown(string(c.Slice(at, end))) {
		return false
	}
	k.ev = s.context(k.start)
	c.Seek(k.start)
	r := lenient.NewReader(c, lenient.Options{})
	v, err := r.Value()
	list, ok := v.([]any)
	if err != nil || !ok {
		return s.fail(k)
	}
	k.row = s.t.byName["arctic_strings"]
	for _, e := range list {
		text, _ := e.(string)
		cand := s.callString(text)
		if cand == nil {
			return s.fail(k)
		}
		cand.Provenance, cand.Method = Bare, MethodBalanced
		cand.Fixes.Merge(&r.Fixes)
		s.deliver(k, cand, c.Offset())
	}
	return s.close(k)
}
