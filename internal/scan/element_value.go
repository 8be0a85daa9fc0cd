package scan

import (
	"strconv"
	"strings"

	"github.com/callwright/callwright/internal/lenient"
)

// maxElementDepth is how deep elements may nest.
const maxElementDepth = 32

// elementValue reads an element's text: as elements where the schema wants an object or
// an array and elements stand there, else as text.
func (k *construct) elementValue(raw string, schema map[string]any, depth int) any {
	if p := k.row; p != nil && p.Options.Prefix != "" {
		raw = strings.ReplaceAll(raw, p.Options.Prefix, "")
	}
	raw = lenient.ValidUTF8([]byte(raw))
	trimmed := strings.TrimSpace(raw)
	if schema["type"] != "string" && strings.HasPrefix(trimmed, "<") && !strings.HasPrefix(trimmed, "<![CDATA[") {
		if v, ok := children(trimmed, depth); ok {
			return fitElements(v, schema, depth)
		}
	}
	return lenient.Text(plainText(trimNewlines(raw)))
}

// plainText takes the marks of CDATA sections off a text.
func plainText(raw string) string {
	const open, end = "<![CDATA[", "]]>"
	if !strings.Contains(raw, open) {
		return raw
	}
	if inner, ok := cdata(raw); ok {
		return inner
	}
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(raw, open)
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		inner, after, _ := strings.Cut(rest, end)
		b.WriteString(inner)
		raw = after
	}
}

// fitElements reads elements as what the schema wants: an array whose elements stand in
// tags of one word, or of numbers; a single value in a tag of its own.
func fitElements(v map[string]any, schema map[string]any, depth int) any {
	if depth > maxElementDepth {
		return v
	}
	properties, _ := schema["properties"].(map[string]any)
	switch schema["type"] {
	case "array":
		items, _ := schema["items"].(map[string]any)
		list, ok := elementList(v)
		if !ok {
			return v
		}
		for i, e := range list {
			if m, ok := e.(map[string]any); ok {
				list[i] = fitElements(m, items, depth+1)
			}
		}
		return list
	case "number", "integer", "boolean":
		if len(v) == 1 && v["item"] != nil {
			return v["item"]
		}
	case "object", nil:
		for key, e := range v {
			inner, _ := properties[key].(map[string]any)
			if m, ok := e.(map[string]any); ok && inner != nil {
				v[key] = fitElements(m, inner, depth+1)
			}
		}
	}
	return v
}

// elementList reads elements as a list: <item>a</item><item>b</item>, or <0>a</0><1>b</1>.
func elementList(v map[string]any) ([]any, bool) {
	if len(v) == 1 {
		for _, e := range v {
			if list, ok := e.([]any); ok {
				return list, true
			}
			return []any{e}, true
		}
	}
	list := make([]any, len(v))
	for i := range list {
		e, ok := v[strconv.Itoa(i)]
		if !ok {
			return nil, false
		}
		list[i] = e
	}
	return list, len(list) > 0
}

// children reads elements that are nothing but elements.
func children(text string, depth int) (map[string]any, bool) {
	if depth > maxElementDepth {
		return nil, false
	}
	out := map[string]any{}
	several := map[string]bool{}
	for text != "" {
		if text[0] != '<' {
			return nil, false
		}
		end := strings.IndexByte(text, '>')
		if end < 2 {
			return nil, false
		}
		word, attributes, _ := strings.Cut(text[1:end], " ")
		if strings.ContainsAny(word, "\n</\"'=!") || strings.ContainsAny(attributes, "\n<") || word == "" {
			return nil, false
		}
		rest := text[end+1:]
		at := matchingEnd(rest, word)
		if at < 0 {
			return nil, false
		}
		inner := rest[:at]
		var value any = lenient.Text(plainText(trimNewlines(inner)))
		if t := strings.TrimSpace(inner); strings.HasPrefix(t, "<") {
			if v, ok := children(t, depth+1); ok {
				value = v
			}
		}
		switch old, twice := out[word]; {
		case !twice:
			out[word] = value
		case several[word]:
			list, _ := old.([]any)
			out[word] = append(list, value)
		default:
			out[word] = []any{old, value}
			several[word] = true
		}
		text = strings.TrimSpace(rest[at+len("</>")+len(word):])
	}
	return out, len(out) > 0
}

// matchingEnd finds the end of an element behind its opening tag, over elements of the
// same name within it.
func matchingEnd(text, word string) int {
	open, end := "<"+word, "</"+word+">"
	depth := 0
	for i := 0; i < len(text); {
		n := strings.IndexByte(text[i:], '<')
		if n < 0 {
			return -1
		}
		i += n
		switch rest := text[i:]; {
		case strings.HasPrefix(rest, end):
			if depth == 0 {
				return i
			}
			depth--
		case strings.HasPrefix(rest, open) && len(rest) > len(open) && (rest[len(open)] == '>' || rest[len(open)] == ' '):
			depth++
		}
		i++
	}
	return -1
}
