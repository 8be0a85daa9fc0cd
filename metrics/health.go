package metrics

import (
	"fmt"
	"maps"
	"runtime/metrics"
	"slices"
	"sync"
	"time"
)

// Status is the health status of a parser.
type Status string

// The statuses.
const (
	Healthy Status = "healthy"
	// Degraded says that an alert fires.
	Degraded Status = "degraded"
	// Unhealthy says that an alert is crossed by a factor of three, or that more than half of
	// the parses of the last minutes failed.
	Unhealthy Status = "unhealthy"
)

// Health is the health report of a parser.
type Health struct {
	Status  Status        `json:"status"`
	Metrics HealthMetrics `json:"metrics"`
	// Alerts are the alerts that fire.
	Alerts          []string      `json:"alerts"`
	RecentErrors    []RecentError `json:"recent_errors"`
	ResourceUsage   ResourceUsage `json:"resource_usage"`
	Recommendations []string      `json:"recommendations"`
}

// HealthMetrics are the numbers of a [Health]. Rates are from 0 to 1. The error rate and
// the percentile are of the last five minutes.
type HealthMetrics struct {
	UptimeSeconds      float64 `json:"uptime_seconds"`
	RequestCount       int64   `json:"request_count"`
	ErrorRate          float64 `json:"error_rate"`
	CacheHitRate       float64 `json:"cache_hit_rate"`
	AverageParsingTime float64 `json:"avg_parsing_time_us"` // in microseconds
	P99ParsingTime     int64   `json:"p99_parsing_time_us"` // in microseconds
}

// ResourceUsage is what the process uses.
type ResourceUsage struct {
	MemoryBytes uint64 `json:"memory_bytes"` // of the heap
	// CPUSeconds is the CPU time of the process, CPU its share of one core since the
	// recorder was made; both are 0 where that is not known.
	CPUSeconds float64 `json:"cpu_seconds"`
	CPU        float64 `json:"cpu"`
	CacheSize  int64   `json:"cache_bytes"`
}

// RecentError is an error, without any text.
type RecentError struct {
	Time     time.Time `json:"time"`
	Code     string    `json:"code"`
	Severity Severity  `json:"severity"`
	Tool     string    `json:"tool,omitempty"`
	Format   string    `json:"format,omitempty"`
	Model    string    `json:"model,omitempty"`
}

// recentErrors is a ring.
type recentErrors struct {
	mu   sync.Mutex
	list []RecentError
	next int
	most int
}

func (r *recentErrors) add(e RecentError) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.list) < r.most {
		r.list = append(r.list, e)
		return
	}
	r.list[r.next] = e
	r.next = (r.next + 1) % r.most
}

// all returns the errors, newest first.
func (r *recentErrors) all() []RecentError {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := append(slices.Clone(r.list[r.next:]), r.list[:r.next]...)
	slices.Reverse(list)
	if list == nil {
		list = []RecentError{}
	}
	return list
}

func (r *Recorder) describe(x *Sample, now time.Time, model string) RecentError {
	e := RecentError{Time: now.UTC(), Code: codeName(x.Failure), Model: model}
	if x.Failure == "" {
		first := &x.Rejected[0]
		e.Code = codeName(first.Code)
		if first.Tool != "" {
			e.Tool = r.tools.name(first.Tool)
		}
		if first.Format != "" {
			e.Format = r.formats.name(first.Format)
		}
	}
	e.Severity = SeverityOf(e.Code)
	return e
}

// Health returns a health report.
func (r *Recorder) Health() Health {
	m := r.merge()
	h := Health{Status: Healthy, Alerts: []string{}, Recommendations: []string{}, RecentErrors: r.recent.all()}
	up := time.Since(r.started)
	h.Metrics = HealthMetrics{
		UptimeSeconds: up.Seconds(), RequestCount: m.counts.parses, ErrorRate: share(m.latest.missed+m.latest.failed, m.latest.meant()),
		CacheHitRate:       share(m.cache.Hits, m.cache.Hits+m.cache.Misses),
		AverageParsingTime: float64(m.sum.Microseconds()) / float64(max(m.counts.parses, 1)), P99ParsingTime: m.recent.ValueAtPercentile(99),
	}
	for _, a := range r.o.Alerts {
		if fires, far := a.fires(m); fires {
			h.Alerts = append(h.Alerts, a.String())
			if h.Status == Healthy {
				h.Status = Degraded
			}
			if far {
				h.Status = Unhealthy
			}
		}
	}
	if m.latest.failed >= minSamples && share(m.latest.failed, m.latest.parses) > 0.5 {
		h.Status = Unhealthy
	}
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	h.ResourceUsage = ResourceUsage{CacheSize: m.cache.Bytes, CPUSeconds: cpuSeconds()}
	if sample[0].Value.Kind() == metrics.KindUint64 {
		h.ResourceUsage.MemoryBytes = sample[0].Value.Uint64()
	}
	h.ResourceUsage.CPU = h.ResourceUsage.CPUSeconds / max(up.Seconds(), 1)
	h.Recommendations = append(h.Recommendations, m.recommend()...)
	return h
}

// recommend returns advice about frequent errors.
func (m *merged) recommend() (list []string) {
	add := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	failed := m.counts.meant()
	often := func(n int64, part float64) bool { return failed >= minSamples && share(n, failed) > part }
	if often(m.codes["truncated"], 0.1) {
		add("Many calls are cut off: allow the models more output tokens.")
	}
	if often(m.codes["unknown_tool"], 0.1) {
		add("Many calls are of tools that are not registered: check the names that the prompts give, or register them.")
	}
	if often(m.codes["malformed"], 0.1) {
		if t := m.tiers["llm_assisted_repair"]; t == nil {
			add("Many calls cannot be read: model-assisted repair may help.")
		}
	}
	if often(m.codes["required_parameter_missing"], 0.1) {
		add("Many calls lack parameters: give the tools' schemas defaults, or describe the required ones better.")
	}
	if often(m.codes["marker_required"], 0.05) {
		add("Calls of tools that require a marker come without one: have the model write its own dialect.")
	}
	if n := m.codes[FailureTimeout]; n >= minSamples && share(n, m.counts.parses) > 0.01 {
		add("Parses run out of time: allow them more, or their fallbacks less.")
	}
	if t := m.tiers["llm_assisted_repair"]; t != nil && t.attempts >= minSamples && share(t.successes, t.attempts) < 0.2 {
		add("The repair model helps in %.0f %% of the cases: another one may do better.", 100*share(t.successes, t.attempts))
	}
	lookups := m.cache.Hits + m.cache.Misses
	if lookups >= 1000 && share(m.cache.Hits, lookups) < 0.01 {
		add("The cache is hit in %.1f %% of the cases: it may be left out.", 100*share(m.cache.Hits, lookups))
	} else if lookups >= 1000 && m.cache.Evictions > lookups/2 {
		add("The cache is too small for what is asked: allow it more entries or bytes.")
	}
	for _, name := range slices.Sorted(maps.Keys(m.models)) {
		if x := m.models[name]; x.all >= minSamples && share(x.good, x.all) < 0.8 {
			add("Of the calls that %s means %.0f %% are made: check its dialect and its known issues.", name, 100*share(x.good, x.all))
		}
	}
	return list
}
