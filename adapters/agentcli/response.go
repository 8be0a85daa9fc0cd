// Package agentcli parses transcripts of agent programs, Claude Code, Codex and Gemini CLI,
// into one [Response], and runs these programs.
package agentcli

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/parser"
)

// Response is the result of a run of an agent.
type Response struct {
	// Output is the agent's final text; with a ResponseSchema the object in it, an empty one
	// if it has none.
	Output    any    `json:"output"`
	Agent     string `json:"agent"`
	SessionID string `json:"session_id,omitempty"`
	// Status is [StatusSuccess] or [StatusError].
	Status   string `json:"status"`
	Error    string `json:"error,omitempty"`
	ExitCode int    `json:"exit_code"`
	// DurationMilliseconds is the duration of the run, reported by the agent or measured.
	DurationMilliseconds int64    `json:"duration_ms"`
	Actions              []Action `json:"actions"`
	Metadata             Metadata `json:"metadata"`
	Raw                  Raw      `json:"raw"`
}

// The values of a status.
const (
	StatusSuccess = "success"
	StatusError   = "error"
)

// ActionType is the type of an action.
type ActionType string

// The types of actions.
const (
	ActionMessage    ActionType = "message"
	ActionReasoning  ActionType = "reasoning"
	ActionTool       ActionType = "tool"
	ActionCommand    ActionType = "command"
	ActionFileChange ActionType = "file_change"
	ActionSearch     ActionType = "search"
	ActionPlan       ActionType = "plan"
)

// Action is one thing that an agent did.
type Action struct {
	Type ActionType `json:"type"`
	ID   string     `json:"id,omitempty"`
	// Text is that of a message or of reasoning.
	Text string `json:"text,omitempty"`
	// Tool is the name of a tool, Server that of the MCP server that has it.
	Tool   string `json:"tool,omitempty"`
	Server string `json:"server,omitempty"`
	// Parameters are those of a tool, as the transcript has them.
	Parameters json.RawMessage `json:"parameters,omitempty"`
	// Result is what came back, and IsError says that it is an error.
	Result  string   `json:"result,omitempty"`
	IsError bool     `json:"is_error,omitempty"`
	Files   []string `json:"files,omitempty"`
	// Parent is the action that an agent of the agent's own was started by.
	Parent string `json:"parent,omitempty"`
	done   bool
}

// Metadata is what is known of a run.
type Metadata struct {
	Model string `json:"model,omitempty"`
	// TokensUsed are all tokens, of input and output; 0 if that is not known.
	TokensUsed    int64           `json:"tokens_used,omitempty"`
	Usage         *adapters.Usage `json:"usage,omitempty"`
	CostUSD       float64         `json:"cost_usd,omitempty"`
	Turns         int64           `json:"turns,omitempty"`
	ToolsUsed     []string        `json:"tools_used"`
	FilesModified []string        `json:"files_modified"`
	// Validation is there where a schema was given.
	Validation *parser.Validation `json:"validation,omitempty"`
}

// Raw is the transcript as it came.
type Raw struct {
	Stdout string            `json:"stdout"`
	Stderr string            `json:"stderr"`
	Events []json.RawMessage `json:"events"`
}

// EventType is the type of an event.
type EventType string

// The types of events.
const (
	EventSession EventType = "session" // the session is known
	EventText    EventType = "text"    // a piece of the agent's text
	EventAction  EventType = "action"  // an action was started
	EventResult  EventType = "result"  // an action has a result
	EventError   EventType = "error"   // the agent reported an error
)

// Event is an event of a running agent.
type Event struct {
	Type   EventType `json:"type"`
	Text   string    `json:"text,omitempty"`
	Action *Action   `json:"action,omitempty"`
}

// setOutput sets the output from the final text: the text, or the JSON in it that
// a schema asks for.
func (r *Response) setOutput(ctx context.Context, text string, schema any) error {
	r.Output = text
	var o parser.DecodeOptions
	switch s := schema.(type) {
	case nil:
		return nil
	case bool:
		if !s {
			return nil
		}
	case map[string]any:
		o.Schema = s
	default:
		return ErrSchema
	}
	r.Output = map[string]any{}
	r.Metadata.Validation = &parser.Validation{}
	if text == "" {
		r.Metadata.Validation.Errors = []string{parser.ErrNoJSON.Error()}
		return nil
	}
	d, err := parser.DecodeSchema(ctx, text, o)
	switch {
	case errors.Is(err, parser.ErrNoJSON):
		r.Metadata.Validation.Errors = []string{parser.ErrNoJSON.Error()}
		return nil
	case err != nil:
		return err
	}
	r.Output = d.StructuredData
	v := d.Validation
	r.Metadata.Validation = &v
	return nil
}

// ErrSchema says that a response schema is neither true nor a JSON Schema.
var ErrSchema = errors.New("the response schema must be true or a JSON Schema as a map[string]any")

func addOnce(list []string, s string) []string {
	if s == "" || slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}
