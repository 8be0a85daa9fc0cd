package corpus

import (
	"context"
	"encoding/json"

	"github.com/callwright/callwright/parser"
	"github.com/callwright/callwright/validator"
)

// Labelled is a candidate's score and whether it is what the text means.
type Labelled struct {
	Case  *Case
	Score parser.Score
	// Right says that the text means this call, parameter for parameter.
	Right bool
	// Called says that the parser made the call.
	Called bool
}

// Label parses the cases and tells which is right of the calls that were made, and of
// those that were not made for want of confidence.
func Label(cases []Case) ([]Labelled, error) {
	var out []Labelled
	for i := range cases {
		c := &cases[i]
		p, err := parser.New(c.Tools, parser.Options{NoFallbacks: true})
		if err != nil {
			return nil, err
		}
		r, err := p.Parse(context.Background(), c.Text, parser.Context{})
		if err != nil {
			return nil, err
		}
		left := map[string]int{}
		for _, w := range c.Want {
			left[c.key(w.Tool, w.Parameters)]++
		}
		add := func(tool string, parameters map[string]any, score parser.Score, called bool) {
			k := c.key(tool, parameters)
			right := left[k] > 0
			if right {
				left[k]--
			}
			out = append(out, Labelled{c, score, right, called})
		}
		for j := range r.Calls {
			add(r.Calls[j].Tool, r.Calls[j].Parameters, r.Calls[j].Score, true)
		}
		for j := range r.Rejected {
			if r.Rejected[j].Reason() != parser.CodeLowConfidence {
				continue // not for want of confidence
			}
			add(r.Rejected[j].Tool, r.Rejected[j].Parameters, r.Rejected[j].Score, false)
		}
	}
	return out, nil
}

// key writes a call so that equal ones are equal, with defaults filled in.
func (c *Case) key(tool string, parameters map[string]any) string {
	var decoded map[string]any
	if err := json.Unmarshal([]byte(encode(parameters)), &decoded); err != nil {
		return tool
	}
	if t := c.Tools.Get(tool); t != nil {
		v := validator.Validate(t, decoded, validator.Options{})
		decoded = v.Parameters
	}
	return tool + encode(decoded)
}
