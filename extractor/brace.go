package extractor

import (
	"errors"

	"github.com/callwright/callwright/internal/lenient"
)

// Errors of candidates that cannot be read as calls.
var (
	// ErrExpression says that an argument is code, which is never run.
	ErrExpression = errors.New("an argument is an expression, not a value")
	// ErrTruncated says that the text ended inside the candidate.
	ErrTruncated = errors.New("the text ends inside the value")
)

// braceCall reads call:name{key:value}, again and again.
func (s *Scanner) braceCall(k *construct) bool {
	c := s.c
	for {
		at := c.SpaceEnd(c.Offset())
		if !s.braceCallAt(at) {
			break
		}
		if k.got > 0 {
			k.next = at
		}
		from := at + len("call:")
		end := s.nameEnd(from)
		name := string(c.Slice(from, end))
		for len(name) > 1 && name[len(name)-1] == ':' {
			name = name[:len(name)-1]
		}
		if !k.marked && !s.isKnown(name) {
			break
		}
		c.Seek(end)
		cand := &Candidate{Named: true, Name: name, Arguments: map[string]any{}}
		next := c.SpaceEnd(end)
		if b, _ := c.At(next); b == ':' {
			next = c.SpaceEnd(next + 1)
		}
		b, ok := c.At(next)
		switch {
		case ok && b == '{':
			c.Seek(next)
			r := lenient.NewReader(c, lenient.Options{Quotes: k.row.Options.Quotes, Close: plainClose(k.close), Watch: s.o.Watch})
			s.show(k, Partial{Name: name, Arguments: r})
			v, err := r.Value()
			if err != nil {
				c.Seek(next)
				return s.broken(k, next, err) && s.close(k) || s.fail(k)
			}
			cand.Arguments, cand.Fixes = v, r.Fixes
			cand.Truncated = r.OpenAtEnd > 0 || r.CutToken
		case ok && b == '(':
			c.Seek(next + 1)
			if !s.pythonArguments(k, cand) {
				return s.fail(k)
			}
		case s.c.HasPrefixAt(next, "BEGIN_ARG:"):
			c.Seek(next)
			s.labelled(k, cand)
		case !k.marked:
			return s.fail(k)
		}
		if !k.marked {
			cand.Provenance, cand.Method = Bare, MethodBalanced
		}
		s.closing(k)
		if !s.deliver(k, cand, c.Offset()) {
			break
		}
	}
	if k.got == 0 {
		return s.fail(k)
	}
	return s.close(k)
}
