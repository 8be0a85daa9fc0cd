package lenient

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestOddNumberText(t *testing.T) {
	for _, tt := range []struct {
		text, number string
		kind         FixKind
	}{
		{".5", "0.5", OddNumber},
		{"-.5", "-0.5", OddNumber},
		{"1.", "1", OddNumber},
		{"1.e3", "1e3", OddNumber},
		{"+3", "3", OddNumber},
		{"0x1F", "31", OddNumber},
		{"-0b101", "-5", OddNumber},
		{"0o17", "15", OddNumber},
		{"1_000", "1000", OddNumber},
		{"1,000", "1000", Thousands},
		{"12,345,678.5", "12345678.5", Thousands},
		{"", "", 0},
		{"+", "", 0},
		{"01", "", 0},
		{"0,100", "", 0},
		{"1,00", "", 0},
		{"1,0000", "", 0},
		{"10:30", "", 0},
		{"1e", "", 0},
		{"0x", "", 0},
		{"1,000_000", "", 0},
		{strings.Repeat("1", maxOddNumber+1), "", 0},
	} {
		number, kind, ok := OddNumberText(tt.text)
		if ok != (tt.number != "") || ok && (number != tt.number || kind != tt.kind) {
			t.Errorf("%q is %q (%v), %v", tt.text, number, kind, ok)
		}
		if ok && !json.Valid([]byte(number)) {
			t.Errorf("%q is not JSON", number)
		}
	}
}

// TestIsNumber compares with encoding/json, on texts of what numbers are made of.
func TestIsNumber(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringOfN(rapid.RuneFrom([]rune("0123456789-+.eE")), 1, 8, -1).Draw(t, "s")
		if got, want := IsNumber(s), json.Valid([]byte(s)); got != want {
			t.Fatalf("%q: %v", s, got)
		}
	})
}
