package main

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/formats"
	"github.com/callwright/callwright/internal/wire"
	"github.com/callwright/callwright/parser"
)

// textFormat is the value of --format for a model's text, which is not a reply.
const textFormat = "text"

// parseInput parses a model's text, or a provider's reply, whole or a recorded stream. It
// is a reply if --format says so, or if it is detected with [formats.Sure].
func parseInput(ctx context.Context, p replyParser, data string, c parser.Context) (*parser.Result, error) {
	if d := replyFormat([]byte(data), &c); d.Format != nil {
		return parseReply(ctx, p, []byte(data), d, c)
	}
	return p.Parse(ctx, data, c)
}

// replyFormat detects the format of a reply; its Format is nil for a text. A context's
// Format that names a wire format, or says that the input is text, is cleared.
func replyFormat(data []byte, c *parser.Context) formats.Detected {
	f := formats.Resolve(c.Format, data)
	switch {
	case f != nil:
		c.Format = ""
		return formats.Detected{Format: f, Version: f.Version}
	case c.Format == textFormat:
		c.Format = ""
		return formats.Detected{}
	}
	if d := formats.DetectFormat(data); d.Confidence >= formats.Sure {
		return d
	}
	return formats.Detected{}
}

// parseReply parses a reply in a known format. With an error, what came before it is in
// the result.
func parseReply(ctx context.Context, p replyParser, data []byte, d formats.Detected, c parser.Context) (*parser.Result, error) {
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
		// The result says that it was cut off.
		r.Truncated = true
		r.Warnings = append(r.Warnings, "unexpected_end")
		err = nil
	}
	return r, err
}

// replyBytes is the "reply" of a line, taken out of a string if it is one.
func replyBytes(raw json.RawMessage) []byte {
	if text, ok := wire.String(raw); ok {
		return []byte(text)
	}
	return raw
}

// parseReplyValue parses the "reply" of a line: an object, the messages of a
// stream as a list, or a reply or a recorded stream as one string.
func parseReplyValue(ctx context.Context, p replyParser, raw json.RawMessage, c parser.Context) (*parser.Result, error) {
	data := replyBytes(raw)
	if f := formats.Resolve(c.Format, data); f != nil {
		c.Format = ""
		return parseReply(ctx, p, data, formats.Detected{Format: f, Version: f.Version}, c)
	}
	d := formats.DetectFormat(data)
	if d.Format == nil {
		if reported := adapters.ErrorOf(data); reported != nil {
			return nil, reported
		}
		// An unknown format: calls are found in it as in any text.
		r, err := p.Parse(ctx, string(data), c)
		if r != nil {
			r.Warnings = append(r.Warnings, "unknown_format")
		}
		return r, err
	}
	return parseReply(ctx, p, data, d, c)
}
