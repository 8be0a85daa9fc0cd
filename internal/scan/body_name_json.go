package scan

import (
	"strings"

	"github.com/callwright/callwright/dialect"
	"github.com/callwright/callwright/internal/lenient"
)

// nameJSONBody is a name followed by its arguments in JSON, again and again.
type nameJSONBody struct{}

func (nameJSONBody) at(l *look, off int, rows []*dialect.Row) (int, bool) {
	b, _ := l.c.At(off)
	switch {
	case b == '{' || b == '[' || b == '<':
		return off, false
	case b == '"':
		return off, l.nameThenJSON(off+1, rows)
	case l.nameThenJSON(off, rows):
		return off, true
	case b < 0x80 && !isIdentStart(b) && b != '$':
		return off, false
	}
	end := l.nameEnd(off)
	if end == off {
		return off, false
	}
	next := l.c.SpaceEnd(end)
	n, ok := l.c.At(next)
	switch b, _ := l.c.At(end); b {
	case '{':
		return off, true
	case '(':
		return off, false
	case ':':
		n, _ := l.c.At(l.c.SpaceEnd(end + 1))
		return off, n == '{' && hasBody(rows, dialect.BodyJSON)
	}
	known := func() bool {
		return hasBody(rows, dialect.BodyNameJSON) || !l.known() || l.isKnown(string(l.c.Slice(off, end)))
	}
	return off, ok && n == '{' && l.objectAt(next) && known()
}

// nameThenJSON reports whether a name and then its arguments, or a row's marker between
// them, stand at off.
func (l *look) nameThenJSON(off int, rows []*dialect.Row) bool {
	for _, row := range rows {
		if row.Body != dialect.BodyNameJSON {
			continue
		}
		o := &row.Options
		at := off
		for range 4 {
			next := matchAny(l.c, at, o.Lead)
			if next < 0 {
				break
			}
			at = l.c.SpaceEnd(next)
		}
		end := l.nameEnd(at)
		if b, _ := l.c.At(end); b == '"' {
			end++
		}
		if end == at {
			continue
		}
		next := l.c.SpaceEnd(end)
		if o.IDFirst != "" {
			if matchAny(l.c, next, []string{o.IDFirst}) >= 0 {
				return true
			}
			continue
		}
		if o.ID != "" && l.c.HasPrefixAt(next, o.ID) {
			return true
		}
		if e := matchAny(l.c, next, o.Between); e >= 0 {
			if t, ok := l.tag(l.c.SpaceEnd(e)); ok && !t.close && t.call() {
				continue // tags follow: another body
			}
			return true
		}
		b, ok := l.c.At(next)
		if ok && b == '{' && l.objectAt(next) || l.c.HasPrefixAt(next, "```") {
			return true
		}
		if next > end || !ok {
			if l.isKnown(string(l.c.Slice(at, end))) && (!ok || l.closer(next, row.Close) >= 0) {
				return true // a call without arguments
			}
		}
	}
	return false
}

func (nameJSONBody) read(k *construct) outcome {
	for first := true; ; first = false {
		at := k.c.SpaceEnd(k.c.Offset())
		if !first {
			// More calls behind one marker follow it without a new one only where their
			// names are known.
			if b, ok := k.c.At(at); ok && (b == ',' || b == ';') {
				at = k.c.SpaceEnd(at + 1)
			}
			end := k.nameEnd(at)
			if end == at || !k.isKnown(string(k.c.Slice(at, end))) || !k.nameThenJSON(at, []*dialect.Row{k.row}) {
				break
			}
			k.next = at
		}
		k.c.Seek(at)
		if !k.nameAndArguments() {
			if k.got == 0 {
				return k.fail()
			}
			break
		}
	}
	return k.finish()
}

// nameAndArguments reads one name with its arguments and what closes them.
func (k *construct) nameAndArguments() bool {
	c, o := k.c, &k.row.Options
	for range 4 {
		end := matchAny(c, c.Offset(), o.Lead)
		if end < 0 {
			break
		}
		c.Seek(c.SpaceEnd(end))
	}
	id := ""
	if o.IDFirst != "" {
		from := c.Offset()
		to := k.nameEnd(from)
		if end := matchAny(c, c.SpaceEnd(to), []string{o.IDFirst}); end >= 0 {
			id = string(c.Slice(from, to))
			c.Seek(c.SpaceEnd(end))
		}
	}
	quoted := c.Peek() == '"'
	if quoted {
		c.Skip(1)
	}
	from := c.Offset()
	to := k.nameEnd(from)
	if to == from {
		return false
	}
	name := string(c.Slice(from, to))
	if quoted && c.HasPrefixAt(to, `"`) {
		to++
	}
	if o.NameIsID {
		id = name
	}
	c.Seek(c.SpaceEnd(to))
	for range 6 {
		at := c.Offset()
		if o.ID != "" && c.HasPrefixAt(at, o.ID) {
			from := at + len(o.ID)
			to := k.nameEnd(from)
			id = string(c.Slice(from, to))
			c.Seek(c.SpaceEnd(to))
			continue
		}
		if end := matchAny(c, at, o.Between); end >= 0 {
			c.Seek(c.SpaceEnd(end))
			continue
		}
		if b, ok := c.At(at); ok && (b == ':' || b == '>') {
			c.Seek(c.SpaceEnd(at + 1))
			continue
		}
		break
	}
	return k.arguments(name, id)
}

// arguments reads the JSON arguments of a call whose name is known, with an optional
// fence around them, and delivers the call.
func (k *construct) arguments(name, id string) bool {
	c := k.c
	fence := k.skipFence()
	cand := &Candidate{Named: true, Name: name, ID: id}
	b, ok := c.At(c.Offset())
	switch {
	case ok && (b == '{' || b == '[' && k.listOfObjects(c.Offset()) || b == '"' && fence):
		r := lenient.NewReader(c, lenient.Options{Close: k.readerClose(), Watch: k.watch})
		k.show(Partial{Name: name, ID: id, Arguments: r})
		from := c.Offset()
		v, err := r.Value()
		if err != nil {
			c.Seek(from)
			return k.broken(from, err)
		}
		cand.Arguments = v
		cand.readBy(r)
	case !ok || k.closer(c.Offset(), k.close) >= 0 || k.endsTurn(c.Offset()):
		cand.Arguments = map[string]any{}
		cand.Truncated = !ok && len(k.close) > 0 && (!k.isKnown(name) || k.takesArguments(name))
	case k.isKnown(name) && k.marked && b != '<' && b != '[':
		// Raw text for the only parameter, such as code.
		end := k.rawEnd(c.Offset(), k.close)
		cand.Arguments = lenient.Text(strings.TrimSpace(string(c.Slice(c.Offset(), end))))
		cand.Evidence.Guess = true
		cand.Truncated = c.EOFAt(end)
		c.Seek(end)
	default:
		cand.Arguments = map[string]any{}
	}
	if fence {
		k.skipFence()
	}
	for range 2 { // braces too many are no text
		at := c.SpaceEnd(c.Offset())
		if b, ok := c.At(at); !ok || b != '}' || cand.Truncated {
			break
		}
		cand.Fixes.Add(at, lenient.ExtraClose)
		c.Seek(at + 1)
	}
	k.skipClosing()
	return k.deliver(cand, c.Offset())
}
