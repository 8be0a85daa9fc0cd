package scan

import (
	"slices"
	"strings"

	"github.com/callwright/callwright/dialect"
)

// tagWords are the words of tags: of a call, of a parameter, and of what stands around
// calls.
type tagWords struct {
	call, param, wrap []string
	tokens            []tokenTag
}

// tokenTag are special tokens in the place of "<", "</" and ">".
type tokenTag struct{ open, close, end string }

// usualWords are the words that count in every dialect.
var usualWords = tagWords{
	call:  []string{"function", "invoke", "call", "tool"},
	param: []string{"parameter", "param", "argument", "arg"},
	wrap: []string{
		"tool_call", "tool_calls", "function_calls", "function_call", "toolcall", "tool_use", "calls", "tools", "functions",
	},
}

func (w *tagWords) clone() tagWords {
	return tagWords{slices.Clone(w.call), slices.Clone(w.param), slices.Clone(w.wrap), slices.Clone(w.tokens)}
}

// add adds a row's own words.
func (w *tagWords) add(o *dialect.Options) {
	w.call = append(w.call, o.CallTags...)
	w.param = append(w.param, o.ParamTags...)
	w.wrap = append(w.wrap, o.WrapTags...)
	if o.TagOpen != "" {
		w.tokens = append(w.tokens, tokenTag{o.TagOpen, o.TagClose, o.TagEnd})
	}
}

// tag is one tag of a body of tags.
type tag struct {
	words     *tagWords
	close     bool
	selfClose bool
	unclosed  bool   // its own bracket is missing: "/>" ends the call
	word      string // "function", "parameter", "city"
	name      string // of <function=name>, <invoke name="name">
	kind      string // of a type or string attribute
	start     int
	end       int // the offset behind it
	attrs     map[string]string
}

// maxTag bounds a tag, in bytes.
const maxTag = 512

// call reports whether it is the tag of a call.
func (t *tag) call() bool {
	if slices.Contains(t.words.call, t.word) {
		return true
	}
	return strings.HasPrefix(t.word, "function") && t.name != "" && t.word != "function_calls" && t.word != "function_call"
}

// param reports whether it is the tag of a parameter.
func (t *tag) param() bool { return slices.Contains(t.words.param, t.word) }

// wrapper reports whether it stands around calls.
func (t *tag) wrapper() bool { return slices.Contains(t.words.wrap, t.word) }

// tag reads the tag at off. Its name may stand behind "=", as an attribute or
// after a blank; it may carry a namespace, or the bars of a special token.
func (l *look) tag(off int) (t tag, ok bool) {
	c := l.c
	t.start, t.words = off, &l.t.words
	if b, ok := c.At(off); !ok || b != '<' {
		return t, false
	}
	for i := range l.t.words.tokens {
		if tt := &l.t.words.tokens[i]; c.HasPrefixAt(off, tt.open) || c.HasPrefixAt(off, tt.close) {
			return l.tokenTag(off, tt)
		}
	}
	i := off + 1
	if b, _ := c.At(i); b == '/' {
		t.close = true
		i++
		if b, _ := c.At(i); b == ' ' {
			i++ // </ name>
		}
	}
	from, i := l.tagWord(i)
	if i <= from {
		return t, false
	}
	t.word = string(c.Slice(from, i))
	if name, ok := strings.CutPrefix(t.word, "function"); ok && l.known() && l.isKnown(name) && !l.isKnown(t.word) {
		t.word, t.name = "function", name // <functionNAME>
	}
	b, in := c.At(i)
	if !in {
		return t, false
	}
	switch b {
	case '>':
		t.end = i + 1
		return t, true
	case '/':
		if n, _ := c.At(i + 1); n == '>' {
			t.selfClose, t.end = true, i+2
			return t, true
		}
		return t, false
	case ':': // an optional suffix
		for i++; i < off+maxTag; i++ {
			if b, in := c.At(i); !in || !isAlnum(b) {
				break
			}
		}
		if b, _ := c.At(i); b == '>' {
			t.end = i + 1
			return t, true
		}
		return t, false
	case '=':
		return l.tagValue(t, i+1)
	case ' ', '\n', '\t':
		return l.tagAttributes(t, i)
	}
	return t, false
}

// tagWord returns where a tag's word begins, behind the bars of a special token or a
// namespace, and where it ends; the same offset where no word stands.
func (l *look) tagWord(i int) (from, end int) {
	c := l.c
	if b, _ := c.At(i); b != '|' && b < 0x80 {
		// no bar
	} else if e := matchLoose(c, i, "｜"); e >= 0 { // <｜DSML｜invoke
		j := e
		for j < e+16 {
			b, ok := c.At(j)
			if !ok || !isAlnum(b) {
				break
			}
			j++
		}
		e2 := matchLoose(c, j, "｜")
		if e2 < 0 || j == e {
			return i, i
		}
		i = e2
		if b, _ := c.At(i); b == ' ' {
			i++
		}
	}
	from = i
	for i < from+maxName {
		b, in := c.At(i)
		if !in {
			return from, from
		}
		if b == ':' {
			if n, _ := c.At(i + 1); !isIdentStart(n) {
				break
			}
			from = i + 1 // a namespace
		} else if !isIdent(b) && b != '-' && b != '.' {
			break
		}
		i++
	}
	return from, i
}

// tagValue reads the name behind <function= or <parameter=.
func (l *look) tagValue(t tag, i int) (tag, bool) {
	from := i
	for i < from+maxName {
		b, ok := l.c.At(i)
		if !ok {
			return t, false
		}
		if b == '>' || b == '\n' || b == '<' {
			name := string(l.c.Slice(from, i))
			if strings.HasSuffix(name, "/") && b == '>' {
				t.selfClose = true
				name = strings.TrimSuffix(name, "/")
			}
			if _, rest, ok := strings.Cut(name, "="); ok { // <parameter=parameter=key>
				name = rest
			}
			quoted := name
			name = cleanName(strings.Trim(name, " \"'\r\t"))
			t.name = strings.TrimSuffix(name, ":")
			if t.name == "" || strings.ContainsAny(t.name, "(){}") || b != '>' && strings.Contains(quoted, " ") {
				return t, false
			}
			t.end = i
			if b == '>' {
				t.end++
			}
			return t, b != '<'
		}
		i++
	}
	return t, false
}

// tagAttributes reads attributes, quoted or not, or a bare name.
func (l *look) tagAttributes(t tag, i int) (tag, bool) {
	c := l.c
	limit := t.start + maxTag
	for i < limit {
		i = c.SpaceEnd(i)
		b, ok := c.At(i)
		if !ok {
			return t, false
		}
		switch {
		case b == '>':
			t.end = i + 1
			return t, true
		case b == '/':
			if n, _ := c.At(i + 1); n == '>' {
				t.selfClose, t.end = true, i+2
				return t, true
			}
			return t, false
		case !isIdentStart(b):
			return t, false
		}
		from := i
		for i < limit {
			b, ok := c.At(i)
			if !ok {
				return t, false
			}
			if !isName(b) && b != ':' {
				break
			}
			i++
		}
		end := i
		b, _ = c.At(i)
		if b != '=' {
			if t.name == "" && t.attrs == nil && (b == '>' || b == '/') { // <function name>
				t.name = string(c.Slice(from, end))
				continue
			}
			return t, false
		}
		key := string(c.Slice(from, end))
		i++
		q, _ := c.At(i)
		from = i
		var value string
		if q == '"' || q == '\'' {
			for i++; ; i++ {
				b, ok := c.At(i)
				if !ok || i >= limit {
					return t, false
				}
				if b == q {
					break
				}
			}
			value = string(c.Slice(from+1, i))
			i++
		} else {
			for i < limit {
				b, ok := c.At(i)
				if !ok {
					return t, false
				}
				if b == '>' || b == ' ' || b == '\n' {
					break
				}
				i++
			}
			value = strings.TrimSuffix(string(c.Slice(from, i)), "/")
		}
		t.attribute(key, value)
	}
	return t, false
}

func (t *tag) attribute(key, value string) {
	value = entities.Replace(value)
	switch key {
	case "name", "tool", "key", "tool_name":
		if t.name == "" {
			t.name = cleanName(strings.TrimSpace(value))
		}
	case "string":
		t.kind = map[string]string{"true": "string", "false": "json"}[value]
	case "type":
		t.kind = value
	}
	if t.attrs == nil {
		t.attrs = make(map[string]string)
	}
	t.attrs[key] = value
}

// cleanName takes special tokens that strayed into a name out of it.
func cleanName(name string) string {
	for {
		from := strings.Index(name, "<|")
		if from < 0 {
			return name
		}
		to := strings.Index(name[from:], "|>")
		if to < 0 {
			return name
		}
		name = name[:from] + name[from+to+len("|>"):]
	}
}

var entities = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&quot;", `"`, "&#39;", "'", "&apos;", "'", "&amp;", "&")

// tokenTag reads a tag whose brackets are special tokens: <|open|>word key="value"<|sep|>
// and <|close|>word<|sep|>.
func (l *look) tokenTag(off int, tt *tokenTag) (t tag, ok bool) {
	c := l.c
	t.start, t.words = off, &l.t.words
	i := off + len(tt.open)
	if c.HasPrefixAt(off, tt.close) {
		t.close = true
		i = off + len(tt.close)
	}
	from := i
	for i < off+maxTag {
		b, ok := c.At(i)
		if !ok {
			return t, false
		}
		if b == tt.end[0] && c.HasPrefixAt(i, tt.end) {
			break
		}
		i++
	}
	if i >= off+maxTag {
		return t, false
	}
	inner := string(c.Slice(from, i))
	t.end = i + len(tt.end)
	word, rest, _ := strings.Cut(inner, " ")
	t.word = word
	for rest != "" {
		key, after, ok := strings.Cut(rest, `="`)
		if !ok {
			break
		}
		value, after, ok := strings.Cut(after, `"`)
		if !ok {
			break
		}
		t.attribute(strings.TrimSpace(key), value)
		rest = after
	}
	return t, t.word != ""
}
