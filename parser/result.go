package parser

import (
	"github.com/callwright/callwright/fallback"
	"github.com/callwright/callwright/normalizer"
	"github.com/callwright/callwright/validator"
)

// Call is a tool call that is ready to run: its tool is known, its parameters
// fit the tool's schema, and all that was changed is listed.
type Call struct {
	normalizer.NormalizedToolCall
	// Coercions are the changes to parameters, Defaults the JSON pointers to those
	// that were filled in, Repairs what the text was read through.
	Coercions []validator.Coercion `json:"coercions"`
	Defaults  []string             `json:"defaults"`
	Repairs   []string             `json:"repairs"`
	Warnings  []string             `json:"warnings"`
	// Score says what the confidence is made of.
	Score Score `json:"-"`

	madeID bool
}

// score gives a call its score.
func (c *Call) score(s Score) { c.Score, c.Confidence = s, s.Overall }

// Result is what a text says.
type Result struct {
	ID string `json:"id,omitempty"`
	// Success says that there is at least one call.
	Success bool `json:"success"`
	// Calls are the calls, in the order of the text.
	Calls []Call `json:"calls"`
	// Rejected are candidates that are no calls, with the reasons.
	Rejected []Rejected `json:"rejected"`
	// Content is what the model says to the user, Reasoning what it says to itself.
	Content   string `json:"content"`
	Reasoning string `json:"reasoning"`
	// Repaired says that something was repaired to read the calls.
	Repaired bool `json:"repaired"`
	// Truncated says that the text was cut off.
	Truncated bool `json:"truncated"`
	// Strategy names the fallback that found the calls, if one did: a
	// [fallback.Strategy], "open_reasoning" or "known_issue".
	Strategy string   `json:"strategy"`
	Warnings []string `json:"warnings"`
	// Dropped are the stretches of the text that are neither content nor
	// reasoning nor a call: markers, invented results, white space around calls.
	Dropped []Dropped `json:"dropped,omitempty"`
	// Cached says that the text was parsed before.
	Cached bool `json:"cached,omitempty"`
	// Recovery says what was tried where reading alone gave no call, and what a
	// person may do.
	Recovery *fallback.Report `json:"recovery,omitempty"`
	// Reply is what the provider's reply said besides, where there was one.
	Reply *ReplyInfo `json:"reply,omitempty"`
	// DurationMicroseconds is how long the parse took.
	DurationMicroseconds int64 `json:"duration_us"`
}

// Dropped is a stretch of text that no one is to see.
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
