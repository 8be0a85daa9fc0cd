package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/spf13/cobra"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/formats"
	"github.com/callwright/callwright/internal/wire"
	"github.com/callwright/callwright/parser"
)

func newStream() *cobra.Command {
	var f flags
	var complete, asJSON bool
	var kind string
	c := &cobra.Command{
		Use:   "stream",
		Short: "Parse a text as it arrives on standard input",
		Long: "Parse a text while it arrives on standard input: plain text, or any provider's stream, as server-sent events,\nJSON Lines, a " +
			"JSON array or AWS event stream messages. Show the text and the calls on a terminal, and write\nevents as JSON Lines with --json or " +
			"in a pipe, as they happen.",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			switch kind {
			case "auto", "text", "sse", "ndjson":
			default:
				return fmt.Errorf("--input is %q, must be auto, text, sse or ndjson", kind)
			}
			o, err := f.options()
			if err != nil {
				return err
			}
			o.Complete = complete
			r, err := f.registry(c.ErrOrStderr())
			if err != nil {
				return err
			}
			p, err := parser.New(r, o)
			if err != nil {
				return err
			}
			var readErr error
			events, err := f.events(c, p, kind, &readErr)
			if err != nil {
				return err
			}
			found := false
			show := func(e *parser.Event) error { return writeJSON(c.OutOrStdout(), e, "") }
			if !asJSON && isTerminal(c.OutOrStdout()) {
				show = (&streamView{screen: screenOf(c.OutOrStdout()), w: c.OutOrStdout()}).event
			}
			for e, err := range events {
				if errors.Is(err, adapters.ErrUnexpectedEnd) { // the result says so too
					fmt.Fprintf(c.ErrOrStderr(), "callwright: %v\n", err)
					continue
				}
				if err != nil {
					return err
				}
				found = found || e.Type == parser.EventResult && e.Result.Success
				if err := show(&e); err != nil {
					return err
				}
			}
			if readErr != nil {
				return readErr
			}
			if !found {
				return errNoCalls
			}
			return nil
		},
	}
	f.add(c)
	c.Flags().BoolVar(&asJSON, "json", false, "write JSON on a terminal too")
	c.Flags().BoolVar(&complete, "complete", false, "write calls only when they are complete")
	c.Flags().StringVar(&kind, "input", "auto", "format of the input: auto, text, sse or ndjson")
	return c
}

// events parses standard input, as a text or as a stream in a wire format.
func (f *flags) events(c *cobra.Command, p *parser.Parser, kind string, failed *error) (iter.Seq2[parser.Event, error], error) {
	context := f.context()
	in := bufio.NewReaderSize(c.InOrStdin(), 64<<10)
	head, _ := in.Peek(1) // waits for the first byte
	head, _ = in.Peek(max(in.Buffered(), len(head)))
	format := formats.Resolve(f.format, head)
	switch {
	case kind == "auto" && format == nil && (f.format == textFormat || looksLikeText(in)), kind == "text":
		if f.format == textFormat {
			context.Format = ""
		}
		return parser.Stream(c.Context(), p, chunks(in, failed), context), nil
	case format != nil:
		context.Format = ""
	}
	s, err := formats.Open(in, adapters.Limits{MaxTotalBytes: maxInput})
	if errors.Is(err, io.EOF) {
		return parser.Stream(c.Context(), p, func(func(string) bool) {}, context), nil
	}
	if err != nil {
		return nil, err
	}
	if format == nil {
		format = s.Format
	}
	if format == nil {
		return parser.Stream(c.Context(), p, messageTexts(wire.NewReader(s, 0, maxInput), failed), context), nil
	}
	return parser.StreamReply(c.Context(), p, format.Name, s.Events(format), context), nil
}

// chunks reads text as it comes.
func chunks(r io.Reader, failed *error) iter.Seq[string] {
	return func(yield func(string) bool) {
		buf := make([]byte, 32<<10)
		for {
			n, err := r.Read(buf)
			if n > 0 && !yield(string(buf[:n])) {
				return
			}
			if err != nil {
				if !errors.Is(err, io.EOF) {
					*failed = err
				}
				return
			}
		}
	}
}

// messageTexts yields the texts of messages in an unknown format: of strings, of objects
// with a text under a common key, and of all else as it is.
func messageTexts(r *wire.Reader, failed *error) iter.Seq[string] {
	return func(yield func(string) bool) {
		for {
			frame, err := r.Next()
			if err != nil {
				if !errors.Is(err, io.EOF) {
					*failed = err
				}
				return
			}
			data := bytes.TrimSpace(frame.Data)
			if len(data) == 0 || string(data) == "[DONE]" {
				continue
			}
			if text := messageText(data); text != "" && !yield(text) {
				return
			}
		}
	}
}

func messageText(data []byte) string {
	if !json.Valid(data) {
		return string(data) + "\n"
	}
	if s, ok := wire.String(data); ok {
		return s
	}
	o, _ := wire.AsObject(data)
	for _, k := range []string{"text", "content", "delta", "token"} {
		if s := o.String(k); s != "" {
			return s
		}
	}
	return ""
}

// likelyStream is the confidence from which on a line of JSON on standard input is taken
// for a message of a stream.
const likelyStream = 0.5

// looksLikeText tells by its first line whether what arrives is plain text.
func looksLikeText(r *bufio.Reader) bool {
	for n := 1; ; n++ {
		head, err := r.Peek(n)
		trimmed := bytes.TrimLeft(head, "\ufeff \r\n\t")
		for _, p := range []string{"data:", "event:", ": ", "id:", "retry:"} {
			if bytes.HasPrefix(trimmed, []byte(p)) {
				return false
			}
		}
		switch {
		case len(trimmed) == 0:
			if err != nil {
				return true
			}
		case trimmed[0] == 0:
			head, _ := r.Peek(12)
			return !wire.IsBinary(head)
		case trimmed[0] == '{' || trimmed[0] == '[':
			line, _, whole := bytes.Cut(trimmed, []byte("\n"))
			if whole || err != nil {
				return formats.DetectFormat(bytes.TrimLeft(line, "[ ")).Confidence < likelyStream
			}
		case len(trimmed) >= 6 || err != nil:
			return true
		}
		if err != nil {
			return true
		}
		if buffered := r.Buffered(); buffered > n {
			n = buffered - 1
		}
	}
}
