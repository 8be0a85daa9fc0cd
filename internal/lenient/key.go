package lenient

import (
	"fmt"
	"strings"
)

// maxKey bounds how far the reader looks ahead for the end of a key.
const maxKey = 128

// key reads a key and the colon behind it, or the object's end.
func (r *Reader) key() (Kind, bool, error) {
	if r.ending {
		return r.pop(), true, nil
	}
	b := r.space()
	off := r.c.off
	switch b {
	case '}', ']':
		kind, ok := r.close(b)
		if ok && r.behindComma(off) {
			r.fix(off, TrailingComma)
		}
		return kind, ok, nil
	case ',':
		r.fix(off, ExtraComma)
		r.c.off++
		return 0, false, nil
	case '"':
		r.c.off++
		if err := r.quoted('"', true); err != nil {
			return 0, false, err
		}
	case '\'', '`':
		if b == '`' && r.c.HasPrefix("```") {
			r.unwind()
			return r.pop(), true, nil
		}
		r.c.off++
		if !r.o.Python {
			r.fix(off, SingleQuotes)
		}
		if err := r.quoted(b, true); err != nil {
			return 0, false, err
		}
	default:
		if b == 0 && r.c.EOF() || r.atClose(off) {
			r.unwind()
			return r.pop(), true, nil
		}
		switch {
		case b == '\\' && r.c.HasPrefix(`\"`):
			r.escapedString()
		case b >= 0x80 && r.smartQuote(off) != 0:
			r.smart(true)
		case r.customQuote(off) != "":
			r.literal(r.customQuote(off))
		case b == '.' && r.c.HasPrefix("..."):
			r.c.off += 3 // an ellipsis: the writer left something out
			r.fix(off, Expression)
			return 0, false, nil
		case b == '{' && len(r.stack) == 1 && !r.Fixes.Has(ExtraOpen) && r.behindBrace(off):
			// {{"a": 1}} : a template's doubled braces.
			r.c.off++
			r.fix(off, ExtraOpen)
			return 0, false, nil
		default:
			if !r.bareKey() {
				return 0, false, fmt.Errorf("%w: no key at byte %d", ErrSyntax, off)
			}
		}
	}
	if r.CutToken {
		return r.pop(), true, nil
	}
	if err := r.colon(off); err != nil {
		return 0, false, err
	}
	if r.ending {
		return r.pop(), true, nil
	}
	r.state = wantValue
	return Key, true, nil
}

// colon reads the colon behind a key.
func (r *Reader) colon(key int) error {
	c := r.c
	if off := c.off; off > key+1 {
		// {"a: "b"} : the key's last quote is missing, and what looks like it begins
		// the value.
		quote, _ := c.At(off - 1)
		next, _ := c.At(off)
		if name, ok := keyWithColon(r.text); ok && (quote == '"' || quote == '\'') && next != ':' && isWord(next) {
			r.fix(off-1, MissingQuote)
			r.text = name
			c.off--
			return nil
		}
	}
	b := r.space()
	switch {
	case b == ':':
		c.off++
		if c.Peek() == '=' { // :=
			r.fix(c.off, OtherColon)
			c.off++
		}
	case b == '=':
		r.fix(c.off, OtherColon)
		c.off++
		if c.Peek() == '>' {
			c.off++
		}
	case b == 0xEF && c.HasPrefix("："):
		r.fix(c.off, WidePunctuation)
		c.off += len("：")
	case r.o.Hash && r.Fixes.Has(UnquotedKey):
	case b == 0 && c.EOF():
		// A key that is cut off, or has no value yet, says nothing.
		r.cutOff(CutKey)
	case r.atClose(c.off) || b == '`' && c.HasPrefix("```"):
		r.cutOff(CutValue)
	case b == '"' || b == '{' || b == '[' || b == '-' || b >= '0' && b <= '9':
		r.fix(c.off, MissingColon)
	case (b == ',' || b == '}') && r.Depth() == 1 && r.o.Python:
		return errSet
	default:
		return fmt.Errorf("%w: no colon behind the key at byte %d", ErrSyntax, key)
	}
	return nil
}

// keyWithColon takes the colon off a word that ends with one.
func keyWithColon(s string) (key string, ok bool) {
	key, ok = strings.CutSuffix(strings.TrimRight(s, " "), ":")
	return key, ok && isPlainKey(key)
}

// isKeyWithColon reports whether the key that began at an offset ends at the cursor
// with a colon, and its value begins there.
func (r *Reader) isKeyWithColon(start int) bool {
	c := r.c
	if c.off-start > maxKey {
		return false
	}
	next, _ := c.At(c.off + 1)
	_, ok := keyWithColon(string(c.Slice(start, c.off)))
	return ok && isWord(next)
}

// isPlainKey reports whether a text is a word such as keys are.
func isPlainKey(s string) bool {
	for i := range len(s) {
		if !isWord(s[i]) {
			return false
		}
	}
	return s != "" && len(s) <= maxKey
}

// errSet says that what looked like an object is a Python set.
var errSet = fmt.Errorf("%w: a set", ErrSyntax)

// bareKey reads a key without quotes.
func (r *Reader) bareKey() bool {
	c, start := r.c, r.c.off
	if r.o.Hash && c.HasPrefix("--") {
		c.off += 2
		start = c.off
	}
	for c.off-start <= maxKey {
		b, ok := c.At(c.off)
		if !ok {
			r.text = dropMarkdown(string(c.Slice(start, c.off)))
			r.cutOff(CutKey)
			return true
		}
		if !isWord(b) && b != '.' && (b != '\\' || !c.HasPrefix(`\_`)) || b >= 0x80 && c.HasPrefix("：") {
			break
		}
		c.off++
	}
	if c.off == start || c.off-start > maxKey {
		return false
	}
	r.fix(start, UnquotedKey)
	r.text = dropMarkdown(string(c.Slice(start, c.off)))
	if b, _ := c.At(c.off); b == '"' { // only its first quote is missing
		if next, _ := c.At(r.spaceWithin(c.off+1, 64)); next == ':' {
			r.fix(c.off, MissingQuote)
			c.off++
		}
	}
	return true
}

// dropMarkdown takes the backslashes off underscores, which Markdown puts there.
func dropMarkdown(s string) string {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && s[i+1] == '_' {
			continue
		}
		out = append(out, s[i])
	}
	return string(out)
}

// startsKey looks ahead whether a key and its colon stand at off.
func (r *Reader) startsKey(off int) bool {
	b, ok := r.c.At(off)
	if !ok {
		return false
	}
	end := off + 1
	switch {
	case b == '"' || b == '\'' || b == '`':
		for ; ; end++ {
			k, ok := r.c.At(end)
			if !ok || end-off > maxKey || k == '\n' || k == '{' {
				return false
			}
			if k == b {
				break
			}
		}
		end = r.spaceWithin(end+1, 16)
	case b == '\\':
		return r.c.HasPrefixAt(off, `\"`)
	case b == 0xE2 && (r.c.HasPrefixAt(off, "“") || r.c.HasPrefixAt(off, "”")):
		return true
	case r.o.Hash && b == '-':
		return r.c.HasPrefixAt(off, "--")
	case isWord(b):
		for ; end-off <= maxKey; end++ {
			if k, ok := r.c.At(end); !ok || !isWord(k) && k != '.' {
				break
			}
		}
		end = r.spaceWithin(end, 16)
	default:
		return false
	}
	k, ok := r.c.At(end)
	return ok && (k == ':' || k == '=' || k == 0xEF && r.c.HasPrefixAt(end, "："))
}

// isWord reports whether b can stand in a key without quotes.
func isWord(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '_' || b == '$' || b == '-' || b >= 0x80
}

// intern returns the key as a string, without allocating if it was read lately.
func (r *Reader) intern(b []byte) string {
	if len(b) == 0 || len(b) > 64 {
		return string(b)
	}
	slot := &r.keys[(int(b[0])+31*int(b[len(b)-1])+7*len(b)+13*int(b[len(b)/2]))%64]
	if *slot != string(b) {
		*slot = string(b)
	}
	return *slot
}
