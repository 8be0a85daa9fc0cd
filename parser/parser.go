// Package parser finds the tool calls in what a language model said, checks them
// against the tools that it may call, and says what else there is: content,
// reasoning, and what looked like a call and is none.
package parser

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/callwright/callwright/extractor"
	"github.com/callwright/callwright/extractor/dialects"
	"github.com/callwright/callwright/fallback"
	"github.com/callwright/callwright/internal/lenient"
	"github.com/callwright/callwright/registry"
)

// Errors of a parse. Of a context that has ended the error is the context's.
var (
	// ErrTextTooLarge says that a text is larger than Options.MaxTextBytes.
	ErrTextTooLarge = errors.New("the text is too large")
	// ErrTimeout says that a parse took longer than Options.Timeout.
	ErrTimeout = errors.New("the parse took too long")
)

// Parser parses texts. It is safe for concurrent use.
type Parser struct {
	registry *registry.Registry
	o        Options
	table    *extractor.Table
	chain    fallback.Chain
	// inline says that broken calls are repaired where they stand, deep that the
	// chain has tiers that look at the text itself.
	inline, deep bool
}

// builtin is the table of the built-in dialects.
var builtin = func() *extractor.Table {
	t, err := extractor.NewTable(dialects.All()...)
	if err != nil {
		panic("built-in dialects: " + err.Error())
	}
	return t
}()

// New returns a parser of calls to a registry's tools. With a nil or empty
// registry any name may be a tool's, and only JSON that names both a tool and its
// arguments, or a marker, makes a call.
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
	p := &Parser{registry: r, o: o, table: builtin}
	if len(o.dialects) > 0 {
		t, err := extractor.NewTable(append(slices.Clone(o.dialects), withoutNames(dialects.All(), o.dialects)...)...)
		if err != nil {
			return nil, err
		}
		p.table = t
	}
	p.setChain()
	return p, nil
}

// withoutNames leaves out the rows that others replace.
func withoutNames(rows, replaced []extractor.Dialect) []extractor.Dialect {
	return slices.DeleteFunc(rows, func(d extractor.Dialect) bool {
		return slices.ContainsFunc(replaced, func(r extractor.Dialect) bool { return r.Name == d.Name })
	})
}

// Dialects returns the dialects that the parser reads.
func (p *Parser) Dialects() []extractor.Dialect { return p.table.Dialects() }

// Parse reads a whole text. The result is never nil; with an error it holds what
// was found until then.
func (p *Parser) Parse(ctx context.Context, text string, c Context) (*Result, error) {
	start := time.Now()
	if len(text) > p.o.MaxTextBytes {
		return &Result{Content: text, Calls: []Call{}, Rejected: []Rejected{}, Warnings: []string{"text_too_large"}}, fmt.Errorf("%w: %d bytes, at most %d", ErrTextTooLarge, len(text), p.o.MaxTextBytes)
	}
	h := newHandler(p, c, start)
	err := p.scan(ctx, lenient.NewText(text), c, h, start, false)
	return h.finish(ctx, err), err
}

// scan runs a scanner over a cursor and isolates its panics.
func (p *Parser) scan(ctx context.Context, cur *lenient.Cursor, c Context, h *handler, start time.Time, watch bool) (err error) {
	defer func() {
		if r := recover(); r != nil {
			if e, ok := r.(error); ok && errors.Is(e, lenient.ErrStopped) {
				err = lenient.ErrStopped
				return
			}
			h.warn("internal_error")
			err = fmt.Errorf("internal error: %v", r)
		}
	}()
	s := extractor.NewScanner(cur, extractor.Options{
		Table: p.table, Registry: p.registry, ReasoningOpen: c.ReasoningOpen, Prefer: p.prefer(c), Watch: watch,
		Check: func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			if p.o.Timeout > 0 && !watch && time.Since(start) > p.o.Timeout {
				return fmt.Errorf("%w: more than %v", ErrTimeout, p.o.Timeout)
			}
			return nil
		},
	}, h)
	h.scanner = s
	h.cursor = cur
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.Run()
}

// prefer names the dialects that a hint makes likelier.
func (p *Parser) prefer(c Context) []string {
	var names []string
	if c.Format != "" {
		names = append(names, c.Format)
	}
	names = append(names, c.Formats...)
	if c.Model != "" {
		model := foldModel(c.Model)
		for _, d := range p.table.Dialects() {
			for _, m := range d.Models {
				if f := foldModel(m); len(f) >= 4 && strings.Contains(model, f) {
					names = append(names, d.Name)
					break
				}
			}
		}
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
