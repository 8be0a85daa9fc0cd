package lenient

import "strings"

// prefix returns the length of the string prefix at the cursor, r"…" or the like.
func (r *Reader) prefix() int {
	for n := range 3 {
		b, ok := r.c.At(r.c.off + n)
		if !ok {
			return 0
		}
		if b == '"' || b == '\'' {
			if !r.o.Python && r.quoteEnds(r.c.off+n) {
				return 0 // {"a": b"} : a quotation mark is missing
			}
			return n
		}
		if !strings.ContainsRune("rRbBuUfF", rune(b)) {
			return 0
		}
	}
	return 0
}

// prefixed reads a string with a prefix of n letters.
func (r *Reader) prefixed(n int) (Kind, bool, error) {
	c := r.c
	r.fix(c.off, StringPrefix)
	raw := strings.ContainsAny(string(c.Slice(c.off, c.off+n)), "rR")
	format := strings.ContainsAny(string(c.Slice(c.off, c.off+n)), "fF")
	c.off += n
	q := c.Peek()
	c.off++
	if raw {
		r.rawString(q)
	} else if err := r.quoted(q, false); err != nil {
		return 0, false, err
	}
	if format && strings.ContainsRune(r.text, '{') {
		r.fix(c.off, Expression)
	}
	return r.stringEnd()
}

// rawString reads a Python raw string, whose backslashes stand for themselves.
func (r *Reader) rawString(q byte) {
	c, start := r.c, r.c.off
	end := string(q)
	if c.HasPrefix(strings.Repeat(end, 2)) {
		end = strings.Repeat(end, 3)
		c.off += 2
		start = c.off
	}
	for {
		b, ok := c.At(c.off)
		if !ok {
			r.text = r.validText(start, c.Slice(start, c.off))
			r.cutOff(CutString)
			return
		}
		if b == '\\' {
			c.off += 2
			if c.EOF() {
				c.off = c.Limit()
			}
			continue
		}
		if b == q && c.HasPrefix(end) {
			r.text = r.validText(start, c.Slice(start, c.off))
			c.off += len(end)
			return
		}
		c.off++
	}
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
	r.scratch = r.scratch[:r.joined]
	for {
		b, ok := c.At(c.off)
		switch {
		case !ok:
			r.text = r.validText(start, trimPartialRune(r.scratch[r.joined:]))
			r.cutOff(CutString)
			return true
		case b == '\\':
			r.escape(q, false)
		case b == q && c.HasPrefix(end):
			c.off += 3
			for c.Peek() == q { // """…""""
				r.scratch = append(r.scratch, q)
				c.off++
			}
			r.text = r.validText(start, r.scratch[r.joined:])
			return true
		default:
			r.scratch = append(r.scratch, b)
			c.off++
		}
	}
}
