package main

import (
	"math"
	"math/rand/v2"
	"runtime"
	"sync"

	"github.com/callwright/callwright/internal/intent"
	"github.com/callwright/callwright/internal/intent/sample"
)

// example is a call in one form, as a model sees it.
type example struct {
	c      *sample.Case
	dense  []float32
	grams  []uint32  // places in the table of grams
	scale  []float32 // of each gram
	place  []uint8   // of each gram
	act    bool
	firm   bool
	varied bool // the text was changed for fitting
	weight float32
	group  string

	// wording is what a linear model that has not seen the text says of its grams: by
	// place, then in all.
	wording [intent.Places + 1]float32
}

// options say what is fitted on.
type options struct {
	gramBits                 int
	noGrams, noCues, noShape bool
	noAfter, noCalibration   bool
	trees                    treeOptions
	linear                   linearOptions
	renderings               int
	seed                     uint64
}

// render writes each text n times and takes the features of its calls.
func render(texts []sample.Text, group func(*sample.Text) string, n int, seed uint64, vary bool, o *options) []*example {
	out := make([][]*example, len(texts))
	var wg sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		wg.Go(func() {
			f := &intent.Features{}
			for i := w; i < len(texts); i += workers {
				t := &texts[i]
				r := rand.New(rand.NewPCG(seed, uint64(i)))
				for k := range n {
					cases := t.Write(r, sample.Options{Vary: vary && k > 0})
					for j := range cases {
						e := newExample(&cases[j], f, o)
						e.group, e.weight, e.varied = group(t), e.weight/float32(n), vary && k > 0
						out[i] = append(out[i], e)
					}
				}
			}
		})
	}
	wg.Wait()
	var all []*example
	for _, l := range out {
		all = append(all, l...)
	}
	return all
}

// unsure is the weight of a label on which careful people disagree.
const unsure = 0.3

func newExample(c *sample.Case, f *intent.Features, o *options) *example {
	about := c.Context
	if o.noAfter {
		about.After, about.Ends = "", false
	}
	f.Read(&about)
	e := &example{c: c, act: c.Call.Act(), firm: c.Call.IsFirm(), weight: 1}
	e.dense = append(e.dense, f.Dense[:intent.NumDense]...)
	for i := range e.dense {
		if o.noCues && i < intent.NumCueInputs || o.noShape && i >= intent.NumCueInputs {
			e.dense[i] = 0
		}
	}
	if !o.noGrams {
		var n [8]int
		for _, g := range f.Grams {
			n[g.Place()]++
		}
		mask := uint32(1)<<o.gramBits - 1
		e.grams, e.scale, e.place = make([]uint32, len(f.Grams)), make([]float32, len(f.Grams)), make([]uint8, len(f.Grams))
		for i, g := range f.Grams {
			e.grams[i], e.place[i] = uint32(g)>>3&mask, uint8(g.Place())
			e.scale[i] = float32(1 / math.Sqrt(float64(n[g.Place()])))
		}
	}
	if !e.firm {
		e.weight = unsure
	}
	return e
}
