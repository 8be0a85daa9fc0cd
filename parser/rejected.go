package parser

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/callwright/callwright/call"
	"github.com/callwright/callwright/internal/text"
	"github.com/callwright/callwright/registry"
	"github.com/callwright/callwright/validator"
)

// Rejected is what looked like a call and is none, or none that can be run.
type Rejected struct {
	Tool       string          `json:"tool"`
	ID         string          `json:"id,omitempty"`
	Parameters map[string]any  `json:"parameters,omitempty"`
	Confidence float64         `json:"confidence"`
	Truncated  bool            `json:"truncated,omitempty"`
	Format     call.Format     `json:"source_format,omitempty"`
	Provenance call.Provenance `json:"provenance,omitempty"`
	Raw        string          `json:"raw,omitempty"`
	Span       [2]int          `json:"span"`
	// Extent are the offsets of all that was taken out of the content with it, its
	// markers included; zero if nothing was.
	Extent [2]int `json:"-"`
	// Errors say why, at least one; the first is the [Rejected.Reason].
	Errors []validator.Error `json:"errors"`
	Score  Score             `json:"-"`

	tool   *registry.Tool // that was meant
	broken string         // what could not be read
	named  bool           // broken are the arguments alone
	// What was changed in Parameters, see [Call].
	coercions []validator.Coercion
	defaults  []string
}

// Codes of rejection, besides those of the validator.
const (
	CodeTruncated      validator.Code = "truncated"       // the text ends inside the call
	CodeMalformed      validator.Code = "malformed"       // it cannot be read
	CodeInReasoning    validator.Code = "in_reasoning"    // it was considered, not made
	CodeLowConfidence  validator.Code = "low_confidence"  // see Options.MinConfidence
	CodeMarkerRequired validator.Code = "marker_required" // its tool takes only marked calls
	CodeEcho           validator.Code = "echo"            // it repeats what the model was told
	CodeExpression     validator.Code = "expression"      // an argument is code
	CodeTooManyCalls   validator.Code = "too_many_calls"  // see Options.MaxCalls
	CodeStrict         validator.Code = "strict_mode"     // it needed repairs; see Options.StrictMode
)

// Reason is the code of the first of the errors: why it was rejected.
func (r *Rejected) Reason() validator.Code {
	if len(r.Errors) == 0 {
		return ""
	}
	return r.Errors[0].Code
}

// Meant reports whether the model meant a call, which went wrong, so that it should hear
// of it. A call that it only considered, told of or repeated was not meant, nor was bare
// JSON for a tool that takes only marked calls.
func (r *Rejected) Meant() bool {
	switch r.Reason() {
	case "", CodeInReasoning, CodeLowConfidence, CodeEcho, CodeMarkerRequired:
		return false
	}
	return true
}

// recoverable reports whether a fallback may make the call after all: it was meant, and no
// rule forbids it.
func (r *Rejected) recoverable() bool {
	switch r.Reason() {
	case CodeExpression, CodeTooManyCalls, CodeStrict:
		return false
	}
	return r.Meant()
}

// rejectedOf rejects a call, or as much of one as is known.
func rejectedOf(call *Call, errs ...validator.Error) Rejected {
	return Rejected{
		Tool: call.Tool, ID: call.ID, Parameters: call.Parameters, Confidence: call.Confidence, Truncated: call.Truncated,
		Format: call.SourceFormat, Provenance: call.Provenance, Raw: call.Raw, Span: call.Span, Errors: errs, Score: call.Score,
		coercions: call.Coercions, defaults: call.Defaults,
	}
}

// inReasoning is why a call that stands in reasoning is not made.
var inReasoning = validator.Error{Code: CodeInReasoning, Message: "the call stands in reasoning: it was considered, not made"}

// quote quotes a text for a message, its first 80 bytes.
func quote(s string) string { return strconv.Quote(text.Clip(s, 80)) }

// Feedback writes what is wrong with the rejected calls that were meant as a message
// that a model can act on: each with its errors, what may be done about them, and the
// tool's signature. It is empty if nothing is wrong.
func (r *Result) Feedback() string {
	var b strings.Builder
	for i := range r.Rejected {
		x := &r.Rejected[i]
		if !x.Meant() {
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
				b.WriteString(": " + quote(x.Raw))
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
