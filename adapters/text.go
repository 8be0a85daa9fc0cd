package adapters

import (
	"strings"

	"github.com/callwright/callwright/extractor/dialects"
	"github.com/callwright/callwright/internal/wire"
)

// Writer writes calls and results as a model's own text, for models and formats
// that have neither tools nor a tool's role: an [extractor.Writer] writes a
// dialect.
type Writer interface {
	Call(name, arguments string) string
	Result(name, text string) string
}

// usual writes the form that most models have seen.
var usual = func() Writer {
	d, _ := dialects.Lookup("hermes")
	w, _ := d.Writer()
	return w
}()

// WriteCall writes a call as text between <tool_call> tags.
func WriteCall(c *Call) string { return write(usual, c) }

func write(w Writer, c *Call) string {
	if !c.Custom {
		return w.Call(c.Name, c.Arguments)
	}
	var o wire.Object
	o.SetString("input", c.Arguments)
	return w.Call(c.Name, string(o.Bytes()))
}

// PlainMessages turns a conversation with calls and results into one without: the
// assistant's calls stand in its text, and results in what the user says. A nil
// writer writes <tool_call> tags.
func PlainMessages(messages []Message, w Writer) []Message {
	if w == nil {
		w = usual
	}
	names := map[string]string{}
	var out []Message
	for i := range messages {
		m := messages[i]
		plain := Message{Role: m.Role, Name: m.Name, Word: m.Word, Extra: m.Extra}
		if m.Role == RoleTool {
			plain.Role, plain.Word, plain.Extra = RoleUser, "", Extra{}
		}
		add := func(text string) {
			if last := len(plain.Blocks) - 1; last >= 0 && plain.Blocks[last].Type == BlockText {
				plain.Blocks[last].Text += "\n" + text
				return
			}
			plain.Blocks = append(plain.Blocks, Block{Type: BlockText, Text: text})
		}
		for j := range m.Blocks {
			b := &m.Blocks[j]
			switch b.Type {
			case BlockCall:
				names[b.Call.ID] = b.Call.Name
				add(write(w, b.Call))
			case BlockResult:
				name := b.Result.Name
				if name == "" {
					name = names[b.Result.CallID]
				}
				text := b.Result.Text
				if b.Result.IsError {
					text = "error: " + text
				}
				add(w.Result(name, text))
				for k := range b.Result.Media {
					plain.Blocks = append(plain.Blocks, Block{Type: BlockMedia, Media: &b.Result.Media[k]})
				}
			default:
				plain.Blocks = append(plain.Blocks, *b)
			}
		}
		// Results of one turn are one message.
		if last := len(out) - 1; last >= 0 && m.Role == RoleTool && messages[i-1].Role == RoleTool {
			for _, b := range plain.Blocks {
				if n := len(out[last].Blocks) - 1; n >= 0 && b.Type == BlockText && out[last].Blocks[n].Type == BlockText {
					out[last].Blocks[n].Text += "\n" + b.Text
					continue
				}
				out[last].Blocks = append(out[last].Blocks, b)
			}
			continue
		}
		out = append(out, plain)
	}
	return out
}

// Transcript writes a conversation as one text, for formats without turns.
func Transcript(messages []Message) string {
	var b strings.Builder
	for _, m := range PlainMessages(messages, nil) {
		role := map[Role]string{RoleSystem: "System", RoleUser: "User", RoleAssistant: "Assistant"}[m.Role]
		b.WriteString(role + ": " + m.Text() + "\n\n")
	}
	b.WriteString("Assistant:")
	return b.String()
}
