package interceptor

import (
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/callwright/callwright/internal/text"
)

// counts are the interceptor's own metrics; those of the parser stand beside them. They
// outlive a reload.
type counts struct {
	requests  *prometheus.CounterVec
	firstByte *prometheus.HistogramVec
	tokens    *prometheus.CounterVec
	retries   *prometheus.CounterVec
	rescues   *prometheus.CounterVec
	tools     *prometheus.CounterVec
	models    names
}

func newCounts() *counts {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "callwright_" + name, Help: help}, labels)
	}
	return &counts{
		requests: counter("requests_total", "Requests by route, status, mode and model.", "route", "status", "mode", "model"),
		firstByte: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "callwright_first_byte_seconds", Help: "Time to the first byte of a response of the model server, by route.",
			Buckets: []float64{.01, .03, .1, .3, 1, 3, 10, 30, 100, 300},
		}, []string{"route"}),
		tokens:  counter("tokens_total", "Tokens by model and direction, as the model server counts them.", "model", "direction"),
		retries: counter("retries_total", "Requests that were sent again with feedback, by model.", "model"),
		tools:   counter("tools_run_total", "Calls of tools of MCP servers, by tool and outcome.", "tool", "outcome"),
		rescues: counter("rescues_total", "Turns without an end, by reason and outcome.", "reason", "outcome"),
	}
}

// all are the metrics as collectors.
func (c *counts) all() []prometheus.Collector {
	return []prometheus.Collector{c.requests, c.firstByte, c.tokens, c.retries, c.rescues, c.tools}
}

// names bounds how many values a label has.
type names struct {
	mu   sync.Mutex
	seen map[string]bool
}

// Bounds of the label "model".
const (
	maxModelNames = 64
	maxModelName  = 96 // bytes
)

// label returns a name as a label: itself for the first maxModelNames, then "other".
func (n *names) label(name string) string {
	name = strings.ToValidUTF8(name, "?")
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case n.seen[name] || name == "":
		return name
	case len(n.seen) >= maxModelNames || len(name) > maxModelName:
		return "other"
	case n.seen == nil:
		n.seen = map[string]bool{}
	}
	n.seen[name] = true
	return name
}

// served counts a request that was served. x is nil if it passed through.
func (c *counts) served(route string, status int, x *exchange) {
	mode, model := "", ""
	if x != nil && x.req != nil {
		mode, model = x.mode, c.models.label(x.req.Model)
	}
	if status == 0 {
		status = http.StatusOK
	}
	c.requests.WithLabelValues(route, strconv.Itoa(status), mode, model).Inc()
	if x == nil {
		return
	}
	if x.firstByte > 0 {
		c.firstByte.WithLabelValues(route).Observe(x.firstByte.Seconds())
	}
	if u := x.done.usage; u != nil {
		c.tokens.WithLabelValues(model, "input").Add(float64(max(u.InputTokens, 0)))
		c.tokens.WithLabelValues(model, "output").Add(float64(max(u.OutputTokens, 0)))
	}
	if n := x.done.retries; n > 0 {
		c.retries.WithLabelValues(model).Add(float64(n))
	}
}

// logged is what the log says of an exchange: never a text, an argument or a key.
func (x *exchange) logged() []any {
	if x == nil || x.req == nil {
		return nil
	}
	d := &x.done
	list := []any{
		"model", text.Clip(x.req.Model, maxModelName), "mode", x.mode, "stream", x.req.Stream, "tools", len(x.req.Tools), "calls", d.calls,
		"first_byte_ms", x.firstByte.Milliseconds(),
	}
	if len(d.dialects) > 0 {
		list = append(list, "dialect", strings.Join(d.dialects, ", "))
	}
	for name, n := range map[string]int{"invalid": d.invalid, "retries": d.retries, "tools_run": d.ran} {
		if n > 0 {
			list = append(list, name, n)
		}
	}
	if d.rescue != "" {
		list = append(list, "rescue", d.rescue, "rescued", d.rescued)
	}
	if u := d.usage; u != nil {
		list = append(list, "input_tokens", u.InputTokens, "output_tokens", u.OutputTokens)
	}
	return list
}

// since is a time since the start of an exchange, at least one nanosecond.
func (x *exchange) since() time.Duration { return max(time.Since(x.start), 1) }
