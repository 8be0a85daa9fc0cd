package agentcli

import (
	"encoding/json"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/internal/wire"
)

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
			s.send(Event{Type: EventText, Text: text})
			return
		}
		s.flush()
		s.message("", text)
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
			s.send(Event{Type: EventError, Text: o.String("message")})
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
