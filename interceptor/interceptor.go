// Package interceptor is an HTTP proxy between a client and a model server that makes tool
// calling work.
//
// A client sends a request of OpenAI's chat completions or responses, Anthropic's
// messages or Ollama's chat. The interceptor sends it to the upstream, which may speak
// another of these formats, parses the answer, and replies in the client's format: with
// the calls found in the text or in the field for calls, repaired, checked against the
// tools' schemas and, where the server takes no tools, emulated through the prompt.
// Requests of all other paths pass through unchanged. docs/interceptor.md describes it.
package interceptor

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"regexp"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/cache"
	"github.com/callwright/callwright/config"
	"github.com/callwright/callwright/dispatch/mcptools"
	"github.com/callwright/callwright/internal/safehttp"
	"github.com/callwright/callwright/metrics/prom"
	"github.com/callwright/callwright/parser"
)

// Handler is the interceptor as an [http.Handler]. It is safe for concurrent use. It has no
// goroutines of its own but one that asks the upstream what kind of server it is, for at
// most a few seconds. It must be closed.
type Handler struct {
	settings atomic.Pointer[settings]
	mux      *http.ServeMux
	log      *slog.Logger
	inFlight chan struct{}
	// healthInFlight bounds the requests for the server's state.
	healthInFlight chan struct{}
	inspectToken   string
	ready          atomic.Bool // the upstream has answered
	ring           ring
	counts         *counts
	tools          *mcptools.Service // of MCP servers; nil if there are none
	toolSet        *mcptools.Set
	kept           *cache.Cache[*keptCalls]
	closing        context.Context // is done when streams have to end
	end            context.CancelFunc
}

// settings are what a reload replaces as a whole.
type settings struct {
	c         *config.Config
	parts     *config.Parts
	upstream  *url.URL
	format    string        // of the upstream, as server.upstream_format names it
	model     string        // for which the upstream is; "" is any
	slots     chan struct{} // bounds the requests at a time; nil does not
	upstreams []*settings   // by model, in the order of the configuration
	transport *http.Transport
	client    *http.Client
	proxy     *httputil.ReverseProxy
	key       string // that clients must send; "" asks for none
	upKey     string // that the upstream is sent; "" sends it the client's
	redact    []*regexp.Regexp
	parsers   *cache.Cache[*parser.Parser]
	learned   *learned
	closing   context.Context                                // is done when the handler is closed
	known     *lru.Cache[string, adapters.ModelCapabilities] // by the model's name
	own       *parser.Parser                                 // with the tools of the configuration
	metrics   http.Handler
}

// Options are the options of a handler beside its configuration. The zero value is
// usable.
type Options struct {
	// Log gets a line for each request, without the texts and keys in it; nil logs
	// nothing.
	Log *slog.Logger
	// Getenv returns the environment variables that hold keys; nil is [os.Getenv].
	Getenv func(string) string
}

// ErrNoUpstream says that the configuration names no model server.
var ErrNoUpstream = errors.New("server.upstream is empty: name the model server, such as http://127.0.0.1:11434")

// New returns a handler. It connects to the MCP servers of the configuration; those that
// cannot be reached are left out, with a warning. The error is a [*config.Error], [ErrNoUpstream], or says which
// file or environment variable of the configuration is missing or wrong.
func New(c *config.Config, o Options) (*Handler, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	h := &Handler{
		log: o.Log, inFlight: make(chan struct{}, max(c.Server.MaxInFlight, 0)), healthInFlight: make(chan struct{}, maxHealthInFlight),
		inspectToken: rand.Text(), counts: newCounts(),
	}
	if name := c.Server.InspectTokenEnv; name != "" {
		if o.Getenv == nil {
			o.Getenv = os.Getenv
		}
		if h.inspectToken = o.Getenv(name); h.inspectToken == "" {
			return nil, fmt.Errorf("the environment variable %s is empty", name)
		}
	}
	h.closing, h.end = context.WithCancel(context.Background())
	if err := h.Reload(c, o.Getenv); err != nil {
		return nil, err
	}
	if c.Server.MCP != "" {
		if err := h.openTools(c); err != nil {
			h.Close()
			return nil, err
		}
	}
	h.routes()
	return h, nil
}

// Reload replaces the configuration: tools, dialects, models, modes, limits of replies.
// Requests that are being served keep the old one. With an error, as [New] returns them,
// nothing changes. The address of the server, max_in_flight and the MCP servers cannot be
// reloaded. A nil getenv is [os.Getenv].
func (h *Handler) Reload(c *config.Config, getenv func(string) string) error {
	if getenv == nil {
		getenv = os.Getenv
	}
	if err := c.Check(); err != nil {
		return err
	}
	up := defaultUpstream(&c.Server)
	if up.URL == "" {
		return ErrNoUpstream
	}
	s := &settings{c: c, learned: newLearned(), closing: h.closing, format: cmp.Or(up.Format, "auto")}
	if before := h.settings.Load(); before != nil && defaultUpstream(&before.c.Server).URL == up.URL {
		s.learned = before.learned
	}
	var err error
	if s.upstream, err = safehttp.ParseURL(up.URL); err != nil {
		return err
	}
	for name, into := range map[string]*string{c.Server.KeyEnv: &s.key, up.KeyEnv: &s.upKey} {
		if name == "" {
			continue
		}
		if *into = getenv(name); *into == "" {
			return fmt.Errorf("the environment variable %s is empty", name)
		}
	}
	for _, p := range c.Server.InspectRedact {
		re, err := regexp.Compile(p)
		if err != nil {
			return err
		}
		s.redact = append(s.redact, re)
	}
	if s.parts, err = c.Parts(h.log, getenv); err != nil {
		return err
	}
	if before := h.settings.Load(); before != nil && before.parts.Metrics != nil && s.parts.Metrics != nil {
		s.parts.Metrics, s.parts.Options.Metrics = before.parts.Metrics, before.parts.Metrics // the counts go on
		if s.parts.Cache != nil {
			s.parts.Metrics.SetCache(s.parts.Cache.Stats)
		}
	}
	tools, err := c.Registry(logWriter{h.log})
	if err != nil {
		return err
	}
	if s.own, err = parser.New(tools, s.parts.Options); err != nil {
		return err
	}
	if s.parsers, err = cache.New[*parser.Parser](cache.Options{MaxEntries: 256, MaxBytes: 64 << 20}); err != nil {
		return err
	}
	if s.known, err = lru.New[string, adapters.ModelCapabilities](maxLearned); err != nil {
		return err
	}
	s.transport = safehttp.Transport(5*time.Second, time.Duration(c.Server.FirstByteTimeoutMS)*time.Millisecond)
	s.client = safehttp.Client(s.transport)
	s.proxy = h.newProxy(s)
	if err := s.withUpstreams(h, getenv); err != nil {
		return err
	}
	if s.parts.Metrics != nil {
		registry := prometheus.NewRegistry()
		all := append([]prometheus.Collector{prom.New(s.parts.Metrics), collectors.NewGoCollector()}, h.counts.all()...)
		for _, c := range all {
			if err := registry.Register(c); err != nil {
				return err
			}
		}
		s.metrics = promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
	}
	if old := h.settings.Swap(s); old != nil {
		old.transport.CloseIdleConnections()
	}
	return nil
}

// InspectToken is the token that GET /callwright/requests takes, besides the key, in the
// header Callwright-Inspector-Token: that of server.inspect_token_env, or one that was
// made up. It stays the same until the process ends.
func (h *Handler) InspectToken() string { return h.inspectToken }

// Close ends the streams that are being served, with an error and their terminators, closes
// the idle connections to the upstream, and ends the MCP servers.
func (h *Handler) Close() {
	h.end()
	if h.toolSet != nil {
		if err := h.toolSet.Close(); err != nil {
			h.log.Warn("an MCP server did not end well", "cause", err.Error())
		}
	}
	h.settings.Load().transport.CloseIdleConnections()
}

// logWriter writes lines to a log.
type logWriter struct{ log *slog.Logger }

func (w logWriter) Write(p []byte) (int, error) {
	w.log.Log(context.Background(), slog.LevelWarn, string(p))
	return len(p), nil
}
