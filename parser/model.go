package parser

import (
	"context"
	"fmt"

	"github.com/callwright/callwright/adapters"
)

// ModelSpecificParser parses what one model says, with what is known of that model:
// its dialects are tried first, and where nothing is found its known issues are
// mended and the text is looked at again.
type ModelSpecificParser struct {
	Capabilities adapters.ModelCapabilities
	// Preprocess, if there is one, changes each text before it is parsed.
	Preprocess func(text string) string
	// Postprocess, if there is one, changes each result. The reply is nil for a text.
	Postprocess func(*Result, *adapters.Reply) *Result
	p           *Parser
}

// ForModel returns a parser of what one model says.
func (p *Parser) ForModel(c adapters.ModelCapabilities) *ModelSpecificParser {
	return &ModelSpecificParser{Capabilities: c, p: p}
}

// context adds what is known of the model.
func (m *ModelSpecificParser) context(c Context) Context {
	c.Formats = append(c.Formats, m.Capabilities.KnownFormats...)
	return c
}

// Parse parses a text.
func (m *ModelSpecificParser) Parse(ctx context.Context, text string, c Context) (*Result, error) {
	if m.Preprocess != nil {
		text = m.Preprocess(text)
	}
	r, err := m.p.Parse(ctx, text, m.context(c))
	if err == nil && !r.Success {
		r = m.mended(ctx, r, text, c)
	}
	return m.post(r, nil), err
}

// ParseReply parses a reply: its own calls, and those in its text.
func (m *ModelSpecificParser) ParseReply(ctx context.Context, reply *adapters.Reply, c Context) (*Result, error) {
	if m.Preprocess != nil {
		reply = withText(reply, m.Preprocess)
	}
	r, err := m.p.ParseReply(ctx, reply, m.context(c))
	if err == nil && !r.Success {
		info := r.Reply
		r = m.mended(ctx, r, reply.Text(), c)
		r.Reply = info
	}
	return m.post(r, reply), err
}

func (m *ModelSpecificParser) post(r *Result, reply *adapters.Reply) *Result {
	if m.Postprocess == nil {
		return r
	}
	return m.Postprocess(r, reply)
}

// mended parses a text in which nothing was found again, with the model's known
// issues mended. The result says so; the spans of its calls are those of the mended
// text.
func (m *ModelSpecificParser) mended(ctx context.Context, before *Result, text string, c Context) *Result {
	if m.p.o.NoFallbacks || m.p.o.StrictMode {
		return before
	}
	fixed := text
	var issues []string
	for i := range m.Capabilities.KnownIssues {
		k := &m.Capabilities.KnownIssues[i]
		if next := k.Fix(fixed); next != fixed {
			fixed = next
			issues = append(issues, "known_issue: "+k.Issue)
		}
	}
	if len(issues) == 0 {
		return before
	}
	r, err := m.p.Parse(ctx, fixed, m.context(c))
	if err != nil || !r.Success {
		return before // the text as it stands is the better answer
	}
	r.Repaired, r.Strategy = true, "known_issue"
	r.Reasoning = before.Reasoning
	r.Warnings = append(r.Warnings, issues...)
	return r
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

// AskStructured asks a model for JSON and returns what it answered. The request's
// Response says what is wanted. The provider holds the model to it where the model
// can do that; where it cannot, or where asking so fails or gives no JSON, the model
// is asked again without, and its text is read for JSON. An answer that the limit
// cut off is marked as truncated.
func AskStructured(ctx context.Context, ask func(context.Context, *adapters.Request) (*adapters.Reply, error), r *adapters.Request, c adapters.ModelCapabilities) (*Decoded, *adapters.Reply, error) {
	var o DecodeOptions
	if r.Response != nil && r.Response.Schema != nil {
		schema, err := decodeSchema(r.Response.Schema)
		if err != nil {
			return nil, nil, fmt.Errorf("the wanted schema is no JSON object: %w", err)
		}
		o.Schema = schema
	}
	d, err := NewDecoder(o)
	if err != nil {
		return nil, nil, err
	}
	fitted, _ := c.Fit(r)
	var reply *adapters.Reply
	var out *Decoded
	for {
		reply, err = ask(ctx, fitted)
		if err == nil {
			out, err = d.Decode(ctx, reply.Text())
		}
		if err == nil && reply.Text() == "" && len(reply.Calls()) == 0 {
			err = ErrNoJSON
		}
		if err == nil || fitted.Response == nil || ctx.Err() != nil {
			break
		}
		again := *fitted
		again.Response = nil
		fitted = &again
	}
	if err != nil {
		return nil, reply, err
	}
	if reply.First().Finish == adapters.FinishLength {
		out.JSONTruncated = true
	}
	return out, reply, nil
}
