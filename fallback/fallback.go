// Package fallback recovers calls from text in which the parser found none that can be
// made. It is a [Chain] of tiers: each is tried only if those before it gave no call.
//
// The tiers of the package are [AutoRepair], [ModelRepair], [Intent], [Partial] and
// [Clarification]. A [Tier] of your own can stand anywhere in the chain. What a tier
// proposes is checked like any other call: docs/recovery.md describes the rules.
package fallback

import (
	"context"
	"time"

	"github.com/callwright/callwright/call"
	"github.com/callwright/callwright/registry"
	"github.com/callwright/callwright/validator"
)

// Strategy names what a tier does. The names are the specification's.
type Strategy string

// The strategies.
const (
	// StrategyAutoRepair repairs broken JSON.
	StrategyAutoRepair Strategy = "auto_repair"
	// StrategyModel asks a model to repair a call.
	StrategyModel Strategy = "llm_assisted_repair"
	// StrategyIntent infers a call from prose.
	StrategyIntent Strategy = "intent_extraction"
	// StrategyPartial takes the complete parameters of a call that was cut off.
	StrategyPartial Strategy = "partial_execution"
	// StrategyClarification makes suggestions for a person.
	StrategyClarification Strategy = "user_clarification"
)

// Case is a text without a valid call.
type Case struct {
	// Text is the content: the text without markers and reasoning.
	Text string
	// OtherTurns says that markers of turns stand in the text, so that parts of Text may be
	// somebody else's words.
	OtherTurns bool
	// Model is the name of the model that wrote it, if it is known.
	Model string
	// Tools are the known tools; never nil.
	Tools *registry.Registry
	// Failures are the candidates that are not valid, in the order of the text.
	Failures []Failure
	// Cues say what in the text shows that a call was meant.
	Cues Cues
	// Repairs is how many broken candidates may still be repaired.
	Repairs int
}

// Failure is a candidate that is not a valid call.
type Failure struct {
	// Tool is the name of the tool, if it is known.
	Tool string
	// Parameters are as they were read: without defaults and coercions.
	Parameters map[string]any
	Raw        string
	Span       [2]int // offsets in bytes
	Provenance call.Provenance
	Truncated  bool
	// Broken is the text that could not be read, if that is what failed: the JSON of the
	// whole call, or, with ArgumentsOnly, of its arguments.
	Broken        string
	ArgumentsOnly bool
	Errors        []validator.Error
}

// Proposal is a call that a tier proposes. It is checked like any other call.
type Proposal struct {
	// Failure is the index of the failure that it repairs, -1 if it repairs none.
	Failure int
	// Tool and Parameters are the call. If Tool is empty, Value is the JSON of a call in any
	// shape; if only Parameters is nil, Value is the JSON of the parameters.
	Tool       string
	Parameters map[string]any
	Value      any
	// Raw is the text of the call, and Span its offsets in bytes.
	Raw  string
	Span [2]int
	// Provenance says how the model marked the call.
	Provenance call.Provenance
	Method     call.Method
	// Confidence bounds the confidence of the call; 0 sets no bound.
	Confidence float64
	Truncated  bool
	// CutKey is the beginning of the name of a parameter that the text's end cut off; nil if
	// none was being written. No default may take the place of a parameter of such a name.
	CutKey *string
	// Inferred says that the model wrote no call: it was inferred from prose.
	Inferred bool
	// Fixes are names of the changes that were made.
	Fixes []string
}

// Unreadable reports whether the failure is that nothing could be read.
func (f *Failure) Unreadable() bool { return f.Broken != "" }

// Recovery is the result of a tier.
type Recovery struct {
	Proposals []Proposal
	// Suggestions are for a person.
	Suggestions []string
	// Input is what only a person can supply, as "tool.parameter" or "tool".
	Input []string
	// Tried describes in a few words what was tried.
	Tried string
}

// Tier is one way to recover calls. It must be safe for concurrent use.
type Tier interface {
	// Strategy returns the tier's name.
	Strategy() Strategy
	// Applies reports whether the tier can be tried for a case. It must be quick.
	Applies(*Case) bool
	// Recover returns proposals, or an error that says why there are none. It must return
	// when the context is done.
	Recover(context.Context, *Case) (Recovery, error)
}

// Step is a tier of a chain, with its timeout.
type Step struct {
	Tier Tier
	// Timeout is the maximum duration, within the timeout of the parse; 0 means the latter
	// only.
	Timeout time.Duration
}

// Steps returns steps without timeouts of their own.
func Steps(tiers ...Tier) []Step {
	steps := make([]Step, len(tiers))
	for i, t := range tiers {
		steps[i].Tier = t
	}
	return steps
}

// Default is the default chain of a parser: [AutoRepair] and [Clarification]. Neither
// infers a call, nor asks a model.
func Default() []Step { return Steps(AutoRepair{}, Clarification{}) }

// Plan lists the strategies that will be tried for a case.
type Plan struct {
	Primary   Strategy   `json:"primary_strategy"`
	Fallbacks []Strategy `json:"fallback_strategies"`
	// EstimatedSuccessRate is the estimated probability that one of them gives a call, from
	// 0 to 1: by their success so far, or fixed estimates.
	EstimatedSuccessRate float64 `json:"estimated_success_rate"`
	// RequiredUserInput is what only a person can supply; see [Recovery].
	RequiredUserInput []string `json:"required_user_input,omitempty"`
	// TimeoutMilliseconds is the sum of the timeouts; 0 if a step has none.
	TimeoutMilliseconds int64 `json:"timeout_ms"`
}

// Attempt is the outcome of one tier.
type Attempt struct {
	Strategy Strategy `json:"strategy"`
	// Tried describes what was tried, Changed names the changes.
	Tried   string   `json:"tried,omitempty"`
	Changed []string `json:"changed,omitempty"`
	// Calls is the number of calls that it gave.
	Calls int `json:"calls"`
	// Error says why it gave none.
	Error                string `json:"error,omitempty"`
	DurationMicroseconds int64  `json:"duration_us"`
}

// Report has the plan for a text, and the attempts.
type Report struct {
	Plan        *Plan     `json:"plan,omitempty"`
	Attempts    []Attempt `json:"attempts"`
	Suggestions []string  `json:"suggestions,omitempty"`
}
