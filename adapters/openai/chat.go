// Package openai has the wire formats of OpenAI: chat completions, which many
// others speak too, and responses.
package openai

import (
	"strings"
	"time"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/internal/convert"
	"github.com/callwright/callwright/internal/wire"
)

// version is that of both interfaces.
const version = "v1"

// ChatName is the name of the format of chat completions.
const ChatName = "openai_chat"

// functionCall is the member that holds a call in the older form of the format.
const functionCall = "function_call"

// Chat is POST /v1/chat/completions (OpenAI's API reference, "Chat"), with the
// reasoning_content of DeepSeek and others, and the legacy function_call.
var Chat = NewChat(Flavor{
	Format: adapters.Format{
		Name: ChatName, ShortNames: []string{"openai"}, Servers: []string{"openai", "ollama"},
		IDs:   adapters.IDRule{Prefix: "call_", Max: 64, Any: true},
		Paths: []string{"/v1/chat/completions", "/chat/completions"},
		Carries: adapters.Carries{
			ID: true, Model: true, Created: true, Choices: true, Refusal: true, Reasoning: true, CallIDs: true, Custom: true,
			Usage: true, CachedTokens: true, ReasoningTokens: true, Filter: true,
		},
		CarriesRequest: adapters.CarriesRequest{
			Model: true, Turns: true, Tools: true, ToolChoice: true, NamedTool: true, ParallelCalls: true, Choices: true, Stop: true, Seed: true,
			Penalties: true, Schema: true, SchemaName: true, Effort: true, User: true,
		},
	},
})

// Flavor is a format of chat completions as one provider has it.
type Flavor struct {
	// Format says what sets the flavor apart. What is the same for all is filled in.
	Format adapters.Format
	// Mistral says that content may be a list with parts of thinking, that the
	// seed is called random_seed, and that "any" stands for "required".
	Mistral bool
}

// NewChat returns the format of a flavor.
func NewChat(flavor Flavor) *adapters.Format {
	f := flavor.Format
	f.Version, f.Framing, f.ContentType, f.Prefix = version, string(wire.SSE), "text/event-stream", "/v1/"
	f.CallFormat, f.Independent = "openai_function_call", true
	return adapters.New(f, chat{f.Name, f.IDs, f.Carries, flavor.Mistral})
}

// chat reads and writes chat completions.
type chat struct {
	Name    string
	IDs     adapters.IDRule
	Carries adapters.Carries
	Mistral bool
}

// NewDecoder returns what reads a stream.
func (c chat) NewDecoder() convert.Decoder { return &decoder{chat: c} }

// NewEncoder returns what writes a stream.
func (c chat) NewEncoder(out *wire.Writer) adapters.Encoder { return &encoder{chat: c, out: out} }

// EncodeError writes an error: Mistral's without an object around it.
func (c chat) EncodeError(e *adapters.ProviderError) wire.Object {
	var o, inner wire.Object
	if c.Mistral {
		inner.SetString("object", "error")
	}
	inner.SetString("message", e.Message)
	inner.SetString("type", e.Type)
	inner.Set("param", []byte("null"))
	if e.Code != "" {
		inner.SetString("code", e.Code)
	} else {
		inner.Set("code", []byte("null"))
	}
	if c.Mistral {
		return inner
	}
	o.SetObject("error", inner)
	return o
}

// Recognize tells a reply or a chunk by its choices and its "object".
func (c chat) Recognize(o wire.Object, _ string) (float64, string) {
	choices := o.Get("choices")
	if wire.AsList(choices) == nil {
		return 0, ""
	}
	confidence, version := 0.5, version
	list := wire.Objects(choices)
	for _, x := range list {
		if x.Has("message") || x.Has("delta") {
			confidence = 0.8
		}
		for _, k := range []string{"message", "delta"} {
			if x.Object(k).Has(functionCall) {
				version = "v1-legacy"
			}
		}
	}
	switch object := o.String("object"); {
	case object == "chat.completion", object == "chat.completion.chunk", object == "text_completion":
		confidence = 0.97
	case confidence >= 0.8 && (o.Has("model") || o.Has("created") || o.Has("usage")):
		confidence = 0.9
	case len(list) == 0 && !o.Has("usage") && !o.Has("id"):
		return 0.2, version
	}
	if c.Mistral {
		return c.recognizeMistral(list, confidence), version
	}
	return confidence, version
}

// recognizeMistral takes only what is Mistral's: parts of thinking, its models'
// names, or calls with its ids.
func (c chat) recognizeMistral(list []wire.Object, confidence float64) float64 {
	for _, x := range list {
		for _, k := range []string{"message", "delta"} {
			m := x.Object(k)
			for _, part := range wire.Objects(m.Get("content")) {
				if part.String("type") == "thinking" {
					return min(confidence+0.02, 0.99)
				}
			}
			for _, call := range wire.Objects(m.Get("tool_calls")) {
				if id := call.String("id"); len(id) == 9 && c.IDs.Fits(id) {
					return min(confidence+0.01, 0.99)
				}
			}
		}
	}
	return confidence - 0.3
}

var finishReasons = map[string]adapters.FinishReason{
	"stop": adapters.FinishStop, "tool_calls": adapters.FinishCalls, "function_call": adapters.FinishCalls, "length": adapters.FinishLength,
	"content_filter": adapters.FinishFilter, "model_length": adapters.FinishLength, "max_tokens": adapters.FinishLength,
	"eos":      adapters.FinishStop,
	"end_turn": adapters.FinishStop, "tool_use": adapters.FinishCalls, "stop_sequence": adapters.FinishSequence, "error": adapters.FinishError,
}

func (c chat) finishWord(f adapters.FinishReason) string {
	switch {
	case f == adapters.FinishCalls || f == adapters.FinishLength:
		return string(f)
	case f == adapters.FinishFilter && c.Carries.Filter:
		return "content_filter"
	}
	return "stop"
}

// DecodeReply reads a reply.
func (c chat) DecodeReply(o wire.Object) (*adapters.Reply, error) {
	if wire.AsList(o.Get("choices")) == nil {
		return nil, errNoChoices
	}
	r := &adapters.Reply{ID: o.TakeString("id"), Model: o.TakeString("model"), Usage: c.usage(o.TakeObject("usage"))}
	o.Take("object")
	if n := o.TakeInt("created"); n > 0 {
		r.Created = time.Unix(n, 0).UTC()
	}
	for _, x := range o.TakeList("choices") {
		choice, ok := wire.AsObject(x)
		if !ok || len(r.Choices) >= adapters.MaxChoices {
			continue
		}
		r.Choices = append(r.Choices, c.choice(choice))
	}
	if len(r.Choices) == 0 {
		r.Choices = []adapters.Choice{{}}
	}
	r.Extra = adapters.ExtraOf(c.Name, o)
	return r, nil
}

func (c chat) choice(x wire.Object) adapters.Choice {
	var out adapters.Choice
	x.Take("index")
	out.Finish = convert.TakeFinish(&x, "finish_reason", finishReasons, c.finishWord)
	if s, ok := wire.String(x.Get("text")); ok && s != "" { // a legacy completion
		out.Blocks = append(out.Blocks, adapters.Block{Type: adapters.BlockText, Text: s})
	}
	message := x.TakeObject("message")
	if message == nil {
		message = x.TakeObject("delta") // some servers answer whole with a chunk
	}
	out.Blocks = append(out.Blocks, c.blocks(&message)...)
	message.Take("role")
	x.SetRest("message", message)
	out.Extra = adapters.ExtraOf(c.Name, x)
	return out
}

// blocks takes the blocks out of a message.
func (c chat) blocks(m *wire.Object) []adapters.Block {
	var out []adapters.Block
	for _, key := range []string{"reasoning_content", "reasoning", "thinking"} {
		s, ok := wire.String(m.Get(key))
		if !ok {
			continue
		}
		m.Take(key)
		if s != "" && len(out) == 0 {
			b := adapters.Block{Type: adapters.BlockReasoning, Text: s}
			if key != "reasoning_content" {
				b.NativeName = key
			}
			out = append(out, b)
		}
	}
	out = append(out, c.content(m.Take("content"))...)
	if s := m.TakeString("refusal"); s != "" {
		out = append(out, adapters.Block{Type: adapters.BlockRefusal, Text: s})
	}
	for _, raw := range m.TakeList("tool_calls") {
		call, ok := wire.AsObject(raw)
		if !ok {
			continue
		}
		out = append(out, c.call(call))
	}
	if f := m.TakeObject(functionCall); f != nil && f.String("name") != "" {
		out = append(out, adapters.Block{
			Type: adapters.BlockCall, Call: &adapters.Call{Name: f.String("name"), Arguments: convert.ArgumentsText(f.Get("arguments"))},
			NativeName: functionCall,
		})
	}
	return out
}

func (c chat) call(o wire.Object) adapters.Block {
	call := &adapters.Call{ID: o.TakeString("id")}
	o.Take("index")
	kind := o.Take("type")
	if custom := o.TakeObject("custom"); custom != nil {
		call.Custom, call.Name, call.Arguments = true, custom.String("name"), convert.ArgumentsText(custom.Get("input"))
	} else {
		f := o.TakeObject("function")
		call.Name, call.Arguments = f.TakeString("name"), convert.ArgumentsText(f.Take("arguments"))
		o.SetRest("function", f)
	}
	if s, _ := wire.String(kind); s != "function" && s != "custom" && s != "" {
		o.Set("type", kind)
	}
	return adapters.Block{Type: adapters.BlockCall, Call: call, Extra: adapters.ExtraOf(c.Name, o)}
}

// content reads a string or a list of parts.
func (c chat) content(raw []byte) []adapters.Block {
	if s, ok := wire.String(raw); ok {
		if s == "" {
			return nil
		}
		return []adapters.Block{{Type: adapters.BlockText, Text: s}}
	}
	var out []adapters.Block
	for _, e := range wire.AsList(raw) {
		if s, ok := wire.String(e); ok {
			out = append(out, adapters.Block{Type: adapters.BlockText, Text: s})
			continue
		}
		part, ok := wire.AsObject(e)
		if !ok {
			continue
		}
		out = append(out, c.part(part))
	}
	return out
}

func (c chat) part(o wire.Object) adapters.Block {
	all := append(wire.Object(nil), o...)
	switch kind := o.TakeString("type"); kind {
	case "text", "output_text", "input_text":
		return adapters.Block{Type: adapters.BlockText, Text: o.TakeString("text"), Extra: adapters.ExtraOf(c.Name, o)}
	case "refusal":
		return adapters.Block{Type: adapters.BlockRefusal, Text: o.TakeString("refusal"), Extra: adapters.ExtraOf(c.Name, o)}
	case "thinking":
		var thoughts []string
		for _, t := range wire.Objects(o.Get("thinking")) {
			thoughts = append(thoughts, t.String("text"))
		}
		text := strings.Join(thoughts, "")
		if s, ok := wire.String(o.Get("thinking")); ok {
			text = s
		}
		o.Take("thinking")
		return adapters.Block{Type: adapters.BlockReasoning, Text: text, Extra: adapters.ExtraOf(c.Name, o)}
	case "image_url":
		image := o.TakeObject("image_url")
		url := image.TakeString("url")
		if image == nil {
			url, _ = wire.String(all.Get("image_url"))
		}
		o.SetRest("image_url", image)
		return adapters.Block{Type: adapters.BlockMedia, Media: convert.MediaOf(url), Extra: adapters.ExtraOf(c.Name, o)}
	case "file":
		if file := o.Object("file"); file.Has("file_data") {
			m := convert.MediaOf(file.String("file_data"))
			m.Name = file.String("filename")
			return adapters.Block{Type: adapters.BlockMedia, Media: m}
		}
	case "input_audio":
		if audio := o.Object("input_audio"); audio.Has("data") {
			return adapters.Block{
				Type: adapters.BlockMedia, Media: &adapters.Media{MIMEType: "audio/" + audio.String("format"), Data: audio.String("data")},
			}
		}
	}
	return adapters.Block{Type: adapters.BlockOther, Extra: adapters.ExtraOf(c.Name, all)}
}

func (c chat) usage(o wire.Object) *adapters.Usage {
	if o == nil {
		return nil
	}
	u := &adapters.Usage{InputTokens: o.TakeInt("prompt_tokens"), OutputTokens: o.TakeInt("completion_tokens")}
	o.Take("total_tokens")
	take := func(group, key string) int64 {
		details := o.TakeObject(group)
		n := details.TakeInt(key)
		o.SetRest(group, details)
		return n
	}
	u.CachedTokens = take("prompt_tokens_details", "cached_tokens")
	if u.CachedTokens == 0 {
		u.CachedTokens = o.Int("prompt_cache_hit_tokens") // DeepSeek
	}
	u.ReasoningTokens = take("completion_tokens_details", "reasoning_tokens")
	u.Extra = adapters.ExtraOf(c.Name, o)
	return u
}

func (c chat) appendUsage(u *adapters.Usage) wire.Object {
	var o wire.Object
	o.SetInt("prompt_tokens", u.InputTokens)
	o.SetInt("completion_tokens", u.OutputTokens)
	o.SetInt("total_tokens", u.InputTokens+u.OutputTokens)
	if u.CachedTokens > 0 || convert.Own(u.Extra, c.Name).Has("prompt_tokens_details") {
		var details wire.Object
		details.SetInt("cached_tokens", u.CachedTokens)
		o.SetObject("prompt_tokens_details", details)
	}
	if u.ReasoningTokens > 0 || convert.Own(u.Extra, c.Name).Has("completion_tokens_details") {
		var details wire.Object
		details.SetInt("reasoning_tokens", u.ReasoningTokens)
		o.SetObject("completion_tokens_details", details)
	}
	o.Merge(convert.Own(u.Extra, c.Name))
	return o
}
