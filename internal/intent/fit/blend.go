package main

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/callwright/callwright/internal/intent"
)

// foldsOf divides the keys of examples into n parts.
func foldsOf(list []*example, key func(*example) string, n int, seed uint64) map[string]int {
	names := map[string]bool{}
	for _, e := range list {
		names[key(e)] = true
	}
	sorted := slices.Sorted(maps.Keys(names))
	r := rand.New(rand.NewPCG(seed, 3))
	r.Shuffle(len(sorted), func(i, j int) { sorted[i], sorted[j] = sorted[j], sorted[i] })
	out := map[string]int{}
	for i, s := range sorted {
		out[s] = i % n
	}
	return out
}

const folds = 8

// inputs are what the trees see of an example.
func (e *example) inputs() []float32 { return append(slices.Clone(e.dense), e.wording[:]...) }

// fitBlend fits the linear model of grams and the trees upon it. What the linear model
// says of a text that it is fitted on is worth nothing, so the trees learn from what
// models say that were fitted without the text's group.
func fitBlend(train []*example, o *options) *intent.Model {
	l := fitLinear(train, o, o.linear)
	part := foldsOf(train, func(e *example) string { return e.group }, folds, o.seed)
	parallel(folds, func(k int) {
		var rest, held []*example
		for _, e := range train {
			if part[e.group] == k {
				held = append(held, e)
			} else {
				rest = append(rest, e)
			}
		}
		m := fitLinear(rest, o, o.linear)
		for _, e := range held {
			e.wording = m.wording(e)
		}
	})
	t := fitTrees(rows(train), o.trees, o.seed)
	m := &intent.Model{Scale: 1, Bias: l.bias}
	m.Grams, m.Step = quantize(l.grams)
	t.put(m)
	if !o.noCalibration {
		m.Scale, m.Shift = o.calibration(train, part)
	}
	return m
}

// rows are examples as the trees learn from them.
func rows(list []*example) (d data) {
	for _, e := range list {
		d.x, d.y, d.w = append(d.x, e.inputs()), append(d.y, e.act), append(d.w, e.weight*3)
	}
	return d
}

// calibration fits the scale and the shift on what trees say that were fitted without an
// example's group, and without its situation alone: what is met later resembles the texts
// in wording more than a held out idea does, and less than a held out text.
func (o *options) calibration(train []*example, part map[string]int) (scale, shift float32) {
	situation := func(e *example) string { return e.c.Text.Situation }
	situations := foldsOf(train, situation, folds, o.seed+1)
	var logits []float64
	var acts []bool
	var weights []float64
	for k := range folds / 2 {
		var rest, held []*example
		for _, e := range train {
			in := part[e.group] == k
			if k%2 == 1 {
				in = situations[situation(e)] == k
			}
			if in {
				held = append(held, e)
			} else {
				rest = append(rest, e)
			}
		}
		t := fitTrees(rows(rest), o.trees, o.seed)
		for _, e := range held {
			if e.firm && !e.varied && !marked(e) {
				logits, acts, weights = append(logits, t.score(e.inputs())), append(acts, e.act), append(weights, float64(e.weight))
			}
		}
	}
	a, b := platt(logits, acts, weights)
	return float32(a), float32(b)
}

// marked reports whether an example has a marker or a tag, for which the prior differs.
func marked(e *example) bool { return e.c.Form == intent.Trained || e.c.Form == intent.Tag }

// platt fits sigmoid(a*logit+b) by Newton's method.
func platt(logits []float64, acts []bool, weights []float64) (a, b float64) {
	a = 1
	for range 50 {
		var ga, gb, haa, hab, hbb float64
		for i, x := range logits {
			p := sigmoid(a*x + b)
			d := p
			if acts[i] {
				d--
			}
			h := p * (1 - p) * weights[i]
			d *= weights[i]
			ga, gb = ga+d*x, gb+d
			haa, hab, hbb = haa+h*x*x, hab+h*x, hbb+h
		}
		det := haa*hbb - hab*hab
		if det < 1e-12 {
			break
		}
		a -= (hbb*ga - hab*gb) / det
		b -= (haa*gb - hab*ga) / det
	}
	return a, b
}

// quantize writes weights in 255 steps.
func quantize(w []float32) ([]int8, float32) {
	abs := make([]float32, 0, len(w))
	for _, v := range w {
		if v != 0 {
			abs = append(abs, float32(math.Abs(float64(v))))
		}
	}
	q := make([]int8, len(w))
	if len(abs) == 0 {
		return q, 1
	}
	slices.Sort(abs)
	step := abs[len(abs)*999/1000] / 127
	for i, v := range w {
		q[i] = int8(math.Round(float64(max(-127, min(127, v/step)))))
	}
	return q, step
}
