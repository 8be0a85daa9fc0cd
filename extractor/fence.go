package extractor

import (
	"bytes"
	"slices"
	"strings"

	"github.com/callwright/callwright/internal/lenient"
)

// Info strings of fences in which a call may stand. Those of the second list say
// that it is one.
var (
	callFences = []string{"", "json", "json5", "jsonc", "javascript", "js", "xml", "html", "text", "txt", "plaintext", "python", "py", "yaml", "yml", "markdown", "output", "response"}
	toolFences = []string{"tool_call", "tool_calls", "tool_code", "tool", "tools", "tool_use", "function_call", "function", "functions", "invoke", "action", "tool-call", "toolcall"}
)

// ticks acts on back quotes or tildes: a fence, or inline code.
func (s *Scanner) ticks(p int, b byte) bool {
	end := p
	for {
		n, ok := s.c.At(end)
		if !ok || n != b {
			break
		}
		end++
	}
	n := end - p
	if n >= 3 {
		return s.fenceAt(p, end, b)
	}
	s.c.Seek(end)
	s.text(end)
	if b == '`' {
		switch s.code {
		case 0:
			s.code = n
		case n:
			s.code = 0
		}
	}
	return true
}

// fenceAt reads a code fence whose run stands from p to end.
func (s *Scanner) fenceAt(p, end int, b byte) bool {
	run := bytes.Repeat([]byte{b}, end-p)
	if s.wrapFence > 0 && end-p >= s.wrapFence && s.endsHere(end) {
		s.wrapFence = 0
		s.drop(p, end, "fence")
		s.afterCall = true
		return true
	}
	if s.quiet != "" || s.code > 0 {
		s.c.Seek(end)
		s.text(end)
		return true
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
			return true
		}
		stop++
	}
	info := strings.ToLower(strings.TrimSpace(string(s.c.Slice(end, stop))))
	word, rest, _ := strings.Cut(info, " ")
	k := &construct{start: p, next: p, body: s.c.SpaceEnd(stop), ev: s.context(p), fenced: true}
	k.ev.Fence = word
	if word == "" {
		k.ev.Fence = "-"
	}
	k.marked = slices.Contains(toolFences, word)
	switch {
	case k.marked && rest != "" && s.isKnown(rest), s.isKnown(word):
		// ```tool get_weather
		name := strings.TrimSpace(string(s.c.Slice(end, stop)))
		if i := strings.IndexByte(name, ' '); i >= 0 && k.marked {
			name = strings.TrimSpace(name[i:])
		}
		k.marked = true
		if s.fenceNamed(k, name, len(run)) {
			return true
		}
	case k.marked || slices.Contains(callFences, word):
		if s.fenceBody(k, word, len(run)) {
			return true
		}
	}
	if s.c.Offset() > p { // read, and no call: all of it is text
		s.fence = run
		s.text(s.c.Offset())
		return true
	}
	s.fence = run
	s.c.Seek(stop)
	s.text(stop)
	return true
}

// fenceNamed reads the arguments in a fence that names the tool.
func (s *Scanner) fenceNamed(k *construct, name string, run int) bool {
	s.c.Seek(k.body)
	cand := &Candidate{Named: true, Name: name, Method: MethodCodeblock}
	if s.c.Peek() != '{' || !s.objectAt(k.body) {
		if !s.c.HasPrefix("```") {
			s.c.Seek(k.start)
			return false
		}
		cand.Arguments = map[string]any{}
	} else {
		r := lenient.NewReader(s.c, lenient.Options{})
		v, err := r.Value()
		if err != nil {
			s.c.Seek(k.start)
			return false
		}
		cand.Arguments, cand.Fixes, cand.Truncated = v, r.Fixes, r.OpenAtEnd > 0 || r.CutToken
	}
	s.deliver(k, cand, s.c.Offset())
	return s.closeFenced(k, run)
}

// fenceBody reads what a fence holds, if it may be calls.
func (s *Scanner) fenceBody(k *construct, word string, run int) bool {
	c := s.c
	b, ok := c.At(k.body)
	if !ok {
		return false
	}
	switch {
	case b == '{' && s.objectAt(k.body), b == '[' && (s.listOfObjects(k.body) || s.o.anyValue):
		c.Seek(k.body)
		s.fenceJSON(k)
		return s.closeFenced(k, run)
	case b == '[' && s.callAt(c.SpaceEnd(k.body+1)), isIdentStart(b) && s.pythonFence(k.body, word):
		c.Seek(k.body)
		marked := k.marked
		k.marked = true
		k.ev.Guess = k.ev.Guess || word == "python" || word == "py"
		k.row = s.t.byName["gemma_tool_code"]
		if marked || s.callsKnown(k.body) {
			s.pythonFenced(k)
			k.marked = marked
			return s.closeFenced(k, run)
		}
		c.Seek(k.start)
		return false
	case isIdentStart(b) && c.HasPrefixAt(k.body, "TOOL_NAME:"):
		return s.fenceLabelled(k, run)
	case isIdentStart(b) && (word == "yaml" || word == "yml" || k.marked) && isNameKey(s.wordAt(k.body)):
		c.Seek(k.body)
		k.row = s.t.byName["yaml"]
		if v, cut, ok := s.fenceMapping(); ok {
			s.deliver(k, &Candidate{Value: v, Method: MethodCodeblock, Provenance: provenance(k), Truncated: cut}, c.Offset())
		}
		return s.closeFenced(k, run)
	}
	if m, end := s.callMarker(k.body); m != nil && s.atText(end, m) {
		// Markers within a fence: the fence is only a wrapper.
		k2 := *k
		ok := s.dialectAt(m, &k2, k.body, end)
		if ok && s.mark == s.c.Offset() {
			s.wrapFence = run
			return true
		}
		if ok {
			return true
		}
		c.Seek(k.start)
	}
	if b == '<' {
		if t, ok := s.tag(k.body); ok && !t.close && (t.call() && (t.name != "") || s.isKnown(t.word)) && (word == "xml" || word == "" || k.marked) {
			mark := s.mark
			if s.tags(k.body) && s.mark > mark {
				s.wrapFence = run
				return true
			}
			c.Seek(k.start)
		}
	}
	return false
}

func provenance(k *construct) Provenance {
	if k.marked {
		return Marked
	}
	return Bare
}

// atText reports whether a marker at the beginning of a fence opens a call.
func (s *Scanner) atText(end int, m *marker) bool {
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
		cand := &Candidate{Value: v, Fixes: r.Fixes, Method: MethodCodeblock, Provenance: provenance(k), Truncated: cutOff(r, v)}
		if !s.deliver(k, cand, c.Offset()) && k.got == 0 {
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
			return s.deliver(k, &Candidate{Value: raw, Err: err, Method: MethodCodeblock, Provenance: provenance(k)}, off)
		}
	}
	return false
}

// closeFenced ends a fence behind what was read of it: with calls in it, it
// leaves the text; without, it is text.
func (s *Scanner) closeFenced(k *construct, run int) bool {
	c := s.c
	s.abandon()
	if k.got == 0 {
		return false
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
	return s.close(k)
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
		s.skipPython(true)
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
		if s.callsKnown(at) || !s.known || k.ev.Fence == "tool_code" {
			s.pythonCall(k, inList)
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

// fenceLabelled reads a fence of TOOL_NAME:, BEGIN_ARG: and END_ARG.
func (s *Scanner) fenceLabelled(k *construct, run int) bool {
	c := s.c
	from := k.body + len("TOOL_NAME:")
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
		return false
	}
	k.marked = true
	k.row = s.t.byName["continue_tool"]
	c.Seek(end)
	cand := &Candidate{Named: true, Name: name, Arguments: map[string]any{}}
	s.labelled(k, cand)
	s.deliver(k, cand, c.Offset())
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

func (s *Scanner) wordAt(off int) string { return string(s.c.Slice(off, s.nameEnd(off))) }

// closeFence looks for the end of the code block that p is in.
func (s *Scanner) closeFence(p int, b byte) bool {
	if b != s.fence[0] {
		return false
	}
	end := p
	for {
		n, ok := s.c.At(end)
		if !ok || n != b {
			break
		}
		end++
	}
	if end-p >= len(s.fence) && s.atLineStart(p) && s.endsHere(end) || end-p >= len(s.fence) && end-p >= 3 && s.endsHere(end) {
		s.fence = nil
	}
	s.c.Seek(end)
	s.text(end)
	return true
}
