package main

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/formats"
	"github.com/callwright/callwright/parser"
)

// textFormat is the value of --format that says that the input is a model's text
// and no provider's reply.
const textFormat = "text"

// wireFormat returns the wire format that --format names, nil if it names a
// dialect, or nothing.
func wireFormat(name string) *adapters.Format {
	f, err := formats.Lookup(name)
	if err != nil {
		return nil
	}
	return f
}

// parseInput parses what is either a model's text or a provider's reply, whole or
// a recorded stream. A reply is taken for one if --format says so, or if it cannot
// well be anything else.
func parseInput(ctx context.Context, p *parser.Parser, data string, c parser.Context) (*parser.Result, error) {
	f := wireFormat(c.Format)
	switch {
	case f != nil:
		c.Format = ""
		return parseReply(ctx, p, []byte(data), formats.Detected{Format: f, Version: f.Version}, c)
	case c.Format == textFormat:
		c.Format = ""
		return p.Parse(ctx, data, c)
	}
	if d := formats.DetectFormat([]byte(data)); d.Format != nil && d.Confidence >= formats.Sure {
		return parseReply(ctx, p, []byte(data), d, c)
	}
	return p.Parse(ctx, data, c)
}

// parseReply parses a reply of a known format. What came before an error in it is
// in the result.
func parseReply(ctx context.Context, p *parser.Parser, data []byte, d formats.Detected, c parser.Context) (*parser.Result, error) {
	reply, failed := formats.Read(d.Format, data, adapters.Limits{MaxTotalBytes: maxInput})
	if reply == nil {
		return nil, failed
	}
	r, err := p.ParseReply(ctx, reply, c)
	if r != nil && r.Reply != nil {
		r.Reply.Version, r.Reply.Confidence = d.Version, d.Confidence
	}
	if err == nil {
		err = failed
	}
	if errors.Is(err, adapters.ErrUnexpectedEnd) && r != nil {
		// What there is of it is in the result, which says that it was cut off.
		r.Truncated = true
		r.Warnings = append(r.Warnings, "unexpected_end")
		err = nil
	}
	return r, err
}

// parseReplyValue parses the "reply" of a line: an object, the messages of a
// stream as a list, or a reply or a recorded stream as one string.
func parseReplyValue(ctx context.Context, p *parser.Parser, raw json.RawMessage, c parser.Context) (*parser.Result, error) {
	data := []byte(raw)
	var text string
	if json.Unmarshal(raw, &text) == nil {
		data = []byte(text)
	}
	if f := wireFormat(c.Format); f != nil {
		c.Format = ""
		return parseReply(ctx, p, data, formats.Detected{Format: f, Version: f.Version}, c)
	}
	d := formats.DetectFormat(data)
	if d.Format == nil {
		if _, err := formats.Read(nil, data, adapters.Limits{}); err != nil {
			var reported *adapters.ProviderError
			if errors.As(err, &reported) {
				return nil, err
			}
		}
		// Some other shape: what calls are in it is found as in any text.
		r, err := p.Parse(ctx, string(data), c)
		if r != nil {
			r.Warnings = append(r.Warnings, "unknown_format")
		}
		return r, err
	}
	return parseReply(ctx, p, data, d, c)
}
