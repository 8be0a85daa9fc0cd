package main

import (
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/callwright/callwright/internal/intent"
)

// data are rows of inputs with their labels and weights.
type data struct {
	x [][]float32
	y []bool
	w []float32
}

// tree is a decision tree in an array: the children of node i are 2i+1 and 2i+2.
type tree struct {
	feature []int16 // -1 for a leaf
	cut     []uint8 // go left at most at this bin
	value   []float32
}

type trees struct {
	edges [][]float32 // of the bins, by feature
	list  []tree
	bias  float64
}

type treeOptions struct {
	trees, depth int
	rate         float64
	l2, minChild float64
	columns      float64 // the share of features that a tree sees
	rows         float64
	bins         int
}

func binOf(edges []float32, v float32) uint8 {
	lo, hi := 0, len(edges)
	for lo < hi {
		m := (lo + hi) / 2
		if v <= edges[m] {
			hi = m
		} else {
			lo = m + 1
		}
	}
	return uint8(lo)
}

func makeEdges(x [][]float32, bins int) [][]float32 {
	n := len(x[0])
	edges := make([][]float32, n)
	parallel(n, func(j int) {
		vals := make([]float32, 0, len(x)/4+1)
		for i := 0; i < len(x); i += 3 {
			vals = append(vals, x[i][j])
		}
		slices.Sort(vals)
		uniq := slices.Compact(slices.Clone(vals))
		if len(uniq) <= bins {
			for k := 0; k+1 < len(uniq); k++ {
				edges[j] = append(edges[j], (uniq[k]+uniq[k+1])/2)
			}
			return
		}
		for k := 1; k < bins; k++ {
			e := vals[len(vals)*k/bins]
			if len(edges[j]) == 0 || e > edges[j][len(edges[j])-1] {
				edges[j] = append(edges[j], e)
			}
		}
	})
	return edges
}

func parallel(n int, f func(int)) {
	var wg sync.WaitGroup
	for w := range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := w; i < n; i += 2 {
				f(i)
			}
		}()
	}
	wg.Wait()
}

func (m *trees) binned(x []float32) []uint8 {
	b := make([]uint8, len(x))
	for j, v := range x {
		b[j] = binOf(m.edges[j], v)
	}
	return b
}

func (t *tree) score(b []uint8) float32 {
	i := 0
	for t.feature[i] >= 0 {
		if b[t.feature[i]] <= t.cut[i] {
			i = 2*i + 1
		} else {
			i = 2*i + 2
		}
	}
	return t.value[i]
}

func (m *trees) score(x []float32) float64 {
	b := m.binned(x)
	s := m.bias
	for i := range m.list {
		s += float64(m.list[i].score(b))
	}
	return s
}

// fitTrees boosts trees on the logistic loss.
func fitTrees(d data, o treeOptions, seed uint64) *trees {
	x, y, w := d.x, d.y, d.w
	m := &trees{edges: makeEdges(x, o.bins)}
	n, f := len(x), len(x[0])
	cols := make([][]uint8, f)
	parallel(f, func(j int) {
		cols[j] = make([]uint8, n)
		for i := range x {
			cols[j][i] = binOf(m.edges[j], x[i][j])
		}
	})
	var used []int
	for j := range f {
		if len(m.edges[j]) > 0 {
			used = append(used, j)
		}
	}
	score := make([]float64, n)
	g, h := make([]float32, n), make([]float32, n)
	r := rand.New(rand.NewPCG(seed, 7))
	node := make([]int32, n)
	for range o.trees {
		for i := range x {
			p := sigmoid(score[i])
			t := 0.0
			if y[i] {
				t = 1
			}
			g[i] = float32(p-t) * w[i]
			h[i] = float32(max(p*(1-p), 1e-4)) * w[i]
			node[i] = 0
			if r.Float64() > o.rows {
				node[i] = -1
			}
		}
		var sample []int
		for _, j := range used {
			if r.Float64() < o.columns {
				sample = append(sample, j)
			}
		}
		t := growTree(cols, m.edges, sample, g, h, node, o)
		m.list = append(m.list, t)
		// all rows
		parallel(2, func(half int) {
			for i := half; i < n; i += 2 {
				k := 0
				for t.feature[k] >= 0 {
					if cols[t.feature[k]][i] <= t.cut[k] {
						k = 2*k + 1
					} else {
						k = 2*k + 2
					}
				}
				score[i] += float64(t.value[k])
			}
		})
	}
	return m
}

type split struct {
	gain    float64
	feature int
	cut     uint8
}

func growTree(cols [][]uint8, edges [][]float32, sample []int, g, h []float32, node []int32, o treeOptions) tree {
	size := 1<<(o.depth+1) - 1
	t := tree{feature: make([]int16, size), cut: make([]uint8, size), value: make([]float32, size)}
	for i := range t.feature {
		t.feature[i] = -1
	}
	n := len(node)
	for depth := 0; depth <= o.depth; depth++ {
		first, count := 1<<depth-1, 1<<depth
		sg, sh := make([]float64, count), make([]float64, count)
		for i := range n {
			if k := int(node[i]) - first; node[i] >= 0 && k >= 0 {
				sg[k] += float64(g[i])
				sh[k] += float64(h[i])
			}
		}
		for k := range count {
			if sh[k] > 0 {
				t.value[first+k] = float32(-o.rate * sg[k] / (sh[k] + o.l2))
			}
		}
		if depth == o.depth {
			break
		}
		best := make([][]split, len(sample))
		parallel(len(sample), func(s int) {
			j := sample[s]
			nb := len(edges[j]) + 1
			hg, hh := make([]float64, count*nb), make([]float64, count*nb)
			col := cols[j]
			for i := range n {
				k := int(node[i]) - first
				if node[i] < 0 || k < 0 {
					continue
				}
				p := k*nb + int(col[i])
				hg[p] += float64(g[i])
				hh[p] += float64(h[i])
			}
			best[s] = make([]split, count)
			for k := range count {
				var lg, lh float64
				base := sg[k] * sg[k] / (sh[k] + o.l2)
				for b := 0; b+1 < nb; b++ {
					lg += hg[k*nb+b]
					lh += hh[k*nb+b]
					rg, rh := sg[k]-lg, sh[k]-lh
					if lh < o.minChild || rh < o.minChild {
						continue
					}
					if gain := lg*lg/(lh+o.l2) + rg*rg/(rh+o.l2) - base; gain > best[s][k].gain {
						best[s][k] = split{gain, j, uint8(b)}
					}
				}
			}
		})
		grown := false
		for k := range count {
			var top split
			for s := range best {
				if best[s][k].gain > top.gain+1e-9 {
					top = best[s][k]
				}
			}
			if top.gain > 1e-3 {
				t.feature[first+k], t.cut[first+k] = int16(top.feature), top.cut
				grown = true
			}
		}
		if !grown {
			break
		}
		for i := range n {
			if node[i] < 0 || int(node[i]) < first {
				continue
			}
			k := node[i]
			if t.feature[k] < 0 {
				node[i] = -1
				continue
			}
			if cols[t.feature[k]][i] <= t.cut[k] {
				node[i] = 2*k + 1
			} else {
				node[i] = 2*k + 2
			}
		}
	}
	return t
}

// put writes the trees into a model, the nodes of a tree in the order of a walk to the
// left.
func (m *trees) put(to *intent.Model) {
	for i := range m.list {
		to.Roots = append(to.Roots, int32(len(to.Nodes)))
		m.putNode(to, &m.list[i], 0)
	}
}

func (m *trees) putNode(to *intent.Model, t *tree, i int) {
	at := len(to.Nodes)
	n := intent.Node{Feature: t.feature[i], Value: t.value[i]}
	if n.Feature >= 0 {
		n.Cut = m.edges[n.Feature][t.cut[i]]
	}
	to.Nodes = append(to.Nodes, n)
	if n.Feature >= 0 {
		m.putNode(to, t, 2*i+1)
		to.Nodes[at].Right = int32(len(to.Nodes))
		m.putNode(to, t, 2*i+2)
	}
}
