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
	t, ok := l.tag(off)
	switch {
	case !ok || t.close:
		return off, false
	case t.call():
		return off, t.name != "" || t.selfClose || t.word == "function" || t.word == "invoke" || t.word == "tool"
	}
	return off, t.param() && t.name != ""
}

func (paramsBody) read(k *construct) outcome {
	for {
		at := k.c.SpaceEnd(k.c.Offset())
		for k.skipsPrefix(&at) {
		}
		t, ok := k.tag(at)
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
	}
	r.set(t, key)
	return !r.cand.Truncated, true
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
	cand.Arguments, cand.Fixes = v, r.Fixes
	cand.Truncated = cut(r)
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
		cand.Truncated = true
		to, next = k.c.Limit(), k.c.Limit()
		to = v.trimCut(start, to)
	}
	if v.foreign {
		cand.Evidence.ForeignClose = true
	}
	if v.missing {
		cand.Evidence.MissingClose = true
	}
	raw := string(k.c.Slice(start, to))
	k.c.Seek(next)
	return k.paramText(p, raw, v.missing)
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
