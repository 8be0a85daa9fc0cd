// Package config reads callwright.yaml: one set of options for the library, the command
// and the interceptor.
//
// Every option has a default and a description; [Config.YAML] writes them. Unknown keys
// and values out of range are errors with the line. Environment variables such as
// CALLWRIGHT_PARSER_TIMEOUT_MS take precedence over the file.
package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Config holds all options. The zero value is not the default: use [Default].
type Config struct {
	Parser     Parser     `yaml:"parser"`
	Extraction Extraction `yaml:"extraction"`
	Validation Validation `yaml:"validation"`
	Fallback   Fallback   `yaml:"fallback"`
	Caching    Caching    `yaml:"caching"`
	Monitoring Monitoring `yaml:"monitoring"`
	Server     Server     `yaml:"server"`
}

// Parser has the options of parsing.
type Parser struct {
	StrictMode        bool    `yaml:"strict_mode"`
	AllowPartial      bool    `yaml:"allow_partial"`
	AttemptRepairs    bool    `yaml:"attempt_repairs"`
	UseFallbacks      bool    `yaml:"use_fallbacks"`
	MaxRepairAttempts int     `yaml:"max_repair_attempts" min:"1"`
	TimeoutMS         int     `yaml:"timeout_ms" min:"0"`
	MinConfidence     float64 `yaml:"min_confidence" min:"0" max:"1"`
	MaxTextBytes      int     `yaml:"max_text_bytes" min:"1"`
	MaxCalls          int     `yaml:"max_calls" min:"1"`
	MaxCandidates     int     `yaml:"max_candidates" min:"1"`
	DropRepeats       bool    `yaml:"drop_repeats"`
	Tools             string  `yaml:"tools"`
	Models            string  `yaml:"models"`
}

// Extraction has the options of finding calls.
type Extraction struct {
	Methods  []string `yaml:"methods" enum:"regex_full_json regex_partial ast_balanced markdown_codeblock llm_assisted dialect native intent"`
	Priority string   `yaml:"priority" enum:"precise balanced complete"`
	Dialects string   `yaml:"dialects"`
}

// Validation has the options of checking parameters.
type Validation struct {
	StrictSchema   bool `yaml:"strict_schema"`
	InjectDefaults bool `yaml:"inject_defaults"`
	CoerceTypes    bool `yaml:"coerce_types"`
	Lossy          bool `yaml:"lossy"`
	KeepUnknown    bool `yaml:"keep_unknown"`
	TypeDefaults   bool `yaml:"type_defaults"`
}

// Fallback has the options of the fallback chain.
type Fallback struct {
	Tiers []string `yaml:"tiers" enum:"auto_repair llm_assisted_repair intent_extraction partial_execution user_clarification"`
	Model Model    `yaml:"model"`
}

// Model has the options of the repair model.
type Model struct {
	URL              string `yaml:"url"`
	Format           string `yaml:"format" enum:"ollama openai"`
	Name             string `yaml:"name"`
	KeyEnv           string `yaml:"key_env"`
	TimeoutMS        int    `yaml:"timeout_ms" min:"1"`
	MaxTextBytes     int    `yaml:"max_text_bytes" min:"1"`
	MaxTokens        int    `yaml:"max_tokens" min:"1"`
	MaxTries         int    `yaml:"max_tries" min:"1" max:"5"`
	BreakerFailures  int    `yaml:"breaker_failures" min:"1"`
	BreakerTimeoutMS int    `yaml:"breaker_timeout_ms" min:"1"`
}

// Caching has the options of the cache of results.
type Caching struct {
	Enabled  bool `yaml:"enabled"`
	MaxSize  int  `yaml:"max_size" min:"1"`
	MaxBytes int  `yaml:"max_bytes" min:"1"`
	TTLMS    int  `yaml:"ttl_ms"`
	Doubtful bool `yaml:"doubtful"`
	Patterns bool `yaml:"patterns"`
}

// Monitoring has the options of metrics and health.
type Monitoring struct {
	Enabled      bool     `yaml:"enabled"`
	Metrics      []string `yaml:"metrics" enum:"parsing_time success_rate error_distribution cache_efficiency"`
	Alerts       []string `yaml:"alerts"`
	RecentErrors int      `yaml:"recent_errors" min:"1" max:"1000"`
}

// Server has the options of the interceptor.
type Server struct {
	Listen             string      `yaml:"listen"`
	InsecureListen     bool        `yaml:"insecure_listen"`
	KeyEnv             string      `yaml:"key_env"`
	TLSCert            string      `yaml:"tls_cert"`
	TLSKey             string      `yaml:"tls_key"`
	AllowedHosts       []string    `yaml:"allowed_hosts"`
	AllowedOrigins     []string    `yaml:"allowed_origins"`
	Upstream           string      `yaml:"upstream"`
	UpstreamFormat     string      `yaml:"upstream_format" enum:"auto openai ollama anthropic gemini"`
	UpstreamKeyEnv     string      `yaml:"upstream_key_env"`
	Upstreams          []Upstream  `yaml:"upstreams"`
	Mode               string      `yaml:"mode" enum:"auto native emulate"`
	ModelModes         []ModelMode `yaml:"model_modes"`
	OnInvalid          string      `yaml:"on_invalid" enum:"text pass retry"`
	Rescue             bool        `yaml:"rescue"`
	ThinkingBudget     int         `yaml:"thinking_budget" min:"0" max:"10000000"`
	LoopLimit          int         `yaml:"loop_limit" min:"0" max:"1000"`
	LoopExempt         []string    `yaml:"loop_exempt"`
	StreamArguments    string      `yaml:"stream_arguments" enum:"whole eager"`
	MaxContext         int         `yaml:"max_context" min:"0" max:"10000000"`
	MCP                string      `yaml:"mcp"`
	MCPAllow           []string    `yaml:"mcp_allow" enum:"inferred repaired"`
	MCPRounds          int         `yaml:"mcp_rounds" min:"1" max:"1000"`
	MCPTimeoutMS       int         `yaml:"mcp_timeout_ms" min:"1" max:"86400000"`
	Retries            int         `yaml:"retries" min:"0" max:"5"`
	RetryTimeoutMS     int         `yaml:"retry_timeout_ms" min:"1" max:"86400000"`
	MaxBodyBytes       int         `yaml:"max_body_bytes" min:"1" max:"1073741824"`
	MaxReplyBytes      int         `yaml:"max_reply_bytes" min:"1" max:"1073741824"`
	MaxHeaderBytes     int         `yaml:"max_header_bytes" min:"1024" max:"16777216"`
	MaxInFlight        int         `yaml:"max_in_flight" min:"1" max:"1000000"`
	ReadTimeoutMS      int         `yaml:"read_timeout_ms" min:"1" max:"86400000"`
	FirstByteTimeoutMS int         `yaml:"first_byte_timeout_ms" min:"1" max:"86400000"`
	IdleTimeoutMS      int         `yaml:"idle_timeout_ms" min:"1" max:"86400000"`
	HeartbeatMS        int         `yaml:"heartbeat_ms" min:"0" max:"86400000"`
	ShutdownTimeoutMS  int         `yaml:"shutdown_timeout_ms" min:"0" max:"86400000"`
	UnknownPaths       string      `yaml:"unknown_paths" enum:"pass refuse"`
	Inspect            int         `yaml:"inspect" min:"0" max:"200"`
	InspectTokenEnv    string      `yaml:"inspect_token_env"`
	InspectRedact      []string    `yaml:"inspect_redact"`
	LogLevel           string      `yaml:"log_level" enum:"debug info warn error"`
}

// Upstream is a model server for some models. The first that matches a model is asked; if
// it does not answer, the second.
type Upstream struct {
	Model       string `yaml:"model"`
	URL         string `yaml:"url"`
	Format      string `yaml:"format"` // as server.upstream_format; "" is "auto"
	KeyEnv      string `yaml:"key_env"`
	MaxInFlight int    `yaml:"max_in_flight"` // requests at a time; 0 is any number
}

// ModelMode has the options of requests for some models.
type ModelMode struct {
	Model   string `yaml:"model"`
	Mode    string `yaml:"mode" enum:"auto native emulate"`
	Dialect string `yaml:"dialect"`
}

// Default returns the default options.
func Default() *Config {
	return &Config{
		Parser: Parser{
			AttemptRepairs: true, UseFallbacks: true, MaxRepairAttempts: 3, MaxTextBytes: 16 << 20, MaxCalls: 128, MaxCandidates: 1024,
		},
		Extraction: Extraction{Priority: "balanced"},
		Validation: Validation{InjectDefaults: true, CoerceTypes: true},
		Fallback: Fallback{
			Tiers: []string{"auto_repair", "user_clarification"},
			Model: Model{
				Format: "ollama", TimeoutMS: 15000, MaxTextBytes: 8 << 10, MaxTokens: 1024, MaxTries: 2, BreakerFailures: 5, BreakerTimeoutMS: 30000,
			},
		},
		Caching:    Caching{Enabled: true, MaxSize: 1000, MaxBytes: 64 << 20, TTLMS: 3600000, Patterns: true},
		Monitoring: Monitoring{Enabled: true, Alerts: []string{"error_rate > 10%", "p99_parsing_time > 1000ms"}, RecentErrors: 20},
		Server: Server{
			Listen: "127.0.0.1:8790", UpstreamFormat: "auto", Mode: "auto", OnInvalid: "pass", Rescue: true, LoopLimit: 3, StreamArguments: "whole",
			MaxContext: 32768, MCPRounds: 16, MCPTimeoutMS: 600000, Retries: 1, RetryTimeoutMS: 120000,
			MaxBodyBytes: 8 << 20, MaxReplyBytes: 32 << 20, MaxHeaderBytes: 64 << 10, MaxInFlight: 1024, ReadTimeoutMS: 30000,
			FirstByteTimeoutMS: 300000, IdleTimeoutMS: 120000, HeartbeatMS: 15000, ShutdownTimeoutMS: 30000, UnknownPaths: "pass", LogLevel: "info",
		},
	}
}

// Error says what is wrong with an option. Its cause is [ErrUnknown], [ErrRange],
// [ErrValue], or what a part of the configuration says.
type Error struct {
	Source string // the file, or the environment variable
	Line   int    // in the file; 0 if that is not known
	Option string // such as "parser.timeout_ms"
	Err    error
}

// Error returns the source, the line, the option and the cause.
func (e *Error) Error() string {
	at := e.Source
	if e.Line > 0 {
		at += ":" + strconv.Itoa(e.Line)
	}
	if at != "" {
		at += ": "
	}
	if e.Option != "" {
		at += e.Option + ": "
	}
	return at + e.Err.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Causes of an [Error].
var (
	ErrUnknown = errors.New("there is no such option")
	ErrRange   = errors.New("the value is out of range")
	ErrValue   = errors.New("the value cannot be read")
)

// maxFile bounds the size of a configuration file, in bytes.
const maxFile = 1 << 20

// Load returns the defaults, overridden by a YAML file of at most 1 MB, overridden by the
// environment. An empty name means no file, a nil getenv [os.LookupEnv]. The error is an
// [*Error], or that of reading the file.
func Load(name string, getenv func(string) (string, bool)) (*Config, error) {
	c := Default()
	var data []byte
	if name != "" {
		var err error
		if data, err = os.ReadFile(name); err != nil {
			return nil, err
		}
		if len(data) > maxFile {
			return nil, &Error{Source: name, Err: fmt.Errorf("the file is larger than %d bytes", maxFile)}
		}
	}
	if err := c.parse(name, data); err != nil {
		return nil, err
	}
	if getenv == nil {
		getenv = os.LookupEnv
	}
	if err := c.environment(getenv); err != nil {
		return nil, err
	}
	return c, nil
}

// Parse returns the defaults, overridden by YAML. Errors are [*Error]; source is the file
// name in them.
func Parse(source string, data []byte) (*Config, error) {
	c := Default()
	return c, c.parse(source, data)
}

func (c *Config) parse(source string, data []byte) error {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil
	}
	root, err := oneDocument(source, data)
	if root == nil || err != nil {
		return err
	}
	lines := map[string]int{}
	if err := c.decode(source, root, lines); err != nil {
		return err
	}
	return c.check(func(option string) (string, int) {
		for o := option; o != ""; {
			if line, ok := lines[o]; ok {
				return source, line
			}
			i := strings.LastIndexByte(o, '.')
			if i < 0 {
				break
			}
			o = o[:i]
		}
		return source, 0
	})
}

// oneDocument returns the root of a YAML file, nil if there is nothing in it. It may have
// one document with anything in it.
func oneDocument(source string, data []byte) (root *yaml.Node, err error) {
	loader, err := yaml.NewLoader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	for {
		var doc yaml.Node
		err := loader.Load(&doc)
		switch {
		case errors.Is(err, io.EOF):
			return root, nil
		case err != nil:
			return nil, &Error{Source: source, Err: fmt.Errorf("not YAML: %w", err)}
		case len(doc.Content) == 0, doc.Content[0].Kind == yaml.ScalarNode && doc.Content[0].Tag == "!!null":
		case root != nil:
			err := fmt.Errorf("%w: there is a second document: put all options into one", ErrValue)
			return nil, &Error{Source: source, Line: doc.Content[0].Line, Err: err}
		default:
			root = doc.Content[0]
		}
	}
}

// Check returns an [*Error] for the first option that is wrong, for a configuration that
// was changed after it was read.
func (c *Config) Check() error {
	return c.check(func(string) (string, int) { return "", 0 })
}
