//go:build unix

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/callwright/callwright/internal/ollamatest"
	"github.com/callwright/callwright/registry"
)

// serveNotes is the program of an MCP server.
func serveNotes() {
	if err := mcpServer().Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

func mcpServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "notes", Version: "1"}, nil)
	type note struct {
		Text  string `json:"text" jsonschema:"the note"`
		Times int    `json:"times,omitempty"`
	}
	mcp.AddTool(s, &mcp.Tool{Name: "add_note", Description: "Adds a note"}, func(_ context.Context, _ *mcp.CallToolRequest, in note) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: strings.Repeat(in.Text, in.Times)}}}, nil, nil
	})
	return s
}

// write writes a file and returns its name.
func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func mcpConfig(t *testing.T, more string) string {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return write(t, "mcp.json", fmt.Sprintf(`{"mcpServers": {"notes": {"command": %q, "env": {"CALLWRIGHT_TEST_MCP_SERVER": "1"}%s}}}`, program, more))
}

const definitions = `[{"type": "function", "function": {"name": "get_weather", "description": "The weather\nof today", "parameters": {
	"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}},
	{"name": "wipe disk", "annotations": {"destructiveHint": true}, "inputSchema": {"type": "object", "properties": {"o": {"type": "object"}}}}]`

func TestTools(t *testing.T) {
	file := write(t, "tools.json", definitions)
	out, _, code := run(t, "", "tools", "list", file, mcpConfig(t, ""))
	if want := "get_weather                   The weather\nwipe disk        destructive  \nnotes__add_note               Adds a note\n"; code != 0 || out != want {
		t.Errorf("%d %q", code, out)
	}
	out, _, code = run(t, "", "tools", "list", "--json", file)
	var list []listed
	if err := json.Unmarshal([]byte(out), &list); err != nil || code != 0 || len(list) != 2 || list[0].Signature != "get_weather(city: string)" || !list[1].Hints.Destructive {
		t.Errorf("%v %s", err, out)
	}
	out, _, code = run(t, "", "tools", "show", "get_weather", file)
	if code != 0 || !strings.HasPrefix(out, "get_weather(city: string)\n") || !strings.Contains(out, `"city"`) {
		t.Error(code, out)
	}
	if _, errs, code := run(t, "", "tools", "show", "get_wether", file); code != exitMisuse || !strings.Contains(errs, `did you mean "get_weather"`) {
		t.Error(code, errs)
	}
	out, _, code = run(t, "", "tools", "check", file)
	if code != exitNoCalls || !strings.Contains(out, "wipe disk: name:") || !strings.Contains(out, "wipe disk /properties/o: free_form:") {
		t.Error(code, out)
	}
	if out, _, code = run(t, "", "tools", "check", "--json", mcpConfig(t, "")); code != 0 || out != "[]\n" {
		t.Error(code, out)
	}
	for _, format := range []string{"openai", "anthropic", "ollama", "gemini", "cohere", "bedrock", "mcp", "openai-responses"} {
		out, errs, code := run(t, "", "tools", "convert", file, "--to", format)
		if code != 0 {
			t.Error(format, errs)
			continue
		}
		tools, err := registry.Parse([]byte(out))
		if format != "bedrock" && (err != nil || len(tools) != 2 || tools[0].Name != "get_weather" || !strings.Contains(out, `"city"`)) {
			t.Errorf("%s: %v %s", format, err, out)
		}
		if strings.Contains(out, "propertyOrdering") {
			t.Errorf("%s: what the registry adds is shown: %s", format, out)
		}
	}
	for want, args := range map[string][]string{
		"--to is":         {"convert", file, "--to", "xml"},
		"no such file":    {"list", "/no/such/file"},
		"not an OpenAPI":  {"list", write(t, "x", "hello")},
		"NAME: VALUE":     {"list", file, "--api-header", "x"},
		"use tools list,": {},
	} {
		if _, errs, code := run(t, "", append([]string{"tools"}, args...)...); code != exitMisuse || !strings.Contains(errs, want) {
			t.Errorf("%q: %d %s", want, code, errs)
		}
	}
}

// TestDispatchDocument runs the console example of docs/dispatch.md.
func TestDispatchDocument(t *testing.T) {
	data, err := os.ReadFile("../../docs/dispatch.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(data), "```console\n$ callwright tools check tools.json\n")
	want, _, _ := strings.Cut(block, "```")
	file := write(t, "tools.json", `{"name": "get weather", "parameters": {"type": "object", "properties": {"days": {"type": "integer", "default": "3"}}}}`)
	if out, _, code := run(t, "", "tools", "check", file); out != want || code != exitNoCalls {
		t.Errorf("exit %d\n%s", code, out)
	}
}

// model is a model server without tool calling that says one thing after another.
func model(t *testing.T, says ...string) (url string, asked *atomic.Int32) {
	t.Helper()
	asked = new(atomic.Int32)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			http.NotFound(w, r)
			return
		}
		n := int(asked.Add(1))
		content, err := json.Marshal(says[min(n, len(says))-1])
		if err != nil {
			t.Error(err)
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if !strings.Contains(string(body), `"stream":true`) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"id":"c","model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":%s}}]}`, content)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: {\"id\":\"c\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":%s}}]}\n\n", content)
		_, _ = io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	}))
	t.Cleanup(s.Close)
	return s.URL, asked
}

const addNote = `<tool_call>{"name": "notes__add_note", "arguments": {"text": "ha", "times": "2"}}</tool_call>`

func TestRun(t *testing.T) {
	for _, tt := range []struct {
		name       string
		config     string
		stdin      string
		args       []string
		says       []string
		code       int
		out, trace string
	}{
		{"allowed by the file", `, "allow": ["add_*"]`, "", nil, []string{addNote, "Done."}, 0, "Done.\n", "← notes__add_note: haha"},
		{"whole", `, "allow": ["*"]`, "", []string{"--whole"}, []string{addNote, "Done."}, 0, "Done.\n", "← notes__add_note: haha"},
		{"allowed by a flag", "", "", []string{"--allow", "notes__*"}, []string{addNote, "Done."}, 0, "Done.\n", `→ notes__add_note {"text":"ha","times":2}`},
		{"nobody to ask", "", "", nil, []string{addNote, "I may not."}, 0, "I may not.\n", "not_approved"},
		{"yes", "", "?\ny\n", []string{"--ask", "stdin"}, []string{addNote, "Done."}, 0, "Done.\n", "← notes__add_note: haha"},
		{"no", "", "n not this\n", []string{"--ask", "stdin"}, []string{addNote, "Well."}, 0, "Well.\n", "not this"},
		{"always", "", "a\n", []string{"--ask", "stdin"}, []string{addNote, addNote, "Done."}, 0, "Done.\n", "← notes__add_note: haha"},
		{"edit", "", "e\n{oops\ne\n{\"text\": \"ho\", \"times\": 3}\n", []string{"--ask", "stdin"}, []string{addNote, "Done."}, 0, "Done.\n", "← notes__add_note: hohoho"},
		{"denied", "", "", []string{"--yes", "--deny", "*note*"}, []string{addNote, "No."}, 0, "No.\n", "denied"},
		{"all allowed", "", "", []string{"--yes"}, []string{addNote, "Done."}, 0, "Done.\n", "haha"},
		{"limit", "", "", []string{"--yes", "--max-turns", "2"}, []string{addNote}, exitNoCalls, "", "stopped: turns"},
		{"dry run", "", "", []string{"--dry-run"}, []string{addNote}, 0, "notes__add_note", ""},
		{"no arguments", "", "", []string{"--yes"}, []string{`<tool_call>{"name": "notes__add_note", "arguments": {}}</tool_call>`, "Sorry."}, 0, "Sorry.\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			url, _ := model(t, tt.says...)
			args := append([]string{"run", "--tools", mcpConfig(t, tt.config), "--upstream", url, "--upstream-format", "openai", "--model", "m", "Add a note"}, tt.args...)
			out, trace, code := run(t, tt.stdin, args...)
			if code != tt.code || !strings.Contains(out, tt.out) || tt.out == "" && out != "" && tt.code == 0 || !strings.Contains(trace, tt.trace) {
				t.Errorf("exit %d\n%s\n%s", code, out, trace)
			}
		})
	}
}

func TestRunTranscript(t *testing.T) {
	url, asked := model(t, addNote, "Done.", "And done.")
	file := filepath.Join(t.TempDir(), "talk.jsonl")
	args := []string{"run", "--tools", mcpConfig(t, `, "allow": ["*"]`), "--upstream", url, "--upstream-format", "openai", "--model", "m", "--system", "Be brief", "--transcript", file}
	for _, text := range []string{"First", "Second"} {
		if _, errs, code := run(t, "", append(args, text)...); code != 0 {
			t.Fatal(errs)
		}
	}
	data, err := os.ReadFile(file)
	if err != nil || asked.Load() != 3 || strings.Count(string(data), "Be brief") != 1 || !strings.Contains(string(data), "Second") || !strings.Contains(string(data), "haha") {
		t.Errorf("%v %s", err, data)
	}
	for want, args := range map[string][]string{
		"are required":   {"x"},
		"has no handler": {"--tools", write(t, "tools.json", definitions), "--model", "m", "--upstream", url, "x"},
		"transcript, li": {"--tools", mcpConfig(t, ""), "--model", "m", "--upstream", url, "--transcript", write(t, "t", "{"), "x"},
	} {
		if _, errs, code := run(t, "", append([]string{"run"}, args...)...); code != exitMisuse || !strings.Contains(errs, want) {
			t.Errorf("%q: %d %s", want, code, errs)
		}
	}
}

func TestFirstLine(t *testing.T) {
	for in, want := range map[string]string{
		"a\x1b[2Jb\u202ec": "a\ufffd[2Jb\ufffdc", "one\ntwo": "one …", "  x \n": "x", strings.Repeat("é", 200): strings.Repeat("é", 160) + " …",
	} {
		if got := firstLine(in); got != want {
			t.Errorf("%q: %q", in, got)
		}
	}
}

// TestMCP drives the official SDK's client through the command, over standard input and
// output and over HTTP.
func TestMCP(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	upstream := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return mcpServer() }, nil))
	defer upstream.Close()
	defer upstream.CloseClientConnections()
	log := filepath.Join(t.TempDir(), "log")
	for name, transport := range map[string]func(t *testing.T) mcp.Transport{
		"stdio": func(t *testing.T) mcp.Transport {
			cmd := command(program, "mcp", "--log", log, "--", "env", "-u", "CALLWRIGHT_TEST_MAIN", "CALLWRIGHT_TEST_MCP_SERVER=1", program)
			cmd.Stderr = os.Stderr
			return &mcp.CommandTransport{Command: cmd}
		},
		"http": func(t *testing.T) mcp.Transport {
			ctx, cancel := context.WithCancel(context.Background())
			r, w := io.Pipe()
			done := make(chan error, 1)
			c := newRoot()
			c.SetArgs([]string{"mcp", "--url", upstream.URL, "--log", log})
			c.SetErr(w)
			go func() { done <- c.ExecuteContext(ctx) }()
			var address string
			if _, err := fmt.Fscanln(r, &address); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				cancel()
				if err := <-done; err != nil {
					t.Error(err)
				}
			})
			return &mcp.StreamableClientTransport{Endpoint: address}
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := context.Background()
			session, err := mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, nil).Connect(ctx, transport(t), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = session.Close() }()
			if _, err := session.ListTools(ctx, nil); err != nil {
				t.Fatal(err)
			}
			r, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "add_note", Arguments: json.RawMessage(`{"TEXT": "ha", "times": "2"}`)})
			if err != nil || r.IsError || r.Content[0].(*mcp.TextContent).Text != "haha" {
				t.Error(r, err)
			}
		})
	}
	if data, err := os.ReadFile(log); err != nil || strings.Count(string(data), "call mended") != 2 {
		t.Errorf("%v %s", err, data)
	}
	for _, args := range [][]string{{}, {"--url", "x", "--", "y"}, {"--url", upstream.URL, "--listen", "0.0.0.0:0"}, {"--url", "ftp://x"}, {"--on-invalid", "x", "--", "y"}, {"--defaults", "x", "--", "y"}} {
		if _, _, code := run(t, "", append([]string{"mcp"}, args...)...); code != exitMisuse {
			t.Error(args, code)
		}
	}
	if out, errs, code := run(t, "{\"id\":1}\nx", "mcp", "--stats", "--", "cat"); code != 0 || out != "{\"id\":1}\nx" || !strings.Contains(errs, `"messages":2`) {
		t.Error(out, errs, code)
	}
}

// command is the command as a program of its own.
func command(program string, args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), "CALLWRIGHT_TEST_MAIN=1")
	return cmd
}

// TestRunOllama has a real Ollama server's models, with and without tools of their own,
// call a tool of an MCP server.
func TestRunOllama(t *testing.T) {
	s := ollamatest.Start(t)
	for name, template := range map[string]string{"plain": ollamatest.PlainTemplate, "tools": ollamatest.ToolTemplate} {
		s.Dialogue(t, name, addNote, "The note is there.", template)
		for _, more := range [][]string{{}, {"--whole"}, {"--upstream-format", "ollama"}} {
			args := append([]string{"run", "--tools", mcpConfig(t, `, "allow": ["*"]`), "--upstream", s.URL, "--model", name, "Add a note"}, more...)
			out, trace, code := run(t, "", args...)
			if code != 0 || strings.TrimSpace(out) != "The note is there." || !strings.Contains(trace, "← notes__add_note: haha") {
				t.Errorf("%s %s: exit %d\n%s\n%s", name, more, code, out, trace)
			}
		}
	}
}
