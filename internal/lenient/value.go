package lenient

import "fmt"

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
		if len(r.stack) > 0 && r.tupleAt(off) {
			r.fix(off, Tuple)
			c.off++
			return ArrayStart, true, r.push('(')
		}
	case ':':
		if r.state == wantValue && len(r.stack) > 0 { // {"a":: 1}
			r.fix(off, OtherColon)
			c.off++
			return 0, false, nil
		}
	case '\\':
		if c.HasPrefix(`\"`) {
			r.escapedString()
			r.after()
			return String, true, nil
		}
	}
	if !r.o.Python {
		if r.state == wantElem && r.ellipsis(b) {
			r.state = wantSep
			return 0, false, nil
		}
		if len(r.stack) == 0 {
			if at := r.wrapperAt(); at > 0 {
				r.fix(off, Wrapper)
				c.off, r.wrapped = at, true
				return 0, false, nil
			}
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
	if b == 0 && c.EOF() || r.atClose(off) || b == '`' && c.HasPrefix("```") || r.cutQuote(off) {
		if len(r.stack) == 0 {
			return 0, false, fmt.Errorf("%w: nothing at byte %d", ErrSyntax, off)
		}
		if r.state == wantValue {
			r.cutOff(CutValue)
		} else {
			r.unwind()
		}
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
	several := false
	for {
		c := r.c
		next := r.spaceWithin(c.off, 256)
		b, ok := c.At(next)
		plus := ok && b == '+'
		if plus {
			at := next
			next = r.spaceWithin(next+1, 256)
			b, ok = c.At(next)
			if b == '}' || b == ']' { // "a" + }
				r.fix(at, Concatenation)
				c.off = next
			}
		} else if !r.o.Python {
			if b == ':' && len(r.stack) > 0 && !r.inObject() {
				return r.keyInList(next), true, nil
			}
			break
		}
		if !ok || b != '"' && b != '\'' {
			break
		}
		several = true
		r.scratch = append(r.scratch[:r.joined], r.text...)
		r.joined = len(r.scratch)
		r.fix(next, Concatenation)
		c.off = next + 1
		if err := r.quoted(b, false); err != nil {
			return 0, false, err
		}
		if r.ending {
			break
		}
	}
	if several {
		r.text = string(append(r.scratch[:r.joined], r.text...))
		r.joined = 0
	}
	if r.levels != nil {
		r.choose()
	}
	r.after()
	return String, true, nil
}
