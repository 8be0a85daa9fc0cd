package interceptor_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/anthropic"
	"github.com/callwright/callwright/adapters/openai"
	"github.com/callwright/callwright/config"
	"github.com/callwright/callwright/interceptor"
)

// files is an MCP server, written with the official SDK, that counts its calls.
type files struct {
	reads, deletes atomic.Int32
	wait           time.Duration
}

type fileName struct {
	Path string `json:"path"`
}

// start starts the server, and returns the name of a file of MCP servers that has it.
func (f *files) start(t *testing.T, allow ...string) string {
	t.Helper()
	s := mcp.NewServer(&mcp.Implementation{Name: "files", Version: "1"}, nil)
	yes := true
	mcp.AddTool(s, &mcp.Tool{Name: "read", Description: "Reads a file"},
		func(ctx context.Context, _ *mcp.CallToolRequest, in fileName) (*mcp.CallToolResult, any, error) {
			f.reads.Add(1)
			select {
			case <-time.After(f.wait):
			case <-ctx.Done():
			}
			if in.Path == "gone" {
				return nil, nil, errors.New("there is no such file")
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "content of " + in.Path}}}, nil, nil
		})
	mcp.AddTool(s, &mcp.Tool{Name: "delete", Annotations: &mcp.ToolAnnotations{DestructiveHint: &yes}},
		func(context.Context, *mcp.CallToolRequest, fileName) (*mcp.CallToolResult, any, error) {
			f.deletes.Add(1)
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "deleted"}}}, nil, nil
		})
	web := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil))
	t.Cleanup(func() { web.CloseClientConnections(); web.Close() })
	data, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"files": map[string]any{"url": web.URL, "allow": allow}}})
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "mcp.json")
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// serveTools serves an upstream that gives replies one after the other, with MCP servers.
func serveTools(t *testing.T, name string, change func(*config.Config), replies ...*adapters.Reply) (*script, string) {
	t.Helper()
	up := &script{}
	for _, r := range replies {
		up.answers = append(up.answers, saysIt(r))
	}
	upstream := httptest.NewServer(up)
	t.Cleanup(upstream.Close)
	return up, serve(t, upstream.URL, func(c *config.Config) {
		c.Server.UpstreamFormat, c.Server.MCP = "openai", name
		if change != nil {
			change(c)
		}
	}).URL
}

func plainChat(r *adapters.Request) { r.Tools = nil }

const (
	readA     = `files__read {"path":"a.txt"}`
	readAText = `<tool_call>{"name": "files__read", "arguments": {"path": "a.txt"}}</tool_call>`
)

// TestMCPTools has a plain chat client, in every format, read a file through a model that
// has tools and one that has none. The client sees one answer and no call.
func TestMCPTools(t *testing.T) {
	f := &files{}
	name := f.start(t, "read")
	for mode, first := range map[string]*adapters.Reply{"native": says("Let me look.", readA), "emulate": says("Let me look.\n" + readAText)} {
		for _, front := range everyClient {
			for _, stream := range []bool{false, true} {
				before := f.reads.Load()
				up, url := serveTools(t, name, func(c *config.Config) { c.Server.Mode = mode }, first, says("It says: content of a.txt"))
				reply, header := ask(t, url, front, "m", stream, plainChat)
				at := fmt.Sprintf("%s, %s, stream=%v", mode, front.Name, stream)
				if text := reply.Text(); text != "Let me look.\n\nIt says: content of a.txt" || len(reply.Calls()) > 0 || reply.First().Finish != adapters.FinishStop {
					t.Errorf("%s: %q, %d calls, %s", at, text, len(reply.Calls()), reply.First().Finish)
				}
				if f.reads.Load() != before+1 || len(up.asked) != 2 || header.Get("Callwright-Tools-Run") != "1" || header.Get("Callwright-Calls") != "0" {
					t.Errorf("%s: read %d times, asked %d times, %v", at, f.reads.Load()-before, len(up.asked), header)
				}
				if u := reply.Usage; u == nil || u.OutputTokens != 14 || u.InputTokens != 10 {
					t.Errorf("%s: usage %+v", at, u)
				}
				native := mode == "native"
				if !strings.Contains(up.asked[0], "files__read") || strings.Contains(up.asked[0], `"tools"`) != native || strings.Contains(up.asked[0], "files__delete") {
					t.Errorf("%s: the model is told %s", at, up.asked[0])
				}
				second, err := openai.Chat.DecodeRequest([]byte(up.asked[1]))
				if err != nil {
					t.Fatal(err)
				}
				last := second.Messages[len(second.Messages)-1]
				said := second.Messages[len(second.Messages)-2]
				told := last.Text()
				if native {
					told = last.Blocks[0].Result.Text
				}
				if !strings.Contains(told, "content of a.txt") || len(said.Calls()) == 1 != native || !strings.HasPrefix(said.Text(), "Let me look.") {
					t.Errorf("%s: the second time it is told %s", at, up.asked[1])
				}
			}
		}
	}
}

// TestMCPWithoutTools checks that a model which the server refuses tools for gets them in
// the prompt.
func TestMCPWithoutTools(t *testing.T) {
	f := &files{}
	for _, stream := range []bool{false, true} {
		m := &model{refuse: true, says: []*adapters.Reply{says(""), says(readAText), says("Done.")}}
		url := start(t, m, func(c *config.Config) { c.Server.MCP = f.start(t, "*") })
		reply, _ := ask(t, url, anthropic.Messages, "m", stream, plainChat)
		if reply.Text() != "Done." || len(m.asked) != 3 {
			t.Errorf("stream=%v: %q, asked %d times", stream, reply.Text(), len(m.asked))
		}
	}
}

// TestMCPBeside checks that the client's own calls are handed out as ever, and that what
// ran beside them is told to the model when the client comes back.
func TestMCPBeside(t *testing.T) {
	f := &files{}
	name := f.start(t, "read")
	for _, mode := range []string{"native", "emulate"} {
		mixed := says("Both.", readA, romeCall)
		if mode == "emulate" {
			mixed = says("Both.\n" + readAText + "\n" + romeText)
		}
		for _, front := range everyClient {
			for _, stream := range []bool{false, true} {
				before := f.reads.Load()
				up, url := serveTools(t, name, func(c *config.Config) { c.Server.Mode = mode }, mixed, says("Done."))
				reply, _ := ask(t, url, front, "m", stream, nil)
				at := fmt.Sprintf("%s, %s, stream=%v", mode, front.Name, stream)
				calls := reply.Calls()
				if len(calls) != 1 || calls[0].Name != "get_weather" || reply.Text() != "Both." || reply.First().Finish != adapters.FinishCalls {
					t.Fatalf("%s: %q, calls %v, %s", at, reply.Text(), callsOf(reply), reply.First().Finish)
				}
				if f.reads.Load() != before+1 || len(up.asked) != 1 {
					t.Fatalf("%s: read %d times, asked %d times", at, f.reads.Load()-before, len(up.asked))
				}
				ask(t, url, front, "m", stream, func(r *adapters.Request) {
					r.Messages = append(r.Messages, adapters.Message{Role: adapters.RoleAssistant, Blocks: reply.First().Blocks}, adapters.Message{
						Role: adapters.RoleTool, Blocks: []adapters.Block{{
							Type: adapters.BlockResult, Result: &adapters.ToolResult{CallID: calls[0].ID, Name: "get_weather", Text: "Sunny."},
						}},
					})
				})
				last := up.asked[len(up.asked)-1]
				if n := strings.Count(last, "content of a.txt"); n != 1 || !strings.Contains(last, "Sunny.") {
					t.Errorf("%s: the model is told %d times what ran beside: %s", at, n, last)
				}
			}
		}
	}
}

// TestMCPPolicy checks what runs and what is refused, since nobody can be asked.
func TestMCPPolicy(t *testing.T) {
	for name, tt := range map[string]struct {
		says           *adapters.Reply
		allow          []string
		letThrough     []string
		reads, deletes int32
		told           string
	}{
		"allowed":               {says("", readA), []string{"read"}, nil, 1, 0, "content of a.txt"},
		"a failure":             {says("", `files__read {"path":"gone"}`), []string{"read"}, nil, 1, 0, "there is no such file"},
		"not offered":           {says("", `files__delete {"path":"a"}`), []string{"read"}, nil, 0, 0, "files__delete"},
		"destructive, allowed":  {says("", `files__delete {"path":"a"}`), []string{"*"}, nil, 0, 1, "deleted"},
		"destructive, unmarked": {says(`{"name": "files__delete", "arguments": {"path": "a"}}`), []string{"*"}, nil, 0, 0, ""},
		"repaired":              {says(`<tool_call>{"name": "files__read", "arguments": {"path": "a "b" c"}}</tool_call>`), []string{"*"}, nil, 0, 0, "is not allowed"},
		"repaired, allowed":     {says(`<tool_call>{"name": "files__read", "arguments": {"path": "a "b" c"}}</tool_call>`), []string{"*"}, []string{"repaired"}, 1, 0, "content of a"},
		"coerced":               {says("", `files__read {"path":7}`), []string{"*"}, nil, 1, 0, "content of 7"},
		"wrong arguments":       {says("", `files__read {"nothing":1}`), []string{"*"}, nil, 0, 0, "path"},
		"unknown tool":          {says("", `launch {"path":"a"}`), []string{"*"}, nil, 0, 0, "launch"},
		"both":                  {says("", readA, `files__delete {"path":"a"}`), []string{"*"}, nil, 1, 1, "deleted"},
	} {
		for _, stream := range []bool{false, true} {
			for _, front := range everyClient[:3] {
				f := &files{}
				up, url := serveTools(t, f.start(t, tt.allow...), func(c *config.Config) { c.Server.MCPAllow = tt.letThrough }, tt.says, says("Done."))
				reply, _ := ask(t, url, front, "m", stream, plainChat)
				if f.reads.Load() != tt.reads || f.deletes.Load() != tt.deletes || len(reply.Calls()) > 0 {
					t.Errorf("%s, %s, stream=%v: %d reads, %d deletes, calls %s", name, front.Name, stream, f.reads.Load(), f.deletes.Load(), callsOf(reply))
				}
				if tt.told == "" {
					continue
				}
				if len(up.asked) != 2 || !strings.Contains(up.asked[1], tt.told) || !strings.HasSuffix(reply.Text(), "Done.") {
					t.Errorf("%s, %s, stream=%v: %q, asked %s", name, front.Name, stream, reply.Text(), up.asked)
				}
			}
		}
	}
}

// TestMCPLimits checks that a model which calls tools without an end, or tools that take
// too long, end in an answer or one error.
func TestMCPLimits(t *testing.T) {
	for _, stream := range []bool{false, true} {
		f := &files{}
		name := f.start(t, "*")
		up, url := serveTools(t, name, func(c *config.Config) { c.Server.MCPRounds = 3 }, says("", readA))
		body := plainBody(stream)
		status, data := postBody(t, url+"/v1/chat/completions", body)
		if len(up.asked) != 4 || f.reads.Load() != 3 || !strings.Contains(data, "server.mcp_rounds") || !strings.Contains(up.asked[3], "No more tools can be called") {
			t.Errorf("stream=%v: status %d, asked %d times, read %d times: %s", stream, status, len(up.asked), f.reads.Load(), data)
		}
		slow := &files{wait: 10 * time.Second}
		_, url = serveTools(t, slow.start(t, "*"), func(c *config.Config) { c.Server.MCPTimeoutMS, c.Server.HeartbeatMS = 300, 50 }, says("", readA))
		if _, data := postBody(t, url+"/v1/chat/completions", body); !strings.Contains(data, "server.mcp_timeout_ms") || stream && strings.Count(data, ": ") < 2 {
			t.Errorf("stream=%v: %s", stream, data)
		}
		// One call after the other with the same result is told, and then ended.
		up, url = serveTools(t, name, nil, says("", `files__delete {"path":"a"}`))
		if _, data := postBody(t, url+"/v1/chat/completions", body); len(up.asked) != 6 || f.deletes.Load() != 6 ||
			!strings.Contains(data, "I stop here") || !strings.Contains(up.asked[3], "This call was made 3 times now") {
			t.Errorf("stream=%v: asked %d times, deleted %d times: %s", stream, len(up.asked), f.deletes.Load(), data)
		}
		// Calls that cannot be made are given back twice.
		up, url = serveTools(t, name, nil, says("", `files__read {"nothing":1}`))
		if _, data := postBody(t, url+"/v1/chat/completions", body); len(up.asked) != 3 || strings.Contains(data, "nothing") || !strings.Contains(data, "calls tools wrongly") {
			t.Errorf("stream=%v: asked %d times: %s", stream, len(up.asked), data)
		}
	}
}

// TestMCPChoice checks when the tools are left out, and that a client's tool of the same
// name is the client's.
func TestMCPChoice(t *testing.T) {
	f := &files{}
	name := f.start(t, "read")
	own := func(r *adapters.Request) { r.Tools[0].Name = "files__read" }
	for mode, tt := range map[string]struct {
		change func(*adapters.Request)
		want   []string
	}{
		"auto":     {nil, []string{"get_weather", "files__read"}},
		"required": {func(r *adapters.Request) { r.ToolChoice.Mode = adapters.ToolRequired }, []string{"get_weather", "files__read"}},
		"none":     {func(r *adapters.Request) { r.ToolChoice.Mode = adapters.ToolNone }, []string{"get_weather"}},
		"named": {func(r *adapters.Request) {
			r.ToolChoice = adapters.ToolChoice{Mode: adapters.ToolNamed, Name: "get_weather"}
		}, []string{"get_weather"}},
		"same name": {own, []string{"files__read", "files__read_2"}},
	} {
		up, url := serveTools(t, name, nil, says("Hello.", romeCall))
		ask(t, url, openai.Chat, "m", false, tt.change)
		r, err := openai.Chat.DecodeRequest([]byte(up.asked[0]))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, x := range r.Tools {
			got = append(got, x.Name)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: the model is told of %v", mode, got)
		}
	}
	up, url := serveTools(t, name, nil, says("", readA))
	if reply, _ := ask(t, url, openai.Chat, "m", true, own); len(reply.Calls()) != 1 || len(up.asked) != 1 || f.reads.Load() != 0 {
		t.Errorf("the client's own tool was taken: %v", callsOf(reply))
	}
}

// TestMCPFile checks what is wrong with a file of MCP servers.
func TestMCPFile(t *testing.T) {
	c := config.Default()
	c.Server.Upstream = "http://127.0.0.1:1"
	for content, wrong := range map[string]bool{
		`{`: true, `{}`: true, `{"mcpServers":{"x":{}}}`: true, `{"mcpServers":{}}`: false,
		`{"mcpServers":{"x":{"url":"http://127.0.0.1:1/","connect_timeout_ms":500}}}`: false, // it is left out
	} {
		c.Server.MCP = filepath.Join(t.TempDir(), "mcp.json")
		if err := os.WriteFile(c.Server.MCP, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		h, err := interceptor.New(c, interceptor.Options{})
		if (err != nil) != wrong {
			t.Errorf("%s: %v", content, err)
		}
		if err == nil {
			h.Close()
		}
	}
}

func plainBody(stream bool) []byte {
	return fmt.Appendf(nil, `{"model":"m","stream":%v,"messages":[{"role":"user","content":"What does a.txt say?"}]}`, stream)
}
