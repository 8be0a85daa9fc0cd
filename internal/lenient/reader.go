package lenient

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
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

// Reader reads one value at a cursor, as tokens by [Reader.Next] or whole by
// [Reader.Value].
type Reader struct {
	Fixes Fixes
	// OpenAtEnd is how many brackets the end of the text left open.
	OpenAtEnd int
	// CutToken says that the text ended inside a string, a key or a literal, or
	// between a key and its value.
	CutToken bool

	c      *Cursor
	o      Options
	stack  []byte // '{', '[' or '(' for each open bracket
	state  state
	text   string // of the token just read
	ending bool   // unwinding: only ends follow

	scratch  []byte // decoded text of the string being read
	borrowed *[]byte
	inString bool
	keys     [64]string // recently read keys, to save allocations
	frames   []Frame
	result   any
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
		if i := c.off - c.base; i < len(c.buf) && c.buf[i] > ' ' && c.buf[i] < 0x80 && c.buf[i] != '/' && c.buf[i] != '#' {
			return c.buf[i]
		}
		c.SkipSpace()
		b := c.Peek()
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
	} else {
		r.fix(r.c.off, MissingClose)
	}
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

// isWord reports whether b can stand in a key without quotes.
func isWord(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '_' || b == '$' || b == '-' || b >= 0x80
}

// maxKey bounds how far the reader looks ahead for the end of a key.
const maxKey = 128

// startsKey looks ahead whether a key and its colon stand at off.
func (r *Reader) startsKey(off int) bool {
	b, ok := r.c.At(off)
	if !ok {
		return false
	}
	end := off + 1
	switch {
	case b == '"' || b == '\'' || b == '`':
		for ; ; end++ {
			k, ok := r.c.At(end)
			if !ok || end-off > maxKey || k == '\n' || k == '{' {
				return false
			}
			if k == b {
				break
			}
		}
		end = r.spaceWithin(end+1, 16)
	case b == '\\':
		return r.c.HasPrefixAt(off, `\"`)
	case b == 0xE2 && (r.c.HasPrefixAt(off, "“") || r.c.HasPrefixAt(off, "”")):
		return true
	case r.o.Hash && b == '-':
		return r.c.HasPrefixAt(off, "--")
	case isWord(b):
		for ; end-off <= maxKey; end++ {
			if k, ok := r.c.At(end); !ok || !isWord(k) && k != '.' {
				break
			}
		}
		end = r.spaceWithin(end, 16)
	default:
		return false
	}
	k, ok := r.c.At(end)
	return ok && (k == ':' || k == '=' || k == 0xEF && r.c.HasPrefixAt(end, "："))
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

// key reads a key and the colon behind it, or the object's end.
func (r *Reader) key() (Kind, bool, error) {
	if r.ending {
		return r.pop(), true, nil
	}
	b := r.space()
	off := r.c.off
	switch b {
	case '}', ']':
		kind, ok := r.close(b)
		if ok && r.behindComma(off) {
			r.fix(off, TrailingComma)
		}
		return kind, ok, nil
	case ',':
		r.fix(off, ExtraComma)
		r.c.off++
		return 0, false, nil
	case '"':
		r.c.off++
		if err := r.quoted('"', true); err != nil {
			return 0, false, err
		}
	case '\'', '`':
		if b == '`' && r.c.HasPrefix("```") {
			r.unwind()
			return r.pop(), true, nil
		}
		r.c.off++
		if !r.o.Python {
			r.fix(off, SingleQuotes)
		}
		if err := r.quoted(b, true); err != nil {
			return 0, false, err
		}
	default:
		if b == 0 && r.c.EOF() || r.atClose(off) {
			r.unwind()
			return r.pop(), true, nil
		}
		switch {
		case b == '\\' && r.c.HasPrefix(`\"`):
			r.escapedString()
		case b >= 0x80 && r.smartQuote(off) != 0:
			r.smart(true)
		case r.customQuote(off) != "":
			r.literal(r.customQuote(off))
		case b == '.' && r.c.HasPrefix("..."):
			r.c.off += 3 // an ellipsis: the writer left something out
			r.fix(off, Expression)
			return 0, false, nil
		case b == '{' && len(r.stack) == 1 && !r.Fixes.Has(ExtraOpen) && r.behindBrace(off):
			// {{"a": 1}} : a template's doubled braces.
			r.c.off++
			r.fix(off, ExtraOpen)
			return 0, false, nil
		default:
			if !r.bareKey() {
				return 0, false, fmt.Errorf("%w: no key at byte %d", ErrSyntax, off)
			}
		}
	}
	if r.CutToken {
		return r.pop(), true, nil
	}
	if err := r.colon(off); err != nil {
		return 0, false, err
	}
	if r.ending {
		return r.pop(), true, nil
	}
	r.state = wantValue
	return Key, true, nil
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

// colon reads the colon behind a key.
func (r *Reader) colon(key int) error {
	c := r.c
	if off := c.off; off > key+1 {
		// {"a: "b"} : the key's last quote is missing, and what looks like it begins
		// the value.
		quote, _ := c.At(off - 1)
		next, _ := c.At(off)
		if name, ok := keyWithColon(r.text); ok && (quote == '"' || quote == '\'') && next != ':' && isWord(next) {
			r.fix(off-1, MissingQuote)
			r.text = name
			c.off--
			return nil
		}
	}
	b := r.space()
	switch {
	case b == ':':
		c.off++
		if c.Peek() == '=' { // :=
			r.fix(c.off, OtherColon)
			c.off++
		}
	case b == '=':
		r.fix(c.off, OtherColon)
		c.off++
		if c.Peek() == '>' {
			c.off++
		}
	case b == 0xEF && c.HasPrefix("："):
		r.fix(c.off, WidePunctuation)
		c.off += len("：")
	case r.o.Hash && r.Fixes.Has(UnquotedKey):
	case b == 0 && c.EOF():
		// A key that is cut off, or has no value yet, says nothing.
		r.CutToken = true
		r.unwind()
	case b == '"' || b == '{' || b == '[' || b == '-' || b >= '0' && b <= '9':
		r.fix(c.off, MissingColon)
	case (b == ',' || b == '}') && r.Depth() == 1 && r.o.Python:
		return errSet
	default:
		return fmt.Errorf("%w: no colon behind the key at byte %d", ErrSyntax, key)
	}
	return nil
}

// keyWithColon takes the colon off a word that ends with one.
func keyWithColon(s string) (key string, ok bool) {
	key, ok = strings.CutSuffix(strings.TrimRight(s, " "), ":")
	return key, ok && isPlainKey(key)
}

// isKeyWithColon reports whether the key that began at an offset ends at the cursor
// with a colon, and its value begins there.
func (r *Reader) isKeyWithColon(start int) bool {
	c := r.c
	if c.off-start > maxKey {
		return false
	}
	next, _ := c.At(c.off + 1)
	_, ok := keyWithColon(string(c.Slice(start, c.off)))
	return ok && isWord(next)
}

// isPlainKey reports whether a text is a word such as keys are.
func isPlainKey(s string) bool {
	for i := range len(s) {
		if !isWord(s[i]) {
			return false
		}
	}
	return s != "" && len(s) <= maxKey
}

// errSet says that what looked like an object is a Python set.
var errSet = fmt.Errorf("%w: a set", ErrSyntax)

// bareKey reads a key without quotes.
func (r *Reader) bareKey() bool {
	c, start := r.c, r.c.off
	if r.o.Hash && c.HasPrefix("--") {
		c.off += 2
		start = c.off
	}
	for c.off-start <= maxKey {
		b, ok := c.At(c.off)
		if !ok {
			r.CutToken = true
			r.unwind()
			return true
		}
		if !isWord(b) && b != '.' && (b != '\\' || !c.HasPrefix(`\_`)) || b >= 0x80 && c.HasPrefix("：") {
			break
		}
		c.off++
	}
	if c.off == start || c.off-start > maxKey {
		return false
	}
	r.fix(start, UnquotedKey)
	r.text = dropMarkdown(string(c.Slice(start, c.off)))
	if b, _ := c.At(c.off); b == '"' { // only its first quote is missing
		if next, _ := c.At(r.spaceWithin(c.off+1, 64)); next == ':' {
			r.fix(c.off, MissingQuote)
			c.off++
		}
	}
	return true
}

// dropMarkdown takes the backslashes off underscores, which Markdown puts there.
func dropMarkdown(s string) string {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && s[i+1] == '_' {
			continue
		}
		out = append(out, s[i])
	}
	return string(out)
}

// value reads the first token of a value, or in an array its end.
func (r *Reader) value() (Kind, bool, error) {
	if r.ending {
		return r.pop(), true, nil
	}
	b := r.space()
	c, off := r.c, r.c.off
	if len(r.o.Quotes) > 0 && (b == '"' || b == '\'') && r.mixedQuotes(b) {
		r.after()
		return String, true, nil
	}
	switch b {
	case '"':
		return r.quotedValue(b)
	case '{':
		c.off++
		return ObjectStart, true, r.push('{')
	case '[':
		c.off++
		return ArrayStart, true, r.push('[')
	case '\'', '`':
		if b == '`' && c.HasPrefix("```") {
			break
		}
		if !r.o.Python {
			r.fix(off, SingleQuotes)
		}
		return r.quotedValue(b)
	case ']', '}', ')', ',':
		if len(r.stack) > 0 {
			return r.noValue(b)
		}
	case '(':
		if r.o.Python {
			c.off++
			return ArrayStart, true, r.push('(')
		}
	case '\\':
		if c.HasPrefix(`\"`) {
			r.escapedString()
			r.after()
			return String, true, nil
		}
	}
	return r.otherValue(b)
}

// quotedValue reads a string from the quotation mark at the cursor on.
func (r *Reader) quotedValue(q byte) (Kind, bool, error) {
	r.c.off++
	if err := r.quoted(q, false); err != nil {
		return 0, false, err
	}
	return r.stringEnd()
}

// noValue reads a bracket or a comma that stands where a value should: the end of an
// array, a comma too many, or a key without a value, which is null.
func (r *Reader) noValue(b byte) (Kind, bool, error) {
	off := r.c.off
	switch {
	case r.state != wantElem: // {"a": }
		r.fix(off, UnquotedValue)
		r.after()
		return Null, true, nil
	case b == ',':
		r.fix(off, ExtraComma)
		r.c.off++
		return 0, false, nil
	}
	kind, ok := r.close(b)
	if ok && b == ']' && kind == ArrayEnd && r.behindComma(off) {
		r.fix(off, TrailingComma)
	}
	return kind, ok, nil
}

// otherValue reads what does not begin as values of JSON do, numbers and literals
// excepted; or the end of the text in place of a value.
func (r *Reader) otherValue(b byte) (Kind, bool, error) {
	c, off := r.c, r.c.off
	if b >= 0x80 && r.smartQuote(off) != 0 {
		r.smart(false)
		return r.stringEnd()
	}
	if q := r.customQuote(off); q != "" {
		r.literal(q)
		r.after()
		return String, true, nil
	}
	if b == 0 && c.EOF() || r.atClose(off) || r.cutQuote(off) {
		if len(r.stack) == 0 {
			return 0, false, fmt.Errorf("%w: nothing at byte %d", ErrSyntax, off)
		}
		if r.state == wantValue {
			r.CutToken = true
		}
		r.unwind()
		return r.pop(), true, nil
	}
	return r.scalar(b)
}

// stringEnd reads what can follow a string without a comma: a string that is
// to be joined to it.
func (r *Reader) stringEnd() (Kind, bool, error) {
	if r.ending {
		r.state = wantSep
		if len(r.stack) == 0 {
			r.state = done
		}
		return String, true, nil
	}
	for {
		c := r.c
		next := r.spaceWithin(c.off, 256)
		b, ok := c.At(next)
		plus := ok && b == '+'
		if plus {
			next = r.spaceWithin(next+1, 256)
			b, ok = c.At(next)
		} else if !r.o.Python {
			break
		}
		if !ok || b != '"' && b != '\'' {
			break
		}
		head := r.text
		r.fix(next, Concatenation)
		c.off = next + 1
		if err := r.quoted(b, false); err != nil {
			return 0, false, err
		}
		r.text = head + r.text
		if r.ending {
			break
		}
	}
	r.after()
	return String, true, nil
}

// Frame is an open bracket of a value that is being built.
type Frame struct {
	Object map[string]any // nil for an array
	Array  []any
	Keys   []string // the keys of Object in the order in which they came, with Options.Watch
	Key    string   // whose value is being read
	HasKey bool
}

// Open returns the open brackets of the value that is being built, the outermost
// first, for looking at it while the cursor waits.
func (r *Reader) Open() []Frame { return r.frames }

// OpenText returns the decoded text of the string that is being read as a value,
// as far as it is certain; ok is false if no string is being read.
func (r *Reader) OpenText() (text []byte, ok bool) { return r.scratch, r.inString }

// Result is the value that [Reader.Value] has read, nil as long as it is not whole.
func (r *Reader) Result() any { return r.result }

// Value reads the whole value: map[string]any, []any, string, json.Number, bool
// or nil. Numbers keep their digits. Of a value that the text's end cut off it
// returns what there was, with [Truncated] among the fixes.
func (r *Reader) Value() (any, error) {
	v, err := r.build()
	if r.borrowed != nil {
		*r.borrowed = r.scratch[:0]
		buffers.Put(r.borrowed)
		r.borrowed, r.scratch = nil, nil
	}
	return v, err
}

// borrow takes scratch space that another reader has used before.
func (r *Reader) borrow() {
	r.borrowed, _ = buffers.Get().(*[]byte)
	r.scratch = (*r.borrowed)[:0]
}

func (r *Reader) build() (any, error) {
	for {
		kind, err := r.Next()
		if err != nil {
			return nil, err
		}
		var v any
		switch kind {
		case End:
			return r.result, nil
		case Key:
			f := &r.frames[len(r.frames)-1]
			f.Key, f.HasKey = r.text, true
			continue
		case ObjectStart:
			r.frames = append(r.frames, Frame{Object: make(map[string]any)})
			continue
		case ArrayStart:
			r.frames = append(r.frames, Frame{})
			continue
		case ObjectEnd, ArrayEnd:
			f := r.frames[len(r.frames)-1]
			r.frames = r.frames[:len(r.frames)-1]
			if f.Object != nil {
				v = f.Object
			} else {
				if f.Array == nil {
					f.Array = []any{}
				}
				v = f.Array
			}
		case String:
			v = r.text
		case Number:
			v = json.Number(r.text)
		case True:
			v = true
		case False:
			v = false
		}
		if len(r.frames) == 0 {
			r.result = v
			continue
		}
		f := &r.frames[len(r.frames)-1]
		if f.Object == nil {
			f.Array = append(f.Array, v)
			continue
		}
		n := len(f.Object)
		f.Object[f.Key] = v
		if len(f.Object) == n {
			r.fix(r.c.off, DuplicateKey)
		}
		if r.o.Watch {
			f.Keys = append(f.Keys, f.Key)
		}
		f.HasKey = false
	}
}

// intern returns the key as a string, without allocating if it was read lately.
func (r *Reader) intern(b []byte) string {
	if len(b) == 0 || len(b) > 64 {
		return string(b)
	}
	slot := &r.keys[(int(b[0])+31*int(b[len(b)-1])+7*len(b)+13*int(b[len(b)/2]))%64]
	if *slot != string(b) {
		*slot = string(b)
	}
	return *slot
}

// validText returns b as a string of valid UTF-8.
func (r *Reader) validText(off int, b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	r.fix(off, InvalidUTF8)
	return ValidUTF8(b)
}

// ErrTrailing says that something stands behind the value.
var ErrTrailing = errors.New("text behind the value")
