package scan

import (
	"github.com/callwright/callwright/call"
	"github.com/callwright/callwright/dialect"
	"github.com/callwright/callwright/internal/lenient"
)

// quoting knows where nothing counts: in inline code, in a code fence that holds no
// call, between markers of what is only shown, in another speaker's turn.
type quoting struct {
	ticks     int    // length of the run of back quotes that opened inline code, 0 outside
	fence     []byte // the fence that ends the code block we are in
	wrapFence int    // the length of the fence around calls that were taken
	quoteEnd  string // until this marker nothing counts

	otherSpeaks bool   // the text is another speaker's turn
	otherEnd    string // the marker at which that turn ends; empty: where the assistant's begins
	observing   bool   // the text is what a tool said, behind the label for it
	userText    bool   // the text is said to be for the user: only a marker begins a call
}

// nothingCounts reports whether what stands here is shown or another's word.
func (q *quoting) nothingCounts() bool {
	return q.fence != nil || q.quoteEnd != "" || q.otherSpeaks || q.userText
}

// backQuotes acts on back quotes or tildes: a fence, or inline code.
func (s *Scanner) backQuotes(p int, b byte) outcome {
	end := s.runEnd(p, b)
	n := end - p
	if s.o.Everywhere && (n < 3 || s.fenceAt(p, end, b) != taken) {
		s.fence = nil
		s.c.Seek(end)
		s.text(end)
		return text
	}
	if s.o.Everywhere {
		return taken
	}
	if n >= 3 {
		return s.fenceAt(p, end, b)
	}
	s.c.Seek(end)
	s.text(end)
	if b == '`' {
		switch s.ticks {
		case 0:
			s.ticks = n
			if o := s.inlineCall(end, n); o.moved() {
				return o
			}
		case n:
			s.ticks = 0
		}
	}
	return text
}

// inlineCall reads a call that is all of some inline code, behind its back quotes:
// "Running `get_weather(city="Rome")` now." Most of what stands so is only spoken of.
func (s *Scanner) inlineCall(off, ticks int) outcome {
	if !s.known() || s.nothingCounts() || s.observing {
		return retry
	}
	c := s.c
	b, _ := c.At(off)
	k := s.construct(off, off)
	k.ev.Inline = true
	switch {
	case b == '{' && s.keyAt(off):
		r := lenient.NewReader(c, lenient.Options{})
		v, err := r.Value()
		if err != nil || cut(r) || s.runEnd(c.Offset(), '`')-c.Offset() != ticks {
			return k.fail()
		}
		cand := &Candidate{Value: v, Fixes: r.Fixes, Provenance: call.Bare, Method: call.MethodBalanced}
		k.deliver(cand, c.Offset())
	case isIdentStart(b):
		end := s.knownAt(off)
		if next, _ := c.At(max(end, off)); end < 0 || next != '(' || !s.inlineEnds(end) {
			return retry
		}
		k.row = s.t.without(dialect.BodyPythonic, dialect.InList, nil)
		k.pythonCall(false)
	}
	if k.got == 0 {
		return k.fail()
	}
	return k.finish()
}

// inlineEnds reports whether the inline code at off ends on its line, behind a closing
// bracket.
func (l *look) inlineEnds(off int) bool {
	for at := off; at < off+1024; at++ {
		b, ok := l.c.At(at)
		if !ok || b == '\n' {
			return false
		}
		if b == '`' {
			last, _ := l.c.At(at - 1)
			return last == ')'
		}
	}
	return false
}

// runEnd returns the offset behind a run of one byte.
func (l *look) runEnd(off int, b byte) int {
	for {
		n, ok := l.c.At(off)
		if !ok || n != b {
			return off
		}
		off++
	}
}

// inCode reports whether p stands in inline code: back quotes opened before it on its
// line, and close behind it on the same line.
func (s *Scanner) inCode(p int) bool {
	if s.ticks == 0 {
		return false
	}
	for off := p; off < p+1024; off++ {
		b, ok := s.c.At(off)
		if !ok || b == '\n' {
			break
		}
		if b == '`' {
			return true
		}
	}
	s.ticks = 0
	return false
}

// nameEndsLine reports whether from off on a known tool's name is all that stands on the
// line: a call glued to what is before it.
func (l *look) nameEndsLine(off int) bool {
	if !l.known() {
		return false
	}
	end := l.knownAt(off)
	return end > 0 && l.endsHere(end)
}

// closeFence looks for the end of the code block that p is in.
func (s *Scanner) closeFence(p int, b byte) outcome {
	if b != s.fence[0] {
		return retry
	}
	end := s.runEnd(p, b)
	if n := end - p; n >= len(s.fence) && (n >= 3 || s.atLineStart(p)) && (s.endsHere(end) || s.nameEndsLine(end)) {
		s.fence = nil
	}
	s.c.Seek(end)
	s.text(end)
	return text
}
