package lenient

import "fmt"

// errExpression says that a value is an expression that only a program could work out. It
// is not read, rather than to take its first operand for the value.
var errExpression = fmt.Errorf("%w: an expression, which is no value; write what it amounts to", ErrSyntax)

// operatorAt reports whether an operator stands behind the quotation mark at the cursor, in a
// value, and then no other string up to the value's end:
//
//	"x"*10**12      "a" + b      "a".upper()
func (r *Reader) operatorAt(key bool) bool {
	if key || r.o.Python || len(r.stack) == 0 {
		return false
	}
	off := r.spaceWithin(r.c.off+1, 16)
	switch b := r.byteAt(off); b {
	case '*', '+', '%':
		off++
	case '.':
		if !isLetter(r.byteAt(off + 1)) {
			return false
		}
	default:
		return false
	}
	next := r.spaceWithin(off, 16)
	if b := r.byteAt(next); !isWord(b) && b != '*' && b != '(' && b != '.' {
		return false
	}
	if !r.mayLook() {
		return false
	}
	for end := next + lookAhead; next < end; next++ {
		r.spent++
		switch b, ok := r.c.At(next); {
		case !ok, b == '"', b == '\'', b == '\n', b == '<':
			return false
		case b == '}', b == ']':
			return true
		case b == ',':
			return !r.inObject() || r.startsKey(r.spaceWithin(next+1, 64))
		}
	}
	return false
}

// divides reports whether the two slashes at off, behind a number, divide by another one and
// are no comment: nothing but a number stands between them and the value's end.
func (r *Reader) divides(off int) bool {
	at := r.spaceWithin(off+2, 16)
	end := r.digits(at)
	if !r.c.HasPrefixAt(off, "//") || end == at {
		return false
	}
	b := r.byteAt(r.spaceWithin(end, 16))
	return b == ',' || b == '}' || b == ']'
}

// lessThan reports whether the bracket at off, behind a number, is an operator, as in
// 1<<10 or 5 < 6, and begins no tag.
func (r *Reader) lessThan(off int) bool {
	b, ok := r.c.At(off + 1)
	return ok && (b == '<' || b == '=' || b == ' ' || b >= '0' && b <= '9') && !r.atClose(off)
}

// operates reports whether a number's end at off is followed, behind blanks, by what makes it
// the first operand of an expression.
func (r *Reader) operates(off int) bool {
	next := r.spaceWithin(off, 16)
	switch r.byteAt(next) {
	case '/':
		return r.divides(next)
	case '<':
		return r.lessThan(next)
	}
	return false
}
