package validator

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"strconv"

	"github.com/callwright/callwright/internal/lenient"
	"github.com/callwright/callwright/internal/text"
)

// bound is a number that a schema compares with.
type bound struct {
	exact *big.Rat
	near  float64 // the nearest one
	whole int64   // its value, if isWhole
	is    bool    // it is a whole number that an int64 holds
}

func newBound(r *big.Rat) *bound {
	if r == nil {
		return nil
	}
	b := &bound{exact: r}
	b.near, _ = r.Float64()
	if r.IsInt() && r.Num().IsInt64() {
		b.whole, b.is = r.Num().Int64(), true
	}
	return b
}

// maxInt64Digits is how many digits a number may have to surely fit into an int64.
const maxInt64Digits = 18

// small reads a number without fraction and exponent, of few digits.
func small(n string) (int64, bool) {
	if len(n) > maxInt64Digits || !isInteger(n) {
		return 0, false
	}
	i, err := strconv.ParseInt(n, 10, 64)
	return i, err == nil
}

// compare compares a number as JSON writes it with a bound: -1 if it is less, 1 if it is
// more. The number must not be too large to calculate with.
func (b *bound) compare(n string) int {
	if b.is {
		if i, ok := small(n); ok {
			switch {
			case i < b.whole:
				return -1
			case i > b.whole:
				return 1
			}
			return 0
		}
	}
	// Rounding keeps the order: where the nearest floats differ the numbers do likewise.
	if f, err := strconv.ParseFloat(n, 64); err == nil && !math.IsInf(b.near, 0) {
		switch {
		case f < b.near:
			return -1
		case f > b.near:
			return 1
		}
	}
	r, ok := new(big.Rat).SetString(n)
	if !ok {
		return 0
	}
	return r.Cmp(b.exact)
}

// divides reports whether a number is a multiple of the bound.
func (b *bound) divides(n string) bool {
	if b.is && b.whole != 0 {
		if i, ok := small(n); ok {
			return i%b.whole == 0
		}
	}
	r, ok := new(big.Rat).SetString(n)
	return ok && b.exact.Sign() != 0 && r.Quo(r, b.exact).IsInt()
}

// isInteger reports whether a number is written without a fraction or exponent.
func isInteger(n string) bool {
	for i := range len(n) {
		if (n[i] < '0' || n[i] > '9') && (n[i] != '-' || i > 0) {
			return false
		}
	}
	return true
}

// isWhole reports whether a number has no fraction, such as 3, 3.0 and 1e2.
func isWhole(n string) bool {
	if isInteger(n) {
		return true
	}
	if text.HugeNumber(n) {
		return false
	}
	r, ok := new(big.Rat).SetString(n)
	return ok && r.IsInt()
}

// wholeNumber writes a number without a fraction: 3.0 as 3, 1e2 as 100.
func wholeNumber(n string) (string, bool) {
	if text.HugeNumber(n) {
		return "", false
	}
	r, ok := new(big.Rat).SetString(n)
	if !ok || !r.IsInt() {
		return "", false
	}
	n = r.Num().String()
	return n, !text.HugeNumber(n)
}

// numberText returns a number as JSON writes it; ok is false if the value is none.
func numberText(v any) (n string, ok bool) {
	switch x := v.(type) {
	case json.Number:
		return string(x), lenient.IsNumber(string(x))
	case float64:
		return fmt.Sprint(x), !math.IsNaN(x) && !math.IsInf(x, 0)
	case float32:
		return fmt.Sprint(x), !math.IsNaN(float64(x)) && !math.IsInf(float64(x), 0)
	case int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64:
		return fmt.Sprint(x), true
	}
	return "", false
}

// sameNumber compares numbers as JSON writes them by what they are worth.
func sameNumber(a, b string) bool {
	if a == b {
		return true
	}
	if text.HugeNumber(a) || text.HugeNumber(b) {
		return false
	}
	if x, ok := small(a); ok {
		if y, ok := small(b); ok {
			return x == y
		}
	}
	x, ok1 := new(big.Rat).SetString(a)
	y, ok2 := new(big.Rat).SetString(b)
	return ok1 && ok2 && x.Cmp(y) == 0
}

// equal compares JSON values, numbers by what they are worth.
func equal(a, b any) bool {
	switch x := a.(type) {
	case nil:
		return b == nil
	case bool:
		y, ok := b.(bool)
		return ok && x == y
	case string:
		y, ok := b.(string)
		return ok && x == y
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for k, e := range x {
			f, ok := y[k]
			if !ok || !equal(e, f) {
				return false
			}
		}
		return true
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for i := range x {
			if !equal(x[i], y[i]) {
				return false
			}
		}
		return true
	}
	if n, ok := numberText(a); ok {
		m, ok := numberText(b)
		return ok && sameNumber(n, m)
	}
	return reflect.DeepEqual(a, b)
}
