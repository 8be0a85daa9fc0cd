package main

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/callwright/callwright/config"
	"github.com/callwright/callwright/interceptor"
)

// serveFlags are the options of the server that have flags.
type serveFlags struct {
	flags
	listen, upstream, format, mode, onInvalid, keyEnv, upstreamKeyEnv string
	streamArguments, inspectTokenEnv, mcp                             string
	cert, key, logLevel                                               string
	insecure, rescue                                                  bool
	retries, inspect, thinkingBudget                                  int
	loopLimit                                                         int
	allowedHosts, allowedOrigins                                      []string
}

func newServe() *cobra.Command {
	var f serveFlags
	c := &cobra.Command{
		Use:   "serve --upstream URL",
		Short: "Run a proxy to a model server that makes tool calling work",
		Long: `Run a proxy between clients and a model server that makes tool calling work: point the client's base URL at it and
change nothing else. Clients may speak OpenAI's chat completions and responses, Anthropic's messages, Ollama's chat and
Gemini's generateContent; the model server OpenAI's, Ollama's, Anthropic's or Gemini's API. SIGHUP reloads the configuration.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.serve(c) },
	}
	d := config.Default().Server
	c.Flags().StringVar(
		&f.config, "config", os.Getenv("CALLWRIGHT_CONFIG"), "YAML `FILE` of options; see callwright config print. Flags take precedence",
	)
	c.Flags().StringVar(&f.upstream, "upstream", "", "`URL` of the model server, such as http://127.0.0.1:11434")
	c.Flags().StringVar(&f.format, "upstream-format", d.UpstreamFormat, "API of the model server: auto, openai, ollama, anthropic or gemini")
	c.Flags().StringVar(&f.listen, "listen", d.Listen, "`ADDRESS` to listen on")
	c.Flags().StringVar(
		&f.mode, "mode", d.Mode,
		"native passes tools on, emulate writes them into the prompt, auto is native until the server rejects tools for a model",
	)
	c.Flags().StringVar(
		&f.onInvalid, "on-invalid", d.OnInvalid,
		"what to do with an invalid call: text leaves it in the text, pass makes it a call, retry asks the model again",
	)
	c.Flags().StringVar(
		&f.streamArguments, "stream-arguments", d.StreamArguments,
		"when a stream has a call that was made out of text: whole, or eager, its arguments as they become certain",
	)
	c.Flags().StringVar(&f.mcp, "mcp", "", "`FILE` of MCP servers whose tools are offered to every model, and run here")
	c.Flags().IntVar(&f.retries, "retries", d.Retries, "how many retries a request may take")
	c.Flags().BoolVar(&f.rescue, "rescue", d.Rescue, "save turns that end in nothing by at most one more request")
	c.Flags().IntVar(
		&f.thinkingBudget, "thinking-budget", d.ThinkingBudget, "how many tokens a model may think before it is asked again without; 0 means any",
	)
	c.Flags().IntVar(
		&f.loopLimit, "loop-limit", d.LoopLimit, "how often one call may give one result before the model is told; twice that ends it; 0 is any",
	)
	c.Flags().StringSliceVar(&f.allowedHosts, "allowed-hosts", nil, "host `NAMES` besides localhost, such as host.docker.internal")
	c.Flags().StringSliceVar(&f.allowedOrigins, "allowed-origins", nil, "`ORIGINS` of web pages that may ask, such as https://app.example")
	c.Flags().IntVar(&f.inspect, "inspect", d.Inspect, "how many exchanges GET /callwright/requests shows")
	c.Flags().StringVar(
		&f.inspectTokenEnv, "inspect-token-env", "",
		"environment `VARIABLE` with the token that the inspector takes; without one it is made up and printed",
	)
	c.Flags().StringVar(&f.keyEnv, "key-env", "", "environment `VARIABLE` with the key that clients must send")
	c.Flags().StringVar(&f.upstreamKeyEnv, "upstream-key-env", "", "environment `VARIABLE` with the model server's key")
	c.Flags().StringVar(&f.cert, "tls-cert", "", "`FILE` of the certificate, for https")
	c.Flags().StringVar(&f.key, "tls-key", "", "`FILE` of its key")
	c.Flags().BoolVar(&f.insecure, "insecure-listen", false, "listen on an address that other machines can reach without requiring a key")
	c.Flags().StringVar(&f.logLevel, "log-level", d.LogLevel, "debug, info, warn or error")
	c.Flags().StringVar(&f.tools, "tools", "", "`FILE` of tool definitions")
	c.Flags().StringVar(&f.models, "models", "", "YAML `FILE` of model capabilities")
	c.Flags().StringVar(&f.dialects, "dialects", "", "YAML `FILE` of dialects to add")
	return c
}

// read reads the configuration. Flags take precedence over it.
func (f *serveFlags) read(c *cobra.Command) (*config.Config, error) {
	settings, err := config.Load(f.config, nil)
	if err != nil {
		return nil, err
	}
	s := &settings.Server
	given := c.Flags().Changed
	for name, pair := range map[string][2]*string{
		"upstream": {&f.upstream, &s.Upstream}, "upstream-format": {&f.format, &s.UpstreamFormat}, "listen": {&f.listen, &s.Listen},
		"mode": {&f.mode, &s.Mode}, "mcp": {&f.mcp, &s.MCP},
		"stream-arguments": {&f.streamArguments, &s.StreamArguments}, "inspect-token-env": {&f.inspectTokenEnv, &s.InspectTokenEnv},
		"on-invalid": {&f.onInvalid, &s.OnInvalid}, "key-env": {&f.keyEnv, &s.KeyEnv}, "upstream-key-env": {&f.upstreamKeyEnv, &s.UpstreamKeyEnv},
		"tls-cert": {&f.cert, &s.TLSCert}, "tls-key": {&f.key, &s.TLSKey}, "log-level": {&f.logLevel, &s.LogLevel},
		"tools": {&f.tools, &settings.Parser.Tools}, "models": {&f.models, &settings.Parser.Models},
		"dialects": {&f.dialects, &settings.Extraction.Dialects},
	} {
		if given(name) {
			*pair[1] = *pair[0]
		}
	}
	if given("retries") {
		s.Retries = f.retries
	}
	if given("rescue") {
		s.Rescue = f.rescue
	}
	if given("thinking-budget") {
		s.ThinkingBudget = f.thinkingBudget
	}
	if given("loop-limit") {
		s.LoopLimit = f.loopLimit
	}
	if given("allowed-hosts") {
		s.AllowedHosts = f.allowedHosts
	}
	if given("allowed-origins") {
		s.AllowedOrigins = f.allowedOrigins
	}
	if given("inspect") {
		s.Inspect = f.inspect
	}
	s.InsecureListen = s.InsecureListen || f.insecure
	return settings, settings.Check()
}

// newLog returns the log of the server, as JSON Lines.
func newLog(w io.Writer, level string) (*slog.Logger, error) {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		return nil, err
	}
	return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: l})), nil
}

func (f *serveFlags) serve(c *cobra.Command) error {
	settings, err := f.read(c)
	if err != nil {
		return err
	}
	log, err := newLog(c.ErrOrStderr(), settings.Server.LogLevel)
	if err != nil {
		return err
	}
	h, err := interceptor.New(settings, interceptor.Options{Log: log})
	if err != nil {
		return err
	}
	if settings.Server.Inspect > 0 && settings.Server.InspectTokenEnv == "" { // the log is no place for it
		fmt.Fprintln(c.OutOrStdout(), "The inspector's token, for the header Callwright-Inspector-Token:", h.InspectToken())
	}
	printClients(c.OutOrStdout(), &settings.Server)
	s, err := interceptor.NewServer(h, &settings.Server, log)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(c.Context(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	reload := make(chan os.Signal, 1)
	signal.Notify(reload, syscall.SIGHUP)
	defer signal.Stop(reload)
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	ended := ctx.Done()
	for {
		select {
		case err := <-done:
			return err
		case <-ended:
			stop() // a second signal ends the process at once
			ended = nil
		case <-reload:
			settings, err := f.read(c)
			if err == nil {
				err = h.Reload(settings, nil)
			}
			if err != nil {
				log.Error("configuration not reloaded, the old one stays", "cause", err.Error())
				continue
			}
			log.Info("configuration reloaded")
		}
	}
}
