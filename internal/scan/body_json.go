package scan

import (
	"strings"

	"github.com/callwright/callwright/dialect"
	"github.com/callwright/callwright/internal/lenient"
)

// jsonBody is an object, a list, or several, with anything between them that models
// put there.
type jsonBody struct{}

func (jsonBody) at(l *look, off int, _ []*dialect.Row) (int, bool) {
	switch b, _ := l.c.At(off); b {
	case '{':
		return off, l.objectAt(off)
	case '[':
		switch n, _ := l.c.At(l.c.SpaceEnd(off + 1)); n {
		case '{', '"', '\'', '[', ']':
			return off, true
		}
	}
	return off, false
}

func (jsonBody) read(k *construct) outcome {
	c := k.c
	inList := false
	closers := k.readerClose()
	for {
		end := c.Offset() // white space behind the last value is not the call's
		c.SkipSpace()
		at := c.Offset()
		b, ok := c.At(at)
		switch {
		case !ok:
		case b == ',' || b == ';':
			c.Skip(1)
			continue
		case (b == ']' || b == '}') && (k.got > 0 || inList):
			if inList && b == ']' {
				inList = false
			}
			c.Skip(1)
			continue
		case b == '`' && c.HasPrefix("```"):
			c.Skip(3)
			continue
		case b == '[' && !inList && k.listOfObjects(at):
			inList = true
			c.Skip(1)
			continue
		case (b == '{' || b == '[' || b == '"' && inList) && k.closer(at, k.close) < 0:
			if k.jsonValue(closers) {
				continue
			}
			if k.refused && k.got == 0 {
				k.skipClosing()
			}
			if k.got == 0 {
				return k.fail()
			}
			end = c.Offset()
		}
		if k.got > 0 {
			c.Seek(end)
		}
		return k.closeAndFinish()
	}
}

// jsonValue reads one JSON value and delivers it.
func (k *construct) jsonValue(closers []string) bool {
	from := k.c.Offset()
	if k.got > 0 {
		k.next = from
	}
	if next := k.c.SpaceEnd(from + 1); k.c.HasPrefixAt(next, "&quot;") {
		if to := k.bodyEnd(k.row, k.close, from); to >= 0 {
			return k.encodedValue(from, to)
		}
	}
	r := lenient.NewReader(k.c, lenient.Options{
		Close: closers, Shape: k.callShape(), Hash: k.row != nil && k.row.Options.Hash, Watch: k.watch,
	})
	k.show(Partial{Call: r})
	v, err := r.Value()
	if err != nil {
		return k.broken(from, err)
	}
	cand := &Candidate{Value: v}
	cand.readBy(r)
	if !k.watch && cand.reader == nil {
		r.Free()
	}
	if k.c.EOF() {
		cand.Evidence.MissingClose = len(k.close) > 0
	}
	return k.deliver(cand, k.c.Offset())
}

// encodedValue reads a value whose quotes are written as &quot;, as a page would show
// it.
func (k *construct) encodedValue(from, to int) bool {
	raw := string(k.c.Slice(from, to))
	k.c.Seek(to)
	v, r, err := lenient.Parse(strings.TrimSpace(entities.Replace(raw)), lenient.Options{})
	cand := &Candidate{Value: v}
	if err != nil {
		cand.Value, cand.Err = raw, err
	} else {
		cand.readBy(r)
		cand.Fixes.Add(from, lenient.EscapedQuotes)
	}
	return k.deliver(cand, to) || k.back()
}
