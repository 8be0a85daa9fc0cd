package dispatch

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/parser"
)

// Transcript is what was said in a [Loop].
type Transcript struct {
	// Messages are the conversation: those of the request, the user's, the model's, and
	// the results of its calls.
	Messages []adapters.Message
	// Turns are the model's turns of this program; a transcript that was read has none.
	Turns []Turn
	// Usage is the sum over the turns.
	Usage adapters.Usage
	// Stop says why the loop ended.
	Stop Stop

	turns int // also of those that were read
}

// Turn is one turn of the model.
type Turn struct {
	Result *parser.Result
	// Report is what became of its calls; nil if it made none.
	Report *Report
}

// Stop says why a loop ended.
type Stop string

// Why loops end.
const (
	StopAnswer  Stop = "answer"       // the model answered without a call
	StopTool    Stop = "tool"         // a handler returned ErrStop
	StopPending Stop = "pending"      // a call waits for an approval
	StopTurns   Stop = "turns"        // MaxTurns
	StopTime    Stop = "time"         // MaxTime
	StopTokens  Stop = "tokens"       // MaxTokens
	StopSame    Stop = "same_calls"   // MaxSame: the same calls with the same results
	StopFailing Stop = "failing_tool" // MaxSame: a tool failed turn after turn
	StopError   Stop = "error"        // the model could not be asked, or the context ended
)

// Limit reports whether a limit of the loop ended it.
func (s Stop) Limit() bool {
	switch s {
	case StopTurns, StopTime, StopTokens, StopSame, StopFailing:
		return true
	}
	return false
}

// Text is what the model said last.
func (t *Transcript) Text() string {
	for i := len(t.Messages) - 1; i >= 0; i-- {
		if m := &t.Messages[i]; m.Role == adapters.RoleAssistant {
			return m.Text()
		}
	}
	return ""
}

// Pending are the calls of the last turn that wait for an approval.
func (t *Transcript) Pending() []*Call {
	if len(t.Turns) == 0 || t.Turns[len(t.Turns)-1].Report == nil {
		return nil
	}
	return t.Turns[len(t.Turns)-1].Report.Pending
}

// messageLine is a message as a line of a transcript.
type messageLine struct {
	Role   adapters.Role `json:"role"`
	Name   string        `json:"name,omitempty"`
	Blocks []blockLine   `json:"blocks"`
}

type blockLine struct {
	Type      adapters.BlockType `json:"type"`
	Text      string             `json:"text,omitempty"`
	Signature string             `json:"signature,omitempty"`
	Call      *callLine          `json:"call,omitempty"`
	Result    *resultLine        `json:"result,omitempty"`
	Media     *mediaLine         `json:"media,omitempty"`
}

// callLine has the fields of an adapters.Call.
type callLine struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	Custom    bool   `json:"custom,omitempty"`
	Truncated bool   `json:"truncated,omitempty"`
}

type resultLine struct {
	CallID  string      `json:"call_id"`
	Name    string      `json:"name,omitempty"`
	Text    string      `json:"text"`
	Media   []mediaLine `json:"media,omitempty"`
	IsError bool        `json:"is_error,omitempty"`
}

// mediaLine has the fields of an adapters.Media.
type mediaLine struct {
	MIMEType string `json:"mime_type,omitempty"`
	Data     string `json:"data,omitempty"`
	URL      string `json:"url,omitempty"`
	Name     string `json:"name,omitempty"`
}

// lineOf makes the line of a block.
func lineOf(b *adapters.Block) blockLine {
	l := blockLine{Type: b.Type, Text: b.Text, Signature: b.Signature, Call: (*callLine)(b.Call), Media: (*mediaLine)(b.Media)}
	if r := b.Result; r != nil {
		l.Result = &resultLine{CallID: r.CallID, Name: r.Name, Text: r.Text, IsError: r.IsError}
		for _, m := range r.Media {
			l.Result.Media = append(l.Result.Media, mediaLine(m))
		}
	}
	return l
}

// block makes the block of a line.
func (l *blockLine) block() adapters.Block {
	b := adapters.Block{
		Type: l.Type, Text: l.Text, Signature: l.Signature, Call: (*adapters.Call)(l.Call), Media: (*adapters.Media)(l.Media),
	}
	if r := l.Result; r != nil {
		b.Result = &adapters.ToolResult{CallID: r.CallID, Name: r.Name, Text: r.Text, IsError: r.IsError}
		for _, m := range r.Media {
			b.Result.Media = append(b.Result.Media, adapters.Media(m))
		}
	}
	return b
}

// endLine ends a transcript.
type endLine struct {
	Stop  Stop           `json:"stop"`
	Turns int            `json:"turns"`
	Usage adapters.Usage `json:"usage"`
}

// WriteTo writes the transcript as JSON Lines: a message a line, then a line that says why
// the loop ended. [ReadTranscript] reads it. Members that only one provider knows are lost.
func (t *Transcript) WriteTo(w io.Writer) (int64, error) {
	counted := &counter{w: w}
	e := json.NewEncoder(counted)
	e.SetEscapeHTML(false)
	for i := range t.Messages {
		m := &t.Messages[i]
		l := messageLine{Role: m.Role, Name: m.Name, Blocks: []blockLine{}}
		for j := range m.Blocks {
			l.Blocks = append(l.Blocks, lineOf(&m.Blocks[j]))
		}
		if err := e.Encode(l); err != nil {
			return counted.n, err
		}
	}
	err := e.Encode(endLine{t.Stop, t.turns, t.Usage})
	return counted.n, err
}

type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}

// maxTranscriptLine bounds a line of a transcript, in bytes.
const maxTranscriptLine = 64 << 20

// ReadTranscript reads a transcript that WriteTo wrote, for [Loop.Continue]. The error
// names the line that is wrong.
func ReadTranscript(r io.Reader) (*Transcript, error) {
	t := &Transcript{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxTranscriptLine)
	for number := 1; lines.Scan(); number++ {
		var l struct {
			messageLine
			endLine
		}
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			return nil, fmt.Errorf("transcript, line %d: %w", number, err)
		}
		if l.Role == "" {
			if l.Stop == "" {
				return nil, fmt.Errorf("transcript, line %d: %w", number, errNoMessage)
			}
			t.Stop, t.turns, t.Usage = l.Stop, l.Turns, l.Usage
			continue
		}
		m := adapters.Message{Role: l.Role, Name: l.Name}
		for _, b := range l.Blocks {
			if b.Type == adapters.BlockCall && b.Call == nil || b.Type == adapters.BlockResult && b.Result == nil {
				return nil, fmt.Errorf("transcript, line %d: %w", number, errNoMessage)
			}
			m.Blocks = append(m.Blocks, b.block())
		}
		t.Messages = append(t.Messages, m)
	}
	return t, lines.Err()
}

var errNoMessage = errors.New("neither a message nor the end")
