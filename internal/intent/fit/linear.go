package main

import (
	"math"
	"math/rand/v2"

	"github.com/callwright/callwright/internal/intent"
)

// linear is a logistic model of grams and, where it is to stand alone, of the dense
// features.
type linear struct {
	grams, dense []float32
	bias         float32
}

type linearOptions struct {
	epochs int
	rate   float64
	l2     float64
	dense  bool
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// wording returns what the grams say, by place and in all.
func (m *linear) wording(e *example) (w [intent.Places + 1]float32) {
	for i, g := range e.grams {
		w[e.place[i]] += m.grams[g] * e.scale[i]
	}
	total := m.bias
	for _, v := range w[:intent.Places] {
		total += v
	}
	w[intent.Places] = total
	return w
}

func (m *linear) score(e *example) float64 {
	w := m.wording(e)
	s := w[intent.Places]
	for i, v := range m.dense {
		if e.dense[i] != 0 {
			s += v * e.dense[i]
		}
	}
	return float64(s)
}

// fitLinear goes over the examples in random order, with steps as in Adagrad.
func fitLinear(train []*example, o *options, l linearOptions) *linear {
	m := &linear{grams: make([]float32, 1<<o.gramBits)}
	seen := make([]float32, len(m.grams))
	var seenDense []float32
	if l.dense {
		m.dense, seenDense = make([]float32, intent.NumDense), make([]float32, intent.NumDense)
	}
	r := rand.New(rand.NewPCG(o.seed, 1))
	order := r.Perm(len(train))
	var seenBias float64
	step := func(w, sum *float32, g, rate float32) {
		*sum += g * g
		*w -= rate * g / (float32(math.Sqrt(float64(*sum))) + 1e-6)
	}
	for epoch := range l.epochs {
		r.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		rate := l.rate * (1 - float64(epoch)/float64(l.epochs))
		for _, k := range order {
			e := train[k]
			d := sigmoid(m.score(e))
			if e.act {
				d--
			}
			d *= float64(e.weight)
			seenBias += d * d
			m.bias -= float32(rate * d / (math.Sqrt(seenBias) + 1e-6))
			for i, g := range e.grams {
				step(&m.grams[g], &seen[g], float32(d)*e.scale[i]+float32(l.l2)*m.grams[g], float32(rate))
			}
			for i := range m.dense {
				if v := e.dense[i]; v != 0 {
					step(&m.dense[i], &seenDense[i], float32(d)*v+1e-4*m.dense[i], float32(rate))
				}
			}
		}
	}
	return m
}
