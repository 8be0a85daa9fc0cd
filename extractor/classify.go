package extractor

import (
	"slices"
)

// form is what was found behind an opening marker.
type form struct {
	body   Body
	row    *Dialect
	off    int // where the body begins
	fenced bool
}

// maxName is how long a name may be, in bytes.
const maxName = 256

// classify decides by the first bytes behind an opening marker what body stands
// there, and which of the marker's rows it belongs to. ok is false if nothing
// there is a call.
func (s *Scanner) classify(off int, rows []*Dialect) (f form, ok bool) {
	f.off = s.c.SpaceEnd(off)
	for _, row := range rows {
		if row.Body == BodyParams {
			if end := matchAny(s.c, f.off, row.Options.Lead); end >= 0 {
				if t, ok := s.tag(s.c.SpaceEnd(end)); ok && t.call() {
					f.body, f.row, f.off = row.Body, row, s.c.SpaceEnd(end)
					return f, true
				}
			}
		}
		if p := row.Options.Prefix; p != "" && s.c.HasPrefixAt(f.off, p) {
			if _, isTag := s.tag(f.off + len(p)); isTag {
				f.body, f.row = row.Body, row
				return f, true
			}
		}
	}
	if s.c.HasPrefixAt(f.off, "```") {
		// A fence within the markers.
		end := f.off + 3
		for end < f.off+32 {
			b, ok := s.c.At(end)
			if !ok || b == '\n' || b == '{' || b == '[' {
				break
			}
			end++
		}
		f.off, f.fenced = s.c.SpaceEnd(end), true
	}
	f.body, ok = s.bodyAt(f.off, rows)
	if !ok {
		return f, false
	}
	for _, row := range rows {
		if row.Body != f.body {
			continue
		}
		if f.row == nil {
			f.row = row
		}
		// Of rows with the same body the one counts whose own words are there.
		if lead := row.Options.Lead; len(lead) > 0 && matchAny(s.c, f.off, lead) >= 0 {
			f.row = row
			break
		}
		if len(f.row.Options.Lead) > 0 && len(row.Options.Lead) == 0 && matchAny(s.c, f.off, f.row.Options.Lead) < 0 && s.nameThenJSON(f.off, []*Dialect{row}) {
			f.row = row
		}
	}
	if f.row != nil {
		return f, true
	}
	// No row of this marker has such a body: models mix them. Brace calls are
	// the markers' own matter.
	if f.body == BodyBraceCall || rows[0].Body == BodyBraceCall && f.body != BodyJSON {
		return f, false
	}
	f.row = rows[0]
	return f, true
}

// bodyAt tells which body begins at off.
func (s *Scanner) bodyAt(off int, rows []*Dialect) (Body, bool) {
	b, ok := s.c.At(off)
	if !ok {
		return "", false
	}
	if slices.ContainsFunc(rows, func(d *Dialect) bool { return d.Body == BodyBraceCall }) {
		if s.braceCallAt(off) {
			return BodyBraceCall, true
		}
	}
	if slices.ContainsFunc(rows, func(d *Dialect) bool { return d.Body == BodyLines && len(d.Options.ValueQuotes) == 2 }) {
		return BodyLines, isIdentStart(b)
	}
	switch {
	case b == '{':
		return BodyJSON, s.objectAt(off)
	case b == '[':
		next := s.c.SpaceEnd(off + 1)
		n, ok := s.c.At(next)
		switch {
		case !ok:
			return "", false
		case n == '{' || n == '"' || n == '\'' || n == '[' || n == ']':
			return BodyJSON, true
		case isIdentStart(n):
			return BodyPythonic, s.callAt(next)
		}
		return "", false
	case b == '<':
		return s.tagBody(off, rows)
	case slices.ContainsFunc(rows, func(d *Dialect) bool { return matchAny(s.c, off, d.Options.Lead) >= 0 }):
		return BodyNameJSON, s.nameThenJSON(off, rows)
	case b == '"' && slices.ContainsFunc(rows, func(d *Dialect) bool { return d.Body == BodyNameJSON }):
		return BodyNameJSON, s.nameThenJSON(off+1, rows)
	case b >= 0x80 || isIdentStart(b) || b == '$':
		return s.nameBody(off, rows)
	}
	return "", false
}

// objectAt reports whether an object begins at off: a key follows the brace, or
// its end.
func (s *Scanner) objectAt(off int) bool {
	next := s.c.SpaceEnd(off + 1)
	b, ok := s.c.At(next)
	if !ok {
		return false
	}
	return b == '"' || b == '\'' || b == '}' || b == '{' || b == '\\' || b == '`' || isIdentStart(b) || b >= 0x80 || b == '-' || b == '/' || b == '&' && s.c.HasPrefixAt(next, "&quot;")
}

// nameEnd returns the offset behind the name at off.
func (s *Scanner) nameEnd(off int) int {
	for i := off; i < off+maxName; i++ {
		b, ok := s.c.At(i)
		part := isName(b) || b == '$' || b == ':' && s.nameGoesOn(i) || b == '\\' && s.c.HasPrefixAt(i, `\_`)
		if !ok || !part {
			return i
		}
		if b >= 0x80 && (s.c.HasPrefixAt(i, "｜") || s.c.HasPrefixAt(i, "：") || s.c.HasPrefixAt(i, "「")) {
			return i
		}
	}
	return off
}

// nameGoesOn reports whether the colon at off is part of a name: an index or a
// namespace's part follows it at once.
func (s *Scanner) nameGoesOn(off int) bool {
	b, ok := s.c.At(off + 1)
	return ok && (isAlnum(b) || b == ':')
}

// nameBody tells which body begins with the name at off.
func (s *Scanner) nameBody(off int, rows []*Dialect) (Body, bool) {
	end := s.nameEnd(off)
	if end == off {
		return "", false
	}
	has := func(body Body) bool {
		return slices.ContainsFunc(rows, func(d *Dialect) bool { return d.Body == body })
	}
	b, ok := s.c.At(end)
	if has(BodyNameJSON) && s.nameThenJSON(off, rows) {
		return BodyNameJSON, true
	}
	if has(BodyKeyValue) || has(BodyJSON) {
		if s.keyFollows(end, rows) {
			return BodyKeyValue, true
		}
	}
	switch {
	case ok && b == '(':
		return BodyPythonic, true
	case ok && b == '=' && has(BodyPythonic):
		return BodyPythonic, true
	case ok && b == '{':
		return BodyNameJSON, true
	case ok && b == ':' && has(BodyJSON):
		next := s.c.SpaceEnd(end + 1)
		if n, _ := s.c.At(next); n == '{' {
			return BodyNameJSON, true
		}
		word := string(s.c.Slice(off, end))
		if isNameKey(word) {
			return BodyLines, true
		}
		return "", false
	case ok && b == '>' && s.isKnown(string(s.c.Slice(off, end))):
		return BodyKeyValue, true
	}
	next := s.c.SpaceEnd(end)
	n, ok := s.c.At(next)
	name := string(s.c.Slice(off, end))
	switch {
	case ok && n == '{' && s.objectAt(next) && (s.isKnown(name) || !s.known || has(BodyNameJSON)):
		return BodyNameJSON, true
	case has(BodyKeyValue) && (s.isKnown(name) || !s.known) && (!ok || s.closer(next, rows[0].Close) >= 0 || s.opensAgainAny(next, rows)):
		return BodyKeyValue, true // a call without arguments
	}
	return "", false
}

func (s *Scanner) opensAgainAny(off int, rows []*Dialect) bool {
	for _, row := range rows {
		if matchAny(s.c, off, row.Open) >= 0 {
			return true
		}
	}
	return false
}

// keyFollows reports whether the first key of a key_value body, or what may stand
// between the name and it, is at off.
func (s *Scanner) keyFollows(off int, rows []*Dialect) bool {
	next := s.escapedSpaceEnd(off)
	if matchAny(s.c, next, defaultKeyTags) >= 0 {
		return true
	}
	for _, row := range rows {
		if row.Body != BodyKeyValue {
			continue
		}
		if matchAny(s.c, next, row.Options.Between) >= 0 || matchAny(s.c, next, row.Options.KeyOpen) >= 0 || matchAny(s.c, next, row.Options.ValueOpen) >= 0 {
			return true
		}
		// The opening marker again, in the place of the first key's tag.
		if end := matchAny(s.c, next, row.Open); end >= 0 {
			if key := s.nameEnd(end); key > end && matchAny(s.c, key, defaultKeyTags) >= 0 {
				return true
			}
		}
	}
	return false
}

var defaultKeyTags = []string{"<arg_key:*>", "</arg_key:*>", "<arg_value:*>", "<ifm|arg_key>", "<tool_sep:*>"}

// nameThenJSON reports whether a name and then its arguments, or a row's marker
// between them, stand at off.
func (s *Scanner) nameThenJSON(off int, rows []*Dialect) bool {
	for _, row := range rows {
		if row.Body != BodyNameJSON {
			continue
		}
		at := off
		for range 4 {
			next := matchAny(s.c, at, row.Options.Lead)
			if next < 0 {
				break
			}
			at = s.c.SpaceEnd(next)
		}
		end := s.nameEnd(at)
		if b, _ := s.c.At(end); b == '"' {
			end++
		}
		if end == at {
			continue
		}
		next := s.c.SpaceEnd(end)
		if row.Options.IDFirst != "" {
			if matchAny(s.c, next, []string{row.Options.IDFirst}) >= 0 {
				return true
			}
			continue
		}
		if row.Options.ID != "" && s.c.HasPrefixAt(next, row.Options.ID) {
			return true
		}
		if e := matchAny(s.c, next, row.Options.Between); e >= 0 {
			if t, ok := s.tag(s.c.SpaceEnd(e)); ok && !t.close && t.call() {
				continue // tags follow: another body
			}
			return true
		}
		b, ok := s.c.At(next)
		if ok && b == '{' && s.objectAt(next) || s.c.HasPrefixAt(next, "```") {
			return true
		}
		if next > end || !ok {
			name := string(s.c.Slice(at, end))
			if s.isKnown(name) && (!ok || s.closer(next, row.Close) >= 0) {
				return true // a call without arguments
			}
		}
	}
	return false
}

// tagBody tells which body begins with the tag at off.
func (s *Scanner) tagBody(off int, rows []*Dialect) (Body, bool) {
	if matchAny(s.c, off, defaultKeyTags[:1]) >= 0 {
		return BodyKeyValue, true
	}
	t, ok := s.tag(off)
	if !ok || t.close {
		return "", false
	}
	switch {
	case t.call():
		if t.name == "" && !t.selfClose && t.word != "function" && t.word != "invoke" && t.word != "tool" {
			return "", false
		}
		return BodyParams, true
	case t.param() && t.name != "":
		return BodyParams, true
	}
	if s.isKnown(t.word) || slices.ContainsFunc(rows, func(d *Dialect) bool { return d.Body == BodyElements }) {
		return BodyElements, true
	}
	return "", false
}

// callAt reports whether name( stands at off.
func (s *Scanner) callAt(off int) bool {
	end := s.nameEnd(off)
	b, ok := s.c.At(end)
	return end > off && ok && b == '('
}

// braceCallAt reports whether call:name stands at off.
func (s *Scanner) braceCallAt(off int) bool {
	if !s.c.HasPrefixAt(off, "call:") {
		return false
	}
	end := s.nameEnd(off + len("call:"))
	return end > off+len("call:")
}

// Keys that hold a call's name, in YAML.
func isNameKey(word string) bool {
	switch word {
	case "name", "tool", "function", "tool_name", "function_name", "action":
		return true
	}
	return false
}
