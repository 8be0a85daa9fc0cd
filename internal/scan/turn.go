package scan

import (
	"slices"
	"strings"

	"github.com/callwright/callwright/dialect"
)

// maxRole bounds the word that names who speaks, in bytes.
const maxRole = 48

// turn acts on a marker at which a turn begins or ends, and drops it. What stands in
// another speaker's turn is text: only the assistant's own words are calls.
func (s *Scanner) turn(m *marker, p, end int) outcome {
	t := m.turn
	speaker := dialect.Speaker("")
	switch {
	case t == nil: // it closes a region, or another speaker's turn
		if m.pattern == s.otherEnd {
			speaker = dialect.Assistant
		}
	case t.AfterCall && !s.hasOther:
		return retry
	case t.RoleFollows:
		var ok bool
		if speaker, end, ok = s.role(t, end); !ok {
			return retry
		}
	default:
		speaker = t.Speaker
	}
	s.userText = false
	switch speaker {
	case dialect.Assistant:
		s.otherSpeaks, s.otherEnd = false, ""
	case dialect.Other:
		s.otherSpeaks, s.otherEnd = true, t.Close
	}
	s.drop(p, end, WhyTurnMarker)
	s.lineStart()
	return taken
}

// role reads the word that names who speaks, and returns the offset behind it; off if
// there is none. ok is false if there is a word and what must end it is missing.
func (l *look) role(t *dialect.Turn, off int) (speaker dialect.Speaker, end int, ok bool) {
	at := off
	for at < off+maxRole {
		b, ok := l.c.At(at)
		if !ok || !isAlnum(b) && b != '_' && b != '-' && b < 0x80 {
			break
		}
		at++
	}
	if at == off {
		return "", off, true
	}
	word := strings.ToLower(string(l.c.Slice(off, at)))
	if t.RoleEnd != "" { // a name, a recipient or a channel may stand behind the word
		for i := at; i < at+maxHeader; i++ {
			b, ok := l.c.At(i)
			if !ok || b == '\n' {
				break
			}
			if e := matchAny(l.c, i, []string{t.RoleEnd}); e >= 0 {
				return speakerOf(word), e, true
			}
		}
		return "", off, false
	}
	b, more := l.c.At(at)
	switch {
	case b == '\n':
		return speakerOf(word), at + 1, true
	case !more, b == '<', b == ':', b == '\r', b == '[', l.c.HasPrefixAt(at, " name="):
		return speakerOf(word), at, true
	}
	return "", off, true
}

func speakerOf(role string) dialect.Speaker {
	if slices.Contains(dialect.AssistantRoles, role) {
		return dialect.Assistant
	}
	return dialect.Other
}
