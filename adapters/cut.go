package adapters

import (
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/callwright/callwright/internal/lenient"
	"github.com/callwright/callwright/internal/wire"
)

// NOTE: A call that was cut off is never closed in this package or below: who runs calls
// must be able to tell it from a whole one. Whole replies say so by [Reply.cutOff],
// streams by the finisher.

// Cut reports whether a call was cut off: it is marked as truncated, or its arguments end
// before they are whole. Broken JSON that has its end is not cut off.
func (c *Call) Cut() bool { return c.Truncated || !c.Custom && cutArguments(c.Arguments) }

// cutArguments reports whether arguments end within a value: an object, an array or a
// string, or one of these that is encoded as a string.
func cutArguments(text string) bool {
	for range 2 {
		text = strings.TrimSpace(text)
		if text == "" || strings.IndexByte(`{["`, text[0]) < 0 {
			return false
		}
		var first json.RawMessage
		err := json.NewDecoder(strings.NewReader(text)).Decode(&first)
		switch {
		case errors.Is(err, io.ErrUnexpectedEOF):
			return true
		case err != nil:
			r := lenient.NewReader(lenient.NewText(text), lenient.Options{})
			_, err := r.Value()
			return err == nil && r.Fixes.Has(lenient.Truncated)
		}
		encoded, ok := wire.String(first)
		if !ok {
			return false
		}
		text = encoded
	}
	return false
}

// cutOff returns the reply as a format can say it where a call was cut off: the call is
// marked, or left out if the format has no words for it, and a choice with such a call
// does not end as if it were complete. A reply without such calls is returned itself.
func (r *Reply) cutOff(f *Format) *Reply {
	cut := func(b *Block) bool { return b.Type == BlockCall && b.Call.Cut() }
	out := *r
	for i := range r.Choices {
		if !slices.ContainsFunc(r.Choices[i].Blocks, func(b Block) bool { return cut(&b) }) {
			continue
		}
		if &out.Choices[0] == &r.Choices[0] {
			out.Choices = slices.Clone(r.Choices)
		}
		c := &out.Choices[i]
		c.Blocks = nil
		for _, b := range r.Choices[i].Blocks {
			if cut(&b) {
				open := b.Call.Arguments == "" || b.Call.Custom || cutArguments(b.Call.Arguments)
				if f.WholeCalls || open && (f.ObjectArguments || b.Call.Custom && !f.Carries.Custom) {
					continue
				}
				call := *b.Call
				call.Truncated = true
				b.Call = &call
			}
			c.Blocks = append(c.Blocks, b)
		}
		c.Finish = cutFinish(c.Finish)
	}
	return &out
}

// cutFinish is the reason of the end of a choice in which a call was cut off: who says
// that it is complete is not believed.
func cutFinish(f FinishReason) FinishReason {
	switch f {
	case FinishCalls, FinishStop, FinishSequence, "":
		return FinishLength
	}
	return f
}
