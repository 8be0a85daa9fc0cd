package intent

import "strings"

// IsWord reports whether a rune belongs to a word: what has none says nothing.
func IsWord(r rune) bool { return saysSomething(r) }

// Says reports whether a text has a word, calls in it left out.
func Says(text string) bool { return strings.IndexFunc(text, IsWord) >= 0 }
