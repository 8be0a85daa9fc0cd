package config

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"regexp"
	"slices"
	"time"

	"github.com/callwright/callwright/adapters"
	ollama "github.com/callwright/callwright/adapters/ollama/client"
	openai "github.com/callwright/callwright/adapters/openai/client"
	"github.com/callwright/callwright/cache"
	"github.com/callwright/callwright/call"
	"github.com/callwright/callwright/dialect"
	"github.com/callwright/callwright/fallback"
	"github.com/callwright/callwright/internal/safehttp"
	"github.com/callwright/callwright/internal/text"
	"github.com/callwright/callwright/metrics"
	"github.com/callwright/callwright/parser"
	"github.com/callwright/callwright/registry"
	"github.com/callwright/callwright/validator"
)

type rule struct {
	option string
	err    error
}

// rules check options that belong together.
func (c *Config) rules() []rule {
	var list []rule
	add := func(option string, wrong bool, format string, args ...any) {
		if wrong {
			list = append(list, rule{option, fmt.Errorf("%w: "+format, append([]any{ErrRange}, args...)...)})
		}
	}
	for _, s := range c.Monitoring.Alerts {
		if _, err := metrics.ParseAlert(s); err != nil {
			list = append(list, rule{"monitoring.alerts", err})
		}
	}
	m := &c.Fallback.Model
	if slices.Contains(c.Fallback.Tiers, string(fallback.StrategyModel)) {
		add("fallback.model.url", m.URL == "", "llm_assisted_repair needs the address of a server")
		add("fallback.model.name", m.Name == "", "llm_assisted_repair needs the name of a model")
	}
	if m.URL != "" {
		if _, err := safehttp.ParseURL(m.URL); err != nil {
			list = append(list, rule{"fallback.model.url", err})
		}
	}
	s := &c.Server
	if s.Upstream != "" {
		if _, err := safehttp.ParseURL(s.Upstream); err != nil {
			list = append(list, rule{"server.upstream", err})
		}
	}
	for _, o := range s.AllowedOrigins {
		u, err := url.Parse(o)
		wrong := err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.Path != "" || u.RawQuery != ""
		add("server.allowed_origins", wrong, "%q is no origin, such as https://app.example", o)
	}
	for _, u := range s.Upstreams {
		add("server.upstreams", u.Model == "", "each needs a model, such as *")
		add("server.upstreams", u.MaxInFlight < 0 || u.MaxInFlight > 1_000_000, "max_in_flight is %d", u.MaxInFlight)
		known := slices.Contains([]string{"", "auto", "openai", "ollama", "anthropic", "gemini"}, u.Format)
		add("server.upstreams", !known, "%q is no format", u.Format)
		if _, err := safehttp.ParseURL(u.URL); err != nil {
			list = append(list, rule{"server.upstreams", err})
		}
	}
	add("server.tls_key", (s.TLSCert == "") != (s.TLSKey == ""), "a certificate and its key go together")
	for _, m := range s.ModelModes {
		add("server.model_modes", m.Model == "", "each needs a model")
		add("server.model_modes", m.Mode != "" && m.Mode != "auto" && m.Mode != "native" && m.Mode != "emulate", "%q is not a mode", m.Mode)
	}
	for _, p := range s.InspectRedact {
		_, err := regexp.Compile(p)
		add("server.inspect_redact", err != nil, "%v", err)
	}
	seen := map[string]bool{}
	for _, t := range c.Fallback.Tiers {
		add("fallback.tiers", seen[t], "%q is listed twice", t)
		seen[t] = true
	}
	return list
}

// Parts are what parsers are made of. Parsers may share them.
type Parts struct {
	Options parser.Options
	// Cache, Patterns and Metrics are those in the Options; each is nil if it is disabled.
	Cache    *parser.Cache
	Patterns *cache.Patterns
	Metrics  *metrics.Recorder
	// Models is what is known of models.
	Models *adapters.Models
}

// leastConfidence maps extraction.priority to a minimal confidence.
var leastConfidence = map[string]float64{"precise": 0.8, "balanced": parser.DefaultMinConfidence, "complete": 0.3}

// Parts makes the parts of a parser. It reads the files that the options name. A nil log
// logs nothing; a nil getenv, which returns keys, is [os.Getenv].
func (c *Config) Parts(log *slog.Logger, getenv func(string) string) (*Parts, error) {
	if getenv == nil {
		getenv = os.Getenv
	}
	p := &Parts{}
	o := parser.Options{
		StrictMode: c.Parser.StrictMode, AllowPartial: c.Parser.AllowPartial, NoRepairs: !c.Parser.AttemptRepairs,
		NoFallbacks:       !c.Parser.UseFallbacks,
		MaxRepairAttempts: c.Parser.MaxRepairAttempts, Timeout: milliseconds(c.Parser.TimeoutMS), MinConfidence: c.Parser.MinConfidence,
		MaxTextBytes: c.Parser.MaxTextBytes, MaxCalls: c.Parser.MaxCalls, MaxCandidates: c.Parser.MaxCandidates,
		DropRepeats: c.Parser.DropRepeats, Logger: log,
		Validation: validator.Options{
			NoCoercion: !c.Validation.CoerceTypes, NoDefaults: !c.Validation.InjectDefaults, Lossy: c.Validation.Lossy,
			KeepUnknown: c.Validation.KeepUnknown, TypeDefaults: c.Validation.TypeDefaults,
		},
	}
	if o.MinConfidence == 0 {
		o.MinConfidence = leastConfidence[c.Extraction.Priority]
	}
	for _, m := range c.Extraction.Methods {
		o.Methods = append(o.Methods, call.Method(m))
	}
	var err error
	if o.Fallbacks, err = c.steps(getenv); err != nil {
		return nil, err
	}
	if c.Caching.Enabled {
		if p.Cache, err = parser.NewCache(cache.Options{
			MaxEntries: c.Caching.MaxSize, MaxBytes: c.Caching.MaxBytes, TTL: milliseconds(c.Caching.TTLMS),
		}); err != nil {
			return nil, err
		}
		o.Cache, o.CacheDoubtful = p.Cache, c.Caching.Doubtful
	}
	if c.Caching.Patterns {
		if p.Patterns, err = cache.NewPatterns(0); err != nil {
			return nil, err
		}
		o.Patterns = p.Patterns
	}
	if c.Monitoring.Enabled {
		mo := metrics.Options{RecentErrors: c.Monitoring.RecentErrors}
		for _, s := range c.Monitoring.Alerts {
			a, err := metrics.ParseAlert(s)
			if err != nil {
				return nil, err
			}
			mo.Alerts = append(mo.Alerts, a)
		}
		if p.Cache != nil {
			mo.Cache = p.Cache.Stats
		}
		p.Metrics = metrics.New(mo)
		o.Metrics = p.Metrics
	}
	p.Options = o
	if c.Extraction.Dialects != "" {
		data, err := os.ReadFile(c.Extraction.Dialects)
		if err != nil {
			return nil, err
		}
		if p.Options.Dialects, err = dialect.Parse(data); err != nil {
			return nil, fmt.Errorf("%s: %w", c.Extraction.Dialects, err)
		}
	}
	p.Models = adapters.DefaultModels()
	if c.Parser.Models != "" {
		data, err := os.ReadFile(c.Parser.Models)
		if err != nil {
			return nil, err
		}
		own, err := adapters.ParseModels(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Parser.Models, err)
		}
		p.Models = p.Models.With(own)
	}
	return p, nil
}

func milliseconds(n int) time.Duration { return time.Duration(n) * time.Millisecond }

// steps makes the steps of the fallback chain.
func (c *Config) steps(getenv func(string) string) ([]fallback.Step, error) {
	steps := []fallback.Step{}
	for _, name := range c.Fallback.Tiers {
		switch fallback.Strategy(name) {
		case fallback.StrategyAutoRepair:
			steps = append(steps, fallback.Step{Tier: fallback.AutoRepair{}})
		case fallback.StrategyIntent:
			steps = append(steps, fallback.Step{Tier: fallback.NewIntent()})
		case fallback.StrategyPartial:
			steps = append(steps, fallback.Step{Tier: fallback.Partial{}})
		case fallback.StrategyClarification:
			steps = append(steps, fallback.Step{Tier: fallback.Clarification{}})
		case fallback.StrategyModel:
			m := &c.Fallback.Model
			model, err := m.completer(getenv)
			if err != nil {
				return nil, fmt.Errorf("fallback.model: %w", err)
			}
			steps = append(steps, fallback.Step{
				Tier: fallback.NewModelRepair(model, fallback.ModelOptions{
					MaxTextBytes: m.MaxTextBytes, MaxTokens: m.MaxTokens, MaxTries: m.MaxTries, BreakerFailures: m.BreakerFailures,
					BreakerTimeout: milliseconds(m.BreakerTimeoutMS),
				}),
				Timeout: milliseconds(m.TimeoutMS),
			})
		}
	}
	return steps, nil
}

func (m *Model) completer(getenv func(string) string) (fallback.Completer, error) {
	key := ""
	if m.KeyEnv != "" {
		if key = getenv(m.KeyEnv); key == "" {
			return nil, fmt.Errorf("the environment variable %s is empty", m.KeyEnv)
		}
	}
	if m.Format == "openai" {
		return openai.New(m.URL, m.Name, key)
	}
	if key != "" {
		return nil, errors.New("an Ollama server takes no key: use the format openai")
	}
	return ollama.New(m.URL, m.Name)
}

// Registry reads the tools of the option parser.tools; the registry is empty if there is
// none. Tools whose schemas do not compile are usable, with a line to warn, unless
// validation.strict_schema is set: then they are an error.
func (c *Config) Registry(warn io.Writer) (*registry.Registry, error) {
	if c.Parser.Tools == "" {
		return registry.New()
	}
	data, err := os.ReadFile(c.Parser.Tools)
	if err != nil {
		return nil, err
	}
	tools, err := registry.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Parser.Tools, err)
	}
	r, err := registry.NewWith(registry.Options{Strict: c.Validation.StrictSchema}, tools...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Parser.Tools, err)
	}
	if err := r.Check(context.Background()); err != nil {
		fmt.Fprintf(warn, "callwright: %s: %s\n", text.Escaped(c.Parser.Tools), text.Escaped(err.Error()))
	}
	return r, nil
}
