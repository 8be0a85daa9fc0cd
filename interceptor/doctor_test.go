package interceptor_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/anthropic"
	"github.com/callwright/callwright/adapters/gemini"
	"github.com/callwright/callwright/adapters/ollama"
	"github.com/callwright/callwright/adapters/openai"
	"github.com/callwright/callwright/config"
)

// TestPoisonedHistory has conversations in which something is wrong go to each kind of
// server: what it gets is well formed, and what was mended is named.
func TestPoisonedHistory(t *testing.T) {
	word := func(role adapters.Role, s string) adapters.Message {
		return adapters.Message{Role: role, Blocks: []adapters.Block{{Type: adapters.BlockText, Text: s}}}
	}
	call := func(id, args string) adapters.Message {
		return adapters.Message{Role: adapters.RoleAssistant, Blocks: []adapters.Block{{
			Type: adapters.BlockCall, Call: &adapters.Call{ID: id, Name: "get_weather", Arguments: args},
		}}}
	}
	result := func(id string) adapters.Message {
		return adapters.Message{Role: adapters.RoleTool, Blocks: []adapters.Block{{
			Type: adapters.BlockResult, Result: &adapters.ToolResult{CallID: id, Name: "get_weather", Text: "sunny"},
		}}}
	}
	type poisoned struct {
		name, header, holds string
		messages            []adapters.Message
	}
	list := []poisoned{
		{"orphan result", "orphan_results", "Result of an earlier call", []adapters.Message{result("gone"), word(adapters.RoleUser, "And now?")}},
		{"interrupted", "unanswered_call", "has no result", []adapters.Message{call("a", `{"city":"Rome"}`), word(adapters.RoleUser, "Stop.")}},
		{"result before its call", "orphan_results, unanswered_call", "earlier call", []adapters.Message{result("a"), call("a", `{"city":"Rome"}`), word(adapters.RoleUser, "?")}},
		{"one of two", "unanswered_call", "has no result", []adapters.Message{call("a", `{"city":"Rome"}`), result("a"), call("b", `{"city":"Oslo"}`), word(adapters.RoleUser, "?")}},
		{"right", "", "sunny", []adapters.Message{call("a", `{"city":"Rome"}`), result("a")}},
	}
	for args, holds := range map[string]string{
		"[]": "sunny", "null": "sunny", `"{\"city\":\"Rome\"}"`: "Rome", `{"city":"Ro`: "Ro", `{city: "Rome",}`: "Rome", "Rome": "Rome",
	} {
		list = append(list, poisoned{"arguments " + args, "arguments", holds, []adapters.Message{call("a", args), result("a")}})
	}
	for _, p := range list {
		for _, server := range []*adapters.Format{openai.Chat, anthropic.Messages, ollama.Chat, gemini.Generate} {
			for _, mode := range []string{"native", "emulate"} {
				t.Run(fmt.Sprintf("%s/%s/%s", p.name, server.Name, mode), func(t *testing.T) {
					up := &script{answers: []func(http.ResponseWriter, asking){saysIt(says("It is sunny."))}}
					upstream := httptest.NewServer(up)
					t.Cleanup(upstream.Close)
					s := serve(t, upstream.URL, func(c *config.Config) { c.Server.UpstreamFormat, c.Server.Mode = kinds[server], mode })
					// Chat completions are the only format in which all of this can be written.
					reply, header := ask(t, s.URL, openai.Chat, "m", false, func(r *adapters.Request) { r.Messages = append(r.Messages, p.messages...) })
					if reply.Text() != "It is sunny." || header.Get("Callwright-Mended") != p.header {
						t.Errorf("%q, mended %q, want %q", reply.Text(), header.Get("Callwright-Mended"), p.header)
					}
					sent, format := up.asked[0], server
					if server == ollama.Chat { // it speaks chat completions as well
						format = openai.Chat
					}
					if !strings.Contains(sent, p.holds) {
						t.Errorf("%q is not in %s", p.holds, sent)
					}
					got, err := format.DecodeRequest([]byte(sent))
					if err != nil {
						t.Fatal(err)
					}
					called := map[string]bool{}
					for i := range got.Messages {
						for _, b := range got.Messages[i].Blocks {
							if b.Call != nil {
								var o map[string]any
								if json.Unmarshal([]byte(b.Call.Arguments), &o) != nil {
									t.Errorf("arguments %q", b.Call.Arguments)
								}
								called[b.Call.ID] = true
							}
							if b.Result != nil && !called[b.Result.CallID] {
								t.Errorf("an orphan: %+v", b.Result)
							}
						}
					}
				})
			}
		}
	}
}

// TestEmptyArguments checks that arguments which are no JSON at all are mended on the way
// to a server of the same format.
func TestEmptyArguments(t *testing.T) {
	up := &script{answers: []func(http.ResponseWriter, asking){saysIt(says("It is sunny."))}}
	upstream := httptest.NewServer(up)
	t.Cleanup(upstream.Close)
	s := serve(t, upstream.URL, func(c *config.Config) { c.Server.UpstreamFormat = "openai" })
	for args, want := range map[string]string{`""`: `"arguments":"{}"`, `"{\"city\":"`: `"arguments":"{\"`} {
		args = strings.ReplaceAll(args, `\`, `\`)
		code, body := postBody(t, s.URL+"/v1/chat/completions", []byte(`{"model":"m","messages":[{"role":"user","content":"hi"},{"role":"assistant",`+
			`"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":`+args+`}}]},{"role":"tool","tool_call_id":"a","content":"ok"}]}`))
		sent := up.asked[len(up.asked)-1]
		if code != http.StatusOK || !strings.Contains(sent, want) || !json.Valid([]byte(sent)) {
			t.Errorf("%s: %d %s: the server got %s", args, code, body, sent)
		}
	}
}

// TestNamespaces checks that tools in a namespace, as Codex declares those of MCP servers,
// reach the model by one name, and that the client gets its own two back.
func TestNamespaces(t *testing.T) {
	const tools = `[{"type":"namespace","name":"mcp__demo","description":"A server.","tools":[{"type":"function","name":"get_weather",` +
		`"parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}]}]`
	const history = `{"type":"function_call","call_id":"call_0","namespace":"mcp__demo","name":"get_weather","arguments":"{\"city\":\"Oslo\"}"},` +
		`{"type":"function_call_output","call_id":"call_0","output":"rain"}`
	for name, says := range map[string]*adapters.Reply{
		"native":  says("", `mcp__demo__get_weather {"city":"Rome"}`),
		"in text": says(`<tool_call>{"name": "mcp__demo__get_weather", "arguments": {"city": "Rome"}}</tool_call>`),
	} {
		for _, stream := range []bool{false, true} {
			up := &script{answers: []func(http.ResponseWriter, asking){saysIt(says)}}
			upstream := httptest.NewServer(up)
			s := serve(t, upstream.URL, func(c *config.Config) { c.Server.UpstreamFormat = "openai" })
			_, body := postBody(t, s.URL+"/v1/responses", fmt.Appendf(nil,
				`{"model":"m","stream":%v,"input":[{"role":"user","content":"hi"},%s],"tools":%s}`, stream, history, tools))
			upstream.Close()
			if strings.Count(up.asked[0], `"name":"mcp__demo__get_weather"`) != 2 {
				t.Errorf("%s: the model is told %s", name, up.asked[0])
			}
			if !strings.Contains(body, `"namespace":"mcp__demo"`) || !strings.Contains(body, `"name":"get_weather"`) || strings.Contains(body, `"name":"mcp__demo__`) {
				t.Errorf("%s, stream=%v: the client gets %s", name, stream, body)
			}
		}
	}
}
