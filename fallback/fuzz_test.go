package fallback_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/fallback"
	"github.com/callwright/callwright/parser"
)

// FuzzRecover has every tier that asks nobody look at any text.
func FuzzRecover(f *testing.F) {
	for _, s := range []string{
		broken, "Draw a blue rectangle 120x48 at (1, 2).", `<tool_call>{"name": "get_weather", "arguments": {"city": "Ro`, "get_weather(\x00",
		`{"a": "\ud800`,
	} {
		f.Add(s)
	}
	p := newParser(f, fallback.Steps(fallback.Clarification{}, fallback.NewIntent(), fallback.Partial{}, fallback.AutoRepair{})...)
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 4<<10 {
			return
		}
		r, err := p.Parse(context.Background(), text, parser.Context{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range r.Calls {
			c := &r.Calls[i]
			if r.Strategy == "intent_extraction" && (!c.Inferred || c.Confidence > fallback.MaxIntentConfidence) {
				t.Errorf("%+v", c)
			}
			if r.Strategy == "partial_execution" && !c.Truncated {
				t.Errorf("%+v", c)
			}
			if r.Strategy != "" && strings.HasPrefix(r.Strategy, "intent") {
				for key, v := range c.Parameters { // nothing is invented
					if s, ok := v.(string); ok && !strings.Contains(strings.ToLower(text), strings.ReplaceAll(strings.ToLower(s), "_", " ")) &&
						!strings.Contains(strings.ToLower(text), strings.ToLower(s)) {
						t.Errorf("%s=%q does not stand in %q", key, s, text)
					}
				}
			}
		}
	})
}

// TestLinear checks that the signs and the intent of a large text cost little.
func TestLinear(t *testing.T) {
	p := newParser(t, fallback.Steps(fallback.NewIntent(), fallback.Clarification{})...)
	for _, s := range []string{"get_weather ", "draw a rectangle 1x1 ", "rectangle", "a", "\"", "{\"tool\" ", "(1,"} {
		text := strings.Repeat(s, 1<<20/len(s))
		start := time.Now()
		if _, err := p.Parse(context.Background(), text, parser.Context{}); err != nil && !strings.Contains(err.Error(), "too long") {
			t.Errorf("%q: %v", s, err)
		}
		if d := time.Since(start); d > 20*time.Second {
			t.Errorf("%q takes %v", s, d)
		} else {
			t.Logf("%q: %v", s, d)
		}
	}
}
