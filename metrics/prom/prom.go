// Package prom exposes the counts of a [metrics.Recorder] to Prometheus.
package prom

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/callwright/callwright/metrics"
)

// Collector is a [prometheus.Collector] of a recorder. Its labels are from closed or
// bounded sets: no name in a text becomes one.
type Collector struct{ r *metrics.Recorder }

// New returns a collector of a recorder.
func New(r *metrics.Recorder) *Collector { return &Collector{r} }

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("callwright_"+name, help, labels, nil)
}

var (
	parses    = describe("parses_total", "Parses by outcome.", "outcome")
	duration  = describe("parse_duration_seconds", "How long parses take.")
	byModel   = describe("parses_by_model_total", "Parses in which a call was meant, by model and whether one was made.", "model", "made")
	byFormat  = describe("calls_by_format_total", "Calls that were meant, by format and whether they were made.", "format", "made")
	byTool    = describe("calls_total", "Calls that were made, by tool.", "tool")
	errs      = describe("errors_total", "Errors by code and severity.", "code", "severity")
	tiers     = describe("fallback_attempts_total", "Attempts of fallbacks, by strategy and whether they gave a call.", "strategy", "success")
	hits      = describe("cache_lookups_total", "Lookups in the cache of results.", "hit")
	entries   = describe("cache_entries", "Results in the cache.")
	bytes     = describe("cache_bytes", "Bytes that the cached results take.")
	evictions = describe("cache_evictions_total", "Results that left the cache for want of room.")
	health    = describe("health", "1 for the status that the parser has.", "status")
)

// Describe names the metrics.
func (c *Collector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{parses, duration, byModel, byFormat, byTool, errs, tiers, hits, entries, bytes, evictions, health} {
		ch <- d
	}
}

// Collect sends the metrics.
func (c *Collector) Collect(ch chan<- prometheus.Metric) {
	count := func(d *prometheus.Desc, n int64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), labels...)
	}
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	p := c.r.Performance()
	count(parses, p.Parses.Call, metrics.OutcomeCall)
	count(parses, p.Parses.NoCall, metrics.OutcomeNoCall)
	count(parses, p.Parses.Missed, metrics.OutcomeMissed)
	count(parses, p.Parses.Failed, metrics.OutcomeFailed)
	buckets, n, sum := c.r.Buckets()
	cumulative := make(map[float64]uint64, len(buckets))
	for _, b := range buckets {
		cumulative[b.Seconds] = b.Count
	}
	ch <- prometheus.MustNewConstHistogram(duration, n, sum, cumulative)
	models, formats := c.r.Counts()
	for name, x := range models {
		count(byModel, x.Good, name, "true")
		count(byModel, x.All-x.Good, name, "false")
	}
	for name, x := range formats {
		count(byFormat, x.Good, name, "true")
		count(byFormat, x.All-x.Good, name, "false")
	}
	for name, n := range p.Calls {
		count(byTool, n, name)
	}
	for code, n := range p.ErrorDistribution.ByType {
		count(errs, n, code, string(metrics.SeverityOf(code)))
	}
	for name, t := range p.Tiers {
		count(tiers, t.Successes, name, "true")
		count(tiers, t.Attempts-t.Successes, name, "false")
	}
	stats := p.CacheEfficiency.Stats
	count(hits, stats.Hits, "true")
	count(hits, stats.Misses, "false")
	gauge(entries, float64(stats.Entries))
	gauge(bytes, float64(stats.Bytes))
	count(evictions, stats.Evictions)
	status := c.r.Health().Status
	for _, s := range []metrics.Status{metrics.Healthy, metrics.Degraded, metrics.Unhealthy} {
		v := 0.0
		if s == status {
			v = 1
		}
		gauge(health, v, string(s))
	}
}
