package scan

import (
	"slices"
	"strings"

	"github.com/callwright/callwright/dialect"
)

// headerRow returns the row among rows whose messages have headers, nil if none has.
func headerRow(rows []*dialect.Row) *dialect.Row {
	for _, row := range rows {
		if row.Options.Header != "" {
			return row
		}
	}
	return nil
}

// maxHeader bounds a message's header, in bytes.
const maxHeader = 320

// message reads a message whose header says whom it is for: reasoning, text, or a call
// of the tool that it names.
func (s *Scanner) message(k *construct, row *dialect.Row) outcome {
	k.row, k.close = row, row.Close
	s.userText = false
	to, end := s.headerEnd(k, row)
	if to < 0 {
		return retry
	}
	header := string(s.c.Slice(k.start, to))
	name, recipient := recipientOf(header)
	cut := s.c.EOFAt(end) && end == to
	if end == to && !cut && (!recipient || !s.isKnown(name)) {
		return retry // no header after all
	}
	says := func(words []string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(header, w) })
	}
	switch {
	case cut:
		if !k.ev.Trained && !s.isKnown(name) {
			return retry // a word that begins a line
		}
		s.drop(k.start, end, WhyMessageHeader) // the text was cut off within it
		return taken
	case recipient && !slices.Contains(speakers, name):
		s.c.Seek(s.c.SpaceEnd(end))
		if s.opensBody(s.c.Offset()) {
			// The call's tags follow: they say all.
			s.drop(k.start, s.c.Offset(), WhyMessageHeader)
			return taken
		}
		if !k.arguments(name, "") && k.got == 0 {
			return k.fail()
		}
		return k.finish()
	case says(row.Options.HeaderReasoning) && !s.o.Everywhere:
		f := &dialect.Reasoning{Close: slices.Clone(row.Close)}
		for _, m := range row.Open { // the next message ends it
			if !strings.HasPrefix(m, "^") {
				f.Close = append(f.Close, m)
			}
		}
		return s.reasonUntil(f, k.start, end, s.endsMessage)
	}
	s.drop(k.start, end, WhyMessageHeader)
	if says(row.Options.HeaderText) && !s.o.Everywhere {
		s.userText = true
	}
	s.lineStart()
	return taken
}

// endsMessage reports whether a marker from one offset to another ends a message, and is
// not only spoken of: the text's end, another marker or a new line follows it, or it
// begins a message with a header of its own.
func (s *Scanner) endsMessage(from, to int) bool {
	at := s.c.SpaceEnd(to)
	b, ok := s.c.At(at)
	if !ok || b == '<' {
		return true
	}
	if m, end := s.callMarker(from); m != nil {
		if row := headerRow(m.rows); row != nil {
			k := &construct{start: from, opened: end}
			to, _ := s.headerEnd(k, row)
			return to >= 0 && !strings.ContainsAny(string(s.c.Slice(end, to)), "\n.;,")
		}
	}
	return s.atLineStart(from) || s.endsHere(to)
}

// speakers are recipients that are no tools.
var speakers = []string{"self", "user", "assistant", "all"}

// headerEnd returns where a message's header ends, and the offset behind its end
// marker; the same where the marker is missing, and -1 where no header stands.
func (l *look) headerEnd(k *construct, row *dialect.Row) (to, end int) {
	for off := k.opened; off < k.start+maxHeader; off++ {
		b, ok := l.c.At(off)
		if !ok {
			return off, off
		}
		if b == row.Options.Header[0] {
			if e := matchAny(l.c, off, []string{row.Options.Header}); e >= 0 {
				return off, e
			}
		}
		if b == '{' || b == '\n' && off > k.opened+160 {
			return off, off
		}
	}
	return -1, -1
}

// opensBody reports whether the opening marker of a call of its own stands at off.
func (l *look) opensBody(off int) bool {
	m, _ := l.callMarker(off)
	return m != nil && headerRow(m.rows) == nil
}

// recipientOf reads whom a header's message is for.
func recipientOf(header string) (name string, ok bool) {
	_, rest, ok := strings.Cut(header, "to=")
	if !ok {
		return "", false
	}
	if end := strings.IndexAny(rest, " <\n\t"); end >= 0 {
		rest = rest[:end]
	}
	return rest, rest != ""
}
