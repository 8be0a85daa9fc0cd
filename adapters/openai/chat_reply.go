package openai

import (
	"errors"
	"strings"
	"time"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/internal/convert"
	"github.com/callwright/callwright/internal/wire"
)

var errNoChoices = errors.New(`the reply has no "choices"`)

// idRule is that of the replies' own ids.
var idRule = adapters.IDRule{Prefix: "chatcmpl-", Any: true}

// EncodeReply writes a reply.
func (c chat) EncodeReply(r *adapters.Reply) (wire.Object, error) {
	o := c.head(r.ID, r.Model, r.Created, "chat.completion")
	var list [][]byte
	for i := range r.Choices {
		x := &r.Choices[i]
		var choice wire.Object
		choice.SetInt("index", int64(i))
		message, legacy := c.message(x.Blocks)
		var role wire.Object
		role.SetString("role", "assistant")
		choice.SetObject("message", append(role, message...))
		finish := convert.FinishWord(x.Finish, convert.Own(x.Extra, c.Name), "finish_reason", finishReasons, c.finishWord)
		if legacy {
			finish = functionCall
		}
		choice.SetString("finish_reason", finish)
		choice.Merge(convert.Own(x.Extra, c.Name))
		list = append(list, choice.Bytes())
	}
	o.SetList("choices", list)
	if r.Usage != nil {
		o.SetObject("usage", c.appendUsage(r.Usage))
	}
	o.Merge(convert.Own(r.Extra, c.Name))
	return o, nil
}

func (c chat) head(id, model string, created time.Time, object string) wire.Object {
	var o wire.Object
	if id == "" {
		id = idRule.New()
	}
	o.SetString("id", id)
	o.SetString("object", object)
	if created.IsZero() {
		created = time.Now()
	}
	o.SetInt("created", created.Unix())
	o.SetString("model", model)
	return o
}

// message writes what an assistant said.
func (c chat) message(blocks []adapters.Block) (o wire.Object, legacy bool) {
	var content, reasoning, refusal strings.Builder
	var parts, calls [][]byte
	key, hasContent, onlyText := "reasoning_content", false, true
	for i := range blocks {
		b := &blocks[i]
		switch b.Type {
		case adapters.BlockText:
			content.WriteString(b.Text)
			hasContent = true
			parts = append(parts, c.appendPart(b).Bytes())
		case adapters.BlockReasoning:
			if b.Text == "" {
				continue
			}
			reasoning.WriteString(b.Text)
			key = reasoningKey(b.NativeName)
			onlyText = onlyText && !c.Mistral
			parts = append(parts, c.appendPart(b).Bytes())
		case adapters.BlockRefusal:
			if !c.Carries.Refusal {
				content.WriteString(b.Text)
				hasContent = true
				continue
			}
			refusal.WriteString(b.Text)
		case adapters.BlockCall:
			if b.NativeName == functionCall {
				var f wire.Object
				f.SetString("name", b.Call.Name)
				f.SetString("arguments", arguments(b.Call))
				o.SetObject(functionCall, f)
				legacy = true
				continue
			}
			calls = append(calls, c.appendCall(b, -1).Bytes())
		case adapters.BlockOther:
			if own := convert.Own(b.Extra, c.Name); own != nil {
				parts = append(parts, own.Bytes())
				onlyText = false
			}
		}
	}
	switch {
	case !onlyText:
		o.SetList("content", parts)
	case hasContent || len(calls) == 0 && !legacy && refusal.Len() == 0:
		o.SetString("content", content.String())
	default:
		o.Set("content", []byte("null"))
	}
	o.SetText("refusal", refusal.String())
	if !c.Mistral {
		o.SetText(key, reasoning.String())
	}
	if len(calls) > 0 {
		o.SetList("tool_calls", calls)
	}
	return o, legacy
}

// reasoningKey is the member that holds reasoning: not all speakers agree.
func reasoningKey(word string) string {
	switch word {
	case "reasoning", "thinking":
		return word
	}
	return "reasoning_content"
}

// arguments are those of a call, "{}" where the model wrote none: clients parse them. Those
// of a call that was cut off stay as they are.
func arguments(call *adapters.Call) string {
	if call.Arguments == "" && !call.Custom && !call.Truncated {
		return "{}"
	}
	return call.Arguments
}

func (c chat) appendCall(b *adapters.Block, index int) wire.Object {
	var o, f wire.Object
	if index >= 0 {
		o.SetInt("index", int64(index))
	}
	o.SetString("id", c.IDs.FitOrNew(b.Call.ID))
	f.SetString("name", b.Call.Name)
	if b.Call.Custom && c.Carries.Custom {
		o.SetString("type", "custom")
		f.SetString("input", b.Call.Arguments)
		o.SetObject("custom", f)
	} else {
		o.SetString("type", "function")
		if b.Call.Custom {
			f.SetString("arguments", string(convert.ArgumentsObject(b.Call)))
		} else {
			f.SetString("arguments", arguments(b.Call))
		}
		o.SetObject("function", f)
	}
	o.Merge(convert.Own(b.Extra, c.Name))
	return o
}

// appendPart writes a block as a part of a content list.
func (c chat) appendPart(b *adapters.Block) wire.Object {
	var o wire.Object
	switch b.Type {
	case adapters.BlockText:
		o.SetString("type", "text")
		o.SetString("text", b.Text)
	case adapters.BlockReasoning:
		var text wire.Object
		text.SetString("type", "text")
		text.SetString("text", b.Text)
		o.SetString("type", "thinking")
		o.SetList("thinking", [][]byte{text.Bytes()})
	case adapters.BlockMedia:
		m := b.Media
		switch {
		case convert.IsImage(m):
			var image wire.Object
			image.SetString("url", convert.URLOf(m))
			o.SetString("type", "image_url")
			o.SetObject("image_url", image)
		case m.Data != "" && (m.MIMEType == "audio/wav" || m.MIMEType == "audio/mp3"):
			var audio wire.Object
			audio.SetString("data", m.Data)
			audio.SetString("format", m.MIMEType[len("audio/"):])
			o.SetString("type", "input_audio")
			o.SetObject("input_audio", audio)
		case m.Data != "":
			var file wire.Object
			name := m.Name
			if name == "" {
				name = "file"
			}
			file.SetString("filename", name)
			file.SetString("file_data", convert.URLOf(m))
			o.SetString("type", "file")
			o.SetObject("file", file)
		default:
			o.SetString("type", "text")
			o.SetString("text", convert.LeftOut(m))
		}
	case adapters.BlockRefusal:
		o.SetString("type", "refusal")
		o.SetString("refusal", b.Text)
	}
	o.Merge(convert.Own(b.Extra, c.Name))
	return o
}
