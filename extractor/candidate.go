package extractor

import (
	"github.com/callwright/callwright/internal/lenient"
)

// Method names how a candidate was found. The names are the specification's;
// they do not say that a regular expression was at work.
type Method string

// The methods.
const (
	MethodFullJSON  Method = "regex_full_json"    // the text is JSON and nothing else
	MethodPartial   Method = "regex_partial"      // JSON that is cut off or was repaired
	MethodBalanced  Method = "ast_balanced"       // balanced JSON within other text
	MethodCodeblock Method = "markdown_codeblock" // in a Markdown fence
	MethodAssisted  Method = "llm_assisted"       // repaired by a model
	MethodDialect   Method = "dialect"            // between a dialect's markers
	MethodNative    Method = "native"             // in a provider's own field
	MethodIntent    Method = "intent"             // concluded from words
)

// Provenance says how plainly the model meant a call.
type Provenance string

// The provenances.
const (
	Native Provenance = "native" // the provider's own field for tool calls
	Marked Provenance = "marked" // a dialect's marker
	Bare   Provenance = "bare"   // it merely looks like a call
)

// Evidence is what speaks for or against a candidate besides what it says.
type Evidence struct {
	Whole        bool   `json:"whole,omitempty"`         // the text is nothing else
	LineStart    bool   `json:"line_start,omitempty"`    // it begins a line
	Example      bool   `json:"example,omitempty"`       // the words before it announce an example
	Intent       bool   `json:"intent,omitempty"`        // the words before it announce an act
	Quoted       bool   `json:"quoted,omitempty"`        // it stands in quotes, or within a sentence that goes on
	InReasoning  bool   `json:"in_reasoning,omitempty"`  // it stands in reasoning
	MissingOpen  bool   `json:"missing_open,omitempty"`  // its opening marker is missing
	MissingClose bool   `json:"missing_close,omitempty"` // its closing marker is missing
	ForeignClose bool   `json:"foreign_close,omitempty"` // another marker closes it
	Guess        bool   `json:"guess,omitempty"`         // its name or a key had to be guessed
	Fence        string `json:"fence,omitempty"`         // the info string of the fence around it, "-" for none

	midSentence bool // text stands before it on its line that ends no sentence
}

// Candidate is a stretch of text that may be a call, or several.
type Candidate struct {
	Method     Method
	Provenance Provenance
	// Dialect is the row by which it was read; nil for JSON without markers.
	Dialect *Dialect
	// Start and End are its offsets in the text, in bytes, markers included.
	Start, End int
	// Raw is the text from Start to End.
	Raw string

	// Value is the JSON that was read, where what the call says is inside it.
	Value any
	// Name, ID and Arguments are what the dialect says outside of JSON; Named
	// says that they hold and Value does not.
	Named     bool
	Name, ID  string
	Arguments any
	// Positional are arguments without names, for the tool's parameter order.
	Positional []any

	// Fixes are the departures from the form that were read through.
	Fixes lenient.Fixes
	// Truncated says that the text ended inside the call's arguments.
	Truncated bool
	// Err says why it could not be read; a repair of Raw may help.
	Err error

	Evidence Evidence
}

// Sink takes what a [Scanner] finds, in the order of the text.
type Sink interface {
	// Content takes text that is the model's answer.
	Content(text string)
	// Reasoning takes text that is the model's reasoning.
	Reasoning(text string)
	// Candidate takes what may be a call and reports whether it was taken: if
	// not, its text is content.
	Candidate(c *Candidate) (taken bool)
	// Abandoned says that the call that [Scanner.Partial] showed came to nothing.
	Abandoned()
	// Recast says that all content so far was reasoning.
	Recast()
	// Unclosed says that the reasoning handed on was never closed.
	Unclosed()
	// Draft says that a call stands in closed reasoning, at an offset: the model
	// considered it and did not make it.
	Draft(d *Dialect, at int)
	// Dropped takes the offsets of text that is neither: a marker, a tool's
	// result that the model made up.
	Dropped(from, to int, why string)
}

// Partial is a call that is being read, for looking at it while its text is
// still arriving.
type Partial struct {
	Name, ID string
	// Call reads a JSON value in which the call's name and arguments stand.
	Call *lenient.Reader
	// Arguments reads the arguments alone.
	Arguments *lenient.Reader
	// Keys and Values are the parameters that are whole, where they are not JSON.
	Keys   []string
	Values map[string]any
	// OpenKey is the parameter whose raw text is being read; its text from
	// OpenFrom to OpenSafe is certain.
	OpenKey            string
	OpenFrom, OpenSafe int
	// OpenRaw says that the open text is taken byte for byte, without cutting
	// newlines off its ends.
	OpenRaw bool
	// Marked says that a marker opened the call, and Doubtful that what stands
	// around it speaks against it.
	Marked, Doubtful bool
	// Close are the markers that may close it.
	Close []string
}
