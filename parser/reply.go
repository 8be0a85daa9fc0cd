package parser

import (
	"context"
	"time"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/extractor"
	"github.com/callwright/callwright/internal/lenient"
)

// ParseReply reads a provider's reply, as decoded JSON: its own calls, validated
// like any others, and where it has none those in its text.
func (p *Parser) ParseReply(ctx context.Context, reply any, c Context) (*Result, error) {
	start := time.Now()
	r := adapters.ReadReply(reply)
	h := newHandler(p, c, start)
	if r.Reasoning != "" {
		h.Reasoning(r.Reasoning)
	}
	if r.Calls {
		raw := encode(reply)
		found := h.Candidate(&extractor.Candidate{Method: extractor.MethodNative, Provenance: extractor.Native, Value: reply, Raw: raw, End: len(raw)})
		if found || len(h.res.Rejected) > 0 {
			if h.content.Len() == 0 && r.Text != "" {
				h.Content(r.Text)
			}
			return h.finish(), ctx.Err()
		}
	}
	if len(r.Text) > p.o.MaxTextBytes {
		return p.Parse(ctx, r.Text, c)
	}
	err := p.scan(ctx, lenient.NewText(r.Text), c, h, start, false)
	return h.finish(), err
}
