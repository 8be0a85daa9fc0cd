package fallback

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/callwright/callwright/registry"
)

func TestGrounded(t *testing.T) {
	const source = `{"tool": get_weather, params = citty "São\u0020Paulo", days: 12, tags: [a, "b c"] note ""}`
	for _, tt := range []struct {
		parameters string
		path       string // of what is invented; "" if nothing is
	}{
		{`{"city": "São Paulo", "days": 12, "tags": ["a", "b c"], "note": ""}`, ""},
		{`{"days": 1}`, "/days"},
		{`{"days": "12", "city": "Sã"}`, "/city"},
		{`{"tags": ["c"]}`, "/tags/0"},
		{`{"width": 12}`, "/width"},
		{`{"tags": {"x/y": 1}}`, "/tags/x~1y"},
	} {
		var p map[string]any
		if err := json.Unmarshal([]byte(tt.parameters), &p); err != nil {
			t.Fatal(err)
		}
		_, err := grounded(source, &registry.Tool{}, p)
		var invented *InventedError
		if tt.path == "" && err != nil || tt.path != "" && (!errors.As(err, &invented) || invented.Path != tt.path) {
			t.Errorf("%s: %v, want an error at %q", tt.parameters, err, tt.path)
		}
	}
}

// FuzzGrounded holds that no text makes the check panic.
func FuzzGrounded(f *testing.F) {
	for _, s := range []string{"city", `{"city": "Ro\u00", "x": 1}`, "x = \"\", city:\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(_ *testing.T, text string) {
		_, _ = grounded(text, &registry.Tool{}, map[string]any{"city": text, "x": "1", "list": []any{text, nil, 1.5, true}})
	})
}
