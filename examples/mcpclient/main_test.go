package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/callwright/callwright/dispatch/mcptools"
)

// TestMain is also the MCP server.
func TestMain(m *testing.M) {
	if os.Getenv("EXAMPLE_SERVER") == "" {
		os.Exit(m.Run())
	}
	type file struct {
		Path  string `json:"path"`
		Lines int    `json:"lines,omitempty"`
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "files", Version: "1"}, nil)
	for name, reads := range map[string]bool{"read_file": true, "remove_file": false} {
		mcp.AddTool(s, &mcp.Tool{Name: name, Annotations: &mcp.ToolAnnotations{ReadOnlyHint: reads}},
			func(_ context.Context, _ *mcp.CallToolRequest, in file) (*mcp.CallToolResult, any, error) {
				text := fmt.Sprintf("%s, %d lines", in.Path, in.Lines)
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil, nil
			})
	}
	if err := s.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

func TestRun(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	server := mcptools.Server{Name: "files", Command: []string{program}, Env: []string{"EXAMPLE_SERVER=1"}, TrustHints: true}
	var out bytes.Buffer
	text := `<tool_call>{"name": "read_file", "arguments": {"PATH": "a.txt", "lines": "3"}}</tool_call>
<tool_call>{"name": "files__remove_file", "arguments": {"path": "a.txt"}}</tool_call>`
	if err := run(context.Background(), server, text, &out); err != nil {
		t.Fatal(err)
	}
	want := "files__read_file: a.txt, 3 lines\nfiles__remove_file: Error (not_approved): The user did not allow"
	if !strings.HasPrefix(out.String(), want) {
		t.Errorf("%s", &out)
	}
	server.Command = []string{"/no/such/program"}
	if err := run(context.Background(), server, text, &out); err == nil {
		t.Error("there is no such server")
	}
}
