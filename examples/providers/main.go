// Command providers is one front for the replies of several providers: it detects whose
// reply a file is, whole or a recorded stream, runs its calls, and writes the next request
// of that provider's conversation, with the results.
//
//	go run ./examples/providers testdata/*.json
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/formats"
	"github.com/callwright/callwright/dispatch"
	"github.com/callwright/callwright/parser"
)

// Text is what count_words takes.
type Text struct {
	Text string `json:"text"`
}

// tools are the application's functions, the same for all providers.
func tools() *dispatch.Dispatcher {
	var d dispatch.Dispatcher
	dispatch.Handle(&d, "count_words", func(_ context.Context, in Text) (int, error) {
		return len(strings.Fields(in.Text)), nil
	}).Description = "Counts the words of a text"
	return &d
}

// next runs the calls of a reply, and returns the request with which the conversation goes
// on, in the provider's format.
func next(ctx context.Context, d *dispatch.Dispatcher, data []byte) ([]byte, error) {
	found := formats.DetectFormat(data)
	if found.Confidence < formats.Sure {
		return nil, fmt.Errorf("whose reply it is cannot be told: %q", data[:min(40, len(data))])
	}
	reply, err := formats.Read(found.Format, data, adapters.Limits{})
	if err != nil {
		return nil, err
	}
	p, err := parser.New(d.Registry(), parser.Options{})
	if err != nil {
		return nil, err
	}
	result, err := p.ParseReply(ctx, reply, parser.Context{})
	if err != nil {
		return nil, err
	}
	report, err := d.Run(ctx, result, nil)
	if err != nil {
		return nil, err
	}
	said := adapters.Message{Role: adapters.RoleAssistant, Blocks: reply.First().Blocks}
	request := &adapters.Request{Model: reply.Model, MaxTokens: 1000, Messages: append([]adapters.Message{said}, report.Messages()...)}
	for _, t := range d.Tools() {
		request.Tools = append(request.Tools, dispatch.Describe(&t.Tool))
	}
	return found.Format.EncodeRequest(request)
}

func run(ctx context.Context, files []string, out io.Writer) error {
	d := tools()
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		request, err := next(ctx, d, data)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		fmt.Fprintf(out, "%s\n", request)
	}
	return nil
}

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
