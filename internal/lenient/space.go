package lenient

// space moves over what may stand between two tokens, white space and comments, and
// returns the next byte, 0 at the end.
func (r *Reader) space() byte {
	c := r.c
	for {
		b, ok := c.At(c.off)
		if !ok {
			return 0
		}
		switch {
		case b == ' ' || b == '\n' || b == '\t' || b == '\r':
			c.off++
			continue
		case b >= 0x80 || b == '\v' || b == '\f':
			n := c.oddSpace(c.off, b)
			if n == 0 {
				return b
			}
			if c.off > 0 || b != 0xEF { // a byte order mark at the beginning is usual
				r.fix(c.off, OddSpace)
			}
			c.off += n
			continue
		case b == '/' && (c.HasPrefix("//") || c.HasPrefix("/*")),
			b == '#' && len(r.stack) > 0,
			b == '<' && len(r.stack) > 0 && c.HasPrefix("<!--"):
			r.comment(b)
			continue
		case b == '\\' && !r.o.Python:
			switch k, _ := c.At(c.off + 1); k {
			case 'n', 'r', 't': // {\n "a": 1}, with the escape of the line's end
				if len(r.stack) == 0 {
					return b
				}
				r.fix(c.off, OddSpace)
				c.off += 2
				continue
			case '[', ']', '{', '}': // \[1, 2\], as Markdown escapes brackets
				r.fix(c.off, InvalidEscape)
				c.off++
				continue
			}
		}
		return b
	}
}

// comment reads a comment that begins with the byte b. It ends where the construct around
// the value does, and one that runs to the text's end leaves the brackets there that close
// all that is open.
func (r *Reader) comment(b byte) {
	c := r.c
	start := c.off
	r.fix(start, Comment)
	end := ""
	switch {
	case b == '<':
		end = "-->"
		c.off += len("<!--")
	case c.HasPrefix("/*"):
		end = "*/"
		c.off += len("/*")
	}
	for ; ; c.off++ {
		b, ok := c.At(c.off)
		switch {
		case !ok:
			c.off -= r.closersBefore(start, c.off)
			return
		case end != "":
			if b == end[0] && c.HasPrefix(end) {
				c.off += len(end)
				return
			}
		case b == '\n' || b == '\r':
			return
		}
		if r.o.Close != nil && r.atClose(c.off) && !r.commentGoesOn(c.off, end) {
			return
		}
	}
}

// commentGoesOn reports whether a comment with a closing marker in it, at off, has an end of
// its own, and more of the value behind it.
func (r *Reader) commentGoesOn(off int, end string) bool {
	if !r.mayLook() {
		return false
	}
	for limit := off + lookAhead; off < limit; off++ {
		r.spent++
		b, ok := r.c.At(off)
		switch {
		case !ok:
			return false
		case end != "" && (b != end[0] || !r.c.HasPrefixAt(off, end)), end == "" && b != '\n' && b != '\r':
			continue
		}
		next := r.spaceWithin(off+max(len(end), 1), 64)
		b, _ = r.c.At(next)
		return b == '}' || b == ']' || b == ',' || b == '{' || b == '[' || r.startsKey(next)
	}
	return false
}

// closersBefore returns the length of the brackets at the end of a text, with the white
// space between and behind them, where they are those that close all that is open; 0 if
// they are not, or if the text broke off.
func (r *Reader) closersBefore(from, end int) int {
	if r.c.CutOff() || len(r.stack) == 0 {
		return 0
	}
	at := end
	for _, open := range r.stack {
		for at > from && isBlank(r.c.buf[at-1-r.c.base]) {
			at--
		}
		if at == from || r.c.buf[at-1-r.c.base] != closerOf(open) {
			return 0
		}
		at--
	}
	return end - at
}

func isBlank(b byte) bool { return b == ' ' || b == '\n' || b == '\t' || b == '\r' }

// closerOf returns the bracket that closes one of the stack.
func closerOf(open byte) byte {
	switch open {
	case '[':
		return ']'
	case '(':
		return ')'
	}
	return '}'
}

// spaceWithin skips at most n bytes of white space from off on.
func (r *Reader) spaceWithin(off, n int) int {
	for limit := off + n; off < limit; {
		b, ok := r.c.At(off)
		switch {
		case !ok:
			return off
		case b == ' ' || b == '\n' || b == '\t' || b == '\r':
			off++
		case b >= 0x80 || b == '\v' || b == '\f':
			k := r.c.oddSpace(off, b)
			if k == 0 {
				return off
			}
			off += k
		case b == '\\' && len(r.stack) > 0:
			if k, _ := r.c.At(off + 1); k != 'n' && k != 'r' && k != 't' {
				return off
			}
			off += 2
		default:
			return off
		}
	}
	return off
}
