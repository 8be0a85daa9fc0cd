// Package adapters reads replies and requests of providers' APIs into one neutral [Reply]
// and [Request], and writes them in any [Format], whole and streamed as [Event]s.
//
// The formats are in the packages below this one, such as adapters/openai;
// adapters/formats lists them and detects the format of a reply. What a format has no
// words for is lost in it: its [Carries] and [CarriesRequest] say what. Members that are
// not known are kept in an [Extra], and written again in the same format.
//
// The package also has what is known of models ([Models]), and writes conversations with
// calls as plain text ([PlainMessages]).
package adapters

import (
	"strings"
	"time"
)

// Reply is a model's reply, independent of the wire format.
type Reply struct {
	// Format is the name of the wire format that it was read from.
	Format string
	ID     string
	Model  string
	// Created is the time of the reply, to the second; zero if the format does not say.
	Created time.Time
	// Choices are the alternative answers, at most [MaxChoices]; usually there is one.
	Choices []Choice
	// Usage is nil if the format does not say.
	Usage *Usage
	Extra Extra
}

// Choice is one of a reply's alternative answers.
type Choice struct {
	Blocks []Block
	Finish FinishReason
	// StopSequence is the stop sequence that ended the reply, if the format says it.
	StopSequence string
	Extra        Extra
}

// BlockType is the type of a block.
type BlockType string

// The types of blocks.
const (
	BlockText      BlockType = "text"
	BlockReasoning BlockType = "reasoning"
	BlockCall      BlockType = "call"
	BlockResult    BlockType = "result"
	BlockRefusal   BlockType = "refusal"
	BlockMedia     BlockType = "media"
	// BlockOther is a block that only its own format knows. Its Extra is the whole block.
	BlockOther BlockType = "other"
)

// Block is a part of a message. Its Type says which of the fields are set.
type Block struct {
	Type BlockType
	// Text is the text of BlockText, BlockReasoning and BlockRefusal.
	Text string
	// Signature belongs to reasoning or a call, and has to be sent back to the provider
	// with it: Anthropic's signature or redacted data, Gemini's thought signature, the
	// encrypted content of OpenAI's responses.
	Signature string
	Call      *Call
	Result    *ToolResult
	Media     *Media
	// NativeName is the format's own name for the block, if it has several for one type:
	// "tool_plan" for reasoning in Cohere's chat.
	NativeName string
	Extra      Extra
}

// Call is a call in a provider's field for calls.
type Call struct {
	ID   string
	Name string
	// Arguments are JSON as the model wrote it: usually an object, but it may be invalid.
	// Those of a custom tool are text.
	Arguments string
	// Custom says that the tool takes free text.
	Custom bool
	// Truncated says that the reply was cut off within this call, or right behind it.
	Truncated bool
}

// ToolResult is the result of a tool.
type ToolResult struct {
	CallID string
	Name   string // of the tool, if the format says it
	Text   string
	// Media are images and the like beside the text.
	Media   []Media
	IsError bool
}

// Media is an image, audio or a document, by its data or its URL.
type Media struct {
	// MIMEType is the type, such as "image/png"; empty if only the URL is known.
	MIMEType string
	Data     string // base64
	URL      string
	Name     string // of a document's file
}

// FinishReason is the reason why a reply ended.
type FinishReason string

// The reasons.
const (
	FinishStop     FinishReason = "stop"
	FinishCalls    FinishReason = "tool_calls"
	FinishLength   FinishReason = "length"
	FinishSequence FinishReason = "stop_sequence"
	FinishFilter   FinishReason = "content_filter"
	FinishPause    FinishReason = "pause"
	FinishError    FinishReason = "error"
)

// Usage counts tokens.
type Usage struct {
	// InputTokens are all tokens of the prompt, those read from and written to a cache
	// included.
	InputTokens int64 `json:"input_tokens"`
	// OutputTokens are all tokens that the model made, reasoning included.
	OutputTokens int64 `json:"output_tokens"`
	// CachedTokens were read from a cache, CacheWriteTokens written to one.
	CachedTokens     int64 `json:"cached_tokens,omitempty"`
	CacheWriteTokens int64 `json:"cache_write_tokens,omitempty"`
	ReasoningTokens  int64 `json:"reasoning_tokens,omitempty"`
	Extra            Extra `json:"-"`
}

// Add adds the usage of another answer.
func (u *Usage) Add(o *Usage) {
	u.InputTokens += o.InputTokens
	u.OutputTokens += o.OutputTokens
	u.CachedTokens += o.CachedTokens
	u.CacheWriteTokens += o.CacheWriteTokens
	u.ReasoningTokens += o.ReasoningTokens
}

// First is the first choice; an empty one if there is none.
func (r *Reply) First() Choice {
	if len(r.Choices) == 0 {
		return Choice{}
	}
	return r.Choices[0]
}

// Text is the text of the first choice.
func (r *Reply) Text() string { return JoinText(r.First().Blocks, BlockText) }

// Reasoning is the reasoning of the first choice.
func (r *Reply) Reasoning() string { return JoinText(r.First().Blocks, BlockReasoning) }

// JoinText joins the text of the blocks of a type.
func JoinText(blocks []Block, t BlockType) string {
	var one string
	var b strings.Builder
	for i := range blocks {
		if blocks[i].Type != t || blocks[i].Text == "" {
			continue
		}
		if one == "" && b.Len() == 0 {
			one = blocks[i].Text
			continue
		}
		if one != "" {
			b.WriteString(one)
			one = ""
		}
		b.WriteString(blocks[i].Text)
	}
	if one != "" {
		return one
	}
	return b.String()
}

// Calls are the calls of the first choice.
func (r *Reply) Calls() []*Call { return calls(r.First().Blocks) }

func calls(blocks []Block) []*Call {
	var out []*Call
	for i := range blocks {
		if blocks[i].Type == BlockCall {
			out = append(out, blocks[i].Call)
		}
	}
	return out
}

// Normalize makes a reply's reason of the end fit what the reply holds, and returns the
// reply. Where there are calls, "stop" becomes "tool_calls". Where a limit cut the reply
// off, its last call is marked as truncated.
func (r *Reply) Normalize() *Reply {
	for i := range r.Choices {
		c := &r.Choices[i]
		called := calls(c.Blocks)
		switch {
		case len(called) > 0 && c.Finish == FinishStop:
			c.Finish = FinishCalls
		case len(called) == 0 && c.Finish == FinishCalls && c.Extra.Format == "":
			c.Finish = FinishStop
		}
		if last := len(c.Blocks) - 1; c.Finish == FinishLength && last >= 0 && c.Blocks[last].Type == BlockCall {
			c.Blocks[last].Call.Truncated = true
		}
	}
	return r
}
