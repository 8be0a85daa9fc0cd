// Package config reads callwright.yaml: one set of options for the library, the command
// and the interceptor. Keys are strict, every option has a default and a description,
// and environment variables come before the file.
package config

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Config is all that can be set. Its zero value is not the default: that is [Default].
type Config struct {
	Parser     Parser     `yaml:"parser" doc:"how texts are parsed"`
	Extraction Extraction `yaml:"extraction" doc:"what is looked for"`
	Validation Validation `yaml:"validation" doc:"how parameters are made to fit their tool's schema"`
	Fallback   Fallback   `yaml:"fallback" doc:"what is tried where reading gives no call"`
	Caching    Caching    `yaml:"caching" doc:"the cache of results"`
	Monitoring Monitoring `yaml:"monitoring" doc:"metrics and health"`
	Server     Server     `yaml:"server" doc:"the interceptor, callwright serve"`
}

// Parser says how texts are parsed.
type Parser struct {
	StrictMode        bool    `yaml:"strict_mode" doc:"take only calls that need no repair and no coercion"`
	AllowPartial      bool    `yaml:"allow_partial" doc:"take calls that the text's end cut off, marked as truncated"`
	AttemptRepairs    bool    `yaml:"attempt_repairs" doc:"repair what cannot be read"`
	UseFallbacks      bool    `yaml:"use_fallbacks" doc:"ask the fallback tiers"`
	MaxRepairAttempts int     `yaml:"max_repair_attempts" doc:"how many broken candidates of a text are repaired" min:"1"`
	TimeoutMS         int     `yaml:"timeout_ms" doc:"how long one parse may take, fallbacks included; 0 means 5000, or 20000 where a model is asked" min:"0"`
	MinConfidence     float64 `yaml:"min_confidence" doc:"confidence below which a candidate is no call; 0 means what extraction.priority says" min:"0" max:"1"`
	MaxTextBytes      int     `yaml:"max_text_bytes" doc:"how large a text may be" min:"1"`
	MaxCalls          int     `yaml:"max_calls" doc:"how many calls a text may make" min:"1"`
	MaxCandidates     int     `yaml:"max_candidates" doc:"how many candidates of a text are looked at" min:"1"`
	DropRepeats       bool    `yaml:"drop_repeats" doc:"drop a call that repeats the one right before it"`
	Tools             string  `yaml:"tools" doc:"file of tool definitions"`
	Models            string  `yaml:"models" doc:"YAML file of what is known of models, before what is known anyway"`
}

// Extraction says what is looked for.
type Extraction struct {
	Methods  []string `yaml:"methods" doc:"the ways of finding calls that count; empty means all" enum:"regex_full_json regex_partial ast_balanced markdown_codeblock llm_assisted dialect native intent"`
	Priority string   `yaml:"priority" doc:"precise calls less and errs less, complete the opposite: they set the least confidence to 0.8, 0.5 and 0.3" enum:"precise balanced complete"`
	Dialects string   `yaml:"dialects" doc:"YAML file of dialects to add"`
}

// Validation says how parameters are made to fit.
type Validation struct {
	StrictSchema   bool `yaml:"strict_schema" doc:"refuse tools whose schemas do not compile"`
	InjectDefaults bool `yaml:"inject_defaults" doc:"fill in the schema's defaults"`
	CoerceTypes    bool `yaml:"coerce_types" doc:"change types where nothing is lost by it"`
	Lossy          bool `yaml:"lossy" doc:"also change what loses something: thousands separators, yes and no, near enum values"`
	KeepUnknown    bool `yaml:"keep_unknown" doc:"report parameters that the schema forbids in place of dropping them"`
	TypeDefaults   bool `yaml:"type_defaults" doc:"fill required parameters without a default with the empty value of their type"`
}

// Fallback says what is tried where reading gives no call.
type Fallback struct {
	Tiers []string `yaml:"tiers" doc:"the tiers in their order" enum:"auto_repair llm_assisted_repair intent_extraction partial_execution user_clarification"`
	Model Model    `yaml:"model" doc:"the model of llm_assisted_repair"`
}

// Model is the one that repairs calls.
type Model struct {
	URL              string `yaml:"url" doc:"address of the server, such as http://127.0.0.1:11434"`
	Format           string `yaml:"format" doc:"what the server speaks" enum:"ollama openai"`
	Name             string `yaml:"name" doc:"name of the model"`
	KeyEnv           string `yaml:"key_env" doc:"environment variable that holds the server's key"`
	TimeoutMS        int    `yaml:"timeout_ms" doc:"how long a repair may take, all tries together" min:"1"`
	MaxTextBytes     int    `yaml:"max_text_bytes" doc:"how much broken text the model is shown at most" min:"1"`
	MaxTokens        int    `yaml:"max_tokens" doc:"how long the model's answer may be" min:"1"`
	MaxTries         int    `yaml:"max_tries" doc:"how often the model is asked about one text" min:"1" max:"5"`
	BreakerFailures  int    `yaml:"breaker_failures" doc:"after how many failures in a row the model is left alone" min:"1"`
	BreakerTimeoutMS int    `yaml:"breaker_timeout_ms" doc:"for how long" min:"1"`
}

// Caching bounds the cache of results.
type Caching struct {
	Enabled  bool `yaml:"enabled" doc:"keep results of texts"`
	MaxSize  int  `yaml:"max_size" doc:"how many results are kept" min:"1"`
	MaxBytes int  `yaml:"max_bytes" doc:"how many bytes they may take" min:"1"`
	TTLMS    int  `yaml:"ttl_ms" doc:"how long a result is kept; less than 0 for ever"`
	Doubtful bool `yaml:"doubtful" doc:"also keep what was inferred or repaired by a model"`
	Patterns bool `yaml:"patterns" doc:"learn which dialects and repairs work for a model, to try them first"`
}

// Monitoring says what is counted.
type Monitoring struct {
	Enabled      bool     `yaml:"enabled" doc:"count what parses come to"`
	Metrics      []string `yaml:"metrics" doc:"what is shown of it; empty means all" enum:"parsing_time success_rate error_distribution cache_efficiency"`
	Alerts       []string `yaml:"alerts" doc:"thresholds over the last five minutes that turn the health's status"`
	RecentErrors int      `yaml:"recent_errors" doc:"how many errors the health tells, without any text" min:"1" max:"1000"`
}

// Server says how the interceptor serves.
type Server struct {
	Listen             string      `yaml:"listen" doc:"address to listen on"`
	InsecureListen     bool        `yaml:"insecure_listen" doc:"listen on an address that others reach without asking for a key"`
	KeyEnv             string      `yaml:"key_env" doc:"environment variable with the key that clients must give"`
	TLSCert            string      `yaml:"tls_cert" doc:"file of the certificate, for https"`
	TLSKey             string      `yaml:"tls_key" doc:"file of its key"`
	AllowedHosts       []string    `yaml:"allowed_hosts" doc:"names, besides localhost and addresses, by which clients may call the server; empty allows all where a key is asked for"`
	Upstream           string      `yaml:"upstream" doc:"address of the model server, such as http://127.0.0.1:11434"`
	UpstreamFormat     string      `yaml:"upstream_format" doc:"what the model server speaks; auto finds it out" enum:"auto openai ollama anthropic"`
	UpstreamKeyEnv     string      `yaml:"upstream_key_env" doc:"environment variable with the model server's key; empty passes on what the client gives"`
	Mode               string      `yaml:"mode" doc:"native hands tools on, emulate writes them into the prompt, auto does the first until the server says that the model does not support tools" enum:"auto native emulate"`
	ModelModes         []ModelMode `yaml:"model_modes" doc:"modes and dialects by model; the first that matches counts"`
	OnInvalid          string      `yaml:"on_invalid" doc:"a call that cannot be made: leave it in the text, pass it on as it is, or ask the model again" enum:"text pass retry"`
	Retries            int         `yaml:"retries" doc:"how often a model is asked again about one request" min:"0" max:"5"`
	RetryTimeoutMS     int         `yaml:"retry_timeout_ms" doc:"how long after its beginning a request may ask again" min:"1"`
	MaxBodyBytes       int         `yaml:"max_body_bytes" doc:"how large a request may be" min:"1"`
	MaxReplyBytes      int         `yaml:"max_reply_bytes" doc:"how large a reply may be" min:"1"`
	MaxHeaderBytes     int         `yaml:"max_header_bytes" doc:"how large a request's header may be" min:"1024"`
	MaxInFlight        int         `yaml:"max_in_flight" doc:"how many requests are served at once" min:"1"`
	ReadTimeoutMS      int         `yaml:"read_timeout_ms" doc:"how long a request's header and body may take" min:"1"`
	FirstByteTimeoutMS int         `yaml:"first_byte_timeout_ms" doc:"how long the model server may take to begin to answer" min:"1"`
	IdleTimeoutMS      int         `yaml:"idle_timeout_ms" doc:"how long the model server may be silent within an answer" min:"1"`
	HeartbeatMS        int         `yaml:"heartbeat_ms" doc:"after how long a silence a stream is told that it goes on; 0 never" min:"0"`
	ShutdownTimeoutMS  int         `yaml:"shutdown_timeout_ms" doc:"how long streams may go on after the server is told to end" min:"0"`
	UnknownPaths       string      `yaml:"unknown_paths" doc:"requests of other paths" enum:"pass refuse"`
	Inspect            int         `yaml:"inspect" doc:"how many exchanges GET /callwright/requests shows, with what was said in them; 0 shows none" min:"0" max:"200"`
	InspectRedact      []string    `yaml:"inspect_redact" doc:"patterns (RE2) of what is blackened in them"`
	LogLevel           string      `yaml:"log_level" doc:"what is logged; nothing that was said, and no keys" enum:"debug info warn error"`
}

// ModelMode is how the requests for some models are served.
type ModelMode struct {
	Model   string `yaml:"model" doc:"name of the models; * stands for any text"`
	Mode    string `yaml:"mode" doc:"as server.mode" enum:"auto native emulate"`
	Dialect string `yaml:"dialect" doc:"the dialect in which the tools are written into the prompt; empty takes what is known of the model"`
}

// Default returns the defaults.
func Default() *Config {
	return &Config{
		Parser:     Parser{AttemptRepairs: true, UseFallbacks: true, MaxRepairAttempts: 3, MaxTextBytes: 16 << 20, MaxCalls: 128, MaxCandidates: 1024},
		Extraction: Extraction{Priority: "balanced"},
		Validation: Validation{InjectDefaults: true, CoerceTypes: true},
		Fallback: Fallback{
			Tiers: []string{"auto_repair", "user_clarification"},
			Model: Model{Format: "ollama", TimeoutMS: 15000, MaxTextBytes: 8 << 10, MaxTokens: 1024, MaxTries: 2, BreakerFailures: 5, BreakerTimeoutMS: 30000},
		},
		Caching:    Caching{Enabled: true, MaxSize: 1000, MaxBytes: 64 << 20, TTLMS: 3600000, Patterns: true},
		Monitoring: Monitoring{Enabled: true, Alerts: []string{"error_rate > 10%", "p99_parsing_time > 1000ms"}, RecentErrors: 20},
		Server: Server{
			Listen: "127.0.0.1:8790", UpstreamFormat: "auto", Mode: "auto", OnInvalid: "text", Retries: 1, RetryTimeoutMS: 120000,
			MaxBodyBytes: 8 << 20, MaxReplyBytes: 32 << 20, MaxHeaderBytes: 64 << 10, MaxInFlight: 1024, ReadTimeoutMS: 30000,
			FirstByteTimeoutMS: 300000, IdleTimeoutMS: 120000, HeartbeatMS: 15000, ShutdownTimeoutMS: 30000, UnknownPaths: "pass", LogLevel: "info",
		},
	}
}

// Error says what is wrong with an option.
type Error struct {
	Source string // the file, or the environment variable
	Line   int    // in the file; 0 if that is not known
	Option string // such as "parser.timeout_ms"
	Err    error
}

// Error names the source, the line and the option.
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

// Causes of an [Error], besides what YAML says.
var (
	ErrUnknown = errors.New("there is no such option")
	ErrRange   = errors.New("the value is out of range")
	ErrValue   = errors.New("the value cannot be read")
)

// maxFile bounds a configuration file, in bytes.
const maxFile = 1 << 20

// Load reads a file over the defaults, and the environment over both. The name "" means
// no file. getenv is [os.LookupEnv] if it is nil.
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

// Parse reads YAML over the defaults. source names it in errors.
func Parse(source string, data []byte) (*Config, error) {
	c := Default()
	return c, c.parse(source, data)
}

func (c *Config) parse(source string, data []byte) error {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return &Error{Source: source, Err: fmt.Errorf("not YAML: %w", err)}
	}
	if len(doc.Content) == 0 {
		return nil
	}
	root := doc.Content[0]
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

// Check reports the first option that cannot be what it is.
func (c *Config) Check() error {
	return c.check(func(string) (string, int) { return "", 0 })
}
