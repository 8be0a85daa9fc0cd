package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
)

func newDialects() *cobra.Command {
	var f flags
	var asJSON bool
	c := &cobra.Command{
		Use:   "dialects",
		Short: "List the dialects that are read",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			p, err := f.parser(c.ErrOrStderr())
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(c.OutOrStdout(), p.Dialects(), "  ")
			}
			w := tabwriter.NewWriter(c.OutOrStdout(), 0, 4, 2, ' ', 0)
			fmt.Fprintln(w, "NAME\tBODY\tMARKERS\tMODELS")
			for _, d := range p.Dialects() {
				fmt.Fprintf(
					w, "%s\t%s\t%s\t%s\n", d.Name, d.Body, strings.Join(append(d.Open[:len(d.Open):len(d.Open)], d.Close...), " "),
					strings.Join(d.Models, ", "),
				)
			}
			return w.Flush()
		},
	}
	f.add(c)
	c.Flags().BoolVar(&asJSON, "json", false, "write JSON")
	return c
}
