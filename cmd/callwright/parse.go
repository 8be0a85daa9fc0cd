package main

import (
	"encoding/json"
	"io"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

func newParse() *cobra.Command {
	var f flags
	var asJSON bool
	var schema string
	var keys []string
	c := &cobra.Command{
		Use:   "parse [FILE|-]",
		Short: "Parse one text, or one reply of a provider",
		Long: "Parse one text, or a provider's reply, whole or as a recorded stream, and report its calls: as text on a terminal,\nas JSON " +
			"with --json or in a pipe. Exit code 0 with calls, 1 without, 2 on errors.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			text, err := readInput(args, c.InOrStdin())
			if err != nil {
				return err
			}
			if agent := agentOf(text, f.format); agent != "" {
				return transcript(c, text, agent, schema)
			}
			if schema != "" || len(keys) > 0 {
				return decode(c, text, &f, schema, keys)
			}
			p, err := f.parser(c.ErrOrStderr())
			if err != nil {
				return err
			}
			r, err := parseInput(c.Context(), f.forModel(p, f.model), text, f.context())
			if r == nil || err != nil && r.Reply == nil {
				return err
			}
			failed := err // what came before it is reported first
			if asJSON || !isTerminal(c.OutOrStdout()) {
				err = writeJSON(c.OutOrStdout(), r, "  ")
			} else {
				err = report(c.OutOrStdout(), text, r)
			}
			if failed != nil {
				return failed
			}
			if err == nil && !r.Success {
				return errNoCalls
			}
			return err
		},
	}
	f.add(c)
	c.Flags().StringVar(&schema, "schema", "", "`FILE` with a JSON Schema: find JSON that fits it, instead of calls")
	c.Flags().StringSliceVar(&keys, "keys", nil, "top-level `KEYS`, one of which the wanted JSON has; with or without --schema")
	c.Flags().BoolVar(&asJSON, "json", false, "write JSON on a terminal too")
	return c
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

func writeJSON(w io.Writer, v any, indent string) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	return enc.Encode(v)
}
