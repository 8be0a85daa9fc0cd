package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/callwright/callwright/eval"
	"github.com/callwright/callwright/internal/text"
)

// evalFlags are the flags of eval.
type evalFlags struct {
	flags
	asJSON, hint, stream bool
	questions, verdicts  string
	list, workers        int
}

func newEval() *cobra.Command {
	var f evalFlags
	c := &cobra.Command{
		Use:   "eval FILE|FOLDER…",
		Short: "Measure how often calls are read right: texts with the calls that are expected of them",
		Long: `Measure how often calls are read right, by model and by dialect. A line of a FILE is
{"id", "model", "dialect", "text", "tools": […], "expected": {"calls": [{"tool", "parameters"}], "content", "reasoning"}}
The layouts of public suites are read too: docs/accuracy.md describes them. All .jsonl files in and below a FOLDER are read.
Exit code 0 if all cases are right, 1 if not, 2 on errors.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return f.eval(c, args) },
	}
	f.add(c)
	c.Flags().BoolVar(&f.asJSON, "json", false, "write the report as JSON, with all differences")
	c.Flags().BoolVar(&f.hint, "hint", false, "tell the parser each case's model")
	c.Flags().BoolVar(&f.stream, "stream", false, fmt.Sprintf("parse each text also in %d ways cut into pieces", eval.StreamCuts))
	c.Flags().StringVar(&f.questions, "questions", "", "`FILE` with the questions of answers (default questions.json beside them)")
	c.Flags().StringVar(&f.verdicts, "verdicts", "", "JSON `FILE` of reasons by id: such cases are counted apart, as no fair demand")
	c.Flags().IntVar(&f.list, "list", 5, "how many differences the table is followed by; -1 is all")
	c.Flags().IntVar(&f.workers, "workers", runtime.GOMAXPROCS(0), "how many cases are parsed concurrently")
	return c
}

func (f *evalFlags) eval(c *cobra.Command, args []string) error {
	if f.workers < 1 || f.workers > maxWorkers {
		return fmt.Errorf("--workers is %d, must be from 1 to %d", f.workers, maxWorkers)
	}
	files, err := eval.Files(args...)
	if err != nil {
		return err
	}
	var cases []eval.Case
	for _, file := range files {
		more, err := eval.Read(file, f.questions)
		if err != nil {
			return err
		}
		cases = append(cases, more...)
	}
	if len(cases) == 0 {
		return errors.New("there are no cases: a folder needs files that end in .jsonl")
	}
	if f.verdicts != "" {
		if err := eval.ReadVerdicts(f.verdicts, cases); err != nil {
			return err
		}
	}
	o := eval.Options{Stream: f.stream, Workers: f.workers}
	if o.Tools, err = f.registry(c.ErrOrStderr()); err != nil {
		return err
	}
	if o.Parser, err = f.options(); err != nil {
		return err
	}
	if f.hint {
		o.Models = f.known
	}
	r, err := eval.Run(c.Context(), cases, o)
	if err != nil {
		return err
	}
	if f.asJSON {
		err = writeJSON(c.OutOrStdout(), r, "  ")
	} else {
		err = writeEval(c.OutOrStdout(), r, f.list)
	}
	if err == nil && len(r.Differences) > 0 {
		return errNoCalls
	}
	return err
}

// writeEval writes a report as tables, with the first differences behind them.
func writeEval(w io.Writer, r *eval.Report, list int) error {
	var t table
	t.row("", "cases", "pass", "space", "text", "streamed", "calls", "failed", "calls right", "none where none is right")
	for _, part := range []struct {
		name string
		rows []eval.Row
	}{{"group", r.Groups}, {"dialect", r.Dialects}, {"model", r.Models}, {"", []eval.Row{{Name: "all", Tally: r.Total}}}} {
		if part.name != "" && len(part.rows) < 2 {
			continue
		}
		if part.name != "" {
			t.row("by " + part.name)
		}
		for i := range part.rows {
			x := &part.rows[i]
			t.row(
				strings.Repeat("  ", min(len(part.name), 1))+text.Printable(x.Name), fmt.Sprint(x.Cases), fmt.Sprint(x.Pass), fmt.Sprint(x.Space),
				fmt.Sprint(x.Text), fmt.Sprint(x.Streamed), fmt.Sprint(x.Calls), fmt.Sprint(x.Failed), share(x.AskedRight, x.Asked),
				share(x.NoneRight, x.None),
			)
		}
	}
	var b strings.Builder
	t.write(&b)
	shown := r.Differences
	if list >= 0 {
		shown = shown[:min(list, len(shown))]
	}
	for i := range shown {
		d := &shown[i]
		fmt.Fprintf(&b, "\n%s", text.Printable(strings.Join(slices.DeleteFunc([]string{d.ID, d.Model, d.Dialect}, isEmpty), ", ")))
		fmt.Fprintf(&b, ": %s: %s\n   text      %s\n", d.Outcome, text.Printable(d.Why), oneLine(d.Text))
		for _, part := range []struct {
			name  string
			calls []eval.WrittenCall
		}{{"expected", d.Expected}, {"found", d.Found}} {
			for _, x := range part.calls {
				values := x.Parameters
				if x.Allowed != nil {
					values = x.Allowed
				}
				fmt.Fprintf(&b, "   %-9s %s %s\n", part.name, text.Printable(x.Tool), text.Clip(compact(values), 200))
			}
		}
		if len(d.Rejected) > 0 {
			fmt.Fprintf(&b, "   %-9s %s\n", "rejected", strings.Join(d.Rejected, ", "))
		}
	}
	if n := len(r.Differences) - len(shown); n > 0 {
		fmt.Fprintf(&b, "\n%d more differences: --list %d, or --json\n", n, len(r.Differences))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func isEmpty(s string) bool { return s == "" }

// oneLine is the beginning of a text on one line.
func oneLine(s string) string {
	return text.Printable(strings.ReplaceAll(text.Clip(cmp.Or(s, "(empty)"), 160), "\n", "⏎"))
}

// share writes how many of how many, and the share.
func share(n, of int) string {
	if of == 0 {
		return "-"
	}
	return fmt.Sprintf("%d/%d %.4f", n, of, float64(n)/float64(of))
}
