package mcpproxy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"
)

// TestMain is also the programs that are run as servers.
func TestMain(m *testing.M) {
	switch os.Getenv("MCPPROXY_TEST_SERVER") {
	case "sdk":
		fmt.Fprintln(os.Stderr, "server started")
		if err := newServer(new(atomic.Int32)).Run(context.Background(), &mcp.StdioTransport{}); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	case "echo":
		_, _ = io.Copy(os.Stdout, os.Stdin)
	case "fail":
		os.Exit(3)
	case "stay":
		time.Sleep(time.Minute)
	default:
		goleak.VerifyTestMain(m)
	}
}

type lines struct {
	Path  string   `json:"path" jsonschema:"the file"`
	Lines int      `json:"lines,omitempty"`
	Tags  []string `json:"tags,omitempty"`
	Deep  bool     `json:"deep,omitempty"`
}

// newServer is a server that is written with the official SDK. It refuses what does not
// fit its schema.
func newServer(calls *atomic.Int32) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	var add sync.Once
	mcp.AddTool(s, &mcp.Tool{Name: "read_lines", Description: "Reads lines"},
		func(ctx context.Context, r *mcp.CallToolRequest, in lines) (*mcp.CallToolResult, any, error) {
			calls.Add(1)
			if token := r.Params.GetProgressToken(); token != nil {
				_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: 1, Total: 2, Message: "half"})
			}
			if in.Path == "more" { // from now on there is another tool
				add.Do(func() {
					mcp.AddTool(s, &mcp.Tool{Name: "add"}, func(_ context.Context, _ *mcp.CallToolRequest, in struct {
						A, B int
					},
					) (*mcp.CallToolResult, any, error) {
						return nil, map[string]any{"sum": in.A + in.B}, nil
					})
				})
			}
			return nil, map[string]any{"path": in.Path, "lines": in.Lines, "tags": in.Tags, "deep": in.Deep}, nil
		})
	mcp.AddTool(s, &mcp.Tool{Name: "wait"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		select {
		case <-ctx.Done():
		case <-time.After(time.Second): // without sessions nobody tells it
		}
		return nil, nil, ctx.Err()
	})
	return s
}

// server is the command of a test server.
func server(t testing.TB, kind string) *exec.Cmd {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), "MCPPROXY_TEST_SERVER="+kind)
	return cmd
}

// way is a way through a proxy to a server that is written with the official SDK.
type way struct {
	proxy     *Proxy
	transport mcp.Transport
	end       func()
}

func stdioWay(t *testing.T) way {
	p := newProxy(t, Options{})
	inReader, inWriter := io.Pipe()
	outReader, outWriter := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := p.Stdio(context.Background(), inReader, outWriter, server(t, "sdk"))
		_ = outWriter.Close()
		done <- err
	}()
	return way{p, &mcp.IOTransport{Reader: outReader, Writer: inWriter}, func() {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}}
}

func httpWay(options *mcp.StreamableHTTPOptions) func(t *testing.T) way {
	return func(t *testing.T) way {
		s := newServer(new(atomic.Int32))
		upstream := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, options))
		p := newProxy(t, Options{})
		h, err := p.Handler(upstream.URL)
		if err != nil {
			t.Fatal(err)
		}
		front := httptest.NewServer(h)
		client := &http.Client{Transport: &http.Transport{}}
		return way{p, &mcp.StreamableClientTransport{Endpoint: front.URL + "/mcp", HTTPClient: client}, func() {
			client.CloseIdleConnections()
			front.CloseClientConnections()
			front.Close()
			h.(*handler).proxy.Transport.(*http.Transport).CloseIdleConnections()
			upstream.CloseClientConnections()
			upstream.Close()
		}}
	}
}

// TestServers drives a server of the official SDK with its client through the proxy.
func TestServers(t *testing.T) {
	for name, open := range map[string]func(*testing.T) way{
		"stdio": stdioWay, "http": httpWay(nil), "http with JSON": httpWay(&mcp.StreamableHTTPOptions{JSONResponse: true}),
		"http without sessions": httpWay(&mcp.StreamableHTTPOptions{Stateless: true}),
	} {
		t.Run(name, func(t *testing.T) {
			w := open(t)
			defer w.end()
			ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
			defer cancel()
			progress, changed := newSignal(), newSignal()
			client := mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, &mcp.ClientOptions{
				ProgressNotificationHandler: func(context.Context, *mcp.ProgressNotificationClientRequest) { progress.set() },
				ToolListChangedHandler:      func(context.Context, *mcp.ToolListChangedRequest) { changed.set() },
			})
			session, err := client.Connect(ctx, w.transport, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = session.Close() }()
			if tools, err := session.ListTools(ctx, nil); err != nil || len(tools.Tools) != 2 {
				t.Fatal(tools, err)
			}
			call := func(tool, arguments string) string {
				t.Helper()
				params := &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)}
				params.SetProgressToken("p")
				r, err := session.CallTool(ctx, params)
				if err != nil {
					return "error: " + err.Error()
				}
				text := ""
				if len(r.Content) > 0 {
					text = r.Content[0].(*mcp.TextContent).Text
				}
				return fmt.Sprint(r.IsError, " ", text)
			}
			want := `false {"deep":true,"lines":3,"path":"a","tags":["x"]}`
			for _, arguments := range []string{
				`{"path":"a","lines":3,"tags":["x"],"deep":true}`, `{"PATH":"a","lines":"3","tags":"[\"x\"]","deep":"true"}`,
				`{"path":"a","lines":3,"tags":["x"],"deep":true,"unknown":1}`,
			} {
				if got := call("read_lines", arguments); got != want {
					t.Errorf("%s gave %s", arguments, got)
				}
			}
			if got := call("ReadLines", `{"path":"a","lines":3,"tags":["x"],"deep":true}`); got != want {
				t.Error(got)
			}
			if got := call("read_lines", `{"lines":"many"}`); !strings.HasPrefix(got, "true ") || !strings.Contains(got, "Correct the call") {
				t.Error(got)
			}
			progress.wait(t)
			if got := call("nothing", `{}`); !strings.HasPrefix(got, "error: ") {
				t.Error(got)
			}
			waiting, stop := context.WithTimeout(ctx, 50*time.Millisecond)
			if _, err := session.CallTool(waiting, &mcp.CallToolParams{Name: "wait"}); err == nil {
				t.Error("a call that was cancelled has a result")
			}
			stop()
			if name != "http without sessions" {
				call("read_lines", `{"path":"more"}`)
				changed.wait(t)
				if got := call("read_lines", `{"path":"a","lines":"3"}`); !strings.Contains(got, "lines") || strings.HasPrefix(got, "false") {
					t.Errorf("the list has changed, and a call passes as it is: %s", got)
				}
				if tools, err := session.ListTools(ctx, nil); err != nil || len(tools.Tools) != 3 {
					t.Fatal(tools, err)
				}
				if got := call("add", `{"A":"1","B":2}`); got != `false {"sum":3}` {
					t.Error(got)
				}
			}
			if s := w.proxy.Stats(); s.Mended < 3 || s.Refused != 1 || s.Lists < 1 {
				t.Errorf("%+v", s)
			}
		})
	}
}

type signal chan struct{}

func newSignal() signal { return make(signal, 1) }

func (s signal) set() {
	select {
	case s <- struct{}{}:
	default:
	}
}

func (s signal) wait(t *testing.T) {
	t.Helper()
	select {
	case <-s:
	case <-time.After(10 * time.Second):
		t.Fatal("nothing came")
	}
}

// TestStdioBytes holds that lines pass byte for byte, whatever they are and however they
// come, in both directions.
func TestStdioBytes(t *testing.T) {
	huge := `{"id":1,"result":"` + strings.Repeat("x", MaxMessage+100_000) + `"}`
	big := `{"id":2,"method":"tools/call","params":{"name":"f","arguments":{"a":"` + strings.Repeat("y", 300_000) + `"}}}`
	input := "{\"id\":1}\r\n\n\r\n{oops\n" + huge + "\n" + big + "\n\xff\xfe\n[1,\n{\"id\":1.0,\"b\":1e2}\nno newline"
	for name, in := range map[string]io.Reader{"whole": strings.NewReader(input), "bytes": iotestOneByte(input[:40])} {
		var out bytes.Buffer
		if err := newProxy(t, Options{}).Stdio(context.Background(), io.NopCloser(in), &out, server(t, "echo")); err != nil {
			t.Error(err)
		}
		want := input
		if name == "bytes" {
			want = input[:40]
		}
		if out.String() != want {
			t.Errorf("%s: %d bytes became %d: %.100q", name, len(want), out.Len(), out.String())
		}
	}
}

// oneByte gives one byte at a time.
type oneByte struct{ r io.Reader }

func (o oneByte) Read(b []byte) (int, error) { return o.r.Read(b[:min(1, len(b))]) }

func iotestOneByte(s string) io.Reader { return oneByte{strings.NewReader(s)} }

func TestStdioStrict(t *testing.T) {
	var out, banners bytes.Buffer
	cmd := server(t, "echo")
	cmd.Stderr = &banners
	in := "Welcome!\n{\"id\":1}\n \n[DONE]\n"
	if err := newProxy(t, Options{Strict: true}).Stdio(context.Background(), io.NopCloser(strings.NewReader(in)), &out, cmd); err != nil {
		t.Error(err)
	}
	if out.String() != "{\"id\":1}\n \n[DONE]\n" || banners.String() != "Welcome!\n" {
		t.Errorf("%q %q", out.String(), banners.String())
	}
}

// TestStdioEnds holds that servers that fail or stay are told of and ended.
func TestStdioEnds(t *testing.T) {
	in, stay := io.Pipe()
	defer func() { _ = stay.Close() }()
	var exit *exec.ExitError
	err := newProxy(t, Options{}).Stdio(context.Background(), in, io.Discard, server(t, "fail"))
	if !errors.As(err, &exit) || exit.ExitCode() != 3 {
		t.Error(err)
	}
	if _, err := stay.Write([]byte("x")); err == nil {
		t.Error("the client's input is still open")
	}
	in, _ = io.Pipe()
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	start := time.Now()
	if err := newProxy(t, Options{}).Stdio(ctx, in, io.Discard, server(t, "stay")); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if took := time.Since(start); took > endAfter {
		t.Errorf("it took %v", took)
	}
	if err := newProxy(t, Options{}).Stdio(context.Background(), in, io.Discard, exec.Command("/no/such/program")); err == nil {
		t.Error("there is no such program")
	}
}

// TestHandlerBytes holds that requests and answers pass as they are, headers with the
// parameters of a mended call follow it, and other sites are refused.
func TestHandlerBytes(t *testing.T) {
	var got struct {
		body   string
		header http.Header
		path   string
	}
	answer, kind := "", "application/json"
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got.body, got.header, got.path = string(body), r.Header, r.URL.String()
		w.Header().Set("Content-Type", kind)
		w.Header().Set("Mcp-Session-Id", "s")
		_, _ = io.WriteString(w, answer)
	}))
	defer upstream.Close()
	p := newProxy(t, Options{})
	h, err := p.Handler(upstream.URL + "/deep/mcp")
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(h)
	defer front.Close()
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	defer h.(*handler).proxy.Transport.(*http.Transport).CloseIdleConnections()
	post := func(body string, header ...string) (int, string) {
		t.Helper()
		r, err := http.NewRequest(http.MethodPost, front.URL+"/any?q=1", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer key")
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		if host := r.Header.Get("Host"); host != "" {
			r.Host = host
		}
		res, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		out, _ := io.ReadAll(res.Body)
		return res.StatusCode, string(out)
	}
	const listed = `{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"f","inputSchema":{"type":"object","properties":{
		"city":{"type":"string","x-mcp-header":"City"},"n":{"type":"integer","default":2,"x-mcp-header":"N"},
		"in":{"type":"object","properties":{"b":{"type":"boolean","x-mcp-header":"B"}}}},"required":["n"]}}]}}`
	for _, stream := range []bool{false, true} {
		answer, kind = listed, "application/json"
		if stream {
			kind = "text/event-stream"
			answer = "event: message\r\nid: 1\r\ndata: {\"method\":\"x\"}\r\n\r\n: ping\r\n\r\ndata: " + strings.ReplaceAll(listed, "\n", "\r\ndata:") + "\r\n\r\n"
		}
		key := fmt.Sprint("Bearer ", stream)
		if _, out := post(`{"id":1,"method":"tools/list"}`, "Authorization", key); out != answer {
			t.Errorf("%q, want %q", out, answer)
		}
		if got.path != "/deep/mcp?q=1" || got.header.Get("Authorization") != key {
			t.Error(got.path, got.header)
		}
		answer = "ok"
		call := `{"id":2,"method":"tools/call","params":{"name":"F","arguments":{"city":"Zürich","in":{"b":"true"}}}}`
		post(call, "Authorization", key, "Mcp-Protocol-Version", "2026-07-28", "Mcp-Name", "F", "Mcp-Method", "tools/call", "Mcp-Param-City", "x")
		if want := `{"id":2,"method":"tools/call","params":{"name":"f","arguments":{"city":"Zürich","in":{"b":true},"n":2}}}`; got.body != want {
			t.Errorf("%s, want %s", got.body, want)
		}
		for name, want := range map[string]string{"Mcp-Name": "f", "Mcp-Param-City": "=?base64?WsO8cmljaA==?=", "Mcp-Param-N": "2", "Mcp-Param-B": "true"} {
			if v := got.header.Get(name); v != want {
				t.Errorf("%s is %q, want %q", name, v, want)
			}
		}
		if _, out := post(`{"id":2,"method":"tools/call","params":{"name":"f","arguments":{"n":"x"}}}`, "Authorization", key); !strings.Contains(out, `"isError":true`) {
			t.Error(out)
		}
		if same := `{"id":2,"method":"tools/call","params":{"name":"f","arguments":{"n":"2"}}}`; true {
			if post(same, "Authorization", "Bearer other"); got.body != same {
				t.Error("one client's tools are used for another's calls")
			}
		}
	}
	for _, body := range []string{"", "{", "\xff", `{"id":1}`, strings.Repeat("x", MaxMessage+5)} {
		answer = strings.Repeat("y", 10) + body
		if _, out := post(body); got.body != body || out != answer {
			t.Errorf("%.20q became %.20q, %.20q", body, got.body, out)
		}
	}
	for _, header := range [][]string{{"Origin", "https://evil.example"}, {"Host", "evil.example"}} {
		if status, _ := post("{}", header...); status != http.StatusForbidden {
			t.Error(header, status)
		}
	}
	if status, _ := post("{}", "Origin", front.URL); status != http.StatusOK {
		t.Error(status)
	}
	if _, err := p.Handler("http://169.254.169.254/"); err == nil {
		t.Error("the address is not allowed")
	}
	upstream.Close()
	if status, _ := post("{}"); status != http.StatusBadGateway {
		t.Error(status)
	}
}

func Example() {
	p, err := New(Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if bytes.Contains(body, []byte("tools/call")) {
			fmt.Println(string(body))
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"read","inputSchema":{"properties":{"lines":{"type":"integer"}}}}]}}`)
	}))
	defer upstream.Close()
	h, err := p.Handler(upstream.URL)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, message := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"read","arguments":{"lines":"3"}}}`,
	} {
		r := httptest.NewRequest(http.MethodPost, "http://localhost/mcp", strings.NewReader(message))
		h.ServeHTTP(httptest.NewRecorder(), r)
	}
	h.(*handler).proxy.Transport.(*http.Transport).CloseIdleConnections()
	// Output: {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"read","arguments":{"lines":3}}}
}

// cutter gives its text in pieces of some sizes.
type cutter struct {
	text  []byte
	sizes []byte
	next  int
}

func (c *cutter) Read(b []byte) (int, error) {
	if len(c.text) == 0 {
		return 0, io.EOF
	}
	size := len(c.text)
	if len(c.sizes) > 0 {
		size = int(c.sizes[c.next%len(c.sizes)])%17 + 1
		c.next++
	}
	n := copy(b, c.text[:min(size, len(c.text))])
	c.text = c.text[n:]
	return n, nil
}

// FuzzLines holds that lines of any bytes pass as they are in both directions, however
// they come, as long as no tools are known.
func FuzzLines(f *testing.F) {
	f.Add([]byte("{\"id\":1,\"method\":\"tools/list\"}\r\n\n[1]\nrest"), []byte{1, 200, 3})
	f.Add([]byte("\n\n\r\n"), []byte{})
	f.Fuzz(func(t *testing.T, text, sizes []byte) {
		p := newProxy(t, Options{})
		var toServer, toClient bytes.Buffer
		client := &lineWriter{shared: new(sync.Mutex), w: &toClient}
		p.fromClient(&cutter{text: text, sizes: sizes}, &toServer, client, p.conversation(&catalog{}))
		if !bytes.Equal(toServer.Bytes(), text) || toClient.Len() > 0 {
			t.Fatalf("%q became %q, and the client was told %q", text, &toServer, &toClient)
		}
		copyLines(&cutter{text: text, sizes: sizes}, client, nil, p.conversation(&catalog{}))
		if !bytes.Equal(toClient.Bytes(), text) {
			t.Fatalf("%q became %q", text, &toClient)
		}
	})
}
