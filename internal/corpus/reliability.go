package corpus

import (
	"fmt"
	"math"
	"strings"
)

// Bin is the calls whose confidence lies between two tenths.
type Bin struct {
	N, Right int
	sum      float64
}

// Mean is the mean confidence of the bin's calls.
func (b *Bin) Mean() float64 { return b.sum / float64(max(b.N, 1)) }

// Share is the share of the bin's calls that are right.
func (b *Bin) Share() float64 { return float64(b.Right) / float64(max(b.N, 1)) }

// Reliability compares what the confidence says with what is right.
type Reliability struct {
	Bins [10]Bin
	N    int
}

// Measure bins labelled candidates by their confidence.
func Measure(list []Labelled) (r Reliability) {
	for i := range list {
		x := &list[i]
		b := &r.Bins[min(int(x.Score.Overall*10), 9)]
		b.N++
		b.sum += x.Score.Overall
		if x.Right {
			b.Right++
		}
		r.N++
	}
	return r
}

// ExpectedError is the expected calibration error: how far the confidence is from the
// share that is right, on average over the candidates, from 0 to 1.
func (r *Reliability) ExpectedError() float64 {
	sum := 0.0
	for i := range r.Bins {
		b := &r.Bins[i]
		sum += float64(b.N) * math.Abs(b.Mean()-b.Share())
	}
	return sum / float64(max(r.N, 1))
}

// String is the reliability table.
func (r *Reliability) String() string {
	var s strings.Builder
	s.WriteString("| confidence | calls | mean | right |\n|---|---|---|---|\n")
	for i := range r.Bins {
		if b := &r.Bins[i]; b.N > 0 {
			fmt.Fprintf(&s, "| %.1f to %.1f | %d | %.3f | %.3f |\n", float64(i)/10, float64(i+1)/10, b.N, b.Mean(), b.Share())
		}
	}
	fmt.Fprintf(&s, "\nexpected calibration error %.4f over %d\n", r.ExpectedError(), r.N)
	return s.String()
}

// Sample is the labelled sample that the weights are fitted on, and checked on, half
// by half. root is the folder of the golden cases.
func Sample(root string) (fit, check []Labelled, err error) {
	golden, err := Golden(root)
	if err != nil {
		return nil, nil, err
	}
	cases := append(Generate(1, 8000), Mutate(1, golden, 6)...)
	all, err := Label(cases)
	for _, x := range all {
		if Half(x.Case) == 0 {
			fit = append(fit, x)
		} else {
			check = append(check, x)
		}
	}
	return fit, check, err
}
