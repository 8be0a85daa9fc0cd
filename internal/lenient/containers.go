package lenient

import "slices"

// inSet is the bracket on the stack of a Python set: { "a", "b" }.
const inSet = 's'

// becomesSet makes a list of the object that was just opened: what was read as its first
// key is the first element. quoted says that it stood in quotation marks.
func (r *Reader) becomesSet(off int, quoted bool) (Kind, bool) {
	b := r.c.Peek()
	number := !quoted && IsNumber(r.text)
	if !r.fresh || r.o.Hash || r.o.Python && len(r.stack) == 1 || !quoted && !number || b != ',' && (b != '}' || !quoted) {
		return 0, false
	}
	r.fix(off, Tuple)
	r.stack[len(r.stack)-1] = inSet
	if n := len(r.frames); n == len(r.stack) {
		r.frames[n-1].Object = nil
	}
	r.after()
	if number {
		return Number, true
	}
	return String, true
}

// tupleAt reports whether the parenthesis at off opens a tuple: a list of values with a
// comma in it, or nothing. Words and expressions in parentheses are text.
func (r *Reader) tupleAt(off int) bool {
	if !r.mayLook() {
		return false
	}
	c := r.c
	before := c.looked
	defer func() { r.spent += c.looked - before }()
	at := r.spaceWithin(off+1, 64)
	b, ok := c.At(at)
	switch {
	case !ok:
		return false
	case b == ')':
		return r.endsScalar(at + 1)
	case b == '"' || b == '\'' || b == '-' || b >= '0' && b <= '9' || b == '(' || b == '[' || b == '{':
	default:
		if r.literalAt(at) == 0 {
			return false
		}
	}
	depth, quote, comma := 0, byte(0), false
	for end := off + lookAhead; off < end; off++ {
		b, ok := c.At(off)
		switch {
		case !ok:
			return comma
		case quote != 0 && b == '\\':
			off++
		case quote != 0:
			if b == quote {
				quote = 0
			}
		case b == '"' || b == '\'':
			quote = b
		case b == '(' || b == '[' || b == '{':
			depth++
		case b == ')' || b == ']' || b == '}':
			if depth--; depth == 0 {
				return comma && r.endsScalar(off+1)
			}
		case b == ',' && depth == 1:
			comma = true
		}
	}
	return comma
}

// wrapperAt returns the offset of the value in a call around it at the cursor, as in
// callback({"a": 1}), or 0.
func (r *Reader) wrapperAt() int {
	c := r.c
	off := c.off
	for b, ok := c.At(off); ok && (isWord(b) && b < 0x80 || b == '.') && off-c.off < maxKey; b, ok = c.At(off) {
		off++
	}
	if b, _ := c.At(off); b != '(' {
		return 0
	}
	off = r.spaceWithin(off+1, 64)
	if b, _ := c.At(off); b != '{' && b != '[' {
		return 0
	}
	return off
}

// unwrap moves behind the parenthesis, and the semicolon, that end a call around the value.
func (r *Reader) unwrap() {
	c := r.c
	off := r.spaceWithin(c.off, 64)
	if b, _ := c.At(off); b != ')' {
		return
	}
	if c.off = off + 1; c.Peek() == ';' {
		c.off++
	}
}

// keyInList acts on a string in a list that a colon follows, which stands at off: the
// string is a key. Its object's brace is missing, or the list's bracket before it:
//
//	["a": 1]          {"list": [1, 2, "a": 3}
func (r *Reader) keyInList(off int) Kind {
	r.pending = r.text
	r.c.off = off + 1
	n := len(r.stack)
	known := r.level(1).has(r.text)
	if n > 1 && r.stack[n-2] == '{' && (!r.fresh || known) && !r.level(0).inner('[').has(r.text) {
		r.fix(off, MissingClose)
		r.pop()
		r.state = wantPending
		return ArrayEnd
	}
	r.fix(off, MissingOpen)
	if r.push('{') != nil {
		r.stack = append(r.stack, '{') // a level more than the limit, for one member
		r.enter()
	}
	r.state = wantPending
	return ObjectStart
}

// has reports whether a key is that of a member.
func (s *Shape) has(key string) bool {
	if s == nil {
		return false
	}
	_, ok := s.Members[key]
	return ok
}

// pendingKey is the key that was read before its object was opened.
func (r *Reader) pendingKey() Kind {
	r.text, r.pending = r.pending, ""
	r.member()
	return Key
}

// member notes that a member's key was read.
func (r *Reader) member() {
	r.fresh = false
	if n := len(r.levels); n > 0 {
		r.levels[n-1].key = r.text
	}
	r.state = wantValue
}

// closedEarly acts on a brace at the cursor that closes the innermost object: if members
// of the object follow it, it stands too early, together with those behind it, and is
// skipped.
//
//	{"name": "f", "arguments": {"city": "Rome"}, "days": 3}}
func (r *Reader) closedEarly() bool {
	c, off, n := r.c, r.c.off, 0
	depth := len(r.stack)
	if r.o.Python || r.o.Hash || depth == 1 && !r.o.Alone && !r.lacks() || depth > 1 && !r.level(0).knows() {
		return false
	}
	for n < depth && r.stack[depth-1-n] == '{' {
		if b, ok := c.At(off); !ok || b != '}' {
			break
		}
		n++
		if n == depth && !r.o.Alone && !r.lacks() {
			return false
		}
		off = r.spaceWithin(off+1, 64)
	}
	if b, ok := c.At(off); !ok || b != ',' {
		return false
	}
	off = r.spaceWithin(off+1, 64)
	key, end := r.keyNear(off)
	if key == "" || r.byteAt(end) != ':' {
		return false
	}
	quoted := isQuote(r.byteAt(off))
	switch {
	case r.expects(0, key):
		for i := 1; i <= n && i < depth; i++ {
			if r.level(i).shape.has(key) {
				return false
			}
		}
	case r.level(0).knows() || n < depth || depth > 1 || !quoted:
		return false
	}
	if n < depth && !r.oneBraceMore() {
		return false // it is JSON as it stands
	}
	r.fix(c.off, ClosedEarly)
	r.early += n
	for i := range n {
		if i > 0 {
			c.off = r.spaceWithin(c.off, 64)
		}
		c.off++
	}
	return true
}

// oneBraceMore reports whether the rest of the value, from the brace at the cursor on, has
// a closing brace too many. It looks at no more than 4096 bytes.
func (r *Reader) oneBraceMore() bool {
	const longest = 4096
	if !r.mayLook() {
		return false
	}
	c := r.c
	before := c.looked
	defer func() { r.spent += c.looked - before }()
	open := slices.Clone(r.stack)
	for off := c.off; off < c.off+longest; off++ {
		b, ok := c.At(off)
		switch {
		case !ok:
			return false
		case b == '{' || b == '[' || b == '(':
			open = append(open, b)
		case b == '}' || b == ']' || b == ')':
			if len(open) == 0 || closerOf(open[len(open)-1]) != b {
				return b == '}'
			}
			if open = open[:len(open)-1]; len(open) == 0 {
				next := r.spaceWithin(off+1, 64)
				b := r.byteAt(next)
				return b == '}' || b == ',' && r.byteAt(r.spaceWithin(next+1, 64)) == '"' && r.startsKey(r.spaceWithin(next+1, 64))
			}
		case b == '"':
			for off++; off < c.off+longest; off++ {
				if k, ok := c.At(off); !ok || k == '"' {
					break
				} else if k == '\\' {
					off++
				}
			}
		}
	}
	return false
}

// literalAt returns the length of a literal at off that is a value without quotes, or 0.
func (r *Reader) literalAt(off int) int {
	switch b, _ := r.c.At(off); b {
	case 't', 'f', 'n', 'T', 'F', 'N':
	default:
		return 0
	}
	i := slices.IndexFunc(literals[:], func(w string) bool { return r.c.HasPrefixAt(off, w) })
	if i < 0 {
		return 0
	}
	n := len(literals[i])
	if b, ok := r.c.At(off + n); ok && isWord(b) {
		return 0
	}
	return n
}
