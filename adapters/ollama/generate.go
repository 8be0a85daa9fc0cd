package ollama

import (
	"strings"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/internal/convert"
	"github.com/callwright/callwright/internal/wire"
)

// Generate is POST /api/generate (Ollama's docs/api.md). It has no calls and no
// turns: calls are written into the text, and a conversation into the prompt.
var Generate = adapters.New(adapters.Format{
	Name: GenerateName, ShortNames: []string{"ollama"}, Version: "v1", Framing: string(wire.Lines), ContentType: "application/x-ndjson",
	Paths: []string{"/api/generate"}, Prefix: "/api/",
	Sequential: true, WholeCalls: true, IDs: callID,
	Carries: adapters.Carries{Model: true, Created: true, Reasoning: true, Usage: true, NoCalls: true},
	CarriesRequest: adapters.CarriesRequest{
		Model: true, Stop: true, TopK: true, Seed: true, Penalties: true, Schema: true, Effort: true, Thinking: true,
	},
}, generate{})

// generate reads and writes what generate takes and gives.
type generate struct{}

// NewDecoder returns what reads a stream.
func (generate) NewDecoder() convert.Decoder { return &decoder{name: GenerateName} }

// NewEncoder returns what writes a stream.
func (generate) NewEncoder(out *wire.Writer) adapters.Encoder {
	return &encoder{name: GenerateName, out: out}
}

// EncodeError writes an error.
func (generate) EncodeError(e *adapters.ProviderError) wire.Object { return encodeError(e) }

// Recognize tells a reply, or a line of a stream, by its "response".
func (generate) Recognize(o wire.Object, _ string) (float64, string) {
	if _, ok := wire.String(o.Get("response")); !ok {
		return 0, ""
	}
	switch {
	case o.Has("done") && o.Has("created_at"):
		return 0.97, "v1"
	case o.Has("done"):
		return 0.85, "v1"
	case o.Has("model"):
		return 0.6, "v1"
	}
	return 0.3, "v1"
}

// DecodeReply reads a reply.
func (generate) DecodeReply(o wire.Object) (*adapters.Reply, error) {
	r := &adapters.Reply{}
	var c adapters.Choice
	r.Model, r.Created, r.Usage, c.Finish, _ = takeHead(&o)
	c.Blocks = generated(&o)
	r.Choices = []adapters.Choice{c}
	r.Extra = adapters.ExtraOf(GenerateName, o)
	return r, nil
}

// EncodeReply writes a reply.
func (generate) EncodeReply(r *adapters.Reply) (wire.Object, error) {
	return encodeReply(r, GenerateName), nil
}

// generated takes the text and the thinking of a reply.
func generated(o *wire.Object) []adapters.Block {
	var out []adapters.Block
	if s := o.TakeString("thinking"); s != "" {
		out = append(out, adapters.Block{Type: adapters.BlockReasoning, Text: s})
	}
	if s := o.TakeString("response"); s != "" {
		out = append(out, adapters.Block{Type: adapters.BlockText, Text: s})
	}
	return out
}

// plain writes blocks as text, calls in a form that a parser finds.
func plain(blocks []adapters.Block) (said, thought string) {
	var text, thinking strings.Builder
	for i := range blocks {
		switch b := &blocks[i]; b.Type {
		case adapters.BlockText, adapters.BlockRefusal:
			text.WriteString(b.Text)
		case adapters.BlockReasoning:
			thinking.WriteString(b.Text)
		case adapters.BlockCall:
			text.WriteString(adapters.WriteCall(b.Call))
		}
	}
	return text.String(), thinking.String()
}

// DecodeRequest reads a request.
func (generate) DecodeRequest(o wire.Object) (*adapters.Request, error) {
	r := &adapters.Request{}
	takeCommon(&o, r)
	if s := o.TakeString("system"); s != "" {
		r.Messages = append(
			r.Messages, adapters.Message{Role: adapters.RoleSystem, Blocks: []adapters.Block{{Type: adapters.BlockText, Text: s}}},
		)
	}
	m := adapters.Message{Role: adapters.RoleUser}
	if s := o.TakeString("prompt"); s != "" {
		m.Blocks = append(m.Blocks, adapters.Block{Type: adapters.BlockText, Text: s})
	}
	for _, raw := range o.TakeList("images") {
		if s, ok := wire.String(raw); ok {
			m.Blocks = append(m.Blocks, adapters.Block{Type: adapters.BlockMedia, Media: &adapters.Media{MIMEType: imageType(s), Data: s}})
		}
	}
	if len(m.Blocks) > 0 {
		r.Messages = append(r.Messages, m)
	}
	r.Extra = adapters.ExtraOf(GenerateName, o)
	return r, nil
}

// EncodeRequest writes a request: a conversation as one prompt.
func (generate) EncodeRequest(r *adapters.Request) (wire.Object, error) {
	var o wire.Object
	o.SetString("model", r.Model)
	var system []string
	var turns []adapters.Message
	var images [][]byte
	for i := range r.Messages {
		m := &r.Messages[i]
		for j := range m.Blocks {
			if b := &m.Blocks[j]; b.Type == adapters.BlockMedia && b.Media.Data != "" {
				images = append(images, wire.Quote(b.Media.Data))
			}
		}
		if m.Role != adapters.RoleSystem {
			turns = append(turns, *m)
			continue
		}
		system = append(system, m.Text())
	}
	prompt := adapters.Transcript(turns)
	if len(turns) == 1 && turns[0].Role == adapters.RoleUser {
		prompt = turns[0].Text()
	}
	o.SetText("system", strings.Join(system, "\n\n"))
	o.SetString("prompt", prompt)
	if images != nil {
		o.SetList("images", images)
	}
	setCommon(&o, r, GenerateName)
	return o, nil
}
