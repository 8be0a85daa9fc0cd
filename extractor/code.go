package extractor

import (
	"strings"

	"github.com/callwright/callwright/internal/lenient"
)

// codeTool returns the row and the tool to which code behind a marker goes: a tool
// that is known and that takes code.
func (s *Scanner) codeTool(rows []*Dialect) (*Dialect, string) {
	if !s.known {
		return nil, ""
	}
	for _, row := range rows {
		for _, name := range row.Options.Code {
			if s.o.Registry.Get(name) != nil {
				return row, name
			}
		}
	}
	return nil, ""
}

// isCode reports whether what stands at off is code and no call: an object, a list
// of them, or a known tool's name and a parenthesis are calls.
func (s *Scanner) isCode(off int) bool {
	at := s.c.SpaceEnd(off)
	b, ok := s.c.At(at)
	switch {
	case !ok || b == '<':
		return false
	case b == '{':
		return !s.objectAt(at)
	case b == '[':
		next := s.c.SpaceEnd(at + 1)
		n, _ := s.c.At(next)
		return n != '{' && !s.knownCallAt(next)
	}
	return !s.knownCallAt(at)
}

// knownCallAt reports whether a known tool's name and a parenthesis stand at off,
// or a name and ".call(".
func (s *Scanner) knownCallAt(off int) bool {
	if !s.callAt(off) {
		return false
	}
	name := string(s.c.Slice(off, s.nameEnd(off)))
	return s.isKnown(name) || strings.HasSuffix(name, ".call")
}

// rawCode reads code up to the closing marker, or the text's end: servers take the
// marker off.
func (s *Scanner) rawCode(k *construct, row *Dialect, tool string, from int) bool {
	k.row, k.body, k.close = row, from, row.Close
	s.c.Seek(from)
	to := s.rawEnd(k)
	code := strings.TrimSpace(lenient.ValidUTF8(s.c.Slice(from, to)))
	if code == "" {
		return s.fail(k)
	}
	cand := &Candidate{Named: true, Name: tool, Arguments: lenient.Text(code)}
	cand.Evidence.MissingClose = s.c.EOFAt(to)
	s.c.Seek(to)
	s.closing(k)
	s.deliver(k, cand, s.c.Offset())
	return s.close(k)
}
