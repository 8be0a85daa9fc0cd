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

	"github.com/callwright/callwright/extractor"
	"github.com/callwright/callwright/registry"
	"github.com/callwright/callwright/validator"
)

// Strategy names what a tier does. The names are the specification's.
type Strategy string

// The strategies.
const (
	// StrategyAutoRepair reads broken JSON by other means.
	StrategyAutoRepair Strategy = "auto_repair"
	// StrategyModel asks a model to write a broken call properly.
	StrategyModel Strategy = "llm_assisted_repair"
	// StrategyIntent infers a call from prose.
	StrategyIntent Strategy = "intent_extraction"
	// StrategyPartial takes what is whole of a call that was cut off.
	StrategyPartial Strategy = "partial_execution"
	// StrategyClarification says what a person has to decide or to supply.
	StrategyClarification Strategy = "user_clarification"
)

// Case is a text in which no call was found that can be made.
type Case struct {
	// Text is what is left of the text for the user.
	Text string
	// Model is the name of the model that wrote it, if that is known.
	Model string
	// Tools are those that may be called.
	Tools *registry.Registry
	// Failures are what looked like calls, in the order of the text.
	Failures []Failure
	// Cues say what in the text shows that a call was meant.
	Cues Cues
	// Repairs is how many broken candidates may still be repaired.
	Repairs int
}

// Failure is what looked like a call and is none that can be made.
type Failure struct {
	// Tool is the name of the tool, as far as it is known.
	Tool       string
	Parameters map[string]any
	Raw        string
	Span       [2]int // offsets in bytes
	Provenance extractor.Provenance
	Truncated  bool
	// Broken is the text that could not be read, if that is what failed: the JSON of the
	// whole call, or, with ArgumentsOnly, of its arguments.
	Broken        string
	ArgumentsOnly bool
	Errors        []validator.Error
}

// Proposal is a call that a tier suggests. It is checked like any other call
// before it is made.
type Proposal struct {
	// Failure is the index of the failure that it mends, -1 if it mends none.
	Failure int
	// Tool and Parameters are the call. Where Tool is empty Value is the JSON of a
	// call, in whatever shape; else it stands for the parameters where they are nil.
	Tool       string
	Parameters map[string]any
	Value      any
	// Raw is the text that it stands for, and Span its offsets in bytes.
	Raw  string
	Span [2]int
	// Provenance is how plainly the model meant a call.
	Provenance extractor.Provenance
	Method     extractor.Method
	// Confidence bounds the confidence of the call; 0 sets no bound.
	Confidence float64
	Truncated  bool
	// Inferred says that the model wrote no call: it was inferred from prose.
	Inferred bool
	// Fixes names what was changed.
	Fixes []string
}

// Unreadable reports whether the failure is that nothing could be read.
func (f *Failure) Unreadable() bool { return f.Broken != "" }

// Recovery is what a tier gives.
type Recovery struct {
	Proposals []Proposal
	// Suggestions tell a person what may be done.
	Suggestions []string
	// Input names what only a person can supply, as "tool.parameter" or "tool".
	Input []string
	// Tried says what was tried, in a few words.
	Tried string
}

// Tier is one way to get calls out of a text. It is safe for concurrent use.
type Tier interface {
	Strategy() Strategy
	// Applies reports, without waiting for anything, whether the tier may do
	// something for a case.
	Applies(*Case) bool
	// Recover tries. It must end when its context does.
	Recover(context.Context, *Case) (Recovery, error)
}

// Step is a tier of a chain and the time that it may take.
type Step struct {
	Tier Tier
	// Timeout bounds the tier, within the time that the parse has left; 0 sets no
	// bound of its own.
	Timeout time.Duration
}

// Steps makes steps without bounds of their own.
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

// Plan says what will be tried for a case.
type Plan struct {
	Primary   Strategy   `json:"primary_strategy"`
	Fallbacks []Strategy `json:"fallback_strategies"`
	// EstimatedSuccessRate is how likely it is that one of them gives a call, from
	// 0 to 1: from what they gave so far, or else a judgement.
	EstimatedSuccessRate float64 `json:"estimated_success_rate"`
	// RequiredUserInput names what only a person can supply.
	RequiredUserInput []string `json:"required_user_input,omitempty"`
	// TimeoutMilliseconds is how long all of it may take; 0 means as long as the
	// parse may.
	TimeoutMilliseconds int64 `json:"timeout_ms"`
}

// Attempt is what became of one tier.
type Attempt struct {
	Strategy Strategy `json:"strategy"`
	// Tried says what was tried, Changed what it changed.
	Tried   string   `json:"tried,omitempty"`
	Changed []string `json:"changed,omitempty"`
	// Calls is how many calls it gave.
	Calls int `json:"calls"`
	// Error says why it gave none.
	Error                string `json:"error,omitempty"`
	DurationMicroseconds int64  `json:"duration_us"`
}

// Report is what was planned for a text and what became of it.
type Report struct {
	Plan        *Plan     `json:"plan,omitempty"`
	Attempts    []Attempt `json:"attempts"`
	Suggestions []string  `json:"suggestions,omitempty"`
}
