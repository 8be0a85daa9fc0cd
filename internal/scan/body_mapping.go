package scan

import (
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/callwright/callwright/call"
	"github.com/callwright/callwright/dialect"
	"github.com/callwright/callwright/internal/lenient"
	"github.com/callwright/callwright/registry"
)

// maxMapping bounds what is read as YAML, in bytes.
const maxMapping = 32 << 10

// mappingBody is a call written as YAML: name: and arguments:.
type mappingBody struct{}

func (mappingBody) at(l *look, off int, rows []*dialect.Row) (int, bool) {
	if b, _ := l.c.At(off); !isIdentStart(b) || !hasBody(rows, dialect.BodyJSON) {
		return off, false
	}
	end := l.nameEnd(off)
	b, _ := l.c.At(end)
	return off, b == ':' && isNameKey(string(l.c.Slice(off, end)))
}

// isNameKey reports whether a key of YAML holds a call's name.
func isNameKey(word string) bool {
	switch word {
	case "name", "tool", "function", "tool_name", "function_name", "action":
		return true
	}
	return false
}

func (mappingBody) read(k *construct) outcome {
	c := k.c
	from := c.Offset()
	end := -1
	for off := from; off-from < maxMapping; off++ {
		b, ok := c.At(off)
		document := b == '-' && off > from && c.HasPrefixAt(off-1, "\n---")
		if !ok || document || b == '`' && c.HasPrefixAt(off, "```") || b == '<' && k.closer(off, k.close) >= 0 {
			end = off
			break
		}
	}
	if end < 0 {
		return k.fail()
	}
	v, ok := parseMapping(string(c.Slice(from, end)))
	if !ok {
		return k.fail()
	}
	c.Seek(end)
	cut := c.EOF() && (k.fenced || len(k.close) > 0 || c.CutOff())
	if k.fenced {
		k.skipFence()
	}
	k.skipClosing()
	cand := &Candidate{Value: v, Truncated: cut && !k.fenced}
	if k.ev.Fence != "" {
		cand.Method = call.MethodCodeblock
	}
	k.deliver(cand, c.Offset())
	return k.finish()
}

// mappingOf reads a call's parameters written as YAML within its tag: with the
// indentation of the whole taken off; and where it is no YAML, as lines that begin with a
// parameter's name and a colon. One of the keys must be the tool's, if it is known.
func mappingOf(raw string, tool *registry.Tool) (map[string]any, bool) {
	text := dedent(strings.TrimLeft(raw, "\r\n"))
	if v, ok := parseMapping(text); ok {
		args, ok := v.(map[string]any)
		if !ok {
			return nil, false
		}
		return args, tool == nil || len(tool.Order()) == 0 || anyProperty(tool, args)
	}
	if tool == nil {
		return nil, false
	}
	return linesOf(text, tool)
}

// linesOf reads lines that begin with a parameter's name and a colon; what stands up to
// the next such line is its value, as it is.
func linesOf(text string, tool *registry.Tool) (map[string]any, bool) {
	args := map[string]any{}
	key := ""
	var value strings.Builder
	end := func() {
		if key != "" {
			args[key] = lenient.Text(value.String())
		}
		value.Reset()
	}
	for line := range strings.Lines(text) {
		name, rest, ok := strings.Cut(line, ":")
		if _, twice := args[name]; ok && !twice && name != key && hasProperty(tool, name) {
			end()
			key = name
			value.WriteString(strings.TrimPrefix(rest, " "))
			continue
		}
		if key == "" {
			return nil, false
		}
		value.WriteString(line)
	}
	end()
	for k, v := range args { // a value on its own line has no newline of its own
		if s := string(v.(lenient.Text)); strings.Count(s, "\n") <= 1 || k != key {
			args[k] = lenient.Text(strings.TrimSuffix(strings.TrimSuffix(s, "\n"), "\r"))
		}
	}
	return args, len(args) > 0
}

// dedent takes the indentation that all lines share off a text.
func dedent(text string) string {
	n := -1
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) != "" {
			indent := len(line) - len(strings.TrimLeft(line, " \t"))
			if n < 0 || indent < n {
				n = indent
			}
		}
	}
	if n <= 0 {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(line[min(n, len(line)-len(strings.TrimLeft(line, " \t"))):])
	}
	return b.String()
}

func anyProperty(tool *registry.Tool, args map[string]any) bool {
	for key := range args {
		if hasProperty(tool, key) {
			return true
		}
	}
	return false
}

// parseMapping reads YAML whose plain scalars have no type of their own.
func parseMapping(text string) (any, bool) {
	if len(text) > maxMapping || !strings.Contains(text, ":") {
		return nil, false
	}
	var node yaml.Node
	if err := yaml.Unmarshal([]byte(text), &node); err != nil || len(node.Content) != 1 || node.Content[0].Kind != yaml.MappingNode {
		return nil, false
	}
	return fromYAML(node.Content[0], 0)
}

func fromYAML(n *yaml.Node, depth int) (any, bool) {
	if depth > maxElementDepth {
		return nil, false
	}
	switch n.Kind {
	case yaml.MappingNode:
		m := make(map[string]any, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			v, ok := fromYAML(n.Content[i+1], depth+1)
			if !ok {
				return nil, false
			}
			m[n.Content[i].Value] = v
		}
		return m, true
	case yaml.SequenceNode:
		list := make([]any, 0, len(n.Content))
		for _, e := range n.Content {
			v, ok := fromYAML(e, depth+1)
			if !ok {
				return nil, false
			}
			list = append(list, v)
		}
		return list, true
	case yaml.ScalarNode:
		if n.Tag == "!!null" {
			return nil, true
		}
		if n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
			return n.Value, true
		}
		return lenient.Text(n.Value), true
	}
	return nil, false // an alias
}
