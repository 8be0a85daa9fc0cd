package scan

import (
	"github.com/callwright/callwright/call"
	"github.com/callwright/callwright/dialect"
	"github.com/callwright/callwright/internal/lenient"
)

// bare reads JSON, or calls in Python syntax, that no marker announces.
func (s *Scanner) bare(p int, b byte) outcome {
	if b == '{' {
		if o := s.gluedName(p); o.moved() {
			return o
		}
		if !s.keyAt(p) {
			return retry
		}
		return s.bareJSON(s.construct(p, p))
	}
	if o := s.bareCalls(p); o.moved() {
		return o
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
	case isIdentStart(n) && s.nameInBrackets(next):
		return s.bracketed(s.construct(p, p), next)
	case s.anyValue && s.atLineStart(p) && (n == '"' || n == '[' || n == ']' || n == '-' || n >= '0' && n <= '9'):
	default:
		return retry
	}
	return s.bareJSON(s.construct(p, p))
}

// bareJSON reads a JSON value in the text.
func (s *Scanner) bareJSON(k *construct) outcome {
	c := s.c
	first := !s.contentBefore(k.start)
	c.Seek(k.start)
	r := lenient.NewReader(c, lenient.Options{Shape: k.callShape(), Alone: true})
	v, err := r.Value()
	if err != nil {
		r.Free()
		return k.fail()
	}
	end := c.Offset()
	cand := &Candidate{Value: v, Provenance: call.Bare}
	cand.readBy(r)
	if cand.reader == nil {
		r.Free()
	}
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

// nameInBrackets reports whether a known tool's name and a closing bracket stand at off.
func (l *look) nameInBrackets(off int) bool {
	end := l.nameEnd(off)
	b, _ := l.c.At(end)
	return b == ']' && l.isKnown(string(l.c.Slice(off, end)))
}

// bracketed reads the arguments behind [name].
func (s *Scanner) bracketed(k *construct, from int) outcome {
	c := s.c
	end := s.nameEnd(from)
	name := string(c.Slice(from, end))
	at := c.SpaceEnd(end + 1)
	if n, _ := c.At(at); !k.ev.LineStart || n != '{' || !s.objectAt(at) {
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
}
