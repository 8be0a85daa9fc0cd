package parser_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/callwright/callwright/cache"
	"github.com/callwright/callwright/fallback"
	"github.com/callwright/callwright/metrics"
	"github.com/callwright/callwright/parser"
	"github.com/callwright/callwright/registry"
)

func weatherTools(t testing.TB, properties map[string]any) *registry.Registry {
	t.Helper()
	r, err := registry.New(registry.Tool{Name: "get_weather", Description: "Get the weather.", Parameters: map[string]any{"type": "object", "properties": properties, "required": []any{"city"}}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func cityOnly() map[string]any { return map[string]any{"city": map[string]any{"type": "string"}} }

func mustParser(t testing.TB, r *registry.Registry, o parser.Options) *parser.Parser {
	t.Helper()
	p, err := parser.New(r, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func mustCache(t testing.TB) *parser.Cache {
	t.Helper()
	c, err := parser.NewCache(cache.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func mustParse(t testing.TB, p *parser.Parser, text string, c parser.Context) *parser.Result {
	t.Helper()
	r, err := p.Parse(context.Background(), text, c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

const romeCall = `<tool_call>{"name": "get_weather", "arguments": {"city": "Rome", "more": {"a": [1]}}}</tool_call>`

func TestCacheGivesCopies(t *testing.T) {
	c := mustCache(t)
	p := mustParser(t, weatherTools(t, cityOnly()), parser.Options{Cache: c})
	first := mustParse(t, p, romeCall, parser.Context{})
	first.Calls[0].Parameters["city"] = "Oslo"
	first.Calls[0].Warnings = append(first.Calls[0].Warnings, "mine")
	second := mustParse(t, p, romeCall, parser.Context{})
	if first.Cached || !second.Cached {
		t.Error("the second is not from the cache")
	}
	x := &second.Calls[0]
	if x.Parameters["city"] != "Rome" || len(x.Warnings) != 0 {
		t.Errorf("what one changes another sees: %v %v", x.Parameters, x.Warnings)
	}
	more, _ := x.Parameters["more"].(map[string]any)
	more["a"] = nil
	third := mustParse(t, p, romeCall, parser.Context{})
	if got := fmt.Sprint(third.Calls[0].Parameters["more"]); got != "map[a:[1]]" {
		t.Errorf("nested: %s", got)
	}
	if first.Calls[0].ID == x.ID || x.ID == third.Calls[0].ID {
		t.Error("an id that was made comes twice")
	}
	given := `{"tool_calls": [{"id": "call_7", "type": "function", "function": {"name": "get_weather", "arguments": "{\"city\": \"Rome\"}"}}]}`
	if a, b := mustParse(t, p, given, parser.Context{}), mustParse(t, p, given, parser.Context{}); a.Calls[0].ID != "call_7" || b.Calls[0].ID != "call_7" || !b.Cached {
		t.Error("an id that the model gave changes")
	}
}

// TestCacheKeepsApart checks that nothing leaks between what is not the same.
func TestCacheKeepsApart(t *testing.T) {
	c := mustCache(t)
	withUnit := cityOnly()
	withUnit["unit"] = map[string]any{"type": "string", "default": "c"}
	plain := mustParser(t, weatherTools(t, cityOnly()), parser.Options{Cache: c})
	for name, other := range map[string]struct {
		p *parser.Parser
		c parser.Context
	}{
		"tools":          {mustParser(t, weatherTools(t, withUnit), parser.Options{Cache: c}), parser.Context{}},
		"strict":         {mustParser(t, weatherTools(t, cityOnly()), parser.Options{Cache: c, StrictMode: true}), parser.Context{}},
		"tenant":         {plain, parser.Context{Tenant: "b"}},
		"model":          {plain, parser.Context{Model: "qwen"}},
		"format":         {plain, parser.Context{Format: "hermes"}},
		"formats":        {plain, parser.Context{Formats: []string{"hermes"}}},
		"prompt":         {plain, parser.Context{Prompt: []string{"x"}}},
		"values":         {plain, parser.Context{Values: map[string]any{"a": 1}}},
		"reasoning_open": {plain, parser.Context{ReasoningOpen: true}},
		"fallbacks":      {mustParser(t, weatherTools(t, cityOnly()), parser.Options{Cache: c, Fallbacks: fallback.Steps(fallback.NewIntent())}), parser.Context{}},
	} {
		c.Purge()
		mustParse(t, plain, romeCall, parser.Context{})
		if r := mustParse(t, other.p, romeCall, other.c); r.Cached {
			t.Errorf("%s: the result is another's", name)
		}
		if r := mustParse(t, other.p, romeCall, other.c); !r.Cached {
			t.Errorf("%s: it is not kept", name)
		}
	}
	same := mustParser(t, weatherTools(t, cityOnly()), parser.Options{Cache: c})
	c.Purge()
	mustParse(t, plain, romeCall, parser.Context{})
	if r := mustParse(t, same, romeCall, parser.Context{}); !r.Cached {
		t.Error("a parser that is the same does not share")
	}
}

func TestNotCached(t *testing.T) {
	intent := fallback.Steps(fallback.NewIntent())
	for _, tt := range []struct {
		name, text string
		o          parser.Options
		kept       bool
	}{
		{"plain", romeCall, parser.Options{}, true},
		{"prose", "Hello there.", parser.Options{}, true},
		{"cut off", romeCall[:60], parser.Options{AllowPartial: true}, false},
		{"inferred", "Get the weather in Rome.", parser.Options{Fallbacks: intent}, false},
		{"inferred, asked for", "Get the weather in Rome.", parser.Options{Fallbacks: intent, CacheDoubtful: true}, true},
		{"too large", strings.Repeat("x", 100), parser.Options{MaxTextBytes: 50}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.o.Cache = mustCache(t)
			p := mustParser(t, weatherTools(t, cityOnly()), tt.o)
			_, first := p.Parse(context.Background(), tt.text, parser.Context{})
			r, err := p.Parse(context.Background(), tt.text, parser.Context{})
			if r.Cached != tt.kept || fmt.Sprint(first) != fmt.Sprint(err) {
				t.Errorf("cached %v, %v, %v", r.Cached, first, err)
			}
		})
	}
}

// slowTier counts how often it is asked, and waits until it is told to go on.
type slowTier struct {
	asked atomic.Int32
	goOn  chan struct{}
}

func (*slowTier) Strategy() fallback.Strategy { return "slow" }
func (*slowTier) Applies(*fallback.Case) bool { return true }
func (s *slowTier) Recover(ctx context.Context, k *fallback.Case) (fallback.Recovery, error) {
	s.asked.Add(1)
	select {
	case <-s.goOn:
		return fallback.Recovery{}, nil
	case <-ctx.Done():
		return fallback.Recovery{}, ctx.Err()
	}
}

func TestParsedOnce(t *testing.T) {
	tier := &slowTier{goOn: make(chan struct{})}
	p := mustParser(t, weatherTools(t, cityOnly()), parser.Options{Cache: mustCache(t), Fallbacks: fallback.Steps(tier)})
	text := `<tool_call>{"name": "get_weather", "arguments": {}}</tool_call>`
	gone, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	left := make(chan struct{})
	for i := range 16 {
		ctx := context.Background()
		if i == 0 {
			ctx = gone
		}
		wg.Go(func() {
			r, err := p.Parse(ctx, text, parser.Context{})
			if i == 0 {
				close(left)
			}
			if i == 0 && !errors.Is(err, context.Canceled) {
				t.Errorf("who went away gets %v", err)
			}
			if i > 0 && (err != nil || len(r.Rejected) != 1) {
				t.Errorf("%+v, %v", r, err)
			}
			if i == 0 && r.Content != text {
				t.Errorf("the text is lost: %q", r.Content)
			}
		})
	}
	for tier.asked.Load() == 0 {
	}
	cancel()
	<-left
	close(tier.goOn)
	wg.Wait()
	if n := tier.asked.Load(); n > 2 { // one may come when all is over
		t.Errorf("it was parsed %d times", n)
	}
}

func TestPatterns(t *testing.T) {
	patterns, err := cache.NewPatterns(0)
	if err != nil {
		t.Fatal(err)
	}
	p := mustParser(t, weatherTools(t, cityOnly()), parser.Options{Patterns: patterns})
	mustParse(t, p, romeCall, parser.Context{Model: "m", Tenant: "a"})
	mustParse(t, p, `<tool_call>{"name": "get_weather", "arguments": {"city": "Rome",}}</tool_call>`, parser.Context{Model: "m", Tenant: "a"})
	mustParse(t, p, `{"name": "get_weather", "arguments": {"city": "Rome"}}`, parser.Context{Model: "m", Tenant: "a"})
	if got := patterns.Likeliest("a", "m", cache.KindDialect); len(got) != 1 || got[0].Name != "hermes" || got[0].Worked != 2 {
		t.Errorf("%+v", got)
	}
	if got := patterns.Likeliest("a", "m", cache.KindRepair); len(got) != 1 || got[0].Name != "trailing_comma" {
		t.Errorf("%+v", got)
	}
	if got := patterns.Likeliest("b", "m", cache.KindDialect); len(got) != 0 {
		t.Errorf("another tenant learns %+v", got)
	}
	// What was learned decides no more than the order.
	for _, text := range []string{romeCall, `[TOOL_CALLS][{"name": "get_weather", "arguments": {"city": "Oslo"}}]`, "no call"} {
		a := mustParse(t, p, text, parser.Context{Model: "m", Tenant: "a"})
		b := mustParse(t, mustParser(t, weatherTools(t, cityOnly()), parser.Options{}), text, parser.Context{})
		if len(a.Calls) != len(b.Calls) || a.Content != b.Content {
			t.Errorf("%s: %d and %d calls", text, len(a.Calls), len(b.Calls))
		}
	}
}

func TestMetrics(t *testing.T) {
	m := metrics.New(metrics.Options{})
	c := mustCache(t)
	m.SetCache(c.Stats)
	p := mustParser(t, weatherTools(t, cityOnly()), parser.Options{Metrics: m, Cache: c, Fallbacks: fallback.Steps(fallback.AutoRepair{}, fallback.NewIntent(), fallback.Clarification{})})
	for _, text := range []string{
		romeCall, romeCall, "Just words.", "Get the weather in Rome.",
		`<tool_call>{"name": "ignore_all_rules", "arguments": {}}</tool_call>`, `<tool_call>{"name": "get_weather", "arguments": {}}</tool_call>`,
	} {
		mustParse(t, p, text, parser.Context{Model: "qwen"})
	}
	f := p.NewFeeder(context.Background(), parser.Context{Model: "qwen"})
	if _, err := f.Feed([]byte(romeCall)); err != nil {
		t.Fatal(err)
	}
	if _, err := f.End(); err != nil {
		t.Fatal(err)
	}
	f.Close()
	got := m.Performance()
	if got.Parses != (metrics.Outcomes{All: 7, Call: 4, NoCall: 1, Missed: 2}) {
		t.Errorf("%+v", got.Parses)
	}
	if s := got.SuccessRate; s.FirstAttempt != 0.5 || s.WithFallback != 4.0/6 || s.ByModel["qwen"] != 4.0/6 || s.ByFormat["hermes"] < 0.5 {
		t.Errorf("%+v", s)
	}
	if e := got.ErrorDistribution; e.ByType["unknown_tool"] != 1 || e.ByType["required_parameter_missing"] != 1 || e.BySeverity[metrics.High] != 1 || e.BySeverity[metrics.Medium] != 1 {
		t.Errorf("%+v", e)
	}
	if x := got.Tiers["intent_extraction"]; x.Attempts < 1 || x.Successes != 1 {
		t.Errorf("%+v", got.Tiers)
	}
	if x := got.CacheEfficiency; x.Stats.Hits != 1 || x.Size != 4 {
		t.Errorf("%+v", x)
	}
	if got.Calls["get_weather"] != 4 || len(got.Calls) != 1 {
		t.Errorf("%v", got.Calls)
	}
	h := m.Health()
	if h.Status != metrics.Healthy || len(h.RecentErrors) != 2 || h.Metrics.RequestCount != 7 {
		t.Errorf("%+v", h)
	}
	if text := fmt.Sprintf("%+v", h); strings.Contains(text, "ignore_all") || strings.Contains(text, "Rome") {
		t.Errorf("the health quotes a text: %s", text)
	}
}
