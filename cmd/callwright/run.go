package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/anthropic"
	"github.com/callwright/callwright/adapters/ollama"
	"github.com/callwright/callwright/adapters/openai"
	"github.com/callwright/callwright/config"
	"github.com/callwright/callwright/dispatch"
	"github.com/callwright/callwright/interceptor"
	"github.com/callwright/callwright/internal/text"
	"github.com/callwright/callwright/parser"
)

// runFlags are the flags of the command run.
type runFlags struct {
	serveFlags
	api                            apiFlags
	tools, allow, deny             []string
	model, system, transcript, ask string
	spill                          string
	yes, dry, whole                bool
	turns, parallel                int
	limit                          time.Duration
	tokens                         int64
}

func newRun() *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "run --tools FILE --upstream URL --model NAME TEXT",
		Short: "Ask a model, run the tools that it calls, and tell it the results until it answers",
		Long: `Ask a model, run the tools that it calls, and tell it the results until it answers. Tools are those of OpenAPI documents
and MCP servers; see callwright tools. Models that have no tool calling get it through the prompt.

Before a call that is destructive, doubtful or of an MCP server that the file does not allow, it asks: y(es), n(o) and why,
a(lways this tool), e(dit the arguments). Without a terminal such calls do not run. The answer goes to standard output,
what happens to standard error. It exits with 1 if a limit ended the conversation.`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args[0]) },
	}
	d := config.Default().Server
	c.Flags().StringVar(
		&f.config, "config", os.Getenv("CALLWRIGHT_CONFIG"), "YAML `FILE` of options; see callwright config print. Flags take precedence",
	)
	c.Flags().StringVar(&f.upstream, "upstream", "", "`URL` of the model server, such as http://127.0.0.1:11434")
	c.Flags().StringVar(&f.format, "upstream-format", d.UpstreamFormat, "API of the model server: auto, openai, ollama or anthropic")
	c.Flags().StringVar(&f.upstreamKeyEnv, "upstream-key-env", "", "environment `VARIABLE` with the model server's key")
	c.Flags().StringVar(&f.mode, "mode", d.Mode, "native passes tools on, emulate writes them into the prompt, auto tries")
	c.Flags().StringVar(&f.model, "model", "", "`NAME` of the model")
	c.Flags().StringArrayVar(&f.tools, "tools", nil, "`FILE` of tools: an OpenAPI document, or a list of MCP servers; may be repeated")
	f.api.add(c)
	c.Flags().StringVar(&f.system, "system", "", "`TEXT` of the system message")
	c.Flags().StringArrayVar(&f.allow, "allow", nil, "`PATTERN` of tools that run without asking, such as files__read_*")
	c.Flags().StringArrayVar(&f.deny, "deny", nil, "`PATTERN` of tools that do not run")
	c.Flags().BoolVar(&f.yes, "yes", false, "ask before no call; those that were cut off do not run all the same")
	c.Flags().StringVar(&f.ask, "ask", "auto", "auto asks on a terminal only, stdin reads the answers from standard input, never asks nobody")
	c.Flags().BoolVar(&f.dry, "dry-run", false, "ask the model once, and show the plan of its calls instead of running them")
	c.Flags().BoolVar(&f.whole, "whole", false, "ask for whole answers, not for streams")
	c.Flags().StringVar(&f.transcript, "transcript", "", "`FILE` of the conversation as JSON Lines: it goes on, and is written at the end")
	c.Flags().IntVar(&f.turns, "max-turns", dispatch.DefaultMaxTurns, "how many turns the model has")
	c.Flags().DurationVar(&f.limit, "max-time", dispatch.DefaultMaxTime, "how long all turns may take")
	c.Flags().Int64Var(&f.tokens, "max-tokens", 0, "how many tokens all turns may take, in and out; 0 is no limit")
	c.Flags().IntVar(&f.parallel, "parallel", dispatch.DefaultParallel, "how many calls run at a time")
	c.Flags().StringVar(&f.spill, "spill", "", "`FOLDER` for results that are too long for the model")
	return c
}

// errLimit sets the exit code: a limit ended the conversation.
var errLimit = fmt.Errorf("a limit ended the conversation: %w", errNoCalls)

func (f *runFlags) run(c *cobra.Command, prompt string) error {
	if f.model == "" || len(f.tools) == 0 {
		return errors.New("--model and --tools are required")
	}
	ctx, stop := signal.NotifyContext(c.Context(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	settings, err := f.read(c)
	if err != nil {
		return err
	}
	parts, err := settings.Parts(nil, nil)
	if err != nil {
		return err
	}
	handler, err := interceptor.New(settings, interceptor.Options{})
	if err != nil {
		return err
	}
	defer handler.Close()
	api, err := f.api.options()
	if err != nil {
		return err
	}
	files, err := loadTools(ctx, f.tools, api, c.ErrOrStderr())
	if err != nil {
		return err
	}
	trace := &trace{w: c.ErrOrStderr(), dim: isTerminal(c.ErrOrStderr())}
	err = f.talk(ctx, c, files, handlerModel(handler, f.format), parts.Options, prompt, trace)
	return errors.Join(err, files.Close())
}

// handlerModel is the model behind an interceptor, in the format of its server if that is
// known: so least is lost.
func handlerModel(h *interceptor.Handler, format string) dispatch.Model {
	switch format {
	case "anthropic":
		return dispatch.ModelOf(h, anthropic.Messages)
	case "ollama":
		return dispatch.ModelOf(h, ollama.Chat)
	}
	return dispatch.ModelOf(h, openai.Chat)
}

// talk has the conversation.
func (f *runFlags) talk(
	ctx context.Context, c *cobra.Command, files *toolFiles, model dispatch.Model, o parser.Options, prompt string, trace *trace,
) error {
	d := &dispatch.Dispatcher{Parallel: f.parallel, Output: dispatch.Output{Spill: f.spill}, Policy: f.policy(c, files, trace)}
	for i := range files.tools {
		if files.tools[i].Run == nil {
			return fmt.Errorf("%s has no handler: run takes the tools of OpenAPI documents and MCP servers", files.tools[i].Name)
		}
	}
	if err := d.Add(files.tools...); err != nil {
		fmt.Fprintf(c.ErrOrStderr(), "callwright: %s\n", text.Printable(err.Error()))
	}
	l := dispatch.Loop{
		Model: model, Dispatch: d, Parse: o, MaxTurns: f.turns, MaxTime: f.limit, MaxTokens: f.tokens, OnEvent: trace.event,
		Request: adapters.Request{Model: f.model, Stream: !f.whole, IncludeUsage: !f.whole},
	}
	if f.system != "" {
		l.Request.Messages = []adapters.Message{
			{Role: adapters.RoleSystem, Blocks: []adapters.Block{{Type: adapters.BlockText, Text: f.system}}},
		}
	}
	if f.dry {
		return plan(ctx, c, &l, prompt)
	}
	t := &dispatch.Transcript{Messages: l.Request.Messages}
	if f.transcript != "" {
		switch data, err := os.ReadFile(f.transcript); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return err
		default:
			if t, err = dispatch.ReadTranscript(bytes.NewReader(data)); err != nil {
				return err
			}
		}
	}
	err := l.Continue(ctx, t, prompt)
	if f.transcript != "" {
		err = errors.Join(err, writeTranscript(f.transcript, t))
	}
	if err != nil {
		return err
	}
	if said := t.Text(); said != "" {
		say(c.OutOrStdout(), said)
	}
	if t.Stop.Limit() {
		trace.line("stopped: " + string(t.Stop))
		return errLimit
	}
	return nil
}

func writeTranscript(name string, t *dispatch.Transcript) error {
	var b bytes.Buffer
	if _, err := t.WriteTo(&b); err != nil {
		return err
	}
	return os.WriteFile(name, b.Bytes(), 0o600)
}

// policy is what the flags and the files say of which calls run.
func (f *runFlags) policy(c *cobra.Command, files *toolFiles, trace *trace) dispatch.Policy {
	var p dispatch.Policy
	for _, tool := range f.deny {
		p.Rules = append(p.Rules, dispatch.Rule{Tool: tool, Do: dispatch.Deny, Why: "--deny " + tool})
	}
	p.Rules = append(p.Rules, dispatch.Rule{When: []dispatch.Condition{dispatch.Truncated}, Do: dispatch.Deny, Why: "the call was cut off"})
	if f.yes {
		f.allow = append(f.allow, "*")
	}
	for _, tool := range f.allow {
		p.Rules = append(p.Rules, dispatch.Rule{Tool: tool, Do: dispatch.Allow})
	}
	p.Rules = append(p.Rules, files.rules...)
	in, file := c.InOrStdin().(*os.File)
	if f.ask == "stdin" || f.ask == "auto" && file && isTerminal(in) {
		p.Ask = (&prompter{in: bufio.NewReader(c.InOrStdin()), trace: trace}).ask
	}
	return p
}

// say writes what the model said: as it is, unless that could steer a terminal.
func say(w io.Writer, s string) {
	if isTerminal(w) {
		s = text.Printable(s)
	}
	fmt.Fprintln(w, s)
}

// plan asks the model once, and shows what would run.
func plan(ctx context.Context, c *cobra.Command, l *dispatch.Loop, prompt string) error {
	result, plan, err := l.Plan(ctx, prompt)
	if plan == nil {
		return err
	}
	if result.Content != "" {
		say(c.OutOrStdout(), result.Content)
	}
	fmt.Fprintf(c.OutOrStdout(), "%s", text.Printable(plan.String()))
	return err
}

// trace writes what happens, in lines.
type trace struct {
	mu  sync.Mutex
	w   io.Writer
	dim bool // the writer is a terminal
}

// maxTraced bounds a value in a line, in bytes.
const maxTraced = 160

func (t *trace) line(s string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.dim {
		s = "\x1b[2m" + s + "\x1b[0m"
	}
	fmt.Fprintln(t.w, s)
}

func (t *trace) event(e dispatch.LoopEvent) {
	switch e.Type {
	case dispatch.EventToolStart:
		s := "→ " + callLine(e.Call)
		for _, x := range e.Call.Coercions {
			s += fmt.Sprintf("\n    %s: %s → %s (%s)", x.Path, shortJSON(x.From), shortJSON(x.To), x.Rule)
		}
		for _, x := range e.Call.Defaults {
			s += fmt.Sprintf("\n    %s: filled in", x)
		}
		t.line(s)
	case dispatch.EventToolEnd:
		switch x := e.Result; {
		case x.Err != nil:
			t.line("✗ " + x.Call.Tool + ": " + string(x.Err.Code) + ": " + firstLine(x.Err.Message))
		default:
			t.line(fmt.Sprintf("← %s: %s (%s)", x.Call.Tool, firstLine(x.Text), x.Took.Round(time.Millisecond)))
		}
	case dispatch.EventFeedback:
		t.line("! " + firstLine(e.Text))
	}
}

// callLine writes a call on one line.
func callLine(c *dispatch.Call) string { return c.Tool + " " + shortJSON(c.Parameters) }

func shortJSON(v any) string {
	var b bytes.Buffer
	if err := writeJSON(&b, v, ""); err != nil {
		return "?"
	}
	return firstLine(b.String())
}

// firstLine makes the first line of a text fit for a terminal: what a model or a server
// wrote must not control it.
func firstLine(s string) string {
	s = strings.TrimSpace(s)
	first, _, more := strings.Cut(s, "\n")
	out := text.Printable(first)
	if runes := []rune(out); len(runes) > maxTraced {
		out, more = string(runes[:maxTraced]), true
	}
	if more {
		out += " …"
	}
	return out
}

// prompter asks about calls on a terminal.
type prompter struct {
	in    *bufio.Reader
	trace *trace
}

const promptHelp = "y: run it; n [why]: do not, and tell the model why; a: run all calls of this tool; e: give other arguments, as JSON"

// ask asks until there is an answer. The input's end is a no.
func (p *prompter) ask(ctx context.Context, q dispatch.Question) (dispatch.Answer, error) {
	p.trace.line(fmt.Sprintf("? %s\n    %s", callLine(q.Call), q.Why))
	for {
		p.trace.line("  run it? [y]es, [n]o, [a]lways this tool, [e]dit, [?]")
		line, err := p.read(ctx)
		if err != nil {
			return dispatch.Answer{}, err
		}
		word, rest, _ := strings.Cut(line, " ")
		switch strings.ToLower(word) {
		case "y", "yes":
			return dispatch.Answer{Allow: true}, nil
		case "n", "no":
			return dispatch.Answer{Message: strings.TrimSpace(rest)}, nil
		case "a", "always":
			return dispatch.Answer{Allow: true, Always: true}, nil
		case "e", "edit":
			p.trace.line("  arguments:")
			line, err := p.read(ctx)
			if err != nil {
				return dispatch.Answer{}, err
			}
			d := json.NewDecoder(strings.NewReader(line))
			d.UseNumber()
			var arguments map[string]any
			if err := d.Decode(&arguments); err != nil || arguments == nil {
				p.trace.line("  that is no JSON object")
				continue
			}
			return dispatch.Answer{Allow: true, Parameters: arguments}, nil
		default:
			var b bytes.Buffer
			if err := writeJSON(&b, q.Call.Parameters, "  "); err == nil {
				for l := range strings.Lines(b.String()) {
					p.trace.line("    " + firstLine(l))
				}
			}
			p.trace.line("  " + promptHelp)
		}
	}
}

// read reads a line, unless ctx ends.
func (p *prompter) read(ctx context.Context) (string, error) {
	type read struct {
		line string
		err  error
	}
	got := make(chan read, 1)
	go func() { // it ends with the line, or with the process
		line, err := p.in.ReadString('\n')
		if line != "" {
			err = nil
		}
		got <- read{strings.TrimSpace(line), err}
	}()
	select {
	case r := <-got:
		return r.line, r.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}
