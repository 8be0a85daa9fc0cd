package fallback

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/callwright/callwright/internal/cue"
	"github.com/callwright/callwright/registry"
)

// What values look like in a sentence. Sentences are bounded, and none of these can
// backtrack.
var (
	hexColor  = regexp.MustCompile(`(?i)#(?:[0-9a-f]{8}|[0-9a-f]{6}|[0-9a-f]{3,4})\b`)
	colorWord = regexp.MustCompile(
		`(?i)\b(?:black|white|red|green|blue|yellow|orange|purple|pink|brown|gr[ae]y|cyan|magenta|teal|navy|maroon|olive|lime|silver|gold|` +
			`indigo|violet|turquoise|beige|coral|crimson|salmon|transparent)\b`,
	)
	isoDate = regexp.MustCompile(`\b\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2})?(?:Z|[+-]\d{2}:\d{2})?)?\b`)
	address = regexp.MustCompile(`[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,24}\b`)
	link    = regexp.MustCompile(`https?://[^\s"'<>)]*[^\s"'<>).,;:!]`)
	proper  = regexp.MustCompile(`\b(?:in|for|at|from|to|of|near|about|named|called)\s+(\p{Lu}[\p{L}’'-]*(?:\s+\p{Lu}[\p{L}’'-]*){0,3})`)
	another = regexp.MustCompile(`^(?:,|\s+and|\s+&)\s*\p{Lu}`)
	dayName = regexp.MustCompile(`^(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|^(?:January|February|March|April|May|June|July|August|` +
		`September|October|November|December)\b`)
	quoted = regexp.MustCompile("\"([^\"]+)\"|“([^”]+)”|«([^»]+)»|`([^`]+)`|(?:^|[\\s(:])'([^'\n]+)'")

	timesSign  = regexp.MustCompile(`^\s?(?:x|×|by|\*)\s?$`)
	commaOnly  = regexp.MustCompile(`^\s?,\s?$`)
	linkWords  = regexp.MustCompile(`^\s*(?:(?:of|is|to|at|as|set to|named|called|=|:)\s*){0,2}$`)
	truthWord  = regexp.MustCompile(`(?i)^\s*(?:(?:is|to|=|:)\s*)?(true|false|on|off|yes)\b`)
	truthBefor = regexp.MustCompile(`(?i)\b(with|enable|enabling|disable|disabling)\s+(?:the\s+)?$`)
)

// sizePairs and pointPairs are parameters that two numbers written together belong to:
// "120x48" to width and height, "(10, 20)" to x and y.
var sizePairs, pointPairs = [][2]string{
	{"width", "height"}, {"w", "h"}, {"columns", "rows"}, {"cols", "rows"},
}, [][2]string{{"x", "y"}, {"left", "top"}, {"lat", "lon"}, {"latitude", "longitude"}}

// parameter is a parameter that a value is looked for.
type parameter struct {
	name, kind, format, description string
	words                           []string // its name as terms
	enum                            []any
	required                        bool
}

// has reports whether one of the words is the parameter's format, or stands in its name.
func (p *parameter) has(words ...string) bool {
	for _, w := range words {
		if p.format == w || slices.Contains(p.words, stem(w)) {
			return true
		}
	}
	return false
}

func (p *parameter) numeric() bool { return p.kind == "number" || p.kind == "integer" }

// text reports whether any text may be the parameter's value.
func (p *parameter) text() bool { return p.kind == "string" && p.enum == nil }

// reading is a sentence from which values are taken, each part of it once.
type reading struct {
	text, outside string
	taken         []bool
	numbers       []written
	params        []parameter
	values        map[string]any
	left          []string // values that may belong to several parameters
}

// valuesIn finds the values of a tool's parameters in a clause. The error says what is
// missing or not clear.
func valuesIn(s *clause, tool *registry.Tool) (map[string]any, error) {
	r := &reading{text: s.text, outside: s.outside, taken: make([]bool, len(s.text)), numbers: numbersIn(s.outside), values: map[string]any{}}
	r.take(s.verb[0], s.verb[1])
	properties, _ := tool.Parameters["properties"].(map[string]any)
	for _, name := range tool.Order() {
		schema, _ := properties[name].(map[string]any)
		p := parameter{name: name, words: terms(name), required: tool.Requires(name)}
		p.kind, _ = schema["type"].(string)
		p.format, _ = schema["format"].(string)
		p.description, _ = schema["description"].(string)
		p.enum, _ = schema["enum"].([]any)
		if len(p.words) == 0 {
			p.words = []string{strings.ToLower(name)}
		}
		r.params = append(r.params, p)
	}
	r.enums()
	r.forms()
	r.pairs(timesSign, sizePairs)
	r.pairs(commaOnly, pointPairs)
	r.colors()
	for i := range r.params {
		r.named(&r.params[i])
	}
	r.onlyText(tool.Name)
	r.onlyNumber()
	return r.values, r.unclear(tool)
}

// unclear says what keeps the values from being a call's.
func (r *reading) unclear(tool *registry.Tool) error {
	e := UnclearError{Tool: tool.Name, Left: r.left}
	for i := range r.params {
		if p := &r.params[i]; p.required && r.values[p.name] == nil && !tool.HasDefault(p.name) {
			e.Missing = append(e.Missing, p.name)
		}
	}
	for _, n := range r.numbers {
		if !n.pronoun {
			r.leave(n.from, n.to)
		}
	}
	for _, m := range quoted.FindAllStringSubmatchIndex(r.text, -1) {
		if from, to := group(m); r.text[from:to] != tool.Name {
			r.leave(from, to)
		}
	}
	for _, form := range []*regexp.Regexp{hexColor, address, link} {
		for _, m := range form.FindAllStringIndex(r.outside, -1) {
			r.leave(m[0], m[1])
		}
	}
	if e.Left = r.left; len(e.Left)+len(e.Missing) > 0 {
		return &e
	}
	return nil
}

// leave notes a value that was not taken.
func (r *reading) leave(from, to int) {
	if !slices.Contains(r.taken[from:to], true) {
		r.left = append(r.left, clipped(r.text[from:to]))
	}
}

// take takes a part of the sentence. It reports false if some of it was taken before.
func (r *reading) take(from, to int) bool {
	if slices.Contains(r.taken[from:to], true) {
		return false
	}
	for i := from; i < to; i++ {
		r.taken[i] = true
	}
	return true
}

// give gives a part of the sentence to a parameter as its value. Two values for one
// parameter are not clear.
func (r *reading) give(p *parameter, value any, from, to int) {
	if r.values[p.name] != nil {
		r.left = append(r.left, clipped(r.text[from:to]))
		return
	}
	if r.take(from, to) {
		r.values[p.name] = value
	}
}

// number gives a number to a parameter, if it is one that it may have.
func (r *reading) number(p *parameter, n *written) {
	if n.value != "" && fitsUnit(n.unit, p.name, p.description) {
		r.give(p, json.Number(n.value), n.from, n.to)
	}
}

// wanting returns the one parameter without a value for which a condition holds; nil if
// there are none or several.
func (r *reading) wanting(condition func(*parameter) bool) (one *parameter) {
	for i := range r.params {
		if p := &r.params[i]; r.values[p.name] == nil && condition(p) {
			if one != nil {
				return nil
			}
			one = p
		}
	}
	return one
}

func (r *reading) param(name string) *parameter {
	for i := range r.params {
		if r.params[i].name == name {
			return &r.params[i]
		}
	}
	return nil
}

// enums takes words that are among the values that a parameter may have, of two letters or
// more, in quotation marks or not.
func (r *reading) enums() {
	lower := asciiLower(r.text)
	for i := range r.params {
		p := &r.params[i]
		for _, v := range p.enum {
			word, ok := v.(string)
			if !ok || len(word) < 2 || !r.outsideOrWhole(word) {
				continue
			}
			for _, form := range []string{asciiLower(word), strings.ReplaceAll(asciiLower(word), "_", " ")} {
				if at := wordAt(lower, form); at >= 0 && !r.taken[at] {
					r.give(p, word, at, at+len(form))
					break
				}
			}
		}
	}
}

// outsideOrWhole reports whether a word stands outside of quotations, or is all of one.
func (r *reading) outsideOrWhole(word string) bool {
	lower := asciiLower(word)
	outside := asciiLower(r.outside)
	if wordAt(outside, lower) >= 0 || wordAt(outside, strings.ReplaceAll(lower, "_", " ")) >= 0 {
		return true
	}
	for _, m := range quoted.FindAllStringSubmatchIndex(r.text, -1) {
		if from, to := group(m); asciiLower(r.text[from:to]) == lower {
			return true
		}
	}
	return false
}

// asciiLower writes the letters of ASCII small, so that offsets stay.
func asciiLower(s string) string {
	b := []byte(s)
	for i := range b {
		if b[i] >= 'A' && b[i] <= 'Z' {
			b[i] += 'a' - 'A'
		}
	}
	return string(b)
}

// wordAt returns the offset of a whole word, -1 if the text does not have it.
func wordAt(text, word string) int {
	for from := 0; ; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return -1
		}
		at := from + i
		end := at + len(word)
		if (at == 0 || !cue.IsWordByte(text[at-1])) && (end == len(text) || !cue.IsWordByte(text[end]) || text[end] == '.') {
			return at
		}
		from = at + 1
	}
}

// forms takes values that have a form of their own: dates, addresses, links. There has to
// be one of them, and one parameter for it.
func (r *reading) forms() {
	for _, f := range []struct {
		form  *regexp.Regexp
		words []string
	}{
		{isoDate, []string{"date", "date-time", "day", "start", "end"}},
		{address, []string{"email", "recipient", "to"}},
		{link, []string{"url", "uri", "link", "website"}},
	} {
		p := r.wanting(func(p *parameter) bool {
			return p.text() && (p.has(f.words...) || slices.Contains(f.words, strings.ToLower(p.name)))
		})
		if all := f.form.FindAllStringIndex(r.outside, 2); p != nil && len(all) == 1 {
			r.give(p, r.text[all[0][0]:all[0][1]], all[0][0], all[0][1])
		}
	}
}

// pairs takes two numbers that are written together, with nothing more joined to them.
func (r *reading) pairs(joined *regexp.Regexp, pairs [][2]string) {
	var a, b *parameter
	for _, names := range pairs {
		p, q := r.param(names[0]), r.param(names[1])
		if p == nil || q == nil || !p.numeric() || !q.numeric() {
			continue
		}
		if a != nil {
			return // both may be meant
		}
		a, b = p, q
	}
	if a == nil {
		return
	}
	joins := func(i int) bool {
		return i >= 0 && i+1 < len(r.numbers) && joined.MatchString(r.outside[r.numbers[i].unitEnd:r.numbers[i+1].from])
	}
	for i := range r.numbers {
		if !joins(i) || joins(i-1) || joins(i+1) {
			continue
		}
		m, n := &r.numbers[i], &r.numbers[i+1]
		if joined == commaOnly && !r.isPoint(m, n) {
			continue
		}
		r.number(a, m)
		r.number(b, n)
	}
}

// isPoint reports whether two numbers are written like a point: "(10, 20)" or "at 10, 20".
func (r *reading) isPoint(m, n *written) bool {
	before, after := strings.TrimRight(r.outside[:m.from], " "), strings.TrimLeft(r.outside[n.to:], " ")
	return strings.HasSuffix(before, "(") && strings.HasPrefix(after, ")") ||
		strings.HasSuffix(before, " at") || strings.HasSuffix(before, " to")
}

// colors takes colors for the parameters that are one: each for the parameter whose name
// stands beside it, or the only one for the only parameter.
func (r *reading) colors() {
	isColor := func(p *parameter) bool {
		return p.kind == "string" && p.enum == nil && p.has("color", "fill", "stroke", "background", "foreground")
	}
	var spans [][]int
	for _, form := range []*regexp.Regexp{hexColor, colorWord} {
		spans = append(spans, form.FindAllStringIndex(r.outside, -1)...)
	}
	var free [][]int
	for _, m := range spans {
		given := false
		for i := range r.params {
			p := &r.params[i]
			if !isColor(p) {
				continue
			}
			for _, w := range r.wordsOf(p.words) {
				before := w[1] <= m[0] && linkWords.MatchString(r.outside[w[1]:m[0]])
				after := m[1] <= w[0] && strings.TrimSpace(r.outside[m[1]:w[0]]) == ""
				if !given && (before || after) {
					r.give(p, r.text[m[0]:m[1]], m[0], m[1])
					given = true
				}
			}
		}
		if !given {
			free = append(free, m)
		}
	}
	p := r.wanting(isColor)
	switch {
	case len(free) == 1 && p != nil:
		r.give(p, r.text[free[0][0]:free[0][1]], free[0][0], free[0][1])
	case slices.ContainsFunc(r.params, func(p parameter) bool { return isColor(&p) }):
		for _, m := range free {
			r.leave(m[0], m[1])
		}
	}
}

// named takes values that stand right behind or before their parameter's name: "width 120",
// "a width of 120", "radius = 8", "3 days".
func (r *reading) named(p *parameter) {
	for _, w := range r.wordsOf(p.words) {
		switch {
		case p.kind == "boolean":
			r.truth(p, w)
		case p.numeric():
			r.numberBeside(p, w)
		case p.text():
			for _, m := range quoted.FindAllStringSubmatchIndex(r.text[w[1]:], 1) {
				from, to := group(m)
				from, to = w[1]+from, w[1]+to
				if before := strings.TrimRight(r.text[w[1]:from], "\"“«`'"); linkWords.MatchString(before) && !r.taken[from] {
					r.give(p, r.text[from:to], from, to)
				}
			}
		}
	}
}

// numberBeside takes the number right behind a parameter's name, else that right before it.
func (r *reading) numberBeside(p *parameter, w [2]int) {
	for i := range r.numbers {
		if n := &r.numbers[i]; n.from >= w[1] && !r.taken[n.from] && linkWords.MatchString(r.outside[w[1]:n.from]) {
			r.number(p, n)
			return
		}
	}
	for i := range r.numbers {
		n := &r.numbers[i]
		if r.taken[n.from] || n.to > w[0] {
			continue
		}
		gap := r.outside[n.to:w[0]]
		if n.unitEnd <= w[0] {
			gap = r.outside[n.unitEnd:w[0]]
		}
		if strings.Trim(gap, " -") == "" {
			r.number(p, n)
		}
	}
}

// truth takes what is said of a boolean parameter: "append true", "with append".
func (r *reading) truth(p *parameter, w [2]int) {
	if m := truthWord.FindStringSubmatchIndex(r.outside[w[1]:]); m != nil {
		word := strings.ToLower(r.outside[w[1]+m[2] : w[1]+m[3]])
		r.give(p, word == "true" || word == "on" || word == "yes", w[1]+m[2], w[1]+m[3])
		return
	}
	if m := truthBefor.FindStringSubmatch(r.outside[:w[0]]); m != nil {
		r.give(p, !strings.HasPrefix(strings.ToLower(m[1]), "dis"), w[0], w[1])
	}
}

// wordsOf finds where the words of a parameter's name stand one behind the other.
func (r *reading) wordsOf(want []string) (list [][2]int) {
	words := letters.FindAllStringIndex(r.outside, -1)
	for i := range words {
		if i+len(want) > len(words) {
			break
		}
		ok := true
		for j, p := range want {
			ok = ok && stem(strings.ToLower(r.outside[words[i+j][0]:words[i+j][1]])) == p
		}
		if last := words[i+len(want)-1]; ok && r.isName(words[i][0], last[1]) {
			list = append(list, [2]int{words[i][0], last[1]})
		}
	}
	return list
}

// isName reports whether a stretch may be a parameter's name: the x of "100 x 50" is not.
func (r *reading) isName(from, to int) bool {
	if to-from > 1 || r.outside[from] != 'x' {
		return true
	}
	for i := range len(r.numbers) - 1 {
		end, next := r.numbers[i].unitEnd, r.numbers[i+1].from
		if end <= from && to <= next && timesSign.MatchString(r.outside[end:next]) {
			return false
		}
	}
	return true
}

// group returns the group of a match that holds something.
func group(m []int) (from, to int) {
	for i := 2; i < len(m); i += 2 {
		if m[i] >= 0 {
			return m[i], m[i+1]
		}
	}
	return m[0], m[1]
}

// onlyText gives the one thing that is quoted to the one required text without a value,
// and else the one name behind a preposition, if the text is that of a place or a person.
func (r *reading) onlyText(tool string) {
	missing := func(p *parameter) bool { return p.required && p.text() }
	var free [][2]int
	for _, m := range quoted.FindAllStringSubmatchIndex(r.text, -1) {
		if from, to := group(m); r.text[from:to] != tool && !r.taken[from] {
			free = append(free, [2]int{from, to})
		}
	}
	if p := r.wanting(missing); p != nil && len(free) == 1 {
		r.give(p, r.text[free[0][0]:free[0][1]], free[0][0], free[0][1])
		return
	}
	p := r.wanting(missing)
	all := proper.FindAllStringSubmatchIndex(r.outside, 2)
	if p == nil || len(all) != 1 ||
		!p.has("city", "location", "place", "town", "country", "region", "area", "name", "person", "contact", "team", "company") {
		return
	}
	from, to := all[0][2], all[0][3]
	if name := r.text[from:to]; !dayName.MatchString(name) && !another.MatchString(r.outside[to:]) {
		r.give(p, name, from, to)
	}
}

// onlyNumber gives the one number that is left to the one required number without a value.
func (r *reading) onlyNumber() {
	var free []*written
	for i := range r.numbers {
		if n := &r.numbers[i]; !r.taken[n.from] && !n.pronoun {
			free = append(free, n)
		}
	}
	if p := r.wanting(func(p *parameter) bool { return p.required && p.numeric() }); p != nil && len(free) == 1 {
		r.number(p, free[0])
	}
}
