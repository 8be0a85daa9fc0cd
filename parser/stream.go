package parser

import (
	"context"
	"iter"

	"github.com/callwright/callwright/adapters"
)

// Stream parses a text that arrives in chunks, cut anywhere, and yields events as
// they become certain; the last one has the result of the whole text, the same as
// [Parser.Parse] gives for it. An error ends the events. Breaking out of the loop
// frees all that the stream holds.
func Stream[Chunk ~string | ~[]byte](ctx context.Context, p *Parser, chunks iter.Seq[Chunk], c Context) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		f := p.NewFeeder(ctx, c)
		defer f.Close()
		for chunk := range chunks {
			events, err := f.Feed([]byte(chunk))
			if !yieldAll(yield, events) {
				return
			}
			if err != nil {
				yield(Event{}, err)
				return
			}
		}
		events, err := f.End()
		if yieldAll(yield, events) && err != nil {
			yield(Event{}, err)
		}
	}
}

// StreamReply parses a provider's reply that arrives in events, as
// [adapters.Format.DecodeStream] yields them, and yields events like [Stream]. format
// names the wire format, empty if it is not known. An error of the events comes last,
// behind the result of what came before it.
func StreamReply(
	ctx context.Context, p *Parser, format string, events iter.Seq2[adapters.Event, error], c Context,
) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		f := p.NewReplyFeeder(ctx, c)
		defer f.Close()
		f.setFormat(format)
		var failed error
		for e, err := range events {
			if err != nil {
				failed = err
				f.broken = true
				break
			}
			out, err := f.Feed(e)
			if !yieldAll(yield, out) {
				return
			}
			if err != nil {
				failed = err
				break
			}
		}
		out, err := f.End()
		if !yieldAll(yield, out) {
			return
		}
		if failed == nil {
			failed = err
		}
		if failed != nil {
			yield(Event{}, failed)
		}
	}
}

// yieldAll yields events and reports whether more are wanted.
func yieldAll(yield func(Event, error) bool, events []Event) bool {
	for _, e := range events {
		if !yield(e, nil) {
			return false
		}
	}
	return true
}
