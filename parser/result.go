package parser

import (
	"github.com/callwright/callwright/fallback"
	"github.com/callwright/callwright/normalizer"
	"github.com/callwright/callwright/validator"
)

// Call is a tool call that is ready to run: its tool is known, its parameters
// fit the tool's schema, and everything that was changed is listed.
type Call struct {
	normalizer.NormalizedToolCall
	// Coercions are the changes to parameters, such as "3" to 3.
	Coercions []validator.Coercion `json:"coercions"`
	// Defaults are JSON pointers to the parameters that were filled in, such as "/unit".
	Defaults []string `json:"defaults"`
	// Repairs name what was wrong with the text of the call, such as "trailing_comma".
	Repairs []string `json:"repairs"`
	// Warnings say in words what else is worth knowing, such as a name that was read as
	// a similar one.
	Warnings []string `json:"warnings"`
	// Score says what the confidence is made of.
	Score Score `json:"-"`

	madeID bool // the parser made its id
}

// score gives a call its score.
func (c *Call) score(s Score) { c.Score, c.Confidence = s, s.Overall }

// Result is what a text or a reply says.
type Result struct {
	// ID is for the caller to set.
	ID string `json:"id,omitempty"`
	// Success says that there is at least one call.
	Success bool `json:"success"`
	// Calls are the calls, in the order of the text; of a reply in the order of its
	// parts.
	Calls []Call `json:"calls"`
	// Rejected are candidates that are not calls, or not calls to run, with the reasons.
	Rejected []Rejected `json:"rejected"`
	// Content is the text for the user, without calls, reasoning and markers.
	Content string `json:"content"`
	// Reasoning is the model's reasoning, without its markers.
	Reasoning string `json:"reasoning"`
	// Repaired says that something was repaired to read the calls.
	Repaired bool `json:"repaired"`
	// Truncated says that the text or the reply was cut off.
	Truncated bool `json:"truncated"`
	// Strategy names what found the calls if reading did not: a [fallback.Strategy],
	// "open_reasoning" or "known_issue".
	Strategy string `json:"strategy"`
	// Warnings are codes of what is worth knowing of the text as a whole: "invalid_utf8",
	// "invented_result_dropped", "repeat_dropped", "too_many_candidates",
	// "arguments_trailing", "text_too_large", "internal_error", or "known_issue: " and an
	// issue of the model.
	Warnings []string `json:"warnings"`
	// Dropped are the stretches of the text that are neither content nor
	// reasoning nor a call: markers, invented results, white space around calls.
	Dropped []Dropped `json:"dropped,omitempty"`
	// Cached says that the result comes from the cache.
	Cached bool `json:"cached,omitempty"`
	// Recovery says what was tried where reading alone gave no call, and what a
	// person may do; nil if nothing was tried.
	Recovery *fallback.Report `json:"recovery,omitempty"`
	// Reply has the other fields of the provider's reply; nil for a text.
	Reply *ReplyInfo `json:"reply,omitempty"`
	// DurationMicroseconds is how long the parse took.
	DurationMicroseconds int64 `json:"duration_us"`
}

// Dropped is a stretch of text that is neither content nor reasoning nor a call.
type Dropped struct {
	Span [2]int     `json:"span"` // offsets in bytes
	Why  DropReason `json:"why"`
}

// DropReason says what text was dropped as.
type DropReason string

// The reasons for dropping text.
const (
	DroppedWhiteSpace          DropReason = "white space" // around calls
	DroppedTurnMarker          DropReason = "turn marker"
	DroppedSectionMarker       DropReason = "section marker" // around several calls
	DroppedDoubledMarker       DropReason = "doubled marker"
	DroppedClosingMarker       DropReason = "closing marker" // that nothing opened
	DroppedReasoningMarker     DropReason = "reasoning marker"
	DroppedMessageHeader       DropReason = "message header"
	DroppedWrapper             DropReason = "wrapper" // a tag around the visible text
	DroppedFence               DropReason = "fence"   // of Markdown, around calls
	DroppedNoCall              DropReason = "no call" // the model says that it calls no tool
	DroppedInventedResult      DropReason = "invented tool result"
	DroppedInventedObservation DropReason = "invented observation"
)
