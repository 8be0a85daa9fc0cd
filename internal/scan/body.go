package scan

import (
	"slices"
	"strings"

	"github.com/callwright/callwright/dialect"
	"github.com/callwright/callwright/internal/lenient"
)

// body reads what stands between a row's markers. It holds no state of its own.
type body interface {
	// at reports whether the body begins at off, behind a marker that opens the rows,
	// and where what read is to read begins. It looks, and never moves the cursor.
	at(l *look, off int, rows []*dialect.Row) (start int, ok bool)
	// read reads calls from the cursor on and delivers them.
	read(k *construct) outcome
}

// bodies are the bodies in the order in which they are tried. Of two that both could
// begin at a place, the one that says more about it stands first.
var bodies = [...]struct {
	name dialect.Body
	body body
}{
	// "call:" is its own word; else it would be a name.
	{dialect.BodyBraceCall, braceCallBody{}},
	// Only for rows with quoted values: nothing else tells it from a name.
	{dialect.BodyLines, quotedLinesBody{}},
	// An object or a list: by its first bracket.
	{dialect.BodyJSON, jsonBody{}},
	// A call's own tag.
	{dialect.BodyParams, paramsBody{}},
	// A name: JSON behind it, or a row's own word between, tells the most.
	{dialect.BodyNameJSON, nameJSONBody{}},
	// A key's tag, or a name and a key's tag.
	{dialect.BodyKeyValue, keyValueBody{}},
	// Any other tag.
	{dialect.BodyElements, elementsBody{}},
	// A name and a parenthesis.
	{dialect.BodyPythonic, pythonicBody{}},
	// A key of YAML.
	{dialect.BodyLines, mappingBody{}},
}

// form is what was found behind an opening marker.
type form struct {
	name   dialect.Body
	body   body
	row    *dialect.Row
	start  int // where the body begins
	fenced bool
}

// classify decides by the first bytes behind an opening marker what body stands there,
// and which of the marker's rows it belongs to. ok is false if nothing there is a call.
func (l *look) classify(off int, rows []*dialect.Row) (f form, ok bool) {
	off = l.c.SpaceEnd(off)
	if f, ok = l.bodyAt(off, rows); !ok {
		if !l.c.HasPrefixAt(off, "```") {
			return f, false
		}
		// A fence within the markers.
		end := off + 3
		for end < off+32 {
			b, ok := l.c.At(end)
			if !ok || b == '\n' || b == '{' || b == '[' {
				break
			}
			end++
		}
		if f, ok = l.bodyAt(l.c.SpaceEnd(end), rows); !ok {
			return f, false
		}
		f.fenced = true
	}
	f.row = l.rowOf(&f, rows)
	return f, f.row != nil
}

// bodyAt returns the first body that begins at off.
func (l *look) bodyAt(off int, rows []*dialect.Row) (f form, ok bool) {
	if l.c.EOFAt(off) {
		return f, false
	}
	for i := range bodies {
		b := &bodies[i]
		if start, ok := b.body.at(l, off, rows); ok {
			return form{name: b.name, body: b.body, start: start}, true
		}
	}
	return f, false
}

// rowOf returns the row that a form behind a marker of several rows belongs to: one of
// its body, and of those the one whose own words are there.
func (l *look) rowOf(f *form, rows []*dialect.Row) *dialect.Row {
	var row *dialect.Row
	for _, r := range rows {
		if r.Body != f.name {
			continue
		}
		switch lead := r.Options.Lead; {
		case r.Options.Prefix != "" && l.c.HasPrefixAt(f.start, r.Options.Prefix):
			return r
		case len(lead) > 0 && matchAny(l.c, f.start, lead) >= 0:
			return r
		case row == nil:
			row = r
		case len(row.Options.Lead) == 0 || len(lead) > 0 || matchAny(l.c, f.start, row.Options.Lead) >= 0:
		case l.nameThenJSON(f.start, []*dialect.Row{r}):
			row = r
		}
	}
	if row != nil {
		return row
	}
	// No row of this marker has such a body: models mix them. Brace calls are the
	// markers' own matter.
	if f.name == dialect.BodyBraceCall || rows[0].Body == dialect.BodyBraceCall && f.name != dialect.BodyJSON {
		return nil
	}
	return rows[0]
}

// hasBody reports whether one of the rows has a body.
func hasBody(rows []*dialect.Row, body dialect.Body) bool {
	return slices.ContainsFunc(rows, func(d *dialect.Row) bool { return d.Body == body })
}

// prefixAt returns the offset behind the prefix of one of the rows at off, if a tag
// follows it; -1 if there is none.
func (l *look) prefixAt(off int, rows []*dialect.Row, body dialect.Body) int {
	for _, row := range rows {
		if p := row.Options.Prefix; p != "" && row.Body == body && l.c.HasPrefixAt(off, p) {
			if _, ok := l.tag(off + len(p)); ok {
				return off + len(p)
			}
		}
	}
	return -1
}

// opened reads what a dialect's opening marker from p to end opens, as a construct that
// may have begun before it.
func (s *Scanner) opened(m *marker, k *construct, p, end int) outcome {
	k.marked = true
	k.ev.Trained = m.trained && k.ev.Fence == "" && s.wrapFence == 0 && !s.openReasoning
	rows := s.prefer(m.rows)
	if row := headerRow(rows); row != nil {
		return s.message(k, row)
	}
	if m.section {
		return s.section(k, m, rows, end)
	}
	next := s.c.SpaceEnd(end)
	if m.match(s.c, next) >= 0 {
		// <tool_call><tool_call>{ : the first one says nothing.
		s.drop(p, next, WhyDoubledMarker)
		return taken
	}
	if m.trained && s.c.EOFAt(next) && !s.afterCall {
		s.drop(p, end, WhyOpeningMarker) // the text was cut off before the call
		return taken
	}
	if to := s.noCall(end, rows); to > 0 {
		s.drop(p, to, WhyNoCall)
		return taken
	}
	if row, tool := s.codeTool(rows); row != nil && s.isCode(end) {
		return s.rawCode(k, row, tool, end)
	}
	form, ok := s.classify(end, rows)
	if !ok {
		if s.calls > 0 && s.afterCall && s.endsHere(end) {
			s.drop(p, end, WhyClosingMarker) // written in the place of a closing one
			s.afterCall = true
			return taken
		}
		return retry
	}
	return form.read(k)
}

// read reads a construct in this form.
func (f *form) read(k *construct) outcome {
	k.row, k.fenced, k.close = f.row, f.fenced, f.row.Close
	k.c.Seek(f.start)
	return f.body.read(k)
}

// noCall returns the offset behind a name at off that means that no tool is called,
// or 0.
func (l *look) noCall(off int, rows []*dialect.Row) int {
	end := l.nameEnd(off)
	if end == off {
		return 0
	}
	for _, row := range rows {
		if b, _ := l.c.At(end); b == '\n' && slices.Contains(row.Options.None, string(l.c.Slice(off, end))) {
			return end
		}
	}
	return 0
}

// maxSectionNoise bounds the text between a section's marker and its first call.
const maxSectionNoise = 512

// section drops a section's marker, and text between it and the section's first call.
func (s *Scanner) section(k *construct, sec *marker, rows []*dialect.Row, end int) outcome {
	for off := end; off < end+maxSectionNoise; off++ {
		b, ok := s.c.At(off)
		if !ok {
			break
		}
		if !s.t.trigger[b] || b == '\n' {
			continue
		}
		if m, _ := s.markerOf(off, func(m *marker) bool { return m.kind == opens && !m.section && sharesRow(m.rows, rows) }); m != nil {
			s.drop(k.start, off, WhySectionMarker)
			return taken
		}
		if to := matchAny(s.c, off, rows[0].Close); to >= 0 && s.c.SpaceEnd(end) == off { // a section without calls
			s.drop(k.start, to, WhySectionMarker)
			return taken
		}
		if b == '{' || b == '[' {
			break
		}
	}
	form, ok := s.classify(end, rows)
	if !ok || form.name != dialect.BodyNameJSON && form.name != dialect.BodyJSON && form.name != dialect.BodyParams {
		if sec.turn != nil {
			return s.turn(sec, k.start, end)
		}
		if s.endsHere(end) {
			return s.strayClose(k.start, end)
		}
		return retry
	}
	form.fenced = false
	return form.read(k)
}

func sharesRow(a, b []*dialect.Row) bool {
	return slices.ContainsFunc(a, func(d *dialect.Row) bool { return slices.Contains(b, d) })
}

// codeTool returns the row and the tool to which code behind a marker goes: a tool that
// is known and that takes code.
func (l *look) codeTool(rows []*dialect.Row) (*dialect.Row, string) {
	if !l.known() {
		return nil, ""
	}
	for _, row := range rows {
		for _, name := range row.Options.Code {
			if l.registry.Get(name) != nil {
				return row, name
			}
		}
	}
	return nil, ""
}

// isCode reports whether what stands at off is code and no call: an object, a list of
// them, or a known tool's name and a parenthesis are calls.
func (l *look) isCode(off int) bool {
	at := l.c.SpaceEnd(off)
	b, ok := l.c.At(at)
	switch {
	case !ok || b == '<':
		return false
	case b == '{':
		return !l.objectAt(at)
	case b == '[':
		next := l.c.SpaceEnd(at + 1)
		n, _ := l.c.At(next)
		return n != '{' && !l.knownCallAt(next)
	}
	return !l.knownCallAt(at)
}

// rawCode reads code up to the closing marker, or the text's end: servers take the
// marker off.
func (s *Scanner) rawCode(k *construct, row *dialect.Row, tool string, from int) outcome {
	k.row, k.close = row, row.Close
	to := k.rawEnd(from, k.close)
	code := strings.TrimSpace(lenient.ValidUTF8(k.c.Slice(from, to)))
	if code == "" {
		return k.fail()
	}
	cand := &Candidate{Named: true, Name: tool, Arguments: lenient.Text(code)}
	cand.Evidence.MissingClose = k.c.EOFAt(to)
	k.c.Seek(to)
	k.skipClosing()
	k.deliver(cand, k.c.Offset())
	return k.finish()
}
