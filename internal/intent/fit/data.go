package main

import (
	"math"
	"math/rand/v2"
	"runtime"
	"sync"

	"github.com/callwright/callwright/internal/intent"
	"github.com/callwright/callwright/internal/intent/sample"
)

// example is a case's features and label.
type example struct {
	c      *sample.Case
	dense  []float32
	grams  []uint32 // indices in the table of grams
	scale  []float32
	act    bool
	firm   bool
	weight float32
	group  string
	side   float32 // a first model's answer, where a second one builds on it
}

const (
	gramBits  = 20
	gramTable = 1 << gramBits
)

func index(g intent.Gram) uint32 {
	h := g.Hash ^ uint32(g.Place)*0x9E3779B1 ^ uint32(g.Kind)*0x7FEB352D
	h ^= h >> 16
	h *= 0x85EBCA6B
	h ^= h >> 13
	h *= 0xC2B2AE35
	h ^= h >> 16
	return h & (gramTable - 1)
}

// write renders texts n times and takes the features.
func write(texts []sample.Text, g *sample.Groups, n int, seed uint64, vary, plain bool) []*example {
	out := make([][]*example, len(texts))
	var wg sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			f := &intent.Features{}
			for i := w; i < len(texts); i += workers {
				t := &texts[i]
				r := rand.New(rand.NewPCG(seed, uint64(i)))
				for k := range n {
					cases := t.Write(r, sample.Options{Vary: vary, Plain: plain && k == 0})
					for j := range cases {
						out[i] = append(out[i], newExample(&cases[j], f, g, float32(1)/float32(n)))
					}
				}
			}
		}()
	}
	wg.Wait()
	var all []*example
	for _, l := range out {
		all = append(all, l...)
	}
	return all
}

func newExample(c *sample.Case, f *intent.Features, g *sample.Groups, weight float32) *example {
	f.Read(&c.Context)
	e := &example{c: c, act: c.Call.Act(), firm: c.Call.IsFirm(), weight: weight, group: g.Of(c.Text.Situation)}
	e.dense = append(e.dense, f.Dense[:]...)
	var n [8]int
	for _, x := range f.Grams {
		n[x.Place]++
	}
	e.grams = make([]uint32, len(f.Grams))
	e.scale = make([]float32, len(f.Grams))
	for i, x := range f.Grams {
		e.grams[i] = index(x)
		e.scale[i] = float32(1 / math.Sqrt(float64(n[x.Place])))
	}
	if !e.firm {
		e.weight *= 0.3
	}
	return e
}
