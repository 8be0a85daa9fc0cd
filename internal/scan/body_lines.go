package scan

import (
	"slices"
	"strings"

	"github.com/callwright/callwright/dialect"
	"github.com/callwright/callwright/internal/lenient"
)

// quotedLinesBody is key:「始」value「末」, line after line, between a row's quotes.
type quotedLinesBody struct{}

func (quotedLinesBody) at(l *look, off int, rows []*dialect.Row) (int, bool) {
	b, _ := l.c.At(off)
	quoted := func(d *dialect.Row) bool { return d.Body == dialect.BodyLines && len(d.Options.ValueQuotes) == 2 }
	return off, isIdentStart(b) && slices.ContainsFunc(rows, quoted)
}

func (quotedLinesBody) read(k *construct) outcome {
	c := k.c
	q := k.row.Options.ValueQuotes
	args := map[string]any{}
	for {
		at := c.SpaceEnd(c.Offset())
		if b, _ := c.At(at); b == ',' {
			at = c.SpaceEnd(at + 1)
		}
		end := k.nameEnd(at)
		if end == at {
			c.Seek(at)
			break
		}
		key := string(c.Slice(at, end))
		next := end
		if b, _ := c.At(next); b == ':' {
			next++
		}
		next = k.blanks(next)
		if !c.HasPrefixAt(next, q[0]) {
			c.Seek(at)
			break
		}
		start := next + len(q[0])
		to, ok := k.find(start, q[1])
		if !ok {
			c.Seek(c.Limit())
			break
		}
		args[key] = lenient.Text(lenient.ValidUTF8(c.Slice(start, to-len(q[1]))))
		c.Seek(to)
	}
	name, _ := args["tool_name"].(lenient.Text)
	if name == "" {
		return k.fail()
	}
	delete(args, "tool_name")
	k.skipClosing()
	k.deliver(&Candidate{Named: true, Name: string(name), Arguments: args}, c.Offset())
	return k.finish()
}

// argLabelAt returns the row whose label of an argument stands at off, nil if none
// does.
func (l *look) argLabelAt(off int) *dialect.Row {
	for _, row := range l.t.labels {
		if w := row.Options.ArgLabels; len(w) == 2 && l.c.HasPrefixAt(off, w[0]+":") {
			return row
		}
	}
	return nil
}

// labelledArguments reads arguments between a row's labels: BEGIN_ARG: key, the value
// on lines of its own, END_ARG.
func (k *construct) labelledArguments(cand *Candidate, row *dialect.Row) {
	first, last := row.Options.ArgLabels[0], row.Options.ArgLabels[1]
	c := k.c
	args, _ := cand.Arguments.(map[string]any)
	for {
		at := c.SpaceEnd(c.Offset())
		after := k.labelAt(at, first)
		if after < 0 {
			break
		}
		lineEnd := after
		for {
			b, ok := c.At(lineEnd)
			if !ok || b == '\n' {
				break
			}
			lineEnd++
		}
		key := strings.TrimSpace(string(c.Slice(after, lineEnd)))
		start := min(lineEnd+1, c.Limit())
		end, next := -1, -1
		for off := start; ; off++ {
			b, ok := c.At(off)
			if !ok {
				break
			}
			if b == last[0] && c.HasPrefixAt(off, last) && k.lineBefore(off, start) {
				end, next = off, off+len(last)
				break
			}
			if b == first[0] && c.HasPrefixAt(off, first+":") && k.lineBefore(off, start) {
				end, next = off, off
				break
			}
			if b == '`' && c.HasPrefixAt(off, "```") && k.lineBefore(off, start) && k.fenced && c.EOFAt(c.SpaceEnd(off+3)) {
				end, next = off, off
				break
			}
		}
		if end < 0 {
			end, next = c.Limit(), c.Limit()
			cand.cutIn(key)
		}
		raw := lenient.ValidUTF8([]byte(trimNewlines(string(c.Slice(start, end)))))
		c.Seek(next)
		if t := strings.TrimSpace(raw); len(t) > 1 && t[0] == '"' && t[len(t)-1] == '"' {
			if v, r, err := lenient.Parse(t, lenient.Options{}); err == nil && !r.Fixes.Any() {
				raw, _ = v.(string)
			}
		}
		args[key] = lenient.Text(raw)
	}
}
