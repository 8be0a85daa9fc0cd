package openai

import (
	"strings"
	"time"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/internal/convert"
	"github.com/callwright/callwright/internal/wire"
)

// ResponsesName is the name of the format of responses.
const ResponsesName = "openai_responses"

var (
	responseID    = adapters.IDRule{Prefix: "resp_", Any: true}
	responsesCall = adapters.IDRule{Prefix: "call_", Max: 64, Any: true}
)

// Responses is POST /v1/responses (OpenAI's API reference, "Responses"). Items
// that the provider runs itself, such as web searches, are kept as they are.
var Responses = adapters.New(adapters.Format{
	Name: ResponsesName, ShortNames: []string{"openai", "responses"}, Version: "v1", Framing: string(wire.SSE),
	ContentType: "text/event-stream",
	Paths:       []string{"/v1/responses"}, Prefix: "/v1/responses",
	// Most servers that are compatible with OpenAI's have no responses.
	Servers: []string{"openai"}, Hosts: []string{"openai.com"},
	CallFormat: "openai_function_call", Sequential: true, IDs: responsesCall,
	Carries: adapters.Carries{
		ID: true, Model: true, Created: true, Refusal: true, Reasoning: true, Signature: true, CallIDs: true, Custom: true, Order: true,
		Usage: true, CachedTokens: true, ReasoningTokens: true, Filter: true, Error: true,
	},
	CarriesRequest: adapters.CarriesRequest{
		Model: true, Turns: true, Tools: true, ToolChoice: true, NamedTool: true, ParallelCalls: true, Schema: true, SchemaName: true,
		Effort: true,
		User:   true,
	},
}, responses{})

// responses reads and writes responses.
type responses struct{}

// NewDecoder returns what reads a stream.
func (responses) NewDecoder() convert.Decoder { return &responsesDecoder{} }

// NewEncoder returns what writes a stream.
func (responses) NewEncoder(out *wire.Writer) adapters.Encoder { return &responsesEncoder{out: out} }

// EncodeError writes an error.
func (responses) EncodeError(e *adapters.ProviderError) wire.Object { return chat{}.EncodeError(e) }

// Recognize tells a response, or an event of its stream, by its type.
func (responses) Recognize(o wire.Object, _ string) (float64, string) {
	if o.String("object") == "response" {
		return 0.98, "v1"
	}
	kind := o.String("type")
	if len(kind) > 9 && kind[:9] == "response." {
		return 0.96, "v1"
	}
	for _, item := range wire.Objects(o.Get("output")) {
		switch item.String("type") {
		case "message", "function_call", "reasoning", "custom_tool_call":
			if o.Has("status") || o.Has("model") {
				return 0.9, "v1"
			}
			return 0.6, "v1"
		}
	}
	return 0, ""
}

// DecodeReply reads a response.
func (responses) DecodeReply(o wire.Object) (*adapters.Reply, error) {
	r := &adapters.Reply{ID: o.TakeString("id"), Model: o.TakeString("model"), Usage: responsesUsage(o.TakeObject("usage"))}
	o.Take("object")
	if n := o.TakeInt("created_at"); n > 0 {
		r.Created = time.Unix(n, 0).UTC()
	}
	status := o.TakeString("status")
	var c adapters.Choice
	c.Finish = statusFinish(status, o.Object("incomplete_details").String("reason"))
	o.Take("incomplete_details")
	for _, item := range wire.Objects(o.Take("output")) {
		c.Blocks = append(c.Blocks, decodeItem(item)...)
	}
	r.Choices = []adapters.Choice{c}
	r.Extra = adapters.ExtraOf(ResponsesName, o)
	return r, nil
}

func statusFinish(status, reason string) adapters.FinishReason {
	switch {
	case status == "incomplete" && reason == "content_filter":
		return adapters.FinishFilter
	case status == "incomplete":
		return adapters.FinishLength
	case status == "failed" || status == "cancelled":
		return adapters.FinishError
	case status == "in_progress" || status == "queued" || status == "":
		return ""
	}
	return adapters.FinishStop
}

func finishStatus(f adapters.FinishReason) (status, reason string) {
	switch f {
	case adapters.FinishLength:
		return "incomplete", "max_output_tokens"
	case adapters.FinishFilter:
		return "incomplete", "content_filter"
	case adapters.FinishError:
		return "failed", ""
	}
	return "completed", ""
}

// decodeItem reads an item of an output, or of an input.
func decodeItem(o wire.Object) []adapters.Block {
	all := append(wire.Object(nil), o...)
	kind := o.TakeString("type")
	switch kind {
	case "message":
		o.Take("role")
		blocks := decodeParts(o.Take("content"))
		if o.Take("status"); len(o) > 0 && len(blocks) > 0 { // what belongs to the item goes with its first part
			blocks[0].Extra.Format = ResponsesName
			blocks[0].Extra.Members = append(blocks[0].Extra.Members, wire.Member{Key: outside, Value: o.Bytes()})
		}
		return blocks
	case "function_call", "custom_tool_call":
		call := &adapters.Call{ID: o.TakeString("call_id"), Name: o.TakeString("name")}
		if namespace := o.String("namespace"); namespace != "" {
			call.Name = namespace + between + call.Name
		}
		if kind == "custom_tool_call" {
			call.Custom, call.Arguments = true, o.TakeString("input")
		} else {
			call.Arguments = convert.ArgumentsText(o.Take("arguments"))
		}
		call.Truncated = o.TakeString("status") == "incomplete"
		o.Take("status")
		return []adapters.Block{{Type: adapters.BlockCall, Call: call, Extra: adapters.ExtraOf(ResponsesName, o)}}
	case "reasoning":
		b := adapters.Block{Type: adapters.BlockReasoning, Signature: o.TakeString("encrypted_content")}
		key := "summary"
		if len(wire.AsList(o.Get("content"))) > 0 {
			key = "content"
			b.NativeName = "reasoning_text"
		}
		var paragraphs []string
		for _, part := range wire.Objects(o.Take(key)) {
			paragraphs = append(paragraphs, part.String("text"))
		}
		b.Text = strings.Join(paragraphs, "\n\n")
		o.Take("status")
		o.Take("summary")
		b.Extra = adapters.ExtraOf(ResponsesName, o)
		return []adapters.Block{b}
	case "function_call_output", "custom_tool_call_output":
		r := &adapters.ToolResult{CallID: o.TakeString("call_id")}
		raw := o.Take("output")
		convert.SetResult(r, decodeParts(raw))
		b := adapters.Block{Type: adapters.BlockResult, Result: r, Extra: adapters.ExtraOf(ResponsesName, o)}
		if kind == "custom_tool_call_output" {
			b.NativeName = kind
		}
		return []adapters.Block{b}
	}
	return []adapters.Block{{Type: adapters.BlockOther, Extra: adapters.ExtraOf(ResponsesName, all)}}
}

func decodeParts(raw []byte) []adapters.Block {
	if s, ok := wire.String(raw); ok {
		return []adapters.Block{{Type: adapters.BlockText, Text: s}}
	}
	var out []adapters.Block
	for _, o := range wire.Objects(raw) {
		all := append(wire.Object(nil), o...)
		switch o.TakeString("type") {
		case "output_text", "input_text", "text":
			b := adapters.Block{Type: adapters.BlockText, Text: o.TakeString("text")}
			for _, k := range []string{"annotations", "logprobs"} {
				if l := wire.AsList(o.Get(k)); l != nil && len(l) == 0 {
					o.Take(k)
				}
			}
			b.Extra = adapters.ExtraOf(ResponsesName, o)
			out = append(out, b)
		case "refusal":
			out = append(out, adapters.Block{Type: adapters.BlockRefusal, Text: o.TakeString("refusal"), Extra: adapters.ExtraOf(ResponsesName, o)})
		case "input_image":
			if url := o.TakeString("image_url"); url != "" {
				out = append(out, adapters.Block{Type: adapters.BlockMedia, Media: convert.MediaOf(url), Extra: adapters.ExtraOf(ResponsesName, o)})
				continue
			}
			out = append(out, adapters.Block{Type: adapters.BlockOther, Extra: adapters.ExtraOf(ResponsesName, all)})
		case "input_file":
			if data := o.TakeString("file_data"); data != "" {
				m := convert.MediaOf(data)
				m.Name = o.TakeString("filename")
				out = append(out, adapters.Block{Type: adapters.BlockMedia, Media: m, Extra: adapters.ExtraOf(ResponsesName, o)})
				continue
			}
			out = append(out, adapters.Block{Type: adapters.BlockOther, Extra: adapters.ExtraOf(ResponsesName, all)})
		default:
			out = append(out, adapters.Block{Type: adapters.BlockOther, Extra: adapters.ExtraOf(ResponsesName, all)})
		}
	}
	return out
}

func responsesUsage(o wire.Object) *adapters.Usage {
	if o == nil {
		return nil
	}
	u := &adapters.Usage{InputTokens: o.TakeInt("input_tokens"), OutputTokens: o.TakeInt("output_tokens")}
	o.Take("total_tokens")
	in, out := o.TakeObject("input_tokens_details"), o.TakeObject("output_tokens_details")
	u.CachedTokens, u.ReasoningTokens = in.TakeInt("cached_tokens"), out.TakeInt("reasoning_tokens")
	o.SetRest("input_tokens_details", in)
	o.SetRest("output_tokens_details", out)
	u.Extra = adapters.ExtraOf(ResponsesName, o)
	return u
}

func encodeResponsesUsage(u *adapters.Usage) wire.Object {
	var o, in, out wire.Object
	o.SetInt("input_tokens", u.InputTokens)
	in.SetInt("cached_tokens", u.CachedTokens)
	o.SetObject("input_tokens_details", in)
	o.SetInt("output_tokens", u.OutputTokens)
	out.SetInt("reasoning_tokens", u.ReasoningTokens)
	o.SetObject("output_tokens_details", out)
	o.SetInt("total_tokens", u.InputTokens+u.OutputTokens)
	o.Merge(convert.Own(u.Extra, ResponsesName))
	return o
}

// EncodeReply writes a response.
func (responses) EncodeReply(r *adapters.Reply) (wire.Object, error) {
	c := r.First()
	return responseObject(r, encodeItems(c.Blocks, true), c.Finish), nil
}

// responseObject writes a response around its items.
func responseObject(r *adapters.Reply, items [][]byte, finish adapters.FinishReason) wire.Object {
	var o wire.Object
	id := r.ID
	if id == "" {
		id = responseID.New()
	}
	created := r.Created
	if created.IsZero() {
		created = time.Now()
	}
	status, reason := finishStatus(finish)
	o.SetString("id", id)
	o.SetString("object", "response")
	o.SetInt("created_at", created.Unix())
	o.SetString("status", status)
	o.Set("error", []byte("null"))
	if reason != "" {
		var details wire.Object
		details.SetString("reason", reason)
		o.SetObject("incomplete_details", details)
	} else {
		o.Set("incomplete_details", []byte("null"))
	}
	o.SetString("model", r.Model)
	o.SetList("output", items)
	extra := convert.Own(r.Extra, ResponsesName)
	for _, known := range []wire.Member{
		{Key: "parallel_tool_calls", Value: []byte("true")},
		{Key: "tool_choice", Value: []byte(`"auto"`)},
		{Key: "tools", Value: []byte("[]")},
		{Key: "metadata", Value: []byte("{}")},
	} { // what clients expect to be there
		if extra.Get(known.Key) == nil {
			o.Set(known.Key, known.Value)
		}
	}
	if r.Usage != nil {
		o.SetObject("usage", encodeResponsesUsage(r.Usage))
	} else {
		o.Set("usage", []byte("null"))
	}
	o.Merge(extra)
	return o
}
