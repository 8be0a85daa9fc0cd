package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/config"
	"github.com/callwright/callwright/internal/text"
	"github.com/callwright/callwright/metrics"
	"github.com/callwright/callwright/parser"
	"github.com/callwright/callwright/registry"
)

// flags are the flags of all commands that parse.
type flags struct {
	tools, model, format, dialects string
	provider, models               string
	strict, partial, lossy, open   bool
	minConfidence                  float64
	config                         string
	tiers                          []string

	settings *config.Config
	known    *adapters.Models
	metrics  *metrics.Recorder
}

func (f *flags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.tools, "tools", "", "`FILE` of tool definitions, as OpenAI, Anthropic, Ollama, Gemini or MCP write them")
	c.Flags().StringVar(&f.model, "model", "", "`NAME` of the model: tries its dialects first; no call is lost by it")
	c.Flags().StringVar(
		&f.format, "format", "",
		"`NAME` of the expected dialect, which is tried first; or of a provider's wire format, which is forced;\nor text, if the input is not "+
			"a reply",
	)
	c.Flags().StringVar(&f.provider, "provider", "", "`NAME` of the model's provider, to look up the model's capabilities")
	c.Flags().StringVar(&f.models, "models", "", "YAML `FILE` of model capabilities; its rows take precedence over the built-in ones")
	c.Flags().StringVar(&f.dialects, "dialects", "", "YAML `FILE` of dialects to add")
	c.Flags().BoolVar(&f.strict, "strict", false, "accept only calls that need no repair and no coercion")
	c.Flags().BoolVar(&f.partial, "partial", false, "accept calls that the end of the text cut off")
	c.Flags().BoolVar(&f.lossy, "lossy", false, "allow lossy coercions, such as yes to true")
	c.Flags().BoolVar(&f.open, "reasoning-open", false, "the prompt opened the reasoning")
	c.Flags().StringVar(
		&f.config, "config", os.Getenv("CALLWRIGHT_CONFIG"),
		"YAML `FILE` of options; see callwright config print. Flags and environment variables take precedence",
	)
	c.Flags().StringSliceVar(
		&f.tiers, "tiers", nil,
		"fallback `TIERS`, in their order: auto_repair, llm_assisted_repair, intent_extraction, partial_execution,\nuser_clarification",
	)
	c.Flags().Float64Var(&f.minConfidence, "min-confidence", 0, "reject candidates below this confidence (default 0.5)")
}

// load reads the configuration. Flags take precedence over it.
func (f *flags) load() error {
	if f.settings != nil {
		return nil
	}
	c, err := config.Load(f.config, nil)
	if err != nil {
		return err
	}
	c.Parser.StrictMode = c.Parser.StrictMode || f.strict
	c.Parser.AllowPartial = c.Parser.AllowPartial || f.partial
	c.Validation.Lossy = c.Validation.Lossy || f.lossy
	if f.minConfidence != 0 {
		c.Parser.MinConfidence = f.minConfidence
	}
	if f.tiers != nil {
		c.Fallback.Tiers = f.tiers
	}
	for from, to := range map[*string]*string{&f.tools: &c.Parser.Tools, &f.models: &c.Parser.Models, &f.dialects: &c.Extraction.Dialects} {
		if *from != "" {
			*to = *from
		}
	}
	if err := c.Check(); err != nil {
		return err
	}
	f.settings = c
	return nil
}

func (f *flags) options() (parser.Options, error) {
	if err := f.load(); err != nil {
		return parser.Options{}, err
	}
	p, err := f.settings.Parts(nil, nil)
	if err != nil {
		return parser.Options{}, err
	}
	f.known, f.metrics = p.Models, p.Metrics
	return p.Options, nil
}

// replyParser is a parser, for any model or for one.
type replyParser interface {
	Parse(context.Context, string, parser.Context) (*parser.Result, error)
	ParseReply(context.Context, *adapters.Reply, parser.Context) (*parser.Result, error)
}

// forModel returns the parser for a model.
func (f *flags) forModel(p *parser.Parser, model string) replyParser {
	if model == "" {
		return p
	}
	return p.ForModel(f.known.Capabilities(f.provider, model))
}

// registry reads the tools of --tools. Tools whose schemas do not compile are usable, with
// a warning.
func (f *flags) registry(warn io.Writer) (*registry.Registry, error) {
	if err := f.load(); err != nil {
		return nil, err
	}
	return f.settings.Registry(warn)
}

func (f *flags) parser(warn io.Writer) (*parser.Parser, error) {
	r, err := f.registry(warn)
	if err != nil {
		return nil, err
	}
	o, err := f.options()
	if err != nil {
		return nil, err
	}
	return parser.New(r, o)
}

func (f *flags) context() parser.Context {
	return parser.Context{Model: f.model, Format: f.format, ReasoningOpen: f.open}
}

// maxInput bounds the size of an input, in bytes.
const maxInput = 64 << 20

// input opens the file of an argument, standard input if there is none or it is "-".
func input(args []string, stdin io.Reader) (io.ReadCloser, error) {
	if len(args) == 0 || args[0] == "-" {
		return io.NopCloser(stdin), nil
	}
	return os.Open(args[0])
}

func readInput(args []string, stdin io.Reader) (string, error) {
	r, err := input(args, stdin)
	if err != nil {
		return "", err
	}
	defer r.Close()
	data, err := io.ReadAll(io.LimitReader(r, maxInput+1))
	if err != nil {
		return "", err
	}
	if len(data) > maxInput {
		return "", fmt.Errorf("the input is larger than %d bytes", maxInput)
	}
	return string(data), nil
}

// version is the version of the module, with the commit where it was built from one.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && !strings.Contains(v, s.Value[:min(len(s.Value), 12)]) {
			v += " (" + s.Value + ")"
		}
	}
	return v
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "callwright",
		Short: "Find the tool calls in what a language model wrote",
		Long: "callwright gets tool calls right, whatever the model wrote: it finds them in text, in any of some seventy dialects," +
			"\nrepairs them, checks them against the tools' schemas, and explains what it did.",
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       version(),
	}
	root.AddCommand(
		newParse(), newBatch(), newStream(), newExplain(), newEval(), newDialects(), newConfig(), newServe(), newPlayground(), newTools(),
		newMCP(), newRun(),
	)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return printable(err) })
	printErrors(root)
	return root
}

// printErrors makes the errors of a command and of those below it safe for a terminal:
// they name files and flags, which may hold anything.
func printErrors(c *cobra.Command) {
	if run := c.RunE; run != nil {
		c.RunE = func(c *cobra.Command, args []string) error { return printable(run(c, args)) }
	}
	for _, sub := range c.Commands() {
		printErrors(sub)
	}
}

// printableError is an error whose text is safe for a terminal.
type printableError struct{ error }

func (e printableError) Error() string { return text.Escaped(e.error.Error()) }
func (e printableError) Unwrap() error { return e.error }

func printable(err error) error {
	if err == nil {
		return nil
	}
	return printableError{err}
}
