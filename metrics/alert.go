package metrics

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Alert is a threshold of a measure over the last five minutes.
type Alert struct {
	// Measure is one of [Measures].
	Measure string
	// Above says that the alert fires above the threshold, else below it.
	Above bool
	// Threshold is a share from 0 to 1, or a time in microseconds.
	Threshold float64
	text      string
}

// ErrAlert says that a text is not an alert.
var ErrAlert = errors.New("not an alert")

// minSamples is how many parses it takes for an alert to fire.
const minSamples = 20

// measures are the measures of alerts; the value says whether they are times.
var measures = map[string]bool{
	"error_rate": false, "first_attempt_rate": false, "success_rate": false, "cache_hit_rate": false, "eviction_rate": false,
	"p50_parsing_time": true, "p90_parsing_time": true, "p99_parsing_time": true, "max_parsing_time": true,
}

// Measures returns the names of the measures of alerts.
func Measures() []string {
	return []string{
		"error_rate", "first_attempt_rate", "success_rate", "cache_hit_rate", "eviction_rate",
		"p50_parsing_time", "p90_parsing_time", "p99_parsing_time", "max_parsing_time",
	}
}

// ParseAlert reads an alert such as "error_rate > 10%" or "p99_parsing_time > 1000ms": a
// measure, "<" or ">", and a threshold, which is a share from 0 to 1, or in percent, or
// for times a duration. The error is [ErrAlert].
func ParseAlert(s string) (Alert, error) {
	a := Alert{text: strings.TrimSpace(s)}
	i := strings.IndexAny(s, "<>")
	if i < 0 {
		return a, fmt.Errorf("%w: %q: write it as %q", ErrAlert, s, "error_rate > 10%")
	}
	a.Measure, a.Above = strings.TrimSpace(s[:i]), s[i] == '>'
	value := strings.TrimSpace(s[i+1:])
	isTime, ok := measures[a.Measure]
	if !ok {
		return a, fmt.Errorf("%w: %q: there is no measure %q, only %s", ErrAlert, s, a.Measure, strings.Join(Measures(), ", "))
	}
	if isTime {
		d, err := time.ParseDuration(value)
		if err != nil || d < 0 {
			return a, fmt.Errorf("%w: %q: %q is no time such as 1000ms", ErrAlert, s, value)
		}
		a.Threshold = float64(d.Microseconds())
		return a, nil
	}
	number, percent := strings.CutSuffix(value, "%")
	f, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if percent {
		f /= 100
	}
	if err != nil || f < 0 || f > 1 {
		return a, fmt.Errorf("%w: %q: %q is no share such as 10%%", ErrAlert, s, value)
	}
	a.Threshold = f
	return a, nil
}

// String returns the alert as it was written.
func (a Alert) String() string { return a.text }

// look returns the measure's value over the last minutes; ok is false below 20 parses.
func (a Alert) look(m *merged) (value float64, ok bool) {
	c := &m.latest
	switch a.Measure {
	case "error_rate":
		return share(c.missed+c.failed, c.meant()), c.meant() >= minSamples
	case "first_attempt_rate":
		return share(c.first, c.meant()), c.meant() >= minSamples
	case "success_rate":
		return share(c.calls, c.meant()), c.meant() >= minSamples
	case "cache_hit_rate":
		n := m.cache.Hits + m.cache.Misses
		return share(m.cache.Hits, n), n >= minSamples
	case "eviction_rate":
		n := m.cache.Evictions + m.cache.Entries
		return share(m.cache.Evictions, n), n >= minSamples
	case "p50_parsing_time":
		return float64(m.recent.ValueAtPercentile(50)), c.parses >= minSamples
	case "p90_parsing_time":
		return float64(m.recent.ValueAtPercentile(90)), c.parses >= minSamples
	case "p99_parsing_time":
		return float64(m.recent.ValueAtPercentile(99)), c.parses >= minSamples
	case "max_parsing_time":
		return float64(m.recent.Max()), c.parses >= minSamples
	}
	return 0, false
}

// fires reports whether the threshold is crossed, and whether by a factor of three.
func (a Alert) fires(m *merged) (fires, far bool) {
	v, ok := a.look(m)
	switch {
	case !ok:
		return false, false
	case a.Above:
		return v > a.Threshold, v > 3*a.Threshold
	}
	return v < a.Threshold, 3*v < a.Threshold
}
