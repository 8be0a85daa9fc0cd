package agentcli

import (
	"encoding/json"
	"strings"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/anthropic"
	"github.com/callwright/callwright/internal/wire"
)

// claude reads an event of Claude Code: --output-format stream-json has one a line,
// json has the last alone, or all as a list (Claude Code's documentation, "Headless
// mode").
func (s *state) claude(o wire.Object) {
	if o.String("type") != "result" { // of a subagent too
		s.session(o.String("session_id"), "")
	}
	switch o.String("type") {
	case "system":
		if o.String("subtype") == "init" {
			s.session(o.String("session_id"), o.String("model"))
		}
	case "assistant":
		s.claudeMessage(o)
	case "user":
		s.claudeResults(o.Object("message"))
	case "stream_event":
		if d := o.Object("event").Object("delta"); d.String("type") == "text_delta" {
			s.partial.WriteString(d.String("text"))
			s.send(Event{Type: EventText, Text: d.String("text")})
		}
	case "result":
		s.ended = true
		s.final = o.String("result")
		s.session(o.String("session_id"), "")
		s.r.DurationMilliseconds = o.Int("duration_ms")
		s.r.Metadata.Turns = o.Int("num_turns")
		_ = json.Unmarshal(o.Get("total_cost_usd"), &s.r.Metadata.CostUSD) // 0 where it is no number
		if u := o.Object("usage"); u != nil {
			s.r.Metadata.Usage = claudeUsage(u)
		}
		if models := o.Object("modelUsage"); len(models) > 0 && s.r.Metadata.Model == "" {
			s.r.Metadata.Model = models[0].Key
		}
		if own := o.Get("structured_output"); !wire.IsNull(own) && s.final == "" {
			s.final = string(own)
		}
		if subtype := o.String("subtype"); o.Bool("is_error") || strings.HasPrefix(subtype, "error") {
			message := s.final
			if message == "" {
				message = subtype
			}
			s.fail(message)
		}
	}
}

// claudeUsage reads usage as Anthropic counts it.
func claudeUsage(u wire.Object) *adapters.Usage {
	var m wire.Object
	m.SetString("type", "message")
	m.SetObject("usage", u)
	r, err := anthropic.Messages.DecodeMembers(m)
	if err != nil {
		return nil
	}
	return r.Usage
}

func (s *state) claudeMessage(o wire.Object) {
	parent := o.String("parent_tool_use_id")
	m := o.Object("message")
	if parent == "" {
		s.session("", m.String("model"))
	}
	r, err := anthropic.Messages.DecodeMembers(m)
	if err != nil || len(r.Choices) == 0 {
		return
	}
	text := r.Text()
	for _, b := range r.Choices[0].Blocks {
		switch b.Type {
		case adapters.BlockText:
			a := Action{Type: ActionMessage, Text: b.Text, Parent: parent}
			s.begin(a)
			if parent == "" && s.partial.Len() == 0 {
				s.send(Event{Type: EventText, Text: b.Text})
			}
		case adapters.BlockReasoning:
			if b.Text != "" {
				s.begin(Action{Type: ActionReasoning, Text: b.Text, Parent: parent})
			}
		case adapters.BlockCall:
			a := Action{Type: ActionTool, ID: b.Call.ID, Tool: b.Call.Name, Parameters: json.RawMessage(b.Call.Arguments), Parent: parent}
			if rest, ok := strings.CutPrefix(b.Call.Name, "mcp__"); ok {
				a.Server, _, _ = strings.Cut(rest, "__")
			}
			switch b.Call.Name {
			case "Write", "Edit", "MultiEdit", "NotebookEdit":
				a.Files = pathsOf(a.Parameters)
			}
			s.begin(a)
		}
	}
	if text != "" && parent == "" {
		s.last = text
	}
	s.partial.Reset()
}

// claudeResults reads what tools gave back.
func (s *state) claudeResults(m wire.Object) {
	for _, b := range wire.Objects(m.Get("content")) {
		if b.String("type") != "tool_result" {
			continue
		}
		text, ok := wire.String(b.Get("content"))
		if !ok {
			text = partsText(b.Get("content"))
		}
		s.end(b.String("tool_use_id"), text, b.Bool("is_error"))
	}
}

// partsText joins the text of parts.
func partsText(raw []byte) string {
	var b strings.Builder
	for _, part := range wire.Objects(raw) {
		b.WriteString(part.String("text"))
	}
	return b.String()
}

// pathsOf returns the file that a tool was given.
func pathsOf(parameters []byte) []string {
	o, err := wire.ParseObject(parameters)
	if err != nil {
		return nil
	}
	for _, k := range []string{"file_path", "notebook_path", "absolute_path", "path", "filePath"} {
		if s := o.String(k); s != "" {
			return []string{s}
		}
	}
	return nil
}
