package lenient

import (
	"fmt"
	"strings"
)

// scalar reads a number, a literal or a value without quotes.
func (r *Reader) scalar(b byte) (Kind, bool, error) {
	c, start := r.c, r.c.off
	if b == '-' || b >= '0' && b <= '9' {
		if end, ok := r.number(); ok {
			r.text = c.String(start, end)
			c.off, r.numberEnd = end, end
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
	return len(r.stack) == 0 || b >= 0x80 || r.inObject() && r.startsKey(next) ||
		!r.inObject() && !r.o.Python && next > off && r.scalarBefore(next) && !r.threeDigits(next)
}

// threeDigits reports whether a group of three digits stands at off, as in 10 000.
func (r *Reader) threeDigits(off int) bool {
	end := r.digits(off)
	return end == off+3
}

// unquoted reads a value without quotes up to what ends it: a separator, a
// closing bracket, a line's end or a marker.
func (r *Reader) unquoted(start int) (Kind, bool, error) {
	c := r.c
	var n nesting
	r.valueStart = start
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
			r.fix(start, UnquotedValue)
			r.fix(c.off, MissingQuote)
			c.off++
			r.text = r.validText(start, []byte(text))
			return r.stringEnd()
		}
	}
	kind := r.constructor(start, text)
	if kind == End {
		kind = r.classify(start, text)
	}
	if cut {
		if kind == Number {
			r.cutOff(CutNumber)
		} else {
			r.cutOff(CutWord)
		}
		r.state = wantSep
		return kind, true, nil
	}
	r.after()
	return kind, true, nil
}

// constructors are the functions of MongoDB, JavaScript and Python whose one argument is
// the value in JSON; true says that it is a number.
var constructors = map[string]bool{
	"ObjectId": false, "ISODate": false, "Date": false, "new Date": false, "new ObjectId": false, "new ISODate": false, "UUID": false,
	"String": false, "str": false, "NumberLong": true, "NumberInt": true, "NumberDecimal": true, "Long": true, "Int32": true, "Double": true,
	"Decimal": true, "Decimal128": true, "BigInt": true, "Number": true, "int": true, "float": true,
}

// constructor takes the argument out of a value such as NumberLong(5) or ISODate("…") and
// returns its kind, End if the value is none.
func (r *Reader) constructor(off int, text string) Kind {
	name, argument, ok := strings.Cut(text, "(")
	number, known := constructors[name]
	if !ok || !known || r.o.Python {
		return End
	}
	argument, ok = strings.CutSuffix(argument, ")")
	if n := len(argument) - 1; ok && n > 0 && (argument[0] == '"' || argument[0] == '\'') && argument[n] == argument[0] {
		argument = argument[1:n]
	} else if !IsNumber(argument) || !number {
		return End
	}
	if !ok || strings.ContainsAny(argument, "\"'\\") {
		return End
	}
	r.fix(off, Constructor)
	r.text = r.validText(off, []byte(argument))
	if number && IsNumber(argument) {
		return Number
	}
	return String
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
	case (b == '{' || b == '[') && c.off > start && !r.o.Python && r.bracketsOfWords(b):
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
	case '\n':
		return !r.inObject() || r.o.Python || r.o.Hash || r.lineEnds(c.off)
	case ']', '}', '"', '\r', ';':
		return true
	case ')', '#':
		return r.o.Python
	case '{':
		return c.off > start && !r.o.Python
	case ',':
		return r.commaEnds(c.off + 1)
	case '/':
		return c.off > start && c.HasPrefix("//") && c.buf[c.off-1-c.base] == ' ' && !r.divides(c.off)
	case ' ':
		// A missing comma: {"a": 1 "b": 2}
		return !r.o.Python && r.inObject() && r.literalBefore(start) && r.startsKey(r.spaceWithin(c.off, 64))
	}
	return b >= 0x80 && (c.HasPrefix("，") || c.HasPrefix("｝"))
}

// lineEnds reports whether the newline at off ends a value without quotes: behind it stands
// what is not the value's next line.
func (r *Reader) lineEnds(off int) bool {
	next := r.c.SpaceEnd(off)
	b, ok := r.c.At(next)
	if !ok || !isWord(b) || b >= 0x80 || next-off > lookAhead {
		return true
	}
	return r.startsKey(next) || r.atClose(next) || r.literalBefore(r.valueStart)
}

// bracketsOfWords reports whether the bracket at the cursor is one of the words of a value
// without quotes, as in b[0] or ${x}: it is closed on the line, and no quotes are in it.
func (r *Reader) bracketsOfWords(b byte) bool {
	const longest = 64
	for off := r.c.off + 1; off < r.c.off+longest; off++ {
		k, ok := r.c.At(off)
		switch {
		case !ok, k == '\n', k == '"', k == '\'', k == '{', k == '[', k == ':':
			return false
		case k == closerOf(b):
			next, ok := r.c.At(off + 1)
			return ok && next != '}' || r.c.buf[r.c.off-1-r.c.base] == '$'
		}
	}
	return false
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
