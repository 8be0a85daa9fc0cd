package cue

import (
	"slices"
	"strings"
	"unicode"
)

// NOTE: these rules decide what prose may become a call, so they are strict: where a rule
// is in doubt the sentence is no act. They are English; a language is added with its own
// words and labelled sentences in testdata/prose, not by loosening a rule.

// Act is what a sentence says that its speaker does now: "I'll draw a line", "Draw a line".
type Act struct {
	// Span is the clause, Verb its verb: offsets in bytes.
	Span, Verb [2]int
	// Announced says that the speaker announces the act, as with "I'll draw". Else it is a
	// bare command such as "Draw a line", or a participle such as "Drawing a line".
	Announced bool
}

// Bounds of the text in which acts are looked for. A longer one has none, since what takes
// an act back may stand anywhere behind it.
const (
	maxActBytes     = 16 << 10
	maxActSentences = 64
)

// Acts returns the acts that the speaker of a text says to do now, in their order:
//
//	I'll draw a line, then set its width to 3.   two acts, both announced
//	Draw a line.                                 an act, if only acts stand before it
//	Should I draw a line? / I drew a line.       none
//	Example: draw a line.                        none, and none behind it
//
// A text has none at all if its last sentence is not ended, or if it holds code, markup or JSON, asks anything, or takes back
// behind an act what it said. It reads English.
func Acts(text string) []Act {
	if len(text) > maxActBytes || !isProse(text) || !isEnded(text) {
		return nil
	}
	p := actReader{text: text, outside: OutsideQuotes(text), onlyActs: true}
	if strings.ContainsAny(p.outside, "?？؟") {
		return nil
	}
	for n, s := range sentencesOf(text, p.outside) {
		if n == maxActSentences {
			return nil
		}
		switch p.sentence(s) {
		case textEnds:
			return p.acts
		case textDenies:
			return nil
		}
	}
	return p.acts
}

// isEnded reports whether the last sentence of a text is: else it may have been cut off, as
// "a width of one" of "one hundred".
func isEnded(text string) bool {
	text = strings.TrimRight(text, " \n\r\t*_\"”’»")
	return strings.HasSuffix(text, ".") || strings.HasSuffix(text, "!") || strings.HasSuffix(text, "…")
}

// isProse reports whether a text has no code, markup or JSON in it.
func isProse(text string) bool {
	if strings.ContainsAny(text, "{}\x00") || strings.Contains(text, "```") || strings.Contains(text, "~~~") {
		return false
	}
	for i := range len(text) - 1 {
		if b := text[i+1]; text[i] == '<' && (isASCIILetter(b) || b == '/' || b == '!' || b == '|' || b == '?') {
			return false
		}
	}
	return true
}

func isASCIILetter(b byte) bool { return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' }

// quoteEnds are the marks that begin a quotation, with those that end it.
var quoteEnds = map[rune]rune{'"': '"', '`': '`', '“': '”', '„': '“', '«': '»', '‹': '›', '「': '」', '『': '』', '‘': '’', '\'': '\''}

// OutsideQuotes returns a text of the same length in which what is quoted is blank but for
// its marks. A quotation that does not end takes up the rest of the text, or of the line
// if it began with a single mark, which may be an apostrophe.
func OutsideQuotes(text string) string {
	out := []byte(text)
	var end rune
	before := ' '
	for i, r := range text {
		switch {
		case end == 0:
			if e, ok := quoteEnds[r]; ok && (r != '\'' && r != '‘' || isOpening(before)) {
				end = e
			}
		case r == end:
			end = 0
		case r == '\n' && (end == '\'' || end == '’'):
			end = 0
		case r != '\n':
			for j := i; j < len(text) && (j == i || text[j]&0xC0 == 0x80); j++ {
				out[j] = ' '
			}
		}
		before = r
	}
	return string(out)
}

// isOpening reports whether a single quotation mark behind a rune opens a quotation.
func isOpening(before rune) bool { return strings.ContainsRune(" \t\n(:—–", before) }

// sentence is a stretch of a text: a sentence, or what stands in its place.
type sentence struct {
	span [2]int
	item bool // it begins an item of a list
	no   bool // it is quoted, indented, a heading or a row of a table
}

// sentencesOf cuts a text into sentences. A line's end ends one only before a blank line,
// an item of a list, or a line that is no prose.
func sentencesOf(text, outside string) (list []sentence) {
	open := sentence{span: [2]int{-1, -1}}
	end := func(at int) {
		if open.span[0] >= 0 && strings.TrimSpace(text[open.span[0]:at]) != "" {
			open.span[1] = at
			list = append(list, open)
		}
		open = sentence{span: [2]int{-1, -1}}
	}
	for start := 0; start < len(text); {
		stop := len(text)
		if i := strings.IndexByte(text[start:], '\n'); i >= 0 {
			stop = start + i
		}
		line := text[start:stop]
		trimmed := strings.TrimLeft(line, " \t")
		from := stop - len(trimmed)
		bullet := bulletBytes(trimmed)
		switch {
		case trimmed == "":
			end(start)
		case strings.IndexByte(">#|", trimmed[0]) >= 0 || bullet == 0 && (strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t")) ||
			strings.HasPrefix(trimmed, "**") && strings.HasSuffix(strings.TrimRight(trimmed, " \r"), "**"):
			end(start)
			list = append(list, sentence{span: [2]int{start, stop}, no: true})
		default:
			if bullet > 0 {
				end(start)
				open.item = true
			}
			if open.span[0] < 0 {
				open.span[0] = from + bullet
			}
			for i := from + bullet; i < stop; i++ {
				if endsSentence(outside, i) {
					end(i + 1)
					open.span[0] = i + 1
				}
			}
		}
		start = stop + 1
	}
	end(len(text))
	return list
}

// bulletBytes returns how long the mark of a list's item is at the beginning of a line.
func bulletBytes(line string) int {
	n := 0
	for n < len(line) && line[n] >= '0' && line[n] <= '9' {
		n++
	}
	switch {
	case n > 0 && n+1 < len(line) && (line[n] == '.' || line[n] == ')') && line[n+1] == ' ':
		return n + 2
	case n == 0 && len(line) > 1 && (line[0] == '-' || line[0] == '*' || line[0] == '+') && line[1] == ' ':
		return 2
	case n == 0 && strings.HasPrefix(line, "• "):
		return len("• ")
	}
	return 0
}

// endsSentence reports whether the byte at an offset ends a sentence. The point of an
// abbreviation such as "e.g." does not.
func endsSentence(text string, i int) bool {
	switch text[i] {
	case '.', '!':
	default:
		return false
	}
	if i+1 < len(text) && strings.IndexByte(" \n\r\t\"')*_", text[i+1]) < 0 {
		return false
	}
	return text[i] == '!' || i < 2 || !isASCIILetter(text[i-1]) || isASCIILetter(text[i-2]) || text[i-2] >= 0x80
}

// actReader reads the sentences of a text, one after the other.
type actReader struct {
	text, outside string
	acts          []Act
	// onlyActs says that nothing but acts and interjections was read so far.
	onlyActs bool
	// announces says that the sentence before announced what a list holds.
	announces bool
}

// What follows from a sentence for the text.
type outcome uint8

const (
	textGoesOn outcome = iota
	textEnds           // nothing behind it is the speaker's own
	textDenies         // what was announced before does not hold
)

func (p *actReader) sentence(s sentence) outcome {
	if s.no {
		if p.text[s.span[0]] == '>' {
			p.onlyActs = false
			return textGoesOn
		}
		return textEnds // a document begins
	}
	words := wordsIn(p.outside, s.span)
	if len(words) == 0 {
		p.onlyActs = p.onlyActs && !strings.ContainsFunc(p.outside[s.span[0]:s.span[1]], func(r rune) bool { return r > ' ' })
		return textGoesOn
	}
	listed := s.item && p.announces
	if !s.item {
		p.announces = false
	}
	first := skipWords(words, openers)
	verb, announced := announcement(words[first:])
	verb += first
	switch {
	case first == len(words): // "Sure!"
		return textGoesOn
	case announced && !anyWord(words, doubts):
		p.announces = p.announces || strings.HasSuffix(strings.TrimSpace(p.outside[s.span[0]:s.span[1]]), ":")
		p.clauses(s, words, verb, true)
		return textGoesOn
	case p.labels(s):
		return textEnds
	case (listed || p.onlyActs && p.startsOutside(s, words[first])) && !anyWord(words, doubts, descriptions, withdrawals):
		p.clauses(s, words, first, listed)
		return textGoesOn
	}
	p.onlyActs = false
	offers := len(words) > 2 && words[0].text == "let" && words[2].text == "know" // "Let me know if…"
	if len(p.acts) > 0 && anyWord(words, doubts, withdrawals) && !offers {
		return textDenies
	}
	return textGoesOn
}

// startsOutside reports whether a sentence begins with a word and not with a quotation.
func (p *actReader) startsOutside(s sentence, first word) bool {
	return !strings.ContainsAny(p.outside[s.span[0]:first.span[0]], "\"'`“„«‹「『‘")
}

// labels reports whether a sentence has a label before what it says, such as "User:" or
// "For example:". A time such as 10:30 has none.
func (p *actReader) labels(s sentence) bool {
	rest := p.outside[s.span[0]:s.span[1]]
	for {
		i := strings.IndexByte(rest, ':')
		if i < 0 {
			return strings.Contains(p.outside[s.span[0]:s.span[1]], "：")
		}
		if i+1 == len(rest) || strings.IndexByte(" \n\r\t*_\"'", rest[i+1]) >= 0 {
			return true
		}
		rest = rest[i+1:]
	}
}

// clauses adds the acts of a sentence, of which there are several if "then" joins them.
// verb is the index of the first one's verb.
func (p *actReader) clauses(s sentence, words []word, verb int, announced bool) {
	from := words[0].span[0]
	for i := verb + 1; i < len(words)-1; i++ {
		if words[i].text != "then" {
			continue
		}
		end := words[i].span[0]
		if words[i-1].text == "and" {
			end = words[i-1].span[0]
		}
		p.add([2]int{from, end}, words[verb], announced)
		from = words[i+1].span[0]
		next, again := announcement(words[i+1:])
		verb, announced = i+1+next, announced || again
		i = verb
	}
	p.add([2]int{from, s.span[1]}, words[verb], announced)
}

func (p *actReader) add(span [2]int, verb word, announced bool) {
	p.acts = append(p.acts, Act{Span: span, Verb: verb.span, Announced: announced})
}

// word is a word outside of quotations, in lower case.
type word struct {
	span [2]int
	text string
}

// wordsIn returns the words of a stretch of text: letters, with apostrophes within them.
func wordsIn(text string, span [2]int) (words []word) {
	start := -1
	end := func(at int) {
		if start >= 0 {
			w := strings.TrimRight(strings.ReplaceAll(strings.ToLower(text[start:at]), "’", "'"), "'")
			words = append(words, word{[2]int{start, at}, w})
			start = -1
		}
	}
	for i, r := range text[span[0]:span[1]] {
		switch {
		case unicode.IsLetter(r) || unicode.IsMark(r):
			if start < 0 {
				start = span[0] + i
			}
		case start < 0 || r != '\'' && r != '’':
			end(span[0] + i)
		}
	}
	end(span[1])
	return words
}

// skipWords returns how many words at the beginning are of a set.
func skipWords(words []word, of map[string]bool) (n int) {
	for n < len(words) && of[words[n].text] {
		n++
	}
	return n
}

func anyWord(words []word, sets ...map[string]bool) bool {
	for _, w := range words {
		if strings.HasSuffix(w.text, "n't") {
			return true
		}
		for _, set := range sets {
			if set[w.text] {
				return true
			}
		}
	}
	return false
}

// announcement returns the index of the verb that words announce: 2 for "I will draw".
func announcement(words []word) (verb int, ok bool) {
	for _, a := range announcements {
		if len(words) <= len(a) || !slices.EqualFunc(words[:len(a)], a, func(w word, s string) bool { return w.text == s }) {
			continue
		}
		verb = len(a) + skipWords(words[len(a):], fillers)
		if verb == len(words) {
			return 0, false
		}
		last := a[len(a)-1]
		if (last == "i'm" || last == "am") && !strings.HasSuffix(words[verb].text, "ing") {
			continue
		}
		return verb, true
	}
	return 0, false
}
