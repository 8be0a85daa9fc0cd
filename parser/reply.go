package parser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"strings"
	"time"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/formats"
	"github.com/callwright/callwright/extractor"
	"github.com/callwright/callwright/internal/lenient"
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
	f.quiet, f.h.emit, f.h.explain = true, nil, explain // nobody listens to events
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
	*Feeder
	info    ReplyInfo
	open    map[int]*nativeCall
	ending  *nativeCall // has ended, unless what comes next says that it was cut off
	cut     bool        // the reply broke off
	thought bool        // the provider set reasoning apart
	refusal strings.Builder
	quiet   bool // who made the feeder counts the parse
	result  *Result
}

// NewReplyFeeder returns a feeder of a reply's events.
func (p *Parser) NewReplyFeeder(ctx context.Context, c Context) *ReplyFeeder {
	f := &ReplyFeeder{Feeder: p.NewFeeder(ctx, c), open: map[int]*nativeCall{}}
	f.format("")
	return f
}

// format says what wire format the reply came in.
func (f *ReplyFeeder) format(name string) {
	f.info.Format = name
	f.h.native = normalizer.CustomStructured
	if known, err := formats.Lookup(name); err == nil && known.CallFormat != "" {
		f.h.native = normalizer.Format(known.CallFormat)
	}
}

// Feed takes the next event of the reply and returns the events that it makes
// certain. They are valid until the next call.
func (f *ReplyFeeder) Feed(e adapters.Event) ([]Event, error) {
	f.events = f.events[:0]
	if f.p.o.Metrics != nil {
		defer f.count(time.Now())
	}
	if f.err != nil {
		return nil, f.err
	}
	if f.err = f.ctx.Err(); f.err != nil {
		return nil, f.err
	}
	if e.Choice != 0 {
		return nil, nil
	}
	if f.ending != nil && e.Type != adapters.EventUsage && e.Type != adapters.EventPing && e.Type != adapters.EventExtra {
		f.settle(e.Type == adapters.EventFinish && e.Finish == adapters.FinishLength)
	}
	switch e.Type {
	case adapters.EventStart:
		f.info.ID, f.info.Model = e.ID, e.Model
		if f.h.c.Model == "" {
			f.h.c.Model = e.Model
		}
	case adapters.EventText:
		return f.feed([]byte(e.Text))
	case adapters.EventReasoning:
		if e.Text != "" {
			f.h.Reasoning(e.Text)
			f.thought = true
			f.h.c.ReasoningOpen = false // it stands apart from the text
		}
	case adapters.EventRefusal:
		f.refusal.WriteString(e.Text)
	case adapters.EventCallStart:
		f.begin(e)
	case adapters.EventArguments:
		if n := f.open[e.Index]; n != nil {
			f.err = f.arguments(n, e.Text)
		}
	case adapters.EventCallEnd:
		if n := f.open[e.Index]; n != nil {
			delete(f.open, e.Index)
			f.ending = n
			n.cut = e.Truncated
		}
	case adapters.EventFinish:
		f.info.Finish = e.Finish
	case adapters.EventUsage:
		f.info.Usage = e.Usage
	}
	return f.events, f.err
}

// End says that the reply is complete and returns the last events.
func (f *ReplyFeeder) End() ([]Event, error) {
	f.events = f.events[:0]
	start := time.Now()
	h := f.h
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
	if f.cursor != nil && !f.ended {
		f.cursor.End()
		f.next()
	}
	f.ended = true
	if f.thought && len(h.res.Calls) == 0 {
		h.unclosed = true // what the model was to say may stand in its reasoning
	}
	f.info.Refusal = f.refusal.String()
	info := f.info
	h.res.Reply = &info
	h.res.Truncated = h.res.Truncated || f.cut || info.Finish == adapters.FinishLength
	f.result = h.finish(f.ctx, f.err)
	if h.emit != nil {
		f.events = append(f.events, Event{Type: EventResult, Result: f.result})
	}
	if !f.quiet {
		f.p.observe(f.result, f.err, &h.c, start.Add(-f.busy))
	}
	return f.events, f.err
}

// Close frees what the feeder holds.
func (f *ReplyFeeder) Close() {
	for _, n := range f.open {
		n.stop()
	}
	if f.ending != nil {
		f.ending.stop()
	}
	f.Feeder.Close()
}

// nativeCall is a call in the provider's own field whose arguments are arriving.
type nativeCall struct {
	part     extractor.Partial
	progress progress
	cursor   *lenient.Cursor
	reader   *lenient.Reader
	next     func() (struct{}, bool)
	stop     func()
	custom   bool
	cut      bool
	raw      []byte
	value    any
	err      error
	done     bool // the value has ended
}

// whole reports whether the arguments ended by themselves.
func (n *nativeCall) whole() bool {
	return n.custom || n.done && n.err == nil && !n.reader.Fixes.Has(lenient.Truncated)
}

func (f *ReplyFeeder) begin(e adapters.Event) {
	if f.open[e.Index] != nil || len(f.open) >= adapters.MaxCalls {
		return
	}
	n := &nativeCall{custom: e.Custom}
	n.part = extractor.Partial{Name: e.Name, ID: e.ID, Marked: true}
	n.next, n.stop = iter.Pull(func(yield func(struct{}) bool) {
		defer func() {
			if r := recover(); r != nil {
				if err, ok := r.(error); !ok || !errors.Is(err, lenient.ErrStopped) {
					n.err, n.done = fmt.Errorf("internal error: %v", r), true
				}
			}
		}()
		n.cursor = lenient.NewStream(func() bool { return yield(struct{}{}) })
		if !yield(struct{}{}) {
			return
		}
		n.reader = lenient.NewReader(n.cursor, lenient.Options{Watch: true})
		n.part.Arguments = n.reader
		n.value, n.err = n.reader.Value()
		n.done = true
	})
	n.next()
	f.open[e.Index] = n
	if !n.custom {
		f.show(n)
	}
}

// arguments takes a piece of a call's arguments.
func (f *ReplyFeeder) arguments(n *nativeCall, text string) error {
	if f.fed += len(text); f.fed > f.p.o.MaxTextBytes {
		return f.tooLarge()
	}
	n.raw = append(n.raw, text...)
	if n.custom || text == "" {
		return nil
	}
	n.cursor.Append([]byte(text))
	if n.done {
		return nil
	}
	n.next()
	f.show(n)
	return nil
}

// show sends what has become certain of a native call.
func (f *ReplyFeeder) show(n *nativeCall) {
	f.with(n, func() { f.h.show(&n.part) })
}

// with runs a function while a native call is the one that is being read.
func (f *ReplyFeeder) with(n *nativeCall, do func()) {
	saved := f.h.progress
	f.h.progress = &n.progress
	do()
	f.h.progress = saved
}

// settle makes a call of what has ended.
func (f *ReplyFeeder) settle(cut bool) {
	n := f.ending
	f.ending = nil
	cut = cut || n.cut
	n.cursor.End()
	if !n.custom && !n.done {
		n.next()
	}
	n.stop()
	c := &extractor.Candidate{
		Method: extractor.MethodNative, Provenance: extractor.Native, Named: true, Name: n.part.Name, ID: n.part.ID, Raw: string(n.raw), Truncated: cut,
	}
	switch {
	case n.custom:
		c.Arguments = lenient.Text(n.raw)
	case strings.TrimSpace(string(n.raw)) == "":
		c.Arguments = map[string]any{}
	default:
		c.Arguments, c.Err, c.Fixes = n.value, n.err, n.reader.Fixes
		// Arguments that break off were not said to their end, whatever the reason given.
		c.Truncated = cut || n.reader.CutToken
		switch n.value.(type) {
		case json.Number, bool: // a tool with one parameter may take it
			c.Arguments = lenient.Text(n.raw)
		}
		if c.Err != nil {
			c.Value = string(n.raw)
		}
		n.cursor.SkipSpace()
		if !c.Truncated && c.Err == nil && !n.cursor.EOF() {
			f.h.warn("arguments_trailing") // some servers send them twice
		}
	}
	f.with(n, func() {
		f.h.Candidate(c)
		if n.progress.started { // what was begun is ended all the same
			f.h.Abandoned()
		}
	})
}

// repeats reports whether a call stands both in the text and in the provider's own
// field, and was made already. Each call excuses one other.
func (h *handler) repeats(call *Call) bool {
	if h.native == "" || h.progress.started {
		return false
	}
	for i := range h.res.Calls {
		c := &h.res.Calls[i]
		if (c.Provenance == extractor.Native) != (call.Provenance == extractor.Native) && !h.paired[i] && c.Tool == call.Tool && reflect.DeepEqual(c.Parameters, call.Parameters) {
			if h.paired == nil {
				h.paired = map[int]bool{}
			}
			h.paired[i] = true
			return true
		}
	}
	return false
}

// mayRepeat reports whether a call that begins may turn out to repeat another.
func (h *handler) mayRepeat(tool string) bool {
	if h.native == "" {
		return false
	}
	for i := range h.res.Calls {
		if h.res.Calls[i].Tool == tool && !h.paired[i] {
			return true
		}
	}
	return false
}
