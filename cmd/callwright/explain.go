package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/formats"
	"github.com/callwright/callwright/call"
	"github.com/callwright/callwright/internal/text"
	"github.com/callwright/callwright/parser"
	"github.com/callwright/callwright/validator"
)

// explained is one candidate as --json writes it.
type explained struct {
	Span       [2]int          `json:"span"`
	Method     call.Method     `json:"method"`
	Provenance call.Provenance `json:"provenance"`
	Format     call.Format     `json:"format,omitempty"`
	Tool       string          `json:"tool,omitempty"`
	Called     bool            `json:"called"`
	Reason     string          `json:"reason,omitempty"`
	Repairs    []string        `json:"repairs,omitempty"`
	Evidence   call.Evidence   `json:"evidence"`
	Score      parser.Score    `json:"score"`
	// Surroundings say what of the text around it spoke for a call that is made and against it.
	Surroundings []string `json:"surroundings,omitempty"`
	Raw          string   `json:"raw"`
}

// explainInput explains a text, or a reply; see parseInput.
func explainInput(ctx context.Context, p *parser.Parser, data string, c parser.Context) (*parser.Result, []parser.Candidate, error) {
	f := replyFormat([]byte(data), &c)
	if f.Format == nil {
		return p.Explain(ctx, data, c)
	}
	reply, err := formats.Read(f.Format, []byte(data), adapters.Limits{MaxTotalBytes: maxInput})
	if err != nil {
		return nil, nil, err
	}
	return p.ExplainReply(ctx, reply, c)
}

func newExplain() *cobra.Command {
	var f flags
	var asJSON bool
	c := &cobra.Command{
		Use:   "explain [FILE|-]",
		Short: "Show every candidate of a text or a provider's reply, with its evidence and score, and why it was called or not",
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
			r, all, err := explainInput(c.Context(), p, text, f.context())
			if err != nil {
				return err
			}
			if asJSON || !isTerminal(c.OutOrStdout()) && c.Flags().Changed("json") {
				list := make([]explained, 0, len(all))
				for i := range all {
					x := &all[i]
					list = append(list, explained{
						[2]int{x.Start, x.End},
						x.Method, x.Provenance, x.Format, x.Tool, x.Reason == "", x.Reason, x.Repairs, x.Evidence, x.Score,
						x.Surroundings, x.Raw,
					})
				}
				err = writeJSON(c.OutOrStdout(), struct {
					Candidates []explained       `json:"candidates"`
					Rejected   []parser.Rejected `json:"rejected"`
				}{list, r.Rejected}, "  ")
			} else {
				err = explain(c.OutOrStdout(), text, r, all)
			}
			if err == nil && !r.Success {
				return errNoCalls
			}
			return err
		},
	}
	f.add(c)
	c.Flags().BoolVar(&asJSON, "json", false, "write JSON")
	return c
}

func explain(w io.Writer, input string, r *parser.Result, all []parser.Candidate) error {
	var b strings.Builder
	if r.Reply == nil { // spans of a reply are not offsets in the input
		screenOf(w).markedInput(&b, input, r, all)
	}
	if len(all) == 0 && len(r.Rejected) == 0 {
		b.WriteString("Nothing in the text looks like a call.\n")
	}
	for i := range all {
		x := &all[i]
		verdict := "called"
		if x.Reason != "" {
			verdict = "not called: " + x.Reason
		}
		name := x.Tool
		if name == "" {
			name = "(no call)"
		}
		fmt.Fprintf(&b, "Candidate %d: %s, %s\n", i+1, text.Printable(name), text.Printable(verdict))
		fmt.Fprintf(&b, "   bytes %d to %d, found by %s, %s", x.Start, x.End, x.Method, x.Provenance)
		if x.Format != "" {
			fmt.Fprintf(&b, ", format %s", x.Format)
		}
		raw := text.Clip(x.Raw, 160)
		fmt.Fprintf(&b, "\n   text: %s\n", text.Printable(strings.ReplaceAll(raw, "\n", "⏎")))
		if x.Score.Overall > 0 {
			s := x.Score.Components
			fmt.Fprintf(
				&b, "   confidence %.2f = structural %.2f x semantic %.2f x contextual %.2f x completeness %.2f x plausibility %.2f\n", x.Score.Overall,
				s.Structural, s.Semantic, s.Contextual, s.Completeness, s.Plausibility,
			)
		}
		for _, e := range x.Score.Evidence {
			fmt.Fprintf(&b, "   %5.2f  %s  %s\n", e.Factor, bar(e.Factor), e.What)
		}
		for _, s := range x.Surroundings {
			fmt.Fprintf(&b, "   %s%s\n", strings.Repeat(" ", barLeft+barRight+10), text.Printable(s))
		}
		if names := x.Repairs; len(names) > 0 {
			fmt.Fprintf(&b, "   repairs: %s\n", strings.Join(names, ", "))
		}
		if x.Err != nil {
			fmt.Fprintf(&b, "   error: %s\n", text.Printable(x.Err.Error()))
		}
	}
	for i := range r.Rejected {
		x := &r.Rejected[i]
		for _, e := range x.Errors {
			fmt.Fprintf(&b, "Rejected %s: %s\n", text.Printable(x.Tool), text.Printable(e.Error()))
			if e.SuggestedFix != "" && e.Code == validator.UnknownTool {
				fmt.Fprintf(&b, "   did you mean %s?\n", text.Printable(e.SuggestedFix))
			}
		}
	}
	for _, d := range r.Dropped {
		if d.Why != "white space" && d.Span[1] <= len(input) {
			fmt.Fprintf(&b, "Dropped bytes %d to %d: %s\n", d.Span[0], d.Span[1], d.Why)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
