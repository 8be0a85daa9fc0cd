package lenient

// maxPath bounds how far a path of Windows is followed, in bytes.
const maxPath = 256

// isSimple reports whether a backslash at index i of the buffer begins an escape sequence of
// one letter that has come, and no path of Windows.
func isSimple(b []byte, i, start int) bool {
	return i+1 < len(b) && simpleEscapes[b[i+1]] != 0 && !mayBePath(b, i, start)
}

// backslash reads what begins with the backslash at the cursor into the scratch: a path of
// Windows as it stands, or an escape sequence.
func (r *Reader) backslash(start int, q byte, key bool) {
	end := r.literalPath(start)
	if end == 0 {
		r.escape(q, key)
		return
	}
	r.fix(r.c.off, InvalidEscape)
	r.scratch = append(r.scratch, r.c.Slice(r.c.off, end)...)
	r.c.off = end
}

// mayBePath reports whether the backslash at index i of the buffer may be the first one of a
// path of Windows in a string that begins at index start: C:\ or, at the string's beginning,
// \\server. It only rules out what is none.
func mayBePath(b []byte, i, start int) bool { return i == start || i >= start+2 && b[i-1] == ':' }

// literalPath returns the end of the path of Windows whose first backslash stands at the
// cursor, if its backslashes were meant as they stand: one of them begins what JSON does
// not know as an escape sequence. Else it returns 0. Without it the others would be read:
//
//	"C:\Users\new\test.bat"     \U is no escape sequence, \n and \t are
//
// A path in a text ends at a blank; a string that begins as one may have blanks in it.
func (r *Reader) literalPath(start int) int {
	c := r.c
	off, from := c.off, c.off
	var blanks bool
	switch {
	case off >= start+2 && r.byteAt(off-1) == ':' && isLetter(r.byteAt(off-2)) && (off-2 == start || !isWord(r.byteAt(off-3))):
		blanks = off-2 == start
	case off == start && r.byteAt(off+1) == '\\' && isWord(r.byteAt(off+2)):
		off, blanks = off+2, true
	default:
		return 0
	}
	wrong := false
	for off < from+maxPath {
		b, ok := c.At(off)
		if b == ' ' && blanks || ok && (isWord(b) || b == '.' || b == '~' || b == '%' || b == '(' || b == ')') {
			off++
			continue
		}
		if b != '\\' {
			break
		}
		e, ok := c.At(off + 1)
		if e == '\\' || !ok {
			return 0 // it is written as JSON has it, or cut off
		}
		if !isWord(e) && e != '.' && e != '%' {
			break
		}
		wrong = wrong || !r.isEscape(off)
		off++
	}
	if !wrong {
		return 0
	}
	return off
}

func isLetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }

// isEscape reports whether an escape sequence stands at off.
func (r *Reader) isEscape(off int) bool {
	e := r.byteAt(off + 1)
	switch {
	case simpleEscapes[e] != 0:
		return true
	case e == 'u':
		_, ok := r.hex(off+2, 4)
		return ok
	case !r.o.Python:
		return false
	case e == 'U':
		_, ok := r.hex(off+2, 8)
		return ok
	}
	return e == 'a' || e == 'v' || e == 'x' || e >= '0' && e <= '7'
}
