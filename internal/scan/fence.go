package scan

import (
	"bytes"
	"slices"
	"strings"

	"github.com/callwright/callwright/call"
	"github.com/callwright/callwright/dialect"
	"github.com/callwright/callwright/internal/lenient"
)

// Info strings of fences in which a call may stand. Those of the second list say
// that it is one.
var (
	callFences = []string{
		"", "json", "json5", "jsonc", "javascript", "js", "xml", "html", "text", "txt", "plaintext", "python", "py", "yaml",
		"yml", "markdown", "output", "response",
	}
	toolFences = []string{
		"tool_call", "tool_calls", "tool_code", "tool", "tools", "tool_use", "function_call", "function", "functions", "invoke",
		"action", "tool-call", "toolcall",
	}
)

// fenceAt reads a code fence whose run stands from p to end.
func (s *Scanner) fenceAt(p, end int, b byte) outcome {
	run := bytes.Repeat([]byte{b}, end-p)
	if s.wrapFence > 0 && end-p >= s.wrapFence && s.endsHere(end) {
		s.wrapFence = 0
		s.drop(p, end, WhyFence)
		s.afterCall = true
		return taken
	}
	if s.quoteEnd != "" || s.ticks > 0 {
		s.c.Seek(end)
		s.text(end)
		return text
	}
	const maxInfo = 64
	stop := end
	for stop < end+maxInfo {
		n, ok := s.c.At(stop)
		if !ok || n == '\n' || n == '{' || n == '[' || n == '<' {
			break
		}
		if n == '`' {
			// Code on one line.
			s.c.Seek(end)
			s.text(end)
			return text
		}
		stop++
	}
	info := strings.TrimSpace(string(s.c.Slice(end, stop)))
	word, rest, _ := strings.Cut(strings.ToLower(info), " ")
	k := s.construct(p, s.c.SpaceEnd(stop))
	k.fenced = true
	k.ev.Fence = word
	if word == "" {
		k.ev.Fence = "-"
	}
	k.marked = slices.Contains(toolFences, word)
	o := retry
	switch {
	case k.marked && rest != "" && s.isKnown(rest), s.isKnown(word):
		// ```tool get_weather
		name := info
		if i := strings.IndexByte(name, ' '); i >= 0 && k.marked {
			name = strings.TrimSpace(name[i:])
		}
		k.marked = true
		o = s.fenceNamed(k, name, len(run))
	case k.marked || slices.Contains(callFences, word):
		o = s.fenceBody(k, word, len(run))
	}
	if o.moved() {
		return o
	}
	// Nothing in it is a call: all of it is text, up to its end.
	s.fence = run
	if s.c.Offset() == p {
		s.c.Seek(stop)
	}
	s.text(s.c.Offset())
	return text
}

// fenceNamed reads the arguments in a fence that names the tool.
func (s *Scanner) fenceNamed(k *construct, name string, run int) outcome {
	s.c.Seek(k.opened)
	cand := &Candidate{Named: true, Name: name, Method: call.MethodCodeblock}
	if s.c.Peek() != '{' || !s.objectAt(k.opened) {
		if !s.c.HasPrefix("```") {
			s.c.Seek(k.start)
			return retry
		}
		cand.Arguments = map[string]any{}
	} else {
		r := lenient.NewReader(s.c, lenient.Options{})
		v, err := r.Value()
		if err != nil {
			s.c.Seek(k.start)
			return retry
		}
		cand.Arguments = v
		cand.readBy(r)
	}
	k.deliver(cand, s.c.Offset())
	return s.closeFenced(k, run)
}

// fenceBody reads what a fence holds, if it may be calls.
func (s *Scanner) fenceBody(k *construct, word string, run int) outcome {
	c := s.c
	body := k.opened
	b, ok := c.At(body)
	if !ok {
		return retry
	}
	switch {
	case b == '{' && s.objectAt(body), b == '[' && (s.listOfObjects(body) || s.anyValue):
		c.Seek(body)
		s.fenceJSON(k)
		return s.closeFenced(k, run)
	case b == '[' && s.callAt(c.SpaceEnd(body+1)), isIdentStart(b) && s.pythonFence(body, word):
		marked := k.marked
		if !marked && !s.callsKnown(body) {
			return retry
		}
		c.Seek(body)
		k.marked = true
		k.ev.Guess = k.ev.Guess || word == "python" || word == "py"
		k.row = s.t.without(dialect.BodyPythonic, dialect.InFence, nil)
		s.pythonFenced(k)
		k.marked = marked
		return s.closeFenced(k, run)
	case isIdentStart(b) && s.fenceLabel(body) != nil:
		return s.fenceLabelled(k, run)
	case isIdentStart(b) && (word == "yaml" || word == "yml" || k.marked) && isNameKey(s.word(body)):
		c.Seek(body)
		k.row = s.t.without(dialect.BodyLines, dialect.InFence, func(row *dialect.Row) bool { return row.Options.Label == "" })
		if v, cut, ok := s.fenceMapping(); ok {
			k.deliver(&Candidate{Value: v, Method: call.MethodCodeblock, Provenance: k.provenance(), Truncated: cut}, c.Offset())
		}
		return s.closeFenced(k, run)
	}
	return s.wrapped(k, word, run)
}

// wrapped reads markers or a call's tag within a fence: the fence is only a wrapper.
func (s *Scanner) wrapped(k *construct, word string, run int) outcome {
	c, body := s.c, k.opened
	if m, end := s.callMarker(body); m != nil && s.opensBodyAt(end, m) {
		inner := *k
		inner.opened = end
		if o := s.opened(m, &inner, body, end); o.moved() {
			if s.handed == c.Offset() {
				s.wrapFence = run
			}
			return o
		}
		c.Seek(k.start)
	}
	t, ok := s.tag(body)
	if !ok || t.close || word != "xml" && word != "" && !k.marked || !s.isKnown(t.word) && (!t.call() || t.name == "") {
		return retry
	}
	handed := s.handed
	if o := s.tags(body, true); o.moved() && s.handed > handed {
		s.wrapFence = run
		return o
	}
	c.Seek(k.start)
	return retry
}

// opensBodyAt reports whether a marker that ends at end opens a call.
func (s *Scanner) opensBodyAt(end int, m *marker) bool {
	_, ok := s.classify(end, m.rows)
	return ok || m.section
}

// fenceJSON reads the JSON values of a fence.
func (s *Scanner) fenceJSON(k *construct) {
	c := s.c
	inList := false
	for {
		c.SkipSpace()
		b, ok := c.At(c.Offset())
		switch {
		case !ok:
			return
		case b == ',' || b == ';' || (b == ']' || b == '}') && (inList || k.got > 0):
			if b == ']' {
				inList = false
			}
			c.Skip(1)
			continue
		case b == '[' && k.marked && !inList && s.listOfObjects(c.Offset()):
			inList = true
			c.Skip(1)
			continue
		case b != '{' && b != '[':
			return
		}
		from := c.Offset()
		if k.got > 0 {
			k.next = from
		}
		r := lenient.NewReader(c, lenient.Options{Hash: k.marked && s.c.HasPrefix("{tool =>")})
		v, err := r.Value()
		if err != nil {
			s.wasted += c.Offset() - from
			if !s.fenceBroken(k, from, err) {
				c.Seek(from)
			}
			return
		}
		cand := &Candidate{Value: v, Method: call.MethodCodeblock, Provenance: k.provenance()}
		cand.readBy(r)
		if !k.deliver(cand, c.Offset()) && k.got == 0 {
			return
		}
	}
}

// fenceBroken offers JSON that could not be read for repair: all of the fence.
func (s *Scanner) fenceBroken(k *construct, from int, err error) bool {
	for off := from; off-from < maxBroken; off++ {
		b, ok := s.c.At(off)
		if !ok || b == '`' && s.c.HasPrefixAt(off, "```") && s.atLineStart(off) {
			s.c.Seek(off)
			raw := string(s.c.Slice(from, off))
			return k.deliver(&Candidate{Value: raw, Err: err, Method: call.MethodCodeblock, Provenance: k.provenance()}, off)
		}
	}
	return false
}

// closeFenced ends a fence behind what was read of it: with calls in it, it
// leaves the text; without, it is text.
func (s *Scanner) closeFenced(k *construct, run int) outcome {
	c := s.c
	s.abandon()
	if k.got == 0 {
		return retry
	}
	at := c.SpaceEnd(c.Offset())
	n := 0
	for {
		b, ok := c.At(at + n)
		if !ok || b != '`' && b != '~' {
			break
		}
		n++
	}
	if n >= min(run, 3) {
		c.Seek(at + n)
	} else if !c.EOFAt(at) {
		s.wrapFence = run // the rest of the fence is text, its end is not
	}
	return k.finish()
}

// pythonFence reports whether a fence of this kind may hold Python calls.
func (s *Scanner) pythonFence(off int, word string) bool {
	switch word {
	case "tool_code", "python", "py", "", "tool_call", "tool_calls", "tool", "function_call", "function":
	default:
		return false
	}
	end := s.nameEnd(off)
	next := s.blanks(end)
	b, ok := s.c.At(next)
	return end > off && ok && (b == '(' || b == '=')
}

// callsKnown reports whether the code at off begins with a call of a known tool,
// perhaps within print() or an assignment.
func (s *Scanner) callsKnown(off int) bool {
	if b, _ := s.c.At(off); b == '[' {
		off = s.c.SpaceEnd(off + 1)
	}
	for range 4 {
		end := s.nameEnd(off)
		if end == off {
			return false
		}
		name := string(s.c.Slice(off, end))
		next := s.blanks(end)
		b, _ := s.c.At(next)
		if b == '(' && s.isKnown(name) {
			return true
		}
		if b != '=' && (b != '(' || name != "print") {
			return false
		}
		off = s.c.SpaceEnd(next + 1)
	}
	return false
}

// pythonFenced reads the calls of a fence, statement by statement. Code that is
// no call of a tool is passed over.
func (s *Scanner) pythonFenced(k *construct) {
	c := s.c
	inList := c.Peek() == '['
	if inList {
		c.Skip(1)
	}
	for {
		k.skipPython(true)
		at := c.Offset()
		b, ok := c.At(at)
		if !ok || b == '`' && c.HasPrefix("```") {
			return
		}
		if inList && b == ']' {
			c.Skip(1)
			inList = false
			continue
		}
		if k.got > 0 {
			k.next = at
		}
		got := k.got
		if s.callsKnown(at) || !s.known() || k.ev.Fence == "tool_code" {
			k.pythonCall(inList)
		}
		if k.got == got {
			c.Seek(at)
			for { // the next line
				b, ok := c.At(c.Offset())
				if !ok || b == '\n' || b == '`' && c.HasPrefix("```") {
					break
				}
				c.Skip(1)
			}
			if k.got == 0 {
				return
			}
		}
	}
}

// fenceLabel returns the row whose label begins a fence's text, nil if none does.
func (l *look) fenceLabel(off int) *dialect.Row {
	return l.t.without(dialect.BodyLines, dialect.InFence, func(row *dialect.Row) bool {
		return len(row.Options.ArgLabels) == 2 && l.c.HasPrefixAt(off, row.Options.Label+":")
	})
}

// fenceLabelled reads a fence of a label with the tool's name, and labelled arguments.
func (s *Scanner) fenceLabelled(k *construct, run int) outcome {
	c := s.c
	row := s.fenceLabel(k.opened)
	from := k.opened + len(row.Options.Label) + 1
	end := from
	for {
		b, ok := c.At(end)
		if !ok || b == '\n' || b == '`' {
			break
		}
		end++
	}
	name := strings.TrimSpace(string(c.Slice(from, end)))
	if name == "" {
		return retry
	}
	k.marked, k.row = true, row
	c.Seek(end)
	cand := &Candidate{Named: true, Name: name, Arguments: map[string]any{}}
	k.labelledArguments(cand, row)
	k.deliver(cand, c.Offset())
	return s.closeFenced(k, run)
}

// fenceMapping reads the YAML of a fence. cut says that the text ended before the
// fence did: a line of YAML may be cut anywhere and still be YAML.
func (s *Scanner) fenceMapping() (v any, cut, ok bool) {
	c := s.c
	from := c.Offset()
	for off := from; off-from < maxMapping; off++ {
		b, ok := c.At(off)
		if !ok || b == '`' && c.HasPrefixAt(off, "```") {
			v, parsed := parseMapping(string(c.Slice(from, off)))
			c.Seek(off)
			return v, !ok, parsed
		}
	}
	return nil, false, false
}
