package metrics_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright/cache"
	"github.com/callwright/callwright/metrics"
)

func call(model string, d time.Duration) *metrics.Sample {
	return &metrics.Sample{Duration: d, Model: model, Calls: []metrics.Call{{Tool: "t", Format: "hermes"}}}
}

func missed(code string) *metrics.Sample {
	return &metrics.Sample{Duration: time.Millisecond, Rejected: []metrics.Rejected{{Tool: metrics.Other, Format: "hermes", Code: code}}}
}

func TestPercentiles(t *testing.T) {
	m := metrics.New(metrics.Options{})
	for i := range 1000 {
		m.Observe(call("m", time.Duration(i+1)*time.Millisecond))
	}
	near := func(got int64, want time.Duration) bool {
		return float64(got) > 0.98*float64(want.Microseconds()) && float64(got) < 1.02*float64(want.Microseconds())
	}
	p := m.Performance().ParsingTime
	if !near(p.P50, 500*time.Millisecond) || !near(p.P90, 900*time.Millisecond) || !near(p.P99, 990*time.Millisecond) ||
		!near(p.Max, time.Second) {
		t.Errorf("%+v", p)
	}
	buckets, n, sum := m.Buckets()
	if n != 1000 || sum < 500 || sum > 501 || buckets[len(buckets)-1].Count != 1000 || buckets[0].Count != 0 {
		t.Errorf("%v %d %g", buckets, n, sum)
	}
}

// TestNames checks that no stranger's names become labels without bound.
func TestNames(t *testing.T) {
	m := metrics.New(metrics.Options{})
	for i := range 5000 {
		m.Observe(&metrics.Sample{
			Model: fmt.Sprint("model", i), Calls: []metrics.Call{{Tool: fmt.Sprint("tool", i), Format: fmt.Sprint("format", i)}},
			Rejected: []metrics.Rejected{{Code: fmt.Sprint("code", i)}}, Attempts: []metrics.Attempt{{Strategy: fmt.Sprint("tier", i)}},
		})
	}
	m.Observe(call("line\nbreak", 0))
	m.Observe(call(strings.Repeat("x", 1000), 0))
	p := m.Performance()
	for name, n := range map[string]int{
		"models": len(p.SuccessRate.ByModel), "formats": len(p.SuccessRate.ByFormat), "tools": len(p.Calls),
		"codes": len(p.ErrorDistribution.ByType), "tiers": len(p.Tiers),
	} {
		if n > metrics.MaxTools+1 || n == 0 {
			t.Errorf("%d %s", n, name)
		}
	}
	if len(p.SuccessRate.ByModel) != metrics.MaxModels+1 || p.Parses.All != 5002 {
		t.Errorf("%d models, %+v", len(p.SuccessRate.ByModel), p.Parses)
	}
}

func TestAlerts(t *testing.T) {
	for _, bad := range []string{
		"", "error_rate", "x > 1%", "error_rate > x", "error_rate > 200%", "p99_parsing_time > 5", "p99_parsing_time > -1s",
	} {
		if _, err := metrics.ParseAlert(bad); !errors.Is(err, metrics.ErrAlert) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	for _, name := range metrics.Measures() {
		if _, err := metrics.ParseAlert(name + " > 0.5"); err != nil && !strings.HasSuffix(name, "_time") {
			t.Error(err)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		var alerts []metrics.Alert
		for _, s := range []string{"error_rate > 10%", "p99_parsing_time > 1000ms", "cache_hit_rate < 0.1"} {
			a, err := metrics.ParseAlert(s)
			if err != nil {
				t.Fatal(err)
			}
			alerts = append(alerts, a)
		}
		m := metrics.New(metrics.Options{Alerts: alerts})
		status := func(want metrics.Status, fired ...string) {
			t.Helper()
			if h := m.Health(); h.Status != want || fmt.Sprint(h.Alerts) != fmt.Sprint(fired) {
				t.Errorf("%s %v, want %s %v", h.Status, h.Alerts, want, fired)
			}
		}
		for range 10 {
			m.Observe(missed("malformed"))
		}
		status(metrics.Healthy) // too few to tell
		for range 70 {
			m.Observe(call("m", time.Millisecond))
		}
		status(metrics.Degraded, "error_rate > 10%")
		for range 40 {
			m.Observe(missed("malformed"))
		}
		status(metrics.Unhealthy, "error_rate > 10%")
		for range 20 {
			m.Observe(call("m", 2*time.Second))
		}
		status(metrics.Unhealthy, "error_rate > 10%", "p99_parsing_time > 1000ms")
		time.Sleep(6 * time.Minute)
		status(metrics.Healthy) // what was long ago does not count
		for range 30 {
			m.Observe(call("m", 2*time.Second))
		}
		status(metrics.Degraded, "p99_parsing_time > 1000ms")
		m.SetCache(func() cache.Stats { return cache.Stats{Hits: 1, Misses: 999} })
		status(metrics.Unhealthy, "p99_parsing_time > 1000ms", "cache_hit_rate < 0.1")
	})
}

func TestRecommendations(t *testing.T) {
	m := metrics.New(metrics.Options{RecentErrors: 3})
	for range 30 {
		s := missed("truncated")
		s.Model = "small"
		m.Observe(s)
	}
	h := m.Health()
	text := strings.Join(h.Recommendations, "\n")
	if !strings.Contains(text, "output tokens") || !strings.Contains(text, "small") {
		t.Errorf("%s", text)
	}
	if len(h.RecentErrors) != 3 || h.RecentErrors[0].Code != "truncated" || h.RecentErrors[0].Severity != metrics.High ||
		h.RecentErrors[0].Tool != metrics.Other {
		t.Errorf("%+v", h.RecentErrors)
	}
	if h.ResourceUsage.MemoryBytes == 0 {
		t.Error("no memory is used")
	}
}

func TestConcurrent(t *testing.T) {
	m := metrics.New(metrics.Options{})
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			for range 500 {
				m.Observe(call(fmt.Sprint(i), time.Microsecond))
				m.Observe(missed("echo"))
			}
		})
		wg.Go(func() { m.Performance(); m.Health(); m.TierRate("x") })
	}
	wg.Wait()
	if p := m.Performance(); p.Parses.All != 16000 || p.Parses.Call != 8000 {
		t.Errorf("%+v", p.Parses)
	}
}
