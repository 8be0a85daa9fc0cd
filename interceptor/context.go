package interceptor

import (
	"fmt"
	"unicode/utf8"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/ollama"
	"github.com/callwright/callwright/internal/wire"
)

// NOTE: Ollama cuts off a prompt that is longer than the context with which it loaded the
// model, without a word: the tools, which stand first, are lost. So it is asked for a
// context that holds the prompt. Each other size loads the model again: there are few.

const (
	// leastContext is the context that an Ollama server has in any case, in tokens (its FAQ,
	// "How can I specify the context window size?").
	leastContext = 4096
	// leastAnswer is the room for an answer where the client does not bound it, in tokens.
	leastAnswer = 1024
	// mediaTokens is about what an image costs.
	mediaTokens = 1000
)

// contextHeader is the response header with the context that a server was asked for.
const contextHeader = "Callwright-Context"

// estimate is about how many tokens a request takes, the tools included: four bytes of
// ASCII a token, and one for each other character, since few tokens hold more of those.
func estimate(r *adapters.Request) int {
	letters, others, tokens := 0, 0, 0
	count := func(s string) {
		runes := utf8.RuneCountInString(s)
		foreign := (len(s) - runes + 1) / 2 // characters of more than one byte have two or three
		letters, others = letters+runes-min(foreign, runes), others+min(foreign, runes)
	}
	for i := range r.Messages {
		tokens += 4 // for its role and what separates it
		for j := range r.Messages[i].Blocks {
			switch b := &r.Messages[i].Blocks[j]; {
			case b.Call != nil:
				count(b.Call.Name)
				count(b.Call.Arguments)
			case b.Result != nil:
				count(b.Result.Text)
				tokens += mediaTokens * len(b.Result.Media)
			case b.Media != nil:
				tokens += mediaTokens
			default:
				count(b.Text)
			}
		}
	}
	for i := range r.Tools {
		t := &r.Tools[i]
		tokens += 8
		count(t.Name)
		count(t.Description)
		count(string(t.Parameters))
	}
	return tokens + others + (letters+bytesPerToken-1)/bytesPerToken
}

// contextFor returns the context that an Ollama server needs for a request, in tokens: a
// power of two, at most the limit. It is 0 where what every server has is enough.
func contextFor(r *adapters.Request, limit int) int {
	wanted := estimate(r)
	wanted += wanted/10 + max(int(min(r.MaxTokens, int64(limit))), leastAnswer) // it is an estimate
	if limit <= leastContext || wanted <= leastContext {
		return 0
	}
	size := 2 * leastContext
	for size < wanted && size < limit {
		size *= 2
	}
	return min(size, limit)
}

// chooseContext turns to Ollama's own format where the context has to be said: its
// OpenAI-compatible interface has no word for it.
func (x *exchange) chooseContext() {
	if x.kind != ollama.Chat.Servers[0] || x.server == ollama.Chat || x.req.Choices > 1 || contextFor(x.req, x.s.c.Server.MaxContext) == 0 {
		return
	}
	for i := range x.req.Messages {
		for _, b := range x.req.Messages[i].Blocks {
			if b.Media != nil && b.Media.Data == "" { // it takes no addresses
				return
			}
		}
	}
	x.server = ollama.Chat
}

// withContext returns a request to an Ollama server with the context that it needs, if the
// client does not say one itself.
func (x *exchange) withContext(r *adapters.Request) *adapters.Request {
	size := contextFor(r, x.s.c.Server.MaxContext)
	if size == 0 {
		return r
	}
	members := wire.Object(nil)
	if r.Extra.Format == ollama.ChatName {
		members = wire.Object(r.Extra.Clone().Members)
	}
	options := members.TakeObject("options")
	if options.Has("num_ctx") {
		return r
	}
	options.SetInt("num_ctx", int64(size))
	members.SetObject("options", options)
	out := *r
	out.Extra = adapters.ExtraOf(ollama.ChatName, members)
	x.w.Header().Set(contextHeader, fmt.Sprint(size))
	return &out
}
