package fallback

import (
	"iter"
	"strings"

	"github.com/callwright/callwright/extractor"
	"github.com/callwright/callwright/registry"
)

// Signs say what in a text shows that a call was meant. Without one of them the
// text is plain, and no tier is asked.
type Signs struct {
	// Marker says that a dialect's marker or the provider's own field announced a call.
	Marker bool
	// Broken says that there is an object that looks like a call.
	Broken bool
	// Name is a known tool's name that stands in the text as it is; "" if none does.
	Name string
	// Words says that the words of a known tool's name stand in the text.
	Words bool
}

// Plainly reports whether the text shows it without any guessing.
func (s Signs) Plainly() bool { return s.Marker || s.Broken || s.Name != "" }

// Any reports whether there is any sign.
func (s Signs) Any() bool { return s.Plainly() || s.Words }

// SignsIn looks for signs in a text and in what failed in it.
func SignsIn(text string, failures []Failure, tools *registry.Registry) (s Signs) {
	for i := range failures {
		if failures[i].Provenance == extractor.Bare {
			s.Broken = true
		} else {
			s.Marker = true
		}
	}
	s.Name = NamedIn(text, tools)
	if !s.Any() {
		s.Words = wordsIn(text, tools)
	}
	return s
}

func isWordByte(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '_' || b == '-' || b == '.' || b == '/' || b >= 0x80
}

// words yields where each word of a text begins and ends.
func words(text string) iter.Seq2[int, int] {
	return func(yield func(from, to int) bool) {
		for i := 0; i < len(text); {
			if !isWordByte(text[i]) {
				i++
				continue
			}
			start := i
			for i < len(text) && isWordByte(text[i]) {
				i++
			}
			if !yield(start, i) {
				return
			}
		}
	}
}

// NamedIn returns the first known tool's name that stands in a text as a word and
// cannot well be anything else: it has several parts, or it is quoted, or a bracket
// or colon follows it.
func NamedIn(text string, tools *registry.Registry) string {
	if tools == nil || tools.Len() == 0 {
		return ""
	}
	for start, i := range words(text) {
		word := strings.TrimRight(text[start:i], ".-/")
		if len(word) < 2 || len(word) > registry.MaxNameBytes || tools.Get(word) == nil {
			continue
		}
		end := start + len(word)
		before, after := byte(' '), byte(' ')
		if start > 0 {
			before = text[start-1]
		}
		if end < len(text) {
			after = text[end]
		}
		if strings.ContainsAny(word, "_-./") || isMixed(word) || strings.IndexByte("\"'`", before) >= 0 && before == after || strings.IndexByte("({:[", after) >= 0 {
			return word
		}
	}
	return ""
}

// isMixed reports whether a word has a capital letter behind a small one.
func isMixed(word string) bool {
	for i := 1; i < len(word); i++ {
		if word[i] >= 'A' && word[i] <= 'Z' && word[i-1] >= 'a' && word[i-1] <= 'z' {
			return true
		}
	}
	return false
}

// wordsIn reports whether all words of some tool's name stand in a text.
func wordsIn(text string, tools *registry.Registry) bool {
	if tools == nil || tools.Len() == 0 {
		return false
	}
	have := map[string]bool{}
	for _, t := range terms(text) {
		have[t] = true
	}
next:
	for _, tool := range tools.Tools() {
		words := terms(tool.Name)
		for _, w := range words {
			if !have[w] {
				continue next
			}
		}
		if len(words) > 0 {
			return true
		}
	}
	return false
}
