package main

import (
	"math"
	"math/rand/v2"

	"github.com/callwright/callwright/internal/intent"
)

// linear is a logistic model of grams and dense features.
type linear struct {
	grams  []float32
	dense  []float32
	bias   float32
	useG   bool
	useD   bool
	gramsA []float32
	denseA []float32
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

func (m *linear) score(e *example) float64 {
	s := float64(m.bias)
	if m.useG {
		for i, g := range e.grams {
			s += float64(m.grams[g] * e.scale[i])
		}
	}
	if m.useD {
		for i, v := range e.dense {
			if v != 0 {
				s += float64(m.dense[i] * v)
			}
		}
	}
	return s
}

type linearOptions struct {
	epochs       int
	rate         float64
	l2g, l2d     float64
	useG, useD   bool
	dropG, dropD float64
}

func fitLinear(train []*example, o linearOptions, seed uint64) *linear {
	m := &linear{grams: make([]float32, gramTable), dense: make([]float32, intent.NumDense), useG: o.useG, useD: o.useD}
	m.gramsA, m.denseA = make([]float32, gramTable), make([]float32, intent.NumDense)
	r := rand.New(rand.NewPCG(seed, 1))
	order := r.Perm(len(train))
	var biasA float64
	n := 0.0
	for _, e := range train {
		n += float64(e.weight)
	}
	for ep := range o.epochs {
		r.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		rate := o.rate * (1 - float64(ep)/float64(o.epochs))
		for _, k := range order {
			e := train[k]
			y := 0.0
			if e.act {
				y = 1
			}
			d := (sigmoid(m.score(e)) - y) * float64(e.weight)
			biasA += d * d
			m.bias -= float32(rate * d / (math.Sqrt(biasA) + 1e-6))
			if m.useG {
				for i, g := range e.grams {
					if o.dropG > 0 && r.Float64() < o.dropG {
						continue
					}
					w := &m.grams[g]
					gr := float32(d)*e.scale[i] + float32(o.l2g)**w
					m.gramsA[g] += gr * gr
					*w -= float32(rate) * gr / (float32(math.Sqrt(float64(m.gramsA[g]))) + 1e-6)
				}
			}
			if m.useD {
				for i, v := range e.dense {
					if v == 0 {
						continue
					}
					w := &m.dense[i]
					gr := float32(d)*v + float32(o.l2d)**w
					m.denseA[i] += gr * gr
					*w -= float32(rate) * gr / (float32(math.Sqrt(float64(m.denseA[i]))) + 1e-6)
				}
			}
		}
	}
	return m
}
