package lenient

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestReaderReused holds that a reader that was freed reads the next value as a new one does,
// and that the values it has read stay as they are.
func TestReaderReused(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.OneOf(
			rapid.StringMatching(`[\[{"':,a-c1\\\] }]{0,24}`),
			rapid.SampledFrom([]string{`{"a": [1, {"b": "x\ny"}], "c": "d"}`, `[[[[[[1]]]]], "\u00e9", 'x']`, `{"key": {"key": {"key": {"key": {}}}}}`}),
		), 1, 6).Draw(t, "texts")
		type read struct {
			value any
			err   bool
			fixes []string
		}
		var reused, fresh []read
		for _, text := range texts {
			r := NewReader(NewText(text), Options{})
			v, err := r.Value()
			reused = append(reused, read{v, err != nil, r.Fixes.Names()})
			r.Free()
		}
		for _, text := range texts {
			r := &Reader{c: NewText(text), o: Options{MaxDepth: MaxDepth}, balanceStart: -1}
			v, err := r.Value()
			fresh = append(fresh, read{v, err != nil, r.Fixes.Names()})
		}
		if d := cmp.Diff(fresh, reused, cmp.AllowUnexported(read{})); d != "" {
			t.Fatalf("%q (-new +reused):\n%s", texts, d)
		}
	})
}
