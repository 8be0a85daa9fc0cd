package interceptor

import (
	"testing"
	"time"
)

// TestLearnedExpires checks that what was learned of the upstream is forgotten.
func TestLearnedExpires(t *testing.T) {
	l := newLearned()
	l.learn("ollama")
	l.noteWithoutTools("m")
	if l.known() != "ollama" || !l.lacksTools("m") || l.lacksTools("n") {
		t.Errorf("%q %v", l.known(), l.lacksTools("m"))
	}
	l.until = time.Now().Add(-time.Second)
	l.withoutTools.Add("m", l.until)
	if l.known() != "" || l.lacksTools("m") {
		t.Errorf("%q %v", l.known(), l.lacksTools("m"))
	}
}
