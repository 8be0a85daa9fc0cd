package lenient

import (
	"fmt"
	"strings"
)

// maxKey bounds how far the reader looks ahead for the end of a key.
const maxKey = 128

// key reads a key and the colon behind it, or the object's end.
func (r *Reader) key() (Kind, bool, error) {
	if r.ending {
		return r.pop(), true, nil
	}
	b := r.space()
	off := r.c.off
	quoted := true
	switch b {
	case '}', ']':
		kind, ok := r.close(b)
		if ok && r.behindComma(off) {
			r.fix(off, TrailingComma)
		}
		return kind, ok, nil
	case ',':
		r.fix(off, ExtraComma)
		r.c.off++
		return 0, false, nil
	case '"', '\'', '`':
		if b == '`' && r.c.HasPrefix("```") {
			r.unwind()
			return r.pop(), true, nil
		}
		r.c.off++
		if b != '"' && !r.o.Python {
			r.fix(off, SingleQuotes)
		}
		if err := r.quoted(b, true); err != nil {
			return 0, false, err
		}
	default:
		if kind, end := r.noKey(b); end {
			return kind, kind != 0, nil
		}
		var ok bool
		if quoted, ok = r.oddKey(b); !ok {
			return 0, false, fmt.Errorf("%w: no key at byte %d", ErrSyntax, off)
		}
	}
	if r.CutToken {
		return r.pop(), true, nil
	}
	if b = r.space(); b == ',' || b == '}' {
		if kind, ok := r.becomesSet(off, quoted); ok {
			return kind, true, nil
		}
	}
	if b == '"' && !quoted && r.startsKey(r.c.off) {
		r.fix(off, StrayText) // {"a": 1, NOTE "b": 2}
		return 0, false, nil
	}
	if err := r.colon(off); err != nil {
		return 0, false, err
	}
	if r.ending {
		return r.pop(), true, nil
	}
	r.member()
	return Key, true, nil
}

// noKey acts on what begins with the byte b in the place of a key and is none: the end of
// the text, or of the object, whose kind it returns, or what is skipped.
func (r *Reader) noKey(b byte) (kind Kind, ok bool) {
	off := r.c.off
	switch {
	case b == 0 && r.c.EOF() || r.atClose(off):
		r.unwind()
		return r.pop(), true
	case r.customQuote(off) != "":
		return 0, false
	case r.ellipsis(b):
		return 0, true
	case b == '{' && r.inList():
		// [{"a": 1, {"a": 2}]
		r.fix(off, MissingClose)
		return r.pop(), true
	case b == '{' && len(r.stack) == 1 && !r.Fixes.Has(ExtraOpen) && r.behindBrace(off):
		// {{"a": 1}} : a template's doubled braces.
		r.c.off++
		r.fix(off, ExtraOpen)
		return 0, true
	}
	return 0, false
}

// oddKey reads a key that begins with the byte b, not as in JSON; ok is false if there is
// none.
func (r *Reader) oddKey(b byte) (quoted, ok bool) {
	off := r.c.off
	switch {
	case b == '\\' && r.c.HasPrefix(`\"`):
		r.escapedString()
	case b >= 0x80 && r.smartQuote(off) != 0:
		r.smart(true)
	case r.customQuote(off) != "":
		r.literal(r.customQuote(off))
	default:
		return false, r.bareKey()
	}
	return true, true
}

// inList reports whether the innermost bracket is an object's in a list.
func (r *Reader) inList() bool {
	n := len(r.stack)
	return n > 1 && r.stack[n-1] == '{' && r.stack[n-2] == '['
}

// ellipsis moves over an ellipsis in the place of members, which begins with the byte b.
func (r *Reader) ellipsis(b byte) bool {
	var n int
	switch {
	case b == '.' && r.c.HasPrefix("..."):
		n = len("...")
	case b == 0xE2 && r.c.HasPrefix("…"):
		n = len("…")
	default:
		return false
	}
	r.fix(r.c.off, Ellipsis)
	r.c.off += n
	return true
}

// colon reads the colon behind a key.
func (r *Reader) colon(key int) error {
	c := r.c
	if off := c.off; off > key+1 {
		// {"a: "b"} : the key's last quote is missing, and what looks like it begins
		// the value.
		quote, _ := c.At(off - 1)
		next, _ := c.At(off)
		if name, ok := keyWithColon(r.text); ok && (quote == '"' || quote == '\'') && next != ':' && isWord(next) {
			r.fix(off-1, MissingQuote)
			r.text = name
			c.off--
			return nil
		}
	}
	b := r.space()
	switch {
	case r.colonSign(b):
	case r.o.Hash && r.Fixes.Has(UnquotedKey):
	case b == 0 && c.EOF():
		// A key that is cut off, or has no value yet, says nothing.
		r.cutOff(CutKey)
	case r.atClose(c.off) || b == '`' && c.HasPrefix("```"):
		r.cutOff(CutValue)
	case isQuote(b) || b == '{' || b == '[' || b == '-' || b >= '0' && b <= '9' || r.literalAt(c.off) > 0,
		b != ',' && b != '}' && b != ']' && r.expects(0, r.text): // {city Rome}
		r.fix(c.off, MissingColon)
	case (b == ',' || b == '}') && r.Depth() == 1 && r.o.Python:
		return errSet
	default:
		return fmt.Errorf("%w: no colon behind the key at byte %d", ErrSyntax, key)
	}
	return nil
}

// colonSign moves over a colon, or what stands in its place, that begins with the byte b.
func (r *Reader) colonSign(b byte) bool {
	c := r.c
	switch {
	case b == ':':
		c.off++
		if c.Peek() == '=' { // :=
			r.fix(c.off, OtherColon)
			c.off++
		}
	case b == '=', b == '-' && (c.HasPrefix("->") || c.HasPrefix("- ")):
		r.fix(c.off, OtherColon)
		c.off++
		if c.Peek() == '>' {
			c.off++
		}
	case b == 0xEF && c.HasPrefix("："):
		r.fix(c.off, WidePunctuation)
		c.off += len("：")
	case isQuote(b) && r.byteAt(r.spaceWithin(c.off+1, 16)) == ':': // "a"": 1
		r.fix(c.off, DoubledQuotes)
		c.off = r.spaceWithin(c.off+1, 16) + 1
	default:
		return false
	}
	return true
}

// keyWithColon takes the colon off a word that ends with one.
func keyWithColon(s string) (key string, ok bool) {
	key, ok = strings.CutSuffix(strings.TrimRight(s, " "), ":")
	return key, ok && isPlainKey(key)
}

// isKeyWithColon reports whether the key that began at an offset ends at the cursor
// with a colon, and its value begins there.
func (r *Reader) isKeyWithColon(start int) bool {
	c := r.c
	if c.off-start > maxKey {
		return false
	}
	next, _ := c.At(c.off + 1)
	_, ok := keyWithColon(string(c.Slice(start, c.off)))
	return ok && isWord(next)
}

// keyWithoutEnd reports whether the end of a key that began at start is missing before its
// colon, as in {"a: 1, "b": 2}, and moves there.
func (r *Reader) keyWithoutEnd(start int) bool {
	c := r.c
	off := start
	for limit := min(c.off, start+maxKey); off < limit && isWord(c.buf[off-c.base]); {
		off++
	}
	key := string(c.Slice(start, off))
	if key == "" || r.byteAt(r.spaceWithin(off, 16)) != ':' {
		return false
	}
	r.fix(off, MissingQuote)
	c.off, r.text = off, key
	return true
}

// isPlainKey reports whether a text is a word such as keys are.
func isPlainKey(s string) bool {
	for i := range len(s) {
		if !isWord(s[i]) {
			return false
		}
	}
	return s != "" && len(s) <= maxKey
}

// errSet says that what looked like an object is a Python set.
var errSet = fmt.Errorf("%w: a set", ErrSyntax)

// bareKey reads a key without quotes.
func (r *Reader) bareKey() bool {
	c, start := r.c, r.c.off
	if r.o.Hash && c.HasPrefix("--") {
		c.off += 2
		start = c.off
	}
	for c.off-start <= maxKey {
		b, ok := c.At(c.off)
		if !ok {
			r.text = dropMarkdown(string(c.Slice(start, c.off)))
			r.cutOff(CutKey)
			return true
		}
		if !isWord(b) && b != '.' && (b != '@' || c.off > start) && (b != '\\' || !c.HasPrefix(`\_`)) || b >= 0x80 && c.HasPrefix("：") {
			break
		}
		c.off++
	}
	if c.off == start || c.off-start > maxKey {
		return false
	}
	if !r.expects(0, string(c.Slice(start, c.off))) {
		c.off = r.phraseEnd(c.off)
	}
	r.fix(start, UnquotedKey)
	r.text = dropMarkdown(string(c.Slice(start, c.off)))
	if b, _ := c.At(c.off); b == '"' { // only its first quote is missing
		if next, _ := c.At(r.spaceWithin(c.off+1, 64)); next == ':' {
			r.fix(c.off, MissingQuote)
			c.off++
		}
	}
	return true
}

// phraseEnd returns the end of a key of several words whose first ends at off, as in
// {My key: 1}: all that stands before the colon on its line, if these are words. Else it
// returns off.
func (r *Reader) phraseEnd(off int) int {
	end := off
	for at := off; at-off <= maxKey; at++ {
		b, ok := r.c.At(at)
		switch {
		case !ok:
			return off
		case b == ':':
			if k, _ := r.c.At(at + 1); k == '/' || k == ':' {
				return off
			}
			return end
		case isWord(b) || b == '.':
			end = at + 1
		case b == '/':
			if k, _ := r.c.At(at + 1); !isWord(k) {
				return off
			}
		case b != ' ':
			return off
		}
	}
	return off
}

// dropMarkdown takes the backslashes off underscores, which Markdown puts there.
func dropMarkdown(s string) string {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && s[i+1] == '_' {
			continue
		}
		out = append(out, s[i])
	}
	return string(out)
}

// startsKey looks ahead whether a key and its colon stand at off.
func (r *Reader) startsKey(off int) bool {
	b, ok := r.c.At(off)
	switch {
	case !ok:
		return false
	case isQuote(b):
		return r.startsQuotedKey(off, b)
	case b == '\\':
		return r.c.HasPrefixAt(off, `\"`)
	case b == 0xE2 && (r.c.HasPrefixAt(off, "“") || r.c.HasPrefixAt(off, "”")):
		return true
	case r.o.Hash && b == '-':
		return r.c.HasPrefixAt(off, "--")
	case isWord(b):
		return r.startsBareKey(off)
	}
	return false
}

// startsQuotedKey is startsKey for a key that the quotation mark b opens.
func (r *Reader) startsQuotedKey(off int, b byte) bool {
	end := off + 1
	for ; ; end++ {
		k, ok := r.c.At(end)
		if !ok || end-off > maxKey || k == '\n' || k == '{' {
			return false
		}
		if k == b || isQuote(k) && r.byteAt(end+1) == ':' {
			break
		}
	}
	end = r.spaceWithin(end+1, 16)
	return r.colonAt(end) || r.Fixes.Has(MissingColon) && r.valueAt(end)
}

// startsBareKey is startsKey for a key without quotation marks.
func (r *Reader) startsBareKey(off int) bool {
	word := off + 1
	for ; word-off <= maxKey; word++ {
		if k, ok := r.c.At(word); !ok || !isWord(k) && k != '.' {
			break
		}
	}
	end := r.spaceWithin(word, 16)
	k, ok := r.c.At(end)
	switch {
	case !ok:
		return false
	case r.colonAt(end):
		return true
	case isQuote(k) && r.byteAt(end+1) == ':': // its first quotation mark is missing
		return true
	case end == word || k == ',' || k == '}' || k == ']':
		return false
	case r.Fixes.Has(MissingColon) && r.Fixes.Has(UnquotedKey) && r.valueAt(end):
		return true
	}
	return len(r.levels) > 0 && r.expects(0, string(r.c.Slice(off, word)))
}

// colonAt reports whether a colon, or what stands in its place, stands at off.
func (r *Reader) colonAt(off int) bool {
	b, ok := r.c.At(off)
	return ok && (b == ':' || b == '=' || b == 0xEF && r.c.HasPrefixAt(off, "："))
}

// valueAt reports whether a string, a number or a literal stands at off.
func (r *Reader) valueAt(off int) bool {
	b, ok := r.c.At(off)
	return ok && (isQuote(b) || b >= '0' && b <= '9' || r.literalAt(off) > 0)
}

// isWord reports whether b can stand in a key without quotes.
func isWord(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '_' || b == '$' || b == '-' || b >= 0x80
}

// intern returns the key as a string, without allocating if it was read lately.
func (r *Reader) intern(b []byte) string {
	if len(b) == 0 || len(b) > 64 {
		return string(b)
	}
	slot := &r.borrow().keys[(int(b[0])+31*int(b[len(b)-1])+7*len(b)+13*int(b[len(b)/2]))%64]
	if *slot != string(b) {
		*slot = string(b)
	}
	return *slot
}
