// Package gemini has the wire format of Gemini's generateContent.
package gemini

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/internal/convert"
	"github.com/callwright/callwright/internal/wire"
)

// Name is the name of the format.
const Name = "gemini_generate"

var callID = adapters.IDRule{Prefix: "call_", Any: true}

// Generate is models.generateContent and streamGenerateContent (Gemini API
// reference, "Generating content"), of Google AI and of Vertex. A request's model
// and whether it streams stand in its address, not in its body.
var Generate = adapters.New(adapters.Format{
	Name: Name, ShortNames: []string{"gemini"}, Version: "v1beta", Framing: string(wire.SSE), ContentType: "text/event-stream",
	Prefix: "/v1beta/", PathOf: path, Servers: []string{"gemini"},
	CallFormat: "gemini_function_call", Sequential: true, WholeCalls: true, ObjectArguments: true, IDs: callID,
	Carries: adapters.Carries{
		ID: true, Model: true, Created: true, Choices: true, Reasoning: true, Signature: true, CallSignature: true, CallIDs: true, Order: true,
		Usage: true, CachedTokens: true, ReasoningTokens: true, Filter: true,
	},
	CarriesRequest: adapters.CarriesRequest{
		Turns: true, Tools: true, ToolChoice: true, NamedTool: true, Choices: true, Stop: true, TopK: true, Seed: true, Penalties: true,
		Schema: true, Effort: true, Thinking: true, ReasoningTokens: true,
	},
}, codec{})

// path is where a request is posted to.
func path(model string, stream bool) string {
	action := ":generateContent"
	if stream {
		action = ":streamGenerateContent"
	}
	return "/v1beta/models/" + strings.TrimPrefix(model, "models/") + action
}

// codec reads and writes what generateContent takes and gives.
type codec struct{}

// NewDecoder returns what reads a stream.
func (codec) NewDecoder() convert.Decoder { return &decoder{} }

// NewEncoder returns what writes a stream.
func (codec) NewEncoder(out *wire.Writer) adapters.Encoder { return &encoder{out: out} }

// EncodeError writes an error, as google.rpc.Status has it.
func (codec) EncodeError(e *adapters.ProviderError) wire.Object {
	var o, inner wire.Object
	code, err := strconv.Atoi(e.Code)
	if err != nil {
		code = http.StatusInternalServerError
	}
	inner.SetInt("code", int64(code))
	inner.SetString("message", e.Message)
	inner.SetText("status", e.Type)
	o.SetObject("error", inner)
	return o
}

// Recognize tells a reply, or a piece of one, by its candidates.
func (codec) Recognize(o wire.Object, _ string) (float64, string) {
	confidence := 0.0
	for _, c := range wire.Objects(o.Get("candidates")) {
		if c.Has("content") || c.Has("finishReason") {
			confidence = 0.85
		}
	}
	if o.Has("usageMetadata") || o.Has("modelVersion") || o.Has("responseId") {
		confidence = max(confidence+0.1, 0.7)
	}
	if o.Has("promptFeedback") {
		confidence = max(confidence, 0.8)
	}
	return min(confidence, 0.97), "v1beta"
}

var finishReasons = map[string]adapters.FinishReason{
	"STOP": adapters.FinishStop, "MAX_TOKENS": adapters.FinishLength, "SAFETY": adapters.FinishFilter, "RECITATION": adapters.FinishFilter,
	"BLOCKLIST": adapters.FinishFilter, "PROHIBITED_CONTENT": adapters.FinishFilter, "SPII": adapters.FinishFilter,
	"LANGUAGE":     adapters.FinishFilter,
	"IMAGE_SAFETY": adapters.FinishFilter, "MALFORMED_FUNCTION_CALL": adapters.FinishError, "UNEXPECTED_TOOL_CALL": adapters.FinishError,
	"TOO_MANY_TOOL_CALLS": adapters.FinishError,
}

func finishWord(f adapters.FinishReason) string {
	switch f {
	case adapters.FinishLength:
		return "MAX_TOKENS"
	case adapters.FinishFilter:
		return "SAFETY"
	case adapters.FinishError:
		return "OTHER"
	}
	return "STOP"
}

func takeHead(o *wire.Object) (id, model string, created time.Time, usage *adapters.Usage) {
	id, model = o.TakeString("responseId"), o.TakeString("modelVersion")
	if t, err := time.Parse(time.RFC3339Nano, o.TakeString("createTime")); err == nil {
		created = t.UTC()
	}
	return id, model, created, decodeUsage(o.TakeObject("usageMetadata"))
}

func decodeUsage(o wire.Object) *adapters.Usage {
	if o == nil {
		return nil
	}
	u := &adapters.Usage{
		InputTokens: o.TakeInt("promptTokenCount"), CachedTokens: o.TakeInt("cachedContentTokenCount"),
		ReasoningTokens: o.TakeInt("thoughtsTokenCount"),
	}
	u.OutputTokens = o.TakeInt("candidatesTokenCount") + u.ReasoningTokens
	o.Take("totalTokenCount")
	u.Extra = adapters.ExtraOf(Name, o)
	return u
}

func encodeUsage(u *adapters.Usage) wire.Object {
	var o wire.Object
	o.SetInt("promptTokenCount", u.InputTokens)
	o.SetInt("candidatesTokenCount", max(u.OutputTokens-u.ReasoningTokens, 0))
	o.SetInt("totalTokenCount", u.InputTokens+u.OutputTokens)
	if u.CachedTokens > 0 {
		o.SetInt("cachedContentTokenCount", u.CachedTokens)
	}
	if u.ReasoningTokens > 0 {
		o.SetInt("thoughtsTokenCount", u.ReasoningTokens)
	}
	o.Merge(convert.Own(u.Extra, Name))
	return o
}

// DecodeReply reads a reply.
func (codec) DecodeReply(o wire.Object) (*adapters.Reply, error) {
	r := &adapters.Reply{}
	r.ID, r.Model, r.Created, r.Usage = takeHead(&o)
	for _, c := range wire.Objects(o.Take("candidates")) {
		if len(r.Choices) >= adapters.MaxChoices {
			break
		}
		blocks, finish, rest := takeCandidate(&c)
		r.Choices = append(r.Choices, adapters.Choice{Blocks: joined(blocks), Finish: finish, Extra: adapters.ExtraOf(Name, rest)})
	}
	if len(r.Choices) == 0 {
		r.Choices = []adapters.Choice{{}}
		if o.Object("promptFeedback").Has("blockReason") {
			r.Choices[0].Finish = adapters.FinishFilter
		}
	}
	r.Extra = adapters.ExtraOf(Name, o)
	return r, nil
}

// malformed begins what Gemini says of a call that it could not read: the call
// itself follows.
const malformed = "Malformed function call: "

func takeCandidate(c *wire.Object) (blocks []adapters.Block, finish adapters.FinishReason, rest wire.Object) {
	c.Take("index")
	content := c.TakeObject("content")
	content.Take("role")
	blocks = decodeParts(content.Take("parts"))
	c.SetRest("content", content)
	finish = convert.TakeFinish(c, "finishReason", finishReasons, finishWord)
	if text, ok := strings.CutPrefix(c.String("finishMessage"), malformed); ok && len(blocks) == 0 {
		// What the model wrote stands nowhere else; this is how it writes its code.
		blocks = []adapters.Block{{Type: adapters.BlockText, Text: "```tool_code\n" + text + "\n```"}}
	}
	return blocks, finish, *c
}

// joined joins text that came in several parts.
func joined(blocks []adapters.Block) []adapters.Block {
	plain := func(b *adapters.Block) bool {
		return (b.Type == adapters.BlockText || b.Type == adapters.BlockReasoning) && len(b.Extra.Members) == 0
	}
	var out []adapters.Block
	for from := 0; from < len(blocks); {
		b := blocks[from]
		to := from + 1
		for to < len(blocks) && plain(&b) && plain(&blocks[to]) && blocks[to].Type == b.Type && blocks[to-1].Signature == "" {
			to++
		}
		if to > from+1 {
			b.Text, b.Signature = adapters.JoinText(blocks[from:to], b.Type), blocks[to-1].Signature
		}
		out = append(out, b)
		from = to
	}
	return out
}

func decodeParts(raw []byte) []adapters.Block {
	var out []adapters.Block
	for _, p := range wire.Objects(raw) {
		out = append(out, decodePart(p))
	}
	return out
}

func decodePart(o wire.Object) adapters.Block {
	all := append(wire.Object(nil), o...)
	thought := o.Bool("thought")
	o.Take("thought")
	for _, k := range []string{"functionCall", "function_call"} {
		if f := o.TakeObject(k); f != nil {
			b := adapters.Block{
				Type:      adapters.BlockCall,
				Call:      &adapters.Call{ID: f.TakeString("id"), Name: f.TakeString("name"), Arguments: convert.ArgumentsText(f.Take("args"))},
				Signature: o.TakeString("thoughtSignature"),
			}
			o.SetRest(k, f)
			b.Extra = adapters.ExtraOf(Name, o)
			return b
		}
	}
	for _, k := range []string{"functionResponse", "function_response"} {
		if f := o.TakeObject(k); f != nil {
			return adapters.Block{Type: adapters.BlockResult, Result: decodeResult(f), Extra: adapters.ExtraOf(Name, o)}
		}
	}
	if text, ok := wire.String(o.Take("text")); ok {
		b := adapters.Block{Type: adapters.BlockText, Text: text}
		if thought {
			b.Type, b.Signature = adapters.BlockReasoning, o.TakeString("thoughtSignature")
		}
		b.Extra = adapters.ExtraOf(Name, o)
		return b
	}
	for _, k := range []string{"inlineData", "inline_data"} {
		if d := o.TakeObject(k); d != nil {
			mime := d.String("mimeType")
			if mime == "" {
				mime = d.String("mime_type")
			}
			return adapters.Block{
				Type: adapters.BlockMedia, Media: &adapters.Media{MIMEType: mime, Data: d.String("data")}, Extra: adapters.ExtraOf(Name, o),
			}
		}
	}
	for _, k := range []string{"fileData", "file_data"} {
		if d := o.TakeObject(k); d != nil {
			return adapters.Block{
				Type: adapters.BlockMedia, Media: &adapters.Media{MIMEType: d.String("mimeType"), URL: d.String("fileUri")},
				Extra: adapters.ExtraOf(Name, o),
			}
		}
	}
	return adapters.Block{Type: adapters.BlockOther, Extra: adapters.ExtraOf(Name, all)}
}

// decodeResult reads what a function gave back: an object, in which one key may
// hold all of it.
func decodeResult(f wire.Object) *adapters.ToolResult {
	r := &adapters.ToolResult{CallID: f.String("id"), Name: f.String("name")}
	response := f.Object("response")
	if len(response) == 1 {
		switch text, isText := wire.String(response[0].Value); response[0].Key {
		case "error":
			r.IsError = true
			if isText {
				r.Text = text
				return r
			}
		case "result", "output":
			if isText {
				r.Text = text
			} else {
				r.Text = string(response[0].Value)
			}
			return r
		}
	}
	r.Text = string(response.Bytes())
	return r
}

func encodeResult(r *adapters.ToolResult) wire.Object {
	var o, response wire.Object
	o.SetText("id", r.CallID)
	o.SetString("name", r.Name)
	own, err := wire.ParseObject([]byte(r.Text))
	reserved := len(own) == 1 && (own[0].Key == "result" || own[0].Key == "output" || own[0].Key == "error")
	switch {
	case r.IsError:
		response.SetString("error", r.Text)
	case err == nil && !reserved:
		response = own
	default:
		response.SetString("result", convert.ResultText(r))
	}
	o.SetObject("response", response)
	return o
}

// EncodeReply writes a reply.
func (codec) EncodeReply(r *adapters.Reply) (wire.Object, error) {
	var o wire.Object
	var list [][]byte
	for i := range r.Choices {
		c := &r.Choices[i]
		candidate := encodeCandidate(i, encodeParts(c.Blocks))
		candidate.SetString("finishReason", convert.FinishWord(c.Finish, convert.Own(c.Extra, Name), "finishReason", finishReasons, finishWord))
		candidate.Merge(convert.Own(c.Extra, Name))
		list = append(list, candidate.Bytes())
	}
	o.SetList("candidates", list)
	setHead(&o, r.ID, r.Model, r.Created, r.Usage)
	o.Merge(convert.Own(r.Extra, Name))
	return o, nil
}

func setHead(o *wire.Object, id, model string, created time.Time, usage *adapters.Usage) {
	if usage != nil {
		o.SetObject("usageMetadata", encodeUsage(usage))
	}
	o.SetText("modelVersion", model)
	if !created.IsZero() {
		o.SetString("createTime", created.UTC().Format(time.RFC3339Nano))
	}
	o.SetText("responseId", id)
}

func encodeCandidate(index int, parts [][]byte) wire.Object {
	var candidate, content wire.Object
	if len(parts) > 0 {
		content.SetList("parts", parts)
	}
	content.SetString("role", "model")
	candidate.SetObject("content", content)
	candidate.SetInt("index", int64(index))
	return candidate
}

func encodeParts(blocks []adapters.Block) [][]byte { return convert.Objects(blocks, encodePart) }

func encodePart(b *adapters.Block) wire.Object {
	var o wire.Object
	switch b.Type {
	case adapters.BlockText, adapters.BlockRefusal:
		o.SetString("text", b.Text)
	case adapters.BlockReasoning:
		o.SetString("text", b.Text)
		o.SetBool("thought", true)
		o.SetText("thoughtSignature", b.Signature)
	case adapters.BlockCall:
		var f wire.Object
		f.SetText("id", b.Call.ID)
		f.SetString("name", b.Call.Name)
		f.Set("args", convert.ArgumentsObject(b.Call))
		o.SetObject("functionCall", f)
		o.SetText("thoughtSignature", b.Signature)
	case adapters.BlockResult:
		o.SetObject("functionResponse", encodeResult(b.Result))
	case adapters.BlockMedia:
		var d wire.Object
		d.SetText("mimeType", b.Media.MIMEType)
		if b.Media.Data != "" {
			d.SetString("data", b.Media.Data)
			o.SetObject("inlineData", d)
		} else {
			d.SetString("fileUri", b.Media.URL)
			o.SetObject("fileData", d)
		}
	case adapters.BlockOther:
		return convert.Own(b.Extra, Name)
	default:
		return nil
	}
	o.Merge(convert.Own(b.Extra, Name))
	return o
}
