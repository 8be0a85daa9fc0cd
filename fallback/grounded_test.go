package fallback

import (
	"encoding/json"
	"errors"
	"strings"
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

// TestOtherNames shows when a parameter may have another name in the text, which is listed.
func TestOtherNames(t *testing.T) {
	list, err := registry.New(registry.Tool{Name: "run", Parameters: map[string]any{
		"type": "object", "properties": map[string]any{"command": map[string]any{"type": "string"}, "cwd": map[string]any{"type": "string"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for source, want := range map[string]string{
		`{"tool": run, "cmd": "ls -l"}`:                  "renamed cmd to command",
		`{"tool": run, "cwd": "ls -l"}`:                  "", // another parameter
		`{"tool": run, "cmd": "ls -la"}`:                 "", // a part of a value
		`{"tool": run, "cmd": "ls -l", "exec": "ls -l"}`: "", // two names
		`{"tool": run, "arguments": "ls -l"}`:            "", // no parameter's name
		`{"tool": run, cmd: ls -l}`:                      "", // where it ends is a guess
	} {
		renamed, err := grounded(source, list.Get("run"), map[string]any{"command": "ls -l"})
		if got := strings.Join(renamed, ", "); got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v, want %q", source, got, err, want)
		}
	}
}
