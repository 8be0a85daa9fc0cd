package scan

import (
	"slices"
	"strings"

	"github.com/callwright/callwright/call"
	"github.com/callwright/callwright/dialect"
	"github.com/callwright/callwright/internal/intent"
	"github.com/callwright/callwright/internal/lenient"
)

// outcome is what reading at a place came to.
type outcome uint8

const (
	// retry: nothing stands here. The cursor is where it was, and something else may be
	// tried.
	retry outcome = iota
	// text: what was read is text. The cursor is behind it.
	text
	// taken: what was read is no text. The cursor is behind it.
	taken
)

// moved reports whether the cursor is behind what was read.
func (o outcome) moved() bool { return o != retry }

// construct is what is being read at a place: the calls behind a marker, in a fence or
// without either. A body reads it from the cursor on, delivers each call that it finds,
// and ends with finish or fail.
type construct struct {
	*look
	s *Scanner

	row    *dialect.Row // by which it is read; nil where no dialect is known
	marked bool         // a marker announces it
	fenced bool         // a fence stands between its markers
	close  []string     // markers that may close it

	start  int // of the construct, its marker included
	opened int // behind its opening marker
	next   int // where the next candidate begins
	got    int // how many candidates were taken
	// refused says that a candidate was read and not taken: what was read is text, and
	// not to be looked at for another.
	refused bool

	ev call.Evidence

	around        intent.Context // what stands around it, as far as it was looked at
	led, followed bool           // what stands before it, and behind it, was looked at
	worded        bool           // words stand before it
	certain       bool           // it counts, whatever stands behind it
	ends          bool           // a special token that ends the turn stands right behind it
}

// construct returns what begins at p, with a marker that ends at opened.
func (s *Scanner) construct(p, opened int) *construct {
	k := &construct{look: &s.look, s: s, start: p, opened: opened, next: p}
	k.lineStart()
	return k
}

// detached returns a construct of a text of its own, with what it delivers.
func (l *look) detached(text string) (*construct, *collector) {
	found := &collector{}
	s := &Scanner{look: *l, c: lenient.NewText(text)}
	s.look.c, s.ledger.c, s.sink = s.c, s.c, found
	s.look.watch, s.found, s.searched = false, nil, nil
	return &construct{look: &s.look, s: s, marked: true}, found
}

// show makes the call that is being read visible.
func (k *construct) show(p Partial) {
	if k.watch {
		k.begin(p)
	}
}

// begin makes the call that is being read visible, in place of the one before.
func (k *construct) begin(p Partial) {
	k.lead()
	p.Marked, p.Close = k.marked, k.close
	p.Doubtful = k.worded && !k.certain || k.ev.Guess
	k.s.abandon()
	k.s.partial = &p
}

// showParams shows a call whose parameters are read one by one.
func (k *construct) showParams(name string, values map[string]any) {
	k.show(Partial{Name: name, Values: values})
}

// showParam shows the parameters that are whole.
func (k *construct) showKeys(keys []string) {
	if p := k.s.partial; p != nil {
		p.Keys, p.OpenKey = keys, ""
	}
}

// showOpen shows that a parameter's raw text begins at an offset.
func (k *construct) showOpen(key string, from int, raw bool) {
	if p := k.s.partial; p != nil {
		p.OpenKey, p.OpenFrom, p.OpenSafe, p.OpenRaw = key, from, from, raw
	}
}

// showSafe says up to where the text of the parameter that is being read is certain.
func (k *construct) showSafe(to int) {
	if p := k.s.partial; p != nil {
		p.OpenSafe = to
	}
}

// deliver hands a candidate to the sink and reports whether it was taken.
func (k *construct) deliver(cand *Candidate, end int) bool {
	s := k.s
	k.lead()
	k.follow(end)
	k.around.Form, k.around.Fence = k.form(), k.ev.Fence // known by now, if not when it was shown
	cand.Around = k.around
	cand.Start, cand.End = k.next, end
	cand.Raw = k.c.String(k.next, end)
	if cand.Dialect == nil {
		cand.Dialect = k.row
	}
	cand.Evidence.Add(k.ev)
	if cand.Named && cand.Evidence.MissingClose && k.c.CutOff() && k.c.EOFAt(k.c.SpaceEnd(end)) && cand.reader == nil {
		cand.Truncated = true // more parameters may have been meant
	}
	if cand.Method == "" {
		cand.Method = call.MethodDialect
	}
	if cand.Provenance == "" {
		cand.Provenance = k.provenance()
		if !k.marked && cand.Method == call.MethodDialect {
			cand.Method = call.MethodBalanced
		}
	}
	s.content(min(s.textEnd, k.start))
	s.partial = nil
	s.seen++
	if !s.sink.Candidate(cand) {
		k.refused = true
		return false
	}
	s.calls++
	k.got++
	k.next = end
	return true
}

func (k *construct) provenance() call.Provenance {
	if k.marked {
		return call.Marked
	}
	return call.Bare
}

// broken offers what the reader could not read for repair: all up to the closing
// marker, or the text's end.
func (k *construct) broken(from int, err error) bool {
	s := k.s
	s.wasted += k.c.Offset() - from
	to := -1
	if !s.wastes() && s.err == nil {
		to = k.bodyEnd(k.row, k.close, from)
	}
	if to < 0 {
		k.c.Seek(from)
		return false
	}
	k.c.Seek(to)
	raw := string(k.c.Slice(from, to))
	if k.deliver(&Candidate{Value: raw, Err: err}, to) {
		return true
	}
	s.wasted += to - from
	if s.o.Check != nil { // a repair takes long for the bytes that it moves over
		s.err = s.o.Check()
	}
	return k.back()
}

// wastes reports whether what was read in vain is out of proportion to what was read.
func (s *Scanner) wastes() bool { return s.wasted > 4*s.c.Offset()+1<<16 }

// back goes back to where a construct began, unless calls were read of it.
func (k *construct) back() bool {
	if k.got == 0 {
		k.c.Seek(k.start)
	}
	return false
}

// skipClosing moves behind the closing markers at the cursor.
func (k *construct) skipClosing() {
	for range 4 {
		at := k.c.SpaceEnd(k.c.Offset())
		if end := k.closer(at, k.close); end >= 0 {
			k.c.Seek(end)
			continue
		}
		if k.cutClose(at, k.close) {
			k.c.Seek(k.c.Limit())
		}
		return
	}
}

// closeAndFinish ends a construct behind its closing markers.
func (k *construct) closeAndFinish() outcome {
	k.skipClosing()
	return k.finish()
}

// finish ends a construct at the cursor: what was taken leaves the text, else all of it
// is text.
func (k *construct) finish() outcome {
	s := k.s
	s.abandon()
	end := k.c.Offset()
	if k.got == 0 {
		s.wasted += end - k.start
		s.text(end)
		s.ticks = 0
		return text
	}
	if end < k.next { // what was read of calls is not read again
		end = k.next
		k.c.Seek(end)
	}
	s.drop(k.start, end, WhyCall)
	s.afterCall = true
	s.lineStart()
	return taken
}

// fail goes back to the start of a construct that came to nothing.
func (k *construct) fail() outcome {
	s := k.s
	s.abandon()
	end := k.c.Offset()
	s.wasted += end - k.start
	if k.refused && end > k.start || s.wastes() {
		// Too much was read in vain, or what was read is known to be no call: do not
		// look inside again.
		s.text(end)
		return text
	}
	k.c.Seek(k.start)
	return retry
}

// abandon says that the call being shown, if there is one, came to nothing.
func (s *Scanner) abandon() {
	if s.partial != nil {
		s.partial = nil
		s.sink.Abandoned()
	}
}

// readerClose returns a construct's closing markers as the reader of JSON takes them.
func (k *construct) readerClose() []string {
	if row := k.row; row != nil && len(k.close) == len(row.Close) && len(row.Close) > 0 && &k.close[0] == &row.Close[0] {
		if plain, ok := k.t.plain[row]; ok {
			return plain
		}
	}
	return plainClosers(k.close)
}

// plainClosers returns the closing markers in which no other one stands, and that have one
// spelling.
func plainClosers(closing []string) []string {
	var plain []string
	for _, p := range closing {
		within := slices.ContainsFunc(closing, func(q string) bool { return q != p && strings.Contains(q, p) })
		if !within && (!isLoose(p) || strings.Contains(p, "｜")) {
			plain = append(plain, p)
		}
	}
	return plain
}

// cut reports whether a value that a reader read was cut off by the text's end.
func cut(r *lenient.Reader) bool { return r.OpenAtEnd > 0 || r.CutToken }

// skipFence moves behind a fence and its info string, and reports whether one was
// there.
func (k *construct) skipFence() bool {
	at := k.c.SpaceEnd(k.c.Offset())
	if !k.c.HasPrefixAt(at, "```") {
		return false
	}
	at += 3
	for off := at; off < at+24; off++ {
		b, ok := k.c.At(off)
		if !ok || !isAlnum(b) && b != '_' {
			at = off
			break
		}
	}
	k.c.Seek(k.c.SpaceEnd(at))
	return true
}
