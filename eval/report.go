package eval

import (
	"cmp"
	"maps"
	"slices"

	"github.com/callwright/callwright/parser"
)

// Report is how many of a run's cases are right.
type Report struct {
	Total Tally `json:"total"`
	// Groups, Models and Dialects are sorted by name. A case that names no dialect counts
	// under the one that was found, or "none found".
	Groups   []Row `json:"groups"`
	Models   []Row `json:"models"`
	Dialects []Row `json:"dialects"`
	// Differences are the cases that are not right, in their order.
	Differences []Difference `json:"differences"`
}

// Row is the tally of the cases that have a name in common.
type Row struct {
	Name string `json:"name"`
	Tally
}

// Tally counts cases.
type Tally struct {
	Cases int `json:"cases"`
	// Each case is one of these, see [Outcome].
	Pass     int `json:"pass"`
	Space    int `json:"space"`
	Text     int `json:"text"`
	Streamed int `json:"streamed"`
	Calls    int `json:"calls"`
	Failed   int `json:"failed"`
	// Asked are the cases that expect calls, and AskedRight those of them whose calls are
	// right; None are those that expect no call, and NoneRight those of them without one.
	Asked      int `json:"asked"`
	AskedRight int `json:"asked_right"`
	None       int `json:"none"`
	NoneRight  int `json:"none_right"`
}

// CallsRight is how many cases have the right calls, or rightly none.
func (t *Tally) CallsRight() int { return t.AskedRight + t.NoneRight }

// Right is how many cases are as expected, white space aside.
func (t *Tally) Right() int { return t.Pass + t.Space }

// Difference is a case that is not right.
type Difference struct {
	ID      string  `json:"id"`
	Model   string  `json:"model,omitempty"`
	Dialect string  `json:"dialect,omitempty"`
	Group   string  `json:"group,omitempty"`
	Outcome Outcome `json:"outcome"`
	// Why says in words what differs.
	Why      string        `json:"why"`
	Text     string        `json:"text"`
	Expected []WrittenCall `json:"expected"`
	Found    []WrittenCall `json:"found"`
	// Rejected are why what looked like a call is none: the codes of parser.Rejected.
	Rejected []string `json:"rejected,omitempty"`
}

// WrittenCall is a call as a difference shows it.
type WrittenCall struct {
	Tool       string           `json:"tool"`
	Parameters any              `json:"parameters,omitempty"`
	Allowed    map[string][]any `json:"allowed,omitempty"`
}

// add counts a case.
func (t *Tally) add(c *Case, outcome Outcome) {
	t.Cases++
	switch outcome {
	case Pass:
		t.Pass++
	case Space:
		t.Space++
	case Text:
		t.Text++
	case Streamed:
		t.Streamed++
	case Calls:
		t.Calls++
	case Failed:
		t.Failed++
	}
	asked, asRight := &t.Asked, &t.AskedRight
	if len(c.Expected.Calls) == 0 && !c.Expected.AnyCalls {
		asked, asRight = &t.None, &t.NoneRight
	}
	*asked++
	if outcome != Calls && outcome != Failed {
		*asRight++
	}
}

// report counts the verdicts of the cases.
func report(cases []Case, verdicts []verdict) *Report {
	r := &Report{Differences: []Difference{}}
	groups, models, dialects := map[string]*Tally{}, map[string]*Tally{}, map[string]*Tally{}
	for i := range cases {
		c, v := &cases[i], &verdicts[i]
		r.Total.add(c, v.outcome)
		dialect := cmp.Or(c.Dialect, found(v.result))
		for _, t := range []struct {
			of   map[string]*Tally
			name string
		}{{groups, c.Group}, {models, c.Model}, {dialects, dialect}} {
			if t.of[t.name] == nil {
				t.of[t.name] = &Tally{}
			}
			t.of[t.name].add(c, v.outcome)
		}
		if v.outcome != Pass && v.outcome != Space {
			r.Differences = append(r.Differences, difference(c, v, dialect))
		}
	}
	r.Groups, r.Models, r.Dialects = rows(groups), rows(models), rows(dialects)
	return r
}

func rows(of map[string]*Tally) []Row {
	list := make([]Row, 0, len(of))
	for _, name := range slices.Sorted(maps.Keys(of)) {
		list = append(list, Row{cmp.Or(name, "not named"), *of[name]})
	}
	return list
}

// found names the dialect in which a result's first call was found.
func found(r *parser.Result) string {
	switch {
	case r != nil && len(r.Calls) > 0:
		return string(r.Calls[0].SourceFormat)
	case r != nil && len(r.Rejected) > 0 && r.Rejected[0].Format != "":
		return string(r.Rejected[0].Format)
	}
	return "none found"
}

func difference(c *Case, v *verdict, dialect string) Difference {
	d := Difference{
		ID: c.ID, Model: c.Model, Dialect: dialect, Group: c.Group, Outcome: v.outcome, Why: v.why, Text: c.Text,
		Expected: []WrittenCall{}, Found: []WrittenCall{},
	}
	for _, x := range c.Expected.Calls {
		d.Expected = append(d.Expected, WrittenCall(x))
	}
	if v.result == nil {
		return d
	}
	for i := range v.result.Calls {
		d.Found = append(d.Found, WrittenCall{Tool: v.result.Calls[i].Tool, Parameters: v.result.Calls[i].Parameters})
	}
	for i := range v.result.Rejected {
		d.Rejected = append(d.Rejected, string(v.result.Rejected[i].Reason()))
	}
	return d
}
