package extractor

import (
	"strings"
)

// tag is one tag of a body of tags.
type tag struct {
	close     bool
	selfClose bool
	word      string // "function", "parameter", "city"
	name      string // of <function=name>, <invoke name="name">
	kind      string // of a type or string attribute
	start     int
	end       int // the offset behind it
	attrs     map[string]string
}

// maxTag bounds a tag, in bytes.
const maxTag = 512

func (t *tag) call() bool {
	switch t.word {
	case "function", "invoke", "call", "tool":
		return true
	}
	return strings.HasPrefix(t.word, "function") && t.name != "" && t.word != "function_calls" && t.word != "function_call"
}

func (t *tag) param() bool {
	switch t.word {
	case "parameter", "param", "argument", "arg":
		return true
	}
	return false
}

// wrapper reports whether a tag stands around calls.
func (t *tag) wrapper() bool {
	switch t.word {
	case "tool_call", "tool_calls", "function_calls", "function_call", "toolcall", "tool_use", "calls", "tools", "dots_function_call", "longcat_tool_call", "use_mcp_tool", "functions":
		return true
	}
	return false
}

// tag reads the tag at off. Its name may stand behind "=", as an attribute or
// after a blank; it may carry a namespace, or the bars of a special token.
func (s *Scanner) tag(off int) (t tag, ok bool) {
	c := s.c
	t.start = off
	if b, ok := c.At(off); !ok || b != '<' {
		return t, false
	}
	if c.HasPrefixAt(off, "<|open|>") || c.HasPrefixAt(off, "<|close|>") {
		return s.tokenTag(off)
	}
	i := off + 1
	if b, _ := c.At(i); b == '/' {
		t.close = true
		i++
	}
	if e := matchLoose(c, i, "｜"); e >= 0 { // <｜DSML｜invoke
		j := e
		for j < e+16 {
			b, ok := c.At(j)
			if !ok || !isAlnum(b) {
				break
			}
			j++
		}
		if e2 := matchLoose(c, j, "｜"); e2 >= 0 && j > e {
			i = e2
			if b, _ := c.At(i); b == ' ' {
				i++
			}
		} else {
			return t, false
		}
	}
	from := i
	for i < from+maxName {
		b, in := c.At(i)
		if !in {
			return t, false
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
	if i == from {
		return t, false
	}
	t.word = string(c.Slice(from, i))
	if name, ok := strings.CutPrefix(t.word, "function"); ok && s.known && s.isKnown(name) && !s.isKnown(t.word) {
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
		return s.tagValue(t, i+1)
	case ' ', '\n', '\t':
		return s.tagAttributes(t, i)
	}
	return t, false
}

// tagValue reads the name behind <function= or <parameter=.
func (s *Scanner) tagValue(t tag, i int) (tag, bool) {
	from := i
	for i < from+maxName {
		b, ok := s.c.At(i)
		if !ok {
			return t, false
		}
		if b == '>' || b == '\n' || b == '<' {
			name := string(s.c.Slice(from, i))
			if strings.HasSuffix(name, "/") && b == '>' {
				t.selfClose = true
				name = strings.TrimSuffix(name, "/")
			}
			if _, rest, ok := strings.Cut(name, "="); ok { // <parameter=parameter=key>
				name = rest
			}
			name = strings.Trim(name, " \"'\r\t")
			t.name = strings.TrimSuffix(name, ":")
			if t.name == "" || strings.ContainsAny(t.name, " (){}") {
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
func (s *Scanner) tagAttributes(t tag, i int) (tag, bool) {
	c := s.c
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
		key := string(c.Slice(from, i))
		b, _ = c.At(i)
		if b != '=' {
			if t.name == "" && t.attrs == nil && (b == '>' || b == '/') { // <function name>
				t.name = key
				continue
			}
			return t, false
		}
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
			t.name = value
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

var entities = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&quot;", `"`, "&#39;", "'", "&apos;", "'", "&amp;", "&")

// tokenTag reads <|open|>word key="value"<|sep|> and <|close|>word<|sep|>.
func (s *Scanner) tokenTag(off int) (t tag, ok bool) {
	c := s.c
	t.start = off
	i := off + len("<|open|>")
	if c.HasPrefixAt(off, "<|close|>") {
		t.close = true
		i = off + len("<|close|>")
	}
	from := i
	for i < off+maxTag {
		b, ok := c.At(i)
		if !ok {
			return t, false
		}
		if b == '<' && c.HasPrefixAt(i, "<|sep|>") {
			break
		}
		i++
	}
	if i >= off+maxTag {
		return t, false
	}
	inner := string(c.Slice(from, i))
	t.end = i + len("<|sep|>")
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
	if word == "tools" {
		t.word = "tool_calls"
	}
	return t, t.word != ""
}
