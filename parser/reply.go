package parser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/formats"
	"github.com/callwright/callwright/call"
	"github.com/callwright/callwright/internal/lenient"
	"github.com/callwright/callwright/internal/scan"
	"github.com/callwright/callwright/normalizer"
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
	f.format(r.Format)
	f.quiet, f.text.c.out.emit, f.text.c.explain = true, nil, explain // nobody listens to events
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

// StreamReply parses a provider's reply that arrives in events, as
// [adapters.Format.DecodeStream] yields them, and yields events like [Stream]. An
// error of the events comes last, behind the result of what came before it.
func StreamReply(ctx context.Context, p *Parser, format string, events iter.Seq2[adapters.Event, error], c Context) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		f := p.NewReplyFeeder(ctx, c)
		defer f.Close()
		f.format(format)
		var failed error
		for e, err := range events {
			if err != nil {
				failed = err
				f.cut = true
				break
			}
			out, err := f.Feed(e)
			for _, o := range out {
				if !yield(o, nil) {
					return
				}
			}
			if err != nil {
				failed = err
				break
			}
		}
		out, err := f.End()
		for _, o := range out {
			if !yield(o, nil) {
				return
			}
		}
		if failed == nil {
			failed = err
		}
		if failed != nil {
			yield(Event{}, failed)
		}
	}
}

// ReplyFeeder parses a provider's reply that is fed to it event by event. It must
// be closed. It is not safe for concurrent use.
type ReplyFeeder struct {
	text    *Feeder // of what the model said; it holds the events and the first error
	begun   bool
	info    ReplyInfo
	open    map[int]*openCall
	ending  *openCall // has ended, unless what comes next says that it was cut off
	cut     bool      // the reply broke off
	thought bool      // the provider set reasoning apart
	refusal strings.Builder
	quiet   bool // who made the feeder counts the parse
	result  *Result
}

// NewReplyFeeder returns a feeder of a reply's events.
func (p *Parser) NewReplyFeeder(ctx context.Context, c Context) *ReplyFeeder {
	f := &ReplyFeeder{text: p.NewFeeder(ctx, c), open: map[int]*openCall{}}
	f.format("")
	return f
}

// format says what wire format the reply came in.
func (f *ReplyFeeder) format(name string) {
	f.info.Format = name
	f.text.c.judge.native = normalizer.CustomStructured
	if known, err := formats.Lookup(name); err == nil && known.CallFormat != "" {
		f.text.c.judge.native = normalizer.Format(known.CallFormat)
	}
}

// Feed takes the next event of the reply and returns the events that it makes
// certain. They are valid until the next call.
func (f *ReplyFeeder) Feed(e adapters.Event) ([]Event, error) {
	t := f.text
	t.events = t.events[:0]
	if t.p.o.Metrics != nil {
		defer t.count(time.Now())
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
	if f.ending != nil && e.Type != adapters.EventUsage && e.Type != adapters.EventPing && e.Type != adapters.EventExtra {
		f.settle(e.Type == adapters.EventFinish && e.Finish == adapters.FinishLength)
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
			f.thought = true
			t.c.context.ReasoningOpen = false // it stands apart from the text
		}
	case adapters.EventRefusal:
		f.refusal.WriteString(e.Text)
	case adapters.EventCallStart:
		f.begin(e)
	case adapters.EventArguments:
		if n := f.open[e.Index]; n != nil {
			t.err = f.arguments(n, e.Text)
		}
	case adapters.EventCallEnd:
		if n := f.open[e.Index]; n != nil {
			delete(f.open, e.Index)
			f.ending = n
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
	if f.ending != nil {
		f.settle(f.cut && len(f.open) == 0 && f.info.Finish == "" && !f.ending.whole())
	}
	for index := range adapters.MaxCalls {
		if n := f.open[index]; n != nil { // it never ended
			delete(f.open, index)
			f.ending = n
			f.settle(true)
		}
	}
	t.end()
	if f.thought && len(c.res.Calls) == 0 {
		c.unclosed = true // what the model was to say may stand in its reasoning
	}
	f.info.Refusal = f.refusal.String()
	info := f.info
	c.res.Reply = &info
	c.res.Truncated = c.res.Truncated || f.cut || info.Finish == adapters.FinishLength
	f.result = c.finish(t.ctx, t.err)
	if c.out.emit != nil {
		t.events = append(t.events, Event{Type: EventResult, Result: f.result})
	}
	if !f.quiet {
		t.p.observe(f.result, t.err, &c.context, start.Add(-t.busy))
	}
	return t.events, t.err
}

// Close frees what the feeder holds. It may be called more than once, and at any time.
func (f *ReplyFeeder) Close() {
	for _, n := range f.open {
		n.reading.Stop()
	}
	if f.ending != nil {
		f.ending.reading.Stop()
	}
	f.text.Close()
}

// IsComplete reports whether nothing is open: no call of the reply's own field, and in
// its text no call, fence or reasoning, so that the reply may end here. Before the
// first event it is false.
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
		if f.ending != nil {
			open = append(open, f.ending)
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

// openCall is a call in the provider's own field whose arguments are arriving.
type openCall struct {
	index   int // of the provider's
	custom  bool
	part    scan.Partial
	teller  teller
	reading *lenient.Reading // of its arguments
	reader  *lenient.Reader
	raw     []byte
	value   any  // that was read, where the reading is done
	ended   bool // its end has come
	cut     bool // and says that it was cut off
}

// whole reports whether the arguments ended by themselves.
func (n *openCall) whole() bool {
	return n.custom || n.reading.Done() && n.reading.Err() == nil && !n.reader.Fixes.Has(lenient.Truncated)
}

// partial is what has come of the call.
func (n *openCall) partial(c *collector) Call {
	v := look(&n.part, &n.reading.Cursor)
	call := c.partial(&n.teller, &v)
	call.Truncated = !n.ended || n.cut
	return call
}

// begin begins a call.
func (f *ReplyFeeder) begin(e adapters.Event) {
	if f.open[e.Index] != nil || len(f.open) >= adapters.MaxCalls {
		return
	}
	n := &openCall{index: e.Index, custom: e.Custom, teller: f.text.c.newTeller()}
	n.part = scan.Partial{Name: e.Name, ID: e.ID, Marked: true}
	n.reading = lenient.Start(func(c *lenient.Cursor) (err error) {
		n.reader = lenient.NewReader(c, lenient.Options{Watch: true})
		n.part.Arguments = n.reader
		n.value, err = n.reader.Value()
		return err
	})
	f.open[e.Index] = n
	if !n.custom {
		f.show(n)
	}
}

// arguments takes a piece of a call's arguments.
func (f *ReplyFeeder) arguments(n *openCall, text string) error {
	if f.text.fed += len(text); f.text.fed > f.text.p.o.MaxTextBytes {
		return f.text.tooLarge()
	}
	n.raw = append(n.raw, text...)
	if n.custom || text == "" {
		return nil
	}
	if n.reading.Feed([]byte(text)); !n.reading.Done() {
		f.show(n)
	}
	return nil
}

// show sends what has become certain of a call.
func (f *ReplyFeeder) show(n *openCall) { f.text.c.show(&n.teller, &n.part, &n.reading.Cursor) }

// settle makes a call of the one that has ended, or rejects it.
func (f *ReplyFeeder) settle(cut bool) {
	n := f.ending
	f.ending = nil
	cut = cut || n.cut
	if !n.custom {
		n.reading.End()
	}
	n.reading.Stop()
	cand := &scan.Candidate{
		Method: call.MethodNative, Provenance: call.Native, Named: true, Name: n.part.Name, ID: n.part.ID, Raw: string(n.raw), Truncated: cut,
	}
	c := f.text.c
	switch {
	case n.custom:
		cand.Arguments = lenient.Text(n.raw)
	case strings.TrimSpace(string(n.raw)) == "":
		cand.Arguments = map[string]any{}
	default:
		cand.Arguments, cand.Fixes = n.value, n.reader.Fixes
		cand.Err = f.text.p.internal(n.reading.Err(), c, &n.reading.Cursor)
		// Arguments that break off were not said to their end, whatever the reason given.
		cand.Truncated = cut || n.reader.CutToken
		switch n.value.(type) {
		case json.Number, bool: // a tool with one parameter may take it
			cand.Arguments = lenient.Text(n.raw)
		}
		if cand.Err != nil {
			cand.Value = string(n.raw)
		}
		n.reading.Cursor.SkipSpace()
		if !cand.Truncated && cand.Err == nil && !n.reading.Cursor.EOF() {
			c.warn("arguments_trailing") // some servers send them twice
		}
	}
	c.take(cand, &n.teller)
	n.teller.abandon() // what was begun is ended all the same
}
