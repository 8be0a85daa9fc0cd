// Package mistral has the wire format of Mistral's chat completions: OpenAI's with
// parts of thinking in the content, and ids of nine letters and digits.
package mistral

import (
	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/openai"
)

// Name is the name of the format.
const Name = "mistral_chat"

// Chat is POST /v1/chat/completions (Mistral's API reference, "Chat").
var Chat = openai.NewChat(openai.Flavor{
	Name: Name, Version: "v1", Mistral: true, IDs: adapters.IDRule{Exact: 9, Letters: true},
	Carries: adapters.Carries{ID: true, Model: true, Created: true, Choices: true, Reasoning: true, CallIDs: true, Usage: true, CachedTokens: true, ReasoningTokens: true},
})
