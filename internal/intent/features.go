package intent

import (
	"math/bits"
	"strings"
)

// Gram is a piece of text at a place: a run of letters, a word, two words, or two cues
// in their order. The low three bits are the place, the rest is a hash.
type Gram uint32

// Place is where the gram stands, below [Places].
func (g Gram) Place() int { return int(g & 7) }

// Places is how many places there are.
const Places = int(places)

// The kinds of grams.
const (
	gramLetters uint32 = 1 + iota // three to five letters in a row
	gramWord
	gramWords  // two words
	gramAnchor // letters that touch the candidate
	gramCues   // cues in their order
)

func (f *Features) gram(h uint32, p place, kind uint32) {
	f.Grams = append(f.Grams, Gram(mix(h^uint32(p)*0x9E3779B1, kind)<<3|uint32(p)))
}

// Features are what the model takes of a context.
type Features struct {
	// Dense are the cues and the structure; behind them stands what a model makes of the
	// grams: a sum by place, and the sum of all.
	Dense [NumInputs]float32
	Grams []Gram

	r       reading
	matches []match
}

// The dense features: cues by place, how near the nearest of a class is, which is the
// nearest, then structure.
const (
	numCues   = int(cues)
	atPlace   = 0
	nearLead  = atPlace + numCues*int(places)
	nearTail  = nearLead + numCues
	lastLead  = nearTail + numCues
	firstTail = lastLead + numCues
	familyAt  = firstTail + numCues
	famOrder  = familyAt + int(families)*int(places)
	structure = famOrder + 6*int(families)
	// NumDense is how many dense features there are.
	NumDense = structure + int(shapes)
	// NumCueInputs is how many of them, the first, are of cues.
	NumCueInputs = structure
	// NumInputs counts what the grams say, too.
	NumInputs = NumDense + Places + 1
)

// family is several classes of cues that speak alike.
type family uint8

const (
	famAct family = iota
	famNot
	famShow
	famAsk
	famIf
	famLater
	famPast
	famOther
	famTurn
	families
)

// familyOf is the family of each class; families where it has none.
var familyOf = func() (t [cues]family) {
	for c := range t {
		t[c] = families
	}
	for f, list := range [families][]Cue{
		famAct:   {Announcement, Progressive, Now, Waiting, Agreement},
		famNot:   {Negation, Prohibition, Refusal, Inability, Unneeded},
		famShow:  {Example, Documentation, Listing, Teaching, Advice},
		famAsk:   {Asking, Permission, Offer},
		famIf:    {Condition, Modality, Hypothetical},
		famLater: {Later, Proposal},
		famPast:  {Past, Done},
		famOther: {Attribution, Attack, Others},
		famTurn:  {Correction, Retraction, Alternatives},
	} {
		for _, c := range list {
			t[c] = family(f)
		}
	}
	return t
}()

// shape is a feature of structure.
type shape int

const (
	shapeAlone shape = iota
	shapeBegins
	shapeEnds
	shapeNothingBefore
	shapeNothingAfter
	shapeBeforeLength
	shapeAfterLength
	shapeLeadSame
	shapeLineStart
	shapeGap1
	shapeGap2
	shapeAfterGap0
	shapeAfterGap1
	shapeAfterGap2
	shapeBullet
	shapeNumbered
	shapeQuoteLine
	shapeTable
	shapeHeadingLine
	shapeTicks
	shapeInQuotes
	shapeInParens
	shapeAfterColon
	shapeAfterPeriod
	shapeAfterComma
	shapeAfterDash
	shapeAfterArrow
	shapeAfterQuestion
	shapeAfterExclaim
	shapeAfterEllipsis
	shapeAfterLetter
	shapeAfterCall
	shapeAfterTag
	shapeTight
	shapeNextComma
	shapeNextPeriod
	shapeNextColon
	shapeNextQuestion
	shapeNextDash
	shapeNextArrow
	shapeNextEllipsis
	shapeNextParen
	shapeNextLetter
	shapeNextTight
	shapeNewAfter
	shapeNextCall
	shapeNextLine
	shapeLeadQuestion
	shapeLeadExclaim
	shapeLeadColon
	shapeLeadEllipsis
	shapeLeadHeading
	shapeLeadBold
	shapeLeadItem
	shapeLeadWords
	shapeLeadCall
	shapeTailQuestion
	shapeTailExclaim
	shapeTailWords
	shapeTailColon
	shapeTailCall
	shapeNextSentQuestion
	shapeNextSentExclaim
	shapeNextSentWords
	shapeNextSentItem
	shapePrevQuestion
	shapePrevHeading
	shapeEarlierQuestion
	shapeHeadHeading
	shapeHeadColon
	shapeFormPython
	shapeFormTrained
	shapeFormTag
	shapeFormLabel
	shapeFence
	shapeFenceJSON
	shapeFencePlain
	shapeFenceTool
	shapeFencePython
	shapeFenceOther
	shapePlaceholder
	shapeEarlier
	shapeEarlierMade
	shapeEarlierNot
	shapeAllMade
	shapeNoneMade
	shapeLines
	shapeFencesAbove
	shapeThink
	shapeQuoteInLead
	shapeQuoteOpen
	shapeParenOpen
	shapeDense
	shapeArabic
	shapeIndic
	shapeHangul
	shapeCyrillic
	shapeLatin
	shapeNoCueLead
	shapeNoCueTail
	shapeCues
	shapes
)

// Read takes the features of a context.
func (f *Features) Read(c *Context) {
	f.Dense = [NumInputs]float32{}
	f.Grams = f.Grams[:0]
	f.r.read(c)
	if f.r.wordless() {
		f.manner(c)
		return
	}
	f.matches = loadLexicon().matches(&f.r, f.matches[:0])
	f.cueFeatures()
	f.manner(c)
	f.structure(c)
	f.grams()
}

// wordless reports whether nothing is said around the candidate.
func (r *reading) wordless() bool {
	for k := range r.ns {
		if r.sentences[k].marks&letters != 0 {
			return false
		}
	}
	return true
}

// manner takes how the candidate is written: all there is to see where nothing is said.
func (f *Features) manner(c *Context) {
	r := &f.r
	f.flag(shapeAlone, r.wordless())
	f.flag(shapeBullet, r.lineMarks&bullet != 0)
	f.flag(shapeNumbered, r.lineMarks&numbered != 0)
	f.flag(shapeQuoteLine, r.lineMarks&quoteLine != 0)
	f.flag(shapeTable, r.lineMarks&tableRow != 0)
	f.flag(shapeHeadingLine, r.lineMarks&heading != 0)
	if r.sameLine && r.tight {
		f.flag(shapeTicks, r.lastRune == '`')
		f.flag(shapeInQuotes, fold(r.lastRune) == '"' || r.lastRune == '\'' || r.lastRune == '‘')
		f.flag(shapeInParens, r.lastRune == '(' || r.lastRune == '（' || r.lastRune == '[')
	}
	f.flag(shapeFormPython, c.Form == Python)
	f.flag(shapeFormTrained, c.Form == Trained)
	f.flag(shapeFormTag, c.Form == Tag)
	f.flag(shapeFormLabel, c.Form == Label)
	f.fence()
	f.flag(shapePlaceholder, c.Placeholder)
	f.flag(shapeThink, r.think)
}

func (f *Features) set(s shape, v float32) { f.Dense[structure+int(s)] = v }

func (f *Features) flag(s shape, on bool) {
	if on {
		f.Dense[structure+int(s)] = 1
	}
}

// sentenceAt returns the sentence in which a rune stands.
func (r *reading) sentenceAt(at int16, from int) int {
	for from < r.ns-1 && r.sentences[from].to <= at {
		from++
	}
	return from
}

// cueFeatures takes the cues by place, nearness and order.
//
//nolint:gocyclo,funlen // one walk over the cues, a case for each place
func (f *Features) cueFeatures() {
	r := &f.r
	k := 0
	lastAt, firstAt := -1, -1
	var seen [6]bool
	order := func(row int, set uint64, only bool) {
		var fams uint16
		for ; set != 0; set &= set - 1 {
			if g := familyOf[first(set)]; g < families {
				fams |= 1 << g
			}
		}
		if fams == 0 || only && seen[row] {
			return
		}
		seen[row] = true
		base := famOrder + row*int(families)
		for g := range int(families) {
			f.Dense[base+g] = 0
			if fams&(1<<g) != 0 {
				f.Dense[base+g] = 1
			}
		}
	}
	var leadSeq [24]Cue
	nLead := 0
	var tailSeq [24]Cue
	nTail := 0
	for i := range f.matches {
		m := &f.matches[i]
		if k = r.sentenceAt(m.from, k); k >= r.ns {
			break
		}
		p := r.sentences[k].place
		dist := r.distance(m)
		switch p {
		case lead:
			order(0, m.cues, true)
			order(1, m.cues, false)
		case prev:
			order(2, m.cues, false)
		case tail:
			order(3, m.cues, true)
			order(4, m.cues, false)
		case next:
			order(5, m.cues, true)
		}
		var fams uint16
		for set := m.cues &^ (1 << Common); set != 0; set &= set - 1 {
			c := first(set)
			v := &f.Dense[atPlace+int(p)*numCues+int(c)]
			if *v == 0 {
				*v = 1
			} else if *v < 2 {
				*v += 0.5
			}
			near := 1 / (1 + float32(dist)/6)
			if g := familyOf[c]; g < families && fams&(1<<g) == 0 {
				fams |= 1 << g
				f.Dense[familyAt+int(p)*int(families)+int(g)]++
			}
			switch p {
			case lead:
				v := &f.Dense[nearLead+int(c)]
				*v = max(*v, near)
				lastAt = i
				if nLead < len(leadSeq) {
					leadSeq[nLead] = c
					nLead++
				}
			case tail:
				v := &f.Dense[nearTail+int(c)]
				*v = max(*v, near)
				if firstAt < 0 {
					firstAt = i
				}
				if nTail < len(tailSeq) {
					tailSeq[nTail] = c
					nTail++
				}
			}
		}
	}
	if lastAt >= 0 {
		for set := f.matches[lastAt].cues &^ (1 << Common); set != 0; set &= set - 1 {
			f.Dense[lastLead+int(first(set))] = 1
		}
	}
	if firstAt >= 0 {
		for set := f.matches[firstAt].cues &^ (1 << Common); set != 0; set &= set - 1 {
			f.Dense[firstTail+int(first(set))] = 1
		}
	}
	f.flag(shapeNoCueLead, lastAt < 0)
	f.flag(shapeNoCueTail, firstAt < 0)
	f.set(shapeCues, min(float32(len(f.matches))/8, 2))
	pair := func(p place, a, b Cue, kind uint32) {
		f.gram(uint32(a)<<8|uint32(b)|kind<<16, p, gramCues)
	}
	for i := range nLead {
		if i > 0 {
			pair(lead, leadSeq[i-1], leadSeq[i], 1)
		}
		for j := range min(nTail, 6) {
			pair(lead, leadSeq[i], tailSeq[j], 2)
		}
		if i+2 >= nLead {
			pair(lead, leadSeq[i], cues, 3)
		}
	}
	for i := range nTail {
		if i > 0 {
			pair(tail, tailSeq[i-1], tailSeq[i], 1)
		}
	}
}

// distance returns how many words a match stands from the candidate.
func (r *reading) distance(m *match) int {
	if int(m.from) >= r.slot {
		return int(r.wordsTo[m.from] - r.wordsTo[r.slot])
	}
	return int(r.wordsTo[r.slot] - r.wordsTo[m.to])
}

// countWords fills wordsTo: how many words begin before each rune.
func (r *reading) countWords() {
	n, in := int16(0), false
	for i, c := range r.runes[:r.n] {
		r.wordsTo[i] = n
		w := isWordRune(c)
		if w && (!in || isDense(c)) {
			n++
		}
		in = w
	}
	r.wordsTo[r.n] = n
}

func logScale(n int) float32 {
	return float32(bits.Len(uint(n))) / 8
}

// structure takes the marks and lengths around the candidate.
//
//nolint:gocyclo,funlen // a line for each feature
func (f *Features) structure(c *Context) {
	r := &f.r
	var lt, tt, nt, pt, et, ht mark
	var lw, tw, nw int16
	nothingBefore, nothingAfter := true, true
	var leadFrom, leadTo int16
	for k := range r.ns {
		s := &r.sentences[k]
		if s.marks&letters == 0 {
			continue
		}
		if k < r.after {
			nothingBefore = false
		} else {
			nothingAfter = false
		}
		switch s.place {
		case lead:
			lt, lw = s.marks, s.words
			leadFrom, leadTo = s.from, s.to
		case tail:
			tt, tw = s.marks, s.words
		case next:
			nt, nw = s.marks, s.words
		case prev:
			pt = s.marks
		case earlier:
			et |= s.marks
		case head:
			ht = s.marks
		}
	}
	f.flag(shapeBegins, c.Begins)
	f.flag(shapeEnds, c.Ends)
	f.flag(shapeNothingBefore, nothingBefore)
	f.flag(shapeNothingAfter, nothingAfter)
	f.set(shapeBeforeLength, logScale(r.slot))
	f.set(shapeAfterLength, logScale(r.n-r.slot))
	f.flag(shapeLeadSame, r.leadSame)
	f.flag(shapeLineStart, !r.sameLine)
	if !nothingBefore {
		f.flag(shapeGap1, r.gapLines == 1)
		f.flag(shapeGap2, r.gapLines > 1)
	}
	if !nothingAfter {
		f.flag(shapeAfterGap0, r.afterGap == 0)
		f.flag(shapeAfterGap1, r.afterGap == 1)
		f.flag(shapeAfterGap2, r.afterGap > 1)
	}
	f.flag(shapeTight, r.sameLine && r.tight)
	f.flag(shapeAfterCall, r.afterCall)
	last := fold(r.lastRune)
	if r.lastRune == '`' || r.lastRune == '*' || last == '"' || last == '(' {
		last = r.beforeWrap()
	}
	switch last {
	case ':':
		f.flag(shapeAfterColon, true)
	case '.':
		f.flag(shapeAfterPeriod, true)
	case ',', ';':
		f.flag(shapeAfterComma, true)
	case 0x2013, '-', '—':
		f.flag(shapeAfterDash, true)
	case '→', '⇒', '➜', '➡', '▶':
		f.flag(shapeAfterArrow, true)
	case '?':
		f.flag(shapeAfterQuestion, true)
	case '!':
		f.flag(shapeAfterExclaim, true)
	case '…':
		f.flag(shapeAfterEllipsis, true)
	case 0xFFFC:
		f.flag(shapeAfterCall, true)
	case '>':
		f.flag(shapeAfterTag, true)
	default:
		f.flag(shapeAfterLetter, isWordRune(last))
	}
	nx := fold(r.nextRune)
	f.flag(shapeNextLine, nx == '\n')
	switch nx {
	case ',', ';':
		f.flag(shapeNextComma, true)
	case '.':
		f.flag(shapeNextPeriod, true)
	case ':':
		f.flag(shapeNextColon, true)
	case '?':
		f.flag(shapeNextQuestion, true)
	case 0x2013, '-':
		f.flag(shapeNextDash, true)
	case '→', '⇒', '➜':
		f.flag(shapeNextArrow, true)
	case '…':
		f.flag(shapeNextEllipsis, true)
	case '(':
		f.flag(shapeNextParen, true)
	default:
		f.flag(shapeNextLetter, isWordRune(nx))
	}
	f.flag(shapeNextTight, r.tightNext)
	f.flag(shapeNewAfter, r.newAfter)
	f.flag(shapeNextCall, r.cutAfter)
	f.flag(shapeLeadQuestion, lt&question != 0)
	f.flag(shapeLeadExclaim, lt&exclaim != 0)
	f.flag(shapeLeadColon, lt&colonEnd != 0)
	f.flag(shapeLeadEllipsis, lt&ellipsis != 0)
	f.flag(shapeLeadHeading, lt&heading != 0)
	f.flag(shapeLeadBold, lt&isBold != 0)
	f.flag(shapeLeadItem, lt&bullet != 0)
	f.flag(shapeLeadCall, lt&holdsCall != 0)
	f.set(shapeLeadWords, min(float32(lw)/10, 3))
	f.flag(shapeTailQuestion, tt&question != 0 || nx == '?')
	f.flag(shapeTailExclaim, tt&exclaim != 0)
	f.flag(shapeTailColon, tt&colonEnd != 0)
	f.flag(shapeTailCall, tt&holdsCall != 0 || r.cutAfter && r.afterGap == 0)
	f.set(shapeTailWords, min(float32(tw)/10, 3))
	f.flag(shapeNextSentQuestion, nt&question != 0)
	f.flag(shapeNextSentExclaim, nt&exclaim != 0)
	f.flag(shapeNextSentItem, nt&bullet != 0)
	f.set(shapeNextSentWords, min(float32(nw)/10, 3))
	f.flag(shapePrevQuestion, pt&question != 0)
	f.flag(shapePrevHeading, pt&heading != 0)
	f.flag(shapeEarlierQuestion, et&question != 0)
	f.flag(shapeHeadHeading, ht&heading != 0)
	f.flag(shapeHeadColon, ht&colonEnd != 0)
	f.set(shapeEarlier, float32(min(c.Earlier, 4))/2)
	f.set(shapeEarlierMade, float32(min(c.Made, 4))/2)
	f.set(shapeEarlierNot, float32(min(c.Earlier-c.Made, 4))/2)
	f.flag(shapeAllMade, c.Earlier > 0 && c.Made == c.Earlier)
	f.flag(shapeNoneMade, c.Earlier > 0 && c.Made == 0)
	f.set(shapeLines, float32(min(r.lines, 12))/4)
	f.set(shapeFencesAbove, float32(min(r.fences, 4))/2)
	f.scripts(leadFrom, leadTo)
}

// beforeWrap returns the last visible rune before the quotation mark, the back quote or
// the bracket that stands before the candidate.
func (r *reading) beforeWrap() rune {
	for i := r.slot - 1; i >= 0; i-- {
		switch c := r.runes[i]; c {
		case ' ', '"', '(', '\'':
		default:
			return c
		}
	}
	return 0
}

func (f *Features) fence() {
	info := f.r.fence
	if info == "" {
		return
	}
	f.flag(shapeFence, true)
	word, _, _ := strings.Cut(info, " ")
	switch strings.ToLower(word) {
	case "-":
		f.flag(shapeFencePlain, true)
	case "json", "json5", "jsonc":
		f.flag(shapeFenceJSON, true)
	case "python", "py":
		f.flag(shapeFencePython, true)
	case "tool_call", "tool_calls", "tool_code", "tool", "tools", "tool_use", "function_call", "function", "functions", "invoke", "action",
		"tool-call", "toolcall":
		f.flag(shapeFenceTool, true)
	default:
		f.flag(shapeFenceOther, true)
	}
}

// scripts looks at the letters before and behind the candidate, and at the quotation
// marks and brackets that are open where it stands.
func (f *Features) scripts(from, to int16) {
	r := &f.r
	var n [6]int
	for i := range r.n {
		switch c := r.runes[i]; {
		case c < 'a':
		case c < 0x0250:
			n[0]++
		case c < 0x0370:
		case c < 0x0530:
			n[1]++
		case c < 0x0900:
			n[2]++
		case isDense(c):
			n[4]++
		case c < 0x0E00:
			n[3]++
		case c >= 0xAC00 && c < 0xD7B0:
			n[5]++
		}
	}
	best, most := -1, 0
	for i, k := range n {
		if k > most {
			best, most = i, k
		}
	}
	if best >= 0 {
		f.flag([]shape{shapeLatin, shapeCyrillic, shapeArabic, shapeIndic, shapeDense, shapeHangul}[best], true)
	}
	quotes, depth := 0, 0
	for i := from; i < to; i++ {
		switch r.runes[i] {
		case '"':
			quotes++
		case '(':
			depth++
		case ')':
			depth--
		}
	}
	f.flag(shapeQuoteInLead, quotes > 0)
	if r.leadSame {
		f.flag(shapeQuoteOpen, quotes%2 == 1)
		f.flag(shapeParenOpen, depth > 0)
	}
}

func mix(h, salt uint32) uint32 {
	h ^= salt * 0x9E3779B1
	h *= 0x85EBCA6B
	h ^= h >> 13
	h *= 0xC2B2AE35
	return h ^ h>>16
}

// grams takes the letters and words of each place.
func (f *Features) grams() {
	r := &f.r
	for k := range r.ns {
		s := &r.sentences[k]
		if s.marks&letters == 0 {
			continue
		}
		f.words(s)
		switch s.place {
		case lead, tail, next, prev:
			f.letters(s, 5)
		default:
			f.letters(s, 3)
		}
	}
	f.anchors()
}

// letters takes the runs of up to n letters of a sentence, within words and across.
func (f *Features) letters(s *sentence, n int) {
	r := &f.r
	for i := int(s.from) - 1; i < int(s.to); i++ {
		h := uint32(2166136261)
		for j := i; j < i+n && j <= int(s.to); j++ {
			c := rune(' ')
			if j >= int(s.from) && j < int(s.to) {
				c = r.runes[j]
			}
			h = (h ^ uint32(c)) * 16777619
			h ^= h >> 15
			if k := j - i + 1; k >= 3 || k == 2 && isWordRune(c) || k == 1 && isDense(c) {
				f.gram(h, s.place, gramLetters)
			}
		}
	}
}

// words takes the words of a sentence, alone and in pairs.
func (f *Features) words(s *sentence) {
	r := &f.r
	last := uint32(1)
	for i := int(s.from); i < int(s.to); {
		if !isWordRune(r.runes[i]) {
			i++
			continue
		}
		h := uint32(0x811C9DC5)
		j := i
		if isDense(r.runes[i]) {
			for ; j < int(s.to) && j < i+2 && isWordRune(r.runes[j]); j++ {
				h = (h ^ uint32(r.runes[j])) * 16777619
				h ^= h >> 15
			}
			j = i + 1
		} else {
			for ; j < int(s.to) && isWordRune(r.runes[j]) && !isDense(r.runes[j]) || j < int(s.to)-1 && r.runes[j] == '\''; j++ {
				h = (h ^ uint32(r.runes[j])) * 16777619
				h ^= h >> 15
			}
		}
		h = mix(h, 5)
		f.gram(h, s.place, gramWord)
		f.gram(mix(h, last), s.place, gramWords)
		last = h
		i = j
	}
}

// anchors takes the letters that touch the candidate.
func (f *Features) anchors() {
	r := &f.r
	h := uint32(0xABCD)
	n := 0
	for i := r.slot - 1; i >= 0 && n < 14; i-- {
		c := r.runes[i]
		h = (h ^ uint32(c)) * 16777619
		h ^= h >> 15
		if n++; n == 2 || n == 4 || n == 6 || n == 9 || n == 13 {
			f.gram(mix(h, uint32(n)), lead, gramAnchor)
		}
	}
	h, n = 0xDCBA, 0
	for i := r.slot; i < r.n && n < 14; i++ {
		c := r.runes[i]
		h = (h ^ uint32(c)) * 16777619
		h ^= h >> 15
		if n++; n == 2 || n == 4 || n == 6 || n == 9 || n == 13 {
			f.gram(mix(h, uint32(n)), tail, gramAnchor)
		}
	}
}
