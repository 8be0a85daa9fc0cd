package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/extractor"
	"github.com/callwright/callwright/parser"
	"github.com/callwright/callwright/registry"
	"github.com/callwright/callwright/validator"
)

// flags are what all commands that parse have in common.
type flags struct {
	tools, model, format, dialects string
	provider, models               string
	strict, partial, lossy, open   bool
	minConfidence                  float64

	known *adapters.Models
}

func (f *flags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.tools, "tools", "", "`FILE` of tool definitions, as OpenAI, Anthropic, Ollama, Gemini or MCP write them")
	c.Flags().StringVar(&f.model, "model", "", "`NAME` of the model: makes some dialects likelier, loses no call")
	c.Flags().StringVar(&f.format, "format", "", "`NAME` of a dialect that is expected, which makes it likelier and loses no call; or of a provider's wire format,\nwhich forces it; or text, for what is no reply")
	c.Flags().StringVar(&f.provider, "provider", "", "`NAME` of the model's provider, for what is known of its models")
	c.Flags().StringVar(&f.models, "models", "", "YAML `FILE` of what is known of models, before what is known anyway")
	c.Flags().StringVar(&f.dialects, "dialects", "", "YAML `FILE` of dialects to add")
	c.Flags().BoolVar(&f.strict, "strict", false, "take only calls that need no repair and no coercion")
	c.Flags().BoolVar(&f.partial, "partial", false, "take calls that the text's end cut off")
	c.Flags().BoolVar(&f.lossy, "lossy", false, "allow coercions that guess")
	c.Flags().BoolVar(&f.open, "reasoning-open", false, "the prompt opened the reasoning")
	c.Flags().Float64Var(&f.minConfidence, "min-confidence", 0, "confidence below which a candidate is rejected (default 0.5)")
}

func (f *flags) options() (parser.Options, []parser.Option, error) {
	o := parser.Options{StrictMode: f.strict, AllowPartial: f.partial, MinConfidence: f.minConfidence, Validation: validator.Options{Lossy: f.lossy}}
	if err := f.readModels(); err != nil {
		return o, nil, err
	}
	if f.dialects == "" {
		return o, nil, nil
	}
	data, err := os.ReadFile(f.dialects)
	if err != nil {
		return o, nil, err
	}
	rows, err := extractor.ParseDialects(data)
	if err != nil {
		return o, nil, fmt.Errorf("%s: %w", f.dialects, err)
	}
	return o, []parser.Option{parser.WithDialects(rows...)}, nil
}

func (f *flags) readModels() error {
	f.known = adapters.DefaultModels()
	if f.models == "" {
		return nil
	}
	data, err := os.ReadFile(f.models)
	if err != nil {
		return err
	}
	own, err := adapters.ParseModels(data)
	if err != nil {
		return fmt.Errorf("%s: %w", f.models, err)
	}
	f.known = f.known.With(own)
	return nil
}

// replyParser parses texts and replies: any model's, or one model's.
type replyParser interface {
	Parse(context.Context, string, parser.Context) (*parser.Result, error)
	ParseReply(context.Context, *adapters.Reply, parser.Context) (*parser.Result, error)
}

// forModel adds what is known of a model to a parser.
func (f *flags) forModel(p *parser.Parser, model string) replyParser {
	if model == "" {
		return p
	}
	return p.ForModel(f.known.Capabilities(f.provider, model))
}

// registry reads the tools of --tools. Tools whose schemas are bad are usable; the
// command says so and goes on.
func (f *flags) registry(warn io.Writer) (*registry.Registry, error) {
	if f.tools == "" {
		return registry.New()
	}
	data, err := os.ReadFile(f.tools)
	if err != nil {
		return nil, err
	}
	return newRegistry(data, f.tools, warn)
}

func newRegistry(data []byte, name string, warn io.Writer) (*registry.Registry, error) {
	tools, err := registry.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	r, err := registry.New(tools...)
	var bad *registry.SchemaError
	if err != nil && !errors.As(err, &bad) {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err != nil {
		fmt.Fprintf(warn, "callwright: %s: %v\n", name, err)
	}
	return r, nil
}

func (f *flags) parser(warn io.Writer) (*parser.Parser, error) {
	r, err := f.registry(warn)
	if err != nil {
		return nil, err
	}
	o, more, err := f.options()
	if err != nil {
		return nil, err
	}
	return parser.New(r, o, more...)
}

func (f *flags) context() parser.Context {
	return parser.Context{Model: f.model, Format: f.format, ReasoningOpen: f.open}
}

// maxInput bounds what is read of a file, in bytes.
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

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:           "callwright",
		Short:         "Get the tool calls out of what a language model wrote",
		Long:          "callwright gets tool calls right, whatever the model wrote: it finds them in text, in any of some fifty dialects,\nrepairs them, checks them against the tools' schemas, and says why.",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(newParse(), newBatch(), newStream(), newExplain(), newDialects())
	return root
}
