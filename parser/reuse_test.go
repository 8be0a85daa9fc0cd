package parser

import (
	"encoding/json"
	"sync"
	"testing"

	"github.com/callwright/callwright/registry"
)

// TestReuse holds that parses which reuse each other's memory, at the same time and one after
// the other, give the results of the first, and leave results alone that were handed out.
func TestReuse(t *testing.T) {
	tools, err := registry.New(registry.Tool{Name: "f", Parameters: map[string]any{"a": map[string]any{"type": "string"}}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := New(tools, Options{NewID: func() string { return "id" }})
	if err != nil {
		t.Fatal(err)
	}
	texts := []string{
		`<tool_call>{"name": "f", "arguments": {"a": "x\ny"}}</tool_call>`, `No call, {but} a [b] <c d>.`, `{"name": "f", "arguments": {"a": [1, {"b": [`,
		`<tool_call>{"name": "g", "arguments": {}}</tool_call>`, `Now: {"tool": "f", "a": "b}`, `<think>f</think><tool_call>f`,
	}
	asJSON := func(r *Result) string {
		c := *r
		c.DurationMicroseconds = 0
		c.Calls = append([]Call(nil), r.Calls...)
		for i := range c.Calls {
			c.Calls[i].Metadata.Timestamp = r.Calls[0].Metadata.Timestamp.Truncate(1 << 62)
		}
		c.Recovery = nil // has times
		b, err := json.Marshal(&c)
		if err != nil {
			t.Error(err)
		}
		return string(b)
	}
	var first []string
	var results []*Result
	for _, in := range texts {
		r, err := p.Parse(t.Context(), in, Context{})
		if err != nil {
			t.Fatal(err)
		}
		first, results = append(first, asJSON(r)), append(results, r)
	}
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			for n := range 50 {
				i := (n*7 + worker) % len(texts)
				r, err := p.Parse(t.Context(), texts[i], Context{})
				if err != nil {
					t.Error(err)
				} else if got := asJSON(r); got != first[i] {
					t.Errorf("%q\n got %s\nwant %s", texts[i], got, first[i])
				}
			}
		})
	}
	wg.Wait()
	for i, r := range results {
		if got := asJSON(r); got != first[i] {
			t.Errorf("the result of %q has changed\n got %s\nwant %s", texts[i], got, first[i])
		}
	}
}
