package intent

import (
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sync"
)

// Model is what is fitted: a linear model of grams, and boosted trees on the dense
// features and on what the linear model says.
type Model struct {
	// Grams holds a weight for each gram, in steps of Step. Its length is a power of two.
	Grams []int8
	Step  float32
	// Bias is the linear model's.
	Bias float32

	Nodes []Node
	Roots []int32

	// Scale and Shift make a probability of the sum of the trees. Marker is added for a
	// marker that models are trained to emit, Tag for any other marker or tag.
	Scale, Shift, Marker, Tag float32
}

// Node is a node of a tree: left, the next node, where the feature is at most Cut, else
// the node at Right.
type Node struct {
	Feature int16 // -1 in a leaf
	Right   int32
	Cut     float32
	Value   float32 // the mean of what is below
}

// weightsMagic begins the weights. Its end is the version of the features.
const weightsMagic = "callwright intent 2\n"

//go:embed weights.bin
var weights []byte

var loadModel = sync.OnceValue(func() *Model {
	m, err := Decode(weights)
	if err != nil {
		panic(err) // the embedded weights are checked by a test
	}
	return m
})

// Append adds the weights in their binary form to b.
func (m *Model) Append(b []byte) []byte {
	b = append(b, weightsMagic...)
	le := binary.LittleEndian
	b = le.AppendUint32(b, uint32(NumInputs))
	b = le.AppendUint32(b, uint32(len(m.Grams)))
	b = le.AppendUint32(b, uint32(len(m.Nodes)))
	b = le.AppendUint32(b, uint32(len(m.Roots)))
	for _, f := range []float32{m.Step, m.Bias, m.Scale, m.Shift, m.Marker, m.Tag} {
		b = le.AppendUint32(b, math.Float32bits(f))
	}
	for _, r := range m.Roots {
		b = le.AppendUint32(b, uint32(r))
	}
	for _, n := range m.Nodes {
		b = le.AppendUint16(b, uint16(n.Feature))
		b = le.AppendUint32(b, uint32(n.Right))
		b = le.AppendUint32(b, math.Float32bits(n.Cut))
		b = le.AppendUint32(b, math.Float32bits(n.Value))
	}
	for _, g := range m.Grams {
		b = append(b, byte(g))
	}
	return b
}

const (
	headSize = len(weightsMagic) + 10*4
	nodeSize = 14
)

// ErrWeights is returned for weights that do not fit this version of the features.
var ErrWeights = errors.New("the weights do not fit the features: run go run ./internal/intent/fit -write")

// Decode reads the weights that [Model.Append] wrote.
func Decode(b []byte) (*Model, error) {
	if len(b) < headSize || string(b[:len(weightsMagic)]) != weightsMagic {
		return nil, ErrWeights
	}
	le := binary.LittleEndian
	u := func(i int) uint32 { return le.Uint32(b[len(weightsMagic)+4*i:]) }
	f := func(i int) float32 { return math.Float32frombits(u(i)) }
	inputs, grams, nodes, roots := int(u(0)), int(u(1)), int(u(2)), int(u(3))
	want := headSize + 4*roots + nodeSize*nodes + grams
	if inputs != NumInputs || grams == 0 || grams&(grams-1) != 0 || len(b) != want {
		return nil, fmt.Errorf("%d inputs where %d are needed, %d bytes where %d are: %w", inputs, NumInputs, len(b), want, ErrWeights)
	}
	m := &Model{Step: f(4), Bias: f(5), Scale: f(6), Shift: f(7), Marker: f(8), Tag: f(9)}
	m.Roots, m.Nodes = make([]int32, roots), make([]Node, nodes)
	b = b[headSize:]
	for i := range m.Roots {
		if m.Roots[i] = int32(le.Uint32(b)); int(m.Roots[i]) >= nodes || m.Roots[i] < 0 {
			return nil, ErrWeights
		}
		b = b[4:]
	}
	for i := range m.Nodes {
		n := Node{int16(le.Uint16(b)), int32(le.Uint32(b[2:])), math.Float32frombits(le.Uint32(b[6:])), math.Float32frombits(le.Uint32(b[10:]))}
		if int(n.Feature) >= NumInputs || n.Feature >= 0 && (int(n.Right) <= i || int(n.Right) >= nodes || i+1 >= nodes) {
			return nil, ErrWeights
		}
		m.Nodes[i] = n
		b = b[nodeSize:]
	}
	m.Grams = make([]int8, grams)
	for i, v := range b {
		m.Grams[i] = int8(v)
	}
	return m, nil
}

// wording fills in what the grams say.
func (m *Model) wording(f *Features) {
	var sum, n [8]int32
	mask := Gram(len(m.Grams) - 1)
	for _, g := range f.Grams {
		sum[g&7] += int32(m.Grams[g>>3&mask])
		n[g&7]++
	}
	total := m.Bias
	for p := range Places {
		if n[p] > 0 {
			v := m.Step * float32(sum[p]) / float32(math.Sqrt(float64(n[p])))
			f.Dense[NumDense+p] = v
			total += v
		}
	}
	f.Dense[NumDense+Places] = total
}

// Logit returns the logarithm of the odds that a candidate with these features is an
// act. f must be fresh from [Features.Read].
func (m *Model) Logit(f *Features) float64 {
	m.wording(f)
	var sum float32
	for _, i := range m.Roots {
		for m.Nodes[i].Feature >= 0 {
			if n := &m.Nodes[i]; f.Dense[n.Feature] <= n.Cut {
				i++
			} else {
				i = n.Right
			}
		}
		sum += m.Nodes[i].Value
	}
	return float64(m.calibrate(sum, f))
}

func (m *Model) calibrate(sum float32, f *Features) float32 {
	logit := m.Scale*sum + m.Shift
	if f.Dense[structure+int(shapeFormTrained)] > 0 {
		logit += m.Marker
	}
	if f.Dense[structure+int(shapeFormTag)] > 0 {
		logit += m.Tag
	}
	return logit
}
