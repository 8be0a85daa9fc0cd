package extractor

import (
	"strings"

	"github.com/callwright/callwright/internal/lenient"
)

// keyTags are the tags of a body of keys and values.
type keyTags struct{ keyOpen, keyClose, valueOpen, valueClose, between []string }

var usualKeyTags = keyTags{
	keyOpen:    []string{"<arg_key:*>", "<ifm|arg_key>"},
	keyClose:   []string{"</arg_key:*>", "</ifm|arg_key>"},
	valueOpen:  []string{"<arg_value:*>", "<ifm|arg_value>"},
	valueClose: []string{"</arg_value:*>", "</ifm|arg_value>"},
	between:    []string{"<tool_sep:*>"},
}

func tagsOf(o *BodyOptions) keyTags {
	if len(o.ValueOpen) == 0 {
		t := usualKeyTags
		t.between = append(o.Between, t.between...)
		return t
	}
	return keyTags{o.KeyOpen, o.KeyClose, o.ValueOpen, o.ValueClose, o.Between}
}

// keyValue reads a name and pairs of keys and values in tags.
func (s *Scanner) keyValue(k *construct) bool {
	c := s.c
	tags := tagsOf(&k.row.Options)
	cand := &Candidate{Named: true}
	args := map[string]any{}
	cand.Arguments = args
	var keys []string
	from := c.Offset()
	end := s.nameEnd(from)
	name := string(c.Slice(from, end))
	if rest, ok := strings.CutPrefix(name, "tool="); ok {
		name = rest
	}
	if b, ok := c.At(end); ok && b == '=' && name == "tool" { // tool=read
		from = end + 1
		end = s.nameEnd(from)
		name = string(c.Slice(from, end))
	}
	c.Seek(end)
	first := "" // a key glued to the name
	if matchAny(c, end, tags.keyClose) >= 0 || matchAny(c, end, tags.valueOpen) >= 0 {
		if tool, key, ok := s.splitGlued(name); ok {
			name, first = tool, key
			cand.Evidence.Guess = true
		}
	}
	cand.Name = name
	if b, ok := c.At(end); ok && b == '>' {
		// name>value : a short form for the only parameter.
		c.Seek(end + 1)
		to := s.rawEnd(k)
		cand.Arguments = lenient.Text(strings.TrimSpace(string(c.Slice(end+1, to))))
		cand.Evidence.Guess = true
		cand.Truncated = c.EOFAt(to)
		c.Seek(to)
		s.closing(k)
		s.deliver(k, cand, c.Offset())
		return s.close(k)
	}
	s.show(k, Partial{Name: name, Values: args})
	for {
		at := s.escapedSpaceEnd(c.Offset())
		c.Seek(at)
		key := first
		switch e := matchAny(c, at, tags.keyOpen); {
		case first != "":
			first = ""
			if e := matchAny(c, at, tags.keyClose); e >= 0 {
				c.Seek(e)
			}
		case e >= 0:
			c.Seek(e)
			key = s.keyText(tags)
		case matchAny(c, at, tags.between) >= 0:
			c.Seek(matchAny(c, at, tags.between))
			continue
		case matchAny(c, at, k.row.Open) >= 0 && s.keyBehind(matchAny(c, at, k.row.Open), tags):
			// The opening marker in the place of the key's tag.
			c.Seek(matchAny(c, at, k.row.Open))
			key = s.keyText(tags)
			cand.Evidence.Guess = true
		case c.EOF():
			cand.Evidence.MissingClose = true
			s.deliver(k, cand, c.Offset())
			return s.close(k)
		default:
			if e := s.closer(at, k.close); e < 0 {
				cand.Evidence.MissingClose = true
				if s.cutClose(at, append([]string{"<arg_key>", "</arg_key>"}, k.close...)) {
					cand.Truncated = !s.cutClose(at, k.close)
					c.Seek(c.Limit())
				}
			}
			s.closing(k)
			if len(args) == 0 && !s.isKnown(name) && s.known {
				cand.Evidence.Guess = true
			}
			s.deliver(k, cand, c.Offset())
			return s.close(k)
		}
		key = strings.TrimSpace(key)
		// A type and stray ends may stand between the key and the value.
		for range 4 {
			at = s.escapedSpaceEnd(c.Offset())
			if e := matchAny(c, at, tags.keyClose); e >= 0 {
				c.Seek(e)
				continue
			}
			if e := matchAny(c, at, []string{"<ifm|arg_type>"}); e >= 0 {
				if to, ok := s.find(e, "</ifm|arg_type>"); ok {
					c.Seek(to)
					continue
				}
			}
			break
		}
		if e := matchAny(c, s.escapedSpaceEnd(c.Offset()), tags.valueOpen); e >= 0 {
			c.Seek(e)
		}
		start := c.Offset()
		if s.partial != nil {
			s.partial.OpenKey, s.partial.OpenFrom, s.partial.OpenSafe, s.partial.OpenRaw = key, start, start, true
		}
		to, next, ok := s.keyedValueEnd(k, tags)
		if ok && key == "" {
			c.Seek(next) // a value without a key says nothing
			cand.Evidence.Guess = true
			if next == start {
				s.closing(k)
				s.deliver(k, cand, c.Offset())
				return s.close(k)
			}
			continue
		}
		if !ok {
			cand.Truncated = true
			c.Seek(c.Limit())
			if key != "" {
				args[key] = lenient.Text(lenient.ValidUTF8(c.Slice(start, c.Limit())))
			}
			s.deliver(k, cand, c.Offset())
			return s.close(k)
		}
		raw := lenient.ValidUTF8(c.Slice(start, to))
		if next == to { // its own end is missing: so is that of its line
			raw = trimNewlines(raw)
		}
		c.Seek(next)
		var value any = lenient.Text(raw)
		if k.row.Options.Entities {
			value = lenient.Text(entities.Replace(raw))
		}
		s.setParam(k, cand, args, &keys, key, value)
	}
}

// escapedSpaceEnd returns the offset behind white space and escaped newlines, as
// some models write them between tags.
func (s *Scanner) escapedSpaceEnd(off int) int {
	at := s.c.SpaceEnd(off)
	for s.c.HasPrefixAt(at, `\n`) {
		at = s.c.SpaceEnd(at + 2)
	}
	return at
}

// keyText reads a key up to its closing tag, or what stands in its place.
func (s *Scanner) keyText(tags keyTags) string {
	from := s.c.Offset()
	for off := from; off < from+maxName; off++ {
		b, ok := s.c.At(off)
		if !ok {
			break
		}
		if b == '<' {
			s.c.Seek(off)
			key := string(s.c.Slice(from, off))
			if e := matchAny(s.c, off, tags.keyClose); e >= 0 {
				s.c.Seek(e)
			}
			return key
		}
	}
	return ""
}

func (s *Scanner) keyBehind(off int, tags keyTags) bool {
	end := s.nameEnd(off)
	return end > off && matchAny(s.c, end, tags.keyClose) >= 0
}

// keyedValueEnd returns where a value ends and where to go on. The closing tag
// that counts is the one that another key, the call's end or the text's end follows.
func (s *Scanner) keyedValueEnd(k *construct, tags keyTags) (to, next int, ok bool) {
	c := s.c
	start := c.Offset()
	for off := start; ; off++ {
		b, in := c.At(off)
		if !in {
			return 0, 0, false
		}
		if b != '<' {
			if s.partial != nil {
				s.partial.OpenSafe = off + 1
			}
			continue
		}
		if e := matchAny(c, off, tags.valueClose); e >= 0 {
			at := s.escapedSpaceEnd(e)
			if c.EOFAt(at) || matchAny(c, at, tags.keyOpen) >= 0 || s.closer(at, k.close) >= 0 && matchAny(c, at, tags.valueClose) < 0 ||
				matchAny(c, at, k.row.Open) >= 0 || s.endsTurn(at) || s.cutClose(at, append(append([]string{}, k.close...), "<arg_key>")) {
				return off, e, true
			}
			if n, _ := c.At(at); n != '<' && len(tags.keyClose) > 0 && s.keyBehind(at, tags) {
				return off, e, true // the next key without its tag
			}
			off = e - 1
			continue
		}
		// Without its own end the next key, or the call's end, bounds a value.
		if e := matchAny(c, off, tags.keyOpen); e >= 0 && s.ownTags(tags) {
			return off, off, true
		}
		if e := matchAny(c, off, k.close); e >= 0 {
			if at := c.SpaceEnd(e); c.EOFAt(at) || matchAny(c, at, k.row.Open) >= 0 || s.ownTags(tags) {
				return off, off, true
			}
		}
	}
}

// ownTags reports whether tags are special tokens, which no value holds.
func (s *Scanner) ownTags(tags keyTags) bool {
	return len(tags.keyOpen) > 0 && strings.Contains(tags.keyOpen[0], "|")
}

// splitGlued takes a key off a name that it is glued to.
func (s *Scanner) splitGlued(glued string) (name, key string, ok bool) {
	if !s.known {
		return "", "", false
	}
	for i := len(glued) - 1; i > 0; i-- {
		if tool := s.o.Registry.Get(glued[:i]); tool != nil && hasProperty(tool, glued[i:]) {
			return glued[:i], glued[i:], true
		}
	}
	return "", "", false
}
