package lenient

import (
	"errors"
	"fmt"
	"sync"
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
	// Shape is what the value's schema says; nil if nothing is known. It decides how broken
	// text is read, and changes nothing where the text is JSON.
	Shape *Shape
	// Alone says that nothing should stand behind the value: an object that members follow,
	// as in {"a": 1}, "b": 2}, is not at its end. The reader looks for the comma and so may
	// wait for a byte more than the value has.
	Alone bool
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
// closes, separates, startsKey, endsScalar, thousands, and for what is broken ended.go and
// containers.go, which ask what is known of the value (shape.go). How far it looks is
// bounded, or charged to a budget (mayLook), so that reading is linear. Every departure from
// strict JSON is recorded by fix where it is read through. build.go makes values of the
// tokens.

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
	borrowed  *buffer
	inString  bool
	frames    []Frame
	openAtEnd []unsafe.Pointer // the objects and lists that were open at the end
	numberEnd int              // offset behind the last number
	result    any

	levels  []level // what is known of the open brackets, with Options.Shape
	fresh   bool    // the innermost bracket was just opened
	pending string  // the key to be read next, which has been read already
	early   int     // braces that stood before the last members of their objects
	wrapped bool    // a closing parenthesis belongs to the value
	exact   bool    // the string that is being read ends at its delimiter only

	from      int  // where the value begins
	groups    bool // what thousands found, of the commas before groupsEnd
	groupsEnd int
	// valueStart is where the value without quotes begins that is being read.
	valueStart int
	spent      int // how many bytes were looked at ahead in vain; see mayLook
	// How many brackets the text of a string opens; see balanceTo.
	balance, balanceStart, balanceEnd int

	// Where stack, frames and levels begin: most values nest no deeper.
	firstBrackets [16]byte
	firstFrames   [4]Frame
	firstLevels   [4]level
}

type state uint8

const (
	wantValue   state = iota // a value, nothing else
	wantKey                  // a key or the object's end
	wantElem                 // an element or the array's end
	wantSep                  // a separator or an end
	wantPending              // the key that was read before its object was opened
	done
)

// NewReader returns a reader of the value that starts at the cursor.
func NewReader(c *Cursor, o Options) *Reader {
	if o.MaxDepth == 0 {
		o.MaxDepth = MaxDepth
	}
	r, _ := readers.Get().(*Reader)
	r.c, r.o, r.from, r.balanceStart = c, o, c.off, -1
	r.stack, r.frames = r.firstBrackets[:0], r.firstFrames[:0]
	return r
}

// readers are those that nobody uses any more, empty.
var readers = sync.Pool{New: func() any { return new(Reader) }}

// Free gives the reader away, for another value. Neither it nor what it hands out, but for
// the value, may be used afterwards. A reader need not be freed.
func (r *Reader) Free() {
	r.giveBuffer()
	*r = Reader{}
	readers.Put(r)
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
		case wantPending:
			if r.stack[len(r.stack)-1] != '{' { // the list that ends before the key
				return r.pop(), nil
			}
			return r.pendingKey(), nil
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
	if r.c.EOF() && r.Cut.Kind == CutNothing && len(r.stack) <= r.early && !r.c.CutOff() {
		r.fix(r.c.off, MissingClose) // its brace stood too early
	} else if r.c.EOF() {
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
	if len(r.levels) > 0 {
		r.levels = r.levels[:len(r.levels)-1]
	}
	r.after()
	if top == '{' {
		return ObjectEnd
	}
	return ArrayEnd
}

// after says that a value has ended.
func (r *Reader) after() {
	r.fresh = false
	switch {
	case len(r.stack) > 0:
		r.state = wantSep
	case r.wrapped && !r.ending:
		r.unwrap()
		r.state = done
	default:
		r.state = done
	}
}

func (r *Reader) push(bracket byte) error {
	if len(r.stack) >= r.o.MaxDepth {
		return fmt.Errorf("%w: more than %d levels", ErrDepth, r.o.MaxDepth)
	}
	r.enter()
	r.stack = append(r.stack, bracket)
	r.fresh = true
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
	if b == '.' || b == 0xE2 {
		if r.ellipsis(b) {
			return 0, false
		}
	}
	if b == '{' && r.inList() {
		r.fix(off, MissingClose) // [{"a": 1 {"a": 2}]
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
	top := r.stack[len(r.stack)-1]
	if closerOf(top) == b {
		if b == '}' && top == '{' && r.closedEarly() {
			return 0, false
		}
		r.c.off++
		return r.pop(), true
	}
	for i := len(r.stack) - 2; i >= 0; i-- {
		if closerOf(r.stack[i]) == b {
			// An outer bracket closes: the inner one was forgotten.
			r.fix(r.c.off, MissingClose)
			return r.pop(), true
		}
	}
	if b == ')' && r.o.Python {
		r.unwind()
		return r.pop(), true
	}
	if b == ']' && top == '{' && len(r.stack) == 1 || r.closersInRow(r.c.off) == len(r.stack) {
		// {"a": {"b": 1]} : as many brackets as are open, one of the wrong kind.
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
