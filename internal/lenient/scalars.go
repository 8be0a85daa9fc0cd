package lenient

import (
	"fmt"
	"math/big"
	"strings"
)

// scalar reads a number, a literal or a value without quotes.
func (r *Reader) scalar(b byte) (Kind, bool, error) {
	c, start := r.c, r.c.off
	if b == '-' || b >= '0' && b <= '9' {
		if end, ok := r.number(); ok {
			r.text = c.String(start, end)
			c.off = end
			r.after()
			return Number, true, nil
		}
	}
	if r.o.Python || b == 'r' || b == 'f' || b == 'u' || b == 'b' {
		if n := r.prefix(); n > 0 {
			return r.prefixed(n)
		}
	}
	switch b {
	case 't':
		if r.word("true") {
			return True, true, nil
		}
	case 'f':
		if r.word("false") {
			return False, true, nil
		}
	case 'n':
		if r.word("null") {
			return Null, true, nil
		}
	case '<':
		if len(r.stack) == 0 {
			return 0, false, fmt.Errorf("%w: a tag at byte %d", ErrSyntax, start)
		}
	case ':', '*', '!', '|', '%', '&', '?', '>', '=', '`', '^', ']', ')', '}', ',':
		if len(r.stack) == 0 || r.state == wantElem && b != '?' && b != '*' {
			return 0, false, fmt.Errorf("%w: %q at byte %d", ErrSyntax, b, start)
		}
	}
	return r.unquoted(start)
}

// delimits reports whether a number or a literal may end before b.
func (r *Reader) delimits(b byte, ok bool) bool {
	if !ok {
		return true
	}
	switch b {
	case ',', '}', ']', ' ', '\n', '\t', '\r', ')', ';':
		return true
	}
	return false
}

func (r *Reader) word(w string) bool {
	c := r.c
	if !c.HasPrefix(w) {
		return false
	}
	b, ok := c.At(c.off + len(w))
	if !r.delimits(b, ok) && b != '<' && b != '/' && b != '#' {
		return false
	}
	if ok && b != ',' && b != '}' && b != ']' && b != '\n' && b != ')' && !r.endsScalar(c.off+len(w)) {
		return false
	}
	c.off += len(w)
	r.after()
	return true
}

// endsScalar looks behind white space for what ends a value without quotes.
func (r *Reader) endsScalar(off int) bool {
	next := r.spaceWithin(off, 64)
	b, ok := r.c.At(next)
	if !ok {
		return true
	}
	switch b {
	case ',', '}', ']', ')', ';', '/', '#', '"', '\'', '<', '`', '{', '[':
		return true
	}
	if r.o.Hash && r.c.HasPrefixAt(next, "--") {
		return true
	}
	return len(r.stack) == 0 || b >= 0x80 || r.inObject() && r.startsKey(next)
}

// number looks whether a number stands at the cursor as JSON writes it (RFC 8259,
// section 6), and returns its end.
func (r *Reader) number() (end int, ok bool) {
	c := r.c
	off := c.off
	if b, _ := c.At(off); b == '-' {
		off++
	}
	first, _ := c.At(off)
	whole := r.digits(off)
	if whole == off || first == '0' && whole > off+1 {
		return 0, false
	}
	off = whole
	if b, _ := c.At(off); b == '.' {
		fraction := r.digits(off + 1)
		if fraction == off+1 {
			return 0, false
		}
		off = fraction
	}
	if b, _ := c.At(off); b == 'e' || b == 'E' {
		off++
		if b, _ := c.At(off); b == '+' || b == '-' {
			off++
		}
		exponent := r.digits(off)
		if exponent == off {
			return 0, false
		}
		off = exponent
	}
	return off, r.endsNumber(off)
}

// digits returns the end of the digits at off.
func (r *Reader) digits(off int) int {
	for {
		b, ok := r.c.At(off)
		if !ok || b < '0' || b > '9' {
			return off
		}
		off++
	}
}

// endsNumber reports whether what stands at off ends a number: else it is a value
// without quotes, such as 10:30 or 1,000.
func (r *Reader) endsNumber(off int) bool {
	c := r.c
	b, ok := c.At(off)
	switch {
	case !ok, b == '}', b == ']', b == '\n', b == ')', b == ';':
		return true
	case b == ',':
		return !r.inObject() || r.o.Python || !r.thousands(off)
	case b == '/':
		return r.endsScalar(off) && (c.HasPrefixAt(off, "//") || c.HasPrefixAt(off, "/*"))
	case b == ' ', b == '\t', b == '\r', b == '#', b == '<', b == '"':
		return r.endsScalar(off)
	case r.o.Hash:
		return true
	}
	return b >= 0x80 && (c.HasPrefixAt(off, "，") || c.HasPrefixAt(off, "、") || c.HasPrefixAt(off, "｝"))
}

// thousands reports whether the comma at off groups digits, as in 1,000: three
// digits follow it and no key.
func (r *Reader) thousands(off int) bool {
	groups := 0
	for {
		b, ok := r.c.At(off)
		if !ok || b != ',' {
			break
		}
		for i := 1; i <= 3; i++ {
			if d, ok := r.c.At(off + i); !ok || d < '0' || d > '9' {
				return groups > 0
			}
		}
		if d, ok := r.c.At(off + 4); ok && (d >= '0' && d <= '9' || isWord(d)) {
			return false
		}
		groups++
		off += 4
	}
	return groups > 0
}

// prefix returns the length of the string prefix at the cursor, r"…" or the like.
func (r *Reader) prefix() int {
	for n := range 3 {
		b, ok := r.c.At(r.c.off + n)
		if !ok {
			return 0
		}
		if b == '"' || b == '\'' {
			return n
		}
		if !strings.ContainsRune("rRbBuUfF", rune(b)) {
			return 0
		}
	}
	return 0
}

// prefixed reads a string with a prefix of n letters.
func (r *Reader) prefixed(n int) (Kind, bool, error) {
	c := r.c
	r.fix(c.off, StringPrefix)
	raw := strings.ContainsAny(string(c.Slice(c.off, c.off+n)), "rR")
	format := strings.ContainsAny(string(c.Slice(c.off, c.off+n)), "fF")
	c.off += n
	q := c.Peek()
	c.off++
	if raw {
		r.rawString(q)
	} else if err := r.quoted(q, false); err != nil {
		return 0, false, err
	}
	if format && strings.ContainsRune(r.text, '{') {
		r.fix(c.off, Expression)
	}
	return r.stringEnd()
}

// rawString reads a Python raw string, whose backslashes stand for themselves.
func (r *Reader) rawString(q byte) {
	c, start := r.c, r.c.off
	end := string(q)
	if c.HasPrefix(strings.Repeat(end, 2)) {
		end = strings.Repeat(end, 3)
		c.off += 2
		start = c.off
	}
	for {
		b, ok := c.At(c.off)
		if !ok {
			r.CutToken = true
			r.text = r.validText(start, c.Slice(start, c.off))
			r.unwind()
			return
		}
		if b == '\\' {
			c.off += 2
			if c.EOF() {
				c.off = c.Limit()
			}
			continue
		}
		if b == q && c.HasPrefix(end) {
			r.text = r.validText(start, c.Slice(start, c.off))
			c.off += len(end)
			return
		}
		c.off++
	}
}

// unquoted reads a value without quotes up to what ends it: a separator, a
// closing bracket, a line's end or a marker.
func (r *Reader) unquoted(start int) (Kind, bool, error) {
	c := r.c
	var n nesting
	for {
		b, ok := c.At(c.off)
		if !ok || r.endsUnquoted(b, start, &n) {
			break
		}
		c.off++
	}
	text := strings.TrimRight(string(c.Slice(start, c.off)), " \t\r")
	cut := c.EOF() && len(r.stack) > 0
	if text == "" {
		return 0, false, fmt.Errorf("%w: %q at byte %d", ErrSyntax, c.Peek(), start)
	}
	if c.Peek() == '"' && c.off > start { // only its first quote is missing
		if b, ok := c.At(r.spaceWithin(c.off+1, 64)); !ok || b == ',' || b == '}' || b == ']' {
			r.fix(c.off, MissingQuote)
			c.off++
		}
	}
	kind := r.classify(start, text)
	if cut {
		r.CutToken = true
		r.unwind()
		r.state = wantSep
		return kind, true, nil
	}
	r.after()
	return kind, true, nil
}

// nesting says where in an expression a value without quotes is being read, as in
// f(a, "x)"): within how many brackets, and in which string there.
type nesting struct {
	depth int
	quote byte
}

// endsUnquoted reports whether a value without quotes, from start on, ends before the
// byte b at the cursor.
func (r *Reader) endsUnquoted(b byte, start int, n *nesting) bool {
	c := r.c
	switch {
	case n.quote != 0:
		if b == n.quote {
			n.quote = 0
		}
		return false
	case n.depth > 0:
		n.step(b)
	case b == '(':
		n.depth = 1
	case r.endsWords(b, start):
		return true
	}
	switch b {
	case '`':
		return c.HasPrefix("```") || r.atClose(c.off)
	case '-':
		if r.o.Hash && c.off > start && c.HasPrefix("--") {
			return true
		}
	}
	return r.o.Close != nil && r.atClose(c.off)
}

// step moves over a byte within brackets.
func (n *nesting) step(b byte) {
	switch b {
	case '(', '[', '{':
		n.depth++
	case ')', ']', '}':
		n.depth--
	case '"', '\'':
		n.quote = b
	}
}

// endsWords reports whether a value without quotes, outside of brackets of its own,
// ends before the byte b at the cursor.
func (r *Reader) endsWords(b byte, start int) bool {
	c := r.c
	switch b {
	case ']', '}', '"', '\n', '\r', ';':
		return true
	case ')', '#':
		return r.o.Python
	case '{':
		return c.off > start && !r.o.Python
	case ',':
		return r.commaEnds(c.off + 1)
	case '/':
		return c.off > start && c.HasPrefix("//") && c.buf[c.off-1-c.base] == ' '
	case ' ':
		// A missing comma: {"a": 1 "b": 2}
		return !r.o.Python && r.inObject() && r.literalBefore(start) && r.startsKey(r.spaceWithin(c.off, 64))
	}
	return b >= 0x80 && (c.HasPrefix("，") || c.HasPrefix("｝"))
}

// literalBefore reports whether what was read since start is a number or literal.
func (r *Reader) literalBefore(start int) bool {
	const longest = 32
	if r.c.off-start > longest {
		return false
	}
	switch s := string(r.c.Slice(start, r.c.off)); s {
	case "true", "false", "null", "True", "False", "None":
		return true
	default:
		return s != "" && strings.Trim(s, "0123456789.+-eE") == ""
	}
}

// commaEnds reports whether the comma before off ends a value without quotes: in an
// object only if a key follows.
func (r *Reader) commaEnds(off int) bool {
	if !r.inObject() {
		return true
	}
	if r.thousands(off - 1) {
		return false
	}
	next := r.spaceWithin(off, 64)
	b, ok := r.c.At(next)
	return !ok || b == '}' || b == '"' || b == '\'' || r.startsKey(next) || r.atClose(next)
}

// classify says what a value without quotes is and puts its text into r.text.
func (r *Reader) classify(off int, text string) Kind {
	switch text {
	case "true", "false", "null":
	case "True", "TRUE", "False", "FALSE", "None", "Null", "NULL", "nil", "undefined":
		if !r.o.Python || text == "undefined" {
			r.fix(off, PythonLiteral)
		}
	default:
		if n, kind, ok := OddNumberText(text); ok {
			r.fix(off, kind)
			r.text = n
			return Number
		}
		r.text = r.validText(off, []byte(text))
		r.fix(off, UnquotedValue)
		if !isPlainText(text) {
			r.fix(off, Expression)
		}
		return String
	}
	switch text[0] {
	case 't', 'T':
		return True
	case 'f', 'F':
		return False
	}
	return Null
}

// isPlainText reports whether a value without quotes reads as words and not as
// code.
func isPlainText(s string) bool { return !strings.ContainsAny(s, "()[]{}=*") }

// OddNumberText reads a number that JSON does not write so: .5, 1., +3, 0x1F,
// 1_000 or 1,000. It returns the number as JSON writes it.
func OddNumberText(s string) (number string, kind FixKind, ok bool) {
	kind = OddNumber
	sign := ""
	t := s
	switch {
	case strings.HasPrefix(t, "+"):
		t = t[1:]
	case strings.HasPrefix(t, "-"):
		sign, t = "-", t[1:]
	}
	if t == "" || len(t) > 400 {
		return "", kind, false
	}
	if len(t) > 2 && t[0] == '0' && strings.ContainsRune("xXoObB", rune(t[1])) {
		n, ok := new(big.Int).SetString(t, 0)
		if !ok {
			return "", kind, false
		}
		return sign + n.String(), kind, true
	}
	switch {
	case strings.Contains(t, ",") && groupsOfThree(t, ","):
		kind = Thousands
		t = strings.ReplaceAll(t, ",", "")
	case strings.Contains(t, "_") && groupsOfThree(t, "_"):
		t = strings.ReplaceAll(t, "_", "")
	}
	if t[0] == '.' {
		t = "0" + t
	}
	if i := strings.IndexByte(t, '.'); i >= 0 && (i+1 == len(t) || t[i+1] == 'e' || t[i+1] == 'E') {
		t = t[:i] + t[i+1:]
	}
	if !IsNumber(sign + t) {
		return "", kind, false
	}
	return sign + t, kind, true
}

// groupsOfThree reports whether sep stands in s only between groups of three digits.
func groupsOfThree(s, sep string) bool {
	whole, _, _ := strings.Cut(s, ".")
	groups := strings.Split(whole, sep)
	for i, g := range groups {
		if g == "" || strings.Trim(g, "0123456789") != "" || i > 0 && len(g) != 3 || i == 0 && len(g) > 3 {
			return false
		}
	}
	return groups[0][0] != '0'
}

// IsNumber reports whether s is a number as JSON writes it (RFC 8259, section 6).
func IsNumber(s string) bool {
	s = strings.TrimPrefix(s, "-")
	if s == "" || s[0] < '0' || s[0] > '9' || s[0] == '0' && len(s) > 1 && s[1] >= '0' && s[1] <= '9' {
		return false
	}
	digits := func() bool {
		n := 0
		for n < len(s) && s[n] >= '0' && s[n] <= '9' {
			n++
		}
		s = s[n:]
		return n > 0
	}
	digits()
	if strings.HasPrefix(s, ".") {
		s = s[1:]
		if !digits() {
			return false
		}
	}
	if s != "" && (s[0] == 'e' || s[0] == 'E') {
		s = s[1:]
		if s != "" && (s[0] == '+' || s[0] == '-') {
			s = s[1:]
		}
		if !digits() {
			return false
		}
	}
	return s == ""
}
