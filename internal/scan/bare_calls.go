package scan

import (
	"bytes"
	"strings"

	"github.com/callwright/callwright/call"
	"github.com/callwright/callwright/dialect"
	"github.com/callwright/callwright/internal/lenient"
)

// Models that were asked for a list of calls write it in many ways:
//
//	[f(a=1), g(b=2)]            [f(a=1) + g(b=2)]        [f(a=1)], [g(b=2)]
//	['f(a=1)', 'g(b=2)']        ['f'(a=1)]               [{'f(a=1)'}, {'g(b=2)'}]
//	['f', {'a': 1}]             [('f', {'a': 1}), …]     [['f', {'a': 1}], …]
//	[('f', 'a=1', 'b=2')]       [{'name': 'f', …}, g(b=2)]
//
// All of them are read here. What is read is delivered together: of a list in which one
// call cannot be read none is made.

// maxListDepth bounds the brackets around the calls of a list.
const maxListDepth = 4

// Operators that stand between the calls of a list, as between values, and between calls
// that are statements.
const (
	listOperators      = ",;+|&-*/"
	statementOperators = ",;+|&"
)

// callListAt reports whether a list whose first element is a call begins at off: brackets
// and quotes, a tool's name, and what makes it a call. anyName says that the name need
// not be a known tool's.
func (l *look) callListAt(off int, anyName bool) bool {
	c := l.c
	for depth := 0; ; depth++ {
		b, ok := c.At(off)
		if !ok || depth > maxListDepth {
			return false
		}
		if b == '[' || b == '(' || b == '{' {
			off = c.SpaceEnd(off + 1)
			continue
		}
		if depth == 0 {
			return false
		}
		return l.listedCallAt(off, anyName)
	}
}

// listedCallAt reports whether a call as it stands in lists begins at off.
func (l *look) listedCallAt(off int, anyName bool) bool {
	c := l.c
	quoted := byte(0)
	if b, _ := c.At(off); isQuote(b) {
		quoted = b
		off++
	}
	end := l.nameEnd(off)
	b, ok := c.At(end)
	if end == off || !ok {
		return false
	}
	if b != '(' && b != quoted && (quoted != 0 || b != ',') {
		return false
	}
	name := string(c.Slice(off, end))
	if b == '(' {
		return anyName && quoted == 0 || l.callsTool(name, end)
	}
	if !l.isKnown(name) && !l.isNear(name) {
		return false
	}
	next := end
	if quoted != 0 {
		next = l.blanks(end + 1)
	}
	switch b, _ := c.At(next); b {
	case '(':
		return quoted != 0
	case ',', ':':
		at := c.SpaceEnd(next + 1)
		return quoted != 0 && l.pairFollows(at, name) || l.keywordAt(at, name)
	}
	return false
}

// callsTool reports whether a name, with a parenthesis at an offset behind it, calls a
// known tool. Where the name is only near to a tool's the first argument has to fit.
func (l *look) callsTool(name string, open int) bool {
	if l.isKnown(name) {
		return true
	}
	if !l.isNear(name) {
		return false
	}
	at := l.c.SpaceEnd(open + 1)
	if b, _ := l.c.At(at); b == '{' {
		return l.fitsObject(at, name)
	}
	return l.keywordAt(at, name)
}

// keywordAt reports whether a parameter of a tool of this name and an equals sign stand
// at off.
func (l *look) keywordAt(off int, name string) bool {
	end := l.nameEnd(off)
	b, _ := l.c.At(l.blanks(end))
	tool := l.lookup(name)
	return end > off && b == '=' && tool != nil && hasProperty(tool, strings.ReplaceAll(string(l.c.Slice(off, end)), `\_`, "_"))
}

// pairFollows reports whether arguments stand at off, behind a tool's name and a comma: an
// object, or strings of a name and a value.
func (l *look) pairFollows(off int, name string) bool {
	b, _ := l.c.At(off)
	if isQuote(b) {
		return l.keywordAt(off+1, name)
	}
	return b == '{' && l.fitsObject(off, name)
}

func isQuote(b byte) bool { return b == '"' || b == '\'' || b == '`' }

// bareCalls reads a list of calls without a marker, at the beginning of a line or behind
// what announces it on its line, as in "tool calls: [f(a=1)]".
func (s *Scanner) bareCalls(p int) outcome {
	if !s.callListAt(p, !s.known()) {
		return retry
	}
	k := s.construct(p, p)
	if !k.ev.LineStart && !s.announced(p) {
		return retry
	}
	return s.listOfCalls(k, p)
}

// announced reports whether a colon stands before p on its line.
func (s *Scanner) announced(p int) bool {
	return bytes.HasSuffix(bytes.TrimRight(s.before(p, 64), " "), []byte(":"))
}

// callList reads a list of calls.
type callList struct {
	*construct
	depth   int
	anyName bool
	found   []listedCall
}

// listedCall is a call of a list, and where it stands.
type listedCall struct {
	*Candidate
	from, to int
}

// listOfCalls reads the list of calls at an offset in a construct that begins there or
// before it.
func (s *Scanner) listOfCalls(k *construct, at int) outcome {
	anyName := !s.known() && (k.marked || !s.contentBefore(k.start))
	if !s.callListAt(at, anyName) {
		return retry
	}
	l := &callList{construct: k, anyName: anyName}
	k.c.Seek(at)
	whole := l.read()
	if len(l.found) == 0 || !whole && len(l.found) == 1 && !l.separated() || !k.ev.LineStart && !k.marked && !k.endsHere(k.c.Offset()) {
		return k.fail()
	}
	if !k.marked && k.ev.Fence == "" {
		k.row = s.t.without(dialect.BodyPythonic, dialect.InList, nil)
		if s.stringsHoldCalls(at) {
			k.row = s.t.without(dialect.BodyJSON, dialect.InList, nil)
		}
	}
	end := k.c.Offset()
	k.lead()
	k.follow(end)
	for i, x := range l.found {
		if !whole {
			x.Err = ErrList
		}
		if i > 0 || k.got > 0 {
			k.next = x.from
		}
		if k.ev.Fence == "" {
			x.Provenance, x.Method = k.provenance(), call.MethodBalanced
		} else {
			x.Method = call.MethodCodeblock
		}
		k.c.Seek(x.to)
		k.deliver(x.Candidate, x.to)
	}
	k.c.Seek(end)
	if k.got == 0 {
		return k.fail()
	}
	if k.ev.Fence != "" {
		return taken // the fence's end is its reader's matter
	}
	return k.finish()
}

// stringsHoldCalls reports whether the list at an offset is one of strings, and the first
// of them holds a call.
func (l *look) stringsHoldCalls(at int) bool {
	first := l.c.SpaceEnd(at + 1)
	if b, _ := l.c.At(first); !isQuote(b) {
		return false
	}
	b, _ := l.c.At(l.nameEnd(first + 1))
	return b == '('
}

// separated reports whether the reader stopped behind a separator that follows the first
// call of a list, and so within the list.
func (l *callList) separated() bool {
	return l.c.Offset() > l.found[0].to
}

// read reads elements up to the list's end, and reports whether all of them are calls.
func (l *callList) read() bool {
	c := l.c
	for {
		from := c.Offset()
		at := l.skipBetween(from)
		b, ok := c.At(at)
		switch {
		case !ok:
			c.Seek(at)
			return true // the text ends: what is whole is whole
		case b == '\\' && c.HasPrefixAt(at, `\]`), b == ']' || b == ')' || b == '}':
			c.Seek(at + 1)
			if b == '\\' {
				c.Skip(1)
			}
			if l.depth--; l.depth <= 0 && !l.goesOnWithList() {
				return true
			}
			l.skipSubscript()
		case (b == '[' || b == '(' || b == '{') && l.opens(at):
			if l.depth++; l.depth > maxListDepth {
				return false
			}
			c.Seek(at + 1)
		case len(l.found) > 0 && l.ends(from, at):
			c.Seek(from)
			return true
		default:
			c.Seek(at)
			if !l.element(at, b) {
				return false
			}
			if l.skipSubscript(); l.depth <= 0 && !l.goesOnWithList() {
				return true
			}
		}
	}
}

// skipBetween returns the offset behind white space and what separates the elements of
// a list.
func (l *callList) skipBetween(off int) int {
	for {
		off = l.c.SpaceEnd(off)
		b, ok := l.c.At(off)
		switch {
		case !ok:
			return off
		case len(l.found) > 0 && strings.IndexByte(listOperators, b) >= 0:
			off++
		case len(l.found) > 0 && b == 'a' && l.c.HasPrefixAt(off, "and "):
			off += len("and ")
		case b == '#':
			for {
				b, ok := l.c.At(off)
				if !ok || b == '\n' {
					break
				}
				off++
			}
		default:
			return off
		}
	}
}

// opens reports whether the bracket at off stands around calls rather than being a value.
func (l *callList) opens(off int) bool {
	if b, _ := l.c.At(off); b == '[' {
		if next, _ := l.c.At(l.c.SpaceEnd(off + 1)); next == '{' {
			return true
		}
	}
	return l.callListAt(off, l.anyName)
}

// ends reports whether a list without its last bracket ends at from: an empty line or a
// fence follows.
func (l *callList) ends(from, at int) bool {
	if l.c.HasPrefixAt(at, "```") {
		return true
	}
	lines := 0
	for off := from; off < at; off++ {
		if b, _ := l.c.At(off); b == '\n' {
			lines++
		} else if b != ' ' && b != '\r' {
			return false
		}
	}
	return lines > 1
}

// goesOnWithList reports whether another list, or a call, follows behind an operator.
func (l *callList) goesOnWithList() bool {
	l.skipSubscript()
	at := l.c.Offset()
	next := l.skipBetween(at)
	if next == at || !strings.ContainsAny(string(l.c.Slice(at, next)), listOperators) {
		return false
	}
	return l.callListAt(next, l.anyName) || l.listedCallAt(next, false)
}

// skipSubscript moves behind what takes a part of a call's result: [0], ['name'].
func (l *callList) skipSubscript() {
	const longest = 64
	c := l.c
	for {
		at := c.Offset()
		if b, _ := c.At(at); b != '[' {
			return
		}
		first, _ := c.At(at + 1)
		if !isQuote(first) && (first < '0' || first > '9') {
			return
		}
		end := at + 1
		for {
			b, ok := c.At(end)
			if !ok || end-at > longest || b == '\n' || b == '(' || b == '{' {
				return
			}
			end++
			if b == ']' {
				break
			}
		}
		c.Seek(end)
	}
}

// element reads one call at the cursor and reports whether it is one.
func (l *callList) element(at int, b byte) bool {
	c := l.c
	switch {
	case b == '{':
		r := lenient.NewReader(c, lenient.Options{Python: true})
		v, err := r.Value()
		if err != nil {
			return false
		}
		cand := &Candidate{Value: v}
		cand.readBy(r)
		l.add(cand, at)
		return true
	case isQuote(b):
		return l.quoted(at, b)
	}
	end := l.nameEnd(at)
	switch next, _ := c.At(end); {
	case end == at:
		return false
	case next == '(':
		return l.call(at, end) // of no known tool: that is to be told
	case next == ',':
		return l.keywords(at, string(c.Slice(at, end)), c.SpaceEnd(end+1))
	}
	return false
}

// call reads a call whose name stands from one offset to another, where a parenthesis is.
func (l *callList) call(from, open int) bool {
	cand := &Candidate{Named: true, Name: strings.ReplaceAll(string(l.c.Slice(from, l.trimName(from, open))), `\_`, "_")}
	l.c.Seek(open + 1)
	if !l.pythonArguments(cand) {
		return false
	}
	l.add(cand, from)
	return true
}

// trimName returns where a name ends that a quote may follow.
func (l *callList) trimName(from, end int) int {
	for end > from {
		if b, _ := l.c.At(end - 1); !isQuote(b) && b != ' ' {
			break
		}
		end--
	}
	return end
}

func (l *callList) add(cand *Candidate, from int) {
	l.found = append(l.found, listedCall{cand, from, l.c.Offset()})
}

// quoted reads an element that begins with a quote: a call in a string, or a name with its
// arguments behind it.
func (l *callList) quoted(at int, quote byte) bool {
	c := l.c
	from := at + 1
	end := l.nameEnd(from)
	name := string(c.Slice(from, end))
	b, _ := c.At(end)
	if end == from || b != '(' && !l.isKnown(name) && !l.isNear(name) {
		return l.note(at)
	}
	if b == '(' {
		if l.escaped(end) {
			return l.inString(at)
		}
		if !l.call(from, end) {
			return false
		}
		at := c.SpaceEnd(c.Offset())
		if c.HasPrefixAt(at, ","+string(quote)) {
			at++
		}
		if c.HasPrefixAt(at, string(quote)) {
			c.Seek(at + 1)
		}
		return true
	}
	if b != quote {
		return false
	}
	next := l.blanks(end + 1)
	switch b, _ := c.At(next); b {
	case '(':
		return l.call(from, next)
	case ',', ':':
		return l.pair(at, name, c.SpaceEnd(next+1))
	}
	return false
}

// keywords reads a name's arguments at off without a parenthesis: ['f', a=1, b=2].
func (l *callList) keywords(at int, name string, off int) bool {
	if !l.keywordAt(off, name) {
		return false
	}
	cand := &Candidate{Named: true, Name: name}
	l.c.Seek(off)
	if !l.pythonArguments(cand) {
		return false
	}
	cand.Fixes.Add(off, lenient.MissingClose)
	l.add(cand, at)
	return true
}

// note moves over a string between calls that is none, such as a remark.
func (l *callList) note(at int) bool {
	l.c.Seek(at)
	r := lenient.NewReader(l.c, lenient.Options{Python: true})
	v, err := r.Value()
	text, ok := v.(string)
	return err == nil && ok && len(l.found) > 0 && !strings.ContainsAny(text, "({")
}

// escaped reports whether the first quote behind off is escaped: the call is to be
// decoded as a string before it can be read.
func (l *callList) escaped(off int) bool {
	const longest = 512
	for end := off; end < off+longest; end++ {
		b, ok := l.c.At(end)
		if !ok || b == '\n' || b == '"' || b == '\'' {
			return false
		}
		if b == '\\' {
			next, _ := l.c.At(end + 1)
			return next == '"' || next == '\''
		}
	}
	return false
}

// inString reads a string that is one call.
func (l *callList) inString(at int) bool {
	r := lenient.NewReader(l.c, lenient.Options{Python: true})
	v, err := r.Value()
	text, _ := v.(string)
	if err != nil || text == "" {
		return false
	}
	inner, found := l.detached(text)
	if !inner.pythonCall(true) || len(found.found) != 1 {
		return false
	}
	if inner.c.SkipSpace(); !inner.c.EOF() {
		return false
	}
	cand := found.found[0]
	cand.Fixes.Merge(&r.Fixes)
	cand.Evidence = call.Evidence{}
	l.add(cand, at)
	return true
}

// pair reads a name's arguments at off: an object, or strings of a name and a value.
func (l *callList) pair(at int, name string, off int) bool {
	c := l.c
	if l.keywordAt(off, name) {
		return l.keywords(at, name, off)
	}
	if !l.pairFollows(off, name) {
		return false
	}
	cand := &Candidate{Named: true, Name: name}
	c.Seek(off)
	if b, _ := c.At(off); b == '{' {
		r := lenient.NewReader(c, lenient.Options{Python: true})
		v, err := r.Value()
		if err != nil {
			return false
		}
		cand.Arguments, cand.Fixes, cand.Truncated = v, r.Fixes, cut(r)
		l.add(cand, at)
		return true
	}
	args := map[string]any{}
	for {
		b, _ := c.At(c.Offset())
		if !isQuote(b) || !l.keywordAt(c.Offset()+1, name) {
			break
		}
		r := lenient.NewReader(c, lenient.Options{Python: true})
		v, err := r.Value()
		text, _ := v.(string)
		key, value, ok := strings.Cut(text, "=")
		if err != nil || !ok {
			return false
		}
		args[strings.TrimSpace(key)] = lenient.Text(strings.Trim(strings.TrimSpace(value), `"'`))
		cand.Fixes.Merge(&r.Fixes)
		cand.Truncated = cand.Truncated || cut(r)
		end := c.SpaceEnd(c.Offset())
		if b, _ := c.At(end); b != ',' {
			break
		}
		if next := c.SpaceEnd(end + 1); l.keywordAt(next+1, name) {
			c.Seek(next)
		}
	}
	cand.Arguments = args
	l.add(cand, at)
	return true
}
