package lenient

import "testing"

func TestUTF8(t *testing.T) {
	// Each maximal part that is no UTF-8 gives one replacement: Unicode 16, table 3-8.
	got := ValidUTF8([]byte("\x61\xF1\x80\x80\xE1\x80\xC2\x62\x80\x63\x80\xBF\x64"))
	if want := "a\uFFFD\uFFFD\uFFFDb\uFFFDc\uFFFD\uFFFDd"; got != want {
		t.Errorf("%q, not %q", got, want)
	}
}
