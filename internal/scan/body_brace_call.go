package scan

import (
	"github.com/callwright/callwright/call"
	"github.com/callwright/callwright/dialect"
	"github.com/callwright/callwright/internal/lenient"
)

// braceCallBody is call:name{key:value}, again and again.
type braceCallBody struct{}

// braceCallWord begins each call of the body.
const braceCallWord = "call:"

func (braceCallBody) at(l *look, off int, rows []*dialect.Row) (int, bool) {
	return off, hasBody(rows, dialect.BodyBraceCall) && l.braceCallAt(off)
}

// braceCallAt reports whether call:name stands at off.
func (l *look) braceCallAt(off int) bool {
	return l.c.HasPrefixAt(off, braceCallWord) && l.nameEnd(off+len(braceCallWord)) > off+len(braceCallWord)
}

func (braceCallBody) read(k *construct) outcome {
	c := k.c
	for {
		at := c.SpaceEnd(c.Offset())
		if !k.braceCallAt(at) {
			break
		}
		if k.got > 0 {
			k.next = at
		}
		from := at + len(braceCallWord)
		end := k.nameEnd(from)
		name := string(c.Slice(from, end))
		for len(name) > 1 && name[len(name)-1] == ':' {
			name = name[:len(name)-1]
		}
		if !k.marked && !k.isKnown(name) {
			break
		}
		c.Seek(end)
		cand := &Candidate{Named: true, Name: name, Arguments: map[string]any{}}
		next := c.SpaceEnd(end)
		if b, _ := c.At(next); b == ':' {
			next = c.SpaceEnd(next + 1)
		}
		b, ok := c.At(next)
		switch {
		case ok && b == '{':
			c.Seek(next)
			r := lenient.NewReader(c, lenient.Options{Quotes: k.row.Options.Quotes, Close: k.readerClose(), Watch: k.watch})
			k.show(Partial{Name: name, Arguments: r})
			v, err := r.Value()
			if err != nil {
				c.Seek(next)
				if k.broken(next, err) {
					return k.finish()
				}
				return k.fail()
			}
			cand.Arguments = v
			cand.readBy(r)
		case ok && b == '(':
			c.Seek(next + 1)
			if !k.pythonArguments(cand) {
				return k.fail()
			}
		case k.argLabelAt(next) != nil:
			c.Seek(next)
			k.labelledArguments(cand, k.argLabelAt(next))
		case !k.marked:
			return k.fail()
		}
		if !k.marked {
			cand.Provenance, cand.Method = call.Bare, call.MethodBalanced
		}
		k.skipClosing()
		if !k.deliver(cand, c.Offset()) {
			break
		}
	}
	if k.got == 0 {
		return k.fail()
	}
	return k.finish()
}
