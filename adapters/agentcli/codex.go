package agentcli

import (
	"encoding/json"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/internal/wire"
)

// codex reads an event of codex exec --json (its docs/exec.md), of today's shape
// and of the one before it.
func (s *state) codex(o wire.Object) {
	switch kind := o.String("type"); kind {
	case "thread.started":
		s.session(o.String("thread_id"), o.String("model"))
	case "item.started", "item.updated", "item.completed":
		s.codexItem(o.Object("item"), kind == "item.completed")
	case "turn.completed":
		s.ended = true
		s.r.Metadata.Turns++
		s.addUsage(codexUsage(o.Object("usage")))
	case "turn.failed":
		s.ended = true
		s.fail(o.Object("error").String("message"))
	case "error":
		s.fail(o.String("message"))
	default:
		if m := o.Object("msg"); m != nil {
			s.codexMessage(m)
		} else if o.Has("model") && o.Has("workdir") { // the settings come first
			s.session("", o.String("model"))
		}
	}
}

func codexUsage(u wire.Object) *adapters.Usage {
	if u == nil {
		return nil
	}
	return &adapters.Usage{
		InputTokens: u.Int("input_tokens"), OutputTokens: u.Int("output_tokens"), CachedTokens: u.Int("cached_input_tokens"),
		ReasoningTokens: u.Int("reasoning_output_tokens"),
	}
}

func (s *state) addUsage(u *adapters.Usage) {
	if u == nil {
		return
	}
	if old := s.r.Metadata.Usage; old != nil {
		u.Add(old)
	}
	s.r.Metadata.Usage = u
}

func (s *state) codexItem(o wire.Object, done bool) {
	id, kind := o.String("id"), o.String("type")
	if kind == "" {
		kind = o.String("item_type")
	}
	failed := o.String("status") == "failed" || o.Has("error")
	switch kind {
	case "agent_message", "assistant_message":
		if done {
			s.message(id, o.String("text"))
		}
	case "reasoning":
		if done {
			s.begin(Action{Type: ActionReasoning, ID: id, Text: o.String("text")})
		}
	case "command_execution":
		var p wire.Object
		p.SetString("command", o.String("command"))
		s.begin(Action{Type: ActionCommand, ID: id, Tool: "shell", Parameters: json.RawMessage(p.Bytes())})
		s.r.Metadata.ToolsUsed = addOnce(s.r.Metadata.ToolsUsed, "shell")
		if done {
			s.end(id, o.String("aggregated_output"), failed || o.Int("exit_code") != 0)
		}
	case "file_change":
		a := Action{Type: ActionFileChange, ID: id, Tool: "apply_patch", Parameters: json.RawMessage(o.Get("changes"))}
		for _, c := range wire.Objects(o.Get("changes")) {
			a.Files = addOnce(a.Files, c.String("path"))
		}
		s.begin(a)
		s.r.Metadata.ToolsUsed = addOnce(s.r.Metadata.ToolsUsed, "apply_patch")
		if done {
			s.end(id, o.String("status"), failed)
		}
	case "mcp_tool_call":
		a := Action{Type: ActionTool, ID: id, Tool: o.String("tool"), Server: o.String("server"), Parameters: json.RawMessage(o.Get("arguments"))}
		s.begin(a)
		if done {
			s.end(id, resultText(o), failed)
		}
	case "web_search":
		var p wire.Object
		p.SetString("query", o.String("query"))
		s.begin(Action{Type: ActionSearch, ID: id, Tool: "web_search", Parameters: json.RawMessage(p.Bytes())})
		if done {
			s.end(id, "", failed)
		}
	case "todo_list":
		a := s.begin(Action{Type: ActionPlan, ID: id, Parameters: json.RawMessage(o.Get("items"))})
		a.Parameters = json.RawMessage(o.Get("items"))
		if done {
			s.end(id, "", false)
		}
	case "error":
		s.begin(Action{Type: ActionMessage, ID: id, Text: o.String("message"), IsError: true})
		s.send(Event{Type: EventError, Text: o.String("message")})
	}
}

// resultText is what an MCP tool gave back.
func resultText(o wire.Object) string {
	if m := o.Object("error").String("message"); m != "" {
		return m
	}
	raw := o.Get("result")
	if s, ok := wire.String(raw); ok {
		return s
	}
	result, _ := wire.AsObject(raw)
	text := partsText(result.Get("content"))
	if text == "" && !wire.IsNull(raw) {
		return string(raw)
	}
	return text
}

// codexMessage reads an event of the older shape.
func (s *state) codexMessage(m wire.Object) {
	id := m.String("call_id")
	switch m.String("type") {
	case "session_configured":
		s.session(m.String("session_id"), m.String("model"))
	case "agent_message":
		s.message("", m.String("message"))
	case "agent_message_delta":
		s.send(Event{Type: EventText, Text: m.String("delta")})
	case "agent_reasoning":
		s.begin(Action{Type: ActionReasoning, Text: m.String("text")})
	case "exec_command_begin":
		var p wire.Object
		p.Set("command", m.Get("command"))
		s.begin(Action{Type: ActionCommand, ID: id, Tool: "shell", Parameters: json.RawMessage(p.Bytes())})
		s.r.Metadata.ToolsUsed = addOnce(s.r.Metadata.ToolsUsed, "shell")
	case "exec_command_end":
		s.end(id, m.String("stdout")+m.String("stderr"), m.Int("exit_code") != 0)
	case "patch_apply_begin":
		a := Action{Type: ActionFileChange, ID: id, Tool: "apply_patch", Parameters: json.RawMessage(m.Get("changes"))}
		for _, c := range m.Object("changes") {
			a.Files = addOnce(a.Files, c.Key)
		}
		s.begin(a)
		s.r.Metadata.ToolsUsed = addOnce(s.r.Metadata.ToolsUsed, "apply_patch")
	case "patch_apply_end":
		s.end(id, m.String("stdout"), !m.Bool("success"))
	case "mcp_tool_call_begin":
		call := m.Object("invocation")
		s.begin(Action{
			Type: ActionTool, ID: id, Tool: call.String("tool"), Server: call.String("server"), Parameters: json.RawMessage(call.Get("arguments")),
		})
	case "mcp_tool_call_end":
		result := m.Object("result")
		s.end(id, string(m.Get("result")), result.Has("Err"))
	case "token_count":
		u := m
		if info := m.Object("info"); info != nil {
			u = info.Object("total_token_usage")
		}
		if u != nil {
			s.r.Metadata.Usage = codexUsage(u)
		}
	case "task_complete":
		s.ended = true
		s.final = m.String("last_agent_message")
	case "error":
		s.ended = true
		s.fail(m.String("message"))
	}
}
