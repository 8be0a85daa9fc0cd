// Package ollama has the wire formats of Ollama's own interface: chat and generate.
//
// Its structs are our own: those of github.com/ollama/ollama/api lose keywords of
// schemas and the digits of big integers.
package ollama

import (
	"strings"
	"time"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/internal/convert"
	"github.com/callwright/callwright/internal/wire"
)

// The names of the formats.
const (
	ChatName     = "ollama_chat"
	GenerateName = "ollama_generate"
)

var callID = adapters.IDRule{Prefix: "call_", Any: true}

// Chat is POST /api/chat (Ollama's docs/api.md).
var Chat = adapters.New(adapters.Format{
	Name: ChatName, ShortNames: []string{"ollama"}, Version: "v1", Framing: string(wire.Lines), ContentType: "application/x-ndjson",
	Paths: []string{"/api/chat"}, Prefix: "/api/", Servers: []string{"ollama"},
	CallFormat: "ollama_json", Sequential: true, WholeCalls: true, ObjectArguments: true, IDs: callID,
	Carries: adapters.Carries{Model: true, Created: true, Reasoning: true, CallIDs: true, Usage: true},
	CarriesRequest: adapters.CarriesRequest{
		Model: true, Turns: true, Tools: true, Stop: true, TopK: true, Seed: true, Penalties: true, Schema: true, Effort: true, Thinking: true,
	},
}, chat{})

// chat reads and writes chats.
type chat struct{}

// NewDecoder returns what reads a stream.
func (chat) NewDecoder() convert.Decoder { return &decoder{name: ChatName} }

// NewEncoder returns what writes a stream.
func (chat) NewEncoder(out *wire.Writer) adapters.Encoder { return &encoder{name: ChatName, out: out} }

// EncodeReply writes a reply.
func (chat) EncodeReply(r *adapters.Reply) (wire.Object, error) { return encodeReply(r, ChatName), nil }

// EncodeError writes an error.
func (chat) EncodeError(e *adapters.ProviderError) wire.Object { return encodeError(e) }

func encodeError(e *adapters.ProviderError) wire.Object {
	var o wire.Object
	o.SetString("error", e.Message)
	return o
}

// Recognize tells a reply, or a line of a stream, by its message.
func (chat) Recognize(o wire.Object, _ string) (float64, string) {
	m := o.Object("message")
	if m == nil || !m.Has("role") && !m.Has("content") && !m.Has("tool_calls") {
		return 0, ""
	}
	switch {
	case o.Has("done") && o.Has("created_at"):
		return 0.97, "v1"
	case o.Has("done") || o.Has("done_reason"):
		return 0.9, "v1"
	case o.Has("model") || m.String("role") == "assistant":
		return 0.8, "v1"
	}
	return 0.5, "v1"
}

var finishReasons = map[string]adapters.FinishReason{
	"stop": adapters.FinishStop, "length": adapters.FinishLength, "tool_calls": adapters.FinishCalls,
}

func finishOf(reason string, done bool) adapters.FinishReason {
	if f, ok := finishReasons[reason]; ok {
		return f
	}
	if done {
		return adapters.FinishStop
	}
	return ""
}

func finishWord(f adapters.FinishReason) string {
	if f == adapters.FinishLength {
		return "length"
	}
	return "stop"
}

// takeHead takes what chat and generate have in common.
func takeHead(o *wire.Object) (model string, created time.Time, usage *adapters.Usage, finish adapters.FinishReason, done bool) {
	model = o.TakeString("model")
	if t, err := time.Parse(time.RFC3339Nano, o.TakeString("created_at")); err == nil {
		created = t.UTC()
	}
	done = o.Bool("done")
	o.Take("done")
	finish = finishOf(o.TakeString("done_reason"), done)
	if o.Has("eval_count") || o.Has("prompt_eval_count") {
		usage = &adapters.Usage{InputTokens: o.TakeInt("prompt_eval_count"), OutputTokens: o.TakeInt("eval_count")}
	}
	return model, created, usage, finish, done
}

// DecodeReply reads a reply.
func (chat) DecodeReply(o wire.Object) (*adapters.Reply, error) {
	r := &adapters.Reply{}
	var c adapters.Choice
	r.Model, r.Created, r.Usage, c.Finish, _ = takeHead(&o)
	m := o.TakeObject("message")
	c.Blocks = decodeMessage(&m, ChatName)
	m.Take("role")
	o.SetRest("message", m)
	r.Choices = []adapters.Choice{c}
	r.Extra = adapters.ExtraOf(ChatName, o)
	return r, nil
}

// decodeMessage takes the blocks out of a message.
func decodeMessage(m *wire.Object, name string) []adapters.Block {
	var out []adapters.Block
	if s := m.TakeString("thinking"); s != "" {
		out = append(out, adapters.Block{Type: adapters.BlockReasoning, Text: s})
	}
	if s := m.TakeString("content"); s != "" {
		out = append(out, adapters.Block{Type: adapters.BlockText, Text: s})
	}
	for _, raw := range m.TakeList("images") {
		if s, ok := wire.String(raw); ok {
			out = append(out, adapters.Block{Type: adapters.BlockMedia, Media: &adapters.Media{MIMEType: imageType(s), Data: s}})
		}
	}
	for _, call := range wire.Objects(m.Take("tool_calls")) {
		f := call.TakeObject("function")
		b := adapters.Block{
			Type: adapters.BlockCall,
			Call: &adapters.Call{ID: call.TakeString("id"), Name: f.TakeString("name"), Arguments: convert.ArgumentsText(f.Take("arguments"))},
		}
		f.Take("index")
		call.Take("type")
		call.SetRest("function", f)
		b.Extra = adapters.ExtraOf(name, call)
		out = append(out, b)
	}
	return out
}

// imageType tells an image by the beginning of its base64.
func imageType(data string) string {
	for prefix, kind := range map[string]string{"iVBOR": "image/png", "/9j/": "image/jpeg", "R0lG": "image/gif", "UklG": "image/webp"} {
		if len(data) >= len(prefix) && data[:len(prefix)] == prefix {
			return kind
		}
	}
	return "image/png"
}

func head(model string, created time.Time) wire.Object {
	var o wire.Object
	o.SetString("model", model)
	if created.IsZero() {
		created = time.Now()
	}
	o.SetString("created_at", created.UTC().Format(time.RFC3339Nano))
	return o
}

func encodeReply(r *adapters.Reply, name string) wire.Object {
	o := head(r.Model, r.Created)
	c := r.First()
	if name == GenerateName {
		text, thinking := plain(c.Blocks)
		o.SetString("response", text)
		o.SetText("thinking", thinking)
	} else {
		o.SetObject("message", encodeMessage("assistant", c.Blocks, name))
	}
	o.SetBool("done", true)
	o.SetString("done_reason", finishWord(c.Finish))
	setUsage(&o, r.Usage)
	o.Merge(convert.Own(r.Extra, name))
	return o
}

func setUsage(o *wire.Object, u *adapters.Usage) {
	if u != nil {
		o.SetInt("prompt_eval_count", u.InputTokens)
		o.SetInt("eval_count", u.OutputTokens)
	}
}

func encodeMessage(role string, blocks []adapters.Block, name string) wire.Object {
	var o wire.Object
	var text, thinking strings.Builder
	var images, calls [][]byte
	for i := range blocks {
		b := &blocks[i]
		switch b.Type {
		case adapters.BlockText, adapters.BlockRefusal:
			text.WriteString(b.Text)
		case adapters.BlockReasoning:
			thinking.WriteString(b.Text)
		case adapters.BlockMedia:
			if b.Media.Data != "" && convert.IsImage(b.Media) {
				images = append(images, wire.Quote(b.Media.Data))
			} else {
				text.WriteString(convert.LeftOut(b.Media))
			}
		case adapters.BlockCall:
			calls = append(calls, encodeCall(b, name, len(calls)).Bytes())
		}
	}
	o.SetString("role", role)
	o.SetString("content", text.String())
	o.SetText("thinking", thinking.String())
	if images != nil {
		o.SetList("images", images)
	}
	if calls != nil {
		o.SetList("tool_calls", calls)
	}
	return o
}

func encodeCall(b *adapters.Block, name string, index int) wire.Object {
	var o, f wire.Object
	o.SetString("id", callID.FitOrNew(b.Call.ID))
	f.SetInt("index", int64(index))
	f.SetString("name", b.Call.Name)
	f.Set("arguments", convert.ArgumentsObject(b.Call))
	o.SetObject("function", f)
	o.Merge(convert.Own(b.Extra, name))
	return o
}
