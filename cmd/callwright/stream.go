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
	"github.com/callwright/callwright/parser"
)

func newStream() *cobra.Command {
	var f flags
	var complete bool
	var kind string
	c := &cobra.Command{
		Use:   "stream",
		Short: "Parse a text as it arrives on standard input",
		Long:  "Parse a text as it arrives on standard input: plain text, server-sent events, or JSON Lines as providers stream them.\nWrites events as JSON Lines as they happen.",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			switch kind {
			case "auto", "text", "sse", "ndjson":
			default:
				return fmt.Errorf("--input is %q, must be auto, text, sse or ndjson", kind)
			}
			o, more, err := f.options()
			if err != nil {
				return err
			}
			o.Complete = complete
			r, err := f.registry(c.ErrOrStderr())
			if err != nil {
				return err
			}
			p, err := parser.New(r, o, more...)
			if err != nil {
				return err
			}
			var readErr error
			found := false
			for e, err := range parser.Stream(c.Context(), p, chunks(c.InOrStdin(), kind, &readErr), f.context()) {
				if err != nil {
					return err
				}
				found = found || e.Type == parser.EventResult && e.Result.Success
				if err := writeJSON(c.OutOrStdout(), e, ""); err != nil {
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
	c.Flags().BoolVar(&complete, "complete", false, "send calls only when they are whole")
	c.Flags().StringVar(&kind, "input", "auto", "what arrives: auto, text, sse or ndjson")
	return c
}

// chunks reads the pieces of text from standard input.
func chunks(in io.Reader, kind string, failed *error) iter.Seq[string] {
	return func(yield func(string) bool) {
		r := bufio.NewReaderSize(in, 64<<10)
		if kind == "auto" {
			kind = detect(r)
		}
		if kind == "text" {
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
		for {
			line, err := readLine(r)
			if kind == "sse" {
				data, ok := bytes.CutPrefix(line, []byte("data:"))
				if !ok {
					line = nil
				} else {
					line = bytes.TrimSpace(data)
				}
			}
			if line = bytes.TrimSpace(line); len(line) > 0 && string(line) != "[DONE]" {
				if text, ok := piece(line); ok && text != "" && !yield(text) {
					return
				}
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

// readLine reads a line of at most maxLine bytes.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > maxLine {
			return nil, fmt.Errorf("a line is longer than %d bytes", maxLine)
		}
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// piece reads the text of one piece of a provider's stream. Text that is no such
// piece is not lost: it stands for itself.
func piece(line []byte) (string, bool) {
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return string(line) + "\n", true
	}
	if s, ok := v.(string); ok {
		return s, true
	}
	reply := adapters.ReadReply(v)
	if !reply.Known {
		if m, ok := v.(map[string]any); ok {
			for _, k := range []string{"text", "content", "delta", "token"} {
				if s, ok := m[k].(string); ok {
					return s, true
				}
			}
		}
		return "", false
	}
	return reply.Text, true
}

// detect tells what arrives by its first bytes.
func detect(r *bufio.Reader) string {
	for n := 1; ; n++ {
		head, err := r.Peek(n)
		trimmed := bytes.TrimLeft(head, "\ufeff \r\n\t")
		for _, p := range []string{"data:", "event:", ": ", "id:", "retry:"} {
			if bytes.HasPrefix(trimmed, []byte(p)) {
				return "sse"
			}
		}
		if err != nil || len(trimmed) > 0 && trimmed[0] != '{' && len(trimmed) >= 6 {
			if len(trimmed) == 0 || trimmed[0] != '{' {
				return "text"
			}
		}
		if len(trimmed) > 0 && trimmed[0] == '{' {
			if i := bytes.IndexByte(trimmed, '\n'); i >= 0 || err != nil {
				if i < 0 {
					i = len(trimmed)
				}
				var v any
				if json.Unmarshal(trimmed[:i], &v) == nil && adapters.ReadReply(v).Known {
					return "ndjson"
				}
				return "text"
			}
		}
		if err != nil {
			return "text"
		}
		if buffered := r.Buffered(); buffered > n {
			n = buffered - 1
		}
	}
}
