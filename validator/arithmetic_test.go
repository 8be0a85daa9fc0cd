package validator

import (
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/callwright/callwright/internal/lenient"
)

func TestArithmetic(t *testing.T) {
	for text, want := range map[string]string{
		"1+2": "3", "2**3": "8", "2 ** 3 ** 2": "512", "-2**2": "-4", "(1 + 2)*3": "9", "1/4": "0.25", "1/3": "0.3333333333333333", "7 // 2": "3", "-7//2": "-4",
		"7.5 // 2": "3", "7 % 4": "3", "10**12": "1000000000000", "1/2**40": "9.094947017729282e-13", "3 - -2": "5", "1e3": "", "5": "", "-5": "", "": "", "1+": "", "+1": "",
		"1 2 + 3": "", "1. 5 + 1": "", "2 * * 3": "", "1.2.3+1": "", "9**9**9": "", "1<<10": "", "1<<1000000000": "", `"x"*10**12`: "", `"a" + b`: "", "10**100": "", "0.1**64**2": "",
		"7 // 0": "", "1/0": "", "5 % 0": "", "(1+2": "", "1+2)": "", "1//": "", "x+1": "", "1,000+1": "", "((((((((((1+1))))))))))": "", strings.Repeat("1+", 40) + "1": "",
		"------------1": "", "1 / / 2": "", "3 /// 2": "", "2024-01-15": "", "555-1234": "", "5-10": "", "1/2/2024": "", "10 - 3": "7", "01/02": "",
	} {
		if got, ok := arithmetic(text); got != want || ok != (want != "") {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

// TestArithmeticIsWhole holds that a text is worked out from its first byte to its last, to
// a number that JSON can write: what stands behind an expression makes it none, or changes
// what it is.
func TestArithmeticIsWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune("0123456789.+-*/%() ")), 1, 20, -1).Draw(t, "text")
		number, ok := arithmetic(text)
		if !ok {
			return
		}
		if !lenient.IsNumber(number) {
			t.Fatalf("%q is %q", text, number)
		}
		for _, more := range []string{" b", "x", "<<3", "&1", ")", "**", "\"", ",", "_1"} {
			if n, ok := arithmetic(text + more); ok {
				t.Fatalf("%q is %q", text+more, n)
			}
		}
		if n, ok := arithmetic(text + "+1"); ok {
			a, _ := new(big.Rat).SetString(number)
			b, _ := new(big.Rat).SetString(n)
			if d, exact := b.Sub(b, a).Float64(); exact && d != 1 && !strings.ContainsAny(number+n, "e.") {
				t.Fatalf("%q is %s, with 1 more %s", text, number, n)
			}
		}
	})
}
