package lenient

import (
	"math/big"
	"strings"
)

// number looks whether a number stands at the cursor as JSON writes it (RFC 8259,
// section 6), and returns its end.
func (r *Reader) number() (end int, ok bool) {
	c := r.c
	off := c.off
	if b, _ := c.At(off); b == '-' {
		off++
	}
	first, _ := c.At(off)
	whole := r.digits(off)
	if whole == off || first == '0' && whole > off+1 {
		return 0, false
	}
	off = whole
	if b, _ := c.At(off); b == '.' {
		fraction := r.digits(off + 1)
		if fraction == off+1 {
			return 0, false
		}
		off = fraction
	}
	if b, _ := c.At(off); b == 'e' || b == 'E' {
		off++
		if b, _ := c.At(off); b == '+' || b == '-' {
			off++
		}
		exponent := r.digits(off)
		if exponent == off {
			return 0, false
		}
		off = exponent
	}
	return off, r.endsNumber(off)
}

// digits returns the end of the digits at off.
func (r *Reader) digits(off int) int {
	if at := off - r.c.base; at <= len(r.c.buf) {
		n := 0
		for _, b := range r.c.buf[at:] {
			if b < '0' || b > '9' {
				r.c.looked += n + 1
				return off + n
			}
			n++
		}
		r.c.looked += n
		off += n
	}
	for {
		b, ok := r.c.At(off)
		if !ok || b < '0' || b > '9' {
			return off
		}
		off++
	}
}

// endsNumber reports whether what stands at off ends a number: else it is a value
// without quotes, such as 10:30 or 1,000.
func (r *Reader) endsNumber(off int) bool {
	c := r.c
	b, ok := c.At(off)
	switch {
	case !ok, b == '}', b == ']', b == '\n', b == ')', b == ';':
		return true
	case b == '"':
		return r.endsScalar(off) && !r.quoteEnds(off)
	case b == ',':
		return !r.inObject() || r.o.Python || !r.thousands(off)
	case b == '/':
		return r.endsScalar(off) && (c.HasPrefixAt(off, "//") && !r.divides(off) || c.HasPrefixAt(off, "/*"))
	case b == '<':
		return !r.lessThan(off)
	case b == '#':
		return r.endsScalar(off)
	case b == ' ', b == '\t', b == '\r':
		return r.endsScalar(off) && !r.operates(off)
	case b == '\\':
		k, _ := c.At(off + 1)
		return k == ']' || k == '}' || r.spaceWithin(off, 64) > off && r.endsScalar(off)
	case r.o.Hash:
		return true
	}
	return b >= 0x80 && (c.HasPrefixAt(off, "，") || c.HasPrefixAt(off, "、") || c.HasPrefixAt(off, "｝") ||
		c.oddSpace(off, b) > 0 && r.endsScalar(off))
}

// quoteEnds reports whether the quotation mark at off ends a value of which the first one is
// missing, as in {"a": 12345"}.
func (r *Reader) quoteEnds(off int) bool {
	next := r.spaceWithin(off+1, 64)
	b, ok := r.c.At(next)
	return !ok || b == '}' || b == ']' || b == ',' && r.separates(next+1, '"', 0)
}

// maxOddNumber bounds, in bytes, numbers that are not written as JSON writes them.
const maxOddNumber = 400

// thousands reports whether the comma at off groups digits, as in 1,000: three digits follow
// it and no key. The answer holds for all groups that follow, which are looked at once.
func (r *Reader) thousands(off int) bool {
	if off < r.groupsEnd {
		return r.groups
	}
	start := off
	r.groups = true
	for b, ok := r.c.At(off); ok && b == ','; b, ok = r.c.At(off) {
		if r.digits(off+1) != off+4 {
			if off == start || r.digits(off+1) > off+4 {
				r.groups = false
			}
			break
		}
		if d, ok := r.c.At(off + 4); ok && isWord(d) {
			r.groups = false
			break
		}
		off += 4
	}
	r.groupsEnd = max(off, start+1)
	return r.groups
}

// OddNumberText reads a number that JSON does not write so: .5, 1., +3, 0x1F,
// 1_000 or 1,000. It returns the number as JSON writes it.
func OddNumberText(s string) (number string, kind FixKind, ok bool) {
	kind = OddNumber
	sign := ""
	t := s
	switch {
	case strings.HasPrefix(t, "+"):
		t = t[1:]
	case strings.HasPrefix(t, "-"):
		sign, t = "-", t[1:]
	}
	if t == "" || len(t) > maxOddNumber {
		return "", kind, false
	}
	if n := len(t) - 1; n > 0 && t[n] == 'n' && IsNumber(t[:n]) && !strings.ContainsAny(t, ".eE") {
		return sign + t[:n], kind, true // a BigInt of JavaScript
	}
	if len(t) > 2 && t[0] == '0' && strings.ContainsRune("xXoObB", rune(t[1])) {
		n, ok := new(big.Int).SetString(t, 0)
		if !ok {
			return "", kind, false
		}
		return sign + n.String(), kind, true
	}
	switch {
	case strings.Contains(t, ",") && groupsOfThree(t, ","):
		kind = Thousands
		t = strings.ReplaceAll(t, ",", "")
	case strings.Contains(t, "_") && groupsOfThree(t, "_"):
		t = strings.ReplaceAll(t, "_", "")
	}
	if t[0] == '.' {
		t = "0" + t
	}
	if i := strings.IndexByte(t, '.'); i >= 0 && (i+1 == len(t) || t[i+1] == 'e' || t[i+1] == 'E') {
		t = t[:i] + t[i+1:]
	}
	if !IsNumber(sign + t) {
		return "", kind, false
	}
	return sign + t, kind, true
}

// groupsOfThree reports whether sep stands in s only between groups of three digits.
func groupsOfThree(s, sep string) bool {
	whole, _, _ := strings.Cut(s, ".")
	groups := strings.Split(whole, sep)
	for i, g := range groups {
		if g == "" || strings.Trim(g, "0123456789") != "" || i > 0 && len(g) != 3 || i == 0 && len(g) > 3 {
			return false
		}
	}
	return groups[0][0] != '0'
}

// IsNumber reports whether s is a number as JSON writes it (RFC 8259, section 6).
func IsNumber(s string) bool {
	s = strings.TrimPrefix(s, "-")
	if s == "" || s[0] < '0' || s[0] > '9' || s[0] == '0' && len(s) > 1 && s[1] >= '0' && s[1] <= '9' {
		return false
	}
	digits := func() bool {
		n := 0
		for n < len(s) && s[n] >= '0' && s[n] <= '9' {
			n++
		}
		s = s[n:]
		return n > 0
	}
	digits()
	if strings.HasPrefix(s, ".") {
		s = s[1:]
		if !digits() {
			return false
		}
	}
	if s != "" && (s[0] == 'e' || s[0] == 'E') {
		s = s[1:]
		if s != "" && (s[0] == '+' || s[0] == '-') {
			s = s[1:]
		}
		if !digits() {
			return false
		}
	}
	return s == ""
}
