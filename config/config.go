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
