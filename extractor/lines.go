package extractor

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/callwright/callwright/internal/lenient"
)

// labelAt returns the offset behind a label and its colon at off, or -1: the word
// in any case, bold or numbered, with a colon of any width.
func (s *Scanner) labelAt(off int, word string) int {
	c := s.c
	for range 4 {
		if b, _ := c.At(off); b != '*' && b != '#' && b != '_' && b != ' ' {
			break
		}
		off++
	}
	for i := range len(word) {
		b, ok := c.At(off + i)
		if !ok || b|0x20 != word[i]|0x20 {
			return -1
		}
	}
	off += len(word)
	for range 8 { // " 1", "**"
		b, _ := c.At(off)
		if b != ' ' && b != '*' && b != '_' && (b < '0' || b > '9') {
			break
		}
		off++
	}
	switch b, _ := c.At(off); {
	case b == ':':
		off++
	case b == 0xEF && c.HasPrefixAt(off, "："):
		off += len("：")
	default:
		return -1
	}
	for range 2 {
		if b, _ := c.At(off); b == '*' {
			off++
		}
	}
	return off
}

// label tries whether a row's label begins a call at the start of a line.
func (s *Scanner) label(line, off int, row *Dialect) bool {
	o := &row.Options
	after := s.labelAt(off, o.Label)
	if after < 0 {
		return false
	}
	k := &construct{row: row, start: line, next: off, body: after, ev: s.context(line), marked: true, close: row.Close}
	c := s.c
	at := s.blanks(after)
	if b, _ := c.At(at); b == '\n' {
		at = c.SpaceEnd(at)
	}
	b, ok := c.At(at)
	if !ok {
		return false
	}
	switch {
	case b == '{' && s.objectAt(at) || b == '[' && s.listOfObjects(at):
		if d := s.t.byName["action_json"]; d != nil && o.Input != "" {
			k.row = d // JSON in the place of a name
		}
		c.Seek(at)
		return s.jsonBody(k)
	case c.HasPrefixAt(at, "```"):
		c.Seek(at)
		s.skipFence()
		if b := c.Peek(); b != '{' && b != '[' {
			c.Seek(line)
			return false
		}
		k.fenced = true
		if d := s.t.byName["command_r"]; d != nil && s.c.Peek() == '[' {
			k.row = d
		}
		return s.jsonBody(k)
	case o.Input == "":
		return false
	}
	end := at
	for end < at+maxName {
		b, ok := c.At(end)
		if !ok || b == '\n' {
			break
		}
		end++
	}
	text := string(c.Slice(at, end))
	name := strings.Trim(strings.TrimSpace(text), "`*\"'[]<> ")
	if i := strings.IndexAny(name, "(["); i > 0 && s.isKnown(strings.TrimSpace(name[:i])) {
		// Action: f(a=1), or f[x]
		if name[i] == '(' {
			c.Seek(at + strings.Index(text, name[:i]))
			return s.pythonic(k)
		}
		cand := &Candidate{Named: true, Name: strings.TrimSpace(name[:i]), Arguments: lenient.Text(strings.TrimSuffix(name[i+1:], "]"))}
		c.Seek(end)
		s.deliver(k, cand, end)
		return s.endReact(k)
	}
	if name == "" || strings.ContainsAny(name, " \t") && !s.isKnown(name) {
		return false
	}
	cand := &Candidate{Named: true, Name: name}
	input := s.labelAt(c.SpaceEnd(end), o.Input)
	if input < 0 {
		if !s.isKnown(name) || !c.EOFAt(c.SpaceEnd(end)) && !s.stops(c.SpaceEnd(end), o.Stop) {
			return false
		}
		cand.Arguments = map[string]any{}
		c.Seek(end)
		s.deliver(k, cand, end)
		return s.endReact(k)
	}
	s.reactInput(k, cand, input)
	s.deliver(k, cand, c.Offset())
	return s.endReact(k)
}

func (s *Scanner) blanks(off int) int {
	for {
		if b, _ := s.c.At(off); b != ' ' && b != '\t' {
			return off
		}
		off++
	}
}

// reactInput reads the arguments behind their label: JSON, pairs, or text.
func (s *Scanner) reactInput(k *construct, cand *Candidate, from int) {
	c := s.c
	at := s.blanks(from)
	if b, _ := c.At(at); b == '\n' {
		if next := c.SpaceEnd(at); !s.stops(next, k.row.Options.Stop) {
			at = next
		}
	}
	c.Seek(at)
	fence := s.skipFence()
	at = c.Offset()
	b, ok := c.At(at)
	if ok && (b == '{' || b == '[' && s.listOfObjects(at)) {
		r := lenient.NewReader(c, lenient.Options{Watch: s.o.Watch})
		s.show(k, Partial{Name: cand.Name, Arguments: r})
		v, err := r.Value()
		if err == nil {
			cand.Arguments, cand.Fixes = v, r.Fixes
			cand.Truncated = r.OpenAtEnd > 0 || r.CutToken
			if end := c.SpaceEnd(c.Offset()); fence && c.HasPrefixAt(end, "```") {
				c.Seek(end + len("```")) // its line's end is the next line's matter
			}
			return
		}
		c.Seek(at)
	}
	end := s.inputEnd(k)
	text := strings.TrimSpace(string(c.Slice(at, end)))
	if fence {
		text = strings.TrimSpace(strings.TrimSuffix(text, "```"))
	}
	c.Seek(end)
	if c.EOF() && strings.Trim(text, "`") == "" && (fence || text != "") {
		cand.Truncated = true // within a fence, or its marker
	}
	if args, ok := pairs(text); ok {
		cand.Arguments = args
		return
	}
	if n := len(text); n >= 2 && (text[0] == '"' || text[0] == '\'') && text[n-1] == text[0] {
		if v, r, err := lenient.Parse(text, lenient.Options{Python: true}); err == nil && !r.Fixes.Has(lenient.UnescapedQuote) {
			text, _ = v.(string)
		}
	}
	if text == "" || text == "None" || text == "N/A" || slices.Contains(k.row.Options.Stop, text) {
		cand.Arguments = map[string]any{}
		return
	}
	cand.Arguments = lenient.Text(text)
}

// inputEnd returns where arguments that are text end: at the next label's line.
func (s *Scanner) inputEnd(k *construct) int {
	for off := s.c.Offset(); ; off++ {
		b, ok := s.c.At(off)
		if !ok {
			return off
		}
		if b == '\n' && (s.stops(off+1, k.row.Options.Stop) || s.labelAt(off+1, k.row.Options.Label) >= 0) {
			return off
		}
		if b == '<' && s.endsTurn(off) {
			return off
		}
	}
}

// stops reports whether one of the words and a colon stand at off.
func (s *Scanner) stops(off int, words []string) bool {
	for _, w := range words {
		if s.labelAt(off, w) >= 0 {
			return true
		}
	}
	return false
}

// pairs reads city="Rome", days=2.
func pairs(text string) (map[string]any, bool) {
	key, _, ok := strings.Cut(text, "=")
	key = strings.TrimSpace(key)
	if !ok || key == "" || strings.Trim(key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != "" {
		return nil, false
	}
	sub := &Scanner{c: lenient.NewCursor([]byte(text + ")")), sink: &catcher{}}
	cand := &Candidate{}
	if !sub.pythonArguments(&construct{marked: true}, cand) || cand.Truncated || len(cand.Positional) > 0 || !sub.c.EOF() {
		return nil, false
	}
	return cand.Arguments.(map[string]any), true
}

// endReact ends a call of lines. What the model then imagines that it observed,
// and all behind it, is no one's word.
func (s *Scanner) endReact(k *construct) bool {
	if k.got == 0 {
		return s.fail(k)
	}
	thought := s.thoughtBefore(k.start)
	if thought && !s.reasoned {
		s.content(min(s.solid, k.start))
		s.sink.Recast()
		s.said, s.reasoned = false, true
	}
	end := s.c.Offset()
	next := s.c.SpaceEnd(end)
	s.c.Seek(end)
	s.close(k)
	if s.labelAt(next, "Observation") >= 0 {
		for s.c.Seek(s.c.Limit()); s.c.Fill(); s.c.Seek(s.c.Limit()) {
			s.c.Keep(s.c.Limit())
		}
		s.mark = next
		s.drop(next, s.c.Limit(), "invented observation")
	}
	return true
}

// thoughtBefore reports whether the text before a call is a thought of the same
// protocol.
func (s *Scanner) thoughtBefore(p int) bool {
	if s.begin > 0 || s.c.Kept() > 0 {
		return s.thought
	}
	text := strings.ToLower(strings.TrimLeft(string(s.c.Slice(0, min(p, 32))), "*# \n"))
	return strings.HasPrefix(text, "thought")
}

// maxMapping bounds what is read as YAML, in bytes.
const maxMapping = 32 << 10

// mapping reads a call written as YAML: name: and arguments:.
func (s *Scanner) mapping(k *construct) bool {
	c := s.c
	from := c.Offset()
	end := -1
	for off := from; off-from < maxMapping; off++ {
		b, ok := c.At(off)
		if !ok {
			end = off
			break
		}
		if b == '`' && c.HasPrefixAt(off, "```") || b == '<' && s.closer(off, k.close) >= 0 || b == '-' && off > from && c.HasPrefixAt(off-1, "\n---") {
			end = off
			break
		}
	}
	if end < 0 {
		return s.fail(k)
	}
	v, ok := parseMapping(string(c.Slice(from, end)))
	if !ok {
		return s.fail(k)
	}
	c.Seek(end)
	cut := c.EOF() && (k.fenced || len(k.close) > 0)
	if k.fenced {
		s.skipFence()
	}
	s.closing(k)
	cand := &Candidate{Value: v, Truncated: cut && !k.fenced}
	if k.ev.Fence != "" {
		cand.Method = MethodCodeblock
	}
	s.deliver(k, cand, c.Offset())
	return s.close(k)
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

// labelled reads arguments between BEGIN_ARG: and END_ARG.
func (s *Scanner) labelled(k *construct, cand *Candidate) {
	c := s.c
	args, _ := cand.Arguments.(map[string]any)
	for {
		at := c.SpaceEnd(c.Offset())
		after := s.labelAt(at, "BEGIN_ARG")
		if after < 0 {
			break
		}
		lineEnd := after
		for {
			b, ok := c.At(lineEnd)
			if !ok || b == '\n' {
				break
			}
			lineEnd++
		}
		key := strings.TrimSpace(string(c.Slice(after, lineEnd)))
		start := min(lineEnd+1, c.Limit())
		end, next := -1, -1
		for off := start; ; off++ {
			b, ok := c.At(off)
			if !ok {
				break
			}
			if b == 'E' && c.HasPrefixAt(off, "END_ARG") && s.lineBefore(off, start) {
				end, next = off, off+len("END_ARG")
				break
			}
			if b == 'B' && c.HasPrefixAt(off, "BEGIN_ARG:") && s.lineBefore(off, start) {
				end, next = off, off
				break
			}
			if b == '`' && c.HasPrefixAt(off, "```") && s.lineBefore(off, start) && k.fenced && c.EOFAt(c.SpaceEnd(off+3)) {
				end, next = off, off
				break
			}
		}
		if end < 0 {
			end, next = c.Limit(), c.Limit()
			cand.Truncated = true
		}
		raw := lenient.ValidUTF8([]byte(trimNewlines(string(c.Slice(start, end)))))
		c.Seek(next)
		if t := strings.TrimSpace(raw); len(t) > 1 && t[0] == '"' && t[len(t)-1] == '"' {
			if v, r, err := lenient.Parse(t, lenient.Options{}); err == nil && !r.Fixes.Any() {
				raw, _ = v.(string)
			}
		}
		args[key] = lenient.Text(raw)
	}
}

// quotedLines reads key:「始」value「末」, line after line.
func (s *Scanner) quotedLines(k *construct) bool {
	c := s.c
	q := k.row.Options.ValueQuotes
	args := map[string]any{}
	for {
		at := c.SpaceEnd(c.Offset())
		if b, _ := c.At(at); b == ',' {
			at = c.SpaceEnd(at + 1)
		}
		end := s.nameEnd(at)
		if end == at {
			c.Seek(at)
			break
		}
		key := string(c.Slice(at, end))
		next := end
		if b, _ := c.At(next); b == ':' {
			next++
		}
		next = s.blanks(next)
		if !c.HasPrefixAt(next, q[0]) {
			c.Seek(at)
			break
		}
		start := next + len(q[0])
		to, ok := s.find(start, q[1])
		if !ok {
			c.Seek(c.Limit())
			break
		}
		args[key] = lenient.Text(lenient.ValidUTF8(c.Slice(start, to-len(q[1]))))
		c.Seek(to)
	}
	name, _ := args["tool_name"].(lenient.Text)
	if name == "" {
		return s.fail(k)
	}
	delete(args, "tool_name")
	s.closing(k)
	s.deliver(k, &Candidate{Named: true, Name: string(name), Arguments: args}, c.Offset())
	return s.close(k)
}
