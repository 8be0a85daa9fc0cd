package scan

import (
	"bytes"
	"strings"
)

// contextBytes is how much text before a candidate is looked at for what it announces.
const contextBytes = 320

// Phrases that announce that what follows is shown and not done.
var examplePhrases = []string{
	"for example", "e.g.", "for instance", "an example", "example:", "examples:", "example of", "looks like", "look like",
	"would be", "would look", "might look",
	"is written", "are written", "you would", "you could", "you can call", "you can use", "could write", "could call",
	"could use", "can call it", "one could",
	"the format", "following format", "this format", "format is", "format:", "syntax", "sample", "do not write", "don't write",
	"never write", "the log", "log shows", "output was", "says:", "page says", "file contains", "contains:", "someone",
	"attacker", "injected", "malicious",
	"the user wrote", "user sent", "you wrote", "you sent", "template",
	"to call a tool", "to call the tool", "to use a tool", "to use the tool", "to invoke", "means that", "models emit",
	"model emits", "model writes", "would emit", "emits",
	"zum beispiel", "por ejemplo", "par exemple", "例如", "比如", "示例", "格式", "たとえば", "例えば",
	"not call", "won't call", "will not call", "shouldn't call", "should not call", "without calling", "hypothetical", "pseudo",
}

// Phrases that make a guess less likely, but say nothing against a marker.
var weakPhrases = []string{
	"such as", "documentation", "schema", "instead of", "rather than", "was written", "previously", "earlier you", "returned",
	"responded with", "response was",
	"the response", "reads:", "quote", "you should", "alternatives", "either of", "one of these", "in theory",
}

// Phrases by which the speaker announces an act of its own.
var intentPhrases = []string{
	"i'll", "i will", "i’ll", "let me", "i'm going to", "i am going to", "i need to", "i should", "i can ", "let's", "let us",
	"calling", "now i", "now, i", "first, i", "checking", "sure", "okay", "certainly",
	"of course", "i have to", "i want to", "i'd", "going to", "here is the call", "here's the call", "tool call:",
	"function call:", "executing", "running", "searching", "looking up", "fetching", "one moment", "on it",
}

// surroundings looks at where a construct stands in its line.
func (k *construct) surroundings() {
	s := k.s
	p := k.start
	k.ev.LineStart = s.atLineStart(p)
	before := s.before(p)
	trimmed := bytes.TrimRight(before, " \t\r\n")
	if len(trimmed) == 0 || k.ev.LineStart {
		return
	}
	if s.calls > 0 && joins(before) {
		k.ev.LineStart = true // {…}, {…} and {…}: as good as the one before it
		return
	}
	last := trimmed[len(trimmed)-1]
	if len(trimmed) == len(before) {
		switch last {
		case '"', '\'', '(', '`':
			k.ev.Quoted = true
		}
		for _, q := range [...]string{"“", "「", "«"} {
			k.ev.Quoted = k.ev.Quoted || bytes.HasSuffix(trimmed, []byte(q))
		}
	}
	switch last {
	case '.', '!', '?', ':', ';', ')', ']', '}', '>', '*':
	default:
		k.midSentence = last < 0x80
	}
	line := trimmed[bytes.LastIndexByte(trimmed, '\n')+1:]
	if bytes.HasPrefix(bytes.TrimLeft(line, " "), []byte(">")) {
		k.ev.Quoted = true
	}
}

// joins reports whether a text between two constructs does nothing but join them.
func joins(between []byte) bool {
	switch strings.Trim(string(between), separators) {
	case "", "and", "then", "and then", "&", "+":
		return true
	}
	return false
}

// readLeadIn looks at the words before a construct, once, for what they announce.
func (k *construct) readLeadIn() {
	if k.led {
		return
	}
	k.led = true
	trimmed := bytes.TrimRight(k.s.before(k.start), " \t\r\n")
	if len(trimmed) == 0 {
		return
	}
	text := strings.ToLower(string(lastSentences(trimmed)))
	k.ev.Example = examples.in(text) || !k.marked && weak.in(text)
	k.ev.Intent = intents.in(text)
	sentence := text[max(strings.LastIndex(text, ". "), strings.LastIndex(text, "\n"), 0):]
	k.acts = acts.in(sentence) && !denials.in(sentence)
}

// lastSentences returns the end of a text that speaks of what follows it: its
// last paragraph, and if that is a heading or a short line, the one before.
func lastSentences(p []byte) []byte {
	if i := bytes.LastIndex(p, []byte("\n\n")); i >= 0 {
		if len(p)-i > 24 {
			p = p[i+2:]
		} else if j := bytes.LastIndex(p[:i], []byte("\n\n")); j >= 0 {
			p = p[j+2:]
		}
	}
	if len(p) > 200 {
		p = p[len(p)-200:]
	}
	return p
}

// phraseTable holds phrases by their first byte, to be looked for in one pass.
type phraseTable [256][]string

func newPhraseTable(phrases []string) *phraseTable {
	t := new(phraseTable)
	for _, p := range phrases {
		t[p[0]] = append(t[p[0]], p)
	}
	return t
}

var (
	examples = newPhraseTable(examplePhrases)
	weak     = newPhraseTable(weakPhrases)
	intents  = newPhraseTable(intentPhrases)
	acts     = newPhraseTable([]string{
		"i'll", "i will", "i’ll", "let me", "i'm going to", "i am going to", "i’m going to", "calling", "executing",
	})
	denials = newPhraseTable([]string{
		"not ", "n't", "n’t", "never", "would", "could", "should", "instead", "if ", "said", "says", "wrote", "writes", "user",
		"example", "like ",
	})
)

// in reports whether one of the phrases stands in the text, at the beginning of
// a word.
func (t *phraseTable) in(text string) bool {
	for i := range len(text) {
		list := t[text[i]]
		if list == nil || i > 0 && isAlnum(text[i]) && isAlnum(text[i-1]) {
			continue
		}
		for _, p := range list {
			if strings.HasPrefix(text[i:], p) {
				return true
			}
		}
	}
	return false
}

// goesOn reports whether the sentence in which a construct stands goes on behind
// it, on the same line.
func (k *construct) goesOn(off int) bool {
	for range 4 {
		if next := k.closer(off, nil); next >= 0 {
			off = next
			continue
		}
		break
	}
	for {
		b, ok := k.c.At(off)
		switch {
		case !ok:
			return false
		case b == ' ' || b == '\t':
			off++
		default:
			return b >= 'a' && b <= 'z' || b == ',' || b == '.' || b == ')' || b == '"' || b == '\'' || b == '`' || b == '?'
		}
	}
}
