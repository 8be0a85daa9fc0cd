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

// Defaults of the options.
const (
	DefaultMaxRepairAttempts = 3
	DefaultTimeout           = 5 * time.Second
	// DefaultModelTimeout is the timeout where the fallbacks ask a model.
	DefaultModelTimeout  = 20 * time.Second
	DefaultMinConfidence = 0.5
	DefaultMaxTextBytes  = 16 << 20
	DefaultMaxCalls      = 128
	DefaultMaxCandidates = 1024
)

// Options say how a parser works. The zero value is the default: repairs and
// fallbacks are used, coercions lose nothing, and calls that the text's end cut
// off are not among the calls to run.
type Options struct {
	// StrictMode takes only calls that needed no repair and no coercion.
	StrictMode bool
	// AllowPartial puts calls that the text's end cut off among the calls, marked
	// as truncated; else they are among the rejected ones.
	AllowPartial bool
	// NoRepairs leaves broken calls unread.
	NoRepairs bool
	// NoFallbacks leaves out what is tried when nothing was found: a look into
	// reasoning that was never closed, and all Fallbacks but repairs where broken
	// calls stand.
	NoFallbacks bool
	// Fallbacks are the tiers that are asked, in this order, where the text shows
	// that a call was meant and none was found; nil means [fallback.Default].
	// StrictMode asks none.
	Fallbacks []fallback.Step
	// MaxRepairAttempts is how many broken candidates of a text are repaired; 0
	// means [DefaultMaxRepairAttempts].
	MaxRepairAttempts int
	// Timeout bounds one parse, fallbacks included; 0 means [DefaultTimeout], or
	// [DefaultModelTimeout] where the fallbacks ask a model; less than 0 none. What
	// waits for a stream's text does not count.
	Timeout time.Duration
	// MinConfidence is the confidence, from 0 to 1, below which a candidate is
	// rejected; 0 means [DefaultMinConfidence].
	MinConfidence float64
	// MaxTextBytes bounds the text; 0 means [DefaultMaxTextBytes].
	MaxTextBytes int
	// MaxCalls is how many calls a text may make; the rest is rejected. 0 means
	// [DefaultMaxCalls].
	MaxCalls int
	// MaxCandidates is how many candidates of a text are looked at; the rest is
	// text. 0 means [DefaultMaxCandidates].
	MaxCandidates int
	// Methods are the ways of finding calls that count; what was found otherwise is
	// text. nil means all.
	Methods []call.Method
	// DropRepeats drops a call that repeats the one right before it exactly.
	DropRepeats bool
	// Validation says how parameters may be changed to fit.
	Validation validator.Options
	// NewID makes the ids of calls that the model gave none; nil makes random
	// ones, "call_" and 24 letters and digits.
	NewID func() string
	// Cache keeps the results of whole texts; nil keeps none. Results of replies and
	// of streams are not kept.
	Cache *Cache
	// CacheDoubtful also keeps results with calls that were inferred or that a model
	// repaired. Those that the text's end cut off, and errors, are never kept.
	CacheDoubtful bool
	// Patterns learn what worked for a model, so that the likeliest is tried first;
	// nil learns nothing.
	Patterns *cache.Patterns
	// Metrics counts what parses come to; nil counts nothing.
	Metrics *metrics.Recorder
	// Logger is told of internal errors; nil tells nobody.
	Logger *slog.Logger
	// Complete has a stream send calls only when they are whole; else it also
	// sends the beginnings of calls and their arguments as they become certain.
	Complete bool
	// Dialects are known besides the built-in ones and before them: ways of writing
	// calls, of setting reasoning apart, of beginning turns. A dialect of a built-in
	// one's name takes its place. [dialect.Parse] reads them from YAML.
	Dialects dialect.Set
}

// ErrOption says that an option has a value it cannot have.
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

// Context is what no text can tell. All of it is optional.
type Context struct {
	// Tenant tells apart those whose texts must not meet in a cache: a hash of their
	// credential, not the credential.
	Tenant string
	// Model is the model's name. It makes some dialects likelier and loses no call.
	Model string
	// Format names a dialect that is expected. It makes it likelier and loses no
	// call.
	Format string
	// Formats names more dialects that are expected, the likeliest first.
	Formats []string
	// ReasoningOpen says that the prompt opened the reasoning: all up to its
	// closing marker is reasoning.
	ReasoningOpen bool
	// Heard are the user's and tools' messages. JSON without a marker that only
	// repeats them is an echo and no call.
	Heard []string
	// Values are the caller's values for parameters that a call leaves out.
	Values map[string]any
}
