package intent

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// place is where words stand, seen from the candidate.
type place uint8

const (
	lead    place = iota // the sentence in which it stands; where none does, the one that leads to it
	prev                 // the sentence before that
	earlier              // what stands farther above
	head                 // the nearest heading, and the line that introduces a list
	tail                 // the rest of its sentence
	next                 // the sentence behind
	rest                 // what follows that
	places
)

// mark is what a line or a sentence is.
type mark uint16

const (
	heading   mark = 1 << iota
	bullet         // a list's item
	numbered       // an item with a number
	quoteLine      // "> …"
	tableRow
	colonEnd // it ends with a colon
	question
	exclaim
	holdsCall
	letters // it has a word
	closed  // a mark or the line's end closes it
	isBold
	inCode // it stands within a fence
	ellipsis
)

// sentence is a stretch of folded text.
type sentence struct {
	from, to  int16 // in reading.runes
	line      int16 // its line's number, counted from the side's beginning
	words     int16
	marks     mark
	place     place
	blankLine bool // a blank line stands before it
}

const (
	maxRunes     = MaxBefore + MaxAfter + 16
	maxSentences = 96
)

// reading is what is taken of a context: its text folded, in sentences with their
// places.
type reading struct {
	runes     [maxRunes]rune
	wordsTo   [maxRunes + 1]int16 // words that begin before a rune
	n         int
	slot      int // where the candidate stands: runes before it, then those behind it
	sentences [maxSentences]sentence
	ns        int
	after     int // the first sentence behind it

	fence     string
	sameLine  bool // words stand before it on its line
	leadSame  bool // its lead is the sentence in which it stands
	lineMarks mark // of its line
	gapLines  int  // line ends between the words before and it
	afterGap  int  // line ends between it and the words behind
	lastRune  rune // before it, blanks left out
	nextRune  rune // behind it, blanks left out
	tight     bool // no blank between it and lastRune
	tightNext bool
	fences    int // fences above it
	tables    int
	lines     int
	think     bool // reasoning was closed above
	cutAfter  bool // another call follows what stands behind
	newAfter  bool // the words behind it begin a sentence of their own
	afterCall bool // another call stands before it, with nothing but marks between
}

// read takes a context apart.
func (r *reading) read(c *Context) {
	*r = reading{}
	before, _ := lastBytes(c.Before, MaxBefore)
	r.fence = c.Fence
	before = r.peel(trimBatch(before))
	r.afterCall = len(before) > 0 && strings.HasSuffix(strings.TrimRight(c.Before, " \t\r\n,;[("), Call)
	r.side(before, false)
	r.slot = r.n
	after := c.After
	if len(after) > MaxAfter {
		after = after[:MaxAfter]
	}
	after, r.cutAfter = strings.CutSuffix(after, Call)
	after = r.peelAfter(trimClosers(after))
	r.after = r.ns
	r.side(after, true)
	r.assign()
	r.countWords()
}

// trimBatch takes off the end of the text before a candidate what belongs to the calls
// and not to the words: the calls of the same list, the marks between them, brackets and
// tokens of a dialect. The words before the list speak for each of its calls.
func trimBatch(s string) string {
	for {
		t := strings.TrimRight(s, " \t\r\n,;")
		switch {
		case strings.HasSuffix(t, Call):
			s = t[:len(t)-len(Call)]
		case strings.HasSuffix(t, "["):
			s = t[:len(t)-1]
		case strings.HasSuffix(t, ">"):
			i := strings.LastIndexByte(t, '<')
			if i < 0 || !isToken(t[i:]) {
				return s
			}
			s = t[:i]
		default:
			return s
		}
	}
}

// trimClosers takes what closes a call or its list off the beginning of the text behind
// it.
func trimClosers(s string) string {
	for {
		t := strings.TrimLeft(s, " \t\r\n")
		switch {
		case t == "":
			return s
		case t[0] == ']' || t[0] == ';':
			s = t[1:]
		case t[0] == '<':
			i := strings.IndexByte(t, '>')
			if i < 0 || !isToken(t[:i+1]) {
				return s
			}
			s = t[i+1:]
		case roleEnd(t) > 0:
			s = t[roleEnd(t):]
		case t[0] == ',' && strings.Trim(t, ", \t\r\n") == "":
			return ""
		default:
			return s
		}
	}
}

// roleEnd returns the length of a role that stands before a special token, 0 where none
// does: "assistant<|end_header_id|>".
func roleEnd(s string) int {
	for _, role := range []string{"assistant", "user", "system", "tool"} {
		if rest, ok := strings.CutPrefix(s, role); ok && (rest == "" || strings.HasPrefix(rest, "<|")) {
			return len(role)
		}
	}
	return 0
}

// tokenEnd returns the length of a special token and of the role behind it: it is no
// word. It is 0 where none stands.
func tokenEnd(s string) int {
	if len(s) < 3 || s[1] != '|' && s[1] != '?' {
		return 0
	}
	n := strings.IndexByte(s[:min(len(s), 60)], '>') + 1
	if n == 0 && len(s) < 40 && !strings.ContainsAny(s, " \n") {
		return len(s) // the bounds cut it off
	}
	if n == 0 || !isToken(s[:n]) {
		return 0
	}
	return n + roleEnd(s[n:])
}

// isToken reports whether a tag is a special token or the marker of a dialect:
// "<|im_end|>", "</tool_call>".
func isToken(tag string) bool {
	if strings.HasPrefix(tag, "<?xml") {
		return true
	}
	if len(tag) > 40 || strings.ContainsAny(tag, "\n ") {
		return false
	}
	if strings.HasPrefix(tag, "<|") || strings.HasPrefix(tag, "<｜") {
		return true
	}
	tag = strings.ToLower(tag)
	return strings.Contains(tag, "tool") || strings.Contains(tag, "function") || strings.Contains(tag, "invoke")
}

// peel takes an opening fence off the end of the text before a candidate.
func (r *reading) peel(s string) string {
	t := strings.TrimRight(s, " \t\r\n")
	i := strings.LastIndexByte(t, '\n') + 1
	line := strings.TrimLeft(t[i:], " \t>")
	if !strings.HasPrefix(line, "```") && !strings.HasPrefix(line, "~~~") || len(t) == len(s) {
		return s
	}
	info := strings.TrimSpace(strings.TrimLeft(line, "`~"))
	if strings.Contains(info, "`") || len(info) > 40 {
		return s
	}
	if r.fence == "" {
		r.fence = info
		if info == "" {
			r.fence = "-"
		}
	}
	return t[:i]
}

// peelAfter takes a closing fence off the beginning of the text behind a candidate.
func (r *reading) peelAfter(s string) string {
	t := strings.TrimLeft(s, " \t\r\n")
	if rest, ok := strings.CutPrefix(t, "```"); ok && len(t) < len(s) {
		if line, _, _ := strings.Cut(rest, "\n"); strings.TrimSpace(line) == "" {
			return rest
		}
	}
	return s
}

// side folds the text on one side of the candidate and divides it into sentences. It is
// one walk with the state of a line and of a sentence, which parts would have to share.
//
//nolint:gocyclo,funlen // see above
func (r *reading) side(s string, behind bool) {
	var (
		line      mark
		lineNo    int16
		lineHead  = !behind
		blank     bool
		space     = true
		current   = sentence{from: int16(r.n)}
		lineFirst = r.ns
		inFence   bool
		boldLine  bool
		text      = s
	)
	end := func(m mark) {
		for int(current.from) < r.n && r.runes[current.from] == ' ' {
			current.from++
		}
		current.to = int16(r.n)
		if current.from < current.to {
			current.marks |= m | line
			current.line = lineNo
			if inFence {
				current.marks |= inCode
			}
			if r.ns < maxSentences {
				r.sentences[r.ns] = current
				r.ns++
			} else {
				last := &r.sentences[r.ns-1]
				last.to, last.marks = current.to, last.marks|current.marks
			}
			current.blankLine, blank = false, false
		}
		current = sentence{from: int16(r.n), blankLine: blank}
		space = true
	}
	inWord := false
	put := func(f rune) {
		if r.n < maxRunes {
			r.runes[r.n] = f
			r.n++
		}
	}
	var w int
	for i := 0; i < len(s); i += w {
		var c rune
		c, w = utf8.DecodeRuneInString(s[i:])
		if c == '<' {
			if n := tokenEnd(s[i:]); n > 0 {
				w = n
				continue
			}
		}
		if lineHead {
			if c == ' ' || c == '\t' {
				continue
			}
			if c != '\n' && c != '\r' {
				skip, m := lineStart(text[i:])
				line |= m
				boldLine = strings.HasPrefix(text[i+skip:], "**")
				if skip > 0 && strings.HasPrefix(text[i:], "```") || strings.HasPrefix(text[i:], "~~~") {
					inFence = !inFence
					r.fences++
				}
				if m&tableRow != 0 {
					r.tables++
				}
				lineHead = false
				if skip > 0 {
					w = skip
					continue
				}
			}
		}
		f := fold(c)
		if f == 0 {
			continue
		}
		switch f {
		case '\n':
			m := closed
			if lineHead {
				blank = true
				current.blankLine = true
			}
			if boldLine && strings.HasSuffix(strings.TrimRight(text[:i], " :\r"), "**") {
				m |= heading | isBold
			}
			if last := r.lastVisible(current.from); last == ':' {
				m |= colonEnd
			}
			inWord = false
			end(m)
			if line&heading != 0 && lineFirst < r.ns {
				for k := lineFirst; k < r.ns; k++ {
					r.sentences[k].marks |= heading
				}
			}
			lineNo++
			r.lines++
			line, lineHead, lineFirst, boldLine = 0, true, r.ns, false
		case ' ':
			if !space {
				put(' ')
				space = true
			}
			inWord = false
		default:
			word := isWordRune(f)
			if word && (!inWord || isDense(f)) {
				current.words++
				current.marks |= letters
			}
			inWord = word
			if f == 0xFFFC {
				current.marks |= holdsCall
			}
			put(f)
			space = false
			if m, ok := r.terminates(f, c, s[i+w:], current.from); ok {
				inWord = false
				end(m | closed)
			}
		}
	}
	if !behind {
		r.lineMarks = line
		open := r.n > int(current.from)
		m := mark(0)
		if open {
			if r.lastVisible(current.from) == ':' {
				m |= colonEnd
			}
			end(m)
		}
		r.sameLine = !lineHead
		for k := r.ns - 1; k >= 0; k-- {
			if r.sentences[k].marks&letters != 0 {
				r.gapLines = int(lineNo - r.sentences[k].line)
				break
			}
		}
		r.think = strings.Contains(s, "</think")
	} else {
		end(0)
		for k := r.after; k < r.ns; k++ {
			if r.sentences[k].marks&letters != 0 {
				r.afterGap = int(r.sentences[k].line)
				break
			}
		}
	}
	r.edges(s, behind)
}

// edges looks at the runes next to the candidate.
func (r *reading) edges(s string, behind bool) {
	if behind {
		t := strings.TrimLeft(s, " \t\r")
		c, _ := utf8.DecodeRuneInString(t)
		if t == "" {
			c = 0
		}
		r.nextRune, r.tightNext = c, t != "" && len(t) == len(s)
		w, _ := utf8.DecodeRuneInString(strings.TrimLeft(t, "*_\"“«¡¿"))
		r.newAfter = unicode.IsUpper(w) && !r.tightNext
		return
	}
	t := strings.TrimRight(s, " \t\r\n")
	c, _ := utf8.DecodeLastRuneInString(t)
	if t == "" {
		c = 0
	}
	r.lastRune, r.tight = c, t != "" && len(t) == len(s)
}

func (r *reading) lastVisible(from int16) rune {
	for i := r.n - 1; i >= int(from); i-- {
		if r.runes[i] != ' ' {
			return r.runes[i]
		}
	}
	return 0
}

// lineStart reads the marks with which a line begins: a case for each mark.
//
//nolint:gocyclo // a case for each mark
func lineStart(s string) (skip int, m mark) {
	i := 0
	for i < len(s) {
		switch c := s[i]; {
		case c == '>' && (i+1 == len(s) || s[i+1] == ' '):
			m |= quoteLine
			i++
		case c == ' ' && i > 0:
			i++
		case c == '#':
			n := i
			for n < len(s) && s[n] == '#' {
				n++
			}
			if n < len(s) && s[n] == ' ' && n-i <= 6 {
				return n + 1, m | heading
			}
			return i, m
		case c == '|':
			return i + 1, m | tableRow
		case c == '`' && strings.HasPrefix(s[i:], "```"), c == '~' && strings.HasPrefix(s[i:], "~~~"):
			n := i
			for n < len(s) && s[n] != '\n' {
				n++
			}
			return n, m
		case (c == '-' || c == '*' || c == '+') && i+1 < len(s) && s[i+1] == ' ':
			m |= bullet
			i += 2
			if strings.HasPrefix(s[i:], "[ ] ") || strings.HasPrefix(s[i:], "[x] ") {
				i += 4
			}
			return i, m
		case strings.HasPrefix(s[i:], "•"):
			return i + len("•"), m | bullet
		case c >= '0' && c <= '9':
			n := i
			for n < len(s) && s[n] >= '0' && s[n] <= '9' {
				n++
			}
			if n-i <= 2 && n+1 < len(s) && (s[n] == '.' || s[n] == ')') && s[n+1] == ' ' {
				return n + 2, m | bullet | numbered
			}
			return i, m
		default:
			return i, m
		}
	}
	return i, m
}

// terminates reports whether a rune that was put ends a sentence.
func (r *reading) terminates(f, raw rune, following string, from int16) (mark, bool) {
	switch f {
	case '!':
		return exclaim, raw != f || endsHere(following)
	case '?':
		return question, raw != f || endsHere(following)
	case '…':
		return ellipsis, endsHere(following)
	case '.':
	default:
		return 0, false
	}
	if raw != '.' {
		return 0, true
	}
	if !endsHere(following) {
		return 0, false
	}
	// "e.g.", "z. B.", "1.": no end.
	start, inner, digits := r.n-1, false, true
	for start > int(from) && r.runes[start-1] != ' ' {
		start--
		c := r.runes[start]
		if c == '.' {
			inner = true
		}
		if c != '0' {
			digits = false
		}
	}
	length := r.n - 1 - start
	if inner && r.n >= 2 && r.runes[r.n-2] == '.' {
		return ellipsis, true
	}
	initial := length == 1 && isWordRune(r.runes[start]) && !isDense(r.runes[start])
	if inner && length <= 6 || initial || length > 0 && digits && start == int(from) {
		return 0, false
	}
	return 0, true
}

// endsHere reports whether a sentence may end before a text.
func endsHere(s string) bool {
	c, _ := utf8.DecodeRuneInString(s)
	if s == "" {
		return true
	}
	switch c {
	case ' ', '\n', '\r', '\t', '"', '\'', ')', '*', '`', 0xFFFC, '”', '’', '»', '」', '』', '“', ']':
		return true
	}
	return c >= utf8.RuneSelf
}

// assign gives each sentence its place.
//
//nolint:gocyclo // one walk over the sentences, a case for each place
func (r *reading) assign() {
	last := r.after - 1
	k := last
	lineNo := int16(-1)
	if r.after > 0 {
		lineNo = r.sentences[last].line
	}
	have := false
	if k >= 0 && r.sameLine && r.sentences[k].marks&(closed|letters) == letters && r.sentences[k].line == lineNo && r.gapLines == 0 {
		r.sentences[k].place = lead
		r.leadSame, have = true, true
		k--
	}
	inList := r.lineMarks&(bullet|tableRow) != 0
	order := lead
	if have {
		order = prev
	}
	headed := false
	for ; k >= 0; k-- {
		s := &r.sentences[k]
		s.place = earlier
		if s.marks&letters == 0 {
			continue
		}
		item := s.marks&(bullet|tableRow) != 0
		switch {
		case inList && item && order == lead && r.hasIntro(k):
		case inList && item && order == prev && r.hasIntro(k):
		case order == lead:
			s.place = lead
			order = prev
		case !headed && s.marks&(heading|colonEnd) != 0, !headed && inList && !item:
			s.place = head
			headed = true
		case order == prev:
			s.place = prev
			order = earlier
		}
	}
	order = next
	for k := r.after; k < r.ns; k++ {
		s := &r.sentences[k]
		s.place = rest
		if s.marks&letters == 0 {
			continue
		}
		if k == r.after && s.line == 0 && (!r.newAfter || !r.leadDone()) {
			s.place = tail
			continue
		}
		if order == next {
			s.place = next
			order = rest
		}
	}
}

// leadDone reports whether the words before the candidate are a whole sentence, or lead
// to it with a mark, or are none.
func (r *reading) leadDone() bool {
	if !r.leadSame {
		return true
	}
	switch last := fold(r.lastRune); last {
	case ':', '.', '!', '?', '…', 0x2013, '→', '➜', '⇒', '>':
		return true
	}
	return false
}

// hasIntro reports whether a line that is no item stands above sentence k.
func (r *reading) hasIntro(k int) bool {
	for ; k >= 0; k-- {
		if m := r.sentences[k].marks; m&letters != 0 && m&(bullet|tableRow) == 0 {
			return true
		}
	}
	return false
}
