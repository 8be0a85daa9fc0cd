package adapters

import (
	"regexp"
	"strings"

	"github.com/callwright/callwright/internal/wire"
)

// parseFailure begins how llama.cpp reports an output that it cannot read; the output
// follows.
var parseFailure = regexp.MustCompile(`(?i)failed to parse (?:input|output|tool calls?|generated text)(?: at pos(?:ition)? \d+)?: `)

// generationOf returns what the model wrote, where an error is about a call that the
// provider could not read: Groq's failed_generation, the raw text that Ollama quotes, or
// the input that llama.cpp quotes. It is empty where an error holds none.
func generationOf(o wire.Object, message string) string {
	if raw := o.Get("failed_generation"); !wire.IsNull(raw) {
		if text, ok := wire.String(raw); ok {
			return text
		}
		return string(raw)
	}
	if _, rest, ok := strings.Cut(message, "error parsing tool call: raw='"); ok {
		if i := strings.LastIndex(rest, "', err="); i >= 0 {
			return rest[:i]
		}
		return strings.TrimSuffix(rest, "'")
	}
	if at := parseFailure.FindStringIndex(message); at != nil {
		return message[at[1]:]
	}
	return ""
}
