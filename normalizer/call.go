// Package normalizer turns the shapes that calls come in, as JSON, into one.
package normalizer

import (
	"time"

	"github.com/callwright/callwright/call"
)

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

// NormalizedToolCall is one call, whatever it was written as.
type NormalizedToolCall struct {
	// ID is the one that the model gave, or one that was made; unique in a result.
	ID string `json:"id"`
	// Tool is the name of the tool, as the registry has it.
	Tool string `json:"tool"`
	// Parameters are the arguments: map[string]any, []any, string, json.Number,
	// bool and nil, as decoded JSON.
	Parameters map[string]any `json:"parameters"`
	// Confidence is how likely it is that the model meant this call, from 0 to 1.
	Confidence   float64         `json:"confidence"`
	SourceFormat Format          `json:"source_format"`
	Provenance   call.Provenance `json:"provenance"`
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
	Model         string      `json:"model,omitempty"`
	Timestamp     time.Time   `json:"timestamp,omitzero"`
	ParsingMethod call.Method `json:"parsing_method"`
	// Server is the MCP server that the call names.
	Server string `json:"server,omitempty"`
}
