// Package metrics counts parses: their latency, their outcomes and errors, cache hits and
// fallbacks. It derives percentiles, rates, alerts and a health report.
//
// A [Recorder] holds numbers and names from bounded sets, and nothing of any text.
// metrics/prom exposes it to Prometheus.
package metrics

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/callwright/callwright/cache"
)

// Other stands for tools that are not registered, and for models, formats and tools
// beyond the bounds.
const Other = "_other"

// Bounds of the number of names that are counted each by itself.
const (
	MaxModels  = 50
	MaxTools   = 200
	MaxFormats = 200
	maxName    = 96 // bytes
)

// Sample is the outcome of one parse.
type Sample struct {
	Duration time.Duration
	// Model is the model's name as the caller gave it.
	Model string
	// Calls are the calls that were made, and Rejected what looked like one.
	Calls    []Call
	Rejected []Rejected
	// Strategy names the fallback that gave the calls, "" if reading did.
	Strategy string
	Attempts []Attempt
	// Failure is the code of the error that ended the parse, "" if none did.
	Failure string
	Cached  bool
}

// Call is a call that was made.
type Call struct{ Tool, Format string }

// Rejected is what looked like a call. Tool is "" or [Other] if no such tool is
// registered.
type Rejected struct{ Tool, Format, Code string }

// Attempt is the outcome of a fallback.
type Attempt struct {
	Strategy string
	Calls    int
	Duration time.Duration
}

// Codes of failures of whole parses.
const (
	FailureTimeout  = "timeout"
	FailureCanceled = "canceled"
	FailureTooLarge = "text_too_large"
	FailureInternal = "internal_error"
	FailureOther    = "error"
)

// Outcomes of parses.
const (
	OutcomeCall   = "call"    // there is a call
	OutcomeNoCall = "no_call" // nothing looked like one
	OutcomeMissed = "missed"  // something looked like one, and none was made
	OutcomeFailed = "failed"  // the parse ended with an error
)

func (s *Sample) outcome() string {
	switch {
	case s.Failure != "":
		return OutcomeFailed
	case len(s.Calls) > 0:
		return OutcomeCall
	case len(s.Rejected) > 0:
		return OutcomeMissed
	}
	return OutcomeNoCall
}

// Options are the options of a recorder. The zero value is usable.
type Options struct {
	// Alerts are thresholds that change the health status; see [ParseAlert].
	Alerts []Alert
	// RecentErrors is how many errors are kept for the health report; 0 means 20.
	RecentErrors int
	// Cache returns the statistics of the cache of results; nil if there is none.
	Cache func() cache.Stats
}

// Recorder counts parses. It is safe for concurrent use, with little contention.
type Recorder struct {
	o       Options
	started time.Time
	shards  [shards]shard
	models  names
	tools   names
	formats names
	recent  recentErrors
	cache   atomic.Pointer[func() cache.Stats]
}

// shards is how many parts a recorder has. A power of two.
const shards = 4

// windows is how many of the last minutes count for alerts.
const windows = 5

// The histograms hold microseconds up to ten minutes, to two digits.
const (
	maxMicroseconds = 600_000_000
	digits          = 2
)

type shard struct {
	mu      sync.Mutex
	total   *hdrhistogram.Histogram
	sum     time.Duration
	recent  [windows]window
	counts  counts
	models  map[string]*rate
	formats map[string]*rate
	tools   map[string]int64
	codes   map[string]int64
	tiers   map[string]*tier
	_       [64]byte // apart from the next one's cache line
}

// window is one minute.
type window struct {
	minute int64
	counts counts
	times  *hdrhistogram.Histogram
}

// counts are numbers of parses by outcome.
type counts struct {
	parses, calls, missed, failed int64
	// first is the number of those with calls that needed no fallback.
	first int64
}

func (c *counts) add(o counts) {
	c.parses += o.parses
	c.calls += o.calls
	c.missed += o.missed
	c.failed += o.failed
	c.first += o.first
}

// meant is the number of parses in which the model meant a call.
func (c *counts) meant() int64 { return c.calls + c.missed + c.failed }

type rate struct{ good, all int64 }

type tier struct {
	attempts, successes int64
	duration            time.Duration
}

// New returns a recorder.
func New(o Options) *Recorder {
	if o.RecentErrors <= 0 {
		o.RecentErrors = 20
	}
	r := &Recorder{o: o, started: time.Now()}
	r.models.most, r.tools.most, r.formats.most = MaxModels, MaxTools, MaxFormats
	r.recent.most = o.RecentErrors
	if o.Cache != nil {
		r.cache.Store(&o.Cache)
	}
	for i := range r.shards {
		s := &r.shards[i]
		s.total = hdrhistogram.New(1, maxMicroseconds, digits)
		for j := range s.recent {
			s.recent[j].times = hdrhistogram.New(1, maxMicroseconds, digits)
		}
		s.models, s.formats, s.tools = map[string]*rate{}, map[string]*rate{}, map[string]int64{}
		s.codes, s.tiers = map[string]int64{}, map[string]*tier{}
	}
	return r
}

// SetCache replaces [Options.Cache].
func (r *Recorder) SetCache(stats func() cache.Stats) { r.cache.Store(&stats) }

// Observe counts one parse.
func (r *Recorder) Observe(x *Sample) {
	now := time.Now()
	micros := min(max(x.Duration.Microseconds(), 0), maxMicroseconds)
	outcome := x.outcome()
	one := counts{parses: 1}
	switch outcome {
	case OutcomeCall:
		one.calls = 1
		if x.Strategy == "" {
			one.first = 1
		}
	case OutcomeMissed:
		one.missed = 1
	case OutcomeFailed:
		one.failed = 1
	}
	model := ""
	if x.Model != "" {
		model = r.models.name(x.Model)
	}
	s := &r.shards[rand.Uint32()&(shards-1)]
	s.mu.Lock()
	_ = s.total.RecordValue(micros) // it is within the bounds
	s.sum += x.Duration
	w := &s.recent[(now.Unix()/60)%windows]
	if minute := now.Unix() / 60; w.minute != minute {
		w.minute, w.counts = minute, counts{}
		w.times.Reset()
	}
	_ = w.times.RecordValue(micros)
	w.counts.add(one)
	s.counts.add(one)
	if model != "" && outcome != OutcomeNoCall {
		count(s.models, model, outcome == OutcomeCall)
	}
	for i := range x.Calls {
		count(s.formats, r.formats.name(x.Calls[i].Format), true)
		s.tools[r.tools.name(x.Calls[i].Tool)]++
	}
	for i := range x.Rejected {
		if f := x.Rejected[i].Format; f != "" {
			count(s.formats, r.formats.name(f), false)
		}
		s.codes[codeName(x.Rejected[i].Code)]++
	}
	if x.Failure != "" {
		s.codes[codeName(x.Failure)]++
	}
	for i := range x.Attempts {
		a := &x.Attempts[i]
		t := s.tiers[a.Strategy]
		if t == nil {
			if len(s.tiers) >= 32 {
				continue
			}
			t = &tier{}
			s.tiers[a.Strategy] = t
		}
		t.attempts++
		t.duration += a.Duration
		if a.Calls > 0 {
			t.successes++
		}
	}
	s.mu.Unlock()
	if outcome == OutcomeMissed || outcome == OutcomeFailed {
		r.recent.add(r.describe(x, now, model))
	}
}

func count(m map[string]*rate, name string, good bool) {
	x := m[name]
	if x == nil {
		x = &rate{}
		m[name] = x
	}
	if x.all++; good {
		x.good++
	}
}

// names is a bounded set of names: the first ones that come.
type names struct {
	known sync.Map
	n     atomic.Int64
	most  int64
}

// name returns a name, or [Other] if there are too many, or if it is not printable ASCII
// of at most 96 bytes.
func (n *names) name(s string) string {
	if _, ok := n.known.Load(s); ok {
		return s
	}
	if s == "" || len(s) > maxName || n.n.Load() >= n.most {
		return Other
	}
	for i := range len(s) {
		if s[i] < 0x20 || s[i] >= 0x7F {
			return Other
		}
	}
	if n.n.Add(1) > n.most {
		return Other
	}
	if _, twice := n.known.LoadOrStore(s, true); twice {
		n.n.Add(-1)
	}
	return s
}

// TierRate returns the share of the attempts of a fallback that gave a call, from 0 to 1;
// ok is false below 10 attempts.
func (r *Recorder) TierRate(strategy string) (rate float64, ok bool) {
	var attempts, successes int64
	for i := range r.shards {
		s := &r.shards[i]
		s.mu.Lock()
		if t := s.tiers[strategy]; t != nil {
			attempts += t.attempts
			successes += t.successes
		}
		s.mu.Unlock()
	}
	if attempts < 10 {
		return 0, false
	}
	return float64(successes) / float64(attempts), true
}
