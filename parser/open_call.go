package parser

import (
	"encoding/json"
	"strings"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/call"
	"github.com/callwright/callwright/internal/lenient"
	"github.com/callwright/callwright/internal/scan"
)

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

// startCall begins to read a call.
func (f *ReplyFeeder) startCall(e adapters.Event) {
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
	if err := f.text.count(len(text)); err != nil {
		return err
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

// endCall makes a call of the one that has ended, or rejects it. cut says that it was
// cut off.
func (f *ReplyFeeder) endCall(cut bool) {
	n := f.ended
	f.ended = nil
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
	c.abandon(&n.teller) // what was begun is ended all the same
}
