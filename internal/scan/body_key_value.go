package scan

import (
	"slices"
	"strings"

	"github.com/callwright/callwright/dialect"
	"github.com/callwright/callwright/internal/lenient"
)

// keyTags are the tags of a body of keys and values.
type keyTags struct{ keyOpen, keyClose, valueOpen, valueClose, between []string }

// usualKeyTags are the tags of rows that have none of their own.
var usualKeyTags = keyTags{
	keyOpen:    []string{"<arg_key:*>"},
	keyClose:   []string{"</arg_key:*>"},
	valueOpen:  []string{"<arg_value:*>"},
	valueClose: []string{"</arg_value:*>"},
	between:    []string{"<tool_sep:*>"},
}

func tagsOf(o *dialect.Options) keyTags {
	if len(o.ValueOpen) == 0 {
		t := usualKeyTags
		t.between = append(slices.Clone(o.Between), t.between...)
		return t
	}
	return keyTags{o.KeyOpen, o.KeyClose, o.ValueOpen, o.ValueClose, o.Between}
}

// anyKeyTags are the tags that tell that keys and values follow.
var anyKeyTags = slices.Concat(usualKeyTags.keyOpen, usualKeyTags.keyClose, usualKeyTags.valueOpen, usualKeyTags.between)

// keyValueBody is a name and pairs of keys and values in tags.
type keyValueBody struct{}

func (keyValueBody) at(l *look, off int, rows []*dialect.Row) (int, bool) {
	b, _ := l.c.At(off)
	switch {
	case b == '<':
		return off, matchAny(l.c, off, usualKeyTags.keyOpen) >= 0
	case b < 0x80 && !isIdentStart(b) && b != '$':
		return off, false
	}
	end := l.nameEnd(off)
	if end == off {
		return off, false
	}
	own := hasBody(rows, dialect.BodyKeyValue)
	if (own || hasBody(rows, dialect.BodyJSON)) && l.keyFollows(end, rows) {
		return off, true
	}
	name := string(l.c.Slice(off, end))
	if b, ok := l.c.At(end); ok && b == '>' && l.isKnown(name) {
		return off, true
	}
	if !own || l.known() && !l.isKnown(name) {
		return off, false
	}
	next := l.c.SpaceEnd(end) // a call without arguments
	return off, l.c.EOFAt(next) || l.closer(next, rows[0].Close) >= 0 || l.opensAgain(next, rows)
}

// opensAgain reports whether an opening marker of one of the rows stands at off.
func (l *look) opensAgain(off int, rows []*dialect.Row) bool {
	return slices.ContainsFunc(rows, func(row *dialect.Row) bool { return matchAny(l.c, off, row.Open) >= 0 })
}

// keyFollows reports whether the first key of a key_value body, or what may stand
// between the name and it, is at off.
func (l *look) keyFollows(off int, rows []*dialect.Row) bool {
	next := l.escapedSpaceEnd(off)
	if matchAny(l.c, next, anyKeyTags) >= 0 {
		return true
	}
	for _, row := range rows {
		if row.Body != dialect.BodyKeyValue {
			continue
		}
		o := &row.Options
		if matchAny(l.c, next, o.Between) >= 0 || matchAny(l.c, next, o.KeyOpen) >= 0 || matchAny(l.c, next, o.ValueOpen) >= 0 {
			return true
		}
		// The opening marker again, in the place of the first key's tag.
		if end := matchAny(l.c, next, row.Open); end >= 0 {
			if key := l.nameEnd(end); key > end && matchAny(l.c, key, anyKeyTags) >= 0 {
				return true
			}
		}
	}
	return false
}

func (keyValueBody) read(k *construct) outcome {
	r := &keyValueReader{construct: k, tags: tagsOf(&k.row.Options), args: map[string]any{}}
	r.cand = &Candidate{Named: true, Arguments: r.args}
	r.name()
	if b, ok := k.c.At(k.c.Offset()); ok && b == '>' {
		r.short()
	} else {
		k.showParams(r.cand.Name, r.args)
		for r.pair() {
		}
	}
	k.deliver(r.cand, k.c.Offset())
	return k.finish()
}

// keyValueReader reads one call of keys and values.
type keyValueReader struct {
	*construct
	tags  keyTags
	cand  *Candidate
	args  map[string]any
	keys  []string
	glued string // a key glued to the name
}

// name reads the call's name.
func (r *keyValueReader) name() {
	c := r.c
	from := c.Offset()
	end := r.nameEnd(from)
	name := string(c.Slice(from, end))
	if rest, ok := strings.CutPrefix(name, "tool="); ok {
		name = rest
	}
	if b, ok := c.At(end); ok && b == '=' && name == "tool" { // tool=read
		from = end + 1
		end = r.nameEnd(from)
		name = string(c.Slice(from, end))
	}
	c.Seek(end)
	if matchAny(c, end, r.tags.keyClose) >= 0 || matchAny(c, end, r.tags.valueOpen) >= 0 {
		if tool, key, ok := r.splitGlued(name); ok {
			name, r.glued = tool, key
			r.cand.Evidence.Guess = true
		}
	}
	r.cand.Name = name
}

// short reads name>value: a short form for the only parameter.
func (r *keyValueReader) short() {
	c := r.c
	c.Skip(1)
	from := c.Offset()
	to := r.rawEnd(from, r.close)
	r.cand.Arguments = lenient.Text(strings.TrimSpace(string(c.Slice(from, to))))
	r.cand.Evidence.Guess = true
	r.cand.Truncated = c.EOFAt(to)
	c.Seek(to)
	r.skipClosing()
}

// pair reads a key and its value, and reports whether another may follow.
func (r *keyValueReader) pair() bool {
	c, ev := r.c, &r.cand.Evidence
	key, ok := r.key()
	if !ok {
		return false
	}
	start := c.Offset()
	r.showOpen(key, start, true)
	to, next, ok := r.keyedValueEnd(r.tags)
	switch {
	case !ok:
		r.cand.cutIn(key)
		c.Seek(c.Limit())
		if key != "" {
			r.args[key] = lenient.Text(lenient.ValidUTF8(c.Slice(start, c.Limit())))
		}
		return false
	case key == "": // a value without a key says nothing
		c.Seek(next)
		ev.Guess = true
		if next == start {
			r.skipClosing()
			return false
		}
		return true
	}
	raw := lenient.ValidUTF8(c.Slice(start, to))
	if next == to { // its own end is missing: so is that of its line
		raw = trimNewlines(raw)
	}
	c.Seek(next)
	if r.row.Options.Entities {
		raw = entities.Replace(raw)
	}
	r.setParam(r.cand, r.args, &r.keys, key, lenient.Text(raw))
	return true
}

// key reads a key and all that stands before its value; ok is false at the call's end.
func (r *keyValueReader) key() (key string, ok bool) {
	c, tags := r.c, &r.tags
	at := r.escapedSpaceEnd(c.Offset())
	for matchAny(c, at, tags.keyOpen) < 0 && matchAny(c, at, tags.between) >= 0 && r.glued == "" {
		at = r.escapedSpaceEnd(matchAny(c, at, tags.between))
	}
	c.Seek(at)
	opened := matchAny(c, at, r.row.Open)
	switch e := matchAny(c, at, tags.keyOpen); {
	case r.glued != "":
		key, r.glued = r.glued, ""
		if e := matchAny(c, at, tags.keyClose); e >= 0 {
			c.Seek(e)
		}
	case e >= 0:
		c.Seek(e)
		key = r.keyText(r.tags)
	case opened >= 0 && r.keyBehind(opened, r.tags):
		// The opening marker in the place of the key's tag.
		c.Seek(opened)
		key = r.keyText(r.tags)
		r.cand.Evidence.Guess = true
	default:
		r.callEnd(at)
		return "", false
	}
	// A type and stray ends may stand between the key and the value.
	o := &r.row.Options
	for range 4 {
		at = r.escapedSpaceEnd(c.Offset())
		if e := matchAny(c, at, tags.keyClose); e >= 0 {
			c.Seek(e)
		} else if o.TypeOpen != "" && c.HasPrefixAt(at, o.TypeOpen) {
			to, ok := r.find(at, o.TypeClose)
			if !ok {
				break
			}
			c.Seek(to)
		}
	}
	if e := matchAny(c, r.escapedSpaceEnd(c.Offset()), tags.valueOpen); e >= 0 {
		c.Seek(e)
	} else if c.HasPrefix("\n") {
		c.Skip(1) // its opening tag is missing, not the line's end
	}
	return strings.TrimSpace(key), true
}

// callEnd reads the call's end, where no further key stands.
func (r *keyValueReader) callEnd(at int) {
	c, cand := r.c, r.cand
	if c.EOF() {
		cand.Evidence.MissingClose = true
		return
	}
	if r.closer(at, r.close) < 0 {
		cand.Evidence.MissingClose = true
		if r.cutClose(at, append([]string{"<arg_key>", "</arg_key>"}, r.close...)) {
			cand.Truncated = !r.cutClose(at, r.close)
			c.Seek(c.Limit())
		}
	}
	r.skipClosing()
	if len(r.args) == 0 && r.known() && !r.isKnown(cand.Name) {
		cand.Evidence.Guess = true
	}
}

// escapedSpaceEnd returns the offset behind white space and escaped newlines, as
// some models write them between tags.
func (l *look) escapedSpaceEnd(off int) int {
	at := l.c.SpaceEnd(off)
	for l.c.HasPrefixAt(at, `\n`) {
		at = l.c.SpaceEnd(at + 2)
	}
	return at
}

// keyText reads a key up to its closing tag, or what stands in its place. A key may hold
// brackets of its own.
func (k *construct) keyText(tags keyTags) string {
	c := k.c
	from := c.Offset()
	first := -1
	for off := from; off < from+maxName; off++ {
		b, ok := c.At(off)
		if !ok || b == '\n' {
			break
		}
		if b != '<' {
			continue
		}
		if e := matchAny(c, off, tags.keyClose); e >= 0 {
			c.Seek(e)
			return string(c.Slice(from, off))
		}
		if first < 0 {
			first = off
		}
		if matchAny(c, off, tags.valueOpen) >= 0 || matchAny(c, off, tags.keyOpen) >= 0 {
			break
		}
	}
	if first < 0 {
		return ""
	}
	c.Seek(first)
	return string(c.Slice(from, first))
}

// pairBehind reports whether a whole key and the beginning of its value stand at off,
// behind a key's opening tag.
func (l *look) pairBehind(off int, tags keyTags) bool {
	end := l.nameEnd(off)
	if end == off {
		return false
	}
	e := matchAny(l.c, end, tags.keyClose)
	return e >= 0 && matchAny(l.c, l.escapedSpaceEnd(e), tags.valueOpen) >= 0
}

// keyBehind reports whether a key without its opening tag stands at off.
func (l *look) keyBehind(off int, tags keyTags) bool {
	end := l.nameEnd(off)
	return end > off && matchAny(l.c, end, tags.keyClose) >= 0
}

// keyedValueEnd returns where a value ends and where to go on. The closing tag
// that counts is the one that another key, the call's end or the text's end follows.
func (k *construct) keyedValueEnd(tags keyTags) (to, next int, ok bool) {
	c := k.c
	start := c.Offset()
	for off := start; ; off++ {
		b, in := c.At(off)
		if !in {
			return 0, 0, false
		}
		if b != '<' {
			k.showSafe(off + 1)
			continue
		}
		if e := matchAny(c, off, tags.valueClose); e >= 0 {
			at := k.escapedSpaceEnd(e)
			if c.EOFAt(at) || matchAny(c, at, tags.keyOpen) >= 0 || k.closer(at, k.close) >= 0 && matchAny(c, at, tags.valueClose) < 0 ||
				matchAny(c, at, k.row.Open) >= 0 || k.endsTurn(at) || k.cutClose(at, append(append([]string{}, k.close...), "<arg_key>")) {
				return off, e, true
			}
			if n, _ := c.At(at); n != '<' && len(tags.keyClose) > 0 && k.keyBehind(at, tags) {
				return off, e, true // the next key without its tag
			}
			off = e - 1
			continue
		}
		// Without its own end the next key, or the call's end, bounds a value.
		if e := matchAny(c, off, tags.keyOpen); e >= 0 && (tags.areTokens() || k.pairBehind(e, tags)) {
			return off, off, true
		}
		if e := matchAny(c, off, k.close); e >= 0 {
			if at := c.SpaceEnd(e); c.EOFAt(at) || matchAny(c, at, k.row.Open) >= 0 || tags.areTokens() {
				return off, off, true
			}
		}
	}
}

// areTokens reports whether tags are special tokens, which no value holds.
func (tags keyTags) areTokens() bool {
	return len(tags.keyOpen) > 0 && strings.Contains(tags.keyOpen[0], "|")
}

// splitGlued takes a key off a name that it is glued to.
func (l *look) splitGlued(glued string) (name, key string, ok bool) {
	if !l.known() {
		return "", "", false
	}
	for i := len(glued) - 1; i > 0; i-- {
		if tool := l.registry.Get(glued[:i]); tool != nil && hasProperty(tool, glued[i:]) {
			return glued[:i], glued[i:], true
		}
	}
	return "", "", false
}
