package mcptools_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/callwright/callwright/dispatch"
	"github.com/callwright/callwright/dispatch/mcptools"
)

// TestMain is also the program of the server: with an argument, it serves.
func TestMain(m *testing.M) {
	if os.Getenv("MCPTOOLS_TEST_SERVER") != "" {
		fmt.Fprintln(os.Stderr, "server started")
		if err := newServer(new(atomic.Int32)).Run(context.Background(), &mcp.StdioTransport{}); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

type lines struct {
	Path  string `json:"path" jsonschema:"the file"`
	Count int    `json:"count,omitempty"`
}

// newServer returns a server that is written with the official SDK.
func newServer(calls *atomic.Int32) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	yes := true
	mcp.AddTool(s, &mcp.Tool{Name: "read_lines", Description: "Reads lines", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}},
		func(ctx context.Context, r *mcp.CallToolRequest, in lines) (*mcp.CallToolResult, map[string]any, error) {
			calls.Add(1)
			if token := r.Params.GetProgressToken(); token != nil {
				_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: 1, Total: 2, Message: "half"})
			}
			return nil, map[string]any{"path": in.Path, "lines": in.Count}, nil
		})
	mcp.AddTool(s, &mcp.Tool{Name: "delete", Annotations: &mcp.ToolAnnotations{DestructiveHint: &yes}},
		func(context.Context, *mcp.CallToolRequest, lines) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "deleted"}}}, nil, nil
		})
	mcp.AddTool(s, &mcp.Tool{Name: "fail", Title: "Fails"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		return nil, nil, errors.New("no paper")
	})
	mcp.AddTool(s, &mcp.Tool{Name: "mixed"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{
			&mcp.TextContent{Text: "a"}, &mcp.ImageContent{MIMEType: "image/png", Data: []byte("png")}, &mcp.ResourceLink{URI: "file:///x", Name: "x"},
			&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "file:///y", Text: "inner"}},
			&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "file:///z", MIMEType: "a/b", Blob: []byte("1234")}},
		}}, nil, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "wait"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		select {
		case <-ctx.Done():
		case <-time.After(2 * time.Second):
		}
		return nil, nil, ctx.Err()
	})
	return s
}

// inMemory is a server in the same program.
func inMemory(t *testing.T, calls *atomic.Int32) func() (mcp.Transport, error) {
	return func() (mcp.Transport, error) {
		a, b := mcp.NewInMemoryTransports()
		session, err := newServer(calls).Connect(context.Background(), a, nil)
		if err != nil {
			return nil, err
		}
		t.Cleanup(func() { _ = session.Close(); _ = session.Wait() })
		return b, nil
	}
}

// servers are the ways to reach the server.
func servers(t *testing.T) map[string]mcptools.Server {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := newServer(new(atomic.Int32))
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer key" {
			http.Error(w, "unauthorized", http.StatusUnauthorized)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { web.CloseClientConnections(); web.Close() })
	return map[string]mcptools.Server{
		"memory":  {Transport: inMemory(t, new(atomic.Int32))},
		"command": {Command: []string{program}, Env: []string{"MCPTOOLS_TEST_SERVER=1"}},
		"http":    {URL: web.URL, Header: http.Header{"Authorization": {"Bearer key"}}},
	}
}

func TestServers(t *testing.T) {
	for name, s := range servers(t) {
		t.Run(name, func(t *testing.T) {
			ctx := context.Background()
			var mu sync.Mutex
			var progress []mcptools.Progress
			s.Name, s.Allow, s.TrustHints = "files", []string{"mixed", "del*"}, true
			s.OnProgress = func(p mcptools.Progress) {
				mu.Lock()
				defer mu.Unlock()
				progress = append(progress, p)
			}
			set, err := mcptools.Open(ctx, s)
			if err != nil || len(set.Failed) > 0 {
				t.Fatal(err, set.Failed)
			}
			defer func() {
				if err := set.Close(); err != nil {
					t.Error(err)
				}
			}()
			d := &dispatch.Dispatcher{Policy: dispatch.Policy{Rules: set.Rules}}
			if err := d.Add(set.Tools...); err != nil {
				t.Fatal(err)
			}
			var tools []string
			for _, tool := range d.Tools() {
				tools = append(tools, fmt.Sprintf("%s %q %v", d.Registry().Get(tool.Name).Signature(), tool.Description, tool.Hints))
			}
			slices.Sort(tools)
			want := []string{
				`files__delete(path: string, count?: integer) "" {false true false false}`, `files__fail() "Fails" {false false false false}`,
				`files__mixed() "" {false false false false}`, `files__read_lines(path: string, count?: integer) "Reads lines" {true false false false}`,
				`files__wait() "" {false false false false}`,
			}
			if diff := cmp.Diff(want, tools); diff != "" {
				t.Error(diff)
			}
			r := d.Call(ctx, "files__read_lines", map[string]any{"path": "a", "count": "3"}, nil)
			if r.Text != `{"lines":3,"path":"a"}` || r.Value.(map[string]any)["path"] != "a" {
				t.Errorf("%+v %v", r, r.Err)
			}
			for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(time.Millisecond) {
				mu.Lock()
				done := len(progress) > 0
				mu.Unlock()
				if done || time.Now().After(deadline) {
					break
				}
			}
			mu.Lock()
			if len(progress) != 1 || progress[0].CallID != "call_1" || progress[0].Message != "half" {
				t.Errorf("%+v", progress)
			}
			mu.Unlock()
			if r := d.Call(ctx, "files__read_lines", map[string]any{"count": "x"}, nil); r.Err == nil || r.Err.Code != dispatch.CodeRejected {
				t.Error(r.Err)
			}
			r = d.Call(ctx, "files__mixed", nil, nil)
			if r.Text != "a\nfile:///x\ninner\n[file:///z, a/b, 4 bytes, not shown]" || len(r.Media) != 1 || r.Media[0].Data != "cG5n" {
				t.Errorf("%+v %v", r, r.Err)
			}
			if r := d.Call(ctx, "files__delete", map[string]any{"path": "a"}, nil); r.Text != "deleted" {
				t.Error(r.Err)
			}
			if r := d.Call(ctx, "files__fail", nil, nil); r.Err == nil || r.Err.Code != dispatch.CodeNotApproved {
				t.Error("what nobody allowed runs", r.Err)
			}
			open := &dispatch.Dispatcher{Policy: dispatch.Policy{Rules: []dispatch.Rule{{Do: dispatch.Allow}}}, Timeout: 50 * time.Millisecond}
			if err := open.Add(set.Tools...); err != nil {
				t.Fatal(err)
			}
			if r := open.Call(ctx, "files__fail", nil, nil); r.Err == nil || r.Err.Code != dispatch.CodeFailed || r.Err.Message != "no paper" {
				t.Error(r.Err)
			}
			if r := open.Call(ctx, "files__wait", nil, nil); r.Err == nil || r.Err.Code != dispatch.CodeTimeout {
				t.Error(r.Err)
			}
		})
	}
}

// TestReconnect holds that a server that ends is started again, and that its tools are
// unavailable meanwhile.
func TestReconnect(t *testing.T) {
	var calls atomic.Int32
	var sessions []*mcp.ServerSession
	down := false
	s := mcptools.Server{Name: "s", Allow: []string{"*"}, Transport: func() (mcp.Transport, error) {
		if down {
			return nil, errors.New("down")
		}
		a, b := mcp.NewInMemoryTransports()
		session, err := newServer(&calls).Connect(context.Background(), a, nil)
		sessions = append(sessions, session)
		return b, err
	}}
	ctx := context.Background()
	set, err := mcptools.Open(ctx, s)
	if err != nil || len(set.Failed) > 0 {
		t.Fatal(err, set.Failed)
	}
	defer func() { _ = set.Close() }()
	d := &dispatch.Dispatcher{Policy: dispatch.Policy{Rules: set.Rules}}
	if err := d.Add(set.Tools...); err != nil {
		t.Fatal(err)
	}
	args := map[string]any{"path": "a"}
	if r := d.Call(ctx, "s__read_lines", args, nil); r.Err != nil {
		t.Fatal(r.Err)
	}
	down = true
	if err := sessions[0].Close(); err != nil {
		t.Fatal(err)
	}
	for range 4 {
		r := d.Call(ctx, "s__read_lines", args, nil)
		if r.Err == nil || r.Err.Code != dispatch.CodeUnavailable || !dispatch.IsTransient(r.Err) {
			t.Fatal(r.Err)
		}
	}
	down = false
	deadline := time.Now().Add(20 * time.Second)
	for {
		r := d.Call(ctx, "s__read_lines", args, nil)
		if r.Err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal(r.Err)
		}
		time.Sleep(100 * time.Millisecond)
	}
	if len(sessions) != 2 || calls.Load() != 2 {
		t.Errorf("%d sessions, %d calls", len(sessions), calls.Load())
	}
	for _, x := range sessions {
		_ = x.Close()
		_ = x.Wait()
	}
}

func TestOpen(t *testing.T) {
	ctx := context.Background()
	good := mcptools.Server{Name: "good", Transport: inMemory(t, new(atomic.Int32)), Only: []string{"read_*", "delete"}, Except: []string{"del*"}}
	set, err := mcptools.Open(ctx, good, mcptools.Server{Name: "bad", Command: []string{"/no/such/program"}}, mcptools.Server{Name: "web", URL: "http://127.0.0.1:1/"})
	if err != nil {
		t.Fatal(err)
	}
	if len(set.Tools) != 1 || set.Tools[0].Name != "good__read_lines" || len(set.Failed) != 2 || len(set.Rules) != 0 {
		t.Errorf("%v %v", set.Tools, set.Failed)
	}
	if err := set.Close(); err != nil {
		t.Error(err)
	}
	for want, servers := range map[string][]mcptools.Server{
		"either a command or a URL": {{Name: "x"}},
		"x: an MCP server":          {{Name: "x", Command: []string{"a"}, URL: "http://b"}},
		"link-local":                {{Name: "x", URL: "http://169.254.169.254/"}},
		`both have a tool "fail"`:   {{Transport: inMemory(t, new(atomic.Int32)), Only: []string{"fail"}}, {Transport: inMemory(t, new(atomic.Int32)), Only: []string{"fail"}}},
	} {
		set, err := mcptools.Open(ctx, servers...)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		if set != nil {
			_ = set.Close()
		}
	}
	if _, err := mcptools.Connect(ctx, mcptools.Server{Name: "bad", Command: []string{"/no/such/program"}}); err == nil {
		t.Error("connected to nothing")
	}
}

func TestName(t *testing.T) {
	seen := map[string]bool{}
	for _, tt := range [][3]string{
		{"files", "read_file", "files__read_file"},
		{"", "read_file", "read_file"},
		{"a b", "c.d/e", ""},
		{"a_b", "c_d_e", "a_b__c_d_e"},
		{"files", strings.Repeat("x", 57), "files__" + strings.Repeat("x", 57)},
		{"files", strings.Repeat("x", 58), ""},
		{"files", strings.Repeat("x", 59), ""},
		{"files", "é", ""},
		{"files", "è", ""},
		{"", "", ""},
		{"a", "__b", "a____b"},
		{"a__", "b", "a____b"},
	} {
		name := mcptools.Name(tt[0], tt[1])
		if tt[2] != "" && name != tt[2] || len(name) > 64 || strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != "" || name == "" {
			t.Errorf("%q %q: %q", tt[0], tt[1], name)
		}
		if seen[name] && tt[2] == "" {
			t.Errorf("%q twice", name)
		}
		seen[name] = true
	}
}

func TestConfig(t *testing.T) {
	env := func(name string) (string, bool) { return "val-" + name, name == "KEY" }
	c, err := mcptools.ParseConfig([]byte(`{"mcpServers": {
		"files": {"command": "npx", "args": ["-y", "x", "${KEY}"], "env": {"TOKEN": "${KEY}"}, "cwd": "/tmp", "allow": ["read_*"], "except": ["rm"], "autoApprove": ["x"]},
		"web": {"type": "http", "url": "https://x/${KEY}", "headers": {"authorization": "Bearer ${KEY}"}, "trust_hints": true, "connect_timeout_ms": 10},
		"off": {"disabled": true}
	}}`), env)
	if err != nil {
		t.Fatal(err)
	}
	want := []mcptools.Server{
		{Name: "files", Command: []string{"npx", "-y", "x", "val-KEY"}, Env: []string{"TOKEN=val-KEY"}, Dir: "/tmp", Allow: []string{"read_*"}, Except: []string{"rm"}},
		{Name: "web", URL: "https://x/val-KEY", Header: http.Header{"Authorization": {"Bearer val-KEY"}}, TrustHints: true, ConnectTimeout: 10 * time.Millisecond},
	}
	if got, want := fmt.Sprintf("%+v", c.Servers), fmt.Sprintf("%+v", want); got != want {
		t.Errorf("%s\n%s", got, want)
	}
	if !slices.Equal(c.Unknown, []string{"files.autoApprove"}) {
		t.Error(c.Unknown)
	}
	for want, s := range map[string]string{
		"not a file":                       `[]`,
		`no "mcpServers"`:                  `{}`,
		"server a: the environment has no": `{"mcpServers": {"a": {"command": "${NOPE}"}}}`,
		"server a: an MCP server needs":    `{"mcpServers": {"a": {}}}`,
		`"sse" is not supported`:           `{"mcpServers": {"a": {"type": "sse", "url": "http://x"}}}`,
		"server a: json":                   `{"mcpServers": {"a": {"command": 5}}}`,
	} {
		if _, err := mcptools.ParseConfig([]byte(s), env); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if !mcptools.IsConfig([]byte(`{"mcpServers": {}}`)) || mcptools.IsConfig([]byte(`{"tools": []}`)) || mcptools.IsConfig([]byte(`[]`)) {
		t.Error("IsConfig")
	}
}

func ExampleConnect() {
	// A server in the same program stands in for mcptools.Server{Command: []string{"npx", …}}.
	server := mcp.NewServer(&mcp.Implementation{Name: "files", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "read_file"}, func(_ context.Context, _ *mcp.CallToolRequest, in struct {
		Path string `json:"path"`
	},
	) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "content of " + in.Path}}}, nil, nil
	})
	ctx := context.Background()
	near, far := mcp.NewInMemoryTransports()
	session, err := server.Connect(ctx, far, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = session.Wait() }()

	files, err := mcptools.Connect(ctx, mcptools.Server{
		Name: "files", Allow: []string{"read_*"}, Transport: func() (mcp.Transport, error) { return near, nil },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = files.Close() }()
	tools, err := files.Tools(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	d := dispatch.Dispatcher{Policy: dispatch.Policy{Rules: files.Rules(tools)}}
	if err := d.Add(tools...); err != nil {
		fmt.Println(err)
		return
	}
	r := d.Call(ctx, "files__read_file", map[string]any{"path": "a.txt"}, nil)
	fmt.Println(r.Text)
	// Output: content of a.txt
}
