package lenient

import (
	"errors"
	"unsafe"
)

// ErrStopped is what a suspended cursor panics with when its text will never
// continue: the owner of the [Reading] gave up. [Run] recovers it.
var ErrStopped = errors.New("reading was stopped")

// NOTE: a cursor has one reading code, which moves it, and one owner, which appends to
// it and ends it. The owner acts only while the reading code waits in Fill; see
// [Reading]. Code of this package uses the fields for speed: whoever holds on to buf or
// to an index into it must take both anew after anything that may call Fill, which is
// all that looks at a byte beyond the buffer.

// Cursor is a place in a text that may still be arriving. Reading code asks it
// for bytes; where they have not come yet the cursor suspends the code until
// they have, or until the text has ended. The code therefore cannot tell how a
// text was cut into chunks, and reads every cutting of it alike.
//
// Offsets are in bytes from the start of the text. A Cursor is not safe for
// concurrent use.
type Cursor struct {
	buf  []byte // the text from offset base on, as far as it has come
	base int    // offset of buf[0]
	off  int    // offset of the next byte to read
	keep int    // bytes before this offset may be forgotten
	done bool   // no more text will come
	cut  bool   // what ended the text was a limit or a broken stream, not its writer
	// looked counts the bytes that were examined; see Looked.
	looked int
	// wait is a Reading's: it suspends until there is more or done; false means
	// stopped. It is the yield of its coroutine.
	wait func(struct{}) bool
	src  string // the text, where it was whole from the start and a string
}

// NewCursor returns a cursor at the start of a text that is whole.
func NewCursor(text []byte) *Cursor { return &Cursor{buf: text, done: true} }

// NewText returns a cursor at the start of a text that is whole. What is read of
// it shares its memory.
func NewText(text string) *Cursor {
	c := &Cursor{}
	c.Reset(text)
	return c
}

// Reset makes the cursor what [NewText] returns.
func (c *Cursor) Reset(text string) {
	// The bytes of a text that is whole are only read: they need no copy.
	*c = Cursor{buf: unsafe.Slice(unsafe.StringData(text), len(text)), done: true, src: text}
}

// String returns the text from one offset to another.
func (c *Cursor) String(from, to int) string {
	if c.src != "" {
		return c.src[from:to]
	}
	return string(c.buf[from-c.base : to-c.base])
}

// firstBytes is the room that a text which arrives has at first, in bytes.
const firstBytes = 512

// Append adds a piece to the end of the text. The bytes are copied.
func (c *Cursor) Append(p []byte) {
	if drop := c.keep - c.base; drop > 4096 && drop > len(c.buf)/2 {
		n := copy(c.buf, c.buf[drop:])
		c.buf = c.buf[:n]
		c.base = c.keep
	}
	if c.buf == nil {
		c.buf = make([]byte, 0, max(len(p), firstBytes))
	}
	c.buf = append(c.buf, p...)
}

// End says that the text is complete.
func (c *Cursor) End() { c.done = true }

// EndCut says that no more text will come since a limit was reached or the stream broke
// off. What is open at the end was not said to its end then, whatever it looks like.
func (c *Cursor) EndCut() { c.done, c.cut = true, true }

// CutOff reports whether the text ended by [Cursor.EndCut]. It is known only where the
// end has been met, such as behind [Cursor.EOF].
func (c *Cursor) CutOff() bool { return c.cut }

// Looked is how many bytes have been examined so far, each as often as it was looked at:
// by At and what is built on it, and by readers. It does not depend on how the text was
// cut into chunks. Code that examines bytes by Slice or Rest adds them by [Cursor.Look].
func (c *Cursor) Looked() int { return c.looked }

// Look adds n bytes to what [Cursor.Looked] counts.
func (c *Cursor) Look(n int) { c.looked += n }

// Offset is the offset of the next byte.
func (c *Cursor) Offset() int { return c.off }

// Seek moves to an offset that has been seen and not been forgotten.
func (c *Cursor) Seek(off int) { c.off = off }

// Skip moves n bytes on.
func (c *Cursor) Skip(n int) { c.off += n }

// Keep promises that no byte before off will be asked for again.
func (c *Cursor) Keep(off int) {
	if off > c.keep {
		c.keep = off
	}
}

// Kept is the offset of the first byte that can still be asked for.
func (c *Cursor) Kept() int { return c.base }

// Limit is the offset behind the last byte that has come.
func (c *Cursor) Limit() int { return c.base + len(c.buf) }

// Slice returns the bytes from one offset to another. They are valid until the
// cursor next has to wait, and must not be written to; appending to them copies.
func (c *Cursor) Slice(from, to int) []byte {
	return c.buf[from-c.base : to-c.base : to-c.base]
}

// Rest returns what has come from the current offset on, without waiting. It is
// valid until the cursor next has to wait.
func (c *Cursor) Rest() []byte { return c.buf[c.off-c.base : len(c.buf) : len(c.buf)] }

// Fill waits until at least one byte more has come, and reports whether one
// has: false means that the text has ended.
func (c *Cursor) Fill() bool {
	had := c.base + len(c.buf)
	for c.base+len(c.buf) == had {
		if c.done {
			return false
		}
		if !c.wait(struct{}{}) {
			panic(ErrStopped)
		}
	}
	return true
}

// At returns the byte at an offset at or after the current one; ok is false if
// the text ends before it.
func (c *Cursor) At(off int) (b byte, ok bool) {
	if i := off - c.base; i < len(c.buf) || c.fillTo(off) {
		c.looked++
		return c.buf[off-c.base], true
	}
	return 0, false
}

// fillTo waits until the byte at an offset has come, and reports whether it has.
func (c *Cursor) fillTo(off int) bool {
	for off-c.base >= len(c.buf) {
		if !c.Fill() {
			return false
		}
	}
	return true
}

// Peek returns the next byte, or 0 at the end of the text.
func (c *Cursor) Peek() byte {
	b, _ := c.At(c.off)
	return b
}

// EOF reports whether the text ends here.
func (c *Cursor) EOF() bool {
	_, ok := c.At(c.off)
	return !ok
}

// HasPrefixAt reports whether s stands at off. It waits only as long as what
// has come is a beginning of s.
func (c *Cursor) HasPrefixAt(off int, s string) bool {
	if at := off - c.base; at+len(s) <= len(c.buf) {
		here := c.buf[at : at+len(s)]
		for i := range here {
			if here[i] != s[i] {
				c.looked += i + 1
				return false
			}
		}
		c.looked += len(s)
		return true
	}
	for i := 0; i < len(s); i++ {
		b, ok := c.At(off + i)
		if !ok || b != s[i] {
			return false
		}
	}
	return true
}

// HasPrefix reports whether s stands at the current offset.
func (c *Cursor) HasPrefix(s string) bool { return c.HasPrefixAt(c.off, s) }

// SpaceEnd returns the offset of the first byte at or after off that is not
// white space.
func (c *Cursor) SpaceEnd(off int) int {
	for {
		b, ok := c.At(off)
		switch {
		case !ok:
			return off
		case b == ' ' || b == '\n' || b == '\r' || b == '\t':
			off++
		case b >= 0x80 || b == '\v' || b == '\f':
			n := c.oddSpace(off, b)
			if n == 0 {
				return off
			}
			off += n
		default:
			return off
		}
	}
}

// oddSpace returns the length of the white space at off that JSON does not know, 0 if
// none begins with the byte b there. Besides Unicode's White_Space (PropList.txt) it is
// U+180E, U+200B, U+2060 and U+FEFF, which take no room.
func (c *Cursor) oddSpace(off int, b byte) int {
	second := func() byte { k, _ := c.At(off + 1); return k }
	third := func() byte { k, _ := c.At(off + 2); return k }
	is := false
	switch b {
	case '\v', '\f':
		return 1
	case 0xC2: // U+0085, U+00A0
		if k := second(); k == 0x85 || k == 0xA0 {
			return 2
		}
	case 0xE1: // U+1680, U+180E
		k := second()
		is = k == 0x9A && third() == 0x80 || k == 0xA0 && third() == 0x8E
	case 0xE2: // U+2000 to U+200B, U+2028, U+2029, U+202F, U+205F, U+2060
		switch second() {
		case 0x80:
			k := third()
			is = k >= 0x80 && k <= 0x8B || k == 0xA8 || k == 0xA9 || k == 0xAF
		case 0x81:
			k := third()
			is = k == 0x9F || k == 0xA0
		}
	case 0xE3: // U+3000
		is = second() == 0x80 && third() == 0x80
	case 0xEF: // U+FEFF
		is = second() == 0xBB && third() == 0xBF
	}
	if is {
		return 3
	}
	return 0
}

// SkipSpace moves over white space.
func (c *Cursor) SkipSpace() { c.off = c.SpaceEnd(c.off) }

// EOFAt reports whether the text ends at or before off.
func (c *Cursor) EOFAt(off int) bool {
	_, ok := c.At(off)
	return !ok
}
