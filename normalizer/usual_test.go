package normalizer

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/callwright/callwright/registry"
)

// TestUsual holds that the shortcut for the usual shape of a call finds what all detectors in
// their order find.
func TestUsual(t *testing.T) {
	tools, err := registry.New(registry.Tool{Name: "add"}, registry.Tool{Name: "parallel"})
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.SampledFrom([]string{"name", "arguments", "type", "object", "properties", "tool", "tool_calls", "id", "add", "description"})
		inner := rapid.MapOf(word, rapid.OneOf(rapid.Map(word, asAny), rapid.Just[any](map[string]any{"name": "add"}))).Draw(t, "arguments")
		m := map[string]any{
			"name":      rapid.SampledFrom([]string{"add", "sub", " ", "parallel", "function", "multi_tool_use.parallel"}).Draw(t, "name"),
			"arguments": inner,
		}
		if rapid.Bool().Draw(t, "more") {
			m[word.Draw(t, "key")] = rapid.OneOf(rapid.Map(word, asAny), rapid.Just[any](inner)).Draw(t, "value")
		}
		o := Options{Marked: rapid.Bool().Draw(t, "marked")}
		if rapid.Bool().Draw(t, "known") {
			o.Registry = tools
		}
		run := func(all bool) (f Found, ok bool) {
			n := &normalization{o: o, known: o.Registry != nil, depth: 1}
			if !all {
				return n.object(m, m)
			}
			for i := range detectors {
				if n.try(&detectors[i], m, m, &f) {
					return f, true
				}
			}
			return f, false
		}
		got, ok := run(false)
		want, wantOK := run(true)
		if ok != wantOK || !cmp.Equal(got, want) {
			t.Fatalf("%v: %v\n%s", m, ok, cmp.Diff(want, got))
		}
	})
}

func asAny(s string) any { return s }
