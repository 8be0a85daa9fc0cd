package parser

import (
	"context"
	"time"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/call"
	"github.com/callwright/callwright/internal/lenient"
)

// Candidate is a stretch of text that was considered, and what became of it. A stretch
// that holds several calls is as many candidates.
type Candidate struct {
	call.Candidate
	// Tool and Format are those of the call, as far as they are known.
	Tool   string
	Format call.Format
	// Score says what speaks for and against it; zero where it did not come to that.
	Score Score
	// Surroundings says in words what of the text around it spoke for a call that is made
	// and against it, the heaviest first: `against: negation in its sentence ("never")`.
	Surroundings []string
	// Reason says in words why it is no call; empty if it is one.
	Reason string
}

// Explain parses a text and also returns every candidate with its evidence, its
// score, and why it was or was not made a call.
func (p *Parser) Explain(ctx context.Context, text string, c Context) (*Result, []Candidate, error) {
	start := time.Now()
	col := newCollector(p, c, start)
	var all []Candidate
	col.explain = func(x Candidate) { all = append(all, x) }
	if len(text) > p.o.MaxTextBytes {
		r, err := p.parseText(ctx, text, c, start)
		return r, nil, err
	}
	err := p.scan(ctx, col, lenient.NewText(text))
	return col.finish(ctx, err), all, err
}

// ExplainReply parses a provider's reply like [Parser.ParseReply] and also returns
// every candidate: the calls of the reply's own field and what stands in its text.
func (p *Parser) ExplainReply(ctx context.Context, reply *adapters.Reply, c Context) (*Result, []Candidate, error) {
	var all []Candidate
	r, err := p.parseReply(ctx, reply, c, func(x Candidate) { all = append(all, x) })
	return r, all, err
}
