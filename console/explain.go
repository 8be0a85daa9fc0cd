package console

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/callwright/callwright/call"
	"github.com/callwright/callwright/parser"
	"github.com/callwright/callwright/registry"
	"github.com/callwright/callwright/validator"
)

// Limits of one request to explain a text.
const (
	MaxRequestBytes = 1 << 20 // of its JSON, and with it of the text and the tools
	MaxEvents       = 4096    // events of the replay that are sent; the rest is left out
)

// Request asks what callwright makes of a text.
type Request struct {
	Text string `json:"text"`
	// Tools are definitions in any form that [registry.Parse] takes; nil is none.
	Tools  json.RawMessage `json:"tools,omitempty"`
	Model  string          `json:"model,omitempty"`
	Format string          `json:"format,omitempty"` // a dialect that is tried first
	// ReasoningOpen says that the prompt ended within reasoning.
	ReasoningOpen bool `json:"reasoning_open,omitempty"`
	Strict        bool `json:"strict,omitempty"` // no repairs and no coercions
	Lossy         bool `json:"lossy,omitempty"`  // coercions that lose something, such as "yes" to true
	// Piece is the size of the pieces of the replay, in bytes; 0 means one piece, -1 lines.
	Piece int `json:"piece,omitempty"`
}

// Explanation is what callwright makes of a text.
type Explanation struct {
	Result     *parser.Result `json:"result"`
	Candidates []Candidate    `json:"candidates"`
	Segments   []Segment      `json:"segments"`
	// Events are what a stream of the pieces gives, and Pieces the offset in bytes at which
	// each piece ends.
	Events []Event `json:"events"`
	Pieces []int   `json:"pieces"`
	// Tools is how many tools are known.
	Tools int `json:"tools"`
	// Feedback is what the model is told of the calls that were meant and cannot be run.
	Feedback string `json:"feedback,omitempty"`
}

// Candidate is a stretch of text that may be a call, and what became of it.
type Candidate struct {
	Span       [2]int          `json:"span"` // offsets in bytes
	Called     bool            `json:"called"`
	Tool       string          `json:"tool,omitempty"`
	Method     call.Method     `json:"method,omitempty"`
	Provenance call.Provenance `json:"provenance,omitempty"`
	Format     call.Format     `json:"format,omitempty"`
	// Reason says in words why it is no call.
	Reason string `json:"reason,omitempty"`
	// Repairs name the departures that were read through.
	Repairs []string     `json:"repairs,omitempty"`
	Score   parser.Score `json:"score"`
	// Surroundings say what of the text around it spoke for a call that is made and against
	// it.
	Surroundings []string `json:"surroundings,omitempty"`
	// Index is that of the call in Result.Calls, -1 for none.
	Index int `json:"index"`
	// Errors are why a rejected call cannot be run.
	Errors []validator.Error `json:"errors,omitempty"`
}

// Event is an event of the replay, sent when the text had come up to At, in bytes.
type Event struct {
	At int `json:"at"`
	parser.Event
}

// MarshalJSON writes an event of the parser with its offset. The result is left out.
func (e Event) MarshalJSON() ([]byte, error) {
	e.Result = nil
	inner, err := json.Marshal(e.Event)
	if err != nil {
		return nil, err
	}
	return append(fmt.Appendf(nil, `{"at":%d,`, e.At), inner[1:]...), nil
}

// ErrTools says that the tools of a request cannot be read.
var ErrTools = errors.New("the tools cannot be read")

// Explain parses a text as o says, with the request's own tools, whole and in pieces.
func Explain(ctx context.Context, q *Request, o parser.Options) (*Explanation, error) {
	var tools *registry.Registry
	x := &Explanation{Candidates: []Candidate{}, Events: []Event{}, Pieces: []int{}}
	if len(q.Tools) > 0 && string(q.Tools) != "null" {
		list, err := registry.Parse(q.Tools)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrTools, err)
		}
		if tools, err = registry.New(list...); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrTools, err)
		}
		x.Tools = len(list)
	}
	o.StrictMode, o.Validation.Lossy = o.StrictMode || q.Strict, o.Validation.Lossy || q.Lossy
	p, err := parser.New(tools, o)
	if err != nil {
		return nil, err
	}
	known := parser.Context{Model: q.Model, Format: q.Format, ReasoningOpen: q.ReasoningOpen}
	r, all, err := p.Explain(ctx, q.Text, known)
	if err != nil {
		return nil, err
	}
	x.Result, x.Candidates, x.Feedback = r, Candidates(r, all), r.Feedback()
	x.Segments = Segments(q.Text, r, x.Candidates)
	return x, x.replay(ctx, p, q, known)
}

// replay parses the text in pieces and notes when each event was sent.
func (x *Explanation) replay(ctx context.Context, p *parser.Parser, q *Request, known parser.Context) error {
	f := p.NewFeeder(ctx, known)
	defer f.Close()
	note := func(at int, events []parser.Event) {
		for _, e := range events[:min(len(events), MaxEvents-len(x.Events))] {
			x.Events = append(x.Events, Event{at, e})
		}
	}
	for at := 0; at < len(q.Text); {
		end := pieceEnd(q.Text, at, q.Piece)
		events, err := f.Feed([]byte(q.Text[at:end]))
		if err != nil {
			return err
		}
		at = end
		x.Pieces = append(x.Pieces, at)
		note(at, events)
	}
	events, err := f.End()
	note(len(q.Text), events)
	return err
}

// pieceEnd is where the piece that begins at an offset ends.
func pieceEnd(text string, at, size int) int {
	end := len(text)
	switch {
	case size > 0:
		end = min(at+size, end)
	case size < 0:
		for i := at; i < len(text); i++ {
			if text[i] == '\n' {
				return i + 1
			}
		}
	}
	return end
}

// Candidates joins the candidates of a parse with its calls and with what it rejected.
// Calls and rejected ones that no candidate stands for, since a fallback made them, come
// last.
func Candidates(r *parser.Result, all []parser.Candidate) []Candidate {
	list := make([]Candidate, 0, len(all))
	calls, rejected := make([]bool, len(r.Calls)), make([]bool, len(r.Rejected))
	for i := range all {
		a := &all[i]
		c := Candidate{
			Span: [2]int{a.Start, a.End}, Called: a.Reason == "", Tool: a.Tool, Method: a.Method, Provenance: a.Provenance, Format: a.Format,
			Reason: a.Reason, Repairs: a.Repairs, Score: a.Score, Surroundings: a.Surroundings, Index: -1,
		}
		for j := range r.Calls {
			if c.Called && !calls[j] && r.Calls[j].Tool == c.Tool && within(r.Calls[j].Span, c.Span) {
				calls[j], c.Index = true, j
				c.Repairs = r.Calls[j].Repairs
				break
			}
		}
		for j := range r.Rejected {
			if !c.Called && !rejected[j] && within(r.Rejected[j].Span, c.Span) {
				rejected[j], c.Errors = true, r.Rejected[j].Errors
				break
			}
		}
		list = append(list, c)
	}
	for j := range r.Calls {
		if k := &r.Calls[j]; !calls[j] {
			list = append(list, Candidate{
				Span: k.Span, Called: true, Tool: k.Tool, Method: k.Metadata.ParsingMethod, Provenance: k.Provenance, Format: k.SourceFormat,
				Repairs: k.Repairs, Score: k.Score, Index: j,
			})
		}
	}
	for j := range r.Rejected {
		if k := &r.Rejected[j]; !rejected[j] {
			c := Candidate{
				Span: k.Span, Tool: k.Tool, Provenance: k.Provenance, Format: k.Format, Score: k.Score, Index: -1, Errors: k.Errors,
			}
			if len(k.Errors) > 0 {
				c.Reason = k.Errors[0].Error()
			}
			list = append(list, c)
		}
	}
	return list
}

// within reports whether a span stands in another.
func within(a, b [2]int) bool { return a[0] >= b[0] && a[1] <= b[1] }
