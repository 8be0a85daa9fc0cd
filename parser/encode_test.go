package parser

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"github.com/callwright/callwright/internal/wire"
)

// TestEncode holds that what is written without the encoder is what the encoder writes.
func TestEncode(t *testing.T) {
	number := rapid.Map(rapid.OneOf(rapid.StringMatching(`-?[0-9]{0,3}(\.[0-9])?(e[0-9])?`), rapid.String()), func(s string) any { return json.Number(s) })
	text := rapid.Map(rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-z<&>"\\ \x7f]{0,8}`)), func(s string) any { return s })
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.OneOf(number, text, rapid.Map(rapid.Bool(), func(b bool) any { return b }), rapid.Just[any](nil)).Draw(t, "value")
		want := "null"
		if b, err := wire.Encode(v); err == nil {
			want = string(b)
		}
		if got := encode(v); got != want {
			t.Fatalf("%#v is written as %s, want %s", v, got, want)
		}
	})
}

// TestIDSet holds an idSet beside a map.
func TestIDSet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var got idSet
		want := map[string]bool{}
		id := rapid.SampledFrom([]string{"", "a", "b", "c", "d", "e", "f", "g"})
		t.Repeat(map[string]func(*rapid.T){
			"add":    func(t *rapid.T) { k := id.Draw(t, "id"); got.add(k); want[k] = true },
			"remove": func(t *rapid.T) { k := id.Draw(t, "id"); got.remove(k); delete(want, k) },
			"": func(t *rapid.T) {
				if k := id.Draw(t, "id"); got.has(k) != want[k] {
					t.Fatalf("has(%q) is %v, want %v", k, got.has(k), want[k])
				}
			},
		})
	})
}
