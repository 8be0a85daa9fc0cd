package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/callwright/callwright/adapters/agentcli"
)

// agentOf returns the agent of a transcript, "" if the input is not a transcript.
func agentOf(text, format string) string {
	if slices.Contains(agentcli.Agents(), format) {
		return format
	}
	if format != "" {
		return ""
	}
	if agent, confidence := agentcli.Detect([]byte(text)); confidence >= 0.9 {
		return agent
	}
	return ""
}

// transcript parses and prints a transcript.
func transcript(c *cobra.Command, text, agent, schemaFile string) error {
	o := agentcli.Options{Agent: agent}
	if schemaFile != "" {
		schema, err := readSchemaFile(schemaFile)
		if err != nil {
			return err
		}
		o.ResponseSchema = true
		if schema != nil {
			o.ResponseSchema = schema
		}
	}
	r, err := agentcli.Parse(c.Context(), []byte(text), o)
	if err != nil {
		return err
	}
	if err := writeJSON(c.OutOrStdout(), r, "  "); err != nil {
		return err
	}
	if r.Status != agentcli.StatusSuccess || r.Metadata.Validation != nil && !r.Metadata.Validation.Success {
		return errNoCalls
	}
	return nil
}
