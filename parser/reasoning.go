package parser

import (
	"strings"

	"github.com/callwright/callwright/call"
	"github.com/callwright/callwright/dialect"
	"github.com/callwright/callwright/internal/lenient"
	"github.com/callwright/callwright/internal/scan"
)

// reasoningOpenings are beginnings of texts that may be reasoning whose opening marker
// the prompt held.
var reasoningOpenings = []string{
	"okay, ", "ok, ", "okay. ", "hmm", "the user", "so the user", "we need", "we have", "we should", "i need to", "i should", "i could",
	"i might", "let me think", "let's think", "let's see", "first, i", "alright", "wait", "maybe", "perhaps", "thinking", "need to",
	"need the", "looking at", "to answer", "so, ", "so i", "now, the user", "good, ", "right, ", "user ", "from the",
}

// looksLikeReasoning reports whether the content so far begins like reasoning.
func (c *collector) looksLikeReasoning() bool {
	text := c.content.String()
	text = strings.ToLower(strings.TrimLeft(text[:min(len(text), 64)], " \n\r\t"))
	for _, opening := range reasoningOpenings {
		if strings.HasPrefix(text, opening) {
			return true
		}
	}
	return false
}

// mayDefer holds back the events of a call from here on, where the text before it may
// be reasoning without an opening marker: what closes it may yet come, and then the
// call was a draft.
func (c *collector) mayDefer(cand *scan.Candidate) {
	if c.out.holding || c.reasoned || c.content.len() == 0 {
		return
	}
	if cand.Provenance != call.Bare && !c.looksLikeReasoning() {
		return
	}
	c.out.holding = true
	c.deferred = len(c.res.Calls)
}

// readOpenReasoning looks for calls in reasoning that was never closed. What it finds
// is inferred.
func (c *collector) readOpenReasoning() {
	s := scan.New(lenient.NewText(c.reasoning.String()), scan.Options{
		Table: c.p.table, Registry: c.p.registry, Prefer: c.p.prefer(c.context),
	}, &openReasoning{collector: c})
	// Without a check the scan ends with the text.
	_ = s.Run()
	if len(c.res.Calls) > 0 {
		c.res.Strategy = "open_reasoning"
	}
}

// openReasoning is the sink of a scanner that reads reasoning: it adds the calls to the
// collector that there are, and nothing else.
type openReasoning struct {
	collector *collector
	budget    budget
}

// Candidate takes what may be a call.
func (x *openReasoning) Candidate(cand *scan.Candidate) (consumed bool) {
	c := x.collector
	if !x.budget.admits(&c.p.o) {
		return false
	}
	weigh(cand)
	found, none := c.judge.open(cand, &x.budget)
	if len(found.Entries) == 0 {
		c.explained(cand, &none)
	}
	for i := range found.Entries {
		v := c.judge.entry(cand, &found, &found.Entries[i], origin{openReasoning: true})
		t := c.newTeller()
		if v.made() {
			c.admit(&v, &t)
		}
		c.explained(cand, &v)
		if v.made() {
			c.res.Repaired = c.res.Repaired || len(v.call.Repairs) > 0
			c.add(&v.call, &t)
		}
		consumed = consumed || v.consumed
	}
	return consumed
}

// Nothing else of the reasoning is looked for.
func (*openReasoning) Content(string)             {}
func (*openReasoning) Reasoning(string)           {}
func (*openReasoning) Recast()                    {}
func (*openReasoning) Abandoned()                 {}
func (*openReasoning) Unclosed()                  {}
func (*openReasoning) Draft(*dialect.Row, int)    {}
func (*openReasoning) Dropped(int, int, scan.Why) {}
