package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/callwright/callwright/console"
)

func newPlayground() *cobra.Command {
	var f flags
	var listen, tokenEnv string
	c := &cobra.Command{
		Use:   "playground",
		Short: "Serve a page on this machine that shows what callwright makes of a text",
		Long: `Serve a page on the loopback interface: paste a model's text and tools, see the calls, each candidate marked in the
text with what spoke for and against it, and the stream replayed piece by piece. No model server is asked. The address that
is printed has the token that the page needs.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			o, err := f.options()
			if err != nil {
				return err
			}
			token := console.NewToken()
			if tokenEnv != "" {
				if token = os.Getenv(tokenEnv); len(token) < 16 {
					return fmt.Errorf("the environment variable %s needs a token of 16 characters or more", tokenEnv)
				}
			}
			h, err := console.NewHandler(console.Options{Token: token, Parser: o})
			if err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(c.Context(), syscall.SIGTERM, os.Interrupt)
			defer stop()
			return servePlayground(ctx, h, listen, func(address string) {
				fmt.Fprintf(c.ErrOrStderr(), "Open http://%s%s#token=%s\n", address, console.Prefix, token)
			})
		},
	}
	c.Flags().StringVar(
		&f.config, "config", os.Getenv("CALLWRIGHT_CONFIG"), "YAML `FILE` of options; see callwright config print",
	)
	c.Flags().StringVar(&f.dialects, "dialects", "", "YAML `FILE` of dialects to add")
	c.Flags().StringVar(&listen, "listen", "127.0.0.1:8791", "loopback `ADDRESS` to listen on; port 0 takes any")
	c.Flags().StringVar(&tokenEnv, "token-env", "", "environment `VARIABLE` with the token; without one it is made up")
	return c
}

// servePlayground serves until the context ends. ready is told the address.
func servePlayground(ctx context.Context, h http.Handler, listen string, ready func(address string)) error {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	if ip, err := netip.ParseAddr(host); host != "localhost" && (err != nil || !ip.IsLoopback()) {
		return fmt.Errorf("--listen is %q: the playground is served on the loopback interface only, such as 127.0.0.1:8791", listen)
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", listen)
	if err != nil {
		return err
	}
	s := &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 20 * time.Second}
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	ready(l.Addr().String())
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*time.Second)
	defer cancel()
	if err := s.Shutdown(closing); err != nil {
		return errors.Join(err, s.Close())
	}
	return nil
}
