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
			s.tell(Event{Type: EventText, Text: d.String("text")})
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
	r, err := anthropic.Messages.Reply(m)
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
	r, err := anthropic.Messages.Reply(m)
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
				s.tell(Event{Type: EventText, Text: b.Text})
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
		u.InputTokens += old.InputTokens
		u.OutputTokens += old.OutputTokens
		u.CachedTokens += old.CachedTokens
		u.ReasoningTokens += old.ReasoningTokens
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
			s.say(id, o.String("text"))
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
		s.tell(Event{Type: EventError, Text: o.String("message")})
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
		s.say("", m.String("message"))
	case "agent_message_delta":
		s.tell(Event{Type: EventText, Text: m.String("delta")})
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
		s.begin(Action{Type: ActionTool, ID: id, Tool: call.String("tool"), Server: call.String("server"), Parameters: json.RawMessage(call.Get("arguments"))})
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

// gemini reads an event of Gemini CLI: --output-format stream-json has one a line,
// json one object (its docs/cli/headless.md).
func (s *state) gemini(o wire.Object) {
	switch o.String("type") {
	case "init":
		s.session(o.String("session_id"), o.String("model"))
	case "message":
		if o.String("role") != "assistant" {
			return
		}
		text := o.String("content")
		if o.Bool("delta") {
			s.partial.WriteString(text)
			s.tell(Event{Type: EventText, Text: text})
			return
		}
		s.flush()
		s.say("", text)
	case "tool_use":
		s.flush()
		a := Action{Type: ActionTool, ID: o.String("tool_id"), Tool: o.String("tool_name"), Parameters: json.RawMessage(o.Get("parameters"))}
		switch a.Tool {
		case "write_file", "replace", "edit":
			a.Files = pathsOf(a.Parameters)
		}
		s.begin(a)
	case "tool_result":
		text, ok := wire.String(o.Get("output"))
		if !ok {
			text = o.Object("error").String("message")
		}
		s.end(o.String("tool_id"), text, o.String("status") == "error")
	case "error":
		if o.String("severity") == "warning" {
			s.tell(Event{Type: EventError, Text: o.String("message")})
			return
		}
		s.fail(o.String("message"))
	case "result":
		s.flush()
		s.ended = true
		s.geminiStats(o.Object("stats"))
		if o.String("status") == "error" {
			s.fail(o.Object("error").String("message"))
		}
	default:
		if !o.Has("stats") && !o.Has("response") {
			return
		}
		s.ended = true
		s.session(o.String("session_id"), "")
		s.final = o.String("response")
		s.geminiStats(o.Object("stats"))
		if e := o.Object("error"); e != nil {
			s.fail(e.String("message"))
			if code := e.Int("code"); code > 0 && code < 256 {
				s.r.ExitCode = int(code)
			}
		}
	}
}

// flush makes a message of the pieces that came.
func (s *state) flush() {
	if s.partial.Len() == 0 {
		return
	}
	s.last = s.partial.String()
	s.partial.Reset()
	s.begin(Action{Type: ActionMessage, Text: s.last})
}

func (s *state) geminiStats(o wire.Object) {
	if o == nil {
		return
	}
	if n := o.Int("duration_ms"); n > 0 {
		s.r.DurationMilliseconds = n
	}
	u := &adapters.Usage{InputTokens: o.Int("input_tokens"), OutputTokens: o.Int("output_tokens"), CachedTokens: o.Int("cached")}
	s.r.Metadata.TokensUsed = o.Int("total_tokens")
	total := int64(0)
	for _, m := range o.Object("models") {
		if s.r.Metadata.Model == "" {
			s.r.Metadata.Model = m.Key
		}
		model, _ := wire.AsObject(m.Value)
		t := model.Object("tokens")
		u.InputTokens += t.Int("prompt")
		u.OutputTokens += t.Int("candidates") + t.Int("thoughts")
		u.CachedTokens += t.Int("cached")
		u.ReasoningTokens += t.Int("thoughts")
		total += t.Int("total")
	}
	if s.r.Metadata.TokensUsed == 0 {
		s.r.Metadata.TokensUsed = total
	}
	s.r.Metadata.Usage = u
	for _, tool := range o.Object("tools").Object("byName") {
		s.r.Metadata.ToolsUsed = addOnce(s.r.Metadata.ToolsUsed, tool.Key)
	}
}
