package text

import (
	"strconv"
	"strings"
	"unicode"
)

// steersTerminal reports whether a rune may change what a terminal shows of other text:
// control characters, but for newlines and tabs, and marks of the writing direction.
func steersTerminal(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\t' || r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069
}

// Printable makes text safe for a terminal: what steers the terminal becomes U+FFFD.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if steersTerminal(r) {
			return '\uFFFD'
		}
		return r
	}, s)
}

// Escaped makes text safe for a terminal, and shows what was in it.
//
//	Escaped("a\x1b[2J") // `a\x1b[2J`
func Escaped(s string) string {
	if !strings.ContainsFunc(s, steersTerminal) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if steersTerminal(r) {
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}
