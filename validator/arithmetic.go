package validator

import (
	"math/big"
	"strings"
)

// Limits of the arithmetic that is worked out: what a model writes as a number,
// not what a computer can be kept busy with.
const (
	maxExpressionBytes = 64
	maxPower           = 64
	maxResultBits      = 256
)

// arithmetic works out a constant expression of numbers, + - * / % ** and
// brackets, as models write it where a number is wanted: 1/6, 2**3. ok is false
// for anything else, a bare number too.
func arithmetic(text string) (number string, ok bool) {
	if len(text) > maxExpressionBytes || !strings.ContainsAny(text, "+-*/%") || strings.Trim(text, "0123456789.+-*/%() ") != "" {
		return "", false
	}
	p := &expression{s: strings.ReplaceAll(text, " ", "")}
	v, ok := p.sum(0)
	if !ok || p.s != "" || p.operators == 0 || v.Num().BitLen() > maxResultBits || v.Denom().BitLen() > maxResultBits {
		return "", false
	}
	if v.IsInt() {
		return v.Num().String(), true
	}
	s := strings.TrimRight(v.FloatString(17), "0")
	return s, true
}

type expression struct {
	s         string
	operators int
}

func (p *expression) eat(op string) bool {
	if !strings.HasPrefix(p.s, op) || op == "*" && strings.HasPrefix(p.s, "**") {
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
	v, ok := p.power(depth)
	for ok {
		var w *big.Rat
		switch {
		case p.eat("*"):
			if w, ok = p.power(depth); ok {
				v.Mul(v, w)
			}
		case p.eat("/"):
			if w, ok = p.power(depth); ok && w.Sign() != 0 {
				v.Quo(v, w)
			} else {
				return nil, false
			}
		case p.eat("%"):
			if w, ok = p.power(depth); !ok || w.Sign() <= 0 || v.Sign() < 0 || !v.IsInt() || !w.IsInt() {
				return nil, false
			}
			v.SetInt(new(big.Int).Mod(v.Num(), w.Num()))
		default:
			return v, true
		}
	}
	return nil, false
}

func (p *expression) power(depth int) (*big.Rat, bool) {
	v, ok := p.atom(depth)
	if !ok || !p.eat("**") {
		return v, ok
	}
	w, ok := p.atom(depth)
	if !ok || !w.IsInt() || w.Sign() < 0 || w.Num().Cmp(big.NewInt(maxPower)) > 0 || v.Num().BitLen() > maxPower {
		return nil, false
	}
	out := big.NewRat(1, 1)
	for range w.Num().Int64() {
		out.Mul(out, v)
	}
	return out, true
}

func (p *expression) atom(depth int) (*big.Rat, bool) {
	if depth > 8 {
		return nil, false
	}
	if strings.HasPrefix(p.s, "-") {
		p.s = p.s[1:]
		v, ok := p.atom(depth + 1)
		if !ok {
			return nil, false
		}
		return v.Neg(v), true
	}
	if strings.HasPrefix(p.s, "(") {
		p.s = p.s[1:]
		v, ok := p.sum(depth + 1)
		if !ok || !strings.HasPrefix(p.s, ")") {
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
	p.s = p.s[n:]
	return v, ok && n > 0
}
