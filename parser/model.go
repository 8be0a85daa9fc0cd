package parser

import (
	"context"
	"slices"
	"time"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/cache"
)

// ModelSpecificParser parses the output of one model, with what is known of that model:
// its dialects are tried first, and where no call is found its known issues are fixed in
// the text, which is then parsed again. It is safe for concurrent use if Preprocess and
// Postprocess are.
type ModelSpecificParser struct {
	// Capabilities are what is known of the model.
	Capabilities adapters.ModelCapabilities
	// Preprocess, if there is one, changes each text before it is parsed.
	Preprocess func(text string) string
	// Postprocess, if there is one, changes each result. The reply is nil for a text.
	Postprocess func(*Result, *adapters.Reply) *Result
	p           *Parser
}

// ForModel returns a parser of the output of one model.
func (p *Parser) ForModel(c adapters.ModelCapabilities) *ModelSpecificParser {
	return &ModelSpecificParser{Capabilities: c, p: p}
}

// context adds what is known of the model. The caller's slice is left as it is: many
// parses may share it.
func (m *ModelSpecificParser) context(c Context) Context {
	c.Formats = slices.Concat(c.Formats, m.Capabilities.KnownFormats)
	return c
}

// Parse parses a text like [Parser.Parse].
func (m *ModelSpecificParser) Parse(ctx context.Context, text string, c Context) (*Result, error) {
	if m.Preprocess != nil {
		text = m.Preprocess(text)
	}
	start := time.Now()
	c = m.context(c)
	r, err := m.p.parseText(ctx, text, c, start)
	if err == nil && !r.Success {
		r = m.parseFixed(ctx, r, text, c)
	}
	m.p.observe(r, err, &c, start)
	return m.post(r, nil), err
}

// ParseReply parses a reply like [Parser.ParseReply].
func (m *ModelSpecificParser) ParseReply(ctx context.Context, reply *adapters.Reply, c Context) (*Result, error) {
	if m.Preprocess != nil {
		reply = withText(reply, m.Preprocess)
	}
	start := time.Now()
	c = m.context(c)
	r, err := m.p.parseReply(ctx, reply, c, nil)
	if err == nil && !r.Success {
		info := r.Reply
		r = m.parseFixed(ctx, r, reply.Text(), c)
		r.Reply = info
	}
	m.p.observe(r, err, &c, start)
	return m.post(r, reply), err
}

func (m *ModelSpecificParser) post(r *Result, reply *adapters.Reply) *Result {
	if m.Postprocess == nil {
		return r
	}
	return m.Postprocess(r, reply)
}

// parseFixed parses a text in which no call was found again, with the model's known
// issues fixed: one more each time, those that helped before first, until there are
// calls. The result says so; the spans of its calls are those of the fixed text.
func (m *ModelSpecificParser) parseFixed(ctx context.Context, before *Result, text string, c Context) *Result {
	if m.p.o.NoFallbacks || m.p.o.StrictMode {
		return before
	}
	fixed := text
	var issues []string
	for i, k := range m.issues(c) {
		next := k.Fix(fixed)
		if next == fixed {
			continue
		}
		fixed = next
		issues = append(issues, "known_issue: "+k.Issue)
		if len(issues) > m.p.o.MaxRepairAttempts && i < len(m.Capabilities.KnownIssues)-1 {
			continue // no more tries than allowed, and one with all of them
		}
		r, err := m.p.parseText(ctx, fixed, c, time.Now())
		worked := err == nil && r.Success
		if m.p.o.Patterns != nil {
			m.p.o.Patterns.Learn(c.Tenant, c.Model, cache.KindRepair, "known_issue: "+k.Issue, worked)
		}
		if worked {
			r.Repaired, r.Strategy = true, "known_issue"
			r.Reasoning = before.Reasoning
			r.Warnings = append(r.Warnings, issues...)
			return r
		}
	}
	return before // the text as it stands is the better answer
}

// issues are the model's known issues, those whose fix helped before first.
func (m *ModelSpecificParser) issues(c Context) []adapters.KnownIssue {
	list := m.Capabilities.KnownIssues
	if m.p.o.Patterns == nil || len(list) < 2 {
		return list
	}
	rank := map[string]int{}
	likeliest := m.p.o.Patterns.Likeliest(c.Tenant, c.Model, cache.KindRepair)
	for i, x := range likeliest {
		rank[x.Name] = len(likeliest) - i
	}
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b adapters.KnownIssue) int {
		return rank["known_issue: "+b.Issue] - rank["known_issue: "+a.Issue]
	})
	return list
}

// withText returns a reply with its text changed.
func withText(r *adapters.Reply, change func(string) string) *adapters.Reply {
	out := *r
	out.Choices = append([]adapters.Choice(nil), r.Choices...)
	for i := range out.Choices {
		blocks := append([]adapters.Block(nil), out.Choices[i].Blocks...)
		for j := range blocks {
			if blocks[j].Type == adapters.BlockText {
				blocks[j].Text = change(blocks[j].Text)
			}
		}
		out.Choices[i].Blocks = blocks
	}
	return &out
}
