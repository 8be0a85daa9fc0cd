// Fit fits the model of package intent to the labelled texts and says how it does on
// those that are held out. From the module's root:
//
//	go run ./internal/intent/fit                # check on a fifth, then fit on all and write the weights
//	go run ./internal/intent/fit -write "" -compare -ablation -curve
//
// Situations are held out whole, in all languages at once.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"slices"
	"time"

	"github.com/callwright/callwright/internal/intent/sample"
)

func main() {
	log.SetFlags(0)
	dir := flag.String("texts", "testdata/intent", "folder of the labelled texts")
	recorded := flag.String("recorded", "", "folder of more texts in the same form, to fit on; they are never checked on")
	split := flag.String("split", "ideas", "what is held out whole: ideas (situations that are one idea, as groups.txt says) or situations")
	dev := flag.Int("dev", -1, "check on this fourth of what is not held out, instead of on what is: 0 to 3")
	write := flag.String("write", "internal/intent/weights.bin", "file for the weights, empty for none")
	check := flag.Bool("check", true, "check on the part that is held out")
	compare := flag.Bool("compare", false, "compare kinds of models")
	ablation := flag.Bool("ablation", false, "fit without n-grams, cues, structure, what follows")
	curve := flag.Bool("curve", false, "fit on parts of the texts")
	errs := flag.String("mistakes", "", "print the mistakes of a language, or all")
	marker := flag.Float64("marker", 1.6, "what a trained marker adds to the logarithm of the odds: "+
		"such acts are more frequent in life than in the texts")
	tag := flag.Float64("tag", 0.9, "what another marker or a tag adds")
	o := options{linear: linearOptions{epochs: 6, rate: 0.3, l2: 1e-6}}
	flag.Uint64Var(&o.seed, "seed", 1, "seed")
	flag.IntVar(&o.gramBits, "bits", 19, "size of the table of grams")
	flag.IntVar(&o.renderings, "renderings", 2, "forms of each text to fit on")
	o.trees = treeOptions{l2: 5, minChild: 3, rows: 0.7, bins: 32}
	flag.IntVar(&o.trees.trees, "trees", 160, "number of trees")
	flag.IntVar(&o.trees.depth, "depth", 5, "depth of a tree")
	flag.Float64Var(&o.trees.rate, "rate", 0.1, "step of a tree")
	flag.Float64Var(&o.trees.columns, "columns", 0.3, "share of the features that a tree sees")
	flag.Parse()

	start := time.Now()
	p, err := load(*dir, *recorded, *split, *dev)
	if err != nil {
		log.Fatal(err)
	}
	if *check {
		train, test := p.examples(&o)
		fmt.Printf("%d texts, %d examples to fit on, %d to check on\n", len(p.texts), len(train), len(test))
		m := fitBlend(train, &o)
		m.Marker, m.Tag = float32(*marker), float32(*tag)
		list := judge(m, test)
		line(os.Stdout, "the model", list)
		report(os.Stdout, list)
		if *errs != "" {
			mistakes(os.Stdout, list, *errs)
		}
	}
	if *compare {
		p.compare(o)
	}
	if *ablation {
		p.ablation(o)
	}
	if *curve {
		p.curve(o)
	}
	if *write != "" {
		p.held = func(string) bool { return false }
		train, _ := p.examples(&o)
		m := fitBlend(train, &o)
		m.Marker, m.Tag = float32(*marker), float32(*tag)
		b := m.Append(nil)
		if err := os.WriteFile(*write, b, 0o644); err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s: %d bytes, %d nodes\n", *write, len(b), len(m.Nodes))
	}
	fmt.Println(time.Since(start).Round(time.Second))
}

// parts are the texts and what of them is held out.
type parts struct {
	texts    []sample.Text
	recorded []sample.Text
	groups   *sample.Groups
	of       func(*sample.Text) string
	held     func(group string) bool // checked on
	out      func(group string) bool // not fitted on
}

func load(dir, recorded, split string, dev int) (*parts, error) {
	p := &parts{}
	var err error
	if p.texts, err = sample.Load(dir); err != nil {
		return nil, err
	}
	if recorded != "" {
		if p.recorded, err = sample.Load(recorded); err != nil {
			return nil, err
		}
	}
	if p.groups, err = sample.LoadGroups(dir); err != nil {
		return nil, err
	}
	p.of = func(t *sample.Text) string { return p.groups.Of(t.Situation) }
	if split == "situations" {
		p.of = func(t *sample.Text) string { return t.Situation }
		p.groups = &sample.Groups{}
	}
	p.held, p.out = sample.HeldOut, sample.HeldOut
	if dev >= 0 {
		p.held = func(g string) bool { return !sample.HeldOut(g) && sample.Part(g, 4) == dev }
		p.out = func(g string) bool { return sample.HeldOut(g) || sample.Part(g, 4) == dev }
	}
	return p, nil
}

// examples renders what is fitted on and what is checked on.
func (p *parts) examples(o *options) (train, test []*example) {
	out := p.out
	var fit, check []sample.Text
	for _, t := range p.texts {
		g := p.of(&t)
		if p.held(g) {
			check = append(check, t)
		} else if !out(g) && !p.groups.Excluded(g, p.held) {
			fit = append(fit, t)
		}
	}
	train = render(slices.Concat(fit, p.recorded), p.of, o.renderings, o.seed, true, o)
	test = render(check, p.of, 2, o.seed+1, false, o)
	return train, test
}

func (p *parts) compare(o options) {
	o.noCalibration = true
	kinds := func(name string, o options) {
		train, test := p.examples(&o)
		l := o.linear
		score := func(name string, f func(*example) float64) {
			list := make([]scored, len(test))
			parallel(2, func(half int) {
				for i := half; i < len(test); i += 2 {
					list[i] = scored{test[i], f(test[i])}
				}
			})
			line(os.Stdout, name, list)
		}
		score("linear, n-grams"+name, fitLinear(train, &o, l).score)
		l.dense = true
		lin := fitLinear(train, &o, l)
		score("linear, n-grams, structure"+name, lin.score)
		plain := fitTrees(dense(train), o.trees, o.seed)
		score("trees, structure"+name, func(e *example) float64 { return plain.score(e.dense) })
		m := fitBlend(train, &o)
		line(os.Stdout, "trees on linear"+name, judge(m, test))
		mean := judge(m, test)
		for i := range mean {
			mean[i].logit += lin.score(mean[i].example) / 2
		}
		line(os.Stdout, "sum of trees and linear"+name, mean)
	}
	kinds(", cues", o)
	o.noCues = true
	kinds("", o)
}

func dense(list []*example) (d data) {
	for _, e := range list {
		d.x, d.y, d.w = append(d.x, e.dense), append(d.y, e.act), append(d.w, e.weight*3)
	}
	return d
}

func (p *parts) ablation(o options) {
	o.noCalibration = true
	for _, a := range []struct {
		name string
		set  func(*options)
	}{
		{"all", func(*options) {}},
		{"without n-grams", func(o *options) { o.noGrams = true }},
		{"without cues", func(o *options) { o.noCues = true }},
		{"without structure", func(o *options) { o.noShape = true }},
		{"without what follows", func(o *options) { o.noAfter = true }},
	} {
		v := o
		a.set(&v)
		train, test := p.examples(&v)
		line(os.Stdout, a.name, judge(fitBlend(train, &v), test))
	}
}

// curve fits on parts of the situations.
func (p *parts) curve(o options) {
	o.noCalibration = true
	out := p.out
	for _, n := range []uint32{1, 2, 4, 6, 8} {
		q := *p
		q.out = func(g string) bool { return out(g) || sample.Part("curve"+g, 8) >= int(n) }
		train, test := q.examples(&o)
		texts := map[*sample.Text]bool{}
		for _, e := range train {
			texts[e.c.Text] = true
		}
		line(os.Stdout, fmt.Sprintf("fitted on %d texts", len(texts)), judge(fitBlend(train, &o), test))
	}
}
