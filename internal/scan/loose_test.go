package scan

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/callwright/callwright/internal/lenient"
)

// TestMatchAny holds that leaving patterns out by their first byte changes no match.
func TestMatchAny(t *testing.T) {
	pattern := rapid.StringMatching(`[<｜▁:*/a|_]{1,5}`)
	rapid.Check(t, func(t *rapid.T) {
		p := pattern.Draw(t, "pattern")
		if got, want := isLoose(p), strings.ContainsAny(p, "｜▁") || strings.Contains(p, ":*"); got != want {
			t.Fatalf("isLoose(%q) is %v, want %v", p, got, want)
		}
		patterns := rapid.SliceOfN(pattern, 0, 3).Draw(t, "patterns")
		text := rapid.StringMatching(`[<｜▁:/a|_ ]{0,8}`).Draw(t, "text")
		want := -1
		for _, p := range patterns {
			want = max(want, matchLoose(lenient.NewText(text), 0, p))
		}
		if got := matchAny(lenient.NewText(text), 0, patterns); got != want {
			t.Fatalf("matchAny(%q, %q) is %d, want %d", text, patterns, got, want)
		}
	})
}
