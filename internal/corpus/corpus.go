// Package corpus makes texts such as models write, with what they mean: a labelled
// sample for fitting and checking the confidence, and for tests at large.
package corpus

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"

	"github.com/callwright/callwright/registry"
)

// Difficulty says how hard a text is to read.
type Difficulty string

// The difficulties.
const (
	Easy   Difficulty = "easy"   // as it should be
	Medium Difficulty = "medium" // with a mutation, or other text around it
	Hard   Difficulty = "hard"   // with several, or meant to mislead
)

// Call is a call that a text means.
type Call struct {
	Tool       string
	Parameters map[string]any
}

// Case is a text and what it means.
type Case struct {
	ID   string
	Text string
	// Want are the calls that the text means, none where it means none.
	Want []Call
	// ShouldSucceed says that there is at least one.
	ShouldSucceed bool
	// Format is a dialect's name, or that of a shape of JSON.
	Format     string
	Difficulty Difficulty
	// Tags name the mutations and what stands around the calls.
	Tags []string
	// Tools are those that may be called.
	Tools *registry.Registry
}

// Generate makes so many cases out of a seed: the same seed always makes the same.
func Generate(seed uint64, n int) []Case {
	g := &generator{r: rand.New(rand.NewPCG(seed, 0x5eed)), tools: tools()}
	cases := make([]Case, n)
	for i := range cases {
		cases[i] = g.next()
		cases[i].ID = fmt.Sprintf("generated_%d_%d", seed, i)
	}
	return cases
}

type generator struct {
	r     *rand.Rand
	tools *registry.Registry
}

func (g *generator) one(of ...string) string { return of[g.r.IntN(len(of))] }

func (g *generator) chance(p float64) bool { return g.r.Float64() < p }

// next makes a case: four of five mean a call.
func (g *generator) next() Case {
	c := Case{Tools: g.tools, Difficulty: Easy}
	if !g.chance(0.8) {
		g.misleading(&c)
		c.Want = nil
		return c
	}
	for range 1 + min(g.r.IntN(4)*g.r.IntN(2), 2) {
		c.Want = append(c.Want, g.call())
	}
	c.ShouldSucceed = true
	g.write(&c)
	changes := 0
	if g.chance(0.5) {
		for range 1 + g.r.IntN(2) {
			if !c.delicate() && g.mutate(&c) {
				changes++
			}
		}
	}
	if g.chance(0.5) {
		g.surround(&c)
		changes++
	}
	switch {
	case changes > 1:
		c.Difficulty = Hard
	case changes == 1:
		c.Difficulty = Medium
	}
	return c
}

func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // what is encoded was made here
	}
	return string(b)
}
