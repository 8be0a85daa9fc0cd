package lenient

import (
	"unicode/utf16"
	"unicode/utf8"
)

// simpleEscapes are the escape sequences of one letter.
var simpleEscapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'n': '\n', 't': '\t', 'r': '\r', 'b': '\b', 'f': '\f'}

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
	case 'x', 'U':
		if r.pythonEscape(e, q) {
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

// pythonEscape reads \xHH, in strings of Python, or \UXXXXXXXX, and reports whether one of
// them stands at the cursor.
func (r *Reader) pythonEscape(e, q byte) bool {
	n := 2
	if e == 'U' {
		n = 8
	}
	h, ok := r.hex(r.c.off+2, n)
	if !ok || h > utf8.MaxRune || e == 'x' && !r.o.Python && q != '\'' {
		return false
	}
	if e == 'U' && !r.o.Python {
		r.fix(r.c.off, InvalidEscape)
	}
	r.scratch = utf8.AppendRune(r.scratch, rune(h))
	r.c.off += 2 + n
	return true
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
			r.cutOff(CutString)
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
