package lenient

import (
	"unicode/utf8"

	"github.com/callwright/callwright/internal/text"
)

// trimPartialRune cuts an incomplete UTF-8 sequence off the end.
func trimPartialRune(b []byte) []byte { return b[:text.WholeRunes(b)] }

// validText returns b as a string of valid UTF-8.
func (r *Reader) validText(off int, b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	r.fix(off, InvalidUTF8)
	return ValidUTF8(b)
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
