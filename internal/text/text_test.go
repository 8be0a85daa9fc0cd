package text_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/callwright/callwright/internal/text"
)

func ExampleClip() {
	fmt.Println(text.Clip("größer", 3), text.Clip("groß", 8))
	// Output: gr… groß
}

func ExamplePointer() {
	path := text.Pointer("/items", "a/b")
	fmt.Println(path, text.Keys(path))
	// Output: /items/a~1b [items a/b]
}

// TestCut cuts any text anywhere: what is left is a beginning of it and has no half a
// rune at its end.
func TestCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "text")
		n := rapid.IntRange(0, len(s)).Draw(t, "n")
		whole := text.WholeRunes(s[:n])
		if !utf8.ValidString(s[:whole]) || n-whole >= utf8.UTFMax || whole < n && utf8.FullRuneInString(s[whole:n]) {
			t.Fatalf("of %q %d bytes are whole", s[:n], whole)
		}
		if got := text.WholeRunes([]byte(s[:n])); got != whole {
			t.Fatalf("of bytes %d", got)
		}
		clipped := text.Clip(s, n)
		if rest, cut := strings.CutSuffix(clipped, "…"); cut && n < len(s) && rest != s[:whole] || n == len(s) && clipped != s {
			t.Fatalf("%q is clipped to %q", s, clipped)
		}
	})
	for s, want := range map[string]int{
		"": 0, "a": 1, "\xff": 1, "\x80\x80": 2, "a\xe2\x82": 1, "\xf0\x9f\x98": 0, "\xf0\x9f\x98\x80": 4, "\xed\xa0": 2,
	} {
		if got := text.WholeRunes(s); got != want {
			t.Errorf("of %q %d bytes are whole, want %d", s, got, want)
		}
	}
}

func TestPointers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOfN(rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"~", "/", "~1", "~01", ""})), 1, 5).Draw(t, "keys")
		path := ""
		for _, k := range keys {
			path = text.Pointer(path, k)
		}
		if got := text.Keys(path); !slices.Equal(got, keys) {
			t.Fatalf("%q has the keys %q, want %q", path, got, keys)
		}
	})
	if got := text.Keys(""); got != nil {
		t.Errorf("%q", got)
	}
}

func TestClone(t *testing.T) {
	v := map[string]any{"a": []any{map[string]any{"b": "c"}, nil, 1.5}}
	c := text.Clone(v).(map[string]any)
	if !reflect.DeepEqual(v, c) {
		t.Errorf("%v", c)
	}
	c["a"].([]any)[0].(map[string]any)["b"] = "changed"
	if v["a"].([]any)[0].(map[string]any)["b"] != "c" {
		t.Error("the copy shares memory")
	}
	if got := text.SortedKeys(map[string]int{"b": 1, "a": 2}); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("%q", got)
	}
}
