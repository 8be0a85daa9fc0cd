// Package prefix rules out quickly that one of many words stands somewhere.
package prefix

// Set is a set of the first two bytes of words. The zero value is empty.
type Set struct{ pairs [256][4]uint64 }

// Add adds a word. Of a word of one byte any byte may be the second.
func (s *Set) Add(word string) {
	switch len(word) {
	case 0:
	case 1:
		s.AddAny(word[0])
	default:
		s.pairs[word[0]][word[1]>>6] |= 1 << (word[1] & 63)
	}
}

// AddAny adds all words that begin with a byte.
func (s *Set) AddAny(first byte) {
	s.pairs[first] = [4]uint64{^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0)}
}

// Has reports whether a word may begin with two bytes.
func (s *Set) Has(first, second byte) bool {
	return s.pairs[first][second>>6]&(1<<(second&63)) != 0
}
