package fallback

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agnivade/levenshtein"

	"github.com/callwright/callwright/internal/cue"
	"github.com/callwright/callwright/internal/text"
	"github.com/callwright/callwright/registry"
)

// InventedError says that a proposed call holds what does not stand in the text.
type InventedError struct {
	Path string // JSON pointer into the parameters
	What string // "value" or "parameter"
}

// Error says which it is.
func (e *InventedError) Error() string {
	return fmt.Sprintf("the %s at %s does not stand in the text", e.What, e.Path)
}

// maxGroundedDepth bounds how deep values are looked at.
const maxGroundedDepth = 64

// grounded checks that nothing in a call's parameters was invented. Each parameter's name
// has to stand in the source, or a word like it, and each of its values behind the name:
// whole, between delimiters. A parameter of the tool may also have another name in the
// source, which is none of the tool's and which the value follows right away: renamed lists
// these. The error is an [*InventedError].
//
//	grounded(`wdth = 120, "color": red`, tool, {"width": 120}) // nil
//	grounded(`wdth = 120, "color": red`, tool, {"width": 12})  // the value at /width …
//	grounded(`{"cmd": "ls"}`, tool, {"command": "ls"})         // renamed "cmd to command"
func grounded(source string, tool *registry.Tool, parameters map[string]any) (renamed []string, err error) {
	g := newGround(source, parameters)
	used := map[string]bool{}
	for _, key := range text.SortedKeys(parameters) {
		err := g.parameter(key, parameters[key])
		if err == nil {
			continue
		}
		from := g.otherName(tool, key, parameters[key])
		if from == "" || used[from] {
			return nil, err
		}
		used[from] = true
		renamed = append(renamed, fmt.Sprintf("renamed %s to %s", clipped(from), clipped(key)))
	}
	return renamed, nil
}

// envelopeKeys are names that stand around parameters, and are never one's other name.
var envelopeKeys = map[string]bool{
	"name": true, "tool": true, "toolname": true, "function": true, "action": true, "params": true, "parameters": true, "arguments": true,
	"args": true, "input": true, "id": true, "type": true,
}

// otherName returns the name that a parameter of a tool has in the source instead of its
// own: the one word, not a name of the tool's, that a colon or an equals sign and the value
// follow. It is empty if there is none, or more than one.
func (g *ground) otherName(tool *registry.Tool, key string, value any) (name string) {
	if !slices.Contains(tool.Order(), key) {
		return ""
	}
	words := scalarWords(value)
	t := &g.texts[0]
	for start, end := range cue.Words(t.text) {
		other := t.text[start:end]
		if slices.Contains(tool.Order(), other) || other == name || envelopeKeys[foldKey(other)] {
			continue
		}
		rest := strings.TrimLeft(t.text[end:], "\"'` ")
		if rest == "" || rest[0] != ':' && rest[0] != '=' {
			continue
		}
		rest = strings.TrimLeft(rest[1:], "\"'` ")
		from := len(t.text) - len(rest)
		if _, text := value.(string); text && strings.IndexByte("\"'`", t.text[from-1]) < 0 {
			continue // where it ends is a guess
		}
		for _, w := range words {
			if w == "" || !strings.HasPrefix(rest, w) || !t.delimited(from, from+len(w), end) {
				continue
			}
			if name != "" {
				return ""
			}
			name = other
		}
	}
	return name
}

// ground is a text as it is looked up in.
type ground struct {
	texts []groundText // as it is, and with its escapes read
}

// groundText is one reading of the text.
type groundText struct {
	text string
	// marks are the places of the parameters' names, in order.
	marks []mark
}

type mark struct {
	at, end int
	key     string // the parameter that is meant
}

func newGround(source string, parameters map[string]any) *ground {
	g := &ground{}
	for _, t := range []string{source, unescaped(source)} {
		if len(g.texts) == 1 && t == source {
			break
		}
		g.texts = append(g.texts, groundText{t, marksIn(t, parameters)})
	}
	return g
}

// marksIn finds the words that name a parameter.
func marksIn(text string, parameters map[string]any) (marks []mark) {
	folded := make(map[string]string, len(parameters))
	for key := range parameters {
		folded[foldKey(key)] = key
	}
	for start, i := range cue.Words(text) {
		word := foldKey(text[start:i])
		key, ok := folded[word]
		if !ok && len(word) >= 4 && len(word) <= 64 {
			for f, k := range folded {
				if allowed := len(f) / 4; allowed > 0 && len(f) <= 64 && levenshtein.ComputeDistance(word, f) <= min(allowed, 2) {
					if ok && k > key {
						continue // two may be meant: always the same one
					}
					key, ok = k, true
				}
			}
		}
		if ok {
			marks = append(marks, mark{start, i, key})
		}
	}
	return marks
}

func foldKey(s string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case '_', '-', '.', '/':
			return -1
		}
		return unicode.ToLower(r)
	}, s)
}

func (g *ground) parameter(key string, value any) error {
	path := text.Pointer("", key)
	named := false
	for _, t := range g.texts {
		for _, m := range t.marks {
			named = named || m.key == key
		}
	}
	if !named {
		return &InventedError{path, "parameter"}
	}
	return g.value(key, path, value, 0)
}

// value checks a value of a parameter, and all that is in it.
func (g *ground) value(key, path string, v any, depth int) error {
	if depth > maxGroundedDepth {
		return &InventedError{path, "value"}
	}
	switch x := v.(type) {
	case map[string]any:
		for name, e := range x {
			if !g.contains(key, name, depth > 0) {
				return &InventedError{text.Pointer(path, name), "parameter"}
			}
			if err := g.value(key, text.Pointer(path, name), e, depth+1); err != nil {
				return err
			}
		}
		return nil
	case []any:
		for i, e := range x {
			if err := g.value(key, path+"/"+strconv.Itoa(i), e, depth+1); err != nil {
				return err
			}
		}
		return nil
	}
	for _, w := range scalarWords(v) {
		if g.contains(key, w, depth > 0) {
			return nil
		}
	}
	return &InventedError{path, "value"}
}

// scalarWords returns how a value may be written that is no object and no list.
func scalarWords(v any) []string {
	switch x := v.(type) {
	case string:
		return []string{x}
	case json.Number:
		return []string{string(x)}
	case float64:
		return []string{strconv.FormatFloat(x, 'f', -1, 64)}
	case bool:
		if x {
			return []string{"true", "True", "yes", "on"}
		}
		return []string{"false", "False", "no", "off"}
	case nil:
		return []string{"null", "None", "nil"}
	}
	return nil
}

// contains reports whether a word stands behind a parameter's name, whole, with no
// other parameter's name between them unless it stands inside of a list or an object.
func (g *ground) contains(key, word string, inside bool) bool {
	for _, t := range g.texts {
		if t.contains(key, word, inside) {
			return true
		}
	}
	return false
}

func (t *groundText) contains(key, word string, inside bool) bool {
	if word == "" {
		return strings.Contains(t.text, `""`) || strings.Contains(t.text, "''") || strings.Contains(t.text, "><")
	}
	next := 0 // the first mark behind the place that is looked at
	for from := 0; ; {
		i := strings.Index(t.text[from:], word)
		if i < 0 {
			return false
		}
		at := from + i
		_, size := utf8.DecodeRuneInString(t.text[at:])
		from = at + size
		for next < len(t.marks) && t.marks[next].end <= at {
			next++
		}
		if next == 0 || !inside && t.marks[next-1].key != key {
			continue
		}
		if inside && !slices.ContainsFunc(t.marks[:next], func(m mark) bool { return m.key == key }) {
			continue
		}
		if t.delimited(at, at+len(word), t.marks[next-1].end) {
			return true
		}
	}
}

// delimited reports whether a stretch of text is a value of its own: something before
// it opens it, or its name stands right there, and something behind it closes it.
func (t *groundText) delimited(from, to, name int) bool {
	before := strings.TrimRight(t.text[:from], " \t")
	after := strings.TrimLeft(t.text[to:], " \t")
	opened := len(before) <= name || strings.IndexByte("\"'`:=>,([{\n\r\\", before[len(before)-1]) >= 0
	closed := after == "" || strings.IndexByte("\"'`,;}])<\n\r\\", after[0]) >= 0
	if !closed && len(after) < len(t.text)-to { // a space: the end of a value without spaces
		closed = !strings.ContainsAny(t.text[from:to], " \t\n")
	}
	return opened && closed
}

var escapes = strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\'`, `'`, `\n`, "\n", `\r`, "\r", `\t`, "\t", `\/`, "/")

// unescaped reads the escapes of JSON in a text.
func unescaped(text string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	if strings.Contains(text, `\u`) {
		var b strings.Builder
		for i := 0; i < len(text); i++ {
			if text[i] == '\\' && i+6 <= len(text) && text[i+1] == 'u' && (i == 0 || text[i-1] != '\\') {
				if n, err := strconv.ParseUint(text[i+2:i+6], 16, 16); err == nil {
					b.WriteRune(rune(n))
					i += 5
					continue
				}
			}
			b.WriteByte(text[i])
		}
		text = b.String()
	}
	return escapes.Replace(text)
}
