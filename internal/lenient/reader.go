package lenient

import (
	"errors"
	"fmt"
	"unsafe"
)

// MaxDepth is how deep brackets may nest where the options do not say.
const MaxDepth = 512

// Errors that reading a value can end with.
var (
	ErrDepth  = errors.New("value is nested too deeply")
	ErrSyntax = errors.New("not a value")
)

// Options say how a value may be written beyond JSON. The zero value reads JSON
// and the literals of JavaScript and Python.
type Options struct {
	// MaxDepth limits the nesting of brackets; 0 means [MaxDepth].
	MaxDepth int
	// Python says that the value is an argument of a Python call: tuples,
	// implicit concatenation and string prefixes are read, and a closing
	// parenthesis ends it.
	Python bool
	// Close are the markers that end whatever stands around the value. Where one
	// of them stands in place of a bracket or a comma, the value ends there.
	Close []string
	// Quotes are delimiters of strings besides quotation marks. Between two of
	// them all is literal, backslashes too.
	Quotes []string
	// Hash reads Ruby-like hashes: { --key "value" --n 3 }.
	Hash bool
	// Watch says that the value will be looked at while it is being built, by
	// [Reader.Open].
	Watch bool
}

// Kind is the kind of a token.
type Kind uint8

// The kinds of tokens.
const (
	End         Kind = iota // behind the value
	ObjectStart             // {
	ObjectEnd               // }
	ArrayStart              // [
	ArrayEnd                // ]
	Key                     // of an object's member; see [Reader.Text]
	String                  // see [Reader.Text]
	Number                  // see [Reader.Text]: its digits as written, as JSON writes numbers
	True
	False
	Null
)

// NOTE: Next is a state machine over the open brackets, one token at a time. Each state
// has one method that reads: separator, key (key.go), value (value.go). They move the
// cursor and change the state; what decides between readings of a text only looks ahead:
// closes, separates, startsKey, endsScalar, thousands. How far it looks is bounded, so
// that reading is linear. Every departure from strict JSON is recorded by fix where it is
// read through. build.go makes values of the tokens.

// Reader reads one value at a cursor, as tokens by [Reader.Next] or whole by
// [Reader.Value].
type Reader struct {
	Fixes Fixes
	// OpenAtEnd is how many brackets the end of the text left open.
	OpenAtEnd int
	// CutToken says that the text ended inside a string, a key or a literal, or that a
	// key has no value where the text or the construct around it ended.
	CutToken bool
	// Cut is where the value broke off.
	Cut Cut

	c      *Cursor
	o      Options
	stack  []byte // '{', '[' or '(' for each open bracket
	state  state
	text   string // of the token just read
	ending bool   // unwinding: only ends follow

	scratch   []byte // decoded text of the string being read
	joined    int    // how much of it is of strings that it is joined to
	borrowed  *[]byte
	inString  bool
	keys      [64]string // recently read keys, to save allocations
	frames    []Frame
	openAtEnd []unsafe.Pointer // the objects and lists that were open at the end
	numberEnd int              // offset behind the last number
	result    any
}

type state uint8

const (
	wantValue state = iota // a value, nothing else
	wantKey                // a key or the object's end
	wantElem               // an element or the array's end
	wantSep                // a separator or an end
	done
)

// NewReader returns a reader of the value that starts at the cursor.
func NewReader(c *Cursor, o Options) *Reader {
	if o.MaxDepth == 0 {
		o.MaxDepth = MaxDepth
	}
	return &Reader{c: c, o: o}
}

// Text is the text of a key, a string or a number just read.
func (r *Reader) Text() string { return r.text }

// Depth is how many brackets are open.
func (r *Reader) Depth() int { return len(r.stack) }

func (r *Reader) fix(off int, k FixKind) { r.Fixes.Add(off, k) }

func (r *Reader) inObject() bool { return len(r.stack) > 0 && r.stack[len(r.stack)-1] == '{' }

// Next reads one token. After the value's last token it returns [End].
func (r *Reader) Next() (Kind, error) {
	for {
		switch r.state {
		case done:
			return End, nil
		case wantSep:
			if kind, ok := r.separator(); ok {
				return kind, nil
			}
		case wantKey:
			if kind, ok, err := r.key(); ok || err != nil {
				return kind, err
			}
		case wantElem, wantValue:
			if kind, ok, err := r.value(); ok || err != nil {
				return kind, err
			}
		}
	}
}

// space moves over white space and comments and returns the next byte, 0 at the end.
func (r *Reader) space() byte {
	c := r.c
	for {
		b, ok := c.At(c.off)
		if !ok {
			return 0
		}
		if b > ' ' && b < 0x80 && b != '/' && b != '#' {
			return b
		}
		c.SkipSpace()
		b = c.Peek()
		switch {
		case b == '/' && (c.HasPrefix("//") || c.HasPrefix("/*")):
			r.comment()
		case b == '#' && len(r.stack) > 0:
			r.comment()
		default:
			return b
		}
	}
}

func (r *Reader) comment() {
	c := r.c
	r.fix(c.off, Comment)
	block := c.HasPrefix("/*")
	if block {
		c.off++ // so that /*/ is no comment
	}
	for c.off++; ; c.off++ {
		b, ok := c.At(c.off)
		switch {
		case !ok:
			return
		case block && b == '*' && c.HasPrefix("*/"):
			c.off += 2
			return
		case !block && b == '\n':
			return
		}
	}
}

// spaceWithin skips at most n bytes of white space from off on.
func (r *Reader) spaceWithin(off, n int) int {
	for limit := off + n; off < limit; off++ {
		b, ok := r.c.At(off)
		if !ok || b != ' ' && b != '\n' && b != '\t' && b != '\r' {
			break
		}
	}
	return off
}

// atClose reports whether one of the closing markers stands at off.
func (r *Reader) atClose(off int) bool {
	for _, m := range r.o.Close {
		if c, ok := r.c.At(off); ok && c == m[0] && r.c.HasPrefixAt(off, m) {
			return true
		}
	}
	return false
}

// unwind begins to close all that is open: the text, or the construct around
// the value, has ended.
func (r *Reader) unwind() {
	r.ending = true
	if r.c.EOF() {
		r.OpenAtEnd = len(r.stack)
		r.fix(r.c.off, Truncated)
		if r.Cut.Kind == CutNothing && r.numberEnd == r.c.off {
			r.Cut.Kind = CutNumber
		}
	} else {
		r.fix(r.c.off, MissingClose)
	}
	r.notePath()
}

// pop closes the innermost bracket.
func (r *Reader) pop() Kind {
	top := r.stack[len(r.stack)-1]
	r.stack = r.stack[:len(r.stack)-1]
	r.after()
	if top == '{' {
		return ObjectEnd
	}
	return ArrayEnd
}

// after says that a value has ended.
func (r *Reader) after() {
	if len(r.stack) == 0 {
		r.state = done
	} else {
		r.state = wantSep
	}
}

func (r *Reader) push(bracket byte) error {
	if len(r.stack) >= r.o.MaxDepth {
		return fmt.Errorf("%w: more than %d levels", ErrDepth, r.o.MaxDepth)
	}
	r.stack = append(r.stack, bracket)
	if bracket == '{' {
		r.state = wantKey
	} else {
		r.state = wantElem
	}
	return nil
}

// separator reads what stands between two members: a comma, or what models put
// in its place, or a closing bracket, which it returns.
func (r *Reader) separator() (Kind, bool) {
	if r.ending {
		return r.pop(), true
	}
	b := r.space()
	off := r.c.off
	switch b {
	case ',':
		r.c.off++
		r.comma()
		return 0, false
	case ';':
		r.c.off++
		r.fix(off, OtherColon)
		r.comma()
		return 0, false
	case '}', ']', ')':
		return r.close(b)
	}
	if b == 0 && r.c.EOF() || r.atClose(off) || b == '`' && r.c.HasPrefix("```") {
		r.unwind()
		return r.pop(), true
	}
	if b >= 0x80 && (r.c.HasPrefix("，") || r.c.HasPrefix("、")) {
		r.c.off += len("，")
		r.fix(off, WidePunctuation)
		r.comma()
		return 0, false
	}
	if b >= 0x80 && r.c.HasPrefix("｝") {
		r.c.off += len("｝")
		r.fix(off, WidePunctuation)
		return r.pop(), true
	}
	if r.inObject() && !r.startsKey(off) || b == '<' {
		// What follows is no member: the closing brackets were forgotten.
		r.unwind()
		return r.pop(), true
	}
	r.fix(off, MissingComma)
	r.comma()
	return 0, false
}

func (r *Reader) comma() {
	if r.inObject() {
		r.state = wantKey
	} else {
		r.state = wantElem
	}
}

// close reads a closing bracket, which may be of the wrong kind.
func (r *Reader) close(b byte) (Kind, bool) {
	open := byte('{')
	switch b {
	case ']':
		open = '['
	case ')':
		open = '('
	}
	top := r.stack[len(r.stack)-1]
	if top == open {
		r.c.off++
		return r.pop(), true
	}
	for i := len(r.stack) - 2; i >= 0; i-- {
		if r.stack[i] == open {
			// An outer bracket closes: the inner one was forgotten.
			r.fix(r.c.off, MissingClose)
			return r.pop(), true
		}
	}
	if b == ')' && r.o.Python {
		r.unwind()
		return r.pop(), true
	}
	if b == ']' && top == '{' && len(r.stack) == 1 {
		// {"a": 1] : the one closing bracket there is, of the wrong kind.
		r.c.off++
		r.fix(r.c.off-1, MismatchedClose)
		return r.pop(), true
	}
	r.fix(r.c.off, ExtraClose)
	r.c.off++
	return 0, false
}

func (r *Reader) behindComma(off int) bool {
	for i := off - 1 - r.c.base; i >= 0; i-- {
		switch r.c.buf[i] {
		case ' ', '\n', '\t', '\r':
		case ',':
			return true
		default:
			return false
		}
	}
	return false
}

func (r *Reader) behindBrace(off int) bool {
	return off-r.c.base > 0 && r.c.buf[off-1-r.c.base] == '{'
}
