// Package parser finds the tool calls in what a language model wrote, checks them
// against the tools that it may call, and says what else there is: content,
// reasoning, and what looked like a call and is not one.
//
//	tools, err := registry.New(weather) // get_weather(city: string, days?: integer)
//	p, err := parser.New(tools, parser.Options{})
//	r, err := p.Parse(ctx, `One moment. <tool_call>{"name": "get_weather",
//		"arguments": {"city": "Rome", "days": "3",}}</tool_call>`, parser.Context{})
//
//	r.Content             // "One moment."
//	r.Calls[0].Tool       // "get_weather"
//	r.Calls[0].Parameters // {"city": "Rome", "days": 3}
//	r.Calls[0].Coercions  // "3" became 3
//	r.Calls[0].Repairs    // "trailing_comma"
//
// # What a result promises
//
// A call in Result.Calls can be run: its tool is known, its parameters fit the tool's
// schema, and everything that was changed to get there is listed in the call. What the
// model meant as a call and cannot be run is in Result.Rejected with the reasons;
// [Result.Feedback] writes them as a message to the model. Every byte of the text is
// content, reasoning, part of a call or of a rejected one, or listed in Result.Dropped.
//
// # Sources
//
// [Parser.Parse] reads a whole text, [Stream] one that arrives in chunks, with the same
// result however it is cut. [Parser.ParseReply] and [StreamReply] read a provider's
// reply: the calls in its own field and those in its text. [Decode] reads JSON that is
// no call.
//
// # Limits
//
// The time of a parse is linear in the text. A text may have 16 MiB, 128 calls and 1024
// candidates, and a parse takes 5 seconds at most, unless the [Options] say otherwise.
// Parsing does not panic: a defect of the parser is [ErrInternal].
package parser

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/callwright/callwright/cache"
	"github.com/callwright/callwright/dialect"
	"github.com/callwright/callwright/fallback"
	"github.com/callwright/callwright/internal/lenient"
	"github.com/callwright/callwright/internal/scan"
	"github.com/callwright/callwright/registry"
)

// Errors of a parse. Where the context has ended the error is that of the context.
var (
	// ErrTextTooLarge says that a text is larger than Options.MaxTextBytes.
	ErrTextTooLarge = errors.New("the text is too large")
	// ErrTimeout says that a parse took longer than Options.Timeout.
	ErrTimeout = errors.New("the parse took too long")
	// ErrInternal says that the parser itself failed. The text that it was given is
	// content, and Options.Logger is told of the cause.
	ErrInternal = errors.New("internal error")
)

// Parser parses texts. It is safe for concurrent use.
type Parser struct {
	registry *registry.Registry
	o        Options
	table    *scan.Table
	calls    *lenient.Shape // of calls of the registry's tools
	chain    fallback.Chain
	// inline says that broken calls are repaired where they stand, deep that the
	// chain has tiers that look at the text itself.
	inline, deep bool
	identity     string
	models       *lru.Cache[string, []string] // the dialects of those named lately
}

// builtin is the table of the built-in dialects.
var builtin = func() *scan.Table {
	t, err := scan.NewTable(dialect.Builtin())
	if err != nil {
		panic("built-in dialects: " + err.Error())
	}
	return t
}()

// New returns a parser of calls to a registry's tools. With a nil or empty
// registry any name may be a tool's: then a call has a marker, or is JSON that names
// both a tool and its arguments. The error is [ErrOption], or a [*dialect.Error] of
// Options.Dialects.
func New(r *registry.Registry, o Options, more ...Option) (*Parser, error) {
	for _, f := range more {
		f(&o)
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	if r == nil {
		r, _ = registry.New()
	}
	models, err := lru.New[string, []string](maxModels)
	if err != nil {
		return nil, err
	}
	p := &Parser{registry: r, o: o, table: builtin, calls: scan.CallShape(r), models: models}
	if !o.Dialects.IsZero() {
		t, err := scan.NewTable(dialect.Builtin().With(o.Dialects))
		if err != nil {
			return nil, err
		}
		p.table = t
	}
	p.setChain()
	p.identify()
	return p, nil
}

// Dialects returns the dialects that the parser reads, those of the options first.
func (p *Parser) Dialects() []dialect.Row { return p.table.Dialects() }

// Parse reads a whole text. The result is never nil; with an error it has what was found
// until then, or the text as content. The error is [ErrTextTooLarge], [ErrTimeout],
// [ErrInternal] or that of the context.
func (p *Parser) Parse(ctx context.Context, text string, c Context) (*Result, error) {
	start := time.Now()
	r, err := p.parseText(ctx, text, c, start)
	p.observe(r, err, &c, start)
	return r, err
}

// parseText is [Parser.Parse] without counting.
func (p *Parser) parseText(ctx context.Context, text string, c Context, start time.Time) (*Result, error) {
	switch {
	case len(text) > p.o.MaxTextBytes:
		r := emptyResult()
		r.Content, r.Warnings = text, []string{"text_too_large"}
		return r, fmt.Errorf("%w: %d bytes, at most %d", ErrTextTooLarge, len(text), p.o.MaxTextBytes)
	case p.o.Cache != nil:
		return p.parseCached(ctx, text, c, start)
	}
	return p.parse(ctx, text, c, start)
}

func (p *Parser) parse(ctx context.Context, text string, c Context, start time.Time) (*Result, error) {
	w, _ := works.Get().(*work)
	w.collector.begin(p, c, start)
	w.cursor.Reset(text)
	err := p.scan(ctx, &w.collector, &w.cursor)
	r := w.collector.finish(ctx, err)
	if err == nil { // else something may still be in use
		*w = work{}
		works.Put(w)
	}
	return r, err
}

// work is what a parse of a whole text needs while it runs.
type work struct {
	collector collector
	cursor    lenient.Cursor
}

// works are those that are in no use, empty.
var works = sync.Pool{New: func() any { return new(work) }}

// scan reads a whole text at a cursor.
func (p *Parser) scan(ctx context.Context, c *collector, cur *lenient.Cursor) error {
	return p.internal(lenient.Run(func(cur *lenient.Cursor) error { return p.read(ctx, c, cur, false) }, cur), c, cur)
}

// read runs a scanner over a cursor. watch says that the text is still arriving.
func (p *Parser) read(ctx context.Context, c *collector, cur *lenient.Cursor, watch bool) error {
	c.scanner = &c.scan
	c.scan.Init(cur, scan.Options{
		Table: p.table, Registry: p.registry, Calls: p.calls, ReasoningOpen: c.context.ReasoningOpen, Prefer: p.prefer(c.context), Watch: watch,
		Check: func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			if p.o.Timeout > 0 && !watch && time.Since(c.start) > p.o.Timeout {
				return fmt.Errorf("%w: more than %v", ErrTimeout, p.o.Timeout)
			}
			return nil
		},
	}, c)
	if err := ctx.Err(); err != nil {
		return err
	}
	return c.scanner.Run()
}

// internal makes [ErrInternal] of a panic of the reading code, and tells of it.
func (p *Parser) internal(err error, c *collector, cur *lenient.Cursor) error {
	if err == nil {
		return nil
	}
	var panicked *lenient.PanicError
	if !errors.As(err, &panicked) {
		return err
	}
	c.warn("internal_error")
	p.logPanic(panicked, cur)
	return fmt.Errorf("%w: %v", ErrInternal, panicked.Value)
}

// logPanic tells what is needed to find the cause, and nothing of the text but its hash.
func (p *Parser) logPanic(cause *lenient.PanicError, cur *lenient.Cursor) {
	if p.o.Logger == nil {
		return
	}
	hash := sha256.Sum256(cur.Slice(cur.Kept(), cur.Limit()))
	p.o.Logger.Error("internal error of the parser",
		"cause", fmt.Sprint(cause.Value), "text_sha256", hex.EncodeToString(hash[:]), "text_bytes", cur.Limit(), "stack", string(cause.Stack))
}

// prefer names the dialects that a hint makes likelier.
func (p *Parser) prefer(c Context) []string {
	var names []string
	if c.Format != "" {
		names = append(names, c.Format)
	}
	names = append(names, c.Formats...)
	if p.o.Patterns != nil {
		for _, x := range p.o.Patterns.Likeliest(c.Tenant, c.Model, cache.KindDialect) {
			names = append(names, x.Name)
		}
	}
	if c.Model != "" {
		names = append(names, p.dialectsOf(c.Model)...)
	}
	return names
}

// maxModels is how many models a parser remembers the dialects of.
const maxModels = 256

// dialectsOf names the dialects that are said to be a model's.
func (p *Parser) dialectsOf(model string) []string {
	if names, ok := p.models.Get(model); ok {
		return names
	}
	folded := foldModel(model)
	var names []string
	for _, d := range p.table.Dialects() {
		for _, m := range d.Models {
			if f := foldModel(m); len(f) >= 4 && strings.Contains(folded, f) {
				names = append(names, d.Name)
				break
			}
		}
	}
	if len(model) <= registry.MaxNameBytes {
		p.models.Add(model, names)
	}
	return names
}

func foldModel(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		}
		return -1
	}, s)
}
