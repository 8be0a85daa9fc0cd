package main

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"

	"github.com/callwright/callwright/internal/intent"
)

// tally counts decisions on firm labels.
type tally struct{ mentions, called, acts, missed int }

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
	return fmt.Sprintf("called %5.2f%% of %4d, missed %5.2f%% of %4d, right %.2f%%",
		100*float64(t.called)/float64(max(t.mentions, 1)), t.mentions,
		100*float64(t.missed)/float64(max(t.acts, 1)), t.acts, t.right())
}

// scored is an example with the logarithm of its odds.
type scored struct {
	*example
	logit float64
}

// judge lets a model judge examples.
func judge(m *intent.Model, list []*example) []scored {
	out := make([]scored, len(list))
	parallel(2, func(half int) {
		f := &intent.Features{}
		for i := half; i < len(list); i += 2 {
			e := list[i]
			copy(f.Dense[:], e.dense)
			f.Grams = f.Grams[:0]
			for j, g := range e.grams {
				f.Grams = append(f.Grams, intent.Gram(g<<3|uint32(e.place[j])))
			}
			out[i] = scored{e, m.Logit(f)}
		}
	})
	return out
}

// languages tallies English and the others together.
func languages(list []scored, bound float64) (en, others tally) {
	for _, s := range list {
		switch {
		case !s.firm:
		case s.c.Text.Lang == "en":
			en.add(s.act, s.logit > bound)
		default:
			others.add(s.act, s.logit > bound)
		}
	}
	return en, others
}

func line(w io.Writer, name string, list []scored) {
	en, others := languages(list, 0)
	fmt.Fprintf(w, "%-34s en %v | others %v\n", name, en, others)
}

// confusion prints the tallies by a key.
func confusion(w io.Writer, name string, list []scored, key func(scored) string) {
	by := map[string]*tally{}
	for _, s := range list {
		if !s.firm {
			continue
		}
		k := key(s)
		if by[k] == nil {
			by[k] = &tally{}
		}
		by[k].add(s.act, s.logit > 0)
	}
	for _, k := range slices.Sorted(maps.Keys(by)) {
		fmt.Fprintf(w, "%s %-20s %v\n", name, k, *by[k])
	}
}

var formNames = [...]string{
	intent.JSON: "json", intent.Python: "python", intent.Trained: "trained marker", intent.Tag: "tag", intent.Label: "label",
}

// calibrationTable prints how often what was given a probability was an act, and the
// expected calibration error over ten bins.
func calibrationTable(w io.Writer, list []scored) {
	var n, acts, sum [10]float64
	total := 0.0
	for _, s := range list {
		if !s.firm || marked(s.example) {
			continue
		}
		p := sigmoid(s.logit)
		b := min(9, int(p*10))
		n[b]++
		sum[b] += p
		if s.act {
			acts[b]++
		}
		total++
	}
	ece := 0.0
	for b := range n {
		if n[b] > 0 {
			fmt.Fprintf(w, "probability %.1f to %.1f: %5.0f calls, mean %.3f, acts %.3f\n",
				float64(b)/10, float64(b+1)/10, n[b], sum[b]/n[b], acts[b]/n[b])
			ece += math.Abs(sum[b]-acts[b]) / total
		}
	}
	fmt.Fprintf(w, "expected calibration error %.4f (without markers and tags, for which the prior differs)\n", ece)
}

// thresholds prints what other bounds would do.
func thresholds(w io.Writer, list []scored) {
	for _, p := range []float64{0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9} {
		en, others := languages(list, math.Log(p/(1-p)))
		fmt.Fprintf(w, "act above %.1f: en %v | others %v\n", p, en, others)
	}
}

// report prints everything about the part that was held out.
func report(w io.Writer, list []scored) {
	confusion(w, "form", list, func(s scored) string { return formNames[s.c.Form] })
	confusion(w, "language", list, func(s scored) string { return s.c.Text.Lang })
	calibrationTable(w, list)
	thresholds(w, list)
}

// mistakes prints texts that are judged wrong, and the groups that have most of them.
func mistakes(w io.Writer, list []scored, lang string) {
	seen := map[string]bool{}
	by := map[string]*tally{}
	for _, s := range list {
		if !s.firm || lang != "all" && s.c.Text.Lang != lang {
			continue
		}
		if by[s.group] == nil {
			by[s.group] = &tally{}
		}
		by[s.group].add(s.act, s.logit > 0)
		key := fmt.Sprint(s.c.Text.ID, s.c.Index)
		if s.logit > 0 == s.act || seen[key] {
			continue
		}
		seen[key] = true
		fmt.Fprintf(w, "-- %s %s act=%v logit %.2f call %d\n%s\n", s.c.Text.ID, s.c.Text.Situation, s.act, s.logit, s.c.Index+1, s.c.Text.Text)
	}
	names := slices.SortedFunc(maps.Keys(by), func(a, b string) int { return by[b].called + by[b].missed - by[a].called - by[a].missed })
	for _, n := range names[:min(40, len(names))] {
		fmt.Fprintf(w, "%-30s %v\n", n, *by[n])
	}
}
