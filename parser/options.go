package parser

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/callwright/callwright/cache"
	"github.com/callwright/callwright/call"
	"github.com/callwright/callwright/dialect"
	"github.com/callwright/callwright/fallback"
	"github.com/callwright/callwright/metrics"
	"github.com/callwright/callwright/validator"
)

// Defaults of the [Options].
const (
	DefaultMaxRepairAttempts = 3
	DefaultTimeout           = 5 * time.Second
	DefaultModelTimeout      = 20 * time.Second // where the fallbacks ask a model
	DefaultMinConfidence     = 0.5
	DefaultMaxTextBytes      = 16 << 20
	DefaultMaxCalls          = 128
	DefaultMaxCandidates     = 1024
)

// Options configure a parser. The zero value is the default: repairs and fallbacks are
// used, coercions lose nothing, and calls that the text's end cut off are rejected.
type Options struct {
	// StrictMode rejects calls that needed a repair or a coercion.
	StrictMode bool
	// AllowPartial accepts calls that the text's end cut off, marked as truncated; else
	// they are rejected.
	AllowPartial bool
	// NoRepairs rejects calls that cannot be read as they stand.
	NoRepairs bool
	// NoFallbacks leaves out what is tried when no call was found: reading the calls in
	// reasoning that was never closed, and the Fallbacks, but for repairs of calls where
	// they stand.
	NoFallbacks bool
	// Fallbacks are tried in this order when the text shows that a call was meant and
	// none was found; nil means [fallback.Default]. StrictMode tries none.
	Fallbacks []fallback.Step
	// MaxRepairAttempts is how many broken candidates of a text are repaired; 0
	// means [DefaultMaxRepairAttempts].
	MaxRepairAttempts int
	// Timeout bounds one parse, fallbacks included; 0 means [DefaultTimeout], or
	// [DefaultModelTimeout] where the fallbacks ask a model; less than 0 means none.
	// Waiting for the text of a stream does not count.
	Timeout time.Duration
	// MinConfidence is the confidence, from 0 to 1, below which a candidate is
	// rejected; 0 means [DefaultMinConfidence].
	MinConfidence float64
	// MaxTextBytes bounds the text, and the native arguments of a reply with it; 0 means
	// [DefaultMaxTextBytes]. A longer one is [ErrTextTooLarge].
	MaxTextBytes int
	// MaxCalls is how many calls a text may make; the rest is rejected. 0 means
	// [DefaultMaxCalls].
	MaxCalls int
	// MaxCandidates is how many candidates of a text are looked at; the rest is
	// text. 0 means [DefaultMaxCandidates].
	MaxCandidates int
	// Methods are the ways of finding calls that count; what was found in another way is
	// text. nil means all.
	Methods []call.Method
	// DropRepeats drops a call that is equal to the one right before it.
	DropRepeats bool
	// Validation says how parameters may be changed to fit their schema.
	Validation validator.Options
	// NewID makes ids for calls to which the model gave none. It may be called
	// concurrently. nil makes random ones: "call_" and 24 letters and digits.
	NewID func() string
	// Cache keeps the results of whole texts; nil keeps none. Results of replies and
	// of streams are not kept.
	Cache *Cache
	// CacheDoubtful also keeps results with calls that were inferred or that a model
	// repaired. Results that were cut off, and errors, are never kept.
	CacheDoubtful bool
	// Patterns learn which dialects and repairs work for a model, so that the likeliest
	// is tried first; nil learns nothing.
	Patterns *cache.Patterns
	// Metrics counts parses and their outcomes; nil counts nothing.
	Metrics *metrics.Recorder
	// Logger logs internal errors, without the text; nil logs nothing.
	Logger *slog.Logger
	// Complete makes a stream send calls only when they are whole. By default it sends
	// their beginnings and their arguments as they become certain.
	Complete bool
	// Dialects are known besides the built-in ones and before them: ways of writing
	// calls, of setting reasoning apart, of beginning turns. A dialect of a built-in
	// one's name takes its place. [dialect.Parse] reads them from YAML.
	Dialects dialect.Set
}

// ErrOption says that an option has a value that it cannot have. The error names it.
var ErrOption = errors.New("bad option")

func (o *Options) check() error {
	switch {
	case o.MaxRepairAttempts < 0:
		return fmt.Errorf("%w: MaxRepairAttempts is %d, must be 0 or more", ErrOption, o.MaxRepairAttempts)
	case o.MinConfidence < 0 || o.MinConfidence > 1:
		return fmt.Errorf("%w: MinConfidence is %g, must be from 0 to 1", ErrOption, o.MinConfidence)
	case o.MaxTextBytes < 0, o.MaxCalls < 0, o.MaxCandidates < 0:
		return fmt.Errorf("%w: a limit is less than 0", ErrOption)
	}
	if err := (&fallback.Chain{Steps: o.Fallbacks}).Check(); err != nil {
		return fmt.Errorf("%w: Fallbacks: %w", ErrOption, err)
	}
	if o.MaxRepairAttempts == 0 {
		o.MaxRepairAttempts = DefaultMaxRepairAttempts
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
		for _, s := range o.Fallbacks {
			if s.Tier != nil && s.Tier.Strategy() == fallback.StrategyModel {
				o.Timeout = DefaultModelTimeout
			}
		}
	}
	if o.MinConfidence == 0 {
		o.MinConfidence = DefaultMinConfidence
	}
	if o.MaxTextBytes == 0 {
		o.MaxTextBytes = DefaultMaxTextBytes
	}
	if o.MaxCalls == 0 {
		o.MaxCalls = DefaultMaxCalls
	}
	if o.MaxCandidates == 0 {
		o.MaxCandidates = DefaultMaxCandidates
	}
	return nil
}

// Option changes [Options].
//
// Deprecated: set the field of Options.
type Option func(*Options)

// WithDialects adds dialects to Options.Dialects.
//
// Deprecated: set Options.Dialects.
func WithDialects(rows ...dialect.Row) Option {
	return func(o *Options) { o.Dialects.Dialects = slices.Concat(o.Dialects.Dialects, rows) }
}

// Context is what is known of a text besides the text. The zero value knows nothing.
type Context struct {
	// Tenant separates those whose results must not be shared in a cache. Give a hash
	// of their credential, not the credential.
	Tenant string
	// Model is the model's name. It decides which dialects are tried first; no call is
	// lost by it.
	Model string
	// Format names the dialect that is expected. It is tried first; no call is lost by
	// it.
	Format string
	// Formats names more dialects that are expected, the likeliest first.
	Formats []string
	// ReasoningOpen says that the prompt ended within reasoning: the text is reasoning
	// up to the closing marker.
	ReasoningOpen bool
	// Prompt are the messages of the user and of tools that the model was given. JSON
	// without a marker that only repeats one of them is an echo and not a call.
	Prompt []string
	// Values are the caller's values for parameters that a call leaves out, by name.
	Values map[string]any
}
