// Command fit fits the weights of the confidence on one half of the labelled sample
// and writes them to parser/weights.go. Run it from the root of the repository:
//
//	go run ./internal/corpus/fit
package main

import (
	"fmt"
	"log"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"

	"github.com/callwright/callwright/internal/corpus"
)

// file has the table, a row a piece of evidence: its component, what was judged, and
// what was fitted.
const file = "parser/weights.go"

var row = regexp.MustCompile(`(?m)^(\t"(\w+)":\s+\{\w+, ([\d.]+), )([\d.]+)\},$`)

// A row is fitted by maximum likelihood, and drawn back to what was judged: by so much
// that a few texts of a made sample do not overturn it.
const (
	pull  = 10.0
	steps = 4000
	rate  = 0.01
	most  = 0.999 // a confidence is never certainty
	// No doubt is taken away by more than this part of it: a made sample does not have
	// all that the world has.
	part = 2.0 / 3
)

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	source, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	judged, fitted := map[string]float64{}, map[string]float64{}
	for _, m := range row.FindAllSubmatch(source, -1) {
		f, err := strconv.ParseFloat(string(m[3]), 64)
		if err != nil {
			return err
		}
		judged[string(m[2])], fitted[string(m[2])] = math.Log(f), math.Log(f)
	}
	sample, check, err := corpus.Sample("testdata")
	if err != nil {
		return err
	}
	fit(sample, judged, fitted)
	source = row.ReplaceAllFunc(source, func(line []byte) []byte {
		m := row.FindSubmatch(line)
		return fmt.Appendf(nil, "%s%.3g},", m[1], math.Exp(fitted[string(m[2])]))
	})
	if err := os.WriteFile(file, source, 0o644); err != nil {
		return err
	}
	r := corpus.Measure(check)
	fmt.Printf("fitted on %d, with the weights before:\n%s", len(sample), r.String())
	return nil
}

// fit finds the logarithms of the factors by gradient ascent (Adam). A confidence is
// the product of the factors of its evidence.
func fit(sample []corpus.Labelled, judged, fitted map[string]float64) {
	var names []string
	for name := range judged {
		names = append(names, name)
	}
	slices.Sort(names)
	first, second := map[string]float64{}, map[string]float64{}
	for step := 1; step <= steps; step++ {
		gradient := map[string]float64{}
		for i := range sample {
			x := &sample[i]
			sum := 0.0
			for _, e := range x.Score.Evidence {
				if f, ok := fitted[e.What]; ok {
					sum += f
				} else {
					sum += math.Log(e.Factor)
				}
			}
			d := 1.0 // of the likelihood's logarithm, by the sum
			if p := math.Exp(sum); !x.Right {
				d = -p / (1 - min(p, most))
			} else if p >= most {
				d = 0
			}
			for _, e := range x.Score.Evidence {
				if _, ok := fitted[e.What]; ok {
					gradient[e.What] += d
				}
			}
		}
		for _, name := range names {
			g := gradient[name] - pull*(fitted[name]-judged[name])*math.Sqrt(float64(len(sample)))/10
			first[name] = 0.9*first[name] + 0.1*g
			second[name] = 0.999*second[name] + 0.001*g*g
			mean, variance := first[name]/(1-math.Pow(0.9, float64(step))), second[name]/(1-math.Pow(0.999, float64(step)))
			fitted[name] += rate * mean / (math.Sqrt(variance) + 1e-8)
			fitted[name] = min(max(fitted[name], math.Log(0.01)), math.Log(1.1))
			if judged[name] <= 0 { // what speaks against a call is no reason for it
				fitted[name] = min(fitted[name], (1-part)*judged[name])
			}
		}
	}
}
