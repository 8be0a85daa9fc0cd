// Command mcpclient gives the tools of an MCP server to what a model wrote: it starts the
// server, reads the model's text from standard input, and runs the calls in it.
//
//	echo '<tool_call>{"name": "files__list_directory", "arguments": {"path": "."}}</tool_call>' |
//		go run ./examples/mcpclient npx -y @modelcontextprotocol/server-filesystem .
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/callwright/callwright/dispatch"
	"github.com/callwright/callwright/dispatch/mcptools"
	"github.com/callwright/callwright/parser"
)

// run runs the calls of a text with the tools of a server. Tools that the server does not
// call read-only do not run: there is nobody to ask.
func run(ctx context.Context, server mcptools.Server, text string, out io.Writer) error {
	client, err := mcptools.Connect(ctx, server)
	if err != nil {
		return err
	}
	err = call(ctx, client, text, out)
	return errors.Join(err, client.Close())
}

func call(ctx context.Context, client *mcptools.Client, text string, out io.Writer) error {
	tools, err := client.Tools(ctx)
	if err != nil {
		return err
	}
	d := dispatch.Dispatcher{Policy: dispatch.Policy{Rules: client.Rules(tools)}}
	if err := d.Add(tools...); err != nil {
		return err
	}
	p, err := parser.New(d.Registry(), parser.Options{})
	if err != nil {
		return err
	}
	result, err := p.Parse(ctx, text, parser.Context{})
	if err != nil {
		return err
	}
	report, err := d.Run(ctx, result, nil)
	if err != nil {
		return err
	}
	for _, m := range report.Messages() {
		for _, b := range m.Blocks {
			if b.Result != nil {
				fmt.Fprintf(out, "%s: %s\n", b.Result.Name, b.Result.Text)
			} else {
				fmt.Fprintln(out, b.Text)
			}
		}
	}
	return nil
}

func main() {
	text, err := io.ReadAll(os.Stdin)
	if err == nil {
		server := mcptools.Server{Name: "files", Command: os.Args[1:], Stderr: os.Stderr, TrustHints: true}
		err = run(context.Background(), server, string(text), os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
