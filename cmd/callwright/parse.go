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
	c := &cobra.Command{
		Use:   "parse [FILE|-]",
		Short: "Parse one text",
		Long:  "Parse one text and report its calls: for a person on a terminal, as JSON with --json or when piped.\nExit code 0 with calls, 1 without, 2 on misuse.",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			p, err := f.parser(c.ErrOrStderr())
			if err != nil {
				return err
			}
			text, err := readInput(args, c.InOrStdin())
			if err != nil {
				return err
			}
			r, err := p.Parse(c.Context(), text, f.context())
			if err != nil {
				return err
			}
			if asJSON || !isTerminal(c.OutOrStdout()) {
				err = writeJSON(c.OutOrStdout(), r, "  ")
			} else {
				err = report(c.OutOrStdout(), r)
			}
			if err == nil && !r.Success {
				return errNoCalls
			}
			return err
		},
	}
	f.add(c)
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
