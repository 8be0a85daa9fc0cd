package fallback

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// written is a number as it stands in a sentence.
type written struct {
	from, to int
	// value is its JSON; empty if the number is not read: "1,000", "10-20", "~5", "2nd".
	value string
	// unit is the unit that follows it, by its short name, and unitEnd where that ends.
	unit    string
	unitEnd int
	// pronoun says that it is the word "one" alone, which may be no number.
	pronoun bool
}

var (
	plainNumber = regexp.MustCompile(`^(?:0|[1-9][0-9]{0,17})(?:\.[0-9]{1,17})?$`)
	unitWord    = regexp.MustCompile(`^ ?([\p{L}]+|%|°)`)
	hedged      = regexp.MustCompile(`(?i)\b(?:about|around|over|under|below|above|between|least|most|up to|than|some|any|by another|#)\s*$`)
)

// units maps the words for units to short names. Those of one letter, and "in", count only
// right behind the digits.
var units = map[string]string{}

func init() {
	for short, words := range map[string]string{
		"px": "px pixel pixels", "pt": "pt points", "mm": "mm millimeter millimeters", "cm": "cm centimeter centimeters",
		"m": "m meter meters metre metres", "km": "km kilometer kilometers", "in": "in inch inches", "ft": "ft foot feet",
		"em": "em", "rem": "rem",
		"%": "% percent", "deg": "° deg degree degrees", "rad": "rad radian radians", "ms": "ms millisecond milliseconds",
		"s": "s sec secs second seconds", "min": "min mins minute minutes", "h": "h hr hrs hour hours",
		"day": "d day days", "week": "w week weeks",
		"month": "month months", "year": "y year years", "kb": "kb kilobytes", "mb": "mb megabytes", "gb": "gb gigabytes",
		"k": "k", "kg": "kg", "g": "g",
		"lb": "lb lbs", "c": "c celsius", "f": "f fahrenheit",
	} {
		for w := range strings.FieldsSeq(words) {
			units[w] = short
		}
	}
}

// fitsUnit reports whether a number with a unit may be a parameter's value: the unit is the
// one that the parameter's name or description names; pixels and degrees also if these name
// none. No unit is converted.
func fitsUnit(unit, name, description string) bool {
	if unit == "" {
		return true
	}
	named := map[string]bool{}
	isEnd := func(r rune) bool { return !unicode.IsLetter(r) && r != '%' && r != '°' }
	for w := range strings.FieldsFuncSeq(strings.ToLower(name+" "+description), isEnd) {
		if short, ok := units[w]; ok && (len(w) > 1 && w != "in" || w == "%" || w == "°") {
			named[short] = true
		}
	}
	if unit == "px" || unit == "deg" {
		return named[unit] || len(named) == 0
	}
	return named[unit]
}

// numbersIn returns the numbers of a sentence in their order: those of digits, and the
// English words up to 999,999.
func numbersIn(text string) (list []written) {
	for i := 0; i < len(text); i++ {
		if text[i] < '0' || text[i] > '9' {
			continue
		}
		n := written{from: i, to: i + 1}
		joins := ".,:/-'_"
		if before := strings.TrimRight(text[:i], "-−"); strings.HasSuffix(before, "(") {
			joins = ".:/-'_" // (10,20) is a point, 1,000 is not read
		}
		for n.to < len(text) && (isDigit(text[n.to]) ||
			strings.IndexByte(joins, text[n.to]) >= 0 && n.to+1 < len(text) && isDigit(text[n.to+1])) {
			n.to++
		}
		if digits := text[n.from:n.to]; plainNumber.MatchString(digits) && !hedged.MatchString(text[max(0, i-16):i]) {
			n.value = digits
		}
		n.sign(text)
		n.units(text)
		list = append(list, n)
		i = n.to - 1
	}
	list = append(list, numberWords(text)...)
	slices.SortFunc(list, func(a, b written) int { return a.from - b.from })
	return list
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

// sign looks at what stands right before the digits: a minus belongs to them, and with
// anything else that is not a bracket or a separator they are part of another word.
func (n *written) sign(text string) {
	before, size := utf8.DecodeLastRuneInString(text[:n.from])
	if before == '-' || before == '−' {
		n.from -= size
		if n.value != "" {
			n.value = "-" + n.value
		}
		if before, _ = utf8.DecodeLastRuneInString(text[:n.from]); before == 'x' || before == '×' {
			n.value = ""
		}
	}
	switch {
	case n.from == 0, strings.ContainsRune(" \n\t(=:,×", before):
	case before == 'x' && n.from > 1 && isDigit(text[n.from-2]): // 120x48
	default:
		n.value = ""
	}
}

// units looks at what stands behind the digits.
func (n *written) units(text string) {
	n.unitEnd = n.to
	m := unitWord.FindStringSubmatchIndex(text[n.to:min(len(text), n.to+24)])
	if m == nil {
		if n.to < len(text) && strings.IndexByte("+$", text[n.to]) >= 0 {
			n.value = ""
		}
		return
	}
	word, attached := strings.ToLower(text[n.to+m[2]:n.to+m[3]]), m[2] == 0
	short, known := units[word]
	switch {
	case known && (attached || len(word) > 1 && word != "in"):
		n.unit, n.unitEnd = short, n.to+m[1]
	case attached && (word != "x" || n.to+1 == len(text) || !isDigit(text[n.to+1])):
		n.value = "" // "2nd", "1e5", "3D"
	}
}

var smallNumbers, tens = map[string]int{}, map[string]int{}

func init() {
	for i, w := range strings.Fields(`zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
		seventeen eighteen nineteen`) {
		smallNumbers[w] = i
	}
	for i, w := range strings.Fields("twenty thirty forty fifty sixty seventy eighty ninety") {
		tens[w] = 20 + 10*i
	}
}

var letters = regexp.MustCompile(`\p{L}+`)

// numberWords returns the numbers that are written as words: "fifty", "twenty-five", "one
// hundred and five", "two thousand".
func numberWords(text string) (list []written) {
	words := letters.FindAllStringIndex(text, -1)
	at := func(i int) string {
		if i >= len(words) || i > 0 && strings.Trim(text[words[i-1][1]:words[i][0]], " -") != "" {
			return "" // no word of the same number
		}
		return strings.ToLower(text[words[i][0]:words[i][1]])
	}
	for i := 0; i < len(words); i++ {
		first := strings.ToLower(text[words[i][0]:words[i][1]])
		if !isNumberWord(first) {
			continue
		}
		n := written{from: words[i][0]}
		var sum wordSum
		end := i
		for w := first; isNumberWord(w); w = at(end) {
			sum.add(w)
			end++
			if at(end) == "and" && isNumberWord(at(end+1)) && sum.takesAnd() {
				end++
			}
		}
		n.to = words[end-1][1]
		if !sum.bad && !hedged.MatchString(text[max(0, n.from-16):n.from]) {
			n.value = strconv.Itoa(sum.thousands + sum.rest)
		}
		n.pronoun = end == i+1 && first == "one"
		n.units(text)
		list = append(list, n)
		i = end - 1
	}
	return list
}

// wordSum adds up the words of a number.
type wordSum struct {
	thousands, rest int
	begun           bool // rest has a word
	bad             bool // the words are no number: "five twenty"
}

func (s *wordSum) add(w string) {
	small, isSmall := smallNumbers[w]
	ten, isTen := tens[w]
	free := !s.begun || s.rest > 0 && s.rest%100 == 0 // for up to 99
	switch {
	case isSmall && (free || s.rest%100 >= 20 && s.rest%10 == 0 && small > 0 && small < 10):
		s.rest += small
	case isTen && free:
		s.rest += ten
	case w == "hundred" && s.rest > 0 && s.rest < 10:
		s.rest *= 100
	case w == "thousand" && s.rest > 0 && s.thousands == 0:
		s.thousands, s.rest, s.begun = s.rest*1000, 0, false
		return
	default:
		s.bad = true
	}
	s.begun = true
}

// takesAnd reports whether "and" may follow: "one hundred and five".
func (s *wordSum) takesAnd() bool { return s.rest >= 100 || s.thousands > 0 && !s.begun }

func isNumberWord(w string) bool {
	_, small := smallNumbers[w]
	_, ten := tens[w]
	return small || ten || w == "hundred" || w == "thousand" || w == "million" || w == "billion"
}

func isLetter(r rune) bool { return unicode.IsLetter(r) || unicode.IsMark(r) }
