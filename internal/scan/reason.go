package scan

import (
	"strings"

	"github.com/callwright/callwright/dialect"
)

// opensReasoning reports whether a marker of reasoning at p opens some: it begins
// a line or follows the end of a sentence.
func (s *Scanner) opensReasoning(p int, f *dialect.Reasoning) bool {
	if f.BeforeCapital {
		if b, _ := s.c.At(p + len(f.Open[0])); b < 'A' || b > 'Z' {
			return false
		}
	}
	if f.AtStart {
		return !s.contentBefore(p)
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

// reason reads reasoning whose marker stands from p to end, up to what closes it.
// Where no opening marker was written, all is open from the text's start.
func (s *Scanner) reason(f *dialect.Reasoning, p, end int, prompt bool) outcome {
	unclosed := s.readReasoning(f, p, end, nil)
	if unclosed && !prompt && f.CloseAlone {
		s.sink.Unclosed()
	}
	return taken
}

// reasonUntil is [Scanner.reason] with closing markers that only count where a function
// says so.
func (s *Scanner) reasonUntil(f *dialect.Reasoning, p, end int, counts func(from, to int) bool) outcome {
	s.readReasoning(f, p, end, counts)
	return taken
}

// readReasoning reads reasoning up to what closes it, and reports whether the text ended
// before that.
func (s *Scanner) readReasoning(f *dialect.Reasoning, p, end int, counts func(from, to int) bool) (unclosed bool) {
	s.content(min(s.textEnd, p))
	s.hasOther, s.reasoned = true, true
	s.remember(p, false)
	if again := matchAny(s.c, s.c.SpaceEnd(end), f.Open); again >= 0 && !f.AtStart {
		end = again // opened twice: by the prompt and by the model, say
	}
	if end > p {
		s.sink.Dropped(s.handed, end, WhyReasoningMarker)
	}
	s.restart(end)
	first := s.closeBytes(f.Close)
	sent := false
	hand := func(to int) {
		text := s.c.String(s.handed, to)
		if !sent {
			text = strings.TrimLeft(text, " \n\r\t")
		}
		if len(text) > 0 {
			sent = true
			s.sink.Reasoning(text)
		}
		s.handed = to
	}
	depth := 0 // reasoning opened within the reasoning
	for {
		rest := s.c.Rest()
		i := 0
		for i < len(rest) && !first[rest[i]] {
			i++
		}
		s.note(rest[:i])
		s.c.Skip(i)
		if i == len(rest) {
			hand(max(s.wholeRunes(s.textEnd), s.handed))
			s.c.Keep(s.handed)
			if !s.c.Fill() {
				break
			}
			if s.check(); s.err != nil {
				return false
			}
			continue
		}
		at := s.c.Offset()
		if to := matchAny(s.c, at, f.Close); to >= 0 && counts != nil && !counts(at, to) {
			s.skipIn(to)
			continue
		} else if to >= 0 && (depth == 0 || s.reasoningCloses(to, f) < 0) {
			hand(max(min(s.textEnd, at), s.handed))
			s.endReasoning(to)
			return false
		} else if to >= 0 {
			depth--
			s.skipIn(to)
			continue
		}
		if to := matchAny(s.c, at, f.Open); to >= 0 {
			depth++
			s.skipIn(to)
			continue
		}
		if m, to := s.callMarker(at); m != nil && s.opensCall(m, to) {
			// A call within reasoning ends it, unless the reasoning is closed later: then
			// it was a draft.
			if f.CallsCount || s.reasoningCloses(to, f) < 0 {
				hand(max(min(s.textEnd, at), s.handed))
				s.segment = at
				s.openReasoning = s.openReasoning || !f.CallsCount
				s.c.Seek(at)
				return false
			}
			s.skipIn(to)
			s.draft(m, at)
			continue
		}
		s.skipIn(at + 1)
	}
	hand(max(s.textEnd, s.handed))
	s.handed = s.c.Limit()
	s.textEnd = s.handed
	return true
}

// skipIn moves on within reasoning: what stands before an offset is a part of it.
func (s *Scanner) skipIn(to int) {
	s.c.Seek(to)
	s.textEnd = to
}

// endReasoning goes on behind a closing marker of reasoning.
func (s *Scanner) endReasoning(to int) {
	s.sink.Dropped(s.handed, to, WhyReasoningMarker)
	s.restart(to)
	s.c.Keep(to)
	// The visible text may be wrapped in a tag of its own.
	next := s.c.SpaceEnd(to)
	for _, w := range s.t.wraps {
		if s.c.HasPrefixAt(next, w.Open) {
			s.drop(to, next+len(w.Open), WhyWrapper)
			s.wrapEnd = w.Close
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

// opensCall reports whether a marker within reasoning opens a call that ends it:
// one that begins a line or a text of its own, with a body behind it.
func (s *Scanner) opensCall(m *marker, end int) bool {
	if s.ticks > 0 {
		return false
	}
	if m.section || headerRow(m.rows) != nil {
		return true
	}
	_, ok := s.classify(end, m.rows)
	return ok
}

// reasoningCloses looks ahead for what closes reasoning, and returns its offset or -1.
func (s *Scanner) reasoningCloses(from int, f *dialect.Reasoning) int {
	at := s.c.Offset()
	defer s.c.Seek(at)
	best := -1
	for _, p := range f.Close {
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
func (s *Scanner) conclude(p, end int) outcome {
	after, ok := s.c.At(end)
	if p > s.segment && s.byteBefore(p) == ' ' && ok && after == ' ' {
		return retry // the marker is spoken of
	}
	s.content(min(s.textEnd, p))
	if !s.reasoned && s.hasContent {
		s.sink.Recast()
		s.hasContent = false
	}
	s.hasOther, s.reasoned = true, true
	s.endReasoning(end)
	return taken
}
