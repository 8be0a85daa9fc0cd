package fallback

import (
	"math"
	"slices"

	"github.com/callwright/callwright/registry"
)

// Constants of BM25 (Robertson and Zaragoza, The Probabilistic Relevance Framework,
// 2009), and how much more a word counts in a tool's name than in its description.
const (
	bm25K      = 1.2
	bm25B      = 0.6
	nameWeight = 3
)

// index ranks the tools of a registry by words.
type index struct {
	version string
	tools   []*registry.Tool
	names   []map[string]bool // the words of each tool's name
	counts  []map[string]float64
	lengths []float64
	mean    float64
	idf     map[string]float64
}

func newIndex(r *registry.Registry) *index {
	x := &index{version: r.Version(), tools: r.Tools(), idf: map[string]float64{}}
	for _, t := range x.tools {
		name, counts, length := map[string]bool{}, map[string]float64{}, 0.0
		add := func(text string, weight float64) {
			for _, w := range terms(text) {
				counts[w] += weight
				length += weight
			}
		}
		for _, w := range terms(t.Name) {
			name[w] = true
		}
		add(t.Name, nameWeight)
		add(t.Description, 1)
		for _, p := range t.Order() {
			add(p, 1)
		}
		for w := range counts {
			x.idf[w]++
		}
		x.names, x.counts, x.lengths = append(x.names, name), append(x.counts, counts), append(x.lengths, length)
		x.mean += length
	}
	n := float64(len(x.tools))
	x.mean /= max(n, 1)
	for w, df := range x.idf {
		x.idf[w] = math.Log(1 + (n-df+0.5)/(df+0.5))
	}
	return x
}

// ranked is a tool and how well it fits some words.
type ranked struct {
	tool  *registry.Tool
	score float64
	// covered is the share of the words of the tool's name that were said.
	covered float64
}

// rank returns the tools that share words with a query, the best first.
func (x *index) rank(query []string) []ranked {
	words := map[string]bool{}
	for _, w := range query {
		words[w] = true
	}
	var list []ranked
	for i, t := range x.tools {
		score, covered := 0.0, 0.0
		for w := range words {
			if tf := x.counts[i][w]; tf > 0 {
				score += x.idf[w] * tf * (bm25K + 1) / (tf + bm25K*(1-bm25B+bm25B*x.lengths[i]/x.mean))
			}
			if x.names[i][w] {
				covered++
			}
		}
		if score > 0 && len(x.names[i]) > 0 {
			list = append(list, ranked{t, score, covered / float64(len(x.names[i]))})
		}
	}
	slices.SortStableFunc(list, func(a, b ranked) int {
		switch {
		case a.score > b.score:
			return -1
		case a.score < b.score:
			return 1
		}
		return 0
	})
	return list
}
