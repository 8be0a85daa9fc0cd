package metrics

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/callwright/callwright/cache"
)

// Performance is a report of all that a recorder counted.
type Performance struct {
	// Parses counts them by their outcome.
	Parses            Outcomes          `json:"parses"`
	ParsingTime       Percentiles       `json:"parsing_time_us"`
	SuccessRate       SuccessRate       `json:"success_rate"`
	ErrorDistribution ErrorDistribution `json:"error_distribution"`
	CacheEfficiency   CacheEfficiency   `json:"cache_efficiency"`
	// Tiers are the fallbacks by their strategy.
	Tiers map[string]TierStats `json:"tiers"`
	// Calls counts the calls that were made by their tool.
	Calls map[string]int64 `json:"calls"`
}

// Outcomes count parses.
type Outcomes struct {
	All    int64 `json:"all"`
	Call   int64 `json:"call"`
	NoCall int64 `json:"no_call"`
	Missed int64 `json:"missed"`
	Failed int64 `json:"failed"`
}

// Percentiles are of times in microseconds.
type Percentiles struct {
	P50  int64   `json:"p50"`
	P90  int64   `json:"p90"`
	P99  int64   `json:"p99"`
	Max  int64   `json:"max"`
	Mean float64 `json:"mean"`
}

// SuccessRate has shares, from 0 to 1, of the parses in which a call was meant. They are
// 1 if there was no such parse.
type SuccessRate struct {
	FirstAttempt float64            `json:"first_attempt"`
	WithFallback float64            `json:"with_fallback"`
	ByModel      map[string]float64 `json:"by_model"`
	// ByFormat is the share of the calls of a format that were made.
	ByFormat map[string]float64 `json:"by_format"`
}

// ErrorDistribution counts errors.
type ErrorDistribution struct {
	ByType     map[string]int64   `json:"by_type"`
	BySeverity map[Severity]int64 `json:"by_severity"`
}

// CacheEfficiency says how the cache of results does. Its rates are from 0 to 1.
type CacheEfficiency struct {
	HitRate float64 `json:"hit_rate"`
	Size    int64   `json:"size"` // entries
	Bytes   int64   `json:"bytes"`
	// EvictionRate is how many entries went for each one that came.
	EvictionRate float64     `json:"eviction_rate"`
	Stats        cache.Stats `json:"stats"`
}

// TierStats are those of one fallback.
type TierStats struct {
	Attempts        int64   `json:"attempts"`
	Successes       int64   `json:"successes"`
	SuccessRate     float64 `json:"success_rate"`
	MeanMicrosecond float64 `json:"mean_us"`
}

// merged is all shards together.
type merged struct {
	total, recent  *hdrhistogram.Histogram
	sum            time.Duration
	counts, latest counts // latest: of the last minutes
	models         map[string]*rate
	formats        map[string]*rate
	tools, codes   map[string]int64
	tiers          map[string]*tier
	cache          cache.Stats
}

func (r *Recorder) merge() *merged {
	m := &merged{
		total: hdrhistogram.New(1, maxMicroseconds, digits), recent: hdrhistogram.New(1, maxMicroseconds, digits),
		models: map[string]*rate{}, formats: map[string]*rate{}, tools: map[string]int64{}, codes: map[string]int64{}, tiers: map[string]*tier{},
	}
	minute := time.Now().Unix() / 60
	for i := range r.shards {
		s := &r.shards[i]
		s.mu.Lock()
		m.total.Merge(s.total)
		m.sum += s.sum
		m.counts.add(s.counts)
		for j := range s.recent {
			if w := &s.recent[j]; w.minute > minute-windows {
				m.recent.Merge(w.times)
				m.latest.add(w.counts)
			}
		}
		for from, into := range map[*map[string]*rate]map[string]*rate{&s.models: m.models, &s.formats: m.formats} {
			for name, x := range *from {
				if into[name] == nil {
					into[name] = &rate{}
				}
				into[name].good += x.good
				into[name].all += x.all
			}
		}
		for name, n := range s.tools {
			m.tools[name] += n
		}
		for name, n := range s.codes {
			m.codes[name] += n
		}
		for name, x := range s.tiers {
			if m.tiers[name] == nil {
				m.tiers[name] = &tier{}
			}
			t := m.tiers[name]
			t.attempts += x.attempts
			t.successes += x.successes
			t.duration += x.duration
		}
		s.mu.Unlock()
	}
	if stats := r.cache.Load(); stats != nil {
		m.cache = (*stats)()
	}
	return m
}

func share(part, all int64) float64 {
	if all == 0 {
		return 0
	}
	return float64(part) / float64(all)
}

func shareOrOne(part, all int64) float64 {
	if all == 0 {
		return 1
	}
	return share(part, all)
}

// Performance returns a report of what was counted so far.
func (r *Recorder) Performance() Performance { return r.merge().performance() }

func (m *merged) performance() Performance {
	c := &m.counts
	p := Performance{
		Parses:            Outcomes{c.parses, c.calls, c.parses - c.meant(), c.missed, c.failed},
		ParsingTime:       percentiles(m.total),
		SuccessRate:       SuccessRate{shareOrOne(c.first, c.meant()), shareOrOne(c.calls, c.meant()), rates(m.models), rates(m.formats)},
		ErrorDistribution: ErrorDistribution{m.codes, map[Severity]int64{Critical: 0, High: 0, Medium: 0, Low: 0}},
		CacheEfficiency: CacheEfficiency{
			share(m.cache.Hits, m.cache.Hits+m.cache.Misses), m.cache.Entries, m.cache.Bytes,
			share(m.cache.Evictions, m.cache.Entries+m.cache.Evictions), m.cache,
		},
		Tiers: map[string]TierStats{}, Calls: m.tools,
	}
	for code, n := range m.codes {
		p.ErrorDistribution.BySeverity[SeverityOf(code)] += n
	}
	for name, t := range m.tiers {
		p.Tiers[name] = TierStats{
			t.attempts, t.successes, share(t.successes, t.attempts), float64(t.duration.Microseconds()) / float64(max(t.attempts, 1)),
		}
	}
	return p
}

func percentiles(h *hdrhistogram.Histogram) Percentiles {
	return Percentiles{h.ValueAtPercentile(50), h.ValueAtPercentile(90), h.ValueAtPercentile(99), h.Max(), h.Mean()}
}

func rates(m map[string]*rate) map[string]float64 {
	out := make(map[string]float64, len(m))
	for name, x := range m {
		out[name] = share(x.good, x.all)
	}
	return out
}

// Bucket is the number of parses that took at most so many seconds.
type Bucket struct {
	Seconds float64
	Count   uint64
}

// bounds of the buckets, in microseconds.
var bounds = []int64{
	10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000,
	1_000_000, 2_500_000, 5_000_000, 10_000_000, 30_000_000,
}

// Buckets returns a cumulative histogram of the latency, the number of parses, and the sum
// of their latencies in seconds.
func (r *Recorder) Buckets() (buckets []Bucket, n uint64, sum float64) {
	m := r.merge()
	buckets = make([]Bucket, len(bounds))
	for i, b := range bounds {
		buckets[i].Seconds = float64(b) / 1e6
	}
	for _, bar := range m.total.Distribution() {
		n += uint64(bar.Count)
		for i, b := range bounds {
			if bar.To <= b {
				buckets[i].Count += uint64(bar.Count)
			}
		}
	}
	return buckets, n, m.sum.Seconds()
}

// Counts returns the numbers behind the rates of [SuccessRate]: of parses by model, and
// of calls by format.
func (r *Recorder) Counts() (byModel, byFormat map[string]Count) {
	m := r.merge()
	convert := func(rates map[string]*rate) map[string]Count {
		out := make(map[string]Count, len(rates))
		for name, x := range rates {
			out[name] = Count{x.good, x.all}
		}
		return out
	}
	return convert(m.models), convert(m.formats)
}

// Count is how many of all were good.
type Count struct{ Good, All int64 }
