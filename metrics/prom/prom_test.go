package prom_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/callwright/callwright/cache"
	"github.com/callwright/callwright/metrics"
	"github.com/callwright/callwright/metrics/prom"
)

func TestCollector(t *testing.T) {
	m := metrics.New(metrics.Options{Cache: func() cache.Stats { return cache.Stats{Hits: 3, Misses: 1, Entries: 2, Bytes: 100} }})
	m.Observe(&metrics.Sample{
		Duration: 30 * time.Microsecond, Model: "qwen", Calls: []metrics.Call{{Tool: "get_weather", Format: "hermes"}}, Strategy: "auto_repair",
		Attempts: []metrics.Attempt{{Strategy: "auto_repair", Calls: 1}},
	})
	m.Observe(&metrics.Sample{
		Duration: time.Second, Model: "qwen", Rejected: []metrics.Rejected{{Tool: metrics.Other, Format: "hermes", Code: "unknown_tool"}},
	})
	r := prometheus.NewPedanticRegistry()
	if err := r.Register(prom.New(m)); err != nil {
		t.Fatal(err)
	}
	if problems, err := testutil.GatherAndLint(r); err != nil || len(problems) > 0 {
		t.Errorf("%v %v", problems, err)
	}
	s := httptest.NewServer(promhttp.HandlerFor(r, promhttp.HandlerOpts{ErrorHandling: promhttp.HTTPErrorOnError}))
	defer s.Close()
	response, err := http.Get(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		`callwright_parses_total{outcome="call"} 1`, `callwright_parses_total{outcome="missed"} 1`,
		`callwright_parses_by_model_total{made="true",model="qwen"} 1`,
		`callwright_calls_by_format_total{format="hermes",made="false"} 1`, `callwright_calls_total{tool="get_weather"} 1`,
		`callwright_errors_total{code="unknown_tool",severity="high"} 1`,
		`callwright_fallback_attempts_total{strategy="auto_repair",success="true"} 1`,
		`callwright_cache_lookups_total{hit="true"} 3`, `callwright_cache_entries 2`, `callwright_parse_duration_seconds_bucket{le="5e-05"} 1`,
		`callwright_parse_duration_seconds_count 2`,
		`callwright_health{status="healthy"} 1`,
	} {
		if !strings.Contains(string(data), line) {
			t.Errorf("%s is missing in\n%s", line, data)
		}
	}
}
