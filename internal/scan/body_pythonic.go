package scan

import (
	"strings"

	"github.com/callwright/callwright/call"
	"github.com/callwright/callwright/dialect"
	"github.com/callwright/callwright/internal/lenient"
)

// pythonicBody is calls in Python syntax: a list of them, or one after another.
type pythonicBody struct{}

func (pythonicBody) at(l *look, off int, rows []*dialect.Row) (int, bool) {
	b, _ := l.c.At(off)
	if b == '[' {
		next := l.c.SpaceEnd(off + 1)
		n, _ := l.c.At(next)
		return off, isIdentStart(n) && l.callAt(next)
	}
	if b < 0x80 && !isIdentStart(b) && b != '$' {
		return off, false
	}
	end := l.nameEnd(off)
	if end == off {
		return off, false
	}
	n, _ := l.c.At(end)
	return off, n == '(' || n == '=' && hasBody(rows, dialect.BodyPythonic)
}

func (pythonicBody) read(k *construct) outcome {
	c := k.c
	inList := false
	if c.Peek() == '[' {
		inList = true
		c.Skip(1)
	}
	for {
		k.skipPython(inList || k.got > 0)
		at := c.Offset()
		b, ok := c.At(at)
		switch {
		case !ok:
			if k.got == 0 {
				return k.fail()
			}
			k.skipClosing()
			return k.finish()
		case inList && b == ']':
			c.Skip(1)
			inList = false
			if !k.marked {
				return k.finish()
			}
			continue
		case b == '`' && c.HasPrefix("```"):
			if k.fenced {
				c.Skip(3)
			}
			k.skipClosing()
			return k.finish()
		case b == '<':
			k.skipClosing()
			if k.got == 0 {
				return k.fail()
			}
			return k.finish()
		}
		if k.got > 0 {
			k.next = at
		}
		if b == '{' && inList && k.marked { // {"name": …} among the calls
			if !k.jsonValue(k.readerClose()) {
				return k.finish()
			}
			continue
		}
		got := k.got
		if !k.pythonCall(inList) || k.got == got {
			if k.got == 0 {
				return k.fail()
			}
			c.Seek(at)
			if k.marked {
				k.skipClosing()
			}
			return k.finish()
		}
		if !k.marked && !inList && !k.lineGoesOnWithCall() {
			return k.finish()
		}
	}
}

// lineGoesOnWithCall reports whether another known call follows on the next line,
// or on this one behind a separator.
func (k *construct) lineGoesOnWithCall() bool {
	at := k.c.SpaceEnd(k.c.Offset())
	if b, ok := k.c.At(at); ok && strings.IndexByte(statementOperators, b) >= 0 {
		at = k.c.SpaceEnd(at + 1)
	}
	end := k.nameEnd(at)
	if end == at {
		return false
	}
	b, ok := k.c.At(end)
	return ok && b == '(' && k.callsTool(string(k.c.Slice(at, end)), end)
}

// skipPython moves over white space, separators and comments between calls.
func (k *construct) skipPython(separators bool) {
	for {
		k.c.SkipSpace()
		switch b := k.c.Peek(); {
		case separators && b != 0 && strings.IndexByte(statementOperators, b) >= 0:
			k.c.Skip(1)
		case b == '#':
			for {
				b, ok := k.c.At(k.c.Offset())
				if !ok || b == '\n' {
					break
				}
				k.c.Skip(1)
			}
		default:
			return
		}
	}
}

// pythonCall reads one call, with an assignment or print() around it.
func (k *construct) pythonCall(inList bool) bool {
	c := k.c
	name, open, prints := k.pythonName(inList)
	if name == "" || !k.marked && k.known() && !k.callsTool(name, open) {
		return false
	}
	c.Seek(open + 1)
	cand := &Candidate{Named: true, Name: name}
	if !k.pythonArguments(cand) {
		return false
	}
	for range prints {
		if at := c.SpaceEnd(c.Offset()); c.HasPrefixAt(at, ")") {
			c.Seek(at + 1)
		}
	}
	if !k.marked {
		if inList && k.got == 0 && !k.listEnds() || !inList && !k.statementEnds() {
			return false
		}
		cand.Provenance = call.Bare
		cand.Method = call.MethodBalanced
	}
	if k.ev.Fence != "" {
		cand.Method = call.MethodCodeblock
	}
	return k.deliver(cand, c.Offset())
}

// pythonName reads up to the parenthesis of a call: its name, where the parenthesis
// stands, and how many print( stand around it. The name is empty if there is no call.
func (k *construct) pythonName(inList bool) (name string, open, prints int) {
	c := k.c
	for range 6 {
		at := c.Offset()
		end := k.nameEnd(at)
		word := string(c.Slice(at, end))
		next := end
		for c.HasPrefixAt(next, " ") {
			next++
		}
		b, _ := c.At(next)
		after, _ := c.At(next + 1)
		switch {
		case end == at:
			return "", 0, 0
		case word == "await" || word == "return" && next > end:
			c.Seek(next)
		case b == '=' && !inList && after != '=': // an assignment
			c.Seek(c.SpaceEnd(next + 1))
		case b == '(' && word == "print" && !k.isKnown("print"):
			prints++
			c.Seek(c.SpaceEnd(next + 1))
		case b != '(':
			return "", 0, 0
		default:
			name = strings.ReplaceAll(word, `\_`, "_")
			if base, ok := strings.CutSuffix(name, ".call"); ok && !k.isKnown(name) {
				name = base
			}
			return name, next, prints
		}
	}
	return "", 0, 0
}

// statementEnds reports whether a statement can end at the cursor.
func (k *construct) statementEnds() bool {
	if k.endsHere(k.c.Offset()) {
		return true
	}
	b, _ := k.c.At(k.c.SpaceEnd(k.c.Offset()))
	return b == ';' || b == ',' || b == '<' || b == '#' || k.lineGoesOnWithCall()
}

// listEnds reports whether what follows a call in a list can.
func (k *construct) listEnds() bool {
	b, ok := k.c.At(k.c.SpaceEnd(k.c.Offset()))
	return !ok || b == ',' || b == ']' || b == ';'
}

// pythonArguments reads the arguments of a call up to its closing bracket. It is long since
// it is one loop over what may stand between two arguments.
func (k *construct) pythonArguments(cand *Candidate) bool { //nolint:gocyclo // see above
	c := k.c
	args := map[string]any{}
	cand.Arguments = args
	var keys []string
	k.showParams(cand.Name, args)
	for {
		k.skipPython(true)
		at := c.Offset()
		b, ok := c.At(at)
		switch {
		case !ok:
			cand.Truncated = true
			return true
		case b == ')':
			c.Skip(1)
			return true
		case b == ']' || b == '<' || b == '`' && c.HasPrefix("```"):
			cand.Fixes.Add(at, lenient.MissingClose)
			return true
		case b == '*':
			for c.Peek() == '*' {
				c.Skip(1)
			}
		case b == '/' && len(args) == 0:
			return false
		}
		key := k.keyword()
		from := c.Offset()
		r := lenient.NewReader(c, lenient.Options{Python: true, Close: k.readerClose()})
		v, err := r.Value()
		if err != nil {
			// A set, or code.
			return false
		}
		cand.Fixes.Merge(&r.Fixes)
		if cut(r) || c.EOF() && endsWord(c) { // a word or a number, which may go on
			cand.cutIn(key)
			if key == "" { // half of a value, or of a name
				return true
			}
		}
		if r.Fixes.Has(lenient.Expression) {
			text := strings.TrimSpace(string(c.Slice(from, c.Offset())))
			if !harmlessExpression(text) {
				cand.Evidence.Guess = true
				cand.Err = ErrExpression
			}
		}
		at = c.SpaceEnd(c.Offset())
		if b, ok := c.At(at); ok && b != ',' && b != ')' && b != ']' && b != '<' && b != '#' && b != ';' && b != '`' && key == "" {
			return false
		}
		switch m, isMap := v.(map[string]any); {
		case key != "":
			k.setParam(cand, args, &keys, key, v)
		case isMap && b == '*':
			for name, value := range m {
				args[name] = value
			}
		default:
			cand.Positional = append(cand.Positional, v)
		}
	}
}

// keyword reads the name of a keyword argument and its equals sign or colon, if
// one stands at the cursor.
func (k *construct) keyword() string {
	c := k.c
	at := c.Offset()
	quote, _ := c.At(at)
	from := at
	if quote == '"' || quote == '\'' {
		from++ // "city": "Rome"
	} else if !isIdentStart(quote) && !c.HasPrefixAt(at, `\_`) {
		return ""
	}
	end := from
	for end-from < maxName {
		b, ok := c.At(end)
		part := isIdent(b) || b == '-' || b == '\\' && c.HasPrefixAt(end, `\_`)
		if !ok || !part {
			break
		}
		end++
	}
	next := end
	if from > at {
		if b, _ := c.At(next); b != quote {
			return ""
		}
		next++
	}
	for {
		if b, _ := c.At(next); b != ' ' {
			break
		}
		next++
	}
	b, _ := c.At(next)
	after, _ := c.At(next + 1)
	if end == from || b != '=' && b != ':' || after == '=' || b == ':' && after == ':' || b == '=' && from > at {
		return ""
	}
	c.Seek(c.SpaceEnd(next + 1))
	return strings.ReplaceAll(string(c.Slice(from, end)), `\_`, "_")
}

// constructors are calls that stand for a value, whose text is kept.
var constructors = []string{
	"datetime", "date", "time", "timedelta", "dict", "list", "set", "tuple", "frozenset",
	"Decimal", "Fraction", "Path", "UUID", "uuid", "bytes", "range", "Timestamp",
}

// harmlessExpression reports whether an expression is a constant, or builds one.
func harmlessExpression(text string) bool {
	if strings.Trim(text, "0123456789.+-*/%()eE_ ") == "" {
		return true
	}
	name, _, ok := strings.Cut(text, "(")
	if !ok {
		return false
	}
	name = name[strings.LastIndexByte(name, '.')+1:]
	for _, c := range constructors {
		if c == name {
			return true
		}
	}
	return false
}

// endsWord reports whether the byte before the cursor is one of a word or a number.
func endsWord(c *lenient.Cursor) bool {
	b, _ := c.At(c.Offset() - 1)
	return isIdent(b) || b == '.' || b == '-'
}
