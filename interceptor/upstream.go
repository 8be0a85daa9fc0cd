package interceptor

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/anthropic"
	"github.com/callwright/callwright/adapters/gemini"
	"github.com/callwright/callwright/registry"
)

// capabilities returns what is known of a model. It is looked up once.
func (s *settings) capabilities(model string) adapters.ModelCapabilities {
	if c, ok := s.known.Get(model); ok {
		return c
	}
	c := s.parts.Models.Capabilities("", model)
	if len(model) <= registry.MaxNameBytes {
		s.known.Add(model, c)
	}
	return c
}

// url is the upstream's URL for a path.
func (s *settings) url(path string) *url.URL { return s.below(&url.URL{Path: path}) }

// versioned matches base paths that hold the version of the interface already, as
// clients' base URLs do: "/v1", "/api/paas/v4", "/v1beta/openai".
var versioned = regexp.MustCompile(`(?:^|/)v\d+\w*(?:/openai)?$`)

// endpoints are the ends of whole addresses of a model server, as people paste them.
var endpoints = []string{"/chat/completions", "/responses", "/messages", "/api/chat"}

// below is the upstream's URL for the path of another one, whose encoding it keeps. The
// base is taken as it is written: where it holds a version, the path's own is left out, and
// where it is a whole address, such as "http://h/v4/chat/completions", what ends it is no
// part of the base. What leads up is refused before; see [escapes].
func (s *settings) below(u *url.URL) *url.URL {
	base := *s.upstream
	path, escaped := u.Path, u.EscapedPath()
	basePath, baseEscaped := strings.TrimRight(base.Path, "/"), strings.TrimRight(base.EscapedPath(), "/")
	whole := false
	for _, end := range endpoints {
		if strings.HasSuffix(basePath, end) && strings.HasSuffix(baseEscaped, end) {
			basePath, baseEscaped, whole = strings.TrimSuffix(basePath, end), strings.TrimSuffix(baseEscaped, end), end != "/api/chat"
			break
		}
	}
	for _, version := range []string{"/v1", "/v1beta", "/api"} {
		own := whole || versioned.MatchString(basePath)
		if version == "/api" {
			own = strings.HasSuffix(basePath, "/api")
		}
		if own && strings.HasPrefix(escaped, version+"/") {
			path, escaped = strings.TrimPrefix(path, version), strings.TrimPrefix(escaped, version)
			break
		}
	}
	base.Path, base.RawPath = basePath+path, baseEscaped+escaped
	return &base
}

// hopByHop are the headers of a single connection (RFC 9110, section 7.6.1), and those
// that are set anew.
var hopByHop = []string{
	"Connection", "Proxy-Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Te", "Trailer", "Transfer-Encoding",
	"Upgrade", "Expect",
	"Content-Length", "Content-Encoding", "Accept-Encoding", "Host", "Cookie", "Forwarded", "X-Forwarded-For", "X-Forwarded-Host",
	"X-Forwarded-Proto", "X-Real-Ip", "Origin", "Referer", inspectHeader,
}

// stripHops removes the headers of a single connection, and those that its "Connection"
// header names.
func stripHops(h, named http.Header) {
	for _, list := range named.Values("Connection") {
		for name := range strings.SplitSeq(list, ",") {
			h.Del(strings.TrimSpace(name))
		}
	}
	for _, name := range hopByHop {
		h.Del(name)
	}
}

// oauthToken begins the tokens that Anthropic takes as bearer tokens. Its keys have a
// header of their own, X-Api-Key.
const oauthToken = "sk-ant-oat"

// header returns the headers of a request to the upstream, made of the client's.
func (s *settings) header(from http.Header, server *adapters.Format) http.Header {
	out := from.Clone()
	stripHops(out, from)
	key := credential(&http.Request{Header: from, URL: &url.URL{}})
	if s.key != "" || s.upKey != "" { // the client's key is the interceptor's
		key = s.upKey
		for _, name := range credentials {
			out.Del(name)
		}
	}
	switch server {
	case gemini.Generate:
		if key != "" && out.Get("X-Goog-Api-Key") == "" {
			out.Del("Authorization")
			out.Set("X-Goog-Api-Key", key)
		}
		for _, name := range []string{"X-Api-Key", "Anthropic-Version", "Anthropic-Beta"} {
			out.Del(name)
		}
	case anthropic.Messages:
		if key != "" && !strings.HasPrefix(key, oauthToken) && out.Get("X-Api-Key") == "" {
			out.Del("Authorization")
			out.Set("X-Api-Key", key)
		}
		if out.Get("Anthropic-Version") == "" {
			out.Set("Anthropic-Version", server.Version)
		}
	default:
		if key != "" && out.Get("Authorization") == "" {
			out.Set("Authorization", "Bearer "+key)
		}
		for _, name := range []string{"X-Api-Key", "X-Goog-Api-Key", "Anthropic-Version", "Anthropic-Beta"} {
			out.Del(name)
		}
	}
	out.Set("Content-Type", "application/json")
	out.Set("Accept-Encoding", "identity")
	return out
}

// send sends a request to the upstream.
func (s *settings) send(
	ctx context.Context, from *http.Request, client, server *adapters.Format, body []byte, path string,
) (*http.Response, error) {
	u := s.url(path)
	switch {
	case client == server && (s.key != "" || s.upKey != ""):
		u.RawQuery = withoutKey(from.URL.RawQuery)
	case client == server:
		u.RawQuery = from.URL.RawQuery
	case server == gemini.Generate && strings.HasSuffix(path, ":streamGenerateContent"):
		u.RawQuery = "alt=sse"
	}
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	q.Header = s.header(from.Header, server)
	r, err := s.client.Do(q)
	if err != nil {
		return nil, err
	}
	if err := checkStatus(r); err != nil {
		r.Body.Close()
		return nil, err
	}
	// It may be packed though the request said "identity".
	in, err := unpack(r.Body, strings.Join(r.Header.Values("Content-Encoding"), ","))
	if err != nil {
		r.Body.Close()
		return nil, err
	}
	if in != r.Body {
		r.Body = struct {
			io.Reader
			io.Closer
		}{in, r.Body}
	}
	return r, nil
}

// errProtocol says that the upstream wants to go on in another protocol, which nobody
// asked for.
var errProtocol = errors.New("the model server switches protocols")

func checkStatus(r *http.Response) error {
	if r.StatusCode < 200 {
		return errProtocol
	}
	return nil
}

// replyHeader passes on the headers of the upstream's response.
func replyHeader(to, from http.Header) {
	for name, values := range from {
		if !ofOrigin(name) {
			to[name] = append([]string(nil), values...)
		}
	}
	stripHops(to, from)
	to.Del("Content-Type")
}

// ofOrigin reports whether a header of a response is about the origin that it comes from:
// the interceptor is another one. Above all it has a policy of its own about who may read
// its answers.
func ofOrigin(name string) bool {
	switch name {
	case "Set-Cookie", "Alt-Svc", "Strict-Transport-Security", "Clear-Site-Data":
		return true
	}
	return strings.HasPrefix(name, "Access-Control-") || strings.HasPrefix(name, "Callwright-")
}

// errIdle says that the upstream sent nothing for idle_timeout_ms.
var errIdle = errors.New("the model server was silent for too long")

// idleBody is a body with a timeout between reads.
type idleBody struct {
	io.ReadCloser
	idle   time.Duration
	timer  *time.Timer
	cancel context.CancelCauseFunc
}

// withIdleTimeout cancels the request of a body that stays silent for too long.
func withIdleTimeout(body io.ReadCloser, idle time.Duration, cancel context.CancelCauseFunc) *idleBody {
	w := &idleBody{ReadCloser: body, idle: idle, cancel: cancel}
	w.timer = time.AfterFunc(idle, func() { cancel(errIdle) })
	return w
}

func (w *idleBody) Read(p []byte) (int, error) {
	n, err := w.ReadCloser.Read(p)
	w.timer.Reset(w.idle)
	return n, err
}

func (w *idleBody) Close() error {
	w.timer.Stop()
	return w.ReadCloser.Close()
}

// newProxy returns the proxy for requests that pass through unchanged.
func (h *Handler) newProxy(s *settings) *httputil.ReverseProxy {
	return &httputil.ReverseProxy{
		Transport: s.transport, FlushInterval: -1,
		Rewrite: func(p *httputil.ProxyRequest) {
			target := s.below(p.In.URL)
			target.RawQuery = p.In.URL.RawQuery
			if s.key != "" || s.upKey != "" {
				target.RawQuery = withoutKey(target.RawQuery)
			}
			p.Out.URL, p.Out.Host = target, ""
			before := p.Out.Header
			p.Out.Header = s.header(before, formatOf(p.In))
			for _, name := range []string{"Content-Type", "Content-Encoding", "Accept-Encoding"} { // the body stays as it is
				p.Out.Header.Del(name)
				if v := before.Get(name); v != "" {
					p.Out.Header.Set(name, v)
				}
			}
		},
		ModifyResponse: func(r *http.Response) error {
			maps.DeleteFunc(r.Header, func(name string, _ []string) bool { return ofOrigin(name) })
			return checkStatus(r)
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			h.log.Warn("the model server cannot be reached", "address", s.upstream.Host, "cause", cause(err))
			if r.Context().Err() == nil {
				message := "the model server at " + s.upstream.Host + " cannot be reached: " + cause(err)
				writeError(w, formatOf(r), http.StatusBadGateway, "", message)
			}
		},
		ErrorLog: slogLogger(h.log),
	}
}

// cause returns an error's message without its URL, which may hold a secret.
func cause(err error) string {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err.Error()
	}
	return err.Error()
}
