package lenient

import (
	"bytes"
	"testing"
)

// TestCursorForgets checks that a cursor forgets what nobody will ask for, and nothing
// else.
func TestCursorForgets(t *testing.T) {
	chunk := bytes.Repeat([]byte("0123456789"), 1000)
	r := Start(func(c *Cursor) error {
		for {
			c.Seek(c.Limit())
			c.Keep(c.Offset() - 10)
			if !c.Fill() {
				return nil
			}
		}
	})
	defer r.Stop()
	c := &r.Cursor
	for n := 1; n <= 20; n++ {
		r.Feed(chunk)
		if c.Limit() != n*len(chunk) || c.Offset() != c.Limit() || c.Kept() > c.Offset()-10 {
			t.Fatalf("after %d chunks: offset %d, limit %d, kept from %d on", n, c.Offset(), c.Limit(), c.Kept())
		}
		if got := c.String(c.Offset()-10, c.Offset()); got != "0123456789" {
			t.Fatalf("the last bytes are %q", got)
		}
	}
	if held := c.Limit() - c.Kept(); held > 3*len(chunk) {
		t.Errorf("%d bytes are held", held)
	}
}

// TestHasPrefixAt checks that a cursor waits only as long as what has come may be the
// text that is looked for.
func TestHasPrefixAt(t *testing.T) {
	for _, tt := range []struct {
		text  string
		waits bool
		is    bool
	}{
		{"", true, false}, {"<", true, false}, {"<end", true, false}, {"<end>", false, true}, {"<end> more", false, true}, {"<enx", false, false}, {"x", false, false},
	} {
		asked, is := false, false
		r := Start(func(c *Cursor) error {
			is = c.HasPrefix("<end>")
			asked = true
			return nil
		})
		r.Feed([]byte(tt.text))
		if asked == tt.waits {
			t.Errorf("%q: waits %v", tt.text, !asked)
		}
		r.End()
		if is != tt.is || !r.Done() {
			t.Errorf("%q: %v", tt.text, is)
		}
		r.Stop()
	}
}

func TestSpaceEnd(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "x": 0, " \t\r\nx": 4, "\u00a0x": 2, "\u3000\ufeff\u200b\u202fx": 12, "\u00e9": 0, "\u2014": 0, "\xc2": 0, " \xe2\x80": 1,
	} {
		if got := NewText(text).SpaceEnd(0); got != want {
			t.Errorf("%q: %d, not %d", text, got, want)
		}
	}
}
