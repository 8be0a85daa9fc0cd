package main

import (
	"flag"
	"fmt"
	"log"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/callwright/callwright/internal/intent/sample"
)

type tally struct {
	mentions, called, acts, missed int
}

func (t *tally) add(act, call bool) {
	if act {
		t.acts++
		if !call {
			t.missed++
		}
	} else {
		t.mentions++
		if call {
			t.called++
		}
	}
}

func (t tally) right() float64 {
	return 100 - 100*float64(t.called+t.missed)/float64(max(1, t.mentions+t.acts))
}

func (t tally) String() string {
	return fmt.Sprintf("called %5.2f%% of %d, missed %5.2f%% of %d, right %.2f%%", 100*float64(t.called)/float64(max(t.mentions, 1)), t.mentions,
		100*float64(t.missed)/float64(max(t.acts, 1)), t.acts, t.right())
}

func report(name string, test []*example, score func(*example) float64) {
	var en, other tally
	langs := map[string]*tally{}
	for _, e := range test {
		if !e.firm {
			continue
		}
		l := e.c.Text.Lang
		if langs[l] == nil {
			langs[l] = &tally{}
		}
		langs[l].add(e.act, score(e) > 0)
		t := &other
		if e.c.Text.Lang == "en" {
			t = &en
		}
		t.add(e.act, score(e) > 0)
	}
	if *verbose {
		for _, l := range slices.Sorted(maps.Keys(langs)) {
			fmt.Printf("%s %.1f  ", l, langs[l].right())
		}
		fmt.Println()
	}
	fmt.Printf("%-16s en %v | others %v\n", name, en, other)
}

var verbose = flag.Bool("v", false, "")

// groupsIn returns a random part of each group: for inner folds.
func innerFolds(list []*example, n int, seed uint64) map[string]int {
	names := map[string]bool{}
	for _, e := range list {
		names[e.group] = true
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

func main() {
	dir := flag.String("texts", "testdata/intent", "folder of the labelled texts")
	folds := flag.Int("folds", 5, "")
	only := flag.Int("only", -1, "")
	errs := flag.String("errors", "", "")
	random := flag.Bool("random", false, "split by text, not by situation")
	ntrees := flag.Int("trees", 200, "")
	depth := flag.Int("depth", 5, "")
	rate := flag.Float64("rate", 0.1, "")
	cols := flag.Float64("cols", 0.3, "")
	minc := flag.Float64("minc", 3, "")
	flag.Parse()
	texts, err := sample.Load(*dir)
	if err != nil {
		log.Fatal(err)
	}
	g, err := sample.LoadGroups(*dir)
	if err != nil {
		log.Fatal(err)
	}
	fold := map[string]int{}
	for i := range texts {
		grp := g.Of(texts[i].Situation)
		fold[grp] = sample.Part(grp, *folds-1) + 1
		if sample.HeldOut(grp) {
			fold[grp] = 0
		}
	}
	start := time.Now()
	train := write(texts, g, 3, 1, true, false)
	test := write(texts, g, 2, 2, false, true)
	if *random {
		byText := map[*sample.Text]int{}
		for i := range texts {
			byText[&texts[i]] = i % *folds
			fold[fmt.Sprint("r", i%*folds)] = i % *folds
		}
		for _, e := range append(slices.Clone(train), test...) {
			e.group = fmt.Sprint("r", byText[e.c.Text])
		}
	}
	fmt.Println(len(texts), "texts", len(train), len(test), time.Since(start))
	lin, gra, tre, stk := map[*example]float64{}, map[*example]float64{}, map[*example]float64{}, map[*example]float64{}
	var all []*example
	for k := range *folds {
		if *only < 0 && k == 0 || *only >= 0 && k != *only {
			continue
		}
		held := func(s string) bool { return fold[s] == k || k != 0 && fold[s] == 0 && !*random }
		tested := func(s string) bool { return fold[s] == k }
		var tr, te []*example
		for _, e := range train {
			if !g.Excluded(e.group, held) {
				tr = append(tr, e)
			}
		}
		for _, e := range test {
			if tested(e.group) {
				te = append(te, e)
			}
		}
		all = append(all, te...)
		m := fitLinear(tr, linearOptions{6, 0.3, 1e-6, 1e-4, true, true, 0, 0}, 1)
		for _, e := range te {
			lin[e] = m.score(e)
		}
		// the side model: grams alone, its answers on training texts from inner folds
		o := linearOptions{6, 0.3, 1e-6, 1e-4, true, false, 0, 0}
		inner := innerFolds(tr, 4, 1)
		if *random {
			for i := range texts {
				inner[fmt.Sprint("r", i%*folds)] = (i % *folds) % 4
			}
		}
		for q := range 4 {
			var a, b []*example
			for _, e := range tr {
				if inner[e.group] == q {
					b = append(b, e)
				} else {
					a = append(a, e)
				}
			}
			m := fitLinear(a, o, 1)
			for _, e := range b {
				e.side = float32(m.score(e))
			}
		}
		mg := fitLinear(tr, o, 1)
		for _, e := range te {
			e.side = float32(mg.score(e))
			gra[e] = float64(e.side)
		}
		x, xs := make([][]float32, len(tr)), make([][]float32, len(tr))
		y, w := make([]bool, len(tr)), make([]float32, len(tr))
		for i, e := range tr {
			x[i], y[i], w[i] = e.dense, e.act, e.weight*3
			xs[i] = append(slices.Clone(e.dense), e.side)
		}
		to := treeOptions{*ntrees, *depth, *rate, 5, *minc, *cols, 0.7, 32}
		t1 := fitTrees(x, y, w, to, 1)
		t2 := fitTrees(xs, y, w, to, 1)
		for _, e := range te {
			tre[e] = t1.score(e.dense)
			stk[e] = t2.score(append(slices.Clone(e.dense), e.side))
		}
		fmt.Println("fold", k, time.Since(start))
	}
	get := func(m map[*example]float64) func(*example) float64 {
		return func(e *example) float64 { return m[e] }
	}
	report("grams", all, get(gra))
	report("linear", all, get(lin))
	report("trees", all, get(tre))
	report("trees+grams", all, get(stk))
	report("mean", all, func(e *example) float64 { return lin[e]/2 + stk[e] })
	byGroup := map[string]*tally{}
	for _, e := range all {
		if e.firm {
			if byGroup[e.group] == nil {
				byGroup[e.group] = &tally{}
			}
			byGroup[e.group].add(e.act, stk[e] > 0)
		}
	}
	if *verbose {
		names := slices.Collect(maps.Keys(byGroup))
		slices.SortFunc(names, func(a, b string) int {
			return byGroup[b].called + byGroup[b].missed - byGroup[a].called - byGroup[a].missed
		})
		for _, n := range names[:min(60, len(names))] {
			fmt.Printf("%-24s %v\n", n, *byGroup[n])
		}
	}
	if *errs != "" {
		showErrors(all, *errs, get(stk), 400)
	}
}

func showErrors(test []*example, lang string, score func(*example) float64, max int) {
	seen := map[string]bool{}
	for _, e := range test {
		if e.c.Text.Lang != lang || !e.firm || score(e) > 0 == e.act {
			continue
		}
		key := fmt.Sprint(e.c.Text.ID, e.c.Index)
		if seen[key] {
			continue
		}
		seen[key] = true
		if max--; max < 0 {
			return
		}
		fmt.Printf("-- %s %s act=%v score %.2f call %d\n%s\n", e.c.Text.ID, e.c.Text.Situation, e.act, score(e), e.c.Index+1, e.c.Text.Text)
	}
}
