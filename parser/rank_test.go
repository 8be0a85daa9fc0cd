package parser_test

import (
	"fmt"
	"testing"

	"github.com/callwright/callwright/parser"
)

func TestRank(t *testing.T) {
	p := mustParser(t, weatherTools(t, cityOnly()), parser.Options{})
	var results []*parser.Result
	for _, text := range []string{
		"No call at all.",
		`I do it: {"name": "get_weather", "arguments": {"city": Rome}}`,
		`<tool_call>{"name": "get_weather", "arguments": {}}</tool_call>`,
		`<tool_call>{"name": "get_weather", "arguments": {"city": "Rome"}}</tool_call>`,
		`<tool_call>{"name": "get_weather", "arguments": {"city": "Rome",}}</tool_call>`,
	} {
		results = append(results, mustParse(t, p, text, parser.Context{}))
	}
	results = append(results, nil)
	var order []int
	for _, x := range parser.Rank(results...) {
		order = append(order, x.Attempt)
	}
	if fmt.Sprint(order) != "[3 4 1 0 2]" {
		t.Errorf("%v", order)
	}
	s := results[2].Score()
	if !s.Flags.HasMissingRequired || s.Components.Completeness >= 1 || s.Overall != 0 {
		t.Errorf("%+v", s)
	}
}
