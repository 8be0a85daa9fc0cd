package scan

import (
	"bytes"
	"slices"
	"strings"

	"github.com/callwright/callwright/call"
	"github.com/callwright/callwright/dialect"
	"github.com/callwright/callwright/internal/lenient"
)

// lineStart tries what may begin at the beginning of a line, where the cursor is.
func (s *Scanner) lineStart() {
	if s.observing && !s.nothingCounts() {
		s.observing = !s.labelledLine(s.blanks(s.c.Offset()))
	}
	for !s.nothingCounts() && !s.observing && s.lineOpens() {
	}
}

// labelledLine reports whether a label of the protocol of thoughts and actions stands at
// off, or a row's.
func (l *look) labelledLine(off int) bool {
	for _, label := range [...]string{"Thought", "Final Answer", "Question", "Answer"} {
		if l.labelAt(off, label) >= 0 {
			return true
		}
	}
	return slices.ContainsFunc(l.t.labels, func(row *dialect.Row) bool { return l.labelAt(off, row.Options.Label) >= 0 })
}

// endsObservation reports whether a marker at p ends what a tool said: one that models
// are trained to emit, behind an empty line, where the text shows no protocol of labels
// by which the observation would end.
func (s *Scanner) endsObservation(m *marker, p int) bool {
	if m.turn != nil && m.kind != opens {
		return true
	}
	if m.kind != opens || !m.trained || s.thoughtLabel || !bytes.HasSuffix(bytes.TrimRight(s.before(p, 64), " \t"), []byte("\n\n")) {
		return false
	}
	for _, label := range [...]string{"\nThought:", "\nAction:", "\nFinal Answer:"} {
		if _, ok := s.find(p, label); ok {
			return false
		}
	}
	s.observing = false
	return true
}

// lineOpens tries one construct and reports whether it was one, so that another may
// follow.
func (s *Scanner) lineOpens() bool {
	s.flushCertain()
	line := s.c.Offset()
	off := s.blanks(line)
	b, ok := s.c.At(off)
	if !ok || s.exhausted() {
		return false
	}
	if o, only := s.wrappedCalls(off, b); only {
		return o.moved()
	}
	if second, ok := s.c.At(off + 1); !ok || !s.mayBegin(b, second) {
		return false
	}
	switch {
	case b == '>' && !s.o.Everywhere && !s.c.HasPrefixAt(off, ">>>"):
		s.skipLine() // a quotation
		return false
	case b == '\n' || b == '{' || b == '[' || b == '<' || b == '`':
		return false
	}
	// progressed tries a construct, and goes back to the line's beginning if it is none.
	progressed := func(o outcome) bool {
		if o.moved() && s.c.Offset() > line {
			return true
		}
		s.c.Seek(line)
		return false
	}
	for _, m := range s.t.line[b] {
		if end := m.match(s.c, off); end >= 0 && progressed(s.lineMarker(m, off, end)) {
			return true
		}
	}
	if s.protocolLine(off, b) {
		return false
	}
	for _, row := range s.t.labels {
		if first := row.Options.Label[0]; b|0x20 != first|0x20 && b != '*' && b != '#' && b != '_' {
			continue
		}
		if progressed(s.label(line, off, row)) {
			return true
		}
	}
	return s.known() && (isIdentStart(b) || b >= '0' && b <= '9' || b == '-') && progressed(s.nameLine(line, off, b))
}

// latexList begins a list of calls that is written as a formula.
const latexList = `\[`

// quotedCall reads a text that is nothing but a call of a known tool in quotes: as a
// string, or as inline code.
func (s *Scanner) quotedCall(off int, quote byte) outcome {
	c := s.c
	at := off + 1
	if quote == '"' && (c.HasPrefixAt(at, "{") || c.HasPrefixAt(at, "[")) {
		return s.quotedJSON(off)
	}
	end := s.nameEnd(at)
	list := s.known() && s.callListAt(at, false)
	if b, _ := c.At(end); !list && (end == at || b != '(' || !s.callsTool(string(c.Slice(at, end)), end)) {
		return retry
	}
	if _, more := c.At(off + maxBroken); more { // only the text's end tells that there is nothing else
		return retry
	}
	to := c.Limit()
	text := strings.TrimSpace(string(c.Slice(at, to)))
	if len(text) < 2 || text[len(text)-1] != quote {
		return retry
	}
	text = text[:len(text)-1]
	inner, found := s.detached(text)
	inner.marked = false
	k := s.construct(off, off)
	k.ev.Whole = true
	k.row = s.t.without(dialect.BodyPythonic, dialect.InList, nil)
	if list {
		inner.s.listOfCalls(inner, 0)
	} else {
		for inner.pythonCall(true) {
			inner.skipPython(true)
		}
	}
	if !inner.c.EOF() || len(found.found) == 0 {
		return retry
	}
	c.Seek(to)
	for _, cand := range found.found {
		cand.Evidence, cand.Provenance, cand.Method = call.Evidence{}, call.Bare, call.MethodBalanced
		k.deliver(cand, to)
	}
	return k.finish()
}

// quotedJSON reads a text that is one JSON string around a call in JSON.
func (s *Scanner) quotedJSON(off int) outcome {
	k := s.construct(off, off)
	s.c.Seek(off)
	r := lenient.NewReader(s.c, lenient.Options{})
	v, err := r.Value()
	text, ok := v.(string)
	if err != nil || !ok || !s.c.EOFAt(s.c.SpaceEnd(s.c.Offset())) {
		return k.fail()
	}
	v, inner, err := lenient.Parse(strings.TrimSpace(text), lenient.Options{})
	if err != nil {
		return k.fail()
	}
	cand := &Candidate{Value: v, Fixes: r.Fixes, Provenance: call.Bare, Method: call.MethodFullJSON, Truncated: cut(r)}
	cand.readBy(inner)
	k.ev.Whole = true
	k.deliver(cand, s.c.Offset())
	return k.finish()
}

// gluedName reads the object at p as the arguments of a known tool whose name the text
// before it ends with, as in "One moment.get_weather{…}": the special tokens that stood
// between were taken out. The object ends the line, or more such calls follow it.
func (s *Scanner) gluedName(p int) outcome {
	if !s.known() {
		return retry
	}
	before := s.before(p, 256)
	line := bytes.TrimRight(before, " \t")
	if n := len(line); n > 0 && line[n-1] == '\n' {
		line = line[:n-1]
	} else if n < len(before) {
		return retry
	}
	from := len(line)
	for from > 0 && (isName(line[from-1]) || line[from-1] == ':') && line[from-1] < 0x80 {
		from--
	}
	name := s.nameAtEnd(string(line), from)
	if name == "" || !s.fitsObject(p, name) {
		return retry
	}
	k := s.construct(p, p)
	c := s.c
	c.Seek(p)
	r := lenient.NewReader(c, lenient.Options{})
	_, err := r.Value()
	if end := c.Offset(); err != nil || !s.endsHere(end) && s.knownAt(c.SpaceEnd(end)) < 0 {
		return k.fail()
	}
	s.wasted += c.Offset() - p // it is read twice
	c.Seek(p)
	k.ev.MissingOpen = true
	k.row = s.t.without(dialect.BodyNameJSON, dialect.OnLine, func(row *dialect.Row) bool {
		return len(row.Options.Between) == 0 && len(row.Options.Lead) == 0
	})
	return s.namedObjects(k, name)
}

// nameAtEnd returns the known tool's name, or one near to it, with which a text ends whose
// last word begins at from; "" if there is none. The name stands behind a mark that ends
// a sentence or a quotation: one that begins a line was tried there.
func (l *look) nameAtEnd(text string, from int) string {
	for from < len(text) {
		name := text[from:]
		after := from > 0 && strings.IndexByte(".!?:;)]}>\"'*`", text[from-1]) >= 0
		if after && (l.isKnown(name) || l.isNear(name)) {
			return name
		}
		i := strings.IndexAny(name, ".:")
		if i < 0 {
			return ""
		}
		from += i + 1
	}
	return ""
}

// wrappedCalls tries calls in what begins a line with a quote, a backslash or a
// parenthesis. only says that nothing else can stand there.
func (s *Scanner) wrappedCalls(off int, b byte) (o outcome, only bool) {
	switch {
	case isQuote(b) && !s.contentBefore(off):
		return s.quotedCall(off, b), true
	case !s.known():
	case b == '\\' && s.c.HasPrefixAt(off, latexList):
		return s.listOfCalls(s.construct(off, off), off+1), true
	case b == '(':
		return s.listOfCalls(s.construct(off, off), off), true
	}
	return retry, false
}

// lineMarker tries the marker at a line's beginning.
func (s *Scanner) lineMarker(m *marker, off, end int) outcome {
	switch m.kind {
	case opens:
		return s.opened(m, s.construct(off, end), off, end)
	case thinks:
		if s.opensReasoning(off, m.form) {
			return s.reason(m.form, off, end, false)
		}
	case noise:
		return s.turn(m, off, end)
	}
	return retry
}

// protocolLine notes a line of thought, and the beginning of what a tool said, or of what
// the model imagines that it did: nothing in that is a call.
func (s *Scanner) protocolLine(off int, b byte) bool {
	if b == 'T' || b == '*' || b == 't' {
		s.thoughtLabel = s.thoughtLabel || s.labelAt(off, "Thought") >= 0
	}
	if b|0x20 == 'o' && !s.o.Everywhere && s.labelAt(off, "Observation") >= 0 {
		s.observing = true
		s.skipLine()
		return true
	}
	return false
}

// skipLine moves to the line's end: what it says is text.
func (s *Scanner) skipLine() {
	for {
		rest := s.c.Rest()
		i := bytes.IndexByte(rest, '\n')
		if i >= 0 {
			s.note(rest[:i])
			s.c.Skip(i)
			return
		}
		s.note(rest)
		s.c.Skip(len(rest))
		s.flush()
		if !s.c.Fill() {
			return
		}
	}
}

// nameLine tries a line that begins with a known tool's name.
func (s *Scanner) nameLine(line, off int, b byte) outcome {
	c := s.c
	first := off
	if b == '-' || b >= '0' && b <= '9' { // 1. f(a=1)
		end := off
		for {
			n, ok := c.At(end)
			if !ok || n < '0' || n > '9' || end > off+2 {
				break
			}
			end++
		}
		if n, _ := c.At(end); n != '.' && n != ')' && n != '-' {
			return retry
		}
		off = s.blanks(end + 1)
		if next, _ := c.At(off); next == '[' {
			return s.listOfCalls(s.construct(line, line), off)
		}
	}
	if c.HasPrefixAt(off, printCall) {
		return s.printed(line, off)
	}
	end := s.knownAt(off)
	if end < 0 {
		return s.leftOver(line, off)
	}
	n, ok := c.At(end)
	if !ok {
		return retry
	}
	k := s.construct(line, line)
	k.next = first
	k.ev.MissingOpen = true
	for n == ':' { // an index behind the name
		i := s.nameEnd(end + 1)
		if i == end+1 || !s.isKnown(string(c.Slice(off, i))) {
			break
		}
		end = i
		n, _ = c.At(end)
	}
	name := string(c.Slice(off, end))
	next := c.SpaceEnd(end)
	if n == '>' { // functions.f:0>{…}
		next = c.SpaceEnd(end + 1)
	}
	if n == '(' {
		k.row = s.t.without(dialect.BodyPythonic, dialect.OnLine, nil)
		k.ev.MissingOpen = false
		c.Seek(off)
		return pythonicBody{}.read(k)
	}
	if row := s.keyValueLine(next); row != nil {
		k.row, k.marked, k.close = row, true, row.Close
		c.Seek(off)
		return keyValueBody{}.read(k)
	}
	if row, at := s.nameJSONLine(name, n, end, next); at >= 0 && (s.isKnown(name) || s.fitsObject(at, name)) {
		k.row = row
		c.Seek(at)
		return s.namedObjects(k, name)
	}
	if (n == ':' || n == '\n') && s.childFollows(end, name) {
		// The tag's name on a line of its own, and its elements behind it.
		k.row, k.marked = s.t.without(dialect.BodyElements, dialect.OnLine, nil), true
		if k.row == nil {
			return retry
		}
		k.ev.Guess = true
		if n == ':' {
			end++
		}
		c.Seek(c.SpaceEnd(end))
		return k.looseElements(&Candidate{Named: true, Name: name})
	}
	return retry
}

// printCall may stand around calls in Python.
const printCall = "print("

// printed reads print(f(a=1)), with a known tool within, at the beginning of a line.
func (s *Scanner) printed(line, off int) outcome {
	at := s.c.SpaceEnd(off + len(printCall))
	end := s.knownAt(at)
	if end < 0 || s.isKnown("print") {
		return retry
	}
	if b, _ := s.c.At(end); b != '(' {
		return retry
	}
	k := s.construct(line, line)
	k.next, k.row = off, s.t.without(dialect.BodyPythonic, dialect.OnLine, nil)
	s.c.Seek(off)
	return pythonicBody{}.read(k)
}

// keyValueLine returns the row whose first key stands behind a name on a line.
func (l *look) keyValueLine(next int) *dialect.Row {
	return l.t.without(dialect.BodyKeyValue, dialect.OnLine, func(row *dialect.Row) bool {
		return matchAny(l.c, next, tagsOf(&row.Options).keyOpen) >= 0
	})
}

// nameJSONLine returns where the arguments stand behind a known name on a line, and the
// row whose words are there; -1 if there are none. n is the byte behind the name, and
// next the offset behind white space.
func (l *look) nameJSONLine(name string, n byte, end, next int) (*dialect.Row, int) {
	at := next
	b, _ := l.c.At(at)
	switch {
	case n == ':':
		at = l.blanks(end + 1)
		if b, _ := l.c.At(at); b != '{' || !l.objectAt(at) {
			return nil, -1
		}
	case b == '{':
		if !l.objectAt(at) || n != '{' && n != '>' && n != '\n' && n != ' ' {
			return nil, -1
		}
	case l.c.HasPrefixAt(at, "```json\n"):
	default:
		at = -1
	}
	// Of the rows the one counts whose own word stands between, or whose names are ids;
	// else the first that has no word of its own.
	var plain *dialect.Row
	row := l.t.without(dialect.BodyNameJSON, dialect.OnLine, func(row *dialect.Row) bool {
		o := &row.Options
		if end := matchAny(l.c, next, o.Between); end >= 0 {
			at = l.c.SpaceEnd(end)
			return true
		}
		if o.NameIsID {
			return at >= 0 && strings.Contains(name, ":")
		}
		if plain == nil && len(o.Between) == 0 && len(o.Lead) == 0 {
			plain = row
		}
		return false
	})
	if row == nil {
		row = plain
	}
	return row, at
}

// namedObjects reads arguments behind a known name that no marker announced, and more
// names with arguments on its heels: f{…}g{…}.
func (s *Scanner) namedObjects(k *construct, name string) outcome {
	c := s.c
	for {
		before := k.got
		at := c.Offset()
		id := ""
		if strings.Contains(name, ":") {
			id = name
		}
		if !k.arguments(name, id) || k.got == before {
			if k.got == 0 && at > k.start { // the object may be a call of its own
				s.wasted += c.Offset() - at
				c.Seek(at)
			}
			if k.got == 0 {
				return k.fail()
			}
			break
		}
		next := c.SpaceEnd(c.Offset())
		end := s.knownAt(next)
		if end < 0 {
			break
		}
		brace := c.SpaceEnd(end)
		name = string(c.Slice(next, end))
		if b, _ := c.At(brace); b != '{' || !s.objectAt(brace) || !s.isKnown(name) && !s.fitsObject(brace, name) {
			break
		}
		k.next = next
		c.Seek(brace)
	}
	return k.finish()
}

// leftOver tries what is left of a dialect's markers when its special tokens were taken
// out: a word before a known tool's name.
func (s *Scanner) leftOver(line, off int) outcome {
	c := s.c
	for i := range s.t.leads {
		l := &s.t.leads[i]
		if !c.HasPrefixAt(off, l.word) {
			continue
		}
		from := off + len(l.word)
		if l.row.Body == dialect.BodyBraceCall {
			end := s.nameEnd(from)
			if b, _ := c.At(end); b != '{' || !s.isKnown(string(c.Slice(from, end))) {
				continue
			}
			k := s.construct(line, line)
			k.row, k.next = l.row, off
			c.Seek(off)
			return braceCallBody{}.read(k)
		}
		end := s.knownAt(from)
		if end < 0 || !c.HasPrefixAt(c.SpaceEnd(end), "```json") {
			continue
		}
		k := s.construct(line, line)
		k.row, k.next = l.row, off
		c.Seek(c.SpaceEnd(end))
		return s.namedObjects(k, string(c.Slice(from, end)))
	}
	return retry
}

// childFollows reports whether on the line behind a tool's name its elements stand.
func (l *look) childFollows(end int, name string) bool {
	if b, _ := l.c.At(end); b == ':' {
		end++
	}
	at := l.c.SpaceEnd(end)
	if b, _ := l.c.At(at); b != '<' {
		return false
	}
	tool := l.lookup(name)
	t, ok := l.tag(at)
	return ok && !t.close && tool != nil && hasProperty(tool, t.word)
}
