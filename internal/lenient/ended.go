package lenient

// NOTE: this file decides where a string ends whose end is missing:
//
//	{"city": "Rome, "days": 3}      before the comma that a member follows
//	{"city": "Rome', "days": 3}     at another kind of quotation mark
//	{"city": "Rome}                 before the brackets at the text's end
//
// The reader notices it only behind what does not belong to the string. What may be such
// an end is therefore not shown by [Reader.OpenText] before more has come, so that text
// which was shown stays: tail finds it both for showing and for ending a string.

// maxTail bounds what may follow a string whose end is missing up to where that is
// noticed, in bytes.
const maxTail = 160

// tail returns how much of the beginning of a string's text is certainly its own: what
// follows may be the end of the string, in the form
//
//	quote? brackets (comma (quote? word quote? colon?)?)?
//
// with white space between the parts. comma is the index of the comma, -1 without.
func tail(text []byte) (keep, comma int) {
	low := max(len(text)-maxTail, 0)
	at, comma := len(text), -1
	if i := beforeMember(text, low); i >= 0 {
		at, comma = i, i
	}
	for at > low && (isBlank(text[at-1]) || text[at-1] == '}' || text[at-1] == ']') {
		at--
	}
	return at - closingQuote(text[low:at]), comma
}

// beforeMember returns the index of a comma with nothing but the beginning of a member
// behind it, at low or after it, or -1.
func beforeMember(text []byte, low int) int {
	i := len(text)
	for i > low && isBlank(text[i-1]) {
		i--
	}
	if i > low && text[i-1] == ':' {
		i--
	}
	for i > low && isBlank(text[i-1]) {
		i--
	}
	if i > low && isQuote(text[i-1]) {
		i--
	}
	for i > low && isWord(text[i-1]) {
		i--
	}
	if i > low && isQuote(text[i-1]) {
		i--
	}
	for i > low && isBlank(text[i-1]) {
		i--
	}
	if i > low && text[i-1] == ',' {
		return i - 1
	}
	return -1
}

func isQuote(b byte) bool { return b == '"' || b == '\'' || b == '`' }

// closingQuote returns the length of a quotation mark of any kind at a text's end, or 0.
func closingQuote(text []byte) int {
	n := len(text)
	switch {
	case n > 0 && (text[n-1] == '\'' || text[n-1] == '`'):
		return 1
	case n > 2 && text[n-3] == 0xE2 && text[n-2] == 0x80 && (text[n-1] >= 0x98 && text[n-1] <= 0x9E): // ‘ to „
		return 3
	}
	return 0
}

// endedBefore reports whether a string that began at start has ended before the quotation
// mark at the cursor, which does not end it: it opens the next member's key, or its value.
// It returns where the string's text ends and where to go on.
func (r *Reader) endedBefore(start int, q byte, inner int) (end, next int, ok bool) {
	c := r.c
	if len(r.stack) == 0 || !r.mayLook() {
		return 0, 0, false
	}
	raw := c.Slice(start, c.off)
	keep, comma := tail(raw)
	if comma < 0 || start+keep == c.off {
		return 0, 0, false
	}
	if keep > 0 && raw[keep-1] == '\\' {
		return 0, 0, false
	}
	c.looked += len(raw) - keep
	out := 0 // how many brackets end before the comma
	for _, b := range raw[keep:comma] {
		if b == '}' || b == ']' {
			out++
		}
	}
	if out >= len(r.stack) || !r.continues(start+comma, q, inner, out) {
		return 0, 0, false
	}
	if r.balanceTo(start, start+comma) > 0 {
		if inner > 0 {
			return 0, 0, false // within brackets that are text
		}
		keep = comma // its brackets are the text's own
	}
	next = start + comma
	for i := keep; i < comma; i++ {
		if raw := c.buf[start+i-c.base]; raw == '}' || raw == ']' {
			next = start + i
			break
		}
	}
	return start + keep, next, true
}

// continues reports whether what stands behind the comma at off, the quotation mark at the
// cursor included, continues what the string stands in: an element, or a member of the
// object that is so many brackets further out. Where its members are known it must be one.
func (r *Reader) continues(off int, q byte, inner, out int) bool {
	c := r.c
	behind := r.spaceWithin(off+1, maxTail)
	if !r.inObject() {
		return behind == c.off && inner == 0 && r.closesSoon(q)
	}
	key, at := r.keyNear(behind)
	if key == "" || r.byteAt(at) != ':' || behind != c.off && r.spaceWithin(at+1, maxTail) != c.off {
		return false
	}
	switch {
	case r.expects(out, key) || r.expects(0, key):
		return true
	case inner > 0 || r.level(out).knows():
		return false
	case behind == c.off: // "Rome, "days": 3
		return r.memberAt(at + 1)
	}
	return r.closesSoon(q) // "first, b: "second"
}

// memberAt reports whether what stands at off, behind a key's colon, looks like a value
// that something ends which JSON has behind values.
func (r *Reader) memberAt(off int) bool {
	off = r.spaceWithin(off, 64)
	b, ok := r.c.At(off)
	switch {
	case !ok:
		return true
	case b == '"' || b == '\'' || b == '{' || b == '[':
		return true
	case !isWord(b):
		return false
	}
	for end := off; end-off <= maxKey; end++ {
		b, ok := r.c.At(end)
		switch {
		case !ok, b == '}', b == ']', b == '\n':
			return true
		case b == ',':
			next := r.spaceWithin(end+1, 64)
			k, ok := r.c.At(next)
			return !ok || k == '"' || k == '}' || r.startsKey(next)
		case !isWord(b) && b != '.' && b != '+':
			return false
		}
	}
	return false
}

// closesSoon reports whether the quotation mark at the cursor opens a string that the next
// one closes, with what JSON has behind strings.
func (r *Reader) closesSoon(q byte) bool {
	c := r.c
	for off := c.off + 1; off < c.off+lookAhead; off++ {
		b, ok := c.At(off)
		switch {
		case !ok:
			return false
		case b == '\\':
			off++
		case b == q:
			next := r.spaceWithin(off+1, 64)
			k, ok := c.At(next)
			return !ok || k == '}' || k == ']' || k == ',' && r.separates(next+1, q, 0)
		}
	}
	return false
}

// foreignEnd returns the length of the quotation mark at the cursor, of another kind than
// the one that opened the string at start, if it closes the string; else 0. There are such
// strings in JSON, so that only the rest of the text can tell.
func (r *Reader) foreignEnd(start int, q byte, key bool) int {
	c := r.c
	n := 1
	if b, _ := c.At(c.off); b == 0xE2 {
		if !c.HasPrefix("“") && !c.HasPrefix("”") && !c.HasPrefix("’") {
			return 0
		}
		n = 3
	}
	if !r.mayLook() {
		return 0
	}
	before := c.looked
	defer func() { r.spent += c.looked - before }()
	next := r.spaceWithin(c.off+n, 16)
	b, _ := c.At(next)
	if key {
		if b != ':' || !isPlainKey(string(c.Slice(start, c.off))) || r.ownEnd(next, q, maxKey, ':') {
			return 0
		}
		return n
	}
	// A string of Python, with "…" in it, or 'a", "b": 1
	if q == '"' || !r.inObject() || b != ',' && b != '}' {
		return 0
	}
	if b == ',' {
		if k, at := r.keyNear(r.spaceWithin(next+1, 64)); k == "" || r.byteAt(at) != ':' {
			return 0
		}
	}
	if r.ownEnd(next, q, lookAhead, ',') {
		return 0
	}
	return n
}

func (r *Reader) byteAt(off int) byte { b, _ := r.c.At(off); return b }

// ownEnd reports whether within n bytes a quotation mark of the string's own kind stands
// before what can follow it: a colon, or a comma or a closing bracket.
func (r *Reader) ownEnd(off int, q byte, n int, follow byte) bool {
	c := r.c
	for limit := off + n; off < limit; off++ {
		b, ok := c.At(off)
		switch {
		case !ok:
			return false
		case b == '\\':
			off++
		case b == ',' && q != '"' && follow == ':': // no part of a key that JSON does not know
			return false
		case b == q:
			k := r.byteAt(r.spaceWithin(off+1, 64))
			return k == follow || follow == ',' && (k == '}' || k == ']')
		}
	}
	return false
}

// balanceTo counts the brackets that a string's text opens and does not close, up to an
// offset. It counts each byte once.
func (r *Reader) balanceTo(start, off int) int {
	if r.balanceStart != start {
		r.balanceStart, r.balanceEnd, r.balance = start, start, 0
	}
	if off > r.balanceEnd {
		r.c.looked += off - r.balanceEnd
		for _, b := range r.c.Slice(r.balanceEnd, off) {
			switch b {
			case '{', '[':
				r.balance++
			case '}', ']':
				r.balance--
			}
		}
		r.balanceEnd = off
	}
	return r.balance
}

// mayLook reports whether what was looked ahead for in vain is still in proportion to what
// was read, so that reading is linear whatever the text is.
func (r *Reader) mayLook() bool { return r.spent <= 4*(r.c.off-r.from)+8192 }
