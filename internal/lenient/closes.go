package lenient

import (
	"bytes"
	"slices"
)

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
	switch b {
	case '}':
		return inner == 0 || r.closersThenEnd(next)
	case ']':
		if r.stack[len(r.stack)-1] == '{' && bytes.IndexByte(r.stack, '[') < 0 && len(r.stack) > 1 {
			return inner == 0 && r.closersInRow(next) >= len(r.stack)
		}
		return inner == 0 || r.closersThenEnd(next)
	case ')':
		return r.o.Python || r.stack[len(r.stack)-1] == '('
	case ',', ';':
		return r.separates(next+1, q, inner)
	}
	return r.closesBefore(next, b, next > off, inner)
}

// closesKey decides for a key, before the byte b at next.
func (r *Reader) closesKey(next int, b byte) bool {
	switch b {
	case ':', '=', ',', '}', '"', '\'', '`', '{', '[', '-':
		return true
	case 0xEF:
		return r.c.HasPrefixAt(next, "：")
	}
	return b >= '0' && b <= '9' || r.atClose(next) || r.literalAt(next) > 0
}

// closesBefore decides for a string before what JSON does not have there: another
// value where a comma is missing, a comment, a marker. spaced says that white space
// stands between the two.
func (r *Reader) closesBefore(next int, b byte, spaced bool, inner int) bool {
	c := r.c
	if r.atClose(next) || b >= 0x80 && r.widePunctuation(next) {
		return true
	}
	switch b {
	case '+': // "a" + "b"
		k, ok := c.At(r.spaceWithin(next+1, lookAhead))
		return ok && (k == '"' || k == '\'' || inner == 0 && (k == '}' || k == ']'))
	case '#':
		return inner == 0 && spaced && (r.o.Python || r.commentTo(next))
	case '/':
		return c.HasPrefixAt(next, "//") && spaced || c.HasPrefixAt(next, "/*")
	case '<':
		return false
	case '`':
		return c.HasPrefixAt(next, "```")
	case '-':
		if r.o.Hash {
			return c.HasPrefixAt(next, "--")
		}
	case '.':
		return inner == 0 && spaced && c.HasPrefixAt(next, "...") && r.endsScalar(next+len("..."))
	}
	if r.inObject() {
		return r.closesBeforeMember(next, b, spaced, inner)
	}
	return r.closesBeforeElement(next, b, spaced, inner)
}

// closesBeforeMember decides in an object before what may be the next member, with no comma
// before it.
func (r *Reader) closesBeforeMember(next int, b byte, spaced bool, inner int) bool {
	switch b {
	case '"', '\'':
		return r.startsKey(next) || r.o.Python && spaced
	case '{': // [{"a": "x" {"a": "y"}]
		return r.inList() && inner == 0 && r.startsKey(r.spaceWithin(next+1, 64))
	}
	return spaced && inner == 0 && r.startsKey(next)
}

// closesBeforeElement decides in a list before what may be the next element, with no comma
// before it.
func (r *Reader) closesBeforeElement(next int, b byte, spaced bool, inner int) bool {
	switch b {
	case '"', '\'', '{', '[':
		return spaced && inner == 0
	case ':': // ["a": 1]
		return inner == 0 && !r.o.Python && r.memberAt(next+1)
	}
	return spaced && inner == 0 && !r.o.Python && (b == '-' || isWord(b)) && r.scalarBefore(next)
}

// scalarBefore reports whether a number or a literal stands at off, and behind it what ends
// a list's element, or another one: ["a" 2 "b"].
func (r *Reader) scalarBefore(off int) bool {
	end := off
	if b, _ := r.c.At(off); b > '9' {
		end += r.literalAt(off)
	} else {
		for b, ok := r.c.At(end); ok && end-off < 32 && (b >= '0' && b <= '9' || b == '.' || b == '-'); b, ok = r.c.At(end) {
			end++
		}
	}
	if end == off {
		return false
	}
	next := r.spaceWithin(end, 64)
	switch b, _ := r.c.At(next); {
	case b == ',' || b == ']' || b == '"' || b == 0:
		return true
	case next > end:
		return b >= '0' && b <= '9' || b == '-' || r.literalAt(next) > 0
	}
	return false
}

// commentTo reports whether a comment stands at off: what follows it on the next line, or
// the text's end, can stand behind a value.
func (r *Reader) commentTo(off int) bool {
	for end := off + lookAhead; off < end; off++ {
		b, ok := r.c.At(off)
		switch {
		case !ok:
			return true
		case b == '"':
			return false
		case b == '\n':
			off = r.spaceWithin(off, 64)
			k, ok := r.c.At(off)
			return !ok || k == ',' || k == '}' || k == ']' || r.startsKey(off)
		}
	}
	return false
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

// literals are the words that are values without quotes.
var literals = [...]string{"true", "false", "null", "None", "True", "False"}

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
	if b == '.' && c.HasPrefixAt(next, "...") || b == 0xE2 && c.HasPrefixAt(next, "…") {
		return inner == 0
	}
	if r.inObject() {
		switch b {
		case q:
			return inner == 0 || r.startsKey(next)
		case '}', ',':
			return true
		}
		return r.startsKey(next) || inner == 0 && r.wordToEnd(next) || r.atClose(next)
	}
	switch b {
	case q, '"', '\'', '{', '[', ']', ',', '(', ')', '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return true
	}
	if isWord(b) {
		return r.o.Python || slices.ContainsFunc(literals[:], func(w string) bool { return c.HasPrefixAt(next, w) })
	}
	return b == 0xE2 || r.atClose(next)
}

// wordToEnd reports whether the text ends within a word at off: a key that is cut off.
func (r *Reader) wordToEnd(off int) bool {
	for end := off; end-off <= maxKey; end++ {
		b, ok := r.c.At(end)
		if !ok {
			return end > off
		}
		if !isWord(b) {
			return false
		}
	}
	return false
}

// closersInRow returns how many closing brackets stand at off, of any kind, if the text or
// the construct ends behind them; else 0. It is for few open brackets.
func (r *Reader) closersInRow(off int) (n int) {
	const most = 16
	if len(r.stack) > most {
		return 0
	}
	for ; n <= len(r.stack)+1; n++ {
		off = r.spaceWithin(off, lookAhead)
		b, ok := r.c.At(off)
		if !ok || r.atClose(off) || b == '`' && r.c.HasPrefixAt(off, "```") {
			return n
		}
		if b != '}' && b != ']' && b != ')' {
			break
		}
		off++
	}
	return 0
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
		switch k {
		case '"', '\'', '{', '[', '}', ']', '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
			return true
		}
		return !ok || isWord(k) && r.startsKey(next)
	}
	return r.atClose(off) || b == '`' || b == '<'
}
