package parser

import (
	"fmt"
	"strings"

	"github.com/callwright/callwright/call"
	"github.com/callwright/callwright/fallback"
	"github.com/callwright/callwright/normalizer"
	"github.com/callwright/callwright/registry"
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

// Rejected is what looked like a call and is none, or none that can be run.
type Rejected struct {
	Tool       string            `json:"tool"`
	ID         string            `json:"id,omitempty"`
	Parameters map[string]any    `json:"parameters,omitempty"`
	Confidence float64           `json:"confidence"`
	Truncated  bool              `json:"truncated,omitempty"`
	Format     normalizer.Format `json:"source_format,omitempty"`
	Provenance call.Provenance   `json:"provenance,omitempty"`
	Raw        string            `json:"raw,omitempty"`
	Span       [2]int            `json:"span"`
	// Extent are the offsets of all that was taken out of the content with it, its
	// markers included; zero if nothing was.
	Extent [2]int            `json:"-"`
	Errors []validator.Error `json:"errors"`
	Score  Score             `json:"-"`

	tool   *registry.Tool // that was meant
	broken string         // what could not be read
	named  bool           // broken are the arguments alone
}

// rejectedOf rejects a call, or as much of one as is known.
func rejectedOf(call *Call, errs ...validator.Error) Rejected {
	return Rejected{
		Tool: call.Tool, ID: call.ID, Parameters: call.Parameters, Confidence: call.Confidence, Truncated: call.Truncated, Format: call.SourceFormat,
		Provenance: call.Provenance, Raw: call.Raw, Span: call.Span, Errors: errs, Score: call.Score,
	}
}

// inReasoning is why a call that stands in reasoning is not made.
var inReasoning = validator.Error{Code: CodeInReasoning, Message: "the call stands in reasoning: it was considered, not made"}

// score gives a call its score.
func (c *Call) score(s Score) { c.Score, c.Confidence = s, s.Overall }

// Codes of rejection, besides those of the validator.
const (
	CodeTruncated      validator.Code = "truncated"
	CodeMalformed      validator.Code = "malformed"
	CodeInReasoning    validator.Code = "in_reasoning"
	CodeLowConfidence  validator.Code = "low_confidence"
	CodeMarkerRequired validator.Code = "marker_required"
	CodeEcho           validator.Code = "echo"
	CodeExpression     validator.Code = "expression"
	CodeTooManyCalls   validator.Code = "too_many_calls"
	CodeStrict         validator.Code = "strict_mode"
)

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
	Span [2]int `json:"span"` // offsets in bytes
	Why  string `json:"why"`
}

func clip(s string) string {
	if len(s) > 80 {
		return strings.ToValidUTF8(s[:80], "") + "…"
	}
	return s
}

// Feedback writes what is wrong with the rejected calls as a message that a
// model can act on. It is empty if nothing is wrong.
func (r *Result) Feedback() string {
	var b strings.Builder
	for i := range r.Rejected {
		x := &r.Rejected[i]
		if len(x.Errors) == 0 || x.Errors[0].Code == CodeInReasoning || x.Errors[0].Code == CodeLowConfidence {
			continue
		}
		name := x.Tool
		if name == "" {
			name = "(no name)"
		}
		fmt.Fprintf(&b, "The call of %s was not made:\n", name)
		for _, e := range x.Errors {
			b.WriteString("- ")
			if e.Path != "" {
				b.WriteString(e.Path + ": ")
			}
			b.WriteString(e.Message)
			if e.SuggestedFix != "" {
				if e.Code == validator.UnknownTool {
					fmt.Fprintf(&b, " (did you mean %q?)", e.SuggestedFix)
				} else {
					fmt.Fprintf(&b, " (%s)", e.SuggestedFix)
				}
			}
			if e.Code == CodeMalformed {
				fmt.Fprintf(&b, ": %q", clip(x.Raw))
			}
			b.WriteString("\n")
		}
		if x.tool != nil {
			fmt.Fprintf(&b, "It is called so: %s\n", x.tool.Signature())
		}
	}
	if b.Len() > 0 {
		b.WriteString("Correct the call and make it again.")
	}
	return b.String()
}
