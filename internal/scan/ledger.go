package scan

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/callwright/callwright/internal/intent"
	"github.com/callwright/callwright/internal/lenient"
)

// ledger knows what of the text is content, what was dropped and what was taken, and
// hands it to the sink in the order of the text.
type ledger struct {
	c     *lenient.Cursor
	sink  Sink
	watch bool // content is handed on as soon as it is certain

	handed  int  // text before it has been handed on
	gap     gap  // white space before what was taken last, while it is open what becomes of it
	textEnd int  // behind the last byte that is not white space
	segment int  // where the text since the last construct begins
	past    past // the text before that

	hasContent bool // some content was handed on
	hasOther   bool // something other than content was found
	afterCall  bool // nothing but separators since the last call
}

// text says that the bytes up to off are not white space at their end.
func (l *ledger) text(off int) {
	l.textEnd = off
	l.afterCall = false
}

// note takes text that begins at the cursor, for where its white space is.
func (l *ledger) note(p []byte) {
	off := l.c.Offset()
	if l.afterCall {
		if bytes.IndexFunc(p, func(r rune) bool { return !strings.ContainsRune(separators, r) }) < 0 {
			return
		}
		l.afterCall = false
	}
	for i := len(p) - 1; i >= 0; i-- {
		if b := p[i]; b != ' ' && b != '\n' && b != '\r' && b != '\t' {
			l.textEnd = off + i + 1
			return
		}
	}
}

// separators may stand between calls.
const separators = " \n\r\t,;"

// flush hands on the content before the cursor, but for white space at its end.
func (l *ledger) flush() {
	l.content(l.wholeRunes(l.textEnd))
	l.c.Keep(max(l.segment, min(l.handed, l.c.Offset())-intent.MaxBefore))
}

// flushCertain hands on, in a stream, the content that is certain before the scanner
// waits for what follows.
func (l *ledger) flushCertain() {
	if l.watch {
		l.content(l.wholeRunes(l.textEnd))
	}
}

// wholeRunes takes an incomplete UTF-8 sequence off the text before an offset.
func (l *ledger) wholeRunes(to int) int {
	for n := 1; n <= 3 && to-n >= l.handed; n++ {
		tail := l.c.Slice(to-n, to)
		if utf8.RuneStart(tail[0]) {
			if tail[0] >= 0xC0 && !utf8.FullRune(tail) {
				return to - n
			}
			break
		}
	}
	return to
}

// content hands on the text up to an offset.
func (l *ledger) content(to int) {
	if to <= l.handed {
		return
	}
	p := l.c.String(l.handed, to)
	if !l.hasContent && l.hasOther {
		p = strings.TrimLeft(p, separators)
	}
	l.handed = to
	p = l.closeGap(p)
	if len(p) > 0 {
		l.hasContent = true
		l.sink.Content(p)
	}
}

// gap is white space between content and what was taken behind it.
type gap struct {
	from int
	text string
}

// closeGap decides what becomes of the white space before what was taken, now that the
// content behind that is known, and returns that content: between two pieces of content
// stands the white space that has more lines, or else what there is.
func (l *ledger) closeGap(next string) string {
	g := l.gap
	l.gap = gap{}
	if g.text == "" {
		return next
	}
	trimmed := strings.TrimLeft(next, " \t\r\n")
	lead := next[:len(next)-len(trimmed)]
	if trimmed != "" && (lead == "" || strings.Count(g.text, "\n") > strings.Count(lead, "\n")) {
		l.sink.Content(g.text)
		return trimmed
	}
	l.sink.Dropped(g.from, g.from+len(g.text), WhyWhiteSpace)
	return next
}

// finish hands on what is left before the end of the text.
func (l *ledger) finish(end int) {
	defer l.closeGap("")
	l.content(l.textEnd)
	if !l.hasOther {
		l.content(end)
	} else if end > l.handed {
		l.sink.Dropped(l.handed, end, WhyWhiteSpace)
	}
}

// drop says that the text from one offset to another is neither content nor a call,
// and goes on behind it.
func (l *ledger) drop(from, to int, why Why) {
	l.content(min(l.textEnd, from))
	l.remember(from, why == WhyCall)
	if l.handed < from && l.hasContent && strings.TrimLeft(l.c.String(l.handed, from), " \t\r\n") == "" {
		l.closeGap("")
		l.gap = gap{from: l.handed, text: strings.Clone(l.c.String(l.handed, from))}
		l.handed = from
	}
	l.sink.Dropped(l.handed, to, why)
	l.hasOther = true
	l.restart(to)
	l.c.Keep(to)
}

// restart goes on at an offset with a text of its own: all before it was handed on.
func (l *ledger) restart(at int) {
	l.handed, l.textEnd, l.segment = at, at, at
	l.c.Seek(at)
}

// atLineStart reports whether nothing but blanks stands between the beginning of the
// line, or the end of a construct, and p.
func (l *ledger) atLineStart(p int) bool {
	for i := p - 1; i >= max(l.segment, l.c.Kept()); i-- {
		switch b, _ := l.c.At(i); b {
		case ' ', '\t', '\r':
		case '\n':
			return true
		default:
			return false
		}
	}
	return l.segment == 0 || l.hasOther
}

// contentBefore reports whether content stands before p: handed on, or yet to be.
func (l *ledger) contentBefore(p int) bool {
	return l.hasContent || l.c.SpaceEnd(l.handed) < p
}

// before returns up to n bytes of the text before an offset, since the last construct.
func (l *ledger) before(p, n int) []byte {
	if from := max(l.segment, l.c.Kept(), p-n); from < p {
		return l.c.Slice(from, p)
	}
	return nil
}

// byteBefore returns the byte before an offset, 0 if it has been forgotten.
func (l *ledger) byteBefore(p int) byte {
	if p <= l.c.Kept() {
		return 0
	}
	return l.c.Slice(p-1, p)[0]
}
