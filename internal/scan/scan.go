package scan

import (
	"slices"

	"github.com/callwright/callwright/dialect"
	"github.com/callwright/callwright/internal/lenient"
	"github.com/callwright/callwright/registry"
)

// Options say what a scanner looks for.
type Options struct {
	// Table holds the dialects; nil means [Builtin].
	Table *Table
	// Registry holds the tools; nil or empty means that any name may be a tool's.
	Registry *registry.Registry
	// Calls is the [CallShape] of Registry, for whoever scans many texts; nil has it made.
	Calls *lenient.Shape
	// ReasoningOpen says that the text begins within reasoning.
	ReasoningOpen bool
	// Prefer names dialects that are likelier than others.
	Prefer []string
	// Watch says that the scanner's partial call will be looked at, so that reading
	// keeps what is needed for it.
	Watch bool
	// AnyValue says that any JSON is wanted, not only what may be a call.
	AnyValue bool
	// Everywhere says that quotations, code, reasoning and the turns of others count like
	// all else: for finding what might be repeated from a text, not for reading calls.
	Everywhere bool
	// Check is called now and then; an error of it ends the scan.
	Check func() error
}

// Scanner walks once over a text and hands what it finds to a [Sink].
type Scanner struct {
	look
	ledger
	quoting

	c       *lenient.Cursor
	o       Options
	err     error // of Options.Check
	checked int   // offset of the last check

	seen   int // how many candidates were delivered
	calls  int // how many of them were taken
	wasted int // bytes read by constructs that came to nothing

	reasoned      bool   // reasoning was found
	openReasoning bool   // reasoning was not closed: a call's marker ended it
	thoughtLabel  bool   // the text has a line of thought before its action
	wrapEnd       string // closes the wrapper around the visible text
	noNesting     bool   // calls within values were seen not to end

	partial *Partial
	idle    bool // waiting for prose: nothing is open
}

// New returns a scanner of the text at a cursor.
func New(c *lenient.Cursor, o Options, sink Sink) *Scanner {
	s := &Scanner{}
	s.Init(c, o, sink)
	return s
}

// Init makes an empty scanner what [New] returns.
func (s *Scanner) Init(c *lenient.Cursor, o Options, sink Sink) {
	if o.Table == nil {
		o.Table = Builtin
	}
	s.look, s.c, s.o = newLook(c, o), c, o
	s.ledger.c, s.sink, s.ledger.watch = c, sink, o.Watch
}

// Partial is the call that is being read, nil if none is. It may be looked at while
// the cursor waits.
func (s *Scanner) Partial() *Partial { return s.partial }

// Idle reports whether the scanner waits for text with nothing open, so that text
// without any trigger byte of the table is content.
func (s *Scanner) Idle() bool { return s.idle }

// Run scans the text to its end. The error is that of Options.Check.
func (s *Scanner) Run() error {
	if s.o.ReasoningOpen {
		s.reason(&dialect.Reasoning{Close: s.t.closers}, 0, 0, true)
	}
	s.lineStart()
	for s.err == nil && s.prose() {
		s.abandon()
		if s.check(); s.err != nil {
			break
		}
		p := s.c.Offset()
		b := s.c.Peek()
		if b == '\n' {
			s.c.Skip(1)
			s.ticks = 0
			s.lineStart()
			continue
		}
		s.flushCertain()
		if !s.open(p, b).moved() {
			s.c.Seek(p + 1)
			s.text(p + 1)
		}
	}
	end := s.c.Limit()
	if s.err != nil {
		end = s.c.Offset()
	}
	s.finish(end)
	return s.err
}

func (s *Scanner) check() {
	if s.o.Check != nil && s.c.Offset()-s.checked > 4096 {
		s.checked = s.c.Offset()
		s.err = s.o.Check()
	}
}

// prose moves over text up to the next byte at which something may begin, and hands it
// on as content. It returns false at the end of the text.
func (s *Scanner) prose() bool {
	trigger := &s.t.trigger
	for {
		rest := s.c.Rest()
		i := 0
		for i < len(rest) {
			w := rest[i:]
			if !trigger[w[0]] {
				i++
				// Most text has no trigger: eight bytes at a time.
				for w = rest[i:]; len(w) >= 8; w = w[8:] {
					if trigger[w[0]] || trigger[w[1]] || trigger[w[2]] || trigger[w[3]] ||
						trigger[w[4]] || trigger[w[5]] || trigger[w[6]] || trigger[w[7]] {
						break
					}
					i += 8
				}
				continue
			}
			if rest[i] != '\n' || i+2 >= len(rest) || rest[i+1] == ' ' || rest[i+1] == '\t' || s.mayBegin(rest[i+1], rest[i+2]) {
				break
			}
			s.ticks = 0 // a line that begins with nothing of interest
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

// Skim does the work of reading prose over what has come, without waiting, and reports
// whether that is all there is to do for it. It is for use while the scanner is idle.
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

// A text is looked at so often at most, in all: what models write takes less than 64 looks
// at each byte. Only texts that are made to be slow need more; of those what stands behind
// is content.
const (
	looksPerByte = 256
	looksAtLeast = 1 << 20
)

// exhausted reports whether the text was looked at too often for more to be tried.
func (s *Scanner) exhausted() bool { return s.c.Looked() > looksPerByte*s.c.Offset()+looksAtLeast }

// open tries what may begin at p.
func (s *Scanner) open(p int, b byte) outcome {
	if s.fence != nil {
		return s.closeFence(p, b)
	}
	if s.exhausted() {
		return retry
	}
	if (b == '`' || b == '~') && !s.otherSpeaks && !s.observing && !s.userText {
		return s.backQuotes(p, b)
	}
	if next, ok := s.c.At(p + 1); ok && s.t.pairs.Has(b, next) {
		for _, m := range s.t.markers[pair(b, next)] {
			if end := m.match(s.c, p); end >= 0 {
				if o := s.marker(m, p, end); o.moved() {
					return o
				}
			}
		}
	}
	if s.nothingCounts() || s.observing || s.inCode(p) {
		return retry
	}
	switch b {
	case '{', '[':
		return s.bare(p, b)
	case '<':
		return s.tags(p, false)
	}
	return retry
}

// marker acts on a marker that stands from p to end.
func (s *Scanner) marker(m *marker, p, end int) outcome {
	if s.quoteEnd != "" {
		if m.pattern == s.quoteEnd {
			s.quoteEnd = ""
		}
		return retry // the marker itself is text
	}
	if s.otherSpeaks {
		if m.turn != nil && m.kind != opens || m.pattern == s.otherEnd {
			return s.turn(m, p, end)
		}
		if m.turn == nil || m.turn.Speaker != dialect.Assistant {
			return retry
		}
		s.otherSpeaks, s.otherEnd = false, "" // a message of the assistant's begins
	}
	if s.observing && !s.endsObservation(m, p) || s.userText && m.kind == opens && !m.trained {
		return retry
	}
	if s.inCode(p) {
		return retry
	}
	if s.o.Everywhere && m.kind != opens {
		return retry
	}
	if m.element {
		if end = s.elementEnd(p); end < 0 {
			return retry
		}
	}
	switch m.kind {
	case opens:
		return s.opened(m, s.construct(p, end), p, end)
	case closes:
		return s.strayClose(p, end)
	case thinks:
		if s.opensReasoning(p, m.form) {
			return s.reason(m.form, p, end, false)
		}
	case concludes:
		return s.conclude(p, end)
	case noise:
		return s.turn(m, p, end)
	case results:
		return s.result(m, p, end)
	case quotes:
		if _, ok := s.find(end, m.end); ok || m.end == "-->" || s.atLineStart(p) {
			s.quoteEnd = m.end
		}
	}
	return retry
}

// elementEnd returns the offset behind the tag with attributes that opens an element at p,
// or -1.
func (l *look) elementEnd(p int) int {
	t, ok := l.tag(p)
	if !ok || t.selfClose || t.attrs == nil {
		return -1
	}
	return t.end
}

// strayClose drops a closing marker that closes nothing, where nothing but a line's
// end follows it.
func (s *Scanner) strayClose(p, end int) outcome {
	if s.wrapEnd != "" && string(s.c.Slice(p, end)) == s.wrapEnd {
		s.wrapEnd = ""
		s.drop(p, end, WhyWrapper)
		return taken
	}
	for _, w := range s.t.wraps {
		if s.c.HasPrefixAt(p, w.Close) {
			return retry
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
			return retry
		}
		break
	}
	s.drop(p, end, WhyClosingMarker)
	s.afterCall = s.calls > 0
	return taken
}

// result drops what a model imagines that a tool answered.
func (s *Scanner) result(m *marker, p, end int) outcome {
	if m.afterCall && s.calls == 0 {
		return retry
	}
	to, ok := s.find(end, m.end)
	if !ok {
		if !s.atLineStart(p) && s.calls == 0 {
			return retry
		}
		to = s.c.Limit()
	}
	s.drop(p, to, WhyInventedResult)
	return taken
}

// prefer puts the rows that were asked for first.
func (s *Scanner) prefer(rows []*dialect.Row) []*dialect.Row {
	if len(s.o.Prefer) == 0 || len(rows) < 2 {
		return rows
	}
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b *dialect.Row) int {
		return s.rank(a) - s.rank(b)
	})
	return rows
}

func (s *Scanner) rank(d *dialect.Row) int {
	wanted := func(name string) bool { return slices.Contains(s.o.Prefer, name) }
	if wanted(d.Name) || slices.ContainsFunc(d.Aliases, wanted) {
		return 0
	}
	return 1
}
