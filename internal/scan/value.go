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

// valueScan finds the end of a value that is raw text: the closing tag that counts is
// the one that something legal follows.
type valueScan struct {
	k       *construct
	key     string
	open    tag
	tool    *registry.Tool
	given   map[string]any // the call's parameters so far
	start   int            // of the value
	nesting bool           // calls within the value are part of it

	depth, inner int // open calls, and open parameters, within the value
	callEnd      int // where a call's closing tag stands that may end the value, -1 if none does

	nested  bool // tags of a call were seen within the value
	missing bool // its closing tag is missing
	foreign bool // another tag closes it
}

// end returns where the value ends and where to go on. With nesting, calls within the
// value are part of it.
func (v *valueScan) end(start int, nesting bool) (to, next int, ok bool) {
	k := v.k
	v.start, v.nesting = start, nesting
	v.depth, v.inner, v.callEnd = 0, 0, -1
	v.missing, v.foreign = false, false
	prefix := k.row.Options.Prefix
	inCDATA := k.c.HasPrefixAt(start, "<![CDATA[")
	for off := start; ; {
		p := k.c.Slice(off, k.c.Limit())
		i := bytes.IndexByte(p, '<')
		if i < 0 {
			i = len(p)
		}
		off += i
		if v.depth == 0 && !v.nested {
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
			if e := matchAny(k.c, off, k.close); e >= 0 && v.depth == 0 && k.c.EOFAt(k.c.SpaceEnd(e)) {
				v.missing = true
				return off, off, true
			}
			off++
			continue
		}
		at := off
		off = t.end
		if prefix != "" {
			at -= len(prefix)
			if at < start || !k.c.HasPrefixAt(at, prefix) {
				continue
			}
		}
		if next, ok := v.endsAt(t, at); ok {
			return at, next, true
		}
	}
	if v.callEnd >= 0 && v.depth == 0 {
		v.missing = true
		return v.callEnd, v.callEnd, true
	}
	return 0, 0, false
}

// endsAt takes the next tag within a value, which stands at an offset with its prefix,
// and reports whether the value ends there and where to go on.
func (v *valueScan) endsAt(t tag, at int) (next int, ok bool) {
	isCall := t.call() || t.wrapper()
	if t.close {
		switch {
		case isCall && v.depth > 0:
			v.depth--
		case t.param() && v.inner > 0:
			v.inner--
		case v.closesValue(t):
			return t.end, v.legal(t.end)
		case v.depth > 0:
		case isCall || t.word == v.open.word || matchAny(v.k.c, at, v.k.close) >= 0:
			// The call ends here: the value's own end is missing.
			if v.callEnd < 0 && v.k.endsHere(t.end) {
				v.callEnd = at
			}
			v.missing = v.endsCall(t)
			return at, v.missing
		case t.word != v.key && v.legalParam(t.end):
			// Another tag in the place of the value's own.
			v.foreign = !strings.Contains(string(v.k.c.Slice(v.start, t.start)), "<"+t.word)
			return t.end, v.foreign
		}
		return 0, false
	}
	switch {
	case t.call() && (t.name != "" || t.word == "invoke") || t.wrapper():
		if v.nesting && !t.selfClose {
			v.nested = true
			v.depth++
		}
	case !t.param() || t.name == "":
	case v.nesting && (v.depth > 0 || !v.opensNext(t, v.start)):
		v.nested = true
		v.inner++
	case v.depth == 0 && v.opensNext(t, v.start):
		v.missing = true
		return at, true
	}
	return 0, false
}

// closesValue reports whether a closing tag is the value's own.
func (v *valueScan) closesValue(t tag) bool {
	return t.param() || t.word == v.open.word && v.open.word != "" || t.word == v.key
}

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
	if !ok && b == '<' && k.cutTag(next) {
		return true // the text ends within the next tag
	}
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
var closingWords = []string{
	"</function>", "</invoke>", "</parameter>", "</tool_call>", "</function_calls>", "<parameter", "</minimax:tool_call>",
	"</｜DSML｜",
}

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
	if _, twice := v.given[t.name]; twice || t.name == v.key {
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
