package parser

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/callwright/callwright/cache"
	"github.com/callwright/callwright/call"
	"github.com/callwright/callwright/dialect"
	"github.com/callwright/callwright/fallback"
	"github.com/callwright/callwright/internal/text"
)

// Cache keeps results of texts. Parsers may share one: a result is only used for a parser
// with the same tools, options and dialects, and for the same text and [Context].
type Cache = cache.Cache[*Result]

// NewCache returns a cache of results, for Options.Cache. The error is that of the options.
func NewCache(o cache.Options) (*Cache, error) { return cache.New[*Result](o) }

// keyVersion changes when results of the same input do.
const keyVersion = "1"

// parsers counts the parsers whose options cannot be told apart by their values.
var parsers atomic.Int64

// identify makes what tells this parser's results from others' in a shared cache.
func (p *Parser) identify() {
	o := p.o
	o.Cache, o.Metrics, o.Patterns, o.Logger, o.NewID = nil, nil, nil, nil, nil
	o.Fallbacks, o.Dialects = nil, dialect.Set{}
	p.identity = fmt.Sprintf("%+v", o)
	if dialects, err := json.Marshal(p.o.Dialects); err == nil {
		p.identity += string(dialects)
	}
	for _, s := range p.chain.Steps {
		p.identity += fmt.Sprintf("|%T %v %v", s.Tier, s.Tier.Strategy(), s.Timeout)
		switch s.Tier.(type) {
		case fallback.AutoRepair, fallback.Clarification, fallback.Partial, *fallback.Intent:
		default: // nothing is known of what else it depends on
			p.identity += "#" + strconv.FormatInt(parsers.Add(1), 10)
		}
	}
	if len(p.o.Validation.Values) > 0 {
		p.identity += "#" + strconv.FormatInt(parsers.Add(1), 10)
	}
	hash := cache.KeyOf(p.identity) // shorter: it is part of every key
	p.identity = string(hash[:])
}

// key is that of a text and all that its result depends on.
func (p *Parser) key(text string, c *Context) (cache.Key, bool) {
	var known [12]string
	parts := append(known[:0], keyVersion, c.Tenant, p.identity, p.registry.Version(), c.Model, c.Format, text)
	if c.ReasoningOpen {
		parts = append(parts, "reasoning_open")
	}
	if len(c.Formats) > 0 {
		parts = append(parts, "formats")
		parts = append(parts, c.Formats...)
	}
	if len(c.Prompt) > 0 {
		parts = append(parts, "prompt")
		parts = append(parts, c.Prompt...)
	}
	if len(c.Values) > 0 {
		values, err := json.Marshal(c.Values)
		if err != nil {
			return cache.Key{}, false
		}
		parts = append(parts, "values", string(values))
	}
	return cache.KeyOf(parts...), true
}

// parseCached parses a text, or takes the result from the cache.
func (p *Parser) parseCached(ctx context.Context, text string, c Context, start time.Time) (*Result, error) {
	k, ok := p.key(text, &c)
	if !ok {
		return p.parse(ctx, text, c, start)
	}
	made := false
	r, err := p.o.Cache.Do(ctx, k, func(ctx context.Context) (*Result, int, error) {
		made = true
		r, err := p.parse(ctx, text, c, start)
		if err != nil || !p.keeps(r) {
			return r, -1, err
		}
		return r, sizeOf(r, len(text)), nil
	})
	if r == nil { // the context ended before the result came
		r = emptyResult()
		r.Content = text
		return r, err
	}
	return p.copied(r, &c, start, !made), err
}

func emptyResult() *Result {
	return &Result{Calls: []Call{}, Rejected: []Rejected{}, Warnings: []string{}}
}

// keeps reports whether a result may be given again.
func (p *Parser) keeps(r *Result) bool {
	if r.Truncated || slices.Contains(r.Warnings, "internal_error") {
		return false
	}
	if p.o.CacheDoubtful {
		return true
	}
	if r.Strategy != "" && r.Strategy != string(fallback.StrategyAutoRepair) {
		return false
	}
	if r.Recovery != nil {
		for i := range r.Recovery.Attempts { // another time the model may answer
			if r.Recovery.Attempts[i].Strategy == fallback.StrategyModel {
				return false
			}
		}
	}
	return !slices.ContainsFunc(r.Calls, func(c Call) bool { return c.Inferred })
}

// sizeOf is about how many bytes a result takes.
func sizeOf(r *Result, text int) int {
	return 1024 + 4*text + 1024*(len(r.Calls)+len(r.Rejected))
}

// copied returns a copy of a kept result. Calls whose ids were made get new ones, so
// that no conversation has one twice.
func (p *Parser) copied(from *Result, c *Context, start time.Time, cached bool) *Result {
	r := *from
	r.Cached = cached
	r.Calls = slices.Clone(from.Calls)
	for i := range r.Calls {
		x := &r.Calls[i]
		if x.madeID && cached {
			x.ID = p.newID()
		}
		if cached {
			x.Metadata.Timestamp = start
		}
		x.Metadata.Model = c.Model
		x.Parameters, _ = text.Clone(x.Parameters).(map[string]any)
		x.Coercions, x.Defaults = slices.Clone(x.Coercions), slices.Clone(x.Defaults)
		x.Repairs, x.Warnings = slices.Clone(x.Repairs), slices.Clone(x.Warnings)
	}
	r.Rejected = slices.Clone(from.Rejected)
	for i := range r.Rejected {
		x := &r.Rejected[i]
		if x.Parameters != nil {
			x.Parameters, _ = text.Clone(x.Parameters).(map[string]any)
		}
		x.Errors = slices.Clone(x.Errors)
	}
	r.Warnings, r.Dropped = slices.Clone(r.Warnings), slices.Clone(r.Dropped)
	if r.Recovery != nil {
		report := *r.Recovery
		report.Attempts, report.Suggestions = slices.Clone(report.Attempts), slices.Clone(report.Suggestions)
		r.Recovery = &report
	}
	r.DurationMicroseconds = time.Since(start).Microseconds()
	return &r
}

// learn notes which dialects and repairs worked.
func (p *Parser) learn(r *Result, c *Context) {
	if p.o.Patterns == nil || c.Model == "" || r.Cached {
		return
	}
	for i := range r.Calls {
		x := &r.Calls[i]
		if x.Provenance != "marked" || x.Inferred {
			continue // learned from what the model marked, and from nothing else
		}
		p.o.Patterns.Learn(c.Tenant, c.Model, cache.KindDialect, string(x.SourceFormat), true)
		for _, name := range x.Repairs {
			p.o.Patterns.Learn(c.Tenant, c.Model, cache.KindRepair, name, true)
		}
	}
	for i := range r.Rejected {
		if x := &r.Rejected[i]; x.Provenance == "marked" && x.Format != call.Unknown {
			p.o.Patterns.Learn(c.Tenant, c.Model, cache.KindDialect, string(x.Format), false)
		}
	}
}
