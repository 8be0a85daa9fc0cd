// Package cue finds in a text what shows that a tool call was meant.
package cue

import (
	"iter"
	"strings"

	"github.com/callwright/callwright/registry"
)

// IsWordByte reports whether a byte may be part of a word.
func IsWordByte(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '_' || b == '-' || b == '.' || b == '/' || b >= 0x80
}

// Words yields where each word of a text begins and ends.
func Words(text string) iter.Seq2[int, int] {
	return func(yield func(from, to int) bool) {
		for i := 0; i < len(text); {
			if !IsWordByte(text[i]) {
				i++
				continue
			}
			start := i
			for i < len(text) && IsWordByte(text[i]) {
				i++
			}
			if !yield(start, i) {
				return
			}
		}
	}
}

// ToolName returns the first known tool's name that stands in a text as a word and
// cannot well be anything else: it has several parts, or it is quoted, or a bracket
// or colon follows it.
func ToolName(text string, tools *registry.Registry) string {
	if tools == nil || tools.Len() == 0 {
		return ""
	}
	for start, i := range Words(text) {
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
		if strings.ContainsAny(word, "_-./") || isMixed(word) || strings.IndexByte("\"'`", before) >= 0 && before == after ||
			strings.IndexByte("({:[", after) >= 0 {
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
