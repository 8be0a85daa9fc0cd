package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/callwright/callwright/mcpproxy"
)

// mcpFlags are the flags of the command mcp.
type mcpFlags struct {
	mcpproxy.Options
	url, listen, log, defaults string
	stats                      bool
}

func newMCP() *cobra.Command {
	var f mcpFlags
	c := &cobra.Command{
		Use:   "mcp -- SERVER [ARGUMENT…] | mcp --url URL",
		Short: "Stand between an MCP client and an MCP server and mend the arguments of calls",
		Long: `Stand between an MCP client and an MCP server and mend the arguments of its calls by the tools' schemas: numbers, lists and
objects that are sent as strings, names that are nearly right, missing defaults. A call that cannot be mended is answered
with an error that tells the model what to correct. All else passes byte for byte.

In the client's configuration, put "callwright mcp --" before the server's command, or start "callwright mcp --url URL" and
give the client the address that it prints.`,
		Example: "  callwright mcp -- npx -y @modelcontextprotocol/server-filesystem .\n  callwright mcp --url https://example.com/mcp",
		RunE: func(c *cobra.Command, args []string) error {
			if (f.url == "") == (len(args) == 0) {
				return errors.New("give either a server's command behind --, or --url")
			}
			return f.run(c, args)
		},
	}
	c.Flags().StringVar(&f.url, "url", "", "`URL` of a server that speaks streamable HTTP")
	c.Flags().StringVar(&f.listen, "listen", "127.0.0.1:0", "`ADDRESS` to listen on with --url; it must be this machine's")
	c.Flags().StringVar(&f.OnInvalid, "on-invalid", mcpproxy.Refuse, "what to do with a call that cannot be mended: refuse or pass")
	c.Flags().BoolVar(&f.Lossy, "lossy", false, "allow lossy coercions, such as yes to true")
	c.Flags().StringVar(&f.defaults, "defaults", "required", "which defaults to fill in: required or all")
	c.Flags().BoolVar(&f.Strict, "strict", false, "keep lines of the server that are no JSON, such as banners, from the client")
	c.Flags().StringVar(&f.log, "log", "", "`FILE` to which each change is written, as JSON Lines, without values")
	c.Flags().BoolVar(&f.LogValues, "log-values", false, "write the values too")
	c.Flags().BoolVar(&f.stats, "stats", false, "write at the end how many calls were mended, to standard error, as JSON")
	return c
}

func (f *mcpFlags) run(c *cobra.Command, args []string) (err error) {
	switch f.defaults {
	case "required":
	case "all":
		f.AllDefaults = true
	default:
		return fmt.Errorf("--defaults is %q: it must be required or all", f.defaults)
	}
	if f.log != "" {
		file, err := os.OpenFile(f.log, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		f.Log = slog.New(slog.NewJSONHandler(file, nil))
	}
	p, err := mcpproxy.New(f.Options)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(c.Context(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	if f.url != "" {
		err = f.serve(ctx, c.ErrOrStderr(), p)
	} else {
		server := exec.Command(args[0], args[1:]...)
		server.Stderr = c.ErrOrStderr()
		in, ok := c.InOrStdin().(io.ReadCloser)
		if !ok {
			in = io.NopCloser(c.InOrStdin())
		}
		err = p.Stdio(ctx, in, c.OutOrStdout(), server)
		if ctx.Err() != nil {
			err = nil // it was to end
		}
	}
	if f.stats {
		err = errors.Join(err, writeJSON(c.ErrOrStderr(), p.Stats(), ""))
	}
	return err
}

// serve serves a server behind a URL until ctx ends.
func (f *mcpFlags) serve(ctx context.Context, w io.Writer, p *mcpproxy.Proxy) error {
	h, err := p.Handler(f.url)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", f.listen)
	if err != nil {
		return err
	}
	if a, ok := l.Addr().(*net.TCPAddr); !ok || !a.IP.IsLoopback() {
		return errors.Join(errors.New("--listen must be an address of this machine alone, such as 127.0.0.1:8080"), l.Close())
	}
	fmt.Fprintf(w, "http://%s/mcp\n", l.Addr())
	s := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- s.Serve(l) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	err = s.Close() // streams stay open as long as clients like
	if serving := <-failed; !errors.Is(serving, http.ErrServerClosed) {
		err = errors.Join(err, serving)
	}
	return err
}
