package intent

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Reason is one of the surroundings that spoke for an act or against it.
type Reason struct {
	// Weight is what it added to the logit: above 0 for an act, below 0 for a mention.
	Weight float64
	// Text says what it is, in English: `negation in its sentence ("never")`.
	Text string
}

// String returns the reason with its side: `against: negation in its sentence ("never")`.
func (r Reason) String() string {
	if r.Weight < 0 {
		return "against: " + r.Text
	}
	return "for: " + r.Text
}

// maxReasons is how many reasons are given at most.
const maxReasons = 6

// Explain judges as [Judge] does, and says which of the surroundings weighed most, the
// heaviest first: at most six.
func Explain(c *Context) (Answer, []Reason) {
	f := scratch.Get().(*Features)
	defer scratch.Put(f)
	f.Read(c)
	m := loadModel()
	a := answer(m.Logit(f))
	byText := map[string]float64{}
	for _, i := range m.Roots {
		for m.Nodes[i].Feature >= 0 {
			n, from := &m.Nodes[i], m.Nodes[i].Value
			if f.Dense[n.Feature] <= n.Cut {
				i++
			} else {
				i = n.Right
			}
			// What the absence of a cue says is no reason that a person would name.
			if text := f.describe(int(n.Feature)); text != "" {
				byText[text] += float64(m.Scale * (m.Nodes[i].Value - from))
			}
		}
	}
	switch c.Form {
	case Trained:
		byText["a marker that models are trained to emit"] += float64(m.Marker)
	case Tag:
		byText["a marker or a tag"] += float64(m.Tag)
	}
	var reasons []Reason
	for text, w := range byText {
		if math.Abs(w) >= 0.1 {
			reasons = append(reasons, Reason{w, text})
		}
	}
	slices.SortFunc(reasons, func(a, b Reason) int {
		return cmp.Or(cmp.Compare(math.Abs(b.Weight), math.Abs(a.Weight)), cmp.Compare(a.Text, b.Text))
	})
	return a, reasons[:min(len(reasons), maxReasons)]
}

var placeNames = [places]string{
	"in its sentence", "in the sentence before", "farther above", "in the heading above",
	"behind it in its sentence", "in the sentence behind", "farther below",
}

var familyNames = [families]string{
	"words of doing", "words of not doing", "words of showing", "words of asking", "words of condition",
	"words of another time", "words of the past", "words of others", "words of correction",
}

// describe says in words what a feature is, where the context has it. It is empty for
// what is not there.
func (f *Features) describe(i int) string {
	if f.Dense[i] == 0 {
		return ""
	}
	switch {
	case i < nearLead:
		return f.describeCue(Cue(i%numCues), place(i/numCues))
	case i < nearTail:
		return f.describeCue(Cue(i-nearLead), lead)
	case i < lastLead:
		return f.describeCue(Cue(i-nearTail), tail)
	case i < firstTail:
		return f.describeCue(Cue(i-lastLead), lead)
	case i < familyAt:
		return f.describeCue(Cue(i-firstTail), tail)
	case i < famOrder:
		i -= familyAt
		return f.describeFamily(family(i%int(families)), place(i/int(families)))
	case i < structure:
		i -= famOrder
		return f.describeFamily(family(i%int(families)), [6]place{lead, lead, prev, tail, tail, next}[i/int(families)])
	case i < NumDense:
		return shapeNames[i-structure]
	case i < NumDense+Places:
		return "the wording " + placeNames[i-NumDense]
	}
	return "the wording"
}

func (f *Features) describeCue(c Cue, p place) string {
	return fmt.Sprintf("%s %s%s", c, placeNames[p], f.quote(p, func(m *match) bool { return m.cues&(1<<c) != 0 }))
}

func (f *Features) describeFamily(g family, p place) string {
	return fmt.Sprintf("%s %s%s", familyNames[g], placeNames[p], f.quote(p, func(m *match) bool {
		for set := m.cues; set != 0; set &= set - 1 {
			if familyOf[first(set)] == g {
				return true
			}
		}
		return false
	}))
}

// quote returns the first words at a place that are of a kind, in brackets.
func (f *Features) quote(p place, of func(*match) bool) string {
	k := 0
	for i := range f.matches {
		m := &f.matches[i]
		if k = f.r.sentenceAt(m.from, k); k >= f.r.ns {
			break
		}
		if f.r.sentences[k].place == p && of(m) {
			return fmt.Sprintf(" (%q)", strings.TrimSpace(string(f.r.runes[m.from:m.to])))
		}
	}
	return ""
}
