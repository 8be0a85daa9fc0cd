package extractor

import (
	"slices"
	"strings"

	"github.com/callwright/callwright/internal/lenient"
)

// plainClose returns a construct's closing markers as the reader of JSON takes them.
func plainClose(patterns []string) []string {
	var plain []string
	for _, p := range patterns {
		within := slices.ContainsFunc(patterns, func(q string) bool { return q != p && strings.Contains(q, p) })
		if !within && (!isLoose(p) || strings.Contains(p, "｜")) {
			plain = append(plain, p)
		}
	}
	return plain
}

// jsonBody reads a body of JSON: an object, a list, or several, with anything
// between them that models put there.
func (s *Scanner) jsonBody(k *construct) bool {
	inList := false
	closers := plainClose(k.close)
	for {
		s.c.SkipSpace()
		at := s.c.Offset()
		b, ok := s.c.At(at)
		switch {
		case !ok:
			return s.closeJSON(k)
		case b == ',' || b == ';':
			s.c.Skip(1)
			continue
		case (b == ']' || b == '}') && (k.got > 0 || inList):
			if inList && b == ']' {
				inList = false
			}
			s.c.Skip(1)
			continue
		case b == '`' && s.c.HasPrefix("```"):
			s.c.Skip(3)
			continue
		case b == '[' && !inList && s.listOfObjects(at):
			inList = true
			s.c.Skip(1)
			continue
		case b == '{' || b == '[' || b == '"' && inList:
			if s.closer(at, k.close) >= 0 {
				return s.closeJSON(k)
			}
			if !s.jsonValue(k, closers) {
				if k.refused && k.got == 0 {
					s.closing(k)
				}
				if k.got == 0 {
					return s.fail(k)
				}
				return s.closeJSON(k)
			}
			continue
		}
		return s.closeJSON(k)
	}
}

// listOfObjects reports whether a list at off holds objects, which are then read
// one by one.
func (s *Scanner) listOfObjects(off int) bool {
	b, _ := s.c.At(s.c.SpaceEnd(off + 1))
	return b == '{' || b == ']'
}

// jsonValue reads one JSON value and delivers it.
func (s *Scanner) jsonValue(k *construct, closers []string) bool {
	from := s.c.Offset()
	if k.got > 0 {
		k.next = from
	}
	if next := s.c.SpaceEnd(from + 1); s.c.HasPrefixAt(next, "&quot;") {
		if to := s.bodyEnd(k, from); to >= 0 {
			return s.encodedValue(k, from, to)
		}
	}
	r := lenient.NewReader(s.c, lenient.Options{Close: closers, Hash: k.row != nil && k.row.Options.Hash, Watch: s.o.Watch})
	s.show(k, Partial{Call: r})
	v, err := r.Value()
	if err != nil {
		return s.broken(k, from, err)
	}
	cand := &Candidate{Value: v, Fixes: r.Fixes, Truncated: cutOff(r, v)}
	if s.c.EOF() {
		cand.Evidence.MissingClose = len(k.close) > 0
	}
	return s.deliver(k, cand, s.c.Offset())
}

// cutOff reports whether a value lacks more than its last bracket.
func cutOff(r *lenient.Reader, v any) bool {
	if r.OpenAtEnd == 0 && !r.CutToken {
		return false
	}
	if r.CutToken || r.OpenAtEnd > 1 {
		return true
	}
	m, ok := v.(map[string]any)
	if !ok {
		return true
	}
	for _, e := range m {
		if inner, ok := e.(map[string]any); ok && len(inner) > 0 {
			return false
		}
	}
	return true
}

// maxBroken bounds how much text is offered for repair.
const maxBroken = 32 << 10

// broken offers what the reader could not read for repair: all up to the closing
// marker, or the text's end.
func (s *Scanner) broken(k *construct, from int, err error) bool {
	s.wasted += s.c.Offset() - from
	to := s.bodyEnd(k, from)
	if to < 0 {
		s.c.Seek(from)
		return false
	}
	s.c.Seek(to)
	raw := string(s.c.Slice(from, to))
	return s.deliver(k, &Candidate{Value: raw, Err: err}, to) || s.refused(k)
}

// closeJSON reads the closing marker behind a body, and what models write in its place.
func (s *Scanner) closeJSON(k *construct) bool {
	s.closing(k)
	return s.close(k)
}

// closing moves behind the closing markers at the cursor.
func (s *Scanner) closing(k *construct) {
	for range 4 {
		at := s.c.SpaceEnd(s.c.Offset())
		if end := s.closer(at, k.close); end >= 0 {
			s.c.Seek(end)
			continue
		}
		if s.cutClose(at, k.close) {
			s.c.Seek(s.c.Limit())
		}
		return
	}
}

// cutClose reports whether the text ends at off in the middle of a closing marker.
func (s *Scanner) cutClose(off int, patterns []string) bool {
	if b, ok := s.c.At(off); !ok || b != '<' && b != '[' {
		return false
	}
	for _, p := range patterns {
		n := 0
		for n < len(p) {
			b, ok := s.c.At(off + n)
			if !ok {
				return n > 1
			}
			if b != p[n] {
				break
			}
			n++
		}
	}
	return false
}

// bodyEnd returns where the closing marker of what begins at an offset stands, or
// the text's end; -1 if that is too far.
func (s *Scanner) bodyEnd(k *construct, from int) int {
	for off := max(from, s.searched[k.row]); off-from < maxBroken; off++ {
		b, ok := s.c.At(off)
		if !ok || (b == '<' || b == '[') && matchAny(s.c, off, k.close) >= 0 {
			return off
		}
	}
	if s.searched == nil {
		s.searched = make(map[*Dialect]int)
	}
	s.searched[k.row] = from + maxBroken
	return -1
}

// encodedValue reads a value whose quotes are written as &quot;, as a page would
// show it.
func (s *Scanner) encodedValue(k *construct, from, to int) bool {
	raw := string(s.c.Slice(from, to))
	s.c.Seek(to)
	v, r, err := lenient.Parse(strings.TrimSpace(entities.Replace(raw)), lenient.Options{})
	cand := &Candidate{Value: v}
	if err != nil {
		cand.Value, cand.Err = raw, err
	} else {
		cand.Fixes, cand.Truncated = r.Fixes, cutOff(r, v)
		cand.Fixes.Add(from, lenient.EscapedQuotes)
	}
	return s.deliver(k, cand, to) || s.refused(k)
}

// refused goes back to where a construct began, unless calls were read of it.
func (s *Scanner) refused(k *construct) bool {
	if k.got == 0 {
		s.c.Seek(k.start)
	}
	return false
}
