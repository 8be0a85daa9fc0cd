package extractor

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/callwright/callwright/internal/lenient"
	"github.com/callwright/callwright/registry"
)

// Options say what a scanner looks for.
type Options struct {
	// Table holds the dialects.
	Table *Table
	// Registry holds the tools; nil or empty means that any name may be a tool's.
	Registry *registry.Registry
	// ReasoningOpen says that the text begins within reasoning.
	ReasoningOpen bool
	// Prefer names dialects that are likelier than others.
	Prefer []string
	// Watch says that the scanner's partial call will be looked at, so that
	// reading keeps what is needed for it.
	Watch bool
	// Check is called now and then; an error of it ends the scan.
	Check func() error

	anyValue bool // any JSON is wanted, not only what may be a call
}

// Scanner walks once over a text and hands what it finds to a [Sink].
type Scanner struct {
	c    *lenient.Cursor
	o    Options
	t    *Table
	sink Sink
	err  error

	mark  int // text before it has been handed on
	solid int // behind the last byte that is not white space
	begin int // where the text since the last construct begins

	said      bool // some content was handed on
	taken     bool // something other than content was found
	afterCall bool // nothing but separators since the last call
	reasoned  bool // reasoning was found
	calls     int  // how many candidates were taken
	wasted    int  // bytes read by constructs that came to nothing
	checked   int  // offset of the last check
	code      int  // length of the run of back quotes that opened inline code

	idle      bool              // waiting for prose: nothing is open
	quiet     string            // until this marker nothing counts
	fence     []byte            // the fence that ends the code block we are in
	thought   bool              // the text has a line of thought before its action
	wrapFence int               // the length of the fence around calls that were taken
	flat      bool              // calls within values were seen not to end
	unwrap    string            // closes the tag around the visible text
	found     map[string]search // what was looked ahead for
	searched  map[*Dialect]int  // up to where no closing marker of the row was found
	partial   *Partial
	known     bool               // tools are known
	names     *registry.Registry // of the known tools, nil if none are known
}

// NewScanner returns a scanner of the text at a cursor.
func NewScanner(c *lenient.Cursor, o Options, sink Sink) *Scanner {
	s := &Scanner{c: c, o: o, t: o.Table, sink: sink, known: o.Registry != nil && o.Registry.Len() > 0}
	if s.known {
		s.names = o.Registry
	}
	return s
}

// Partial is the call that is being read, nil if none is. It may be looked at
// while the cursor waits.
func (s *Scanner) Partial() *Partial { return s.partial }

// Idle reports whether the scanner waits for text with nothing open, so that text
// without any [Table] trigger is content.
func (s *Scanner) Idle() bool { return s.idle }

// Run scans the text to its end. The error is that of Options.Check.
func (s *Scanner) Run() error {
	if s.o.ReasoningOpen {
		s.reason(&reasoning{close: s.t.closers}, 0, 0, true)
	}
	s.lineStart()
	for s.err == nil && s.Prose() {
		s.abandon()
		if s.check(); s.err != nil {
			break
		}
		p := s.c.Offset()
		b := s.c.Peek()
		if b == '\n' {
			s.c.Skip(1)
			s.code = 0
			s.lineStart()
			continue
		}
		s.hand()
		if !s.open(p, b) {
			s.c.Seek(p + 1)
			s.text(p + 1)
		}
	}
	s.finish()
	return s.err
}

func (s *Scanner) check() {
	if s.o.Check != nil && s.c.Offset()-s.checked > 4096 {
		s.checked = s.c.Offset()
		s.err = s.o.Check()
	}
}

// text says that the bytes up to off are not white space at their end.
func (s *Scanner) text(off int) {
	s.solid = off
	s.afterCall = false
}

// Prose moves over text up to the next byte at which something may begin, and
// hands it on as content. It returns false at the end of the text.
func (s *Scanner) Prose() bool {
	trigger := &s.t.trigger
	for {
		rest := s.c.Rest()
		i := 0
		for i < len(rest) {
			w := rest[i:]
			if !trigger[w[0]] {
				i++
				// Most text is quiet: eight bytes at a time.
				for w = rest[i:]; len(w) >= 8; w = w[8:] {
					if trigger[w[0]] || trigger[w[1]] || trigger[w[2]] || trigger[w[3]] || trigger[w[4]] || trigger[w[5]] || trigger[w[6]] || trigger[w[7]] {
						break
					}
					i += 8
				}
				continue
			}
			if rest[i] != '\n' || i+2 >= len(rest) || rest[i+1] == ' ' || rest[i+1] == '\t' || s.mayBegin(rest[i+1], rest[i+2]) {
				break
			}
			s.code = 0 // a line that begins with nothing of interest
			i++
		}
		if i > 0 {
			s.note(rest[:i])
			s.c.Skip(i)
		}
		if i < len(rest) {
			return true
		}
		s.flush()
		s.idle = true
		more := s.c.Fill()
		s.idle = false
		if !more {
			return false
		}
		if s.check(); s.err != nil {
			return false
		}
	}
}

// mayBegin reports whether two bytes may begin what counts only at a line's start.
func (s *Scanner) mayBegin(first, second byte) bool {
	return s.t.begins.Has(first, second) || s.names != nil && s.names.BeginsWith(first, second)
}

// Skim does the work of [Scanner.Prose] over what has come, without waiting, and
// reports whether that is all there is to do for it. It is for use while the
// scanner is idle.
func (s *Scanner) Skim() bool {
	rest := s.c.Rest()
	trigger := &s.t.trigger
	for _, b := range rest {
		if trigger[b] {
			return false
		}
	}
	s.note(rest)
	s.c.Skip(len(rest))
	s.flush()
	return true
}

// note takes text that begins at the cursor, for where its white space is.
func (s *Scanner) note(p []byte) {
	off := s.c.Offset()
	if s.afterCall {
		hard := bytes.IndexFunc(p, func(r rune) bool { return r != ' ' && r != '\n' && r != '\r' && r != '\t' && r != ',' && r != ';' })
		if hard < 0 {
			return
		}
		s.afterCall = false
	}
	for i := len(p) - 1; i >= 0; i-- {
		if b := p[i]; b != ' ' && b != '\n' && b != '\r' && b != '\t' {
			s.solid = off + i + 1
			return
		}
	}
}

// flush hands on the content before the cursor, but for white space at its end.
func (s *Scanner) flush() {
	s.content(s.wholeRunes(s.solid))
	s.c.Keep(max(s.begin, min(s.mark, s.c.Offset())-contextBytes))
}

// wholeRunes takes an incomplete UTF-8 sequence off the text before an offset.
func (s *Scanner) wholeRunes(to int) int {
	for n := 1; n <= 3 && to-n >= s.mark; n++ {
		tail := s.c.Slice(to-n, to)
		if utf8.RuneStart(tail[0]) {
			if tail[0] >= 0xC0 && !utf8.FullRune(tail) {
				return to - n
			}
			break
		}
	}
	return to
}

// hand hands on, in a stream, the content that is certain before the scanner
// waits for what follows.
func (s *Scanner) hand() {
	if s.o.Watch {
		s.content(s.wholeRunes(s.solid))
	}
}

// content hands on the text up to an offset.
func (s *Scanner) content(to int) {
	if to <= s.mark {
		return
	}
	p := s.c.String(s.mark, to)
	if !s.said && s.taken {
		p = strings.TrimLeft(p, " \n\r\t,;")
	}
	s.mark = to
	if len(p) > 0 {
		s.said = true
		s.sink.Content(p)
	}
}

// finish hands on what is left at the end of the text.
func (s *Scanner) finish() {
	end := s.c.Limit()
	if s.err != nil {
		end = s.c.Offset()
	}
	s.content(s.solid)
	if !s.taken {
		s.content(end)
	} else if end > s.mark {
		s.sink.Dropped(s.mark, end, "white space")
	}
}

// drop says that the text from one offset to another is neither content nor a
// call, and goes on behind it.
func (s *Scanner) drop(from, to int, why string) {
	s.content(min(s.solid, from))
	s.sink.Dropped(s.mark, to, why)
	s.taken = true
	s.mark, s.solid, s.begin = to, to, to
	s.c.Seek(to)
	s.c.Keep(to)
}

// open tries what may begin at p.
func (s *Scanner) open(p int, b byte) bool {
	if s.fence != nil {
		return s.closeFence(p, b)
	}
	if b == '`' || b == '~' {
		return s.ticks(p, b)
	}
	if next, ok := s.c.At(p + 1); ok {
		for _, m := range s.t.markers[uint16(b)<<8|uint16(next)] {
			if end := m.match(s.c, p); end >= 0 && s.marker(m, p, end) {
				return true
			}
		}
	}
	if s.quiet != "" || s.inCode(p) {
		return false
	}
	switch b {
	case '{', '[':
		return s.bare(p, b)
	case '<':
		return s.tags(p)
	}
	return false
}

// inCode reports whether p stands in inline code: back quotes opened before it on
// its line, and close behind it on the same line.
func (s *Scanner) inCode(p int) bool {
	if s.code == 0 {
		return false
	}
	for off := p; off < p+1024; off++ {
		b, ok := s.c.At(off)
		if !ok || b == '\n' {
			break
		}
		if b == '`' {
			return true
		}
	}
	s.code = 0
	return false
}

// marker acts on a marker that stands from p to end, and reports whether it counts.
func (s *Scanner) marker(m *marker, p, end int) bool {
	if s.quiet != "" {
		if m.pattern != s.quiet {
			return false
		}
		s.quiet = ""
		return false // the marker itself is text
	}
	if s.inCode(p) {
		return false
	}
	switch m.kind {
	case opens:
		return s.dialect(m, p, end)
	case closes:
		return s.strayClose(p, end)
	case thinks:
		if !s.opensReasoning(p, m.form) {
			return false
		}
		return s.reason(m.form, p, end, false)
	case concludes:
		return s.conclude(p, end)
	case noise:
		if m.pattern == "Grounded answer:" && !s.taken {
			return false
		}
		s.drop(p, end, "turn marker")
		s.lineStart()
		return true
	case results:
		return s.result(m, p, end)
	case quotes:
		if _, ok := s.find(end, m.end); ok || m.end == "-->" {
			s.quiet = m.end
		}
		return false
	}
	return false
}

// strayClose drops a closing marker that closes nothing, where nothing but a
// line's end follows it.
func (s *Scanner) strayClose(p, end int) bool {
	if s.unwrap != "" && string(s.c.Slice(p, end)) == s.unwrap {
		s.unwrap = ""
		s.drop(p, end, "wrapper")
		return true
	}
	for _, w := range wrappers {
		if s.c.HasPrefixAt(p, w.end) {
			return false
		}
	}
	after := end
	for {
		b, ok := s.c.At(after)
		if b == ' ' {
			after++
			continue
		}
		if ok && b != '\n' && b != '\r' && b != '<' && b != ']' {
			return false
		}
		break
	}
	s.drop(p, end, "closing marker")
	s.afterCall = s.calls > 0
	return true
}

// result drops what a model imagines that a tool answered.
func (s *Scanner) result(m *marker, p, end int) bool {
	if m.pattern == "✿RESULT✿" && s.calls == 0 {
		return false
	}
	to, ok := s.find(end, m.end)
	if !ok {
		if !s.atLineStart(p) && s.calls == 0 {
			return false
		}
		to = s.c.Limit()
	}
	s.drop(p, to, "invented tool result")
	return true
}

// find looks ahead for a marker and returns the offset behind it. A marker that
// is not there is looked for only once, and one that is there is not looked for
// again from a place before it.
func (s *Scanner) find(from int, pattern string) (int, bool) {
	if f, ok := s.found[pattern]; ok && from >= f.from && (f.end < 0 || from <= f.end-len(pattern)) {
		return f.end, f.end >= 0
	}
	if s.found == nil {
		s.found = make(map[string]search)
	}
	end := s.search(from, pattern)
	s.found[pattern] = search{from, end}
	return end, end >= 0
}

// search is what looking ahead for a marker came to.
type search struct {
	from int // where it began
	end  int // the offset behind the marker, or -1
}

func (s *Scanner) search(from int, pattern string) int {
	for off := from; ; off++ {
		p := s.c.Slice(off, s.c.Limit())
		i := bytes.IndexByte(p, pattern[0])
		if i < 0 {
			at := s.c.Offset()
			more := s.c.Fill()
			s.c.Seek(at)
			if !more {
				return -1
			}
			off += len(p) - 1
			continue
		}
		off += i
		if end := matchAny(s.c, off, []string{pattern}); end >= 0 {
			return end
		}
	}
}

// atLineStart reports whether nothing but blanks stands between the beginning of
// the line, or the end of a construct, and p.
func (s *Scanner) atLineStart(p int) bool {
	for i := p - 1; i >= max(s.begin, s.c.Kept()); i-- {
		switch b, _ := s.c.At(i); b {
		case ' ', '\t', '\r':
		case '\n':
			return true
		default:
			return false
		}
	}
	return s.begin == 0 || s.taken
}

// construct is what is being read at an opening marker.
type construct struct {
	row    *Dialect
	start  int // of the marker
	body   int // of what the marker opens
	ev     Evidence
	fenced bool
	got    int // how many candidates were taken
	close  []string
	next   int // where the next candidate begins
	marked bool
	led    bool // the words before it were looked at
	acts   bool // its sentence says that the writer acts now
	// refused says that a candidate was read and not taken: what was read is
	// text, and not to be looked at for another.
	refused bool
}

// show makes the call that is being read visible.
func (s *Scanner) show(k *construct, p Partial) {
	if !s.o.Watch {
		return
	}
	s.lead(k)
	p.Marked, p.Close = k.marked, k.close
	p.Doubtful = k.ev.Example || k.ev.Quoted || k.ev.midSentence || k.ev.Guess
	s.abandon()
	shown := p
	s.partial = &shown
}

// deliver hands a candidate to the sink and reports whether it was taken.
func (s *Scanner) deliver(k *construct, cand *Candidate, end int) bool {
	s.lead(k)
	cand.Start, cand.End = k.next, end
	cand.Raw = s.c.String(k.next, end)
	if cand.Dialect == nil {
		cand.Dialect = k.row
	}
	cand.Evidence.merge(k.ev)
	if cand.Method == "" {
		cand.Method = MethodDialect
	}
	if cand.Provenance == "" {
		cand.Provenance = provenance(k)
		if !k.marked && cand.Method == MethodDialect {
			cand.Method = MethodBalanced
		}
	}
	if k.ev.midSentence && !k.acts && s.goesOn(end) {
		cand.Evidence.Quoted = true
	}
	s.content(min(s.solid, k.start))
	s.partial = nil
	if !s.sink.Candidate(cand) {
		k.refused = true
		return false
	}
	s.calls++
	k.got++
	k.next = end
	return true
}

// abandon says that the call being shown, if there is one, came to nothing.
func (s *Scanner) abandon() {
	if s.partial != nil {
		s.partial = nil
		s.sink.Abandoned()
	}
}

// close ends a construct at the cursor: what was taken leaves the text, else all
// of it is text.
func (s *Scanner) close(k *construct) bool {
	s.abandon()
	end := s.c.Offset()
	if k.got == 0 {
		s.wasted += end - k.start
		s.text(end)
		s.code = 0
		return true
	}
	if end < k.next { // what was read of calls is not read again
		end = k.next
		s.c.Seek(end)
	}
	s.drop(k.start, end, "call")
	s.afterCall = true
	s.lineStart()
	return true
}

// fail goes back to the start of a construct that came to nothing.
func (s *Scanner) fail(k *construct) bool {
	s.abandon()
	end := s.c.Offset()
	s.wasted += end - k.start
	if k.refused && end > k.start || s.wasted > 4*s.c.Offset()+1<<20 {
		// Too much was read in vain, or what was read is known to be no call: do
		// not look inside again.
		s.text(end)
		return true
	}
	s.c.Seek(k.start)
	return false
}

// prefer puts the rows that were asked for first.
func (s *Scanner) prefer(rows []*Dialect) []*Dialect {
	if len(s.o.Prefer) == 0 || len(rows) < 2 {
		return rows
	}
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b *Dialect) int {
		return s.rank(a) - s.rank(b)
	})
	return rows
}

func (s *Scanner) rank(d *Dialect) int {
	if slices.Contains(s.o.Prefer, d.Name) || slices.ContainsFunc(d.Aliases, func(a string) bool { return slices.Contains(s.o.Prefer, a) }) {
		return 0
	}
	return 1
}

// dialect reads what a dialect's opening marker opens.
func (s *Scanner) dialect(m *marker, p, end int) bool {
	return s.dialectAt(m, &construct{start: p, next: p, body: end, ev: s.context(p)}, p, end)
}

// dialectAt reads what the marker from p to end opens, as part of a construct
// that may have begun before it.
func (s *Scanner) dialectAt(m *marker, k *construct, p, end int) bool {
	k.marked = true
	rows := s.prefer(m.rows)
	if h := headerRow(rows); h != nil {
		return s.message(k, h)
	}
	if m.section {
		return s.section(k, m, rows, end)
	}
	if next := s.c.SpaceEnd(end); s.opensAgain(next, m) {
		// <tool_call><tool_call>{ : the first one says nothing.
		s.drop(p, next, "doubled marker")
		return true
	}
	if to := s.noCall(end, rows); to > 0 {
		s.drop(p, to, "no call")
		return true
	}
	if row, tool := s.codeTool(rows); row != nil && s.isCode(end) {
		return s.rawCode(k, row, tool, end)
	}
	form, ok := s.classify(end, rows)
	if !ok {
		if s.calls > 0 && s.afterCall && s.endsHere(end) {
			s.drop(p, end, "closing marker") // written in the place of a closing one
			s.afterCall = true
			return true
		}
		return false
	}
	k.row = form.row
	k.body = form.off
	k.fenced = form.fenced
	k.close = form.row.Close
	s.c.Seek(form.off)
	switch form.body {
	case BodyJSON:
		return s.jsonBody(k)
	case BodyNameJSON:
		return s.nameJSON(k)
	case BodyParams:
		return s.params(k)
	case BodyKeyValue:
		return s.keyValue(k)
	case BodyElements:
		if t, ok := s.tag(p); ok && t.end == end {
			s.c.Seek(p) // the marker is the call's own tag
		}
		return s.elements(k)
	case BodyPythonic:
		return s.pythonic(k)
	case BodyBraceCall:
		return s.braceCall(k)
	case BodyLines:
		if len(form.row.Options.ValueQuotes) == 2 {
			return s.quotedLines(k)
		}
		return s.mapping(k)
	}
	return false
}

// noCall returns the offset behind a name at off that means that no tool is
// called, or 0.
func (s *Scanner) noCall(off int, rows []*Dialect) int {
	end := s.nameEnd(off)
	if end == off {
		return 0
	}
	for _, row := range rows {
		if b, _ := s.c.At(end); b == '\n' && slices.Contains(row.Options.None, string(s.c.Slice(off, end))) {
			return end
		}
	}
	return 0
}

// opensAgain reports whether the marker stands at off once more.
func (s *Scanner) opensAgain(off int, m *marker) bool {
	return m.match(s.c, off) >= 0
}

// endsHere reports whether nothing more stands on the line behind off.
func (s *Scanner) endsHere(off int) bool {
	for {
		b, ok := s.c.At(off)
		if !ok || b == '\n' {
			return true
		}
		if b != ' ' && b != '\r' {
			return false
		}
		off++
	}
}

// maxSectionNoise bounds the text between a section's marker and its first call.
const maxSectionNoise = 512

// section drops a section's marker, and text between it and the section's first call.
func (s *Scanner) section(k *construct, sec *marker, rows []*Dialect, end int) bool {
	for off := end; off < end+maxSectionNoise; off++ {
		b, ok := s.c.At(off)
		if !ok {
			break
		}
		if !s.t.trigger[b] || b == '\n' {
			continue
		}
		next, ok := s.c.At(off + 1)
		if !ok {
			break
		}
		for _, m := range s.t.markers[uint16(b)<<8|uint16(next)] {
			if m.kind == opens && !m.section && m.match(s.c, off) >= 0 && sharesRow(m.rows, rows) {
				s.drop(k.start, off, "section marker")
				return true
			}
		}
		if b == '{' || b == '[' {
			break
		}
	}
	form, ok := s.classify(end, rows)
	if !ok || form.body != BodyNameJSON && form.body != BodyJSON && form.body != BodyParams {
		if slices.Contains(turnMarkers, sec.pattern) {
			s.drop(k.start, end, "turn marker")
			return true
		}
		return s.endsHere(end) && s.strayClose(k.start, end)
	}
	k.row, k.body, k.close = form.row, form.off, form.row.Close
	s.c.Seek(form.off)
	switch form.body {
	case BodyJSON:
		return s.jsonBody(k)
	case BodyParams:
		return s.params(k)
	}
	return s.nameJSON(k)
}

func sharesRow(a, b []*Dialect) bool {
	for _, d := range a {
		if slices.Contains(b, d) {
			return true
		}
	}
	return false
}

// lookup finds the tool of a name, nil if there is none.
func (s *Scanner) lookup(name string) *registry.Tool {
	if !s.known {
		return nil
	}
	m, _ := s.o.Registry.Lookup(name)
	return m.Tool
}

// isKnown reports whether a name is a known tool's, exactly or behind a namespace.
func (s *Scanner) isKnown(name string) bool {
	if !s.known {
		return false
	}
	m, ok := s.o.Registry.Lookup(name)
	return ok && (m.Exact() || m.Rule == "prefix")
}
