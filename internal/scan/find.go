package scan

import (
	"bytes"

	"github.com/callwright/callwright/dialect"
)

// search is what looking ahead for a marker came to.
type search struct {
	from int // where it began
	end  int // the offset behind the marker, or -1
}

// find looks ahead for a marker and returns the offset behind it. A marker that is not
// there is looked for only once, and one that is there is not looked for again from a
// place before it.
func (l *look) find(from int, pattern string) (int, bool) {
	if f, ok := l.found[pattern]; ok && from >= f.from && (f.end < 0 || from <= f.end-len(pattern)) {
		return f.end, f.end >= 0
	}
	if l.found == nil {
		l.found = make(map[string]search)
	}
	end := l.search(from, pattern)
	l.found[pattern] = search{from, end}
	return end, end >= 0
}

func (l *look) search(from int, pattern string) int {
	for off := from; ; off++ {
		p := l.c.Slice(off, l.c.Limit())
		i := bytes.IndexByte(p, pattern[0])
		if i < 0 {
			if !l.c.Fill() {
				return -1
			}
			off += len(p) - 1
			continue
		}
		off += i
		if end := matchAny(l.c, off, []string{pattern}); end >= 0 {
			return end
		}
	}
}

// callMarker returns the opening marker of a dialect at off, and the offset behind it.
func (l *look) callMarker(off int) (*marker, int) {
	return l.markerOf(off, func(m *marker) bool { return m.kind == opens })
}

// markerOf returns the first marker at off of those that are wanted, and the offset
// behind it; nil if there is none.
func (l *look) markerOf(off int, wanted func(*marker) bool) (*marker, int) {
	b, _ := l.c.At(off)
	next, ok := l.c.At(off + 1)
	if !ok || !l.t.pairs.Has(b, next) {
		return nil, 0
	}
	for _, m := range l.t.markers[pair(b, next)] {
		if wanted(m) {
			if end := m.match(l.c, off); end >= 0 {
				return m, end
			}
		}
	}
	return nil, 0
}

// endsTurn reports whether a marker that ends the turn stands at off.
func (l *look) endsTurn(off int) bool {
	m, _ := l.markerOf(off, func(m *marker) bool { return m.kind == noise })
	return m != nil
}

// marksEnd reports whether a dialect's closing marker stands at off.
func (l *look) marksEnd(off int) bool {
	if b, ok := l.c.At(off); !ok || b != '<' && b != '[' {
		return false
	}
	m, _ := l.markerOf(off, func(m *marker) bool { return m.kind == closes })
	return m != nil
}

// closer returns the offset behind a closing marker at off, or -1: one of the patterns,
// any dialect's, or any closing tag.
func (l *look) closer(off int, patterns []string) int {
	if end := matchAny(l.c, off, patterns); end >= 0 {
		return end
	}
	b, ok := l.c.At(off)
	if !ok || b != '<' && b != '[' && b != ']' {
		return -1
	}
	if m, end := l.markerOf(off, func(m *marker) bool { return m.kind == closes || m.kind == concludes }); m != nil {
		return end
	}
	if next, _ := l.c.At(off + 1); b == '<' && next == '/' {
		return l.closingTag(off)
	}
	return -1
}

// closingTag returns the offset behind any </tag> at off, or -1.
func (l *look) closingTag(off int) int {
	const longest = 72
	for i := 2; i < longest; i++ {
		b, ok := l.c.At(off + i)
		if !ok {
			return -1
		}
		if b == '>' {
			if i == 2 {
				return -1
			}
			return off + i + 1
		}
		if !isName(b) && b != ':' && b != '|' {
			return -1
		}
	}
	return -1
}

// cutClose reports whether the text ends at off in the middle of a closing marker.
func (l *look) cutClose(off int, patterns []string) bool {
	if b, ok := l.c.At(off); !ok || b != '<' && b != '[' {
		return false
	}
	for _, p := range patterns {
		n := 0
		for n < len(p) {
			b, ok := l.c.At(off + n)
			if !ok {
				return n > 1
			}
			if b != p[n] {
				break
			}
			n++
		}
	}
	return false
}

// maxBroken bounds how much text is offered for repair.
const maxBroken = 32 << 10

// bodyEnd returns where the closing marker of what begins at an offset stands, or the
// text's end; -1 if that is too far.
func (l *look) bodyEnd(row *dialect.Row, closing []string, from int) int {
	for off := max(from, l.searched[row]); off-from < maxBroken; off++ {
		b, ok := l.c.At(off)
		if !ok || (b == '<' || b == '[') && matchAny(l.c, off, closing) >= 0 {
			return off
		}
	}
	if l.searched == nil {
		l.searched = make(map[*dialect.Row]int)
	}
	l.searched[row] = from + maxBroken
	return -1
}

// rawEnd returns where raw text at off that a closing marker ends has its end.
func (l *look) rawEnd(off int, closing []string) int {
	for ; ; off++ {
		b, ok := l.c.At(off)
		if !ok {
			return off
		}
		if b == '<' && (matchAny(l.c, off, closing) >= 0 || l.endsTurn(off)) {
			return off
		}
	}
}
