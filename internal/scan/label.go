package scan

import (
	"slices"
	"strings"

	"github.com/callwright/callwright/dialect"
	"github.com/callwright/callwright/internal/lenient"
)

// labelAt returns the offset behind a label and its colon at off, or -1: the word
// in any case, bold or numbered, with a colon of any width.
func (l *look) labelAt(off int, word string) int {
	c := l.c
	for range 4 {
		if b, _ := c.At(off); b != '*' && b != '#' && b != '_' && b != ' ' {
			break
		}
		off++
	}
	for i := range len(word) {
		b, ok := c.At(off + i)
		if !ok || b|0x20 != word[i]|0x20 {
			return -1
		}
	}
	off += len(word)
	for range 8 { // " 1", "**"
		b, _ := c.At(off)
		if b != ' ' && b != '*' && b != '_' && (b < '0' || b > '9') {
			break
		}
		off++
	}
	switch b, _ := c.At(off); {
	case b == ':':
		off++
	case b == 0xEF && c.HasPrefixAt(off, "："):
		off += len("：")
	default:
		return -1
	}
	for range 2 {
		if b, _ := c.At(off); b == '*' {
			off++
		}
	}
	return off
}

// stops reports whether one of the words and a colon stand at off.
func (l *look) stops(off int, words []string) bool {
	for _, w := range words {
		if l.labelAt(off, w) >= 0 {
			return true
		}
	}
	return false
}

// label tries whether a row's label begins a call at the start of a line.
func (s *Scanner) label(line, off int, row *dialect.Row) outcome {
	o := &row.Options
	after := s.labelAt(off, o.Label)
	if after < 0 {
		return retry
	}
	k := s.construct(line, line)
	k.row, k.next, k.marked, k.close = row, off, true, row.Close
	c := k.c
	at := k.blanks(after)
	if b, _ := c.At(at); b == '\n' {
		at = c.SpaceEnd(at)
	}
	b, ok := c.At(at)
	if !ok {
		return retry
	}
	switch {
	case b == '{' && k.objectAt(at) || b == '[' && k.listOfObjects(at):
		if o.Input != "" { // JSON in the place of a name
			k.row = s.labelled(o.Label, func(d *dialect.Row) bool { return d.Options.Input == "" }, row)
		}
		c.Seek(at)
		return jsonBody{}.read(k)
	case c.HasPrefixAt(at, "```"):
		c.Seek(at)
		k.skipFence()
		if b := c.Peek(); b != '{' && b != '[' {
			c.Seek(line)
			return retry
		}
		k.fenced = true
		if c.Peek() == '[' {
			k.row = s.labelled(o.Label, func(d *dialect.Row) bool { return slices.Contains(d.Options.WithoutMarker, dialect.InFence) }, row)
		}
		return jsonBody{}.read(k)
	case o.Input == "":
		return retry
	}
	end := at
	for end < at+maxName {
		b, ok := c.At(end)
		if !ok || b == '\n' {
			break
		}
		end++
	}
	text := string(c.Slice(at, end))
	name := strings.Trim(strings.TrimSpace(text), "`*\"'[]<> ")
	if i := strings.IndexAny(name, "(["); i > 0 && k.isKnown(strings.TrimSpace(name[:i])) {
		// Action: f(a=1), or f[x]
		if name[i] == '(' {
			c.Seek(at + strings.Index(text, name[:i]))
			return pythonicBody{}.read(k)
		}
		cand := &Candidate{Named: true, Name: strings.TrimSpace(name[:i]), Arguments: lenient.Text(strings.TrimSuffix(name[i+1:], "]"))}
		c.Seek(end)
		k.deliver(cand, end)
		return s.endReact(k)
	}
	if name == "" || strings.ContainsAny(name, " \t") && !k.isKnown(name) {
		return retry
	}
	cand := &Candidate{Named: true, Name: name}
	input := k.labelAt(c.SpaceEnd(end), o.Input)
	if input < 0 {
		if !k.isKnown(name) || !c.EOFAt(c.SpaceEnd(end)) && !k.stops(c.SpaceEnd(end), o.Stop) {
			return retry
		}
		cand.Arguments = map[string]any{}
		c.Seek(end)
		k.deliver(cand, end)
		return s.endReact(k)
	}
	k.reactInput(cand, input)
	k.deliver(cand, c.Offset())
	return s.endReact(k)
}

// labelled returns the first row of a label that fits, or else another.
func (l *look) labelled(label string, fits func(*dialect.Row) bool, other *dialect.Row) *dialect.Row {
	for _, row := range l.t.labels {
		if row.Options.Label == label && fits(row) {
			return row
		}
	}
	return other
}

// reactInput reads the arguments behind their label: JSON, pairs, or text.
func (k *construct) reactInput(cand *Candidate, from int) {
	c := k.c
	at := k.blanks(from)
	if b, _ := c.At(at); b == '\n' {
		if next := c.SpaceEnd(at); !k.stops(next, k.row.Options.Stop) {
			at = next
		}
	}
	c.Seek(at)
	fence := k.skipFence()
	at = c.Offset()
	b, ok := c.At(at)
	if ok && (b == '{' || b == '[' && k.listOfObjects(at)) {
		r := lenient.NewReader(c, lenient.Options{Watch: k.watch})
		k.show(Partial{Name: cand.Name, Arguments: r})
		v, err := r.Value()
		if err == nil {
			cand.Arguments = v
			cand.readBy(r)
			if end := c.SpaceEnd(c.Offset()); fence && c.HasPrefixAt(end, "```") {
				c.Seek(end + len("```")) // its line's end is the next line's matter
			}
			return
		}
		c.Seek(at)
	}
	end := k.inputEnd()
	text := strings.TrimSpace(string(c.Slice(at, end)))
	if fence {
		text = strings.TrimSpace(strings.TrimSuffix(text, "```"))
	}
	c.Seek(end)
	if c.EOF() && strings.Trim(text, "`") == "" && (fence || text != "") {
		cand.Truncated = true // within a fence, or its marker
	}
	if c.EOF() && c.CutOff() {
		cand.cutIn("")
	}
	if args, ok := k.pairs(text); ok {
		cand.Arguments = args
		return
	}
	if n := len(text); n >= 2 && (text[0] == '"' || text[0] == '\'') && text[n-1] == text[0] {
		if v, r, err := lenient.Parse(text, lenient.Options{Python: true}); err == nil && !r.Fixes.Has(lenient.UnescapedQuote) {
			text, _ = v.(string)
		}
	}
	if text == "" || text == "None" || text == "N/A" || slices.Contains(k.row.Options.Stop, text) {
		cand.Arguments = map[string]any{}
		return
	}
	cand.Arguments = lenient.Text(text)
}

// inputEnd returns where arguments that are text end: at the next label's line.
func (k *construct) inputEnd() int {
	for off := k.c.Offset(); ; off++ {
		b, ok := k.c.At(off)
		if !ok {
			return off
		}
		if b == '\n' && (k.stops(off+1, k.row.Options.Stop) || k.labelAt(off+1, k.row.Options.Label) >= 0) {
			return off
		}
		if b == '<' && k.endsTurn(off) {
			return off
		}
	}
}

// pairs reads city="Rome", days=2.
func (l *look) pairs(text string) (map[string]any, bool) {
	key, _, ok := strings.Cut(text, "=")
	key = strings.TrimSpace(key)
	if !ok || key == "" || strings.Trim(key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != "" {
		return nil, false
	}
	k, _ := l.detached(text + ")")
	cand := &Candidate{}
	if !k.pythonArguments(cand) || cand.Truncated || len(cand.Positional) > 0 || !k.c.EOF() {
		return nil, false
	}
	return cand.Arguments.(map[string]any), true
}

// endReact ends a call of lines. What the model then imagines that it observed,
// and all behind it, is no one's word.
func (s *Scanner) endReact(k *construct) outcome {
	if k.got == 0 {
		return k.fail()
	}
	thought := s.thoughtBefore(k.start)
	if thought && !s.reasoned {
		s.content(min(s.textEnd, k.start))
		s.sink.Recast()
		s.hasContent, s.reasoned = false, true
	}
	next := s.c.SpaceEnd(s.c.Offset())
	k.finish()
	if s.labelAt(next, "Observation") >= 0 {
		for s.c.Seek(s.c.Limit()); s.c.Fill(); s.c.Seek(s.c.Limit()) {
			s.c.Keep(s.c.Limit())
		}
		s.handed = next
		s.drop(next, s.c.Limit(), WhyInventedObserving)
	}
	return taken
}

// thoughtBefore reports whether the text before a call is a thought of the same
// protocol.
func (s *Scanner) thoughtBefore(p int) bool {
	if s.segment > 0 || s.c.Kept() > 0 {
		return s.thoughtLabel
	}
	text := strings.ToLower(strings.TrimLeft(string(s.c.Slice(0, min(p, 32))), "*# \n"))
	return strings.HasPrefix(text, "thought")
}
