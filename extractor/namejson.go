package extractor

import (
	"strings"

	"github.com/callwright/callwright/internal/lenient"
)

// nameJSON reads a name and its arguments in JSON, again and again.
func (s *Scanner) nameJSON(k *construct) bool {
	for first := true; ; first = false {
		at := s.c.SpaceEnd(s.c.Offset())
		if !first {
			// More calls behind one marker follow it without a new one only where
			// their names are known.
			if b, ok := s.c.At(at); ok && (b == ',' || b == ';') {
				at = s.c.SpaceEnd(at + 1)
			}
			end := s.nameEnd(at)
			if end == at || !s.isKnown(string(s.c.Slice(at, end))) || !s.nameThenJSON(at, []*Dialect{k.row}) {
				break
			}
			k.next = at
		}
		s.c.Seek(at)
		if !s.nameAndArguments(k) {
			if k.got == 0 {
				return s.fail(k)
			}
			break
		}
	}
	return s.close(k)
}

// nameAndArguments reads one name with its arguments and what closes them.
func (s *Scanner) nameAndArguments(k *construct) bool {
	o := &k.row.Options
	for range 4 {
		end := matchAny(s.c, s.c.Offset(), o.Lead)
		if end < 0 {
			break
		}
		s.c.Seek(s.c.SpaceEnd(end))
	}
	id := ""
	if o.IDFirst != "" {
		from := s.c.Offset()
		to := s.nameEnd(from)
		if end := matchAny(s.c, s.c.SpaceEnd(to), []string{o.IDFirst}); end >= 0 {
			id = string(s.c.Slice(from, to))
			s.c.Seek(s.c.SpaceEnd(end))
		}
	}
	quoted := s.c.Peek() == '"'
	if quoted {
		s.c.Skip(1)
	}
	from := s.c.Offset()
	to := s.nameEnd(from)
	if to == from {
		return false
	}
	name := string(s.c.Slice(from, to))
	if quoted && s.c.HasPrefixAt(to, `"`) {
		to++
	}
	if o.NameIsID {
		id = name
	}
	s.c.Seek(s.c.SpaceEnd(to))
	for range 6 {
		at := s.c.Offset()
		if o.ID != "" && s.c.HasPrefixAt(at, o.ID) {
			from := at + len(o.ID)
			to := s.nameEnd(from)
			id = string(s.c.Slice(from, to))
			s.c.Seek(s.c.SpaceEnd(to))
			continue
		}
		if end := matchAny(s.c, at, o.Between); end >= 0 {
			s.c.Seek(s.c.SpaceEnd(end))
			continue
		}
		if b, ok := s.c.At(at); ok && (b == ':' || b == '>') {
			s.c.Seek(s.c.SpaceEnd(at + 1))
			continue
		}
		break
	}
	return s.arguments(k, name, id)
}

// arguments reads the JSON arguments of a call whose name is known, with an
// optional fence around them, and delivers the call.
func (s *Scanner) arguments(k *construct, name, id string) bool {
	fence := s.skipFence()
	cand := &Candidate{Named: true, Name: name, ID: id}
	b, ok := s.c.At(s.c.Offset())
	switch {
	case ok && (b == '{' || b == '[' && s.listOfObjects(s.c.Offset()) || b == '"' && fence):
		r := lenient.NewReader(s.c, lenient.Options{Close: plainClose(k.close), Watch: s.o.Watch})
		s.show(k, Partial{Name: name, ID: id, Arguments: r})
		from := s.c.Offset()
		v, err := r.Value()
		if err != nil {
			s.c.Seek(from)
			return s.broken(k, from, err)
		}
		cand.Arguments, cand.Fixes = v, r.Fixes
		cand.Truncated = r.OpenAtEnd > 0 || r.CutToken
	case !ok || s.closer(s.c.Offset(), k.close) >= 0 || s.endsTurn(s.c.Offset()):
		cand.Arguments = map[string]any{}
		cand.Truncated = !ok && len(k.close) > 0 && !s.isKnown(name)
	case s.isKnown(name) && k.marked && b != '<' && b != '[':
		// Raw text for the only parameter, such as code.
		end := s.rawEnd(k)
		cand.Arguments = lenient.Text(strings.TrimSpace(string(s.c.Slice(s.c.Offset(), end))))
		cand.Evidence.Guess = true
		cand.Truncated = s.c.EOFAt(end)
		s.c.Seek(end)
	default:
		cand.Arguments = map[string]any{}
	}
	if fence {
		s.skipFence()
	}
	// Braces too many are no text.
	for range 2 {
		at := s.c.SpaceEnd(s.c.Offset())
		if b, ok := s.c.At(at); !ok || b != '}' || cand.Truncated {
			break
		}
		cand.Fixes.Add(at, lenient.ExtraClose)
		s.c.Seek(at + 1)
	}
	s.closing(k)
	return s.deliver(k, cand, s.c.Offset())
}

// rawEnd returns where raw text that a closing marker ends has its end.
func (s *Scanner) rawEnd(k *construct) int {
	for off := s.c.Offset(); ; off++ {
		b, ok := s.c.At(off)
		if !ok {
			return off
		}
		if b == '<' && (matchAny(s.c, off, k.close) >= 0 || s.endsTurn(off)) {
			return off
		}
	}
}

// endsTurn reports whether a marker that ends the turn stands at off.
func (s *Scanner) endsTurn(off int) bool {
	b, _ := s.c.At(off)
	next, ok := s.c.At(off + 1)
	if !ok {
		return false
	}
	for _, m := range s.t.markers[uint16(b)<<8|uint16(next)] {
		if m.kind == noise && m.match(s.c, off) >= 0 {
			return true
		}
	}
	return false
}

// skipFence moves behind a fence and its info string, and reports whether one
// was there.
func (s *Scanner) skipFence() bool {
	at := s.c.SpaceEnd(s.c.Offset())
	if !s.c.HasPrefixAt(at, "```") {
		return false
	}
	at += 3
	for off := at; off < at+24; off++ {
		b, ok := s.c.At(off)
		if !ok || !isAlnum(b) && b != '_' {
			at = off
			break
		}
	}
	s.c.Seek(s.c.SpaceEnd(at))
	return true
}

// headerRow returns the row among rows whose messages have headers.
func headerRow(rows []*Dialect) *Dialect {
	for _, row := range rows {
		if row.Options.Header != "" {
			return row
		}
	}
	return nil
}

// maxHeader bounds a message's header, in bytes.
const maxHeader = 320

// message reads a message whose header says whom it is for: reasoning, text, or
// a call of the tool that it names.
func (s *Scanner) message(k *construct, row *Dialect) bool {
	k.row, k.close = row, row.Close
	from, to, end := k.start, -1, -1
	for off := k.body; off < from+maxHeader; off++ {
		b, ok := s.c.At(off)
		if !ok {
			break
		}
		if b == '<' {
			if e := matchAny(s.c, off, []string{row.Options.Header}); e >= 0 {
				to, end = off, e
				break
			}
		}
		if b == '{' || b == '\n' && off > k.body+160 {
			to, end = off, off
			break
		}
	}
	if to < 0 {
		if s.c.EOFAt(from + maxHeader) {
			return false
		}
		return false
	}
	header := string(s.c.Slice(from, to))
	name, recipient := recipientOf(header)
	if end == to && (!recipient || !s.isKnown(name)) {
		return false // no header after all
	}
	switch {
	case recipient && name != "self" && name != "user" && name != "assistant" && name != "all":
		s.c.Seek(s.c.SpaceEnd(end))
		if row2 := s.callRow(s.c.Offset()); row2 != nil {
			// The call's tags follow: they say all.
			s.drop(k.start, s.c.Offset(), "message header")
			return true
		}
		ok := s.arguments(k, name, "")
		if !ok && k.got == 0 {
			return s.fail(k)
		}
		return s.close(k)
	case strings.Contains(header, "analysis") || name == "self":
		return s.reason(&reasoning{close: append([]string{"<|start|>assistant", "<|channel|>"}, row.Close...)}, k.start, end, true)
	}
	s.drop(k.start, end, "message header")
	s.lineStart()
	return true
}

// callRow returns the row of an opening marker at off.
func (s *Scanner) callRow(off int) *Dialect {
	if m, _ := s.callMarker(off); m != nil && headerRow(m.rows) == nil {
		return m.rows[0]
	}
	return nil
}

// recipientOf reads whom a header's message is for.
func recipientOf(header string) (name string, ok bool) {
	_, rest, ok := strings.Cut(header, "to=")
	if !ok {
		return "", false
	}
	end := strings.IndexAny(rest, " <\n\t")
	if end >= 0 {
		rest = rest[:end]
	}
	return rest, rest != ""
}
