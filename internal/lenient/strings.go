package lenient

import (
	"bytes"
	"strings"
	"sync"
	"unicode/utf16"
	"unicode/utf8"
)

// plainFor marks, for a quotation mark, the bytes of its strings that need no
// attention.
func plainFor(q byte) (t [256]bool) {
	for b := 0x20; b < 256; b++ {
		t[b] = byte(b) != q && b != '\\'
	}
	return t
}

var plainDouble, plainSingle, plainBack = plainFor('"'), plainFor('\''), plainFor('`')

// simpleEscapes are the escape sequences of one letter.
var simpleEscapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'n': '\n', 't': '\t', 'r': '\r', 'b': '\b', 'f': '\f'}

// buffers keep the scratch space of readers.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// quoted reads a string whose opening quote was just read, up to and with its
// closing one, and puts its text into r.text.
func (r *Reader) quoted(q byte, key bool) error {
	c := r.c
	if !key && c.Peek() == q && r.triple(q) {
		return nil
	}
	start := c.off
	inner := 0 // quotation marks that turned out to stand within the string
	from := c.off
	r.scratch = r.scratch[:0]
	copied := false
	i := c.off - c.base
	b := c.buf
	plain := &plainDouble
	switch q {
	case '\'':
		plain = &plainSingle
	case '`':
		plain = &plainBack
	}
	for {
		for i < len(b) && plain[b[i]] {
			i++
		}
		if i == len(b) {
			// Hand over what there is, so that it can be seen while we wait.
			c.off = c.base + i
			if !c.done {
				r.scratch = append(r.scratch, b[from-c.base:i]...)
				from, copied = c.off, true
				r.inString = !key
			}
			if !c.Fill() {
				return r.unclosed(q, start, from, copied, key)
			}
			r.inString = false
			i, b = c.off-c.base, c.buf
			continue
		}
		switch ch := b[i]; {
		case ch == q:
			c.off = c.base + i
			if inner == 0 && r.plainlyCloses(b[i+1:], q, key) {
				r.endString(start, from, copied, key)
				return nil
			}
			from, copied = r.show(from, copied, key)
			ends := r.closes(c.off+1, q, key, inner) || key && inner == 0 && r.isKeyWithColon(start)
			r.inString = false
			if ends {
				r.endString(start, from, copied, key)
				return nil
			}
			r.fix(c.off, UnescapedQuote)
			inner++
			b, i = c.buf, c.off-c.base+1
		case ch == '\\' && i+1 < len(b) && simpleEscapes[b[i+1]] != 0:
			if r.scratch == nil {
				r.borrow()
			}
			r.scratch = append(r.scratch, b[from-c.base:i]...)
			r.scratch = append(r.scratch, simpleEscapes[b[i+1]])
			copied = true
			i += 2
			from = c.base + i
		case ch == '\\':
			c.off = c.base + i
			r.scratch = append(r.scratch, b[from-c.base:i]...)
			copied = true
			r.inString = !key
			r.escape(q, key)
			r.inString = false
			from = c.off
			b, i = c.buf, c.off-c.base
		case ch < 0x20:
			r.fix(c.base+i, RawControl)
			i++
		default: // another kind of quote, or a byte that may begin one
			i++
		}
	}
}

// plainlyCloses reports whether what stands behind a quotation mark is what
// strict JSON has there, so that no more need be looked at.
func (r *Reader) plainlyCloses(next []byte, q byte, key bool) bool {
	if len(next) < 3 || len(r.stack) == 0 {
		return false
	}
	if key {
		return next[0] == ':'
	}
	top := r.stack[len(r.stack)-1]
	switch next[0] {
	case '}':
		return top == '{'
	case ']':
		return top == '['
	case ',':
		return next[1] == q || next[1] == ' ' && next[2] == q
	}
	return false
}

// endString ends a string at the cursor's quotation mark. Its text is in the
// scratch if it was copied, with what stands from an offset on to be added.
func (r *Reader) endString(start, from int, copied, key bool) {
	c := r.c
	seg := c.Slice(from, c.off)
	c.off++
	switch {
	case copied:
		r.scratch = append(r.scratch, seg...)
		r.text = r.validText(start, r.scratch)
	case !utf8.Valid(seg):
		r.text = r.validText(start, seg)
	case key:
		r.text = r.intern(seg)
	default:
		r.text = c.String(from, from+len(seg))
	}
}

// show puts the text of the string before the cursor where [Reader.OpenText] sees it,
// before the reader looks ahead, which may make it wait. It returns the offset of the
// text that is not in the scratch yet.
func (r *Reader) show(from int, copied, key bool) (int, bool) {
	if r.c.done || key {
		return from, copied
	}
	r.scratch = append(r.scratch, r.c.Slice(from, r.c.off)...)
	r.inString = true
	return r.c.off, true
}

// lookAhead is how much white space, in bytes, is skipped to see what follows a
// quotation mark.
const lookAhead = 256

// closes reports whether the quotation mark before off ends its string, by what
// follows: a separator and a key, a closing bracket, the end. inner is how many
// quotation marks have turned out to stand within the string.
func (r *Reader) closes(off int, q byte, key bool, inner int) bool {
	next := r.spaceWithin(off, lookAhead)
	b, ok := r.c.At(next)
	switch {
	case !ok:
		return true
	case key:
		return r.closesKey(next, b)
	case len(r.stack) == 0:
		return r.closesBare(next, b, off)
	}
	spaced := next > off
	switch b {
	case '}':
		return inner == 0 || r.closersThenEnd(next)
	case ']':
		if r.stack[len(r.stack)-1] == '{' && bytes.IndexByte(r.stack, '[') < 0 && len(r.stack) > 1 {
			return false
		}
		return inner == 0 || r.closersThenEnd(next)
	case ')':
		return r.o.Python
	case ',', ';':
		return r.separates(next+1, q, inner)
	case '+': // "a" + "b"
		k, ok := r.c.At(r.spaceWithin(next+1, lookAhead))
		return ok && (k == '"' || k == '\'')
	case '"', '\'':
		if r.inObject() {
			return r.startsKey(next) || r.o.Python && spaced
		}
		return spaced && inner == 0
	case '{', '[': // a missing comma
		return !r.inObject() && spaced && inner == 0
	case '#':
		return inner == 0 && spaced && r.o.Python
	case '/', '<', '`', '-':
		return r.closesBefore(next, b, spaced)
	}
	return b >= 0x80 && r.widePunctuation(next) || r.atClose(next) || r.inObject() && spaced && inner == 0 && r.startsKey(next)
}

// closesKey decides for a key, before the byte b at next.
func (r *Reader) closesKey(next int, b byte) bool {
	switch b {
	case ':', '=', ',', '}', '"', '{', '[', '-':
		return true
	case 0xEF:
		return r.c.HasPrefixAt(next, "：")
	}
	return b >= '0' && b <= '9' || r.atClose(next)
}

// closesBefore decides for a string before what is no part of JSON: a comment, a
// marker, a fence, a key of a Ruby-like hash.
func (r *Reader) closesBefore(next int, b byte, spaced bool) bool {
	c := r.c
	switch b {
	case '/':
		return c.HasPrefixAt(next, "//") && spaced || c.HasPrefixAt(next, "/*")
	case '<':
		return r.atClose(next)
	case '`':
		return c.HasPrefixAt(next, "```")
	}
	return r.o.Hash && c.HasPrefixAt(next, "--")
}

// widePunctuation reports whether a full-width separator or closing bracket stands at
// off.
func (r *Reader) widePunctuation(off int) bool {
	c := r.c
	return c.HasPrefixAt(off, "，") || c.HasPrefixAt(off, "、") || c.HasPrefixAt(off, "｝") || c.HasPrefixAt(off, "】")
}

// closesBare decides for a string that stands in no bracket of ours: an
// argument of a Python call, or a document that is one string.
func (r *Reader) closesBare(next int, b byte, off int) bool {
	if !r.o.Python {
		return true
	}
	switch b {
	case ',', ')', ']', '}', ';', '#', '+':
		return true
	case '"', '\'':
		return next > off
	}
	return next > off && bytes.IndexByte(r.c.Slice(off, next), '\n') >= 0 || r.atClose(next) || r.c.HasPrefixAt(next, "```")
}

// separates reports whether what stands behind a comma is the next member.
func (r *Reader) separates(off int, q byte, inner int) bool {
	c := r.c
	next := r.spaceWithin(off, 256)
	b, ok := c.At(next)
	if !ok {
		return true
	}
	if b == '/' && (c.HasPrefixAt(next, "//") || c.HasPrefixAt(next, "/*")) || b == '#' {
		return true
	}
	if r.inObject() {
		switch b {
		case q:
			return inner == 0 || r.startsKey(next)
		case '}', ',':
			return true
		}
		return r.startsKey(next) || r.atClose(next)
	}
	switch {
	case b == q || b == '"' || b == '\'' || b == '{' || b == '[' || b == ']' || b == ',' || b == '(' || b == ')' || b == '-' || b >= '0' && b <= '9':
		return true
	case isWord(b):
		return r.o.Python || c.HasPrefixAt(next, "true") || c.HasPrefixAt(next, "false") || c.HasPrefixAt(next, "null") || c.HasPrefixAt(next, "None") ||
			c.HasPrefixAt(next, "True") || c.HasPrefixAt(next, "False")
	}
	return b == 0xE2 || r.atClose(next)
}

// closersThenEnd reports whether the closing brackets at off are the value's
// own, when the string before them already held stray quotation marks: nothing
// that belongs to a string may follow them.
func (r *Reader) closersThenEnd(off int) bool {
	depth := len(r.stack)
	for end := off + lookAhead; off < end && depth > 0; {
		off = r.spaceWithin(off, lookAhead)
		b, ok := r.c.At(off)
		if !ok {
			return true
		}
		if b != '}' && b != ']' {
			break
		}
		depth--
		off++
	}
	b, ok := r.c.At(off)
	switch {
	case !ok:
		return true
	case depth == 0:
		return b != '"' && b != '\'' && b != ')' && !isWord(b)
	case b == ',':
		next := r.spaceWithin(off+1, lookAhead)
		k, ok := r.c.At(next)
		return !ok || k == '"' || k == '{' || k == '[' || k == '}' || k == ']' || k == '\'' || k == '-' || k >= '0' && k <= '9' || isWord(k) && r.startsKey(next)
	}
	return r.atClose(off) || b == '`' || b == '<'
}

// unclosed ends a string that the text's end, or a closing marker in it, cut off.
func (r *Reader) unclosed(q byte, start, from int, copied, key bool) error {
	c := r.c
	text := c.Slice(from, c.Limit())
	if copied {
		text = append(r.scratch, text...)
	}
	if cut := r.firstClose(start); cut >= 0 && r.endsWithClose(cut) {
		// {"city": "Rome</tool_call> : the marker closes the string and all.
		sub := NewReader(NewText(strings.TrimRight(c.String(start, cut), "\r\n\t }]")+string(q)), Options{MaxDepth: r.o.MaxDepth})
		if err := sub.quoted(q, false); err != nil {
			return err
		}
		r.Fixes.Merge(&sub.Fixes)
		r.fix(cut, UnclosedString)
		c.off = cut
		r.text = sub.text
		r.unwind()
		if key {
			r.CutToken = true
		}
		return nil
	}
	c.off = c.Limit()
	r.CutToken = true
	r.text = r.validText(start, trimPartialRune(text))
	r.unwind()
	return nil
}

// trimPartialRune cuts an incomplete UTF-8 sequence off the end.
func trimPartialRune(b []byte) []byte {
	for n := 1; n <= 3 && n <= len(b); n++ {
		if tail := b[len(b)-n:]; utf8.RuneStart(tail[0]) {
			if tail[0] >= 0xC0 && !utf8.FullRune(tail) {
				return b[:len(b)-n]
			}
			break
		}
	}
	return b
}

// endsWithClose reports whether the text ends behind the closing marker at off:
// then the marker was meant, and is no part of a string that is cut off.
func (r *Reader) endsWithClose(off int) bool {
	for _, m := range r.o.Close {
		if r.c.HasPrefixAt(off, m) {
			rest := r.c.Slice(off+len(m), r.c.Limit())
			return len(bytes.TrimSpace(rest)) == 0
		}
	}
	return false
}

// firstClose returns the offset of the first closing marker at or after off, or -1.
func (r *Reader) firstClose(off int) int {
	first := -1
	rest := r.c.Slice(off, r.c.Limit())
	for _, m := range r.o.Close {
		if i := bytes.Index(rest, []byte(m)); i >= 0 && (first < 0 || off+i < first) {
			first = off + i
			rest = rest[:i]
		}
	}
	return first
}

// escape reads an escape sequence at the cursor's backslash into the scratch.
func (r *Reader) escape(q byte, key bool) {
	c := r.c
	e, ok := c.At(c.off + 1)
	if !ok {
		c.off++ // a backslash at the text's end: its sequence is cut off
		r.CutToken = true
		return
	}
	simple := byte(0)
	switch e {
	case '"', '\\', '/':
		simple = e
	case 'n':
		simple = '\n'
	case 't':
		simple = '\t'
	case 'r':
		simple = '\r'
	case 'b':
		simple = '\b'
	case 'f':
		simple = '\f'
	case 'u':
		r.unicodeEscape()
		return
	case '\'', '`':
		if e != q && !r.o.Python {
			r.fix(c.off, InvalidEscape)
		}
		simple = e
	case '_':
		r.fix(c.off, InvalidEscape)
		simple = e
	case 'a', 'v', '0':
		if r.o.Python && e != '0' {
			simple = map[byte]byte{'a': 7, 'v': 11}[e]
		}
	case 'x':
		if h, ok := r.hex(c.off+2, 2); ok && (r.o.Python || q == '\'') {
			r.scratch = utf8.AppendRune(r.scratch, rune(h))
			c.off += 4
			return
		}
	case '\n':
		if r.o.Python {
			c.off += 2 // a continued line
			return
		}
	}
	if simple != 0 {
		r.scratch = append(r.scratch, simple)
		c.off += 2
		return
	}
	// \d, \$, C:\Users: the backslash is part of what is meant.
	if e >= 0x20 && e < 0x80 || e == '\n' {
		if !r.o.Python {
			r.fix(c.off, InvalidEscape)
		}
		r.scratch = append(r.scratch, '\\')
		c.off++
		if key {
			return
		}
		return
	}
	r.fix(c.off, InvalidEscape)
	r.scratch = append(r.scratch, '\\')
	c.off++
}

// hex reads n hexadecimal digits at off.
func (r *Reader) hex(off, n int) (v uint32, ok bool) {
	for i := range n {
		b, in := r.c.At(off + i)
		switch {
		case !in:
			return 0, false
		case b >= '0' && b <= '9':
			v = v<<4 | uint32(b-'0')
		case b >= 'a' && b <= 'f':
			v = v<<4 | uint32(b-'a'+10)
		case b >= 'A' && b <= 'F':
			v = v<<4 | uint32(b-'A'+10)
		default:
			return 0, false
		}
	}
	return v, true
}

// unicodeEscape reads \uXXXX, with its other half if it is one of a pair.
func (r *Reader) unicodeEscape() {
	c := r.c
	h, ok := r.hex(c.off+2, 4)
	if !ok {
		for i := range 4 {
			if _, in := c.At(c.off + 2 + i); !in {
				// Cut off inside the sequence.
				c.off = c.Limit()
				r.CutToken = true
				return
			}
		}
		r.fix(c.off, InvalidEscape)
		r.scratch = append(r.scratch, '\\')
		c.off++
		return
	}
	v := rune(h)
	if utf16.IsSurrogate(v) {
		if c.HasPrefixAt(c.off+6, `\u`) {
			if low, ok := r.hex(c.off+8, 4); ok {
				if pair := utf16.DecodeRune(v, rune(low)); pair != utf8.RuneError {
					r.scratch = utf8.AppendRune(r.scratch, pair)
					c.off += 12
					return
				}
			}
		}
		r.fix(c.off, LoneSurrogate)
		v = utf8.RuneError
	}
	r.scratch = utf8.AppendRune(r.scratch, v)
	c.off += 6
}

// triple reads a Python string in three quotes, of which the first was read and
// the other two stand at the cursor. It returns false if they are an empty string.
func (r *Reader) triple(q byte) bool {
	c := r.c
	if b, ok := c.At(c.off + 1); !ok || b != q {
		return false
	}
	if next := r.spaceWithin(c.off+2, 64); !r.o.Python {
		// ""  followed by a separator is an empty string with a stray quote.
		if b, ok := c.At(next); !ok || b == ',' || b == '}' || b == ']' || b == ':' {
			return false
		}
	}
	start := c.off + 2
	end := strings.Repeat(string(q), 3)
	r.fix(c.off-1, TripleQuotes)
	c.off = start
	r.scratch = r.scratch[:0]
	for {
		b, ok := c.At(c.off)
		switch {
		case !ok:
			r.CutToken = true
			r.text = r.validText(start, trimPartialRune(r.scratch))
			r.unwind()
			return true
		case b == '\\':
			r.escape(q, false)
		case b == q && c.HasPrefix(end):
			c.off += 3
			for c.Peek() == q { // """…""""
				r.scratch = append(r.scratch, q)
				c.off++
			}
			r.text = r.validText(start, r.scratch)
			return true
		default:
			r.scratch = append(r.scratch, b)
			c.off++
		}
	}
}

// escapedString reads a string delimited by \" on both sides, as in a document
// that was quoted as a whole.
func (r *Reader) escapedString() {
	c, start := r.c, r.c.off
	r.fix(start, EscapedQuotes)
	c.off += 2
	r.scratch = r.scratch[:0]
	for {
		b, ok := c.At(c.off)
		switch {
		case !ok:
			r.CutToken = true
			r.unwind()
			r.text = r.validText(start, trimPartialRune(r.scratch))
			return
		case b == '\\' && c.HasPrefix(`\"`):
			c.off += 2
			r.text = r.validText(start, r.scratch)
			return
		case b == '\\' && (c.HasPrefix(`\\\"`) || c.HasPrefix(`\\\\`)):
			q, _ := c.At(c.off + 3) // both levels at once
			r.scratch = append(r.scratch, q)
			c.off += 4
		case b == '\\' && c.HasPrefix(`\\`):
			c.off++ // one level off, then as any escape
			r.escape('"', false)
		case b == '\\':
			r.escape('"', false)
		default:
			r.scratch = append(r.scratch, b)
			c.off++
		}
	}
}

// smartQuote returns the length of the typographic opening quote at off, or 0.
func (r *Reader) smartQuote(off int) int {
	for _, q := range [...]string{"“", "”", "„", "«", "「", "‘", "’"} {
		if b, _ := r.c.At(off); b == q[0] && r.c.HasPrefixAt(off, q) {
			return len(q)
		}
	}
	return 0
}

// smart reads a string in typographic quotes.
func (r *Reader) smart(key bool) {
	c := r.c
	r.fix(c.off, SmartQuotes)
	single := c.HasPrefix("‘") || c.HasPrefix("’")
	c.off += r.smartQuote(c.off)
	start := c.off
	r.scratch = r.scratch[:0]
	for {
		b, ok := c.At(c.off)
		if !ok {
			r.CutToken = true
			r.text = r.validText(start, trimPartialRune(r.scratch))
			r.unwind()
			return
		}
		n := 0
		switch {
		case b == '"' && !single, b == '\'' && single:
			n = 1
		case single && c.HasPrefix("’"), !single && (c.HasPrefix("”") || c.HasPrefix("“") || c.HasPrefix("「") || c.HasPrefix("」") || c.HasPrefix("»")):
			n = utf8.RuneLen('”')
			if b == 0xC2 {
				n = 2
			}
		case b == '\\':
			r.escape('"', key)
			continue
		}
		if n > 0 && r.closes(c.off+n, '"', key, 0) {
			c.off += n
			r.text = r.validText(start, r.scratch)
			return
		}
		r.scratch = append(r.scratch, b)
		c.off++
	}
}

// customQuote returns the string delimiter of the options that stands at off, or "".
func (r *Reader) customQuote(off int) string {
	if len(r.o.Quotes) == 0 {
		return ""
	}
	for _, q := range r.o.Quotes {
		if b, ok := r.c.At(off); ok && b == q[0] && r.c.HasPrefixAt(off, q) {
			return q
		}
	}
	return ""
}

// cutQuote reports whether the text ends at off in the middle of a delimiter of
// the options, and moves behind it.
func (r *Reader) cutQuote(off int) bool {
	for _, q := range r.o.Quotes {
		n := 0
		for ; n < len(q); n++ {
			b, ok := r.c.At(off + n)
			if !ok {
				if n > 0 {
					r.c.off = off + n
					return true
				}
				break
			}
			if b != q[n] {
				break
			}
		}
	}
	return false
}

// mixedQuotes reads a string that a quotation mark opens and a delimiter of the
// options closes, if such a one stands at the cursor.
func (r *Reader) mixedQuotes(q byte) bool {
	const longest = 4096
	c := r.c
	start := c.off + 1
	for off := start; off < start+longest; off++ {
		b, ok := c.At(off)
		if !ok || b == q {
			return false
		}
		if end := r.customQuote(off); end != "" {
			r.fix(c.off, SingleQuotes)
			r.text = r.validText(start, c.Slice(start, off))
			c.off = off + len(end)
			return true
		}
	}
	return false
}

// literal reads a string between two delimiters, byte for byte.
func (r *Reader) literal(q string) {
	c := r.c
	c.off += len(q)
	start := c.off
	r.scratch = r.scratch[:0]
	r.inString = true
	for {
		b, ok := c.At(c.off)
		if !ok {
			r.inString = false
			text := r.scratch
			r.CutToken = true
			if cut := r.firstClose(start); cut >= 0 && r.endsWithClose(cut) {
				text = bytes.TrimRight(c.Slice(start, cut), "}] \n")
				c.off = cut
				r.CutToken = false
				r.fix(cut, UnclosedString)
			}
			r.text = r.validText(start, trimPartialRune(text))
			r.unwind()
			return
		}
		if b == q[0] && c.HasPrefix(q) {
			r.inString = false
			c.off += len(q)
			r.text = r.validText(start, r.scratch)
			return
		}
		r.scratch = append(r.scratch, b)
		c.off++
	}
}

// ValidUTF8 replaces each maximal part of b that is no UTF-8 by U+FFFD.
func ValidUTF8(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	out := make([]byte, 0, len(b)+8)
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n <= 1 {
			n = badPrefix(b)
			out = append(out, "\uFFFD"...)
		} else {
			out = append(out, b[:n]...)
		}
		b = b[n:]
	}
	return string(out)
}

// badPrefix returns how many bytes of b one U+FFFD stands for: the longest
// beginning of a well-formed sequence (Unicode 16, section 3.9, U+FFFD
// substitution of maximal subparts).
func badPrefix(b []byte) int {
	need, low, high := 0, byte(0x80), byte(0xBF)
	switch x := b[0]; {
	case x >= 0xC2 && x <= 0xDF:
		need = 1
	case x == 0xE0:
		need, low = 2, 0xA0
	case x == 0xED:
		need, high = 2, 0x9F
	case x >= 0xE1 && x <= 0xEF:
		need = 2
	case x == 0xF0:
		need, low = 3, 0x90
	case x == 0xF4:
		need, high = 3, 0x8F
	case x >= 0xF1 && x <= 0xF3:
		need = 3
	}
	n := 1
	for ; n <= need && n < len(b) && b[n] >= low && b[n] <= high; n++ {
		low, high = 0x80, 0xBF
	}
	return n
}
