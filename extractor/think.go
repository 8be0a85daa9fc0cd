package extractor

import "strings"

// opensReasoning reports whether a marker of reasoning at p opens some: it begins
// a line or follows the end of a sentence.
func (s *Scanner) opensReasoning(p int, f *reasoning) bool {
	if f.glued {
		if b, _ := s.c.At(p + len(f.open[0])); b < 'A' || b > 'Z' {
			return false
		}
	}
	if f.start {
		return s.mark == s.begin && !s.said
	}
	if s.atLineStart(p) {
		return true
	}
	switch s.byteBefore(p) {
	case '.', '!', '?', ':', '>', ']':
		return true
	}
	return false
}

// byteBefore returns the byte before an offset, 0 if it has been forgotten.
func (s *Scanner) byteBefore(p int) byte {
	if p <= s.c.Kept() {
		return 0
	}
	return s.c.Slice(p-1, p)[0]
}

// reason reads reasoning whose marker stands from p to end, up to what closes it.
// Where no opening marker was written, all is open from the text's start.
func (s *Scanner) reason(f *reasoning, p, end int, prompt bool) bool {
	s.content(min(s.solid, p))
	s.taken, s.reasoned = true, true
	if end > p {
		s.sink.Dropped(s.mark, end, "reasoning marker")
	}
	if again := matchAny(s.c, s.c.SpaceEnd(end), f.open); again >= 0 && !f.start {
		end = again // opened twice: by the prompt and by the model, say
	}
	s.mark, s.solid, s.begin = end, end, end
	s.c.Seek(end)
	first := s.closeBytes(f.close)
	sent := false
	hand := func(to int) {
		text := s.c.String(s.mark, to)
		if !sent {
			text = strings.TrimLeft(text, " \n\r\t")
		}
		if len(text) > 0 {
			sent = true
			s.sink.Reasoning(text)
		}
		s.mark = to
	}
	for {
		rest := s.c.Rest()
		i := 0
		for i < len(rest) && !first[rest[i]] {
			i++
		}
		s.note(rest[:i])
		s.c.Skip(i)
		if i == len(rest) {
			hand(max(s.wholeRunes(s.solid), s.mark))
			s.c.Keep(s.mark)
			if !s.c.Fill() {
				break
			}
			if s.check(); s.err != nil {
				return true
			}
			continue
		}
		at := s.c.Offset()
		if to := matchAny(s.c, at, f.close); to >= 0 {
			hand(max(min(s.solid, at), s.mark))
			s.endReasoning(to)
			return true
		}
		if m, to := s.callMarker(at); m != nil && s.opensCall(m, to) {
			if f.callsCount {
				hand(max(min(s.solid, at), s.mark))
				s.begin = at
				return true
			}
			// A call within reasoning ends it, unless the reasoning is closed
			// later: then it was a draft.
			if closed := s.reasoningCloses(to, f); closed < 0 {
				hand(max(min(s.solid, at), s.mark))
				s.begin = at
				s.c.Seek(at)
				return true
			}
			s.c.Seek(to)
			s.solid = to
			s.draft(m, at)
			continue
		}
		s.c.Seek(at + 1)
		s.solid = at + 1
	}
	hand(max(s.solid, s.mark))
	s.mark = s.c.Limit()
	s.solid = s.mark
	if prompt || !f.orphan {
		return true
	}
	s.sink.Unclosed()
	return true
}

// endReasoning goes on behind a closing marker of reasoning.
func (s *Scanner) endReasoning(to int) {
	s.sink.Dropped(s.mark, to, "reasoning marker")
	s.mark, s.solid, s.begin = to, to, to
	s.c.Seek(to)
	s.c.Keep(to)
	// The visible text may be wrapped in a tag of its own.
	next := s.c.SpaceEnd(to)
	for _, w := range wrappers {
		if s.c.HasPrefixAt(next, w.open) {
			s.drop(to, next+len(w.open), "wrapper")
			s.unwrap = w.end
		}
	}
	s.lineStart()
}

func (s *Scanner) closeBytes(patterns []string) (first [256]bool) {
	for _, p := range patterns {
		first[p[0]] = true
	}
	for b := range 256 {
		if b != '\n' && b != '`' && b != '~' && b != '{' {
			first[b] = first[b] || s.t.trigger[b]
		}
	}
	return first
}

// callMarker returns the opening marker of a dialect at off.
func (s *Scanner) callMarker(off int) (*marker, int) {
	b, _ := s.c.At(off)
	next, ok := s.c.At(off + 1)
	if !ok {
		return nil, 0
	}
	for _, m := range s.t.markers[uint16(b)<<8|uint16(next)] {
		if m.kind == opens {
			if end := m.match(s.c, off); end >= 0 {
				return m, end
			}
		}
	}
	return nil, 0
}

// opensCall reports whether a marker within reasoning opens a call that ends it:
// one that begins a line or a text of its own, with a body behind it.
func (s *Scanner) opensCall(m *marker, end int) bool {
	if s.code > 0 {
		return false
	}
	if m.section || headerRow(m.rows) != nil {
		return true
	}
	_, ok := s.classify(end, m.rows)
	return ok
}

// reasoningCloses looks ahead for what closes reasoning, and returns its offset or -1.
func (s *Scanner) reasoningCloses(from int, f *reasoning) int {
	at := s.c.Offset()
	defer s.c.Seek(at)
	best := -1
	for _, p := range f.close {
		if to, ok := s.find(from, p); ok && (best < 0 || to < best) {
			best = to
		}
	}
	return best
}

// draft reports a call that the model only considered.
func (s *Scanner) draft(m *marker, at int) {
	if len(m.rows) > 0 {
		s.sink.Draft(m.rows[0], at)
	}
}

// conclude acts on a closing marker of reasoning that nothing opened.
func (s *Scanner) conclude(p, end int) bool {
	after, ok := s.c.At(end)
	if p > s.begin && s.byteBefore(p) == ' ' && ok && after == ' ' {
		return false // the marker is spoken of
	}
	s.content(min(s.solid, p))
	if !s.reasoned && s.said {
		s.sink.Recast()
		s.said = false
	}
	s.taken, s.reasoned = true, true
	s.endReasoning(end)
	return true
}
