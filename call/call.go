// Package call has the words for tool calls that all other packages share: what a
// call is, how it was found, and what speaks for it.
//
//	c := call.Call{ID: "call_1", Tool: "get_weather", Parameters: map[string]any{"city": "Rome"}}
package call

import "time"

// Call is one tool call, whatever it was written as.
type Call struct {
	// ID is the one that the model gave, or one that was made; unique in a result.
	ID string `json:"id"`
	// Tool is the name of the tool, as the registry has it.
	Tool string `json:"tool"`
	// Parameters are the arguments: map[string]any, []any, string, json.Number,
	// bool and nil, as decoded JSON.
	Parameters map[string]any `json:"parameters"`
	// Confidence is how likely it is that the model meant this call, from 0 to 1.
	Confidence   float64    `json:"confidence"`
	SourceFormat Format     `json:"source_format"`
	Provenance   Provenance `json:"provenance"`
	// Raw is the text of the call, and Span its offsets in bytes.
	Raw  string `json:"raw"`
	Span [2]int `json:"span"`
	// Truncated says that the text ended inside the call.
	Truncated bool `json:"truncated"`
	// Inferred says that the call was not said but concluded.
	Inferred bool     `json:"inferred"`
	Metadata Metadata `json:"metadata"`
}

// Metadata says how a call was found.
type Metadata struct {
	Model         string    `json:"model,omitempty"`
	Timestamp     time.Time `json:"timestamp,omitzero"`
	ParsingMethod Method    `json:"parsing_method"`
	// Server is the MCP server that the call names.
	Server string `json:"server,omitempty"`
}

// Text is a value whose type nothing tells but the tool's schema: the text between the
// tags of a parameter, say. To a parameter that takes a string it is that string; to one
// that takes a number, what it says as a number. Parsed results hold none.
type Text string

// Format names the shape of JSON in which a call was found. Calls between a
// dialect's markers have the dialect's name as their format.
type Format string

// The formats.
const (
	ClaudeToolUse      Format = "claude_tool_use"
	OpenAIFunctionCall Format = "openai_function_call"
	AnthropicBetaTools Format = "anthropic_beta_tools"
	OllamaJSON         Format = "ollama_json"
	GeminiFunctionCall Format = "gemini_function_call"
	CustomStructured   Format = "custom_structured"
	MarkdownJSON       Format = "markdown_json"
	PlainText          Format = "plain_text"
	Unknown            Format = "unknown"
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
	InReasoning  bool   `json:"in_reasoning,omitempty"`  // it stands in reasoning
	MissingOpen  bool   `json:"missing_open,omitempty"`  // its opening marker is missing
	MissingClose bool   `json:"missing_close,omitempty"` // its closing marker is missing
	ForeignClose bool   `json:"foreign_close,omitempty"` // another marker closes it
	Inline       bool   `json:"inline,omitempty"`        // it is inline code, in back quotes
	Guess        bool   `json:"guess,omitempty"`         // its name or a key had to be guessed
	Fence        string `json:"fence,omitempty"`         // the info string of the fence around it, "-" for none
	// Act is the probability, from 0 to 1, that the call is made and not only spoken of,
	// by what stands around it.
	Act float64 `json:"act"`
	// Trained says that it stands behind an opening marker that models are trained to
	// emit, whole, outside of fences and reasoning.
	Trained bool `json:"trained,omitempty"`
}

// Add adds what speaks for or against the construct around a candidate.
func (e *Evidence) Add(f Evidence) {
	e.Whole = e.Whole || f.Whole
	e.LineStart = e.LineStart || f.LineStart
	e.InReasoning = e.InReasoning || f.InReasoning
	e.MissingOpen = e.MissingOpen || f.MissingOpen
	e.MissingClose = e.MissingClose || f.MissingClose
	e.ForeignClose = e.ForeignClose || f.ForeignClose
	e.Inline = e.Inline || f.Inline
	e.Guess = e.Guess || f.Guess
	e.Trained = e.Trained || f.Trained
	if e.Fence == "" {
		e.Fence = f.Fence
	}
}
