package extractor

import (
	"strings"

	"github.com/callwright/callwright/internal/lenient"
)

// pythonic reads calls in Python syntax: a list of them, or one after another.
func (s *Scanner) pythonic(k *construct) bool {
	c := s.c
	inList := false
	if c.Peek() == '[' {
		inList = true
		c.Skip(1)
	}
	for {
		s.skipPython(inList || k.got > 0)
		at := c.Offset()
		b, ok := c.At(at)
		switch {
		case !ok:
			if k.got == 0 {
				return s.fail(k)
			}
			s.closing(k)
			return s.close(k)
		case inList && b == ']':
			c.Skip(1)
			inList = false
			if !k.marked {
				return s.close(k)
			}
			continue
		case b == '`' && c.HasPrefix("```"):
			if k.fenced {
				c.Skip(3)
			}
			s.closing(k)
			return s.close(k)
		case b == '<':
			s.closing(k)
			if k.got == 0 {
				return s.fail(k)
			}
			return s.close(k)
		}
		if k.got > 0 {
			k.next = at
		}
		if b == '{' && inList && k.marked { // {"name": …} among the calls
			if !s.jsonValue(k, plainClose(k.close)) {
				return s.close(k)
			}
			continue
		}
		got := k.got
		if !s.pythonCall(k, inList) || k.got == got {
			if k.got == 0 {
				return s.fail(k)
			}
			c.Seek(at)
			if k.marked {
				s.closing(k)
			}
			return s.close(k)
		}
		if !k.marked && !inList && !s.lineGoesOnWithCall() {
			return s.close(k)
		}
	}
}

// lineGoesOnWithCall reports whether another known call follows on the next line,
// or on this one behind a separator.
func (s *Scanner) lineGoesOnWithCall() bool {
	at := s.c.SpaceEnd(s.c.Offset())
	if b, ok := s.c.At(at); ok && (b == ';' || b == ',') {
		at = s.c.SpaceEnd(at + 1)
	}
	end := s.nameEnd(at)
	if end == at {
		return false
	}
	b, ok := s.c.At(end)
	return ok && b == '(' && s.isKnown(string(s.c.Slice(at, end)))
}

// skipPython moves over white space, separators and comments between calls.
func (s *Scanner) skipPython(separators bool) {
	for {
		s.c.SkipSpace()
		switch b := s.c.Peek(); {
		case separators && (b == ',' || b == ';'):
			s.c.Skip(1)
		case b == '#':
			for {
				b, ok := s.c.At(s.c.Offset())
				if !ok || b == '\n' {
					break
				}
				s.c.Skip(1)
			}
		default:
			return
		}
	}
}

// pythonCall reads one call, with an assignment or print() around it.
func (s *Scanner) pythonCall(k *construct, inList bool) bool {
	c := s.c
	wrapped := 0
	for range 6 {
		at := c.Offset()
		end := s.nameEnd(at)
		if end == at {
			return false
		}
		word := string(c.Slice(at, end))
		next := end
		for {
			if b, _ := c.At(next); b != ' ' {
				break
			}
			next++
		}
		b, ok := c.At(next)
		switch {
		case word == "await" || word == "return" && next > end:
			c.Seek(next)
			continue
		case ok && b == '=' && !inList:
			if n, _ := c.At(next + 1); n == '=' {
				return false
			}
			c.Seek(c.SpaceEnd(next + 1))
			continue
		case ok && b == '(' && word == "print" && !s.isKnown("print"):
			wrapped++
			c.Seek(c.SpaceEnd(next + 1))
			continue
		case !ok || b != '(':
			return false
		}
		name := strings.ReplaceAll(word, `\_`, "_")
		if base, ok := strings.CutSuffix(name, ".call"); ok && !s.isKnown(name) {
			name = base
		}
		if !k.marked && s.known && !s.isKnown(name) {
			return false
		}
		c.Seek(next + 1)
		cand := &Candidate{Named: true, Name: name}
		if !s.pythonArguments(k, cand) {
			return false
		}
		for range wrapped {
			at := c.SpaceEnd(c.Offset())
			if b, _ := c.At(at); b == ')' {
				c.Seek(at + 1)
			}
		}
		if !k.marked && !inList && !s.endsHere(c.Offset()) {
			if b, _ := c.At(c.SpaceEnd(c.Offset())); b != ';' && b != ',' && b != '<' {
				return false
			}
		}
		if inList && !k.marked && k.got == 0 && !s.listEnds() {
			return false
		}
		if !k.marked {
			cand.Provenance = Bare
			cand.Method = MethodBalanced
		}
		if k.ev.Fence != "" {
			cand.Method = MethodCodeblock
		}
		return s.deliver(k, cand, c.Offset())
	}
	return false
}

// listEnds reports whether what follows a call in a list can.
func (s *Scanner) listEnds() bool {
	b, ok := s.c.At(s.c.SpaceEnd(s.c.Offset()))
	return !ok || b == ',' || b == ']' || b == ';'
}

// pythonArguments reads the arguments of a call up to its closing bracket.
func (s *Scanner) pythonArguments(k *construct, cand *Candidate) bool {
	c := s.c
	args := map[string]any{}
	cand.Arguments = args
	var keys []string
	s.watch(k, cand.Name, &keys, args)
	for {
		s.skipPython(true)
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
		key := s.keyword()
		from := c.Offset()
		r := lenient.NewReader(c, lenient.Options{Python: true, Close: plainClose(k.close)})
		v, err := r.Value()
		if err != nil {
			// A set, or code.
			return false
		}
		cand.Fixes.Merge(&r.Fixes)
		if r.CutToken || r.OpenAtEnd > 0 {
			cand.Truncated = true
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
			s.setParam(k, cand, args, &keys, key, v)
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
func (s *Scanner) keyword() string {
	c := s.c
	at := c.Offset()
	quote, _ := c.At(at)
	from := at
	if quote == '"' || quote == '\'' {
		from++ // "city": "Rome"
	} else if !isIdentStart(quote) {
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
var constructors = []string{"datetime", "date", "time", "timedelta", "dict", "list", "set", "tuple", "frozenset", "Decimal", "Fraction", "Path", "UUID", "uuid", "bytes", "range", "Timestamp"}

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

// callString reads a text that is one call in Python syntax.
func (s *Scanner) callString(text string) *Candidate {
	sub := &Scanner{c: lenient.NewCursor([]byte(text)), o: s.o, t: s.t, known: s.known}
	sub.o.Watch = false
	catch := &catcher{}
	sub.sink = catch
	k := &construct{row: nil, marked: true}
	if !sub.pythonCall(k, true) || len(catch.found) != 1 {
		return nil
	}
	sub.c.SkipSpace()
	if !sub.c.EOF() || !s.isKnown(catch.found[0].Name) {
		return nil
	}
	return catch.found[0]
}

// catcher is a sink that keeps candidates.
type catcher struct{ found []*Candidate }

func (c *catcher) Candidate(x *Candidate) bool { c.found = append(c.found, x); return true }
func (c *catcher) Content(string)              {}
func (c *catcher) Reasoning(string)            {}
func (c *catcher) Recast()                     {}
func (c *catcher) Abandoned()                  {}
func (c *catcher) Unclosed()                   {}
func (c *catcher) Draft(*Dialect, int)         {}
func (c *catcher) Dropped(int, int, string)    {}
