package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/callwright/callwright/config"
)

func newConfig() *cobra.Command {
	c := &cobra.Command{Use: "config", Short: "Check or print the options"}
	check := &cobra.Command{
		Use:   "check FILE",
		Short: "Check a file of options",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			settings, err := config.Load(args[0], nil)
			if err != nil {
				return err
			}
			if _, err := settings.Registry(c.ErrOrStderr()); err != nil {
				return err
			}
			if _, err := settings.Parts(nil, nil); err != nil {
				return err
			}
			fmt.Fprintf(c.OutOrStdout(), "%s is valid\n", args[0])
			return nil
		},
	}
	show := &cobra.Command{
		Use:   "print [FILE]",
		Short: "Print all options with their descriptions: the defaults, overridden by a file and the environment",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			settings, err := config.Load(append(args, "")[0], nil)
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(c.OutOrStdout(), settings.YAML())
			return err
		},
	}
	c.AddCommand(check, show)
	c.RunE = func(*cobra.Command, []string) error { return errors.New("use config check or config print") }
	return c
}
