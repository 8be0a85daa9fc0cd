package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/callwright/callwright/cache"
	"github.com/callwright/callwright/parser"
	"github.com/callwright/callwright/registry"
)

func newBatch() *cobra.Command {
	var f flags
	var workers int
	var stats, summarize bool
	c := &cobra.Command{
		Use:   "batch [FILE|-]",
		Short: "Parse JSON Lines, one text a line",
		Long: `Parse JSON Lines, one of these a line:
{"id", "text" | "chunks": […] | "reply": {…}, "tools": […], "model", "format", "reasoning_open", "context"}
"reply" is that of any provider, whole or a recorded stream. With "schema", true for any, or "keys", of which it has one at
its top, the result is JSON.
Write one result a line, in order, as soon as it and those before it are ready. A bad line gives a line with an error.
Exit code 0, 1 if a line was bad, 2 on other errors.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if workers < 1 {
				return fmt.Errorf("--workers is %d, must be at least 1", workers)
			}
			if workers > maxWorkers {
				fmt.Fprintf(c.ErrOrStderr(), "callwright: --workers is %d: %d are used, the most\n", workers, maxWorkers)
				workers = maxWorkers
			}
			b := &batch{flags: &f, workers: workers, warn: c.ErrOrStderr()}
			var err error
			if b.parsers, err = cache.New[*lineParser](cache.Options{MaxEntries: 64, MaxBytes: 256 << 20, TTL: -1}); err != nil {
				return err
			}
			r, err := f.registry(c.ErrOrStderr())
			if err != nil {
				return err
			}
			if b.options, err = f.options(); err != nil {
				return err
			}
			if b.fallback, err = parser.New(r, b.options); err != nil {
				return err
			}
			in, err := input(args, c.InOrStdin())
			if err != nil {
				return err
			}
			defer in.Close()
			err = b.run(c.Context(), in, c.OutOrStdout(), progress(in, c.ErrOrStderr()))
			if summarize || !c.Flags().Changed("summary") && isTerminal(c.ErrOrStderr()) {
				fmt.Fprintf(c.ErrOrStderr(), "\n%s", b.summary.String())
			}
			if stats && f.metrics != nil {
				err = errors.Join(err, writeJSON(c.ErrOrStderr(), f.metrics.Performance(), "  "))
			}
			return err
		},
	}
	f.add(c)
	c.Flags().BoolVar(&stats, "stats", false, "write statistics of the parses to standard error, as JSON")
	c.Flags().BoolVar(
		&summarize, "summary", false, "end with a table of the lines by dialect and outcome on standard error (on a terminal the default)",
	)
	c.Flags().IntVar(&workers, "workers", runtime.GOMAXPROCS(0), "how many lines are parsed concurrently")
	return c
}

// maxWorkers is how many lines may be parsed concurrently: more need memory and gain
// nothing.
const maxWorkers = 256

// errBadLines says that there were lines that could not be parsed. It sets the exit code,
// and is not printed.
var errBadLines = fmt.Errorf("a line could not be parsed: %w", errNoCalls)

// progress returns a writer for the bytes read: a progress bar on a terminal.
func progress(in io.Reader, w io.Writer) io.Writer {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return io.Discard
	}
	size := int64(-1)
	if file, ok := in.(*os.File); ok {
		if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
			size = info.Size()
		}
	}
	return progressbar.DefaultBytes(size, "parsing")
}

// batch parses lines in parallel.
type batch struct {
	flags    *flags
	workers  int
	warn     io.Writer
	options  parser.Options
	fallback *parser.Parser // for lines without tools of their own
	parsers  *cache.Cache[*lineParser]
	bad      atomic.Bool // a line could not be parsed
	summary  summary
}

// line is one line of the input and where its answer goes.
type line struct {
	number int
	data   []byte
	err    error
	answer chan []byte
}

// maxLine bounds a line, in bytes.
const maxLine = 64 << 20

// run answers the lines in order. At most three lines per worker are in flight.
func (b *batch) run(ctx context.Context, in io.Reader, out io.Writer, bar io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	work := make(chan *line)
	order := make(chan *line, 2*b.workers)
	for range b.workers {
		go func() {
			for l := range work {
				l.answer <- b.answer(ctx, l)
			}
		}()
	}
	readErr := make(chan error, 1)
	go func() {
		defer close(order)
		defer close(work)
		readErr <- readLines(in, func(l *line) bool {
			l.answer = make(chan []byte, 1)
			select {
			case order <- l:
			case <-ctx.Done():
				return false
			}
			select {
			case work <- l:
				return true
			case <-ctx.Done():
				l.answer <- nil
				return false
			}
		})
	}()
	w := bufio.NewWriter(out)
	for l := range order {
		answer := <-l.answer
		if ctx.Err() != nil {
			break
		}
		if _, err := w.Write(answer); err != nil {
			return err
		}
		if _, err := bar.Write(l.data); err != nil {
			bar = io.Discard
		}
		if len(order) == 0 {
			if err := w.Flush(); err != nil {
				return err
			}
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := <-readErr; err != nil {
		return err
	}
	if b.bad.Load() {
		return errBadLines
	}
	return nil
}

// byteOrderMark is what some editors put before a text.
const byteOrderMark = "\ufeff"

// readLines hands out the lines of the input that are not blank.
func readLines(in io.Reader, take func(*line) bool) error {
	r := bufio.NewReaderSize(in, 64<<10)
	for number := 1; ; number++ {
		l := &line{number: number}
		for {
			part, err := r.ReadSlice('\n')
			if len(l.data)+len(part) > maxLine {
				l.err = fmt.Errorf("longer than %d bytes", maxLine)
				l.data = nil
			} else if l.err == nil {
				l.data = append(l.data, part...)
			}
			if errors.Is(err, bufio.ErrBufferFull) {
				continue
			}
			if number == 1 {
				l.data = bytes.TrimPrefix(l.data, []byte(byteOrderMark))
			}
			if (l.err != nil || len(bytes.TrimSpace(l.data)) > 0) && !take(l) {
				return nil
			}
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			break
		}
	}
}

// failure is the answer to a line that could not be parsed.
type failure struct {
	ID      any      `json:"id,omitempty"`
	Success bool     `json:"success"`
	Calls   []string `json:"calls"`
	Error   string   `json:"error"`
}

// answer parses one line.
func (b *batch) answer(ctx context.Context, l *line) (out []byte) {
	var id any
	defer func() {
		if p := recover(); p != nil {
			b.bad.Store(true)
			b.summary.add(nil)
			out = encodeLine(failure{ID: id, Calls: []string{}, Error: fmt.Sprintf("line %d: internal error: %v", l.number, p)})
		}
	}()
	r, decoded, id, err := b.parseLine(ctx, l)
	switch {
	case err != nil:
		b.summary.add(nil)
	case decoded == nil: // JSON that is no call has no dialect
		b.summary.add(r)
	}
	if decoded != nil {
		return encodeLine(struct {
			ID any `json:"id,omitempty"`
			*structured
		}{id, decoded})
	}
	if err != nil {
		b.bad.Store(true)
	}
	if err != nil && r != nil && r.Reply != nil { // what came before the error is told
		return encodeLine(struct {
			ID any `json:"id,omitempty"`
			*parser.Result
			Error string `json:"error"`
		}{id, r, fmt.Sprintf("line %d: %v", l.number, err)})
	}
	if err != nil {
		return encodeLine(failure{ID: id, Calls: []string{}, Error: fmt.Sprintf("line %d: %v", l.number, err)})
	}
	if s, ok := id.(string); ok {
		r.ID = s
		return encodeLine(r)
	}
	// An id of another type is echoed as it is.
	return encodeLine(struct {
		ID any `json:"id,omitempty"`
		*parser.Result
	}{id, r})
}

func encodeLine(v any) []byte {
	var b bytes.Buffer
	if err := writeJSON(&b, v, ""); err != nil {
		b.Reset()
		fmt.Fprintf(&b, "{\"success\":false,\"calls\":[],\"error\":%q}\n", err.Error())
	}
	return bytes.ToValidUTF8(b.Bytes(), []byte("\uFFFD")) // an id may have what is none
}

func (b *batch) parseLine(ctx context.Context, l *line) (*parser.Result, *structured, any, error) {
	if l.err != nil {
		return nil, nil, nil, l.err
	}
	// A map, since a struct would take keys in any case.
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(l.data, &fields); err != nil || fields == nil {
		return nil, nil, nil, fmt.Errorf("not a JSON object: %w", cmp.Or(err, errNull))
	}
	maps.DeleteFunc(fields, func(_ string, raw json.RawMessage) bool { return string(raw) == "null" })
	var id any
	if raw, ok := fields["id"]; ok {
		if err := json.Unmarshal(raw, &id); err != nil {
			return nil, nil, nil, err
		}
		if _, isString := id.(string); !isString {
			id = raw
		}
	}
	c := b.flags.context()
	var heard []string // the former name of "prompt"
	for key, into := range map[string]any{
		"model": &c.Model, "format": &c.Format, "reasoning_open": &c.ReasoningOpen, "prompt": &c.Prompt, "heard": &heard, "context": &c.Values,
	} {
		if raw, ok := fields[key]; ok {
			if err := json.Unmarshal(raw, into); err != nil {
				return nil, nil, id, fmt.Errorf("%q: %w", key, err)
			}
		}
	}
	c.Prompt = append(c.Prompt, heard...)
	if fields["schema"] != nil || fields["keys"] != nil {
		d, err := decodeLine(ctx, fields)
		return nil, d, id, err
	}
	p, err := b.parserOf(ctx, fields["tools"])
	if err != nil {
		return nil, nil, id, err
	}
	if fields["text"] == nil && fields["chunks"] == nil && fields["reply"] != nil {
		r, err := parseReplyValue(ctx, b.flags.forModel(p, c.Model), fields["reply"], c)
		return r, nil, id, err
	}
	text, chunks, err := textOf(fields)
	if err != nil {
		return nil, nil, id, err
	}
	if chunks == nil {
		r, err := b.flags.forModel(p, c.Model).Parse(ctx, text, c)
		return r, nil, id, err
	}
	for e, err := range parser.Stream(ctx, p, slices.Values(chunks), c) {
		if err != nil {
			return nil, nil, id, err
		}
		if e.Type == parser.EventResult {
			return e.Result, nil, id, nil
		}
	}
	return nil, nil, id, errors.New("the stream gave no result")
}

// errNull is what is wrong with null.
var errNull = errors.New("it is null")

// textOf returns the text of a line, or its chunks.
func textOf(fields map[string]json.RawMessage) (text string, chunks []string, err error) {
	switch {
	case fields["text"] != nil:
		if err := json.Unmarshal(fields["text"], &text); err != nil {
			return "", nil, fmt.Errorf("\"text\": %w", err)
		}
	case fields["chunks"] != nil:
		var list []*string
		if err := json.Unmarshal(fields["chunks"], &list); err != nil {
			return "", nil, fmt.Errorf("\"chunks\": %w", err)
		}
		chunks = make([]string, len(list))
		for i, chunk := range list {
			if chunk == nil {
				return "", nil, fmt.Errorf("\"chunks\": element %d: %w", i, errNull)
			}
			chunks[i] = *chunk
		}
	default:
		return "", nil, errors.New(`needs "text", "chunks" or "reply"`)
	}
	return text, chunks, nil
}

// lineParser is a parser of a line's own tools, and those.
type lineParser struct {
	*parser.Parser
	tools *registry.Registry
}

// Bytes is how large the tools are by now, for the cache.
func (p *lineParser) Bytes() int { return p.tools.Bytes() }

// parserOf returns the parser of a line's own tools, made once for the same ones.
func (b *batch) parserOf(ctx context.Context, tools json.RawMessage) (*parser.Parser, error) {
	if tools == nil {
		return b.fallback, nil
	}
	p, err := b.parsers.Do(ctx, cache.KeyOf(tools), func(context.Context) (*lineParser, int, error) {
		list, err := registry.Parse(tools)
		if err != nil {
			return nil, 0, fmt.Errorf("\"tools\": %w", err)
		}
		r, err := registry.New(list...)
		if err != nil {
			return nil, 0, fmt.Errorf("\"tools\": %w", err)
		}
		p, err := parser.New(r, b.options)
		return &lineParser{p, r}, r.Bytes(), err
	})
	if err != nil {
		return nil, err
	}
	return p.Parser, nil
}
