package scan

import (
	"strings"
	"unicode/utf8"

	"github.com/callwright/callwright/dialect"
	"github.com/callwright/callwright/internal/intent"
)

// past is the text before the last construct: what still stands around the next one.
type past struct {
	text  []byte // at most intent.MaxBefore bytes; each call in it is one intent.Call
	begun bool   // bytes before it were left out
}

// add adds text, and keeps the end of it.
func (p *past) add(text []byte) {
	p.text = append(p.text, text...)
	if over := len(p.text) - intent.MaxBefore; over > 0 {
		p.begun = true
		for over < len(p.text) && !utf8.RuneStart(p.text[over]) {
			over++
		}
		p.text = append(p.text[:0], p.text[over:]...)
	}
}

// remember adds the text up to an offset to the past, and a call if one stands behind it.
func (l *ledger) remember(to int, called bool) {
	from := max(l.segment, l.c.Kept(), to-intent.MaxBefore)
	if from > l.segment {
		l.past.begun = true
	}
	if from < to {
		l.past.add(l.c.Slice(from, to))
	}
	if called {
		l.past.add([]byte(intent.Call))
	}
}

// context returns the text before an offset, and whether that is all of it.
func (l *ledger) context(p int) (before string, begins bool) {
	from := max(l.segment, l.c.Kept(), p-intent.MaxBefore)
	all := past{text: append([]byte(nil), l.past.text...), begun: l.past.begun || from > l.segment}
	if from < p {
		all.add(l.c.Slice(from, p))
	}
	return string(all.text), !all.begun
}

// certainAct is the probability from which on the words before a marker that models are
// trained to emit decide, so that a stream need not wait for those behind the call.
const certainAct = 0.9

// lead reads what stands before a construct, once.
func (k *construct) lead() {
	if k.led {
		return
	}
	k.led = true
	k.around.Before, k.around.Begins = k.s.context(k.start)
	if i := strings.LastIndex(k.around.Before, intent.Call); i >= 0 {
		i += len(intent.Call)
		k.around.Before = k.around.Before[:i] + listed(k.around.Before[i:])
	}
	k.around.Form, k.around.Fence = k.form(), k.ev.Fence
	k.around.Earlier, k.around.Made = k.s.seen, k.s.calls
	k.worded = intent.Says(k.around.Before)
	k.around.Ends = true
	k.certain = k.around.Form == intent.Trained && (!k.worded || intent.Judge(&k.around).Probability >= certainAct)
}

// form is how the construct writes its calls.
func (k *construct) form() intent.Form {
	switch {
	case k.ev.Trained:
		return intent.Trained
	case k.row != nil && k.row.Options.Label != "":
		if k.s.thoughtLabel { // the lines of a protocol, in their order
			return intent.Trained
		}
		return intent.Label
	case k.marked && !k.fenced || k.ends:
		return intent.Tag
	case k.row != nil && k.row.Body == dialect.BodyPythonic:
		return intent.Python
	}
	return intent.JSON
}

// follow reads what stands behind a construct whose last call ends at an offset. Where the
// words before it have decided already it does not wait for that.
func (k *construct) follow(end int) {
	if k.certain || k.followed {
		return
	}
	k.followed = true
	if k.ev.Fence != "" {
		end = k.fenceEnd(end)
	}
	from := k.behindClosers(end)
	says, off := false, from
	for {
		b, ok := k.c.At(off)
		switch {
		case !ok:
			k.around.After, k.around.Ends = k.c.String(from, off), true
			return
		case off-from >= intent.MaxAfter-utf8.UTFMax-len(intent.Call), b == '\n' && says:
			k.around.After, k.around.Ends = k.c.String(from, off), false
			return
		case (b == '<' || b == '[') && k.endsTurn(off):
			k.around.After, k.around.Ends = k.c.String(from, off), true
			k.ends = off == from
			return
		case k.opensAt(off, b):
			k.around.After, k.around.Ends = listed(k.c.String(from, off))+intent.Call, false
			return
		case b < utf8.RuneSelf:
			says = says || intent.IsWord(rune(b))
			off++
		default:
			k.c.At(off + utf8.UTFMax - 1) // the whole rune, if it comes
			r, n := utf8.DecodeRune(k.c.Slice(off, min(off+utf8.UTFMax, k.c.Limit())))
			says = says || intent.IsWord(r)
			off += n
		}
	}
}

// fenceEnd returns where the fence around a call that ends at an offset does: what else it
// holds says nothing of the call. It is the offset itself if the fence goes on for long.
func (k *construct) fenceEnd(end int) int {
	const longest = 4096 // bytes
	for off := end; off < end+longest; off++ {
		b, ok := k.c.At(off)
		if !ok {
			break
		}
		if (b == '`' || b == '~') && k.runEnd(off, b)-off >= 3 {
			return off
		}
	}
	return end
}

// behindClosers returns the offset behind the closing markers, brackets and fences of a
// construct whose last call ends at an offset.
func (k *construct) behindClosers(end int) int {
	for range 6 {
		at := k.c.SpaceEnd(end)
		if next := k.closer(at, k.close); next >= 0 {
			end = next
			continue
		}
		b, _ := k.c.At(at)
		switch {
		case k.fenced && (b == '`' || b == '~'):
			end = k.runEnd(at, b)
			continue
		case b == ']' || b == '}':
			end = at + 1
			continue
		}
		break
	}
	return end
}

// opensAt reports whether another call begins at an offset.
func (l *look) opensAt(off int, b byte) bool {
	switch {
	case b == '{':
		return l.objectAt(off)
	case b == '`':
		return l.c.HasPrefixAt(off, "```")
	case isIdentStart(b):
		if p, _ := l.c.At(off - 1); isName(p) {
			return false
		}
		if m, _ := l.callMarker(off); m != nil || l.lineMarkerAt(off, b) {
			return true
		}
		if !l.known() {
			return false
		}
		end := l.knownAt(off)
		next, _ := l.c.At(max(end, off))
		return end > off && (next == '(' || next == '{')
	case b == '<' || b == '[':
		m, _ := l.callMarker(off)
		return m != nil
	}
	return false
}

// lineMarkerAt reports whether a marker that counts at a line's beginning stands at an
// offset. Models whose special tokens were taken out write it behind a call.
func (l *look) lineMarkerAt(off int, b byte) bool {
	for _, m := range l.t.line[b] {
		if m.kind == opens && m.match(l.c, off) >= 0 {
			return true
		}
	}
	return false
}

// lineStart notes whether a construct begins a line, or is joined to a call before it:
// {…}, {…} and {…}.
func (k *construct) lineStart() {
	k.ev.LineStart = k.s.atLineStart(k.start) || k.s.calls > 0 && joins(k.s.before(k.start, 64))
}

// listed returns the text between two calls; one that only joins them is a comma: they
// are a list.
func listed(between string) string {
	if joins([]byte(between)) && strings.Trim(between, separators) != "" {
		return ", "
	}
	return between
}

// joins reports whether a text between two constructs does nothing but join them.
func joins(between []byte) bool {
	switch strings.Trim(string(between), separators) {
	case "", "and", "then", "and then", "&", "+":
		return true
	}
	return false
}
