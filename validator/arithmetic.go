package validator

import (
	"math/big"
	"regexp"
	"strconv"
	"strings"
)

// Limits of the arithmetic that is worked out: what a model writes as a number,
// not what a computer can be kept busy with.
const (
	maxExpressionBytes = 64
	maxExpressionDepth = 8
	maxPower           = 64
	maxResultBits      = 256
	maxDecimals        = 32
)

// arithmetic works out a constant expression of numbers, + - * / // % ** and brackets, as
// models write it where a number is wanted: 1/6, 2**3, 7 // 2. // rounds down, as in
// Python. ok is false for anything else, a bare number too: what is no constant
// arithmetic to its end is no number at all.
func arithmetic(text string) (number string, ok bool) {
	if len(text) > maxExpressionBytes || !strings.ContainsAny(text, "+-*/%") || strings.Trim(text, "0123456789.+-*/%() ") != "" ||
		numbersNotWorkedOut.MatchString(text) {
		return "", false
	}
	p := &expression{s: text}
	v, ok := p.sum(0)
	if !ok || p.space().s != "" || p.operators == 0 || v.Num().BitLen() > maxResultBits || v.Denom().BitLen() > maxResultBits {
		return "", false
	}
	if v.IsInt() {
		return v.Num().String(), true
	}
	if decimals, exact := v.FloatPrec(); exact && decimals <= maxDecimals {
		return v.FloatString(decimals), true
	}
	near, _ := v.Float64()
	return strconv.FormatFloat(near, 'g', -1, 64), true
}

// numbersNotWorkedOut are dates, telephone numbers and ranges: 2024-01-15, 555-1234, 5-10,
// 1/2/2024.
var numbersNotWorkedOut = regexp.MustCompile(`^\d+(-\d+)+$|^\d+/\d+/\d+$`)

// expression is what is left to read of one.
type expression struct {
	s         string
	operators int
}

// space skips blanks, which may stand between numbers and operators only.
func (p *expression) space() *expression {
	p.s = strings.TrimLeft(p.s, " ")
	return p
}

// eat takes an operator, unless a longer one stands there.
func (p *expression) eat(op string) bool {
	if p.space(); !strings.HasPrefix(p.s, op) || len(op) == 1 && (op == "*" || op == "/") && strings.HasPrefix(p.s, op+op) {
		return false
	}
	p.s = p.s[len(op):]
	p.operators++
	return true
}

func (p *expression) sum(depth int) (*big.Rat, bool) {
	v, ok := p.product(depth)
	for ok {
		var w *big.Rat
		switch {
		case p.eat("+"):
			if w, ok = p.product(depth); ok {
				v.Add(v, w)
			}
		case p.eat("-"):
			if w, ok = p.product(depth); ok {
				v.Sub(v, w)
			}
		default:
			return v, true
		}
	}
	return nil, false
}

func (p *expression) product(depth int) (*big.Rat, bool) {
	v, ok := p.factor(depth)
	for ok {
		var w *big.Rat
		switch {
		case p.eat("*"):
			if w, ok = p.factor(depth); ok {
				v.Mul(v, w)
			}
		case p.eat("//"):
			if w, ok = p.factor(depth); ok && w.Sign() != 0 {
				v.SetInt(floor(v.Quo(v, w)))
			} else {
				return nil, false
			}
		case p.eat("/"):
			if w, ok = p.factor(depth); ok && w.Sign() != 0 {
				v.Quo(v, w)
			} else {
				return nil, false
			}
		case p.eat("%"):
			if w, ok = p.factor(depth); !ok || w.Sign() <= 0 || v.Sign() < 0 || !v.IsInt() || !w.IsInt() {
				return nil, false
			}
			v.SetInt(new(big.Int).Mod(v.Num(), w.Num()))
		default:
			return v, true
		}
	}
	return nil, false
}

// floor is the greatest whole number that is not more.
func floor(v *big.Rat) *big.Int {
	// Div rounds so that the rest is not negative: down, since denominators are positive.
	return new(big.Int).Div(v.Num(), v.Denom())
}

// factor reads a sign, which binds less than a power: -2**2 is -4.
func (p *expression) factor(depth int) (*big.Rat, bool) {
	if depth > maxExpressionDepth {
		return nil, false
	}
	if p.space(); strings.HasPrefix(p.s, "-") {
		p.s = p.s[1:]
		v, ok := p.factor(depth + 1)
		if !ok {
			return nil, false
		}
		return v.Neg(v), true
	}
	return p.power(depth)
}

// power reads a power. Its exponent may be a power in turn: 2**3**2 is 2**9.
func (p *expression) power(depth int) (*big.Rat, bool) {
	v, ok := p.atom(depth)
	if !ok || !p.eat("**") {
		return v, ok
	}
	w, ok := p.factor(depth + 1)
	if !ok || !w.IsInt() || w.Sign() < 0 || w.Num().Cmp(big.NewInt(maxPower)) > 0 || max(v.Num().BitLen(), v.Denom().BitLen()) > maxPower {
		return nil, false
	}
	out := big.NewRat(1, 1)
	for range w.Num().Int64() {
		out.Mul(out, v)
	}
	return out, true
}

func (p *expression) atom(depth int) (*big.Rat, bool) {
	if p.space(); strings.HasPrefix(p.s, "(") {
		p.s = p.s[1:]
		v, ok := p.sum(depth + 1)
		if p.space(); !ok || !strings.HasPrefix(p.s, ")") {
			return nil, false
		}
		p.s = p.s[1:]
		return v, true
	}
	n := 0
	for n < len(p.s) && (p.s[n] >= '0' && p.s[n] <= '9' || p.s[n] == '.') {
		n++
	}
	v, ok := new(big.Rat).SetString(p.s[:n])
	padded := n > 1 && p.s[0] == '0' && p.s[1] != '.' // 007 is a name, 01 a month
	p.s = p.s[n:]
	return v, ok && n > 0 && !padded
}
