package parser

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/formats"
	"github.com/callwright/callwright/call"
)

// ReplyInfo is what a provider's reply says besides what the model said.
type ReplyInfo struct {
	// Format names the wire format; Version and Confidence say how it was found out
	// where nobody named it.
	Format     string                `json:"format,omitempty"`
	Version    string                `json:"version,omitempty"`
	Confidence float64               `json:"confidence,omitempty"`
	ID         string                `json:"id,omitempty"`
	Model      string                `json:"model,omitempty"`
	Finish     adapters.FinishReason `json:"finish_reason,omitempty"`
	Usage      *adapters.Usage       `json:"usage,omitempty"`
	// Refusal is what the model said in refusing.
	Refusal string `json:"refusal,omitempty"`
}

// ParseReply reads a provider's reply, of several choices the first: its own
// calls, validated like any others, and those in its text. A call that stands in
// both is made once. A reply that the provider's limit cut off has its last call
// marked as truncated.
func (p *Parser) ParseReply(ctx context.Context, r *adapters.Reply, c Context) (*Result, error) {
	start := time.Now()
	out, err := p.parseReply(ctx, r, c, nil)
	p.observe(out, err, &c, start)
	return out, err
}

func (p *Parser) parseReply(ctx context.Context, r *adapters.Reply, c Context, explain func(Candidate)) (*Result, error) {
	caller := ctx
	if p.o.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, p.o.Timeout)
		defer cancel()
	}
	f := p.NewReplyFeeder(ctx, c)
	defer f.Close()
	f.setFormat(r.Format)
	f.unobserved, f.text.c.out.emit, f.text.c.explain = true, nil, explain // nobody listens to events
	first := *r
	first.Choices = first.Choices[:min(1, len(r.Choices))]
	var failed error
	for _, e := range first.Events() {
		if _, failed = f.Feed(e); failed != nil {
			break
		}
	}
	_, err := f.End()
	if failed == nil {
		failed = err
	}
	if errors.Is(failed, context.DeadlineExceeded) && caller.Err() == nil {
		failed = fmt.Errorf("%w: more than %v", ErrTimeout, p.o.Timeout)
	}
	return f.result, failed
}

// ReplyFeeder parses a provider's reply that is fed to it event by event: its text, and
// the calls in its own field. It must be closed. It is not safe for concurrent use.
type ReplyFeeder struct {
	text *Feeder // of what the model said; it holds the events and the first error
	info ReplyInfo
	// open are the calls of the reply's own field that have not ended, by index. ended
	// has ended last, and the next event says whether it was cut off.
	open  map[int]*openCall
	ended *openCall

	begun      bool // some event was fed
	broken     bool // the reply broke off
	reasoned   bool // the provider set reasoning apart
	unobserved bool // who made the feeder counts the parse
	refusal    strings.Builder
	result     *Result
}

// NewReplyFeeder returns a feeder of a reply's events.
func (p *Parser) NewReplyFeeder(ctx context.Context, c Context) *ReplyFeeder {
	f := &ReplyFeeder{text: p.NewFeeder(ctx, c), open: map[int]*openCall{}}
	f.setFormat("")
	return f
}

// setFormat says what wire format the reply came in.
func (f *ReplyFeeder) setFormat(name string) {
	f.info.Format = name
	f.text.c.judge.native = call.CustomStructured
	if known, err := formats.Lookup(name); err == nil && known.CallFormat != "" {
		f.text.c.judge.native = call.Format(known.CallFormat)
	}
}

// Feed takes the next event of the reply and returns the events that it makes
// certain. They are valid until the next call. Events of choices but the first are
// left out. The error is [ErrTextTooLarge], the context's, or [ErrEnded] after the end.
func (f *ReplyFeeder) Feed(e adapters.Event) ([]Event, error) {
	t := f.text
	t.events = t.events[:0]
	if t.p.o.Metrics != nil {
		defer t.measure(time.Now())
	}
	if t.closed {
		return nil, ErrEnded
	}
	if t.err != nil {
		return nil, t.err
	}
	if t.err = t.ctx.Err(); t.err != nil {
		return nil, t.err
	}
	if e.Choice != 0 {
		return nil, nil
	}
	f.begun = true
	if f.ended != nil && e.Type != adapters.EventUsage && e.Type != adapters.EventPing && e.Type != adapters.EventExtra {
		f.endCall(e.Type == adapters.EventFinish && e.Finish == adapters.FinishLength)
	}
	switch e.Type {
	case adapters.EventStart:
		f.info.ID, f.info.Model = e.ID, e.Model
		if t.c.context.Model == "" {
			t.c.context.Model = e.Model
		}
	case adapters.EventText:
		return t.feed([]byte(e.Text))
	case adapters.EventReasoning:
		if e.Text != "" {
			t.c.Reasoning(e.Text)
			f.reasoned = true
			t.c.context.ReasoningOpen = false // it stands apart from the text
		}
	case adapters.EventRefusal:
		f.refusal.WriteString(e.Text)
	case adapters.EventCallStart:
		f.startCall(e)
	case adapters.EventArguments:
		if n := f.open[e.Index]; n != nil {
			t.err = f.arguments(n, e.Text)
		}
	case adapters.EventCallEnd:
		if n := f.open[e.Index]; n != nil {
			delete(f.open, e.Index)
			f.ended = n
			n.ended, n.cut = true, e.Truncated
		}
	case adapters.EventFinish:
		f.info.Finish = e.Finish
	case adapters.EventUsage:
		f.info.Usage = e.Usage
	}
	return t.events, t.err
}

// End says that the reply is complete and returns the last events, that of the result
// included. A second call, and one after Close, returns [ErrEnded] and no events.
func (f *ReplyFeeder) End() ([]Event, error) {
	t := f.text
	t.events = t.events[:0]
	if t.closed {
		return nil, ErrEnded
	}
	start := time.Now()
	c := t.c
	if f.ended != nil {
		f.endCall(f.broken && len(f.open) == 0 && f.info.Finish == "" && !f.ended.whole())
	}
	for index := range adapters.MaxCalls {
		if n := f.open[index]; n != nil { // it never ended
			delete(f.open, index)
			f.ended = n
			f.endCall(true)
		}
	}
	cut := f.broken || f.info.Finish == adapters.FinishLength
	t.end(cut)
	if f.reasoned && len(c.res.Calls) == 0 {
		c.unclosed = true // what the model was to say may stand in its reasoning
	}
	f.info.Refusal = f.refusal.String()
	info := f.info
	c.res.Reply = &info
	if cut {
		c.res.Truncated, c.unclosed = true, false // what the limit cut off of reasoning is a draft
	}
	f.result = c.finish(t.ctx, t.err)
	if c.out.emit != nil {
		t.events = append(t.events, Event{Type: EventResult, Result: f.result})
	}
	if !f.unobserved {
		t.p.observe(f.result, t.err, &c.context, start.Add(-t.busy))
	}
	return t.events, t.err
}

// Close frees what the feeder holds. It may be called more than once, and at any time.
func (f *ReplyFeeder) Close() {
	for _, n := range f.open {
		n.reading.Stop()
	}
	if f.ended != nil {
		f.ended.reading.Stop()
	}
	f.text.Close()
}

// IsComplete reports whether it is certain that nothing is open: no call of the reply's
// own field, and in its text no call, fence or reasoning, so that the reply may end here.
// Before the first event it is false.
func (f *ReplyFeeder) IsComplete() bool {
	if f.text.closed {
		return true
	}
	return f.begun && len(f.open) == 0 && (f.text.IsComplete() || !f.text.begun && !f.text.c.context.ReasoningOpen)
}

// Partial returns the best result of the reply so far. Calls that are being read are
// the last of its calls: first that of the text, then those of the reply's own field
// in the order of their indexes. They have the parameters as far as they have come,
// unchecked, and are marked as truncated until their end has come.
func (f *ReplyFeeder) Partial() *Result {
	r := f.text.Partial()
	if !f.text.closed {
		var open []*openCall
		if f.ended != nil {
			open = append(open, f.ended)
		}
		for _, n := range f.open {
			open = append(open, n)
		}
		slices.SortFunc(open, func(a, b *openCall) int { return a.index - b.index })
		for _, n := range open {
			r.Calls = append(r.Calls, n.partial(f.text.c))
		}
	}
	r.Success = len(r.Calls) > 0
	r.Truncated = f.text.c.res.Truncated || !f.IsComplete()
	return r
}
