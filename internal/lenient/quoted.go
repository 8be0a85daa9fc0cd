package lenient

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// NOTE: quoted is the inner loop of all reading. It alone moves the cursor over a string;
// what decides whether a quotation mark ends it (closes.go) looks ahead and moves
// nothing.
//
// How a string is kept: its text before the offset from is in the scratch, decoded; its
// text from there to the cursor is in the cursor's buffer, as it stands. As long as
// nothing is in the scratch (copied is false), the string needs no copy.
//
// What can be seen: [Reader.OpenText] shows the scratch while inString is true. That is
// so only where the reader may wait, only for values, not for keys, and only after all
// text before the cursor was put into the scratch. There are three such places: the end
// of what has come, a quotation mark that may end the string ([Reader.show]), and an
// escape sequence. Text that is shown stays; only its end may yet turn out to be closing
// brackets or a closing marker, where the string is never closed. What else may be behind
// such a string is not shown; see ended.go.

// ordinaryFor marks, for a quotation mark, the bytes that stand for themselves in its
// strings.
func ordinaryFor(q byte) (t [256]bool) {
	for b := 0x20; b < 256; b++ {
		t[b] = byte(b) != q && b != '\\'
	}
	return t
}

var ordinaryDouble, ordinarySingle, ordinaryBack = ordinaryFor('"'), ordinaryFor('\''), ordinaryFor('`')

// ordinaryInKey marks the bytes that stand for themselves in any key, and ordinaryOther
// those in a value in quotation marks other than JSON's: another kind of quotation mark may
// end it.
var ordinaryInKey, ordinaryOther = func() (key, other [256]bool) {
	for b := range 256 {
		key[b] = ordinaryDouble[b] && ordinarySingle[b] && ordinaryBack[b] && b != 0xE2
		other[b] = ordinaryDouble[b] && ordinarySingle[b] && ordinaryBack[b]
	}
	return key, other
}()

// ordinary are the bytes that stand for themselves in a string.
func (r *Reader) ordinary(q byte, key bool) *[256]bool {
	switch {
	case key:
		return &ordinaryInKey
	case q == '"':
		return &ordinaryDouble
	case !r.o.Python:
		return &ordinaryOther
	case q == '\'':
		return &ordinarySingle
	}
	return &ordinaryBack
}

// quoted reads a string whose opening quote was just read, up to and with its
// closing one, and puts its text into r.text.
func (r *Reader) quoted(q byte, key bool) error {
	c := r.c
	doubled := false
	if c.Peek() == q {
		if !key && r.triple(q) {
			return nil
		}
		doubled = r.doubled(q, key)
	}
	start, from, copied := c.off, c.off, false
	r.scratch = r.scratch[:r.joined]
	inner := 0                  // quotation marks that turned out to stand within the string
	b, i := c.buf, c.off-c.base // the cursor's buffer, and where in it we are
	ordinary := r.ordinary(q, key)
	for {
		for i < len(b) && ordinary[b[i]] {
			i++
		}
		if i == len(b) {
			c.off = c.base + i
			if !c.done {
				r.scratch = append(r.scratch, b[from-c.base:i]...)
				from, copied = c.off, true
				r.inString = !key
			}
			if !c.Fill() {
				return r.unclosed(q, start, from, copied, key)
			}
			r.inString = false
			i, b = c.off-c.base, c.buf
			continue
		}
		switch ch := b[i]; {
		case ch == q:
			c.off = c.base + i
			shown := len(b)-i <= surelySees // what follows may have to be waited for
			if shown {
				from, copied = r.show(from, copied, key)
			}
			if inner == 0 && r.surelyCloses(q, key) {
				r.inString = false
				r.endString(start, from, copied, key)
				return nil
			}
			if !shown {
				from, copied = r.show(from, copied, key)
			}
			if doubled && r.byteAt(c.off+1) == q || r.ends(start, q, key, inner) {
				r.inString = false
				r.endString(start, from, copied, key)
				if doubled && r.byteAt(c.off) == q {
					c.off++
				}
				return nil
			}
			if r.endedEarlier(q, start, from, copied, key, inner) {
				return nil
			}
			if inner == 0 && r.operatorAt(key) {
				return errExpression
			}
			r.fix(c.off, UnescapedQuote)
			inner++
			b, i = c.buf, c.off-c.base+1
		case ch == '\\' && isSimple(b, i, start-c.base):
			if r.scratch == nil {
				r.scratch = r.borrow().scratch[:0]
			}
			r.scratch = append(r.scratch, b[from-c.base:i]...)
			r.scratch = append(r.scratch, simpleEscapes[b[i+1]])
			copied = true
			c.looked++ // as escape looks
			i += 2
			from = c.base + i
		case ch == '\\':
			c.off = c.base + i
			r.scratch = append(r.scratch, b[from-c.base:i]...)
			copied = true
			r.inString = !key
			r.backslash(start, q, key)
			r.inString = false
			from = c.off
			b, i = c.buf, c.off-c.base
		case ch < 0x20:
			r.fix(c.base+i, RawControl)
			i++
		default: // another kind of quote, or a byte that may begin one
			c.off = c.base + i
			from, copied = r.show(from, copied, key)
			if r.foreignEnds(q, start, from, copied, key) {
				return nil
			}
			b, i = c.buf, c.off-c.base+1
		}
	}
}

// endedEarlier ends a string whose end is missing before the quotation mark at the cursor,
// which does not end it, if that is so.
func (r *Reader) endedEarlier(q byte, start, from int, copied, key bool, inner int) bool {
	defer func() { r.inString = false }()
	if key {
		return r.keyWithoutEnd(start)
	}
	end, next, ok := r.endedBefore(start, q, inner)
	if ok {
		r.endEarlier(start, from, end, next, copied)
	}
	return ok
}

// foreignEnds ends a string at a quotation mark of another kind at the cursor, if that is
// meant to.
func (r *Reader) foreignEnds(q byte, start, from int, copied, key bool) bool {
	n := r.foreignEnd(start, q, key)
	r.inString = false
	if n == 0 {
		return false
	}
	r.fix(r.c.off, MismatchedQuotes)
	r.endString(start, from, copied, key)
	r.c.off += n - 1
	return true
}

// ends reports whether the quotation mark at the cursor ends the string that began at
// start.
func (r *Reader) ends(start int, q byte, key bool, inner int) bool {
	c := r.c
	if key {
		return r.closes(c.off+1, q, true, inner) || inner == 0 && r.isKeyWithColon(start) ||
			len(r.levels) > 0 && c.off-start <= maxKey && r.expects(0, string(c.Slice(start, c.off)))
	}
	if inner > 0 && r.bracketsOfText(start) {
		return false
	}
	return r.closes(c.off+1, q, false, inner)
}

// bracketsOfText reports whether the quotation mark at the cursor stands within brackets of
// the string's own text, as in "see {"a": "b"}, which": those behind it close these, or a
// comma stands behind it and these are closed before words.
func (r *Reader) bracketsOfText(start int) bool {
	c := r.c
	next := r.spaceWithin(c.off+1, lookAhead)
	b, ok := c.At(next)
	if !ok || b != '}' && b != ']' && b != ',' {
		return false
	}
	open := r.balanceTo(start, c.off)
	if open <= 0 {
		return false
	}
	if b == ',' {
		return r.mayLook() && r.closedBeforeWords(next, open)
	}
	nested := open > 1
	for ; ok && open > 0 && (b == '}' || b == ']'); b, ok = c.At(next) {
		open--
		next = r.spaceWithin(next+1, lookAhead)
	}
	return ok && (!r.atClose(next) || nested && open == 0) // else the value's own are missing
}

// closedBeforeWords reports whether so many brackets are closed behind off, and then comes
// what does not stand behind a value, but in a string: words, or the text's end where the
// string stands in more brackets than these.
func (r *Reader) closedBeforeWords(off, open int) bool {
	fewer := open < len(r.stack) // brackets than the string stands in
	for limit := off + lookAhead; off < limit; off++ {
		r.spent++
		switch b, ok := r.c.At(off); {
		case !ok || b == '\\':
			return false
		case b == '{' || b == '[':
			open++
		case b == '}' || b == ']':
			if open--; open > 0 {
				continue
			}
			b, _ := r.c.At(r.spaceWithin(off+1, 64))
			if b == 0 || b == '<' || b == '`' {
				return fewer
			}
			return b != ',' && b != '}' && b != ']'
		}
	}
	return false
}

// doubled reports whether the second of two quotation marks that open a string stands at
// the cursor, and moves over it: ""key"": …, or ""text"", if the other two are there.
func (r *Reader) doubled(q byte, key bool) bool {
	c := r.c
	b, ok := c.At(c.off + 1)
	if !ok || b == q || !isWord(b) || r.o.Python || !r.mayLook() {
		return false
	}
	for off := c.off + 2; off < c.off+lookAhead; off++ {
		r.spent++
		b, ok := c.At(off)
		switch {
		case !ok, b == '\\':
			return false
		case b == q:
			if r.byteAt(off+1) != q {
				return false
			}
			switch r.byteAt(r.spaceWithin(off+2, 64)) {
			case ',', '}', ']', 0:
				if key {
					return false
				}
			case ':':
			default:
				return false
			}
			r.fix(c.off, DoubledQuotes)
			c.off++
			return true
		}
	}
	return false
}

// endEarlier ends a string whose end is missing at an earlier offset than the cursor's and
// moves to where what follows it begins. There is no escape sequence between the two.
func (r *Reader) endEarlier(start, from, end, next int, copied bool) {
	c := r.c
	r.fix(end, MissingQuote)
	text := c.Slice(start, end)
	if copied {
		text = append(r.scratch, c.Slice(from, c.off)...)[r.joined:]
		text = text[:len(text)-(c.off-end)]
	}
	r.text = r.validText(start, text)
	c.off = next
}

// surelySees is how many bytes, the quotation mark included, surelyCloses looks at.
const surelySees = 4

// surelyCloses reports whether what stands behind the quotation mark at the cursor is
// what strict JSON has there, so that no more need be looked at.
func (r *Reader) surelyCloses(q byte, key bool) bool {
	if len(r.stack) == 0 {
		return false
	}
	next, _ := r.c.At(r.c.off + 1)
	if key {
		return next == ':'
	}
	top := r.stack[len(r.stack)-1]
	switch next {
	case '}':
		return top == '{'
	case ']':
		return top == '['
	case ',':
		k, _ := r.c.At(r.c.off + 2)
		if k == ' ' {
			k, _ = r.c.At(r.c.off + 3)
		}
		return k == q
	}
	return false
}

// show puts the text of the string before the cursor where [Reader.OpenText] sees it,
// before the reader looks ahead, which may make it wait. It returns the offset of the
// text that is not in the scratch yet.
func (r *Reader) show(from int, copied, key bool) (int, bool) {
	if r.c.done || key {
		return from, copied
	}
	r.scratch = append(r.scratch, r.c.Slice(from, r.c.off)...)
	r.inString = true
	return r.c.off, true
}

// endString ends a string at the cursor's quotation mark. Its text is in the
// scratch if it was copied, with what stands from an offset on to be added.
func (r *Reader) endString(start, from int, copied, key bool) {
	c := r.c
	seg := c.Slice(from, c.off)
	c.off++
	c.looked += c.off - start
	switch {
	case copied:
		r.scratch = append(r.scratch, seg...)
		r.text = r.validText(start, r.scratch[r.joined:])
	case !utf8.Valid(seg):
		r.text = r.validText(start, seg)
	case key:
		r.text = r.intern(seg)
	default:
		r.text = c.String(from, from+len(seg))
	}
}

// hasQuote reports whether one of the reader's own quotes stands in a text: where a string
// ends that has both kinds nobody knows.
func (r *Reader) hasQuote(text []byte) bool {
	for _, quote := range r.o.Quotes {
		if bytes.Contains(text, []byte(quote)) {
			return true
		}
	}
	return false
}

// unclosed ends a string that the text's end, or a closing marker in it, cut off.
func (r *Reader) unclosed(q byte, start, from int, copied, key bool) error {
	c := r.c
	c.looked += c.Limit() - start
	text := c.Slice(from, c.Limit())
	if copied {
		text = append(r.scratch, text...)[r.joined:]
	}
	if cut := r.firstClose(start); cut >= 0 && r.endsWithClose(cut) {
		// {"city": "Rome</tool_call> : the marker closes the string and all.
		inner := strings.TrimRight(c.String(start, cut), "\r\n\t }]")
		for _, quote := range r.o.Quotes { // 'Rome'<|"|>: ended twice
			if once, ok := strings.CutSuffix(inner, string(q)+quote); ok {
				inner = once
				break
			}
		}
		sub := NewReader(NewText(inner+string(q)), Options{MaxDepth: r.o.MaxDepth})
		if err := sub.quoted(q, false); err != nil {
			return err
		}
		if !sub.c.EOF() { // a quotation mark within it: where it ends nobody knows
			c.off = cut
			r.text = sub.text
			r.cutOff(CutString)
			return nil
		}
		r.Fixes.Merge(&sub.Fixes)
		r.fix(cut, UnclosedString)
		c.off = cut
		r.text = sub.text
		if key {
			r.cutOff(CutKey)
		} else {
			r.unwind()
		}
		return nil
	}
	if key {
		c.off = c.Limit()
		if r.closersBefore(start, c.off) > 0 && r.keyWithoutEnd(start) {
			return nil
		}
	} else if n := r.closersBefore(start, c.Limit()); n > 0 && !r.CutToken && !r.hasQuote(text) && r.balanceTo(start, c.Limit()-n) <= 0 {
		// {"city": "Rome}
		c.off = c.Limit() - n
		text = text[:len(text)-n]
		r.fix(c.off, UnclosedString)
		r.text = r.validText(start, text[:len(text)-closingQuote(text)])
		return nil
	}
	c.off = c.Limit()
	r.text = r.validText(start, trimPartialRune(text))
	kind := CutString
	if key {
		kind = CutKey
	}
	r.cutOff(kind)
	return nil
}

// endsWithClose reports whether the text ends behind the closing marker at off:
// then the marker was meant, and is no part of a string that is cut off.
func (r *Reader) endsWithClose(off int) bool {
	for _, m := range r.o.Close {
		if r.c.HasPrefixAt(off, m) {
			rest := r.c.Slice(off+len(m), r.c.Limit())
			return len(bytes.TrimSpace(rest)) == 0
		}
	}
	return false
}

// firstClose returns the offset of the first closing marker at or after off, or -1.
func (r *Reader) firstClose(off int) int {
	first := -1
	rest := r.c.Slice(off, r.c.Limit())
	r.c.looked += len(rest) * len(r.o.Close)
	for _, m := range r.o.Close {
		if i := bytes.Index(rest, []byte(m)); i >= 0 && (first < 0 || off+i < first) {
			first = off + i
			rest = rest[:i]
		}
	}
	return first
}
