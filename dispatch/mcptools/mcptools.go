// Package mcptools has the tools of MCP servers: programs that are spoken to over standard
// input and output, and servers behind a URL (streamable HTTP). It is the official SDK's
// client; what a server says is taken for a claim, not for evidence.
package mcptools

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/sony/gobreaker/v2"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/dispatch"
	"github.com/callwright/callwright/internal/process"
	"github.com/callwright/callwright/internal/safehttp"
	"github.com/callwright/callwright/registry"
)

// Server says how an MCP server is reached: by a Command or a URL.
type Server struct {
	// Name is the server's label. Tools are named "label__tool" where it is set.
	Name string
	// Command is a program and its arguments. There is no shell.
	Command []string
	// Dir is the program's folder; "" is the current one.
	Dir string
	// Env are environment variables of the program besides the usual ones such as PATH, as
	// NAME, which is inherited, or NAME=value.
	Env []string
	// Stderr gets what the program writes to standard error; nil discards it.
	Stderr io.Writer
	// URL is the server's address. Header is sent to it with each request, and nowhere else:
	// redirects are not followed.
	URL    string
	Header http.Header
	// Transport replaces Command and URL: for servers in the same program, and tests. It
	// is called for each connection.
	Transport func() (mcp.Transport, error)
	// Only, if not nil, are patterns of the tools that are offered; Except of those that are
	// not. Allow are patterns of those that may run without asking. In patterns of the
	// server's own names "*" stands for any text.
	Only, Except, Allow []string
	// TrustHints allows tools that the server calls read-only without asking.
	TrustHints bool
	// ConnectTimeout bounds the time for connecting; 0 means 30 s.
	ConnectTimeout time.Duration
	// OnChange is called when the server says that its list of tools changed.
	OnChange func()
	// OnProgress is called with what the server says of a call that runs.
	OnProgress func(Progress)
	// Log is told when the server is lost and found; nil tells nobody.
	Log *slog.Logger
}

// Progress is how far a call is. Total is 0 where the server does not know.
type Progress struct {
	CallID   string
	Progress float64
	Total    float64
	Message  string
	Server   string
}

// defaultConnectTimeout is for programs that are fetched before they start.
const defaultConnectTimeout = 30 * time.Second

// ErrServer says that a Server has neither a command nor a URL, or both.
var ErrServer = errors.New("an MCP server needs either a command or a URL")

// Client is a connection to an MCP server. It is made again when it breaks: at most every
// few seconds, and while the server is gone its tools are unavailable. It is safe for
// concurrent use, and must be closed.
type Client struct {
	server  Server
	breaker *gobreaker.CircuitBreaker[*mcp.ClientSession]

	mu      sync.Mutex
	session *mcp.ClientSession
	cmd     *exec.Cmd
	closed  bool
}

// Connect connects to a server.
func Connect(ctx context.Context, s Server) (*Client, error) {
	c, err := New(s)
	if err != nil {
		return nil, err
	}
	if _, err := c.get(ctx); err != nil {
		return nil, fmt.Errorf("MCP server %s: %w", s.label(), errors.Join(err, c.Close()))
	}
	return c, nil
}

// New returns a client that connects when it is first needed. The error is ErrServer, or
// says what is wrong with the URL.
func New(s Server) (*Client, error) {
	ways := 0
	for _, given := range []bool{len(s.Command) > 0, s.URL != "", s.Transport != nil} {
		if given {
			ways++
		}
	}
	if ways != 1 {
		return nil, fmt.Errorf("%s: %w", s.label(), ErrServer)
	}
	if s.URL != "" {
		if _, err := safehttp.ParseURL(s.URL); err != nil {
			return nil, err
		}
	}
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	if s.ConnectTimeout <= 0 {
		s.ConnectTimeout = defaultConnectTimeout
	}
	c := &Client{server: s}
	c.breaker = gobreaker.NewCircuitBreaker[*mcp.ClientSession](gobreaker.Settings{
		Name: s.label(), Timeout: 5 * time.Second, ReadyToTrip: func(n gobreaker.Counts) bool { return n.ConsecutiveFailures >= 2 },
		IsSuccessful: func(err error) bool { return err == nil || errors.Is(err, context.Canceled) },
	})
	return c, nil
}

func (s *Server) label() string {
	switch {
	case s.Name != "":
		return s.Name
	case s.URL != "":
		return s.URL
	case len(s.Command) > 0:
		return s.Command[0]
	}
	return "(no name)"
}

// Close ends the connection and the program.
func (c *Client) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	return c.drop()
}

// drop ends the session. mu is held.
func (c *Client) drop() error {
	if c.session == nil {
		return nil
	}
	err := c.session.Close()
	c.session = nil
	if c.cmd != nil {
		process.End(c.cmd)
		c.cmd = nil
		err = nil // the exit code of a program that was ended says nothing
	}
	return err
}

// errClosed says that a client was closed.
var errClosed = errors.New("the client is closed")

// get returns the session, and connects if there is none.
func (c *Client) get(ctx context.Context) (*mcp.ClientSession, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, errClosed
	}
	if c.session != nil {
		return c.session, nil
	}
	session, err := c.breaker.Execute(func() (*mcp.ClientSession, error) { return c.connect(ctx) })
	if err != nil {
		c.server.Log.Warn("MCP server cannot be reached", "server", c.server.label(), "cause", err.Error())
		return nil, err
	}
	c.session = session
	return session, nil
}

// connect connects. mu is held.
func (c *Client) connect(ctx context.Context) (*mcp.ClientSession, error) {
	s := &c.server
	var transport mcp.Transport
	switch {
	case s.Transport != nil:
		var err error
		if transport, err = s.Transport(); err != nil {
			return nil, err
		}
	case s.URL != "":
		transport = &mcp.StreamableClientTransport{Endpoint: s.URL, HTTPClient: client(s.Header)}
	default:
		c.cmd = exec.Command(s.Command[0], s.Command[1:]...)
		c.cmd.Dir, c.cmd.Env, c.cmd.Stderr = s.Dir, process.Environment(s.Env), s.Stderr
		process.Own(c.cmd)
		transport = &mcp.CommandTransport{Command: c.cmd}
	}
	o := &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}} // it asks nobody, and shows no folders
	if s.OnChange != nil {
		o.ToolListChangedHandler = func(context.Context, *mcp.ToolListChangedRequest) { s.OnChange() }
	}
	if s.OnProgress != nil {
		o.ProgressNotificationHandler = func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			id, _ := r.Params.ProgressToken.(string)
			s.OnProgress(Progress{CallID: id, Progress: r.Params.Progress, Total: r.Params.Total, Message: r.Params.Message, Server: s.Name})
		}
	}
	bounded, cancel := context.WithTimeout(ctx, s.ConnectTimeout)
	defer cancel()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "callwright", Version: "1"}, o).Connect(bounded, transport, nil)
	if err != nil && c.cmd != nil {
		process.End(c.cmd)
		c.cmd = nil
	}
	return session, err
}

// headers adds headers to requests.
type headers struct {
	header http.Header
	next   http.RoundTripper
}

func (h headers) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for k, v := range h.header {
		r.Header[http.CanonicalHeaderKey(k)] = v
	}
	return h.next.RoundTrip(r)
}

// client returns an HTTP client that follows no redirects.
func client(h http.Header) *http.Client {
	t := http.RoundTripper(safehttp.Transport(5*time.Second, 5*time.Minute))
	if len(h) > 0 {
		t = headers{h, t}
	}
	return safehttp.Client(t)
}

// maxTools bounds how many tools a server may list.
const maxTools = 10_000

// Tools returns the server's tools. Their hints are claims; see dispatch.Tool.Foreign.
func (c *Client) Tools(ctx context.Context) ([]dispatch.Tool, error) {
	session, err := c.get(ctx)
	if err != nil {
		return nil, fmt.Errorf("MCP server %s: %w", c.server.label(), err)
	}
	var out []dispatch.Tool
	for t, err := range session.Tools(ctx, nil) {
		if err != nil {
			if broken(ctx, err) {
				c.lost(session, err)
			}
			return nil, fmt.Errorf("MCP server %s: its tools: %w", c.server.label(), err)
		}
		if len(out) == maxTools {
			return nil, fmt.Errorf("MCP server %s: it has more than %d tools", c.server.label(), maxTools)
		}
		if c.server.offers(t.Name) {
			out = append(out, c.tool(t))
		}
	}
	return out, nil
}

// offers reports whether a tool is wanted.
func (s *Server) offers(name string) bool {
	return (s.Only == nil || matchesAny(s.Only, name)) && !matchesAny(s.Except, name)
}

func matchesAny(patterns []string, name string) bool {
	for _, p := range patterns {
		if p != "" && adapters.Matches(p, name) {
			return true
		}
	}
	return false
}

// tool makes a tool of what a server lists.
func (c *Client) tool(t *mcp.Tool) dispatch.Tool {
	out := dispatch.Tool{Foreign: true, Run: func(ctx context.Context, call *dispatch.Call) (dispatch.Result, error) {
		return c.call(ctx, t.Name, call)
	}}
	out.Tool = registry.Tool{ID: t.Name, Name: Name(c.server.Name, t.Name), Description: t.Description}
	if out.Description == "" {
		out.Description = t.Title
	}
	out.Parameters, _ = t.InputSchema.(map[string]any)
	out.Returns, _ = t.OutputSchema.(map[string]any)
	if a := t.Annotations; a != nil {
		out.Hints = dispatch.Hints{
			ReadOnly: a.ReadOnlyHint, Idempotent: a.IdempotentHint, OpenWorld: a.OpenWorldHint != nil && *a.OpenWorldHint,
			Destructive: a.DestructiveHint != nil && *a.DestructiveHint && !a.ReadOnlyHint,
		}
	}
	return out
}

// Rules returns the rules that allow the tools which the server's configuration allows.
func (c *Client) Rules(tools []dispatch.Tool) []dispatch.Rule {
	var rules []dispatch.Rule
	for i := range tools {
		t := &tools[i]
		if matchesAny(c.server.Allow, t.ID) || c.server.TrustHints && t.Hints.ReadOnly {
			rules = append(rules, dispatch.Rule{Tool: t.Name, Do: dispatch.Allow, Why: "the configuration of " + c.server.label() + " allows it"})
		}
	}
	return rules
}

// broken reports whether an error is that of the connection, and not the server's answer.
func broken(ctx context.Context, err error) bool {
	var answer *jsonrpc.Error
	if errors.Is(err, mcp.ErrConnectionClosed) || errors.Is(err, mcp.ErrSessionMissing) {
		return true
	}
	return ctx.Err() == nil && !errors.As(err, &answer)
}

// lost drops a session that has broken.
func (c *Client) lost(session *mcp.ClientSession, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session == session && !c.closed {
		c.server.Log.Warn("MCP server is gone", "server", c.server.label(), "cause", err.Error())
		_ = c.drop() // it has broken already
	}
}

// call runs a tool of the server.
func (c *Client) call(ctx context.Context, tool string, call *dispatch.Call) (dispatch.Result, error) {
	session, err := c.get(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return dispatch.Result{}, ctx.Err()
		}
		return dispatch.Result{}, dispatch.Transient(&dispatch.Error{
			Code: dispatch.CodeUnavailable, Message: fmt.Sprintf("the server %s cannot be reached now: do without it", c.server.label()), Err: err,
		})
	}
	arguments, err := json.Marshal(call.Parameters)
	if err != nil {
		return dispatch.Result{}, err
	}
	params := &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)}
	if c.server.OnProgress != nil && call.ID != "" {
		params.SetProgressToken(call.ID)
	}
	r, err := session.CallTool(ctx, params)
	if err != nil {
		if broken(ctx, err) {
			c.lost(session, err)
			return dispatch.Result{}, dispatch.Transient(&dispatch.Error{
				Code: dispatch.CodeUnavailable, Message: fmt.Sprintf("the server %s ended before it answered", c.server.label()), Err: err,
			})
		}
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return dispatch.Result{}, err
	}
	return resultOf(r)
}

// resultOf makes the result of what a server answered: the model is shown the content, and
// what is structured only where there is no text; references see what is structured.
func resultOf(r *mcp.CallToolResult) (dispatch.Result, error) {
	if r.NeedsInput() {
		return dispatch.Result{}, errors.New("the tool asks for more input, which it cannot be given here")
	}
	var out dispatch.Result
	var parts []string
	for _, x := range r.Content {
		switch x := x.(type) {
		case *mcp.TextContent:
			parts = append(parts, x.Text)
		case *mcp.ImageContent:
			out.Media = append(out.Media, adapters.Media{MIMEType: x.MIMEType, Data: base64Of(x.Data)})
		case *mcp.AudioContent:
			out.Media = append(out.Media, adapters.Media{MIMEType: x.MIMEType, Data: base64Of(x.Data)})
		case *mcp.ResourceLink:
			parts = append(parts, x.URI)
		case *mcp.EmbeddedResource:
			switch {
			case x.Resource == nil:
			case x.Resource.Blob != nil:
				parts = append(parts, fmt.Sprintf("[%s, %s, %d bytes, not shown]", x.Resource.URI, x.Resource.MIMEType, len(x.Resource.Blob)))
			default:
				parts = append(parts, x.Resource.Text)
			}
		}
	}
	out.Text = strings.Join(parts, "\n")
	if r.StructuredContent != nil {
		out.Value = r.StructuredContent
		if out.Text == "" {
			if data, err := json.Marshal(r.StructuredContent); err == nil {
				out.Text = string(data)
			}
		}
	}
	if r.IsError {
		if out.Text == "" {
			out.Text = "the tool failed and did not say why"
		}
		return dispatch.Result{}, &dispatch.Error{Code: dispatch.CodeFailed, Message: out.Text}
	}
	if out.Text == "" && len(out.Media) == 0 {
		out.Text = "done"
	}
	return out, nil
}

// maxName is the length that all model servers take for a tool's name.
const maxName = 64

// Name returns the name under which a model sees a tool: "label__tool", of letters, digits,
// "_" and "-", at most 64 bytes long. Of names that are longer or odd the end is kept,
// with a hash of the whole before it, so that different tools have different names.
func Name(label, tool string) string {
	whole := tool
	if label != "" {
		whole = label + "__" + tool
	}
	plain := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, whole)
	if plain == whole && len(whole) <= maxName && whole != "" {
		return whole
	}
	sum := sha256.Sum256([]byte(label + "\x00" + tool))
	hash := hex.EncodeToString(sum[:4]) + "_"
	return hash + plain[max(0, len(plain)-(maxName-len(hash))):]
}

func base64Of(data []byte) string { return base64.StdEncoding.EncodeToString(data) }
