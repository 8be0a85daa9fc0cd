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
	quotedText = regexp.MustCompile("\"([^\"\n]+)\"|“([^”\n]+)”|`([^`\n]+)`|(?:^|[\\s(])'([^'\n]+)'")
	hexColour  = regexp.MustCompile(`(?i)#(?:[0-9a-f]{8}|[0-9a-f]{6}|[0-9a-f]{3,4})\b|\b(?:rgb|hsl)a?\([^()\n]{3,48}\)`)
	colourWord = regexp.MustCompile(
		`(?i)\b(?:black|white|red|green|blue|yellow|orange|purple|pink|brown|gr[ae]y|cyan|magenta|teal|navy|maroon|olive|lime|silver|gold|` +
			`indigo|violet|turquoise|beige|coral|crimson|salmon|transparent)\b`,
	)
	pair    = regexp.MustCompile(`(-?\d+(?:\.\d+)?)\s?(?:px|pt|mm|cm|em)?\s?(?:x|×|by)\s?(-?\d+(?:\.\d+)?)`)
	point   = regexp.MustCompile(`\(\s?(-?\d+(?:\.\d+)?)\s?,\s?(-?\d+(?:\.\d+)?)\s?\)`)
	number  = regexp.MustCompile(`-?\d+(?:\.\d+)?`)
	isoDate = regexp.MustCompile(`\b\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2})?(?:Z|[+-]\d{2}:\d{2})?)?\b`)
	address = regexp.MustCompile(`[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,24}`)
	link    = regexp.MustCompile(`https?://[^\s"'<>)]+`)
	proper  = regexp.MustCompile(`\b(?:in|for|at|from|to|of|near|about|on)\s+(\p{Lu}[\p{L}’'-]*(?:\s+\p{Lu}[\p{L}’'-]*){0,3})`)
)

// sizePairs and pointPairs are parameters that two numbers written together belong to:
// "120x48" to width and height, "(10, 20)" to x and y.
var sizePairs, pointPairs = [][2]string{
	{"width", "height"}, {"w", "h"}, {"columns", "rows"}, {"cols", "rows"},
}, [][2]string{{"x", "y"}, {"left", "top"}, {"lat", "lon"}, {"latitude", "longitude"}}

// sentence is a sentence from which values are taken, each part of it once.
type sentence struct {
	text   string
	taken  []bool
	values map[string]any
	kinds  map[string]string
	schema map[string]map[string]any
}

// valuesIn finds the values of a tool's parameters in a sentence. wanted is how many
// parameters are required or have a value.
func valuesIn(source string, tool *registry.Tool) (values map[string]any, wanted int) {
	r := &sentence{
		text: source, taken: make([]bool, len(source)), values: map[string]any{}, kinds: map[string]string{}, schema: map[string]map[string]any{},
	}
	properties, _ := tool.Parameters["properties"].(map[string]any)
	names := tool.Order()
	for _, name := range names {
		p, _ := properties[name].(map[string]any)
		kind, _ := p["type"].(string)
		r.schema[name], r.kinds[name] = p, kind
	}
	r.enums(names)
	r.pairsOf(pair, sizePairs)
	r.pairsOf(point, pointPairs)
	r.colours(names)
	r.named(names)
	r.typedStrings(names, tool)
	r.lastNumber(names, tool)
	for _, name := range names {
		if tool.Requires(name) && !tool.HasDefault(name) || r.values[name] != nil {
			wanted++
		}
	}
	return r.values, wanted
}

// take takes a part of the sentence. It reports false if some of it was taken before.
func (r *sentence) take(from, to int) bool {
	if slices.Contains(r.taken[from:to], true) {
		return false
	}
	for i := from; i < to; i++ {
		r.taken[i] = true
	}
	return true
}

func (r *sentence) numeric(name string) bool {
	return r.kinds[name] == "number" || r.kinds[name] == "integer"
}

// enums takes words that are among the values that a parameter may have.
func (r *sentence) enums(names []string) {
	lower := strings.ToLower(r.text)
	for _, name := range names {
		enum, _ := r.schema[name]["enum"].([]any)
		for _, v := range enum {
			word, ok := v.(string)
			if !ok || len(word) < 2 || r.values[name] != nil {
				continue
			}
			for _, form := range []string{strings.ToLower(word), strings.ReplaceAll(strings.ToLower(word), "_", " ")} {
				if i := wordAt(lower, form); i >= 0 && len(lower) == len(r.text) && r.take(i, i+len(form)) {
					r.values[name] = word
					break
				}
			}
		}
	}
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

// pairsOf takes two numbers that were written together.
func (r *sentence) pairsOf(form *regexp.Regexp, pairs [][2]string) {
	for _, p := range pairs {
		if !r.numeric(p[0]) || !r.numeric(p[1]) || r.values[p[0]] != nil {
			continue
		}
		if m := form.FindStringSubmatchIndex(r.text); m != nil && r.take(m[0], m[1]) {
			r.values[p[0]], r.values[p[1]] = json.Number(r.text[m[2]:m[3]]), json.Number(r.text[m[4]:m[5]])
		}
	}
}

// colours takes colours for the parameters that are one.
func (r *sentence) colours(names []string) {
	for _, name := range names {
		words := terms(name)
		wants := r.schema[name]["format"] == "color"
		for _, w := range []string{"color", "fill", "strok", "background", "foreground"} {
			wants = wants || slices.Contains(words, w)
		}
		if !wants || r.values[name] != nil || r.kinds[name] != "string" {
			continue
		}
		for _, form := range []*regexp.Regexp{hexColour, colourWord} {
			if m := form.FindStringIndex(r.text); m != nil && r.take(m[0], m[1]) {
				r.values[name] = r.text[m[0]:m[1]]
				break
			}
		}
	}
}

// named takes values that stand right behind or before their parameter's name:
// "width 120", "a width of 120", "radius = 8", "3 days".
func (r *sentence) named(names []string) {
	for _, name := range names {
		if r.values[name] != nil {
			continue
		}
		want := strings.Join(terms(name), " ")
		if want == "" {
			want = strings.ToLower(name)
		}
		for _, w := range r.wordsOf(want) {
			if r.kinds[name] == "boolean" {
				before := strings.ToLower(strings.TrimSpace(r.text[:w[0]]))
				switch {
				case strings.HasSuffix(before, "without"), strings.HasSuffix(before, "no"), strings.HasSuffix(before, "disable"),
					strings.HasSuffix(before, "disabled"):
					r.values[name] = false
				case strings.HasSuffix(before, "with"), strings.HasSuffix(before, "enable"), strings.HasSuffix(before, "and"):
					r.values[name] = true
				}
				break
			}
			if r.valueAt(name, w) {
				break
			}
		}
	}
}

// wordsOf finds where the words of a parameter's name stand one behind the other.
func (r *sentence) wordsOf(want string) (list [][2]int) {
	parts := strings.Fields(want)
	type word struct {
		from, to int
		term     string
	}
	var words []word
	for i := 0; i < len(r.text); {
		if !isLetter(r.text[i]) {
			i++
			continue
		}
		start := i
		for i < len(r.text) && isLetter(r.text[i]) {
			i++
		}
		words = append(words, word{start, i, stem(strings.ToLower(r.text[start:i]))})
	}
	for i := range words {
		if i+len(parts) > len(words) {
			break
		}
		ok := true
		for j, p := range parts {
			ok = ok && words[i+j].term == p
		}
		if ok {
			list = append(list, [2]int{words[i].from, words[i+len(parts)-1].to})
		}
	}
	return list
}

func isLetter(b byte) bool { return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= 0x80 }

var (
	linkWords = regexp.MustCompile(`^\s*(?:(?:of|is|to|at|as|set to|named|called|=|:)\s*){0,2}`)
	unit      = regexp.MustCompile(`^\s?(?:px|pt|em|rem|%|°|pixels?|points?|degrees?)?`)
)

// valueAt takes the value that belongs to a name.
func (r *sentence) valueAt(name string, at [2]int) bool {
	rest := at[1] + len(linkWords.FindString(r.text[at[1]:]))
	switch {
	case r.numeric(name):
		if m := number.FindStringIndex(r.text[rest:]); m != nil && m[0] == 0 && r.take(rest, rest+m[1]) {
			r.values[name] = json.Number(r.text[rest : rest+m[1]])
			return true
		}
		for _, m := range number.FindAllStringIndex(r.text[:at[0]], -1) { // "3 days", "120px wide"
			gap := r.text[m[1]:at[0]]
			if strings.TrimSpace(gap[len(unit.FindString(gap)):]) == "" && r.take(m[0], m[1]) {
				r.values[name] = json.Number(r.text[m[0]:m[1]])
				return true
			}
		}
	case r.kinds[name] == "string" || r.kinds[name] == "":
		if m := quotedText.FindStringSubmatchIndex(r.text[rest:]); m != nil && m[0] <= 1 {
			if from, to := group(m); r.take(rest+from, rest+to) {
				r.values[name] = r.text[rest+from : rest+to]
				return true
			}
		}
	}
	return false
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

// typedStrings takes values that have a form of their own: addresses, links, dates.
func (r *sentence) typedStrings(names []string, tool *registry.Tool) {
	for _, name := range names {
		if r.values[name] != nil || r.kinds[name] != "string" || r.schema[name]["enum"] != nil {
			continue
		}
		format, _ := r.schema[name]["format"].(string)
		words := terms(name)
		has := func(list ...string) bool {
			for _, w := range list {
				if format == w || slices.Contains(words, stem(w)) {
					return true
				}
			}
			return false
		}
		var form *regexp.Regexp
		switch {
		case has("date", "date-time", "day", "start", "end"):
			form = isoDate
		case has("email", "recipient", "to"):
			form = address
		case has("url", "uri", "link", "website"):
			form = link
		default:
			continue
		}
		if m := form.FindStringIndex(r.text); m != nil && r.take(m[0], m[1]) {
			r.values[name] = strings.TrimRight(r.text[m[0]:m[1]], ".,")
		}
	}
	// What is quoted, and then what has a name of its own, goes to the one required
	// string that has no value yet.
	for _, form := range []*regexp.Regexp{quotedText, proper} {
		name := onlyMissing(names, tool, r, func(n string) bool {
			return (r.kinds[n] == "string" || r.kinds[n] == "") && r.schema[n]["enum"] == nil
		})
		if name == "" {
			return
		}
		if all := form.FindAllStringSubmatchIndex(r.text, 2); len(all) == 1 {
			if from, to := group(all[0]); r.take(from, to) {
				r.values[name] = r.text[from:to]
			}
		}
	}
}

// lastNumber gives the one number that is left to the one required number without a
// value.
func (r *sentence) lastNumber(names []string, tool *registry.Tool) {
	name := onlyMissing(names, tool, r, r.numeric)
	if name == "" {
		return
	}
	var left [][]int
	for _, m := range number.FindAllStringIndex(r.text, -1) {
		if !slices.Contains(r.taken[m[0]:m[1]], true) {
			left = append(left, m)
		}
	}
	if len(left) == 1 && r.take(left[0][0], left[0][1]) {
		r.values[name] = json.Number(r.text[left[0][0]:left[0][1]])
	}
}

// onlyMissing returns the one required parameter of a kind that has no value.
func onlyMissing(names []string, tool *registry.Tool, r *sentence, kind func(string) bool) string {
	missing := ""
	for _, n := range names {
		if tool.Requires(n) && r.values[n] == nil && kind(n) {
			if missing != "" {
				return ""
			}
			missing = n
		}
	}
	return missing
}
