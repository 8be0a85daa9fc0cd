// Package eval measures how often the calls of texts are read right: cases of a text and
// what is expected of it go in, a report by model and by dialect comes out, with every
// difference.
//
//	{"id": "a", "model": "qwen3:8b", "dialect": "hermes", "text": "<tool_call>…", "tools": […],
//	 "expected": {"calls": [{"tool": "get_weather", "parameters": {"city": "Rome"}}]}}
//
// [Read] reads this layout and those of public suites; docs/accuracy.md describes them.
package eval

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/parser"
	"github.com/callwright/callwright/registry"
)

// Case is one text and what is expected of it.
type Case struct {
	ID string
	// Model wrote the text, and Dialect is how it writes calls; both may be empty. Group is a
	// part of the suite that is counted apart.
	Model, Dialect, Group string
	Text                  string
	// Tools are the definitions of the tools, in any form that [registry.Parse] takes; nil
	// stands for those of the [Options].
	Tools json.RawMessage
	// ReasoningOpen says that the prompt ended within reasoning.
	ReasoningOpen bool
	// Truncated says that the model server's limit cut the text off.
	Truncated bool
	Expected  Expected
}

// Expected is what is right for a text.
type Expected struct {
	// Calls are the calls, in their order, or in any if AnyOrder is set.
	Calls    []Call
	AnyOrder bool
	// AnyCalls says that the calls do not matter.
	AnyCalls bool
	// Content and Reasoning are the text beside the calls; nil if they do not matter.
	Content, Reasoning *string
	// Reported says that a text without a call must not vanish: it is the content, or what
	// is wrong with it is among the rejected.
	Reported bool
}

// Call is a call that is expected.
type Call struct {
	Tool string
	// Parameters are compared as JSON values, where 1 equals 1.0.
	Parameters any
	// Allowed, if it is not nil, stands instead of Parameters: for each parameter the values
	// that are right, "" among them if it may be left out. Strings are compared without
	// case, blanks and punctuation marks.
	Allowed map[string][]any
}

// Options say how cases are parsed. The zero value parses each text whole, and tells the
// parser nothing of the model.
type Options struct {
	Parser parser.Options
	// Tools are those of cases without tools of their own; nil is none.
	Tools *registry.Registry
	// Models, if it is not nil, tells the parser what is known of each case's model.
	Models *adapters.Models
	// Stream also parses each text in [StreamCuts] other ways, cut into pieces, each of which
	// must give the same.
	Stream bool
	// Workers is how many cases are parsed concurrently; 0 means one for each processor.
	Workers int
}

// StreamCuts is in how many ways [Options.Stream] cuts a text: in one piece, at every
// character, and six times into pieces of one to eight characters by a fixed seed.
const StreamCuts = 8

// Run parses all cases and reports how many are right. The error is that of a case whose
// tools cannot be read, or the context's; a parse that fails is a difference.
func Run(ctx context.Context, cases []Case, o Options) (*Report, error) {
	if o.Workers == 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	e := &evaluation{options: o}
	verdicts := make([]verdict, len(cases))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(o.Workers)
	for i := range cases {
		g.Go(func() error {
			var err error
			if verdicts[i], err = e.judge(ctx, &cases[i]); err != nil {
				return fmt.Errorf("case %s: %w", cases[i].ID, err)
			}
			return ctx.Err()
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return report(cases, verdicts), nil
}

// evaluation has the parsers of a run, one for each set of tools.
type evaluation struct {
	options Options
	parsers sync.Map // from the tools' JSON to *parser.Parser
}

func (e *evaluation) parser(tools json.RawMessage) (*parser.Parser, error) {
	if known, ok := e.parsers.Load(string(tools)); ok {
		return known.(*parser.Parser), nil
	}
	r := e.options.Tools
	if tools != nil {
		list, err := registry.Parse(tools)
		if err != nil {
			return nil, fmt.Errorf("tools: %w", err)
		}
		if r, err = registry.New(list...); err != nil {
			return nil, fmt.Errorf("tools: %w", err)
		}
	}
	p, err := parser.New(r, e.options.Parser)
	if err != nil {
		return nil, err
	}
	e.parsers.Store(string(tools), p)
	return p, nil
}

// verdict is what became of a case.
type verdict struct {
	outcome Outcome
	why     string
	result  *parser.Result // of the whole text; nil if the parse failed
}

// judge parses a case whole and, if that is asked for, in pieces; the worst outcome counts.
func (e *evaluation) judge(ctx context.Context, c *Case) (verdict, error) {
	p, err := e.parser(c.Tools)
	if err != nil {
		return verdict{}, err
	}
	known := parser.Context{ReasoningOpen: c.ReasoningOpen}
	r, err := e.whole(ctx, p, c, known)
	if err != nil {
		return verdict{Failed, err.Error(), nil}, nil //nolint:nilerr // a parse that fails is a difference
	}
	v := verdict{result: r}
	v.outcome, v.why = compare(c, r)
	if !e.options.Stream {
		return v, nil
	}
	for way := range StreamCuts {
		streamed, err := e.streamed(ctx, p, c, known, way)
		if err != nil {
			return verdict{Failed, fmt.Sprintf("stream %d: %v", way, err), r}, nil //nolint:nilerr // as above
		}
		if why := differs(r, streamed); why != "" {
			v.why = fmt.Sprintf("stream %d: %s", way, why)
			v.outcome = worse(v.outcome, Streamed)
		}
		if outcome, why := compare(c, streamed); worse(v.outcome, outcome) != v.outcome {
			v.outcome, v.why = outcome, fmt.Sprintf("stream %d: %s", way, why)
		}
	}
	return v, nil
}

// reply is a text whose end a model server's limit was.
func reply(c *Case) *adapters.Reply {
	return &adapters.Reply{Choices: []adapters.Choice{{
		Blocks: []adapters.Block{{Type: adapters.BlockText, Text: c.Text}}, Finish: adapters.FinishLength,
	}}}
}

func (e *evaluation) whole(ctx context.Context, p *parser.Parser, c *Case, known parser.Context) (*parser.Result, error) {
	if e.options.Models == nil || c.Model == "" {
		if c.Truncated {
			return p.ParseReply(ctx, reply(c), known)
		}
		return p.Parse(ctx, c.Text, known)
	}
	known.Model = c.Model
	m := p.ForModel(e.options.Models.Capabilities("", c.Model))
	if c.Truncated {
		return m.ParseReply(ctx, reply(c), known)
	}
	return m.Parse(ctx, c.Text, known)
}

// streamed parses a text that arrives in pieces.
func (e *evaluation) streamed(ctx context.Context, p *parser.Parser, c *Case, known parser.Context, way int) (*parser.Result, error) {
	if e.options.Models != nil {
		known.Model = c.Model
	}
	events := parser.Stream(ctx, p, pieces(c.Text, way), known)
	if c.Truncated {
		events = parser.StreamReply(ctx, p, "", func(yield func(adapters.Event, error) bool) {
			for _, x := range reply(c).Events() {
				if x.Type != adapters.EventText {
					if !yield(x, nil) {
						return
					}
					continue
				}
				for piece := range pieces(x.Text, way) {
					if !yield(adapters.Event{Type: adapters.EventText, Text: piece, New: x.New}, nil) {
						return
					}
					x.New = false
				}
			}
		}, known)
	}
	var r *parser.Result
	for x, err := range events {
		if err != nil {
			return nil, err
		}
		if x.Type == parser.EventResult {
			r = x.Result
		}
	}
	return r, nil
}

// pieces cuts a text, between its characters, in one of the [StreamCuts] ways.
func pieces(text string, way int) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		if way == 0 {
			yield(text)
			return
		}
		random := rand.New(rand.NewPCG(uint64(way), 0))
		size, start, n := 1, 0, 0
		for at := range text {
			if n == size {
				if !yield(text[start:at]) {
					return
				}
				start, n = at, 0
				if way > 1 {
					size = 1 + random.IntN(8)
				}
			}
			n++
		}
		yield(text[start:])
	}
}
