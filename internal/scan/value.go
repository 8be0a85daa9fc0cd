package scan

import (
	"bytes"
	"strings"

	"github.com/callwright/callwright/registry"
)

// trimNewlines takes one newline off either end.
func trimNewlines(s string) string {
	if rest, ok := strings.CutPrefix(s, "\r\n"); ok {
		s = rest
	} else {
		s = strings.TrimPrefix(s, "\n")
	}
	if rest, ok := strings.CutSuffix(s, "\r\n"); ok {
		return rest
	}
	return strings.TrimSuffix(s, "\n")
}

// cdata takes <![CDATA[…]]> off a value that is nothing else.
func cdata(s string) (string, bool) {
	t := strings.TrimSpace(s)
	inner, ok := strings.CutPrefix(t, "<![CDATA[")
	if !ok {
		return s, false
	}
	inner, ok = strings.CutSuffix(inner, "]]>")
	if !ok {
		return s, false
	}
	return strings.ReplaceAll(inner, "]]]]><![CDATA[>", "]]>"), true
}

// valueScan finds the end of a value that is raw text: the closing tag that
// counts is the one that something legal follows.
type valueScan struct {
	k       *construct
	key     string
	open    tag
	tool    *registry.Tool
	nested  bool // tags of a call were seen within the value
	missing bool // its closing tag is missing
	foreign bool // another tag closes it
}

// end returns where the value ends and where to go on. With nesting, calls within
// the value are part of it.
func (v *valueScan) end(start int, nesting bool) (to, next int, ok bool) {
	k := v.k
	depth, inner := 0, 0 // open calls, and open parameters, within the value
	v.missing, v.foreign = false, false
	prefix := k.row.Options.Prefix
	inCDATA := k.c.HasPrefixAt(start, "<![CDATA[")
	fallback, fallbackNext := -1, -1
	for off := start; ; {
		p := k.c.Slice(off, k.c.Limit())
		i := bytes.IndexByte(p, '<')
		if i < 0 {
			i = len(p)
		}
		off += i
		if depth == 0 && !v.nested {
			k.showSafe(off)
		}
		b, in := k.c.At(off)
		if !in {
			break
		}
		if b != '<' {
			continue
		}
		if inCDATA {
			if k.c.HasPrefixAt(off, "<![CDATA[") {
				off += len("<![CDATA[")
				continue
			}
			if before := k.c.Slice(max(start, off-3), off); string(before) != "]]>" {
				off++
				continue
			}
		}
		t, isTag := k.tag(off)
		if !isTag {
			if e := matchAny(k.c, off, k.close); e >= 0 && depth == 0 && k.c.EOFAt(k.c.SpaceEnd(e)) {
				v.missing = true
				return off, off, true
			}
			off++
			continue
		}
		at := off
		if prefix != "" {
			at = off - len(prefix)
			if at < start || !k.c.HasPrefixAt(at, prefix) {
				off = t.end
				continue
			}
		}
		switch {
		case !t.close && (t.call() && (t.name != "" || t.word == "invoke") || t.wrapper()):
			if nesting && !t.selfClose {
				v.nested = true
				depth++
			}
		case t.close && (t.call() || t.wrapper()) && depth > 0:
			depth--
		case !t.close && t.param() && t.name != "" && nesting && (depth > 0 || !v.opensNext(t, start)):
			v.nested = true
			inner++
		case t.close && t.param() && inner > 0:
			inner--
		case t.close && v.closesValue(t):
			if v.legal(t.end) {
				return at, t.end, true
			}
		case depth > 0:
		case t.close && (t.call() || t.wrapper() || t.word == v.open.word || matchAny(k.c, at, k.close) >= 0):
			// The call ends here: the value's own end is missing.
			if fallback < 0 && k.endsHere(t.end) {
				fallback, fallbackNext = at, at
			}
			if v.endsCall(t) {
				v.missing = true
				return at, at, true
			}
		case t.close && !v.known(t.word) && v.legalParam(t.end):
			// Another tag in the place of the value's own.
			if !strings.Contains(string(k.c.Slice(start, off)), "<"+t.word) {
				v.foreign = true
				return at, t.end, true
			}
		case !t.close && t.param() && t.name != "" && v.opensNext(t, start):
			v.missing = true
			return at, at, true
		}
		off = t.end
	}
	if fallback >= 0 && depth == 0 {
		v.missing = true
		return fallback, fallbackNext, true
	}
	return 0, 0, false
}

// closesValue reports whether a closing tag is the value's own.
func (v *valueScan) closesValue(t tag) bool {
	return t.param() || t.word == v.open.word && v.open.word != "" || t.word == v.key
}

func (v *valueScan) known(word string) bool { return word == v.key }

// legal reports whether what stands behind a value's closing tag can follow it.
func (v *valueScan) legal(off int) bool {
	k := v.k
	next := k.c.SpaceEnd(off)
	for k.skipsPrefix(&next) {
	}
	b, ok := k.c.At(next)
	if !ok {
		return true
	}
	if b != '<' && b != '[' {
		return false
	}
	t, ok := k.tag(next)
	if ok {
		switch {
		case t.param() && !t.close, t.call(), t.wrapper():
			return true
		case v.open.param() && t.close && t.param():
			return false // its own closing tag comes once more: this one is text
		case !t.close && v.tool != nil && hasProperty(v.tool, t.word):
			return true
		case t.close && k.row != nil && t.word != v.key:
			return k.closer(next, k.close) >= 0 && k.known() && k.isKnown(t.word) || matchAny(k.c, next, k.close) >= 0
		}
		return false
	}
	return matchAny(k.c, next, k.close) >= 0 || k.endsTurn(next) || k.cutTag(next) && k.cutClose(next, closingWords)
}

// closingWords are what may be cut off at the end of a text.
var closingWords = []string{"</function>", "</invoke>", "</parameter>", "</tool_call>", "</function_calls>", "<parameter", "</minimax:tool_call>", "</｜DSML｜"}

// legalParam reports whether another parameter or the call's end follows.
func (v *valueScan) legalParam(off int) bool {
	k := v.k
	next := k.c.SpaceEnd(off)
	for k.skipsPrefix(&next) {
	}
	t, ok := k.tag(next)
	if !ok {
		return false
	}
	return t.param() && !t.close && t.name != "" || t.close && t.call() && v.endsCall(t)
}

// endsCall reports whether what stands behind a call's closing tag can follow a
// call rather than text about one.
func (v *valueScan) endsCall(t tag) bool {
	k := v.k
	next := k.c.SpaceEnd(t.end)
	if k.c.EOFAt(next) {
		return true
	}
	if t2, ok := k.tag(next); ok {
		return t2.wrapper() || t2.call() && !t2.close || t2.close && t.word == "parameter"
	}
	if matchAny(k.c, next, k.close) >= 0 || k.endsTurn(next) {
		return true
	}
	return t.wrapper() && k.lineBefore(t.start, k.c.Kept()) && k.endsHere(t.end)
}

// opensNext reports whether a parameter's tag within a value opens the next
// parameter, the end of this one being missing.
func (v *valueScan) opensNext(t tag, start int) bool {
	if t.name == v.key {
		return false
	}
	if v.tool != nil && v.tool.Parameters != nil {
		return hasProperty(v.tool, t.name)
	}
	return v.k.lineBefore(t.start, start)
}

// trimCut takes an incomplete tag off the end of a value that the text cut off.
func (v *valueScan) trimCut(start, to int) int {
	p := string(v.k.c.Slice(start, to))
	if i := strings.LastIndexByte(p, '<'); i >= 0 && len(p)-i < 24 {
		for _, w := range closingWords {
			if strings.HasPrefix(w, p[i:]) {
				return start + i
			}
		}
	}
	return to
}
