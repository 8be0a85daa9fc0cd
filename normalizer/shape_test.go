package normalizer_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/callwright/callwright/normalizer"
	"github.com/callwright/callwright/registry"
)

// TestKeySpellings holds that the case and the separators of the keys around a call do
// not change what is called.
func TestKeySpellings(t *testing.T) {
	tools, err := registry.New(registry.Tool{Name: "add", Parameters: map[string]any{
		"type": "object", "properties": map[string]any{"a": map[string]any{"type": "integer"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		spell := func(words ...string) string {
			key := ""
			for i, w := range words {
				switch rapid.IntRange(0, 2).Draw(t, "case") {
				case 1:
					w = strings.ToUpper(w[:1]) + w[1:]
				case 2:
					w = strings.ToUpper(w)
				}
				if i > 0 {
					key += rapid.SampledFrom([]string{"", "_", "-", " "}).Draw(t, "separator")
				}
				key += w
			}
			return key
		}
		name := rapid.SampledFrom([][]string{{"name"}, {"tool"}, {"function"}, {"func"}, {"tool", "name"}, {"tool", "call"}}).Draw(t, "name")
		args := rapid.SampledFrom([][]string{{"args"}, {"params"}, {"arguments"}, {"action", "input"}, {"tool", "input"}}).Draw(t, "args")
		want := map[string]any{"a": 1.0}
		found := normalizer.Detect(map[string]any{spell(name...): "add", spell(args...): want}, normalizer.Options{Registry: tools})
		if len(found.Entries) != 1 || found.Entries[0].Name != "add" || !cmp.Equal(found.Entries[0].Arguments, any(want)) {
			t.Fatalf("found %+v", found)
		}
	})
}

// TestHalfList checks that a list in which an element that seems a call cannot be read
// says so, wherever that element stands.
func TestHalfList(t *testing.T) {
	tools, err := registry.New(registry.Tool{Name: "add"})
	if err != nil {
		t.Fatal(err)
	}
	whole := map[string]any{"name": "add", "arguments": map[string]any{}}
	for _, list := range [][]any{
		{whole, map[string]any{"name": "add", "arguments": 3.0}},
		{map[string]any{"arguments": map[string]any{}}, whole},
	} {
		for _, v := range []any{list, map[string]any{"tool_calls": list}} {
			if found := normalizer.Detect(v, normalizer.Options{Registry: tools}); !found.Half {
				t.Errorf("%v: not half: %+v", v, found)
			}
		}
	}
	if found := normalizer.Detect([]any{whole, whole}, normalizer.Options{Registry: tools}); found.Half || len(found.Entries) != 2 {
		t.Errorf("two whole calls: %+v", found)
	}
}
