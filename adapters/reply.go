// Package adapters turns what providers send into one neutral [Reply], and what
// clients ask into one neutral [Request], and both back into any wire format,
// whole and streamed. The formats themselves are in the packages below it;
// adapters/formats has the list of them.
//
// What a format has no word for is lost in it: docs/wire-formats.md has the table.
// Members that a format has and we do not know are kept in an [Extra] and come out
// again in the same format.
package adapters

import (
	"encoding/json"
	"strings"
	"time"
)

// Reply is what a model answered, whatever the wire format it came in.
type Reply struct {
	// Format names the wire format that it came in.
	Format string
	ID     string
	Model  string
	// Created is when, to the second; zero if the format does not say.
	Created time.Time
	// Choices are the alternative answers; usually there is one.
	Choices []Choice
	// Usage is nil if the format did not say.
	Usage *Usage
	Extra Extra
}

// Choice is one of a reply's alternative answers.
type Choice struct {
	Blocks []Block
	Finish FinishReason
	// StopSequence is the text that stopped the model, where that is said.
	StopSequence string
	Extra        Extra
}

// BlockType says what a block is.
type BlockType string

// The types of blocks.
const (
	BlockText      BlockType = "text"
	BlockReasoning BlockType = "reasoning"
	BlockCall      BlockType = "call"
	BlockResult    BlockType = "result"
	BlockRefusal   BlockType = "refusal"
	BlockMedia     BlockType = "media"
	// BlockOther is one that only its own format knows: its Extra is all of it.
	BlockOther BlockType = "other"
)

// Block is a part of a message.
type Block struct {
	Type BlockType
	// Text is that of text, reasoning and refusals.
	Text string
	// Signature is what a provider wants to see again with its reasoning or call:
	// Anthropic's signature or redacted data, Gemini's thought signature, the
	// encrypted content of OpenAI's Responses.
	Signature string
	Call      *Call
	Result    *ToolResult
	Media     *Media
	// NativeName is what the format calls it, where it has several names for it.
	NativeName string
	Extra      Extra
}

// Call is a call in a provider's own field for calls.
type Call struct {
	ID   string
	Name string
	// Arguments are JSON as the model wrote it: usually an object, but nobody
	// promises that. Those of a custom tool are text.
	Arguments string
	// Custom says that the tool takes free text.
	Custom bool
	// Truncated says that the reply was cut off inside this call, or right behind it.
	Truncated bool
}

// ToolResult is what a tool gave back.
type ToolResult struct {
	CallID string
	Name   string // of the tool, where the format says it
	Text   string
	// Media are images and the like beside the text.
	Media   []Media
	IsError bool
}

// Media is an image, a sound or a document, by its data or its address.
type Media struct {
	// MIMEType is such as "image/png"; empty if only the address is known.
	MIMEType string
	Data     string // base64
	URL      string
	Name     string // of a document's file
}

// FinishReason says why a reply ended.
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
	// InputTokens are all of the prompt, those that a cache spared or took included.
	InputTokens int64 `json:"input_tokens"`
	// OutputTokens are all that the model made, reasoning included.
	OutputTokens int64 `json:"output_tokens"`
	// CachedTokens were read from a cache, CacheWriteTokens written to one.
	CachedTokens     int64 `json:"cached_tokens,omitempty"`
	CacheWriteTokens int64 `json:"cache_write_tokens,omitempty"`
	ReasoningTokens  int64 `json:"reasoning_tokens,omitempty"`
	Extra            Extra `json:"-"`
}

// Add adds what another answer used.
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

// breakOff marks calls as truncated that have no whole arguments: the stream broke
// off.
func (r *Reply) breakOff() {
	for i := range r.Choices {
		for _, c := range calls(r.Choices[i].Blocks) {
			c.Truncated = c.Truncated || !json.Valid([]byte(c.Arguments))
		}
	}
}
