package parser

import (
	"context"
	"fmt"

	"github.com/callwright/callwright/adapters"
)

// AskStructured asks a model for JSON and returns what it answered. The request's
// Response says what is wanted; ask sends a request and returns the reply.
//
// The provider constrains the output to it where the model supports that. Where it does
// not, or where asking so fails or gives no JSON, the model is asked once more without
// the constraint, and its text is searched for JSON like [DecodeSchema] does. The error
// is that of ask, [ErrNoJSON], or that of a schema that cannot be used. An answer that
// the limit cut off is marked as truncated.
func AskStructured(
	ctx context.Context, ask func(context.Context, *adapters.Request) (*adapters.Reply, error), r *adapters.Request,
	c adapters.ModelCapabilities,
) (*Decoded, *adapters.Reply, error) {
	var o DecodeOptions
	if r.Response != nil && r.Response.Schema != nil {
		schema, err := decodeSchema(r.Response.Schema)
		if err != nil {
			return nil, nil, fmt.Errorf("the schema of the response must be a JSON object: %w", err)
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
		unconstrained := *fitted
		unconstrained.Response = nil
		fitted = &unconstrained
	}
	if err != nil {
		return nil, reply, err
	}
	if reply.First().Finish == adapters.FinishLength {
		out.JSONTruncated = true
	}
	return out, reply, nil
}
