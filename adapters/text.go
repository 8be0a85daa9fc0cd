package adapters

import (
	"strings"

	"github.com/callwright/callwright/dialect"
	"github.com/callwright/callwright/internal/wire"
)

// Writer writes calls and results as text, for models and formats without tools. An
// dialect.Writer writes them in a dialect.
type Writer interface {
	Call(name, arguments string) string
	Result(name, text string) string
}

// defaultWriter writes calls as Hermes does: most models have seen that form.
var defaultWriter = func() Writer {
	d, _ := dialect.Lookup("hermes")
	w, _ := d.Writer()
	return w
}()

// WriteCall returns a call as text between <tool_call> tags.
func WriteCall(c *Call) string { return write(defaultWriter, c) }

func write(w Writer, c *Call) string {
	if !c.Custom {
		return w.Call(c.Name, c.Arguments)
	}
	var o wire.Object
	o.SetString("input", c.Arguments)
	return w.Call(c.Name, string(o.Bytes()))
}

// PlainMessages returns a conversation without calls and results: the assistant's calls
// become part of its text, results become messages of the user, those of one turn
// together. A nil writer writes <tool_call> tags.
func PlainMessages(messages []Message, w Writer) []Message {
	if w == nil {
		w = defaultWriter
	}
	names := map[string]string{}
	var out []Message
	var p plainMessage
	for i := range messages {
		m := &messages[i]
		if i == 0 || m.Role != RoleTool || messages[i-1].Role != RoleTool {
			if i > 0 {
				out = append(out, p.end())
			}
			p = plainMessage{Message: Message{Role: m.Role, Name: m.Name, NativeName: m.NativeName, Extra: m.Extra}}
			if m.Role == RoleTool {
				p.Role, p.NativeName, p.Extra = RoleUser, "", Extra{}
			}
		}
		for j := range m.Blocks {
			switch b := &m.Blocks[j]; b.Type {
			case BlockText:
				p.flush()
				p.block, p.open = *b, true
				p.text.WriteString(b.Text)
			case BlockCall:
				names[b.Call.ID] = b.Call.Name
				p.add(write(w, b.Call))
			case BlockResult:
				name := b.Result.Name
				if name == "" {
					name = names[b.Result.CallID]
				}
				text := b.Result.Text
				if b.Result.IsError {
					text = "error: " + text
				}
				p.add(w.Result(name, text))
				for k := range b.Result.Media {
					p.flush()
					p.Blocks = append(p.Blocks, Block{Type: BlockMedia, Media: &b.Result.Media[k]})
				}
			default:
				p.flush()
				p.Blocks = append(p.Blocks, *b)
			}
		}
	}
	if len(messages) > 0 {
		out = append(out, p.end())
	}
	return out
}

// plainMessage is a message whose last block of text is being written.
type plainMessage struct {
	Message
	block Block
	text  strings.Builder
	open  bool
}

// add adds lines to the text.
func (p *plainMessage) add(text string) {
	if p.open {
		p.text.WriteByte('\n')
	}
	if !p.open {
		p.block, p.open = Block{Type: BlockText}, true
	}
	p.text.WriteString(text)
}

func (p *plainMessage) flush() {
	if p.open {
		p.block.Text = p.text.String()
		p.Blocks = append(p.Blocks, p.block)
		p.text.Reset()
		p.open = false
	}
}

func (p *plainMessage) end() Message {
	p.flush()
	return p.Message
}

// Transcript returns a conversation as one text, for formats without messages. It ends
// with "Assistant:".
func Transcript(messages []Message) string {
	var b strings.Builder
	for _, m := range PlainMessages(messages, nil) {
		role := map[Role]string{RoleSystem: "System", RoleUser: "User", RoleAssistant: "Assistant"}[m.Role]
		b.WriteString(role + ": " + m.Text() + "\n\n")
	}
	b.WriteString("Assistant:")
	return b.String()
}
