package convert

import (
	"encoding/json"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/internal/wire"
)

// FinishOf returns the reason that a word stands for; "stop" for unknown words.
func FinishOf(words map[string]adapters.FinishReason, word string) adapters.FinishReason {
	if f, ok := words[word]; ok || word == "" {
		return f
	}
	return adapters.FinishStop
}

// Turn is the consecutive messages of one side of a conversation.
type Turn struct {
	Role   adapters.Role // RoleUser or RoleAssistant
	Blocks []adapters.Block
	Extras []adapters.Extra // those of its messages
}

// Turns returns a conversation as alternating turns of the user and the assistant. Results
// belong to the user. The system's blocks are returned apart. split, if it is not nil,
// reports whether a message starts a new turn of the same side.
func Turns(messages []adapters.Message, split func(before *Turn, m *adapters.Message) bool) (system []adapters.Block, turns []Turn) {
	for i := range messages {
		m := &messages[i]
		role := adapters.RoleUser
		switch m.Role {
		case adapters.RoleSystem:
			system = append(system, m.Blocks...)
			continue
		case adapters.RoleAssistant:
			role = m.Role
		}
		last := len(turns) - 1
		if last < 0 || turns[last].Role != role || split != nil && split(&turns[last], m) {
			turns = append(turns, Turn{Role: role})
			last++
		}
		turns[last].Blocks = append(turns[last].Blocks, m.Blocks...)
		if len(m.Extra.Members) > 0 {
			turns[last].Extras = append(turns[last].Extras, m.Extra)
		}
	}
	return system, turns
}

// Results reports whether blocks are results and nothing else.
func Results(blocks []adapters.Block) bool {
	for i := range blocks {
		if blocks[i].Result == nil {
			return false
		}
	}
	return true
}

// Messages returns the messages of a turn: one of RoleTool for each result, one of the role
// for the blocks between them.
func Messages(role adapters.Role, blocks []adapters.Block, extra adapters.Extra) []adapters.Message {
	var out []adapters.Message
	open := false
	for _, b := range blocks {
		if b.Result != nil {
			out = append(out, adapters.Message{Role: adapters.RoleTool, Blocks: []adapters.Block{b}})
			open = false
			continue
		}
		if !open {
			out = append(out, adapters.Message{Role: role, Extra: extra})
			open = true
		}
		last := &out[len(out)-1]
		last.Blocks = append(last.Blocks, b)
	}
	if len(blocks) == 0 {
		out = append(out, adapters.Message{Role: role, Extra: extra})
	}
	return out
}

// freeTextSchema is the schema of a tool that takes free text, for formats that
// have only tools with schemas.
const freeTextSchema = `{"type":"object","properties":{"input":{"type":"string"}},"required":["input"]}`

// Schema is the schema of a tool's parameters, for formats that have only tools
// with schemas; none is what stands for no schema, nil if nothing does.
func Schema(t *adapters.Tool, none string) json.RawMessage {
	switch {
	case t.Custom:
		return json.RawMessage(freeTextSchema)
	case t.Parameters != nil:
		return t.Parameters
	case none == "":
		return nil
	}
	return json.RawMessage(none)
}

// EmptySchema is the schema of a tool without parameters.
const EmptySchema = `{"type":"object","properties":{}}`

// Gather collects the pieces of a call, for formats whose streams have whole calls only.
type Gather struct {
	block     adapters.Block
	arguments []byte
}

// Event takes an event of a call and returns the call's block when it is whole. One that
// was cut off never is.
func (g *Gather) Event(e adapters.Event) (b adapters.Block, whole bool) {
	switch e.Type {
	case adapters.EventCallStart:
		g.block = adapters.Block{Type: adapters.BlockCall, Call: &adapters.Call{ID: e.ID, Name: e.Name}, Extra: e.Extra}
		g.arguments = g.arguments[:0]
	case adapters.EventArguments:
		g.arguments = append(g.arguments, e.Text...)
	case adapters.EventCallEnd:
		if g.block.Call == nil || e.Truncated {
			g.block = adapters.Block{}
			return b, false
		}
		b = g.block
		b.Call.Arguments, b.Signature = string(g.arguments), e.Text
		g.block = adapters.Block{}
		return b, true
	}
	return b, false
}

// TakeFinish takes the reason why a reply ended. A word other than the one that write
// returns for the reason is left in the object, so that it can be written again.
func TakeFinish(
	o *wire.Object, key string, words map[string]adapters.FinishReason, write func(adapters.FinishReason) string,
) adapters.FinishReason {
	word := o.String(key)
	f := FinishOf(words, word)
	if word == "" || write(f) == word {
		o.Take(key)
	}
	return f
}

// FinishWord is the word for the reason why a reply ended: the one that was kept, if it
// still stands for this reason.
func FinishWord(
	f adapters.FinishReason, own wire.Object, key string, words map[string]adapters.FinishReason, write func(adapters.FinishReason) string,
) string {
	if word := own.String(key); word != "" && FinishOf(words, word) == f {
		return word
	}
	return write(f)
}
