package agentcli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/callwright/callwright/internal/wire"
)

// The agents.
const (
	ClaudeCode = "claude_code" // claude --output-format stream-json, or json
	Codex      = "codex"       // codex exec --json
	GeminiCLI  = "gemini_cli"  // gemini --output-format stream-json, or json
)

// Agents returns the names of the agents.
func Agents() []string { return []string{ClaudeCode, Codex, GeminiCLI} }

// ErrAgent says that an agent is unknown, or that no known agent writes such a
// transcript.
var ErrAgent = fmt.Errorf("unknown agent, must be one of %q", Agents())

// Options are the options of [Parse]. The zero value detects the agent and returns text.
type Options struct {
	// Agent is one of [Agents]; empty detects it.
	Agent string
	// ResponseSchema asks for the JSON in the final text as the output: true for any, or the
	// JSON Schema that it has to fit, as a map[string]any. nil asks for the text.
	ResponseSchema any
}

// MaxTranscriptBytes is the maximum size of a transcript, in bytes.
const MaxTranscriptBytes = 64 << 20

// Parse parses a transcript. Lines that are not JSON are skipped. A transcript that breaks
// off has the status [StatusError], and what came before. The error is [ErrAgent],
// [ErrSchema], that of the context, or says that the transcript is too large.
func Parse(ctx context.Context, transcript []byte, o Options) (*Response, error) {
	if len(transcript) > MaxTranscriptBytes {
		return nil, fmt.Errorf("a transcript of %d bytes is %w: at most %d", len(transcript), wire.ErrTooLarge, MaxTranscriptBytes)
	}
	if o.Agent == "" {
		agent, confidence := Detect(transcript)
		if confidence == 0 {
			return nil, ErrAgent
		}
		o.Agent = agent
	}
	t, err := newReader(o.Agent)
	if err != nil {
		return nil, err
	}
	if err := eachObject(transcript, func(raw []byte, v wire.Object) bool {
		t.event(raw, v)
		return ctx.Err() == nil
	}); err != nil {
		t.fail(err.Error())
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r := t.finish()
	r.Raw.Stdout = strings.ToValidUTF8(string(transcript), "\uFFFD")
	return r, r.setOutput(ctx, t.text(), o.ResponseSchema)
}

// eachObject calls take with the objects of a transcript: one a line, or, if no line is an
// object, values over several lines.
func eachObject(transcript []byte, take func(raw []byte, o wire.Object) bool) error {
	found := false
	for line := range bytes.Lines(transcript) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] != '{' && line[0] != '[' || !json.Valid(line) {
			continue
		}
		for _, raw := range append(wire.AsList(line), line) {
			o, ok := wire.AsObject(raw)
			if !ok {
				continue
			}
			found = true
			if !take(bytes.Clone(raw), o) {
				return nil
			}
		}
	}
	if found {
		return nil
	}
	start := bytes.IndexByte(transcript, '{')
	if start < 0 {
		return nil
	}
	in := wire.NewReader(bytes.NewReader(transcript[start:]), len(transcript)+1, len(transcript)+64)
	for {
		frame, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("the transcript breaks off: %w", err)
		}
		raw := bytes.Clone(frame.Data)
		if o, err := wire.ParseObject(raw); err == nil && !take(raw, o) {
			return nil
		}
	}
}

// Detect detects the agent of a transcript by its first events. The confidence is from 0
// to 1; 0 if no agent writes such transcripts.
func Detect(transcript []byte) (agent string, confidence float64) {
	n := 0
	_ = eachObject(transcript[:min(len(transcript), 1<<20)], func(_ []byte, o wire.Object) bool {
		n++
		agent, confidence = recognize(o)
		return confidence == 0 && n < 8
	})
	return agent, confidence
}

func recognize(o wire.Object) (string, float64) {
	kind := o.String("type")
	switch kind {
	case "system":
		if o.Has("subtype") && o.Has("session_id") {
			return ClaudeCode, 0.98
		}
	case "result":
		if o.Has("subtype") && (o.Has("session_id") || o.Has("num_turns")) {
			return ClaudeCode, 0.98
		}
		if o.Has("stats") {
			return GeminiCLI, 0.9
		}
	case "assistant", "user", "stream_event":
		if o.Has("session_id") && (o.Has("message") || o.Has("event")) {
			return ClaudeCode, 0.95
		}
	case "thread.started", "turn.started", "turn.completed", "turn.failed", "item.started", "item.completed", "item.updated":
		return Codex, 0.98
	case "init":
		if o.Has("session_id") {
			return GeminiCLI, 0.95
		}
	case "message":
		if o.Has("timestamp") && o.Has("role") {
			return GeminiCLI, 0.85
		}
	case "tool_use", "tool_result":
		if o.Has("tool_id") {
			return GeminiCLI, 0.9
		}
	}
	if o.Has("msg") && o.Object("msg").Has("type") {
		return Codex, 0.95
	}
	if stats := o.Object("stats"); stats.Has("models") && (o.Has("response") || o.Has("error")) {
		return GeminiCLI, 0.97
	}
	return "", 0
}

// reader reads the events of one agent.
type reader struct {
	*state
	read func(s *state, o wire.Object)
}

// state is what is known so far.
type state struct {
	r       Response
	actions []*Action
	byID    map[string]*Action
	final   string // the text that the agent gave as its result
	last    string // its last message
	partial strings.Builder
	ended   bool
	emit    func(Event)
}

func newReader(agent string) (*reader, error) {
	t := &reader{state: &state{byID: map[string]*Action{}}}
	t.r.Agent = agent
	t.r.Raw.Events = []json.RawMessage{}
	switch agent {
	case ClaudeCode:
		t.read = (*state).claude
	case Codex:
		t.read = (*state).codex
	case GeminiCLI:
		t.read = (*state).gemini
	default:
		return nil, fmt.Errorf("%w, not %q", ErrAgent, agent)
	}
	return t, nil
}

// event takes the next event of the transcript.
func (t *reader) event(raw []byte, o wire.Object) {
	t.r.Raw.Events = append(t.r.Raw.Events, raw)
	t.read(t.state, o)
}

func (s *state) send(e Event) {
	if s.emit != nil {
		s.emit(e)
	}
}

// session sets the session and the model.
func (s *state) session(id, model string) {
	known := s.r.SessionID != "" && s.r.Metadata.Model != ""
	if id != "" {
		s.r.SessionID = id
	}
	if model != "" && s.r.Metadata.Model == "" {
		s.r.Metadata.Model = model
	}
	if !known && (id != "" || model != "") {
		s.send(Event{Type: EventSession, Text: s.r.SessionID})
	}
}

// maxActions bounds the number of actions of a run.
const maxActions = 100_000

// begin adds an action, or returns the one of the same id.
func (s *state) begin(a Action) *Action {
	if old := s.byID[a.ID]; a.ID != "" && old != nil {
		return old
	}
	added := &a
	if len(s.actions) < maxActions {
		s.actions = append(s.actions, added)
	}
	if a.ID != "" {
		s.byID[a.ID] = added
	}
	if a.Type == ActionTool || a.Type == ActionSearch {
		s.r.Metadata.ToolsUsed = addOnce(s.r.Metadata.ToolsUsed, a.Tool)
	}
	shown := a
	s.send(Event{Type: EventAction, Action: &shown})
	return added
}

// end gives an action its result.
func (s *state) end(id, result string, isError bool) {
	a := s.byID[id]
	if a == nil || a.done {
		return
	}
	a.done, a.Result, a.IsError = true, result, isError
	if !isError {
		for _, f := range a.Files {
			s.r.Metadata.FilesModified = addOnce(s.r.Metadata.FilesModified, f)
		}
	}
	shown := *a
	s.send(Event{Type: EventResult, Action: &shown})
}

// say adds a message of the agent's.
func (s *state) message(id, text string) {
	if text == "" {
		return
	}
	s.last = text
	s.begin(Action{Type: ActionMessage, ID: id, Text: text})
	s.send(Event{Type: EventText, Text: text})
}

func (s *state) fail(message string) {
	s.r.Status = StatusError
	if s.r.Error == "" {
		s.r.Error = message
	}
	s.send(Event{Type: EventError, Text: message})
}

// text is the final text.
func (s *state) text() string {
	switch {
	case s.final != "":
		return s.final
	case s.last != "":
		return s.last
	}
	return s.partial.String()
}

func (s *state) finish() *Response {
	r := &s.r
	if !s.ended && r.Status == "" {
		r.Status, r.Error = StatusError, "the transcript ends before the run does"
	}
	if r.Status == "" {
		r.Status = StatusSuccess
	}
	if r.Status == StatusError && r.ExitCode == 0 {
		r.ExitCode = 1
	}
	r.Actions = make([]Action, len(s.actions))
	for i, a := range s.actions {
		r.Actions[i] = *a
	}
	if u := r.Metadata.Usage; u != nil && r.Metadata.TokensUsed == 0 {
		r.Metadata.TokensUsed = u.InputTokens + u.OutputTokens
	}
	if r.Metadata.ToolsUsed == nil {
		r.Metadata.ToolsUsed = []string{}
	}
	if r.Metadata.FilesModified == nil {
		r.Metadata.FilesModified = []string{}
	}
	return r
}
