package interceptor

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/anthropic"
	"github.com/callwright/callwright/adapters/formats"
	"github.com/callwright/callwright/registry"
)

// learned is what was found out about the upstream.
type learned struct {
	mu   sync.Mutex
	kind string // as server.upstream_format names it; "" until it is known
	// withoutTools are the models of which the upstream said that they do not support
	// tools.
	withoutTools *lru.Cache[string, bool]
}

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

// maxLearned is how many models are remembered.
const maxLearned = 256

func newLearned() *learned {
	models, err := lru.New[string, bool](maxLearned)
	if err != nil {
		panic(err) // the size is positive
	}
	return &learned{withoutTools: models}
}

// serverFormat returns the format in which the upstream is asked for a client's: the
// same one if the upstream speaks it, else the upstream's own.
func (s *settings) serverFormat(ctx context.Context, client *adapters.Format) (*adapters.Format, error) {
	kind, err := s.kind(ctx)
	if err != nil {
		return nil, err
	}
	var own *adapters.Format
	for _, f := range formats.All() {
		if !slices.Contains(f.Servers, kind) || len(f.Hosts) > 0 && !slices.ContainsFunc(f.Hosts, s.isAt) {
			continue
		}
		if f == client {
			return f, nil
		}
		if own == nil && f.Servers[0] == kind {
			own = f
		}
	}
	return own, nil
}

// isAt reports whether the upstream is a host, or a name below it.
func (s *settings) isAt(host string) bool {
	name := s.upstream.Hostname()
	return name == host || strings.HasSuffix(name, "."+host)
}

// kind finds out what kind of server the upstream is: an Ollama server answers
// /api/version.
func (s *settings) kind(ctx context.Context) (string, error) {
	if f := s.c.Server.UpstreamFormat; f != "auto" {
		return f, nil
	}
	s.learned.mu.Lock()
	defer s.learned.mu.Unlock()
	if s.learned.kind != "" {
		return s.learned.kind, nil
	}
	if s.isAt("anthropic.com") {
		s.learned.kind = "anthropic"
		return s.learned.kind, nil
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url("/api/version").String(), nil)
	if err != nil {
		return "", err
	}
	r, err := s.client.Do(q)
	if err != nil {
		return "", err
	}
	defer r.Body.Close()
	body, err := io.ReadAll(io.LimitReader(r.Body, 4<<10))
	if err != nil {
		return "", err
	}
	s.learned.kind = "openai"
	if r.StatusCode == http.StatusOK && bytes.Contains(body, []byte(`"version"`)) && !bytes.Contains(body, []byte("<")) {
		s.learned.kind = "ollama"
	}
	return s.learned.kind, nil
}

// url is the upstream's URL for a path. The base may end with "/v1", as clients' base
// URLs do.
func (s *settings) url(path string) *url.URL {
	base := *s.upstream
	base.Path = strings.TrimRight(base.Path, "/")
	if strings.HasSuffix(base.Path, "/v1") && strings.HasPrefix(path, "/v1/") {
		path = strings.TrimPrefix(path, "/v1")
	}
	base.Path += path
	return &base
}

// hopByHop are the headers of a single connection (RFC 9110, section 7.6.1), and those
// that are set anew.
var hopByHop = []string{
	"Connection", "Proxy-Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Te", "Trailer", "Transfer-Encoding",
	"Upgrade", "Expect",
	"Content-Length", "Content-Encoding", "Accept-Encoding", "Host", "Cookie", "Forwarded", "X-Forwarded-For", "X-Forwarded-Host",
	"X-Forwarded-Proto", "X-Real-Ip", "Origin", "Referer",
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
	key := credential(&http.Request{Header: from})
	if s.key != "" || s.upKey != "" { // the client's key is the interceptor's
		key = s.upKey
		for _, name := range credentials {
			out.Del(name)
		}
	}
	if server == anthropic.Messages {
		if key != "" && !strings.HasPrefix(key, oauthToken) && out.Get("X-Api-Key") == "" {
			out.Del("Authorization")
			out.Set("X-Api-Key", key)
		}
		if out.Get("Anthropic-Version") == "" {
			out.Set("Anthropic-Version", server.Version)
		}
	} else {
		if key != "" && out.Get("Authorization") == "" {
			out.Set("Authorization", "Bearer "+key)
		}
		for _, name := range []string{"X-Api-Key", "Anthropic-Version", "Anthropic-Beta"} {
			out.Del(name)
		}
	}
	out.Set("Content-Type", "application/json")
	out.Set("Accept-Encoding", "identity")
	return out
}

// send sends a request to the upstream.
func (s *settings) send(ctx context.Context, from *http.Request, client, server *adapters.Format, body []byte) (*http.Response, error) {
	u := s.url(server.Paths[0])
	if client == server {
		u.RawQuery = from.URL.RawQuery
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
	if strings.EqualFold(r.Header.Get("Content-Encoding"), "gzip") { // though the request said "identity"
		unpacked, err := gzip.NewReader(r.Body)
		if err != nil {
			r.Body.Close()
			return nil, fmt.Errorf("the answer of the model server is not gzip: %w", err)
		}
		r.Body = struct {
			io.Reader
			io.Closer
		}{unpacked, r.Body}
		r.Header.Del("Content-Encoding")
	}
	return r, nil
}

// replyHeader passes on the headers of the upstream's response.
func replyHeader(to, from http.Header) {
	for name, values := range from {
		to[name] = append([]string(nil), values...)
	}
	stripHops(to, from)
	to.Del("Set-Cookie")
	to.Del("Content-Type")
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
			target := s.url(p.In.URL.Path)
			target.RawPath = ""
			if escaped := p.In.URL.EscapedPath(); escaped != p.In.URL.Path { // an encoded slash stays one
				target.RawPath = strings.TrimRight(s.upstream.EscapedPath(), "/") + escaped
			}
			target.RawQuery = p.In.URL.RawQuery
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
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			h.log.Warn("the model server cannot be reached", "cause", cause(err))
			if r.Context().Err() == nil {
				writeError(w, formatOf(r), http.StatusBadGateway, "", "the model server cannot be reached")
			}
		},
		ErrorLog: nil,
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
