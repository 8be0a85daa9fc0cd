package scan

import (
	"strings"

	"github.com/callwright/callwright/dialect"
	"github.com/callwright/callwright/internal/lenient"
	"github.com/callwright/callwright/registry"
)

// paramsBody is calls whose parameters stand in tags of their own.
type paramsBody struct{}

func (paramsBody) at(l *look, off int, rows []*dialect.Row) (int, bool) {
	for _, row := range rows {
		if row.Body != dialect.BodyParams {
			continue
		}
		if end := matchAny(l.c, off, row.Options.Lead); end >= 0 {
			if t, ok := l.tag(l.c.SpaceEnd(end)); ok && t.call() {
				return l.c.SpaceEnd(end), true
			}
		}
	}
	if l.prefixAt(off, rows, dialect.BodyParams) >= 0 {
		return off, true
	}
	if l.bareCallTag(off) > 0 {
		return off, true
	}
	t, ok := l.tag(off)
	switch {
	case !ok || t.close:
		return off, false
	case t.word == "name" && len(t.attrs) == 0 && t.name == "":
		_, _, ok := l.nameElement(off)
		return off, ok
	case t.call():
		return off, t.name != "" || t.selfClose || t.word == "function" || t.word == "invoke" || t.word == "tool"
	}
	return off, t.param() && t.name != ""
}

// bareCallTag returns the offset behind a call's tag at off that lacks its bracket:
// function=f> ; 0 if there is none.
func (l *look) bareCallTag(off int) int {
	for _, word := range l.t.words.call {
		if !l.c.HasPrefixAt(off, word+"=") {
			continue
		}
		end := l.nameEnd(off + len(word) + 1)
		if b, _ := l.c.At(end); end > off+len(word)+1 && b == '>' {
			return end + 1
		}
	}
	return 0
}

// nameElement reads <name>f</name> at off, with parameters behind it.
func (l *look) nameElement(off int) (name string, next int, ok bool) {
	t, ok := l.tag(off)
	if !ok || t.close || t.word != "name" {
		return "", 0, false
	}
	end := l.nameEnd(t.end)
	closing, ok := l.tag(end)
	if !ok || !closing.close || closing.word != "name" || end == t.end {
		return "", 0, false
	}
	p, ok := l.tag(l.c.SpaceEnd(closing.end))
	return string(l.c.Slice(t.end, end)), closing.end, ok && (p.param() || p.close)
}

func (paramsBody) read(k *construct) outcome {
	for {
		at := k.c.SpaceEnd(k.c.Offset())
		for k.skipsPrefix(&at) {
		}
		t, ok := k.tag(at)
		if end := k.bareCallTag(at); !ok && end > 0 {
			name := string(k.c.Slice(at, end-1))
			word, name, _ := strings.Cut(name, "=")
			t, ok = tag{words: &k.t.words, word: word, name: name, start: at, end: end}, true
		}
		if name, next, isName := k.nameElement(at); isName && k.got == 0 {
			t, ok = tag{words: &k.t.words, word: "function", name: name, start: at, end: next}, true
		}
		if !ok || t.close || !t.call() {
			if ok && !t.close && t.wrapper() && k.got == 0 {
				k.c.Seek(t.end) // a wrapper within the wrapper
				continue
			}
			if ok && !t.close && t.param() && k.got == 0 {
				// Parameters of a call whose own tag is missing: nothing says
				// which tool is meant.
				return k.fail()
			}
			if e := matchAny(k.c, at, k.row.Options.Between); e >= 0 {
				k.c.Seek(e)
				continue
			}
			if e := matchAny(k.c, at, k.row.Options.Lead); e >= 0 && k.got == 0 {
				k.c.Seek(e)
				continue
			}
			break
		}
		if k.got > 0 {
			k.next = at
		}
		k.c.Seek(t.end)
		if !k.paramCall(t) {
			if k.got == 0 {
				return k.fail()
			}
			break
		}
	}
	return k.closeAndFinish()
}

// skipsPrefix moves over the token that leads every tag of a row's body.
func (k *construct) skipsPrefix(at *int) bool {
	p := k.row.Options.Prefix
	if p == "" || !k.c.HasPrefixAt(*at, p) {
		return false
	}
	*at = k.c.SpaceEnd(*at + len(p))
	return true
}

// paramCall reads one call behind its tag.
func (k *construct) paramCall(t tag) bool {
	c := k.c
	cand := &Candidate{Named: true, Name: t.name, ID: t.attrs["id"]}
	if t.selfClose {
		cand.Arguments = map[string]any{}
		return k.deliver(cand, t.end)
	}
	if t.name == "" {
		// <function>NAME</function> and then the parameters, or the older form in which
		// the name is an element.
		at := c.SpaceEnd(t.end)
		inner, ok := k.tag(at)
		if ok && !inner.close && (inner.word == "tool_name" || inner.word == "name") {
			return k.elementCall(cand, t)
		}
		end := k.nameEnd(at)
		closing, ok := k.tag(c.SpaceEnd(end))
		if end == at || !ok || !closing.close || closing.word != t.word {
			return false
		}
		cand.Name = string(c.Slice(at, end))
		c.Seek(closing.end)
	}
	if at := c.SpaceEnd(c.Offset()); c.HasPrefixAt(at, "{") {
		c.Seek(at)
		return k.argumentsIn(cand, t)
	}
	r := &paramReader{construct: k, cand: cand, open: t, tool: k.lookup(cand.Name), args: map[string]any{}}
	cand.Arguments = r.args
	k.showParams(cand.Name, r.args)
	for {
		more, ok := r.next()
		if !ok {
			return false
		}
		if !more {
			return k.deliver(cand, c.Offset())
		}
	}
}

// paramReader reads the parameters of one call.
type paramReader struct {
	*construct
	cand *Candidate
	open tag // of the call
	tool *registry.Tool
	args map[string]any
	keys []string
}

// next reads what stands next in the call. more is false at its end, ok if it is no
// call.
func (r *paramReader) next() (more, ok bool) {
	c, ev := r.c, &r.cand.Evidence
	at := c.SpaceEnd(c.Offset())
	c.Seek(at)
	t, isTag := r.tag(at)
	switch {
	case !isTag && c.EOF():
		// All parameters are closed: only the call's own end is missing.
		ev.MissingClose = true
		return false, true
	case !isTag:
		if r.skipStray(at) {
			return true, true
		}
		if r.cand.Truncated = r.cutTag(at); r.cand.Truncated {
			c.Seek(c.Limit())
		}
		ev.MissingClose = true
		return false, true
	case t.close:
		c.Seek(t.end)
		isEnd := t.call() || t.wrapper() || t.word == r.open.word || t.word == r.cand.Name
		return !isEnd, true // or else a stray end
	case t.param() && t.selfClose && t.name == "":
		c.Seek(t.end) // it says nothing
		return true, true
	case t.param():
		return r.param(t)
	case t.call() && (t.name != "" || t.word == r.open.word), t.wrapper():
		ev.MissingClose = true
		return false, true
	case t.selfClose:
		c.Seek(t.end)
		return true, true
	}
	// A parameter's own name as the tag.
	c.Seek(t.end)
	if t.kind == "object" && (r.tool == nil || !hasProperty(r.tool, t.word)) {
		if all, ok := r.value(t, t.word).(map[string]any); ok { // all of the arguments
			for key, value := range all {
				r.setParam(r.cand, r.args, &r.keys, key, value)
			}
			return !r.cand.Truncated, true
		}
		return false, false
	}
	r.set(t, t.word)
	if r.tool != nil && !hasProperty(r.tool, t.word) {
		ev.Guess = true
	}
	return !r.cand.Truncated, true
}

// param reads a parameter whose tag says that it is one.
func (r *paramReader) param(t tag) (more, ok bool) {
	c := r.c
	key := t.name
	c.Seek(t.end)
	if key == "" {
		// <parameter>KEY</parameter> VALUE
		end := r.nameEnd(t.end)
		closing, ok := r.tag(end)
		if end == t.end || !ok || !closing.close {
			return false, false
		}
		key = string(c.Slice(t.end, end))
		r.cand.Evidence.Guess = true
		c.Seek(closing.end)
		return r.loose(t, key), true
	}
	r.set(t, key)
	return !r.cand.Truncated, true
}

// loose reads the value behind <parameter>KEY</parameter>: up to the next such tag or the
// call's end. A closing tag may stand there too.
func (r *paramReader) loose(t tag, key string) (more bool) {
	c := r.c
	start := c.Offset()
	r.showOpen("", start, false)
	for off := start; ; off++ {
		b, ok := c.At(off)
		if !ok {
			r.cand.cutIn(key)
			c.Seek(c.Limit())
			return false
		}
		if b != '<' {
			continue
		}
		n, ok := r.tag(off)
		if !ok || n.close && !n.call() && !n.wrapper() || !n.close && (!n.param() || !r.lineBefore(off, start)) {
			continue
		}
		raw := strings.TrimRight(string(c.Slice(start, off)), " \t\r\n")
		raw = strings.TrimRight(strings.TrimSuffix(raw, "</"+t.word+">"), " \t\r")
		c.Seek(off)
		r.setParam(r.cand, r.args, &r.keys, key, r.paramText(t, raw, false))
		return true
	}
}

// set reads the value behind a parameter's tag.
func (r *paramReader) set(t tag, key string) {
	r.setParam(r.cand, r.args, &r.keys, key, r.value(t, key))
}

// setParam sets a parameter of a call.
func (k *construct) setParam(cand *Candidate, args map[string]any, keys *[]string, key string, value any) {
	if _, twice := args[key]; twice {
		cand.Fixes.Add(k.c.Offset(), lenient.DuplicateKey)
		if k.row != nil && k.row.Options.FirstWins {
			return
		}
	}
	args[key] = value
	*keys = append(*keys, key)
	k.showKeys(*keys)
}

// argumentsIn reads the JSON arguments within a call's tags.
func (k *construct) argumentsIn(cand *Candidate, t tag) bool {
	c := k.c
	from := c.Offset()
	r := lenient.NewReader(c, lenient.Options{Close: append(k.readerClose(), "</function>", "</invoke>"), Watch: k.watch})
	k.show(Partial{Name: cand.Name, Arguments: r})
	v, err := r.Value()
	if err != nil {
		c.Seek(from)
		return k.broken(from, err)
	}
	if k.ev.MissingOpen {
		cand.Dialect = k.t.without(dialect.BodyNameJSON, dialect.AsTag, nil)
	}
	cand.Arguments = v
	cand.readBy(r)
	at := c.SpaceEnd(c.Offset())
	if closing, ok := k.tag(at); ok && closing.close && (closing.call() || closing.word == t.word || closing.word == cand.Name) {
		c.Seek(closing.end)
	}
	return k.deliver(cand, c.Offset())
}

// skipStray moves over text between tags, up to the next tag of a call, and
// reports whether there is one nearby.
func (k *construct) skipStray(at int) bool {
	const nearby = 256
	for off := at; off < at+nearby; off++ {
		b, ok := k.c.At(off)
		if !ok {
			return false
		}
		if b == '<' {
			if t, ok := k.tag(off); ok && (t.param() || t.call() || t.close && t.wrapper()) {
				k.c.Seek(off)
				return true
			}
		}
	}
	return false
}

// cutTag reports whether the text ends at or soon behind off, within a tag.
func (l *look) cutTag(off int) bool {
	b, ok := l.c.At(off)
	return ok && b == '<' && l.c.EOFAt(off+maxTag)
}

// value reads a parameter's value behind its tag, and what closes it.
func (r *paramReader) value(p tag, key string) any {
	k, cand := r.construct, r.cand
	start := k.c.Offset()
	v := &valueScan{k: k, key: key, open: p, tool: r.tool, given: r.args}
	if p.kind != "" && p.kind != "string" || k.row.Options.Entities {
		k.showOpen("", start, false)
	} else {
		k.showOpen(key, start, p.kind == "string")
	}
	to, next, ok := v.end(start, !k.s.noNesting)
	if v.nested && v.missing && !k.s.noNesting {
		// Tags within the value took its own end for theirs: they were only
		// spoken of.
		k.s.noNesting = true
		to, next, ok = v.end(start, false)
	}
	if !ok {
		// The text ended inside the value.
		cand.cutIn(key)
		to, next = k.c.Limit(), k.c.Limit()
		to = v.trimCut(start, to)
	}
	if v.foreign {
		cand.Evidence.ForeignClose = true
	}
	if v.missing {
		cand.Evidence.MissingClose = true
	}
	raw := k.ownIndent(p, r.open, start, to)
	k.c.Seek(next)
	return k.paramText(p, raw, v.missing)
}

// ownIndent returns the text of a value without the indentation that belongs to its tags:
// where they stand on lines of their own and are indented, the value's lines are indented
// as much, and one step more.
func (k *construct) ownIndent(open, call tag, start, to int) string {
	raw := string(k.c.Slice(start, to))
	indent := k.indentOf(open.start)
	last := strings.LastIndexByte(raw, '\n')
	if indent == "" || last < 0 || raw[last+1:] != indent || strings.TrimSpace(raw[:strings.IndexByte(raw, '\n')]) != "" {
		return raw
	}
	body := raw[strings.IndexByte(raw, '\n'):][1:]
	if body = strings.TrimSuffix(body, indent); body == "" {
		return ""
	}
	step := ""
	if outer := k.indentOf(call.start); strings.HasPrefix(indent, outer) {
		step = indent[len(outer):]
	}
	for _, n := range []string{indent + step, indent} {
		if text, ok := withoutIndent(body, n); ok {
			return "\n" + text
		}
	}
	return "\n" + body
}

// indentOf returns the white space between the beginning of the line and off; empty if
// something else stands there.
func (k *construct) indentOf(off int) string {
	from := off
	for from > k.c.Kept() {
		b, _ := k.c.At(from - 1)
		if b == '\n' {
			return string(k.c.Slice(from, off))
		}
		if b != ' ' && b != '\t' {
			return ""
		}
		from--
	}
	return ""
}

// withoutIndent takes an indentation off each line of a text; ok is false if a line does
// not have it.
func withoutIndent(text, indent string) (string, bool) {
	var b strings.Builder
	for line := range strings.Lines(text) {
		rest, ok := strings.CutPrefix(line, indent)
		if !ok && strings.TrimSpace(line) != "" {
			return text, false
		}
		if !ok {
			rest = strings.TrimLeft(line, " \t")
		}
		b.WriteString(rest)
	}
	return b.String(), true
}

// paramText makes a parameter's value of the text between its tags: all of it
// but for one newline at either end, its type for the schema to say unless the
// tag says it.
func (k *construct) paramText(p tag, raw string, missing bool) any {
	if p.kind == "string" {
		return lenient.ValidUTF8([]byte(raw))
	}
	raw = trimNewlines(raw)
	if inner, ok := cdata(raw); ok {
		return inner
	}
	if trimmed := strings.TrimSpace(raw); strings.HasPrefix(trimmed, "<value>") && strings.HasSuffix(trimmed, "</value>") {
		raw = trimNewlines(trimmed[len("<value>") : len(trimmed)-len("</value>")])
	}
	if missing {
		raw = dropForeignClose(raw)
	}
	if k.row != nil && k.row.Options.Entities && !strings.Contains(raw, "<") {
		raw = entities.Replace(raw)
	}
	raw = lenient.ValidUTF8([]byte(raw))
	if p.kind != "" && p.kind != "string" {
		if v, _, err := lenient.Parse(raw, lenient.Options{Python: true}); err == nil {
			if _, isString := v.(string); !isString || strings.HasPrefix(strings.TrimSpace(raw), `"`) {
				return v
			}
		}
	}
	return lenient.Text(raw)
}

// dropForeignClose takes a last closing tag off a value that nothing in it opens.
func dropForeignClose(raw string) string {
	trimmed := strings.TrimRight(raw, " \n\r\t")
	i := strings.LastIndex(trimmed, "</")
	if i < 0 || !strings.HasSuffix(trimmed, ">") || strings.ContainsAny(trimmed[i+2:len(trimmed)-1], "<> \n") {
		return raw
	}
	word := trimmed[i+2 : len(trimmed)-1]
	if strings.Contains(trimmed[:i], "<"+word) {
		return raw
	}
	return strings.TrimSuffix(strings.TrimSuffix(trimmed[:i], "\n"), "\r")
}
