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
	Mistral: true,
	Format: adapters.Format{
		Name: Name, ShortNames: []string{"mistral"}, FlavorOf: openai.ChatName, IDs: adapters.IDRule{Exact: 9, Letters: true},
		Paths: []string{"/v1/chat/completions"},
		Carries: adapters.Carries{
			ID: true, Model: true, Created: true, Choices: true, Reasoning: true, CallIDs: true, Usage: true, CachedTokens: true,
			ReasoningTokens: true,
		},
		CarriesRequest: adapters.CarriesRequest{
			Model: true, Turns: true, Tools: true, ToolChoice: true, NamedTool: true, ParallelCalls: true, Choices: true, Stop: true, Seed: true,
			Penalties: true, Schema: true, SchemaName: true,
		},
	},
})
