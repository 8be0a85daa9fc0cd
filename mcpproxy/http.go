package mcpproxy

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"io"
	"log/slog"
	"mime"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"net/textproto"
	"net/url"
	"strconv"
	"strings"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/callwright/callwright/internal/safehttp"
	"github.com/callwright/callwright/internal/wire"
)

// maxSessions is how many clients' tools are remembered.
const maxSessions = 1024

// handler is a reverse proxy to one MCP server. It has no sessions of its own: a client's
// session is the server's.
type handler struct {
	p        *Proxy
	proxy    *httputil.ReverseProxy
	catalogs *lru.Cache[string, *catalog] // by session, or credential where there is none
}

// Handler returns a handler that serves the streamable HTTP of the MCP server at a URL, at
// any path. Headers pass, those with credentials too, to that server and nowhere else:
// redirects are not followed. Requests of web pages, and for host names that are not
// localhost, are refused. The error says what is wrong with the URL.
func (p *Proxy) Handler(server string) (http.Handler, error) {
	target, err := safehttp.ParseURL(server)
	if err != nil {
		return nil, err
	}
	catalogs, err := lru.New[string, *catalog](maxSessions)
	if err != nil {
		return nil, err
	}
	h := &handler{p: p, catalogs: catalogs}
	h.proxy = &httputil.ReverseProxy{
		Transport: safehttp.Transport(5*time.Second, 0), FlushInterval: -1, ModifyResponse: h.answer,
		Rewrite: func(r *httputil.ProxyRequest) {
			u := *target
			r.Out.URL, r.Out.Host = &u, ""
			u.RawQuery = r.In.URL.RawQuery
			r.Out.Header.Set("Accept-Encoding", "identity") // it is read
			r.Out.Header.Del("Origin")                      // it was this proxy's
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			if r.Context().Err() == nil {
				p.o.Log.Warn("the MCP server cannot be reached", "cause", cause(err))
				http.Error(w, "the MCP server cannot be reached", http.StatusBadGateway)
			}
		},
		ErrorLog: slog.NewLogLogger(p.o.Log.Handler(), slog.LevelDebug),
	}
	return h, nil
}

// cause returns an error's message without its URL, which may hold a secret.
func cause(err error) string {
	if u, ok := err.(*url.Error); ok { //nolint:errorlint // the outermost one has the URL
		return u.Err.Error()
	}
	return err.Error()
}

// ServeHTTP serves one request.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !local(r.Host) || !sameOrigin(r) {
		http.Error(w, "requests of web pages are not served", http.StatusForbidden)
		return
	}
	talk := h.p.conversation(h.catalog(r))
	if r.Method == http.MethodPost {
		body, err := io.ReadAll(io.LimitReader(r.Body, MaxMessage+1))
		if err != nil {
			http.Error(w, "the request broke off", http.StatusBadRequest)
			return
		}
		if len(body) > MaxMessage { // it passes unread
			r.Body = struct {
				io.Reader
				io.Closer
			}{io.MultiReader(bytes.NewReader(body), r.Body), r.Body}
		} else {
			o := talk.fromClient(body)
			if o.reply != nil {
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write(o.reply) // an error means that the client is gone
				return
			}
			r.Body = io.NopCloser(bytes.NewReader(o.forward))
			if o.changed {
				r.ContentLength = int64(len(o.forward))
				r.Header.Set("Content-Length", strconv.Itoa(len(o.forward)))
				repeatInHeader(r.Header, &o)
			}
		}
	}
	h.proxy.ServeHTTP(w, r.WithContext(withConversation(r.Context(), talk)))
}

// catalog returns what is known of the tools that a request's sender sees.
func (h *handler) catalog(r *http.Request) *catalog {
	key := "session " + r.Header.Get("Mcp-Session-Id")
	if r.Header.Get("Mcp-Session-Id") == "" {
		sum := sha256.New()
		for _, name := range []string{"Authorization", "X-Api-Key", "Api-Key", "Cookie"} {
			for _, v := range r.Header.Values(name) {
				sum.Write([]byte(name + "\x00" + v + "\x00"))
			}
		}
		key = "credential " + hex.EncodeToString(sum.Sum(nil))
	}
	c := &catalog{}
	if known, there, _ := h.catalogs.PeekOrAdd(key, c); there {
		h.catalogs.Get(key) // so that it counts as used
		return known
	}
	return c
}

type conversationKey struct{}

// withConversation has the answer to a request find its conversation.
func withConversation(ctx context.Context, talk *conversation) context.Context {
	return context.WithValue(ctx, conversationKey{}, talk)
}

func conversationOf(ctx context.Context) *conversation {
	talk, _ := ctx.Value(conversationKey{}).(*conversation)
	return talk
}

// answer has the conversation look at an answer of the server.
func (h *handler) answer(r *http.Response) error {
	talk := conversationOf(r.Request.Context())
	if talk == nil || r.Header.Get("Content-Encoding") != "" {
		return nil
	}
	switch kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind {
	case "application/json":
		if r.ContentLength > MaxMessage {
			return nil
		}
		body, err := io.ReadAll(io.LimitReader(r.Body, MaxMessage+1))
		if err == nil && len(body) <= MaxMessage {
			talk.fromServer(body)
		}
		rest := io.Reader(r.Body)
		if err != nil {
			rest = failed{err}
		}
		r.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(bytes.NewReader(body), rest), r.Body}
	case "text/event-stream":
		r.Body = &events{ReadCloser: r.Body, talk: talk}
	}
	return nil
}

// failed is a reader that fails.
type failed struct{ err error }

func (f failed) Read([]byte) (int, error) { return 0, f.err }

// events is a stream of server-sent events whose messages are looked at before they are
// handed on.
type events struct {
	io.ReadCloser
	talk *conversation
	line []byte
	data []byte
	long bool // the event is too large to be looked at
}

func (e *events) Read(b []byte) (int, error) {
	n, err := e.ReadCloser.Read(b)
	for rest := b[:n]; len(rest) > 0; {
		i := bytes.IndexByte(rest, '\n')
		if i < 0 {
			e.add(rest)
			break
		}
		e.add(rest[:i])
		e.endLine()
		rest = rest[i+1:]
	}
	return n, err
}

func (e *events) add(b []byte) {
	if e.long || len(e.line)+len(e.data)+len(b) > MaxMessage {
		e.long, e.line, e.data = true, nil, nil
		return
	}
	e.line = append(e.line, b...)
}

// endLine takes a line. An empty one ends the event.
func (e *events) endLine() {
	line := bytes.TrimSuffix(e.line, []byte("\r"))
	e.line = e.line[:0]
	if len(line) == 0 {
		if len(e.data) > 0 {
			e.talk.fromServer(e.data)
		}
		e.data, e.long = e.data[:0], false
		return
	}
	if data, ok := bytes.CutPrefix(line, []byte("data:")); ok {
		if len(e.data) > 0 {
			e.data = append(e.data, '\n')
		}
		e.data = append(e.data, bytes.TrimPrefix(data, []byte(" "))...)
	}
}

// versionWithHeaders is the protocol version from which on headers repeat what stands in
// the body, and servers compare them.
const versionWithHeaders = "2026-07-28"

// repeatInHeader sets the headers that repeat what was changed in the body.
func repeatInHeader(h http.Header, o *outcome) {
	if o.tool == nil || h.Get("Mcp-Protocol-Version") < versionWithHeaders {
		return
	}
	h.Set("Mcp-Name", o.tool.Name)
	properties, _ := o.tool.Parameters["properties"].(map[string]any)
	arguments, _ := wire.AsObject(o.parameters)
	repeatParameters(h, properties, arguments, 0)
}

// maxHeaderDepth is how deep parameters may nest that headers repeat.
const maxHeaderDepth = 16

func repeatParameters(h http.Header, properties map[string]any, arguments wire.Object, depth int) {
	for name, p := range properties {
		schema, _ := p.(map[string]any)
		if header, _ := schema["x-mcp-header"].(string); header != "" {
			key := textproto.CanonicalMIMEHeaderKey("Mcp-Param-" + header)
			if v, ok := headerValue(arguments.Get(name)); ok {
				h[key] = []string{v}
			} else {
				delete(h, key)
			}
		}
		if inner, ok := schema["properties"].(map[string]any); ok && depth < maxHeaderDepth {
			repeatParameters(h, inner, arguments.Object(name), depth+1)
		}
	}
}

// headerValue writes a string, an integer or a boolean as a header has it: base64 between
// marks where it would not come through as it is.
func headerValue(raw []byte) (string, bool) {
	if wire.IsNull(raw) || raw[0] == '{' || raw[0] == '[' {
		return "", false
	}
	s := string(raw)
	if raw[0] == '"' {
		s, _ = wire.String(raw)
	}
	plain := s == strings.TrimSpace(s) && !strings.HasPrefix(s, "=?base64?")
	for i := range len(s) {
		plain = plain && s[i] >= ' ' && s[i] < 0x7F
	}
	if !plain {
		s = "=?base64?" + base64.StdEncoding.EncodeToString([]byte(s)) + "?="
	}
	return s, true
}

// local reports whether a request's Host is this machine, or an address: names could be
// made to lead here by others.
func local(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.Trim(host, "[]")
	_, err := netip.ParseAddr(host)
	return err == nil || strings.EqualFold(host, "localhost")
}

// sameOrigin reports whether a request is not that of another site's page.
func sameOrigin(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	_, host, ok := strings.Cut(origin, "://")
	return origin == "" || ok && strings.EqualFold(host, r.Host)
}
