package prefix_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/callwright/callwright/internal/prefix"
)

// TestSet holds that a set has the beginnings of its words and no others.
func TestSet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOf(rapid.StringN(0, 4, -1)).Draw(t, "words")
		var s prefix.Set
		want, first := map[[2]byte]bool{}, map[byte]bool{}
		for _, w := range words {
			s.Add(w)
			switch len(w) {
			case 0:
			case 1:
				first[w[0]] = true
			default:
				want[[2]byte{w[0], w[1]}] = true
			}
		}
		for a := range 256 {
			for b := range 256 {
				if got := s.Has(byte(a), byte(b)); got != (want[[2]byte{byte(a), byte(b)}] || first[byte(a)]) {
					t.Fatalf("%q: Has(%d, %d) is %v", words, a, b, got)
				}
			}
		}
	})
}
