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
	to, end := s.headerEnd(k, row)
	if to < 0 {
		return retry
	}
	header := string(s.c.Slice(k.start, to))
	name, recipient := recipientOf(header)
	if end == to && (!recipient || !s.isKnown(name)) {
		return retry // no header after all
	}
	switch {
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
	case slices.ContainsFunc(row.Options.HeaderReasoning, func(w string) bool { return strings.Contains(header, w) }):
		f := &dialect.Reasoning{Close: slices.Clone(row.Close)}
		for _, m := range row.Open { // the next message ends it
			if !strings.HasPrefix(m, "^") {
				f.Close = append(f.Close, m)
			}
		}
		return s.reason(f, k.start, end, true)
	}
	s.drop(k.start, end, WhyMessageHeader)
	s.lineStart()
	return taken
}

// speakers are recipients that are no tools.
var speakers = []string{"self", "user", "assistant", "all"}

// headerEnd returns where a message's header ends, and the offset behind its end
// marker; the same where the marker is missing, and -1 where no header stands.
func (l *look) headerEnd(k *construct, row *dialect.Row) (to, end int) {
	for off := k.opened; off < k.start+maxHeader; off++ {
		b, ok := l.c.At(off)
		if !ok {
			return -1, -1
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
