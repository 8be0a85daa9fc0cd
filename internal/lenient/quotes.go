package lenient

import (
	"bytes"
)

// smartQuote returns the length of the typographic opening quote at off, or 0.
func (r *Reader) smartQuote(off int) int {
	for _, q := range [...]string{"“", "”", "„", "«", "「", "‘", "’", "＂", "´"} {
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
	single := c.HasPrefix("‘") || c.HasPrefix("’") || c.HasPrefix("´")
	c.off += r.smartQuote(c.off)
	start := c.off
	r.scratch = r.scratch[:0]
	for {
		b, ok := c.At(c.off)
		if !ok {
			r.text = r.validText(start, trimPartialRune(r.scratch))
			if key {
				r.cutOff(CutKey)
			} else {
				r.cutOff(CutString)
			}
			return
		}
		n := 0
		switch {
		case b == '"' && !single, b == '\'' && single:
			n = 1
		case b >= 0x80:
			n = closingSmartQuote(c, single)
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

// closingSmartQuote returns the length of the typographic quote at the cursor that may
// close a string, or 0.
func closingSmartQuote(c *Cursor, single bool) int {
	if single {
		for _, q := range [...]string{"’", "´"} {
			if c.HasPrefix(q) {
				return len(q)
			}
		}
		return 0
	}
	for _, q := range [...]string{"”", "“", "「", "」", "»", "＂"} {
		if c.HasPrefix(q) {
			return len(q)
		}
	}
	return 0
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
	r.inString, r.exact = true, true
	defer func() { r.exact = false }()
	for {
		b, ok := c.At(c.off)
		if !ok {
			r.inString = false
			if cut := r.firstClose(start); cut >= 0 && r.endsWithClose(cut) {
				r.text = r.validText(start, trimPartialRune(bytes.TrimRight(c.Slice(start, cut), "}] \n")))
				c.off = cut
				r.fix(cut, UnclosedString)
				r.unwind()
				return
			}
			r.text = r.validText(start, trimPartialRune(r.scratch))
			r.cutOff(CutString)
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
