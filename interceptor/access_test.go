package interceptor_test

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/openai"
	"github.com/callwright/callwright/config"
	"github.com/callwright/callwright/interceptor"
)

const ownKey = "own-key-1"

// guarded is a handler that asks for a key, before an upstream that counts what reaches it.
func guarded(t testing.TB, change func(*config.Config)) (h *interceptor.Handler, reached *atomic.Int64) {
	t.Helper()
	reached = &atomic.Int64{}
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reached.Add(1)
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, wholeReply)
	}))
	t.Cleanup(upstream.Close)
	c := config.Default()
	c.Server.Upstream, c.Server.UpstreamFormat, c.Server.KeyEnv, c.Server.UpstreamKeyEnv = upstream.URL+"/pre/fix", "openai", "K", "U"
	c.Server.AllowedHosts, c.Server.Inspect = []string{"callwright.example"}, 5
	if change != nil {
		change(c)
	}
	env := map[string]string{"K": ownKey, "U": "operator-key"}
	h, err := interceptor.New(c, interceptor.Options{Getenv: func(k string) string { return env[k] }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	return h, reached
}

// TestNoWayIn has anyone ask for anything in any way: without the key, of another host or
// from another site nothing is served but the state of the server, and nothing reaches
// the upstream.
func TestNoWayIn(t *testing.T) {
	h, reached := guarded(t, nil)
	paths := []string{
		"/", "/healthz", "/readyz", "/healthz/", "//healthz", "/healthz?x=1", "/%68ealthz", "/metrics", "/callwright/requests", "/callwright/",
		"/v1/chat/completions", "/v1/messages", "/v1/messages/count_tokens", "/v1/responses", "/api/chat", "/api/show", "/api/tags", "/v1/models",
		"/healthz/../v1/models", "/healthz/%2e%2e/v1/models", "/readyz;/v1/models", "/healthz%00", "/healthz%2fx", "/HEALTHZ", "*",
	}
	methods := []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "get", "X"}
	rapid.Check(t, func(t *rapid.T) {
		method, target := rapid.SampledFrom(methods).Draw(t, "method"), rapid.SampledFrom(paths).Draw(t, "path")
		q := httptest.NewRequest(http.MethodGet, "/", strings.NewReader(`{"model":"m","messages":[]}`))
		q.Method, q.RequestURI = method, target
		u, err := url.ParseRequestURI(target)
		if err != nil {
			u = &url.URL{Path: target}
		}
		q.URL, q.Host = u, "127.0.0.1:8790"
		q.Header.Set("Authorization", "Bearer "+ownKey)
		wrong := rapid.SampledFrom([]string{"key", "no key", "host", "origin", "site"}).Draw(t, "wrong")
		switch wrong {
		case "key":
			q.Header.Set("Authorization", "Bearer "+ownKey+"x")
		case "no key":
			q.Header.Del("Authorization")
		case "host":
			q.Host = "evil.example"
		case "origin":
			q.Header.Set("Origin", "https://evil.example")
		case "site":
			q.Header.Set("Sec-Fetch-Site", "cross-site")
		}
		before := reached.Load()
		w := httptest.NewRecorder()
		h.ServeHTTP(w, q)
		asksState := (method == "GET" || method == "HEAD") && (u.Path == "/healthz" || u.Path == "/readyz") && strings.HasSuffix(wrong, "key")
		switch {
		case asksState && (w.Code != http.StatusOK || strings.Contains(w.Body.String(), "uptime")):
			t.Fatalf("%s %s, wrong %s: %d %s", method, target, wrong, w.Code, w.Body)
		case !asksState && w.Code != http.StatusUnauthorized && w.Code != http.StatusForbidden:
			t.Fatalf("%s %s, wrong %s: %d %s", method, target, wrong, w.Code, w.Body)
		case reached.Load() != before:
			t.Fatalf("%s %s, wrong %s reaches the upstream", method, target, wrong)
		}
	})
}

// do asks a handler.
func do(h http.Handler, method, target, body string, header map[string]string) *httptest.ResponseRecorder {
	q := httptest.NewRequest(method, target, strings.NewReader(body))
	q.Host = "localhost"
	q.Header.Set("Authorization", "Bearer "+ownKey)
	for k, v := range header {
		q.Header.Set(k, v)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, q)
	return w
}

// TestOwnPaths checks the methods of the interceptor's own paths: none passes through.
func TestOwnPaths(t *testing.T) {
	h, reached := guarded(t, nil)
	for _, target := range []string{"/healthz", "/readyz", "/metrics", "/callwright/requests", "/callwright/anything"} {
		for _, method := range []string{"POST", "PUT", "DELETE", "OPTIONS", "PATCH"} {
			want := http.StatusMethodNotAllowed
			if target == "/callwright/anything" {
				want = http.StatusNotFound
			}
			if w := do(h, method, target, "{}", nil); w.Code != want {
				t.Errorf("%s %s: %d", method, target, w.Code)
			}
		}
	}
	for _, method := range []string{"TRACE", "CONNECT", "PROPFIND"} {
		for _, target := range []string{"/v1/models", "/healthz", "/v1/chat/completions"} {
			if w := do(h, method, target, "", nil); w.Code != http.StatusMethodNotAllowed {
				t.Errorf("%s %s: %d", method, target, w.Code)
			}
		}
	}
	if reached.Load() != 0 {
		t.Errorf("%d requests reach the upstream", reached.Load())
	}
}

// TestHealth checks what the state says to whom, and that it is that of the server.
func TestHealth(t *testing.T) {
	h, _ := guarded(t, nil)
	for range 30 { // calls of no known tool
		do(h, "POST", "/v1/chat/completions", `{"model":"secret-model","messages":[],"tools":[{"type":"function","function":{"name":"x"}}]}`, nil)
	}
	for key, detailed := range map[string]bool{"Bearer " + ownKey: true, "Bearer wrong": false, "": false} {
		w := do(h, "GET", "/healthz", "", map[string]string{"Authorization": key})
		var state map[string]any
		if err := json.Unmarshal(w.Body.Bytes(), &state); err != nil || w.Code != http.StatusOK {
			t.Fatalf("%d %v %s", w.Code, err, w.Body)
		}
		if state["status"] != "healthy" || (len(state) > 1) != detailed || (state["metrics"] != nil) != detailed {
			t.Errorf("with the key %q: %s", key, w.Body)
		}
	}
	h.Close()
	if w := do(h, "GET", "/healthz", "", nil); w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), `"closing"`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// TestInFlight checks the bound of requests, for every path, and that the state is told all
// the same.
func TestInFlight(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	upstream := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		entered <- struct{}{}
		<-release
	}))
	defer upstream.Close()
	h, _ := guarded(t, func(c *config.Config) { c.Server.Upstream, c.Server.MaxInFlight = upstream.URL, 1 })
	done := make(chan struct{})
	go func() {
		do(h, "GET", "/v1/models", "", nil)
		close(done)
	}()
	<-entered
	for _, target := range []string{"/v1/chat/completions", "/v1/models", "/metrics", "/callwright/requests", "/../x"} {
		if w := do(h, "POST", "/", "", nil); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
			t.Errorf("%s: %d", target, w.Code)
		}
	}
	if w := do(h, "GET", "/healthz", "", nil); w.Code != http.StatusOK {
		t.Errorf("the state: %d", w.Code)
	}
	close(release)
	<-done
}

// below reports whether a path, as a server behind may read it, is below a folder.
func below(folder, escaped string) bool {
	for range 8 {
		plain := strings.ReplaceAll(escaped, "\\", "/")
		var segments []string
		for s := range strings.SplitSeq(plain, "/") {
			s, _, _ = strings.Cut(s, ";")
			segments = append(segments, strings.TrimRight(s, " "))
		}
		if p := path.Clean("/" + strings.Join(segments, "/")); p != folder && !strings.HasPrefix(p, folder+"/") {
			return false
		}
		decoded, err := url.PathUnescape(escaped)
		if err != nil || decoded == escaped {
			return true
		}
		escaped = decoded
	}
	return true
}

// TestPaths checks which paths pass through, and that an encoded slash stays one.
func TestPaths(t *testing.T) {
	var got atomic.Value
	upstream := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got.Store(r.RequestURI) }))
	defer upstream.Close()
	for _, tt := range []struct{ base, path, want string }{
		{"/pre/fix", "/v1/files/a%2Fb?x=%2e%2e", "/pre/fix/v1/files/a%2Fb?x=%2e%2e"},
		{"/pre/fix", "/v1/a..b/..c/d...", "/pre/fix/v1/a..b/..c/d..."},
		{"/pre/fix", "/v1/100%25", "/pre/fix/v1/100%25"},
		{"/pre/fix", "/v1/%C3%BC", "/pre/fix/v1/%C3%BC"},
		{"/v1", "/v1/files/a%2Fb", "/v1/files/a%2Fb"},
		{"/api/v1/", "/v1/models", "/api/v1/models"},
		{"", "/x/y/", "/x/y/"},
		{"/pre/fix", "/%2e%2e/%2e%2e/admin", ""},
		{"/pre/fix", "/%2E./admin", ""},
		{"/pre/fix", "/..%2f..%2fadmin", ""},
		{"/pre/fix", "/x/..;/..;a=b/admin", ""},
		{"/pre/fix", "/x/%2e%2e%3bx/admin", ""},
		{"/pre/fix", "/..%5cadmin", ""},
		{"/pre/fix", "/a\\..\\b", ""},
		{"/pre/fix", "/%252e%252e/admin", ""},
		{"/pre/fix", "/%25252e%25252e%25252fadmin", ""},
		{"/pre/fix", "/%2525252525252e/admin", ""},
		{"/pre/fix", "/..%20/admin", ""},
		{"/pre/fix", "/%c0%ae%c0%ae/admin", ""},
		{"/pre/fix", "/a%00/../b", ""},
		{"/pre/fix", "/a%0d%0aX: y", ""},
		{"/pre/fix", "/./admin", ""},
	} {
		h, _ := guarded(t, func(c *config.Config) { c.Server.Upstream = upstream.URL + tt.base })
		got.Store("")
		q := httptest.NewRequest(http.MethodGet, "/", nil)
		u, err := url.ParseRequestURI(tt.path)
		if err != nil {
			t.Fatal(err)
		}
		q.URL, q.Host = u, "localhost"
		q.Header.Set("Authorization", "Bearer "+ownKey)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, q)
		if got.Load() != tt.want || tt.want == "" && w.Code != http.StatusBadRequest {
			t.Errorf("%s: the upstream is asked for %q, want %q; status %d", tt.path, got.Load(), tt.want, w.Code)
		}
	}
}

// FuzzPath asks for any path: whatever a server behind makes of it, it is below the base.
func FuzzPath(f *testing.F) {
	for _, p := range []string{
		"/v1/models", "/%2e%2e/x", "/..;/x", "/a/..%5c..%5cb", "/%252e%252e/", "/a%2f..%2fb", "//x", "/a/ .. /b", "/...", "/%ff", "/a;b/../c",
	} {
		f.Add(p)
	}
	var got string
	upstream := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.URL.EscapedPath() }))
	f.Cleanup(upstream.Close)
	h, _ := guarded(f, func(c *config.Config) { c.Server.Upstream = upstream.URL + "/pre/fix" })
	f.Fuzz(func(t *testing.T, target string) {
		u, err := url.ParseRequestURI(target)
		if err != nil || len(target) > 1<<10 || u.Host != "" {
			return
		}
		got = ""
		q := httptest.NewRequest(http.MethodGet, "/", nil)
		q.URL, q.Host = u, "localhost"
		q.Header.Set("Authorization", "Bearer "+ownKey)
		h.ServeHTTP(httptest.NewRecorder(), q)
		if got != "" && !below("/pre/fix", got) {
			t.Errorf("%q asks the upstream for %q", target, got)
		}
	})
}

// packed is a text in a content encoding.
func packed(t testing.TB, encoding, s string) []byte {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser
	var err error
	switch encoding {
	case "gzip":
		w = gzip.NewWriter(&b)
	case "deflate":
		w = zlib.NewWriter(&b)
	case "raw deflate":
		w, err = flate.NewWriter(&b, 6)
	default:
		return []byte(s)
	}
	if err == nil {
		_, err = io.WriteString(w, s)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestPackedRequests checks that packed bodies are read, and that what they hold counts.
func TestPackedRequests(t *testing.T) {
	m := &model{says: []*adapters.Reply{says("Hi.")}}
	base := start(t, m, func(c *config.Config) { c.Server.MaxBodyBytes = 1 << 20 })
	good := string(requestBody(t, openai.Chat, false))
	spread := func(n int) string { // JSON that packs badly
		var b strings.Builder
		for i := 0; b.Len() < n; i++ {
			fmt.Fprintf(&b, "%x", i*2654435761)
		}
		return strings.Replace(good, "Hello", b.String(), 1)
	}
	for _, tt := range []struct {
		name, encoding string
		body           []byte
		status         int
	}{
		{"gzip", "gzip", packed(t, "gzip", good), 200},
		{"x-gzip", "X-GZIP", packed(t, "gzip", good), 200},
		{"deflate", "deflate", packed(t, "deflate", good), 200},
		{"raw deflate", "deflate", packed(t, "raw deflate", good), 200},
		{"identity", "identity", []byte(good), 200},
		{"a large one", "gzip", packed(t, "gzip", spread(500<<10)), 200},
		{"too large", "gzip", packed(t, "gzip", spread(2<<20)), 413},
		{"a bomb", "gzip", packed(t, "gzip", strings.Replace(good, "Hello", strings.Repeat("a", 900<<10), 1)), 413},
		{"a bomb, deflate", "deflate", packed(t, "deflate", strings.Repeat(" ", 900<<10)), 413},
		{"cut off", "gzip", packed(t, "gzip", good)[:60], 400},
		{"not gzip", "gzip", []byte(good), 400},
		{"brotli", "br", []byte(good), 415},
		{"twice", "gzip, gzip", packed(t, "gzip", string(packed(t, "gzip", good))), 415},
	} {
		q, err := http.NewRequest(http.MethodPost, base+"/v1/chat/completions", bytes.NewReader(tt.body))
		if err != nil {
			t.Fatal(err)
		}
		q.Header.Set("Content-Encoding", tt.encoding)
		r, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r.Body)
		r.Body.Close()
		if err != nil || r.StatusCode != tt.status {
			t.Errorf("%s: %d %s", tt.name, r.StatusCode, data)
		}
		if tt.status == 415 && r.Header.Get("Accept-Encoding") == "" {
			t.Errorf("%s: the client is not told what is read", tt.name)
		}
	}
	for i, raw := range m.raw {
		if !json.Valid(raw) || m.header[i].Get("Content-Encoding") != "" {
			t.Errorf("the upstream gets %.80q, %v", raw, m.header[i])
		}
	}
}

// TestPackedAnswers checks the same of answers, which nobody asked to be packed.
func TestPackedAnswers(t *testing.T) {
	stream := chunk(`{"content":"Hello"}`) + finishChunk + doneChunk
	for _, tt := range []struct {
		name, encoding, kind string
		body                 []byte
		stream, good         bool
	}{
		{"gzip", "gzip", "application/json", packed(t, "gzip", wholeReply), false, true},
		{"gzip", "gzip", "text/event-stream", packed(t, "gzip", stream), true, true},
		{"deflate", "deflate", "text/event-stream", packed(t, "deflate", stream), true, true},
		{"a bomb", "gzip", "application/json", packed(t, "gzip", strings.Repeat(" ", 4<<20)+wholeReply), false, false},
		{"a bomb", "gzip", "text/event-stream", packed(t, "gzip", strings.Repeat(": \n\n", 4<<20)+stream), true, false},
		{"brotli", "br", "application/json", []byte(wholeReply), false, false},
		{"cut off", "gzip", "application/json", packed(t, "gzip", wholeReply)[:40], false, false},
	} {
		upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Accept-Encoding") != "identity" {
				t.Errorf("the upstream is asked for %q", r.Header.Get("Accept-Encoding"))
			}
			w.Header().Set("Content-Encoding", tt.encoding)
			w.Header().Set("Content-Type", tt.kind)
			_, _ = w.Write(tt.body)
		}))
		s := serve(t, upstream.URL, func(c *config.Config) { c.Server.UpstreamFormat = "openai" })
		r, err := http.Post(s.URL+"/v1/chat/completions", "application/json", bytes.NewReader(requestBody(t, openai.Chat, tt.stream)))
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r.Body)
		r.Body.Close()
		upstream.Close()
		good := r.StatusCode == http.StatusOK && !strings.Contains(string(data), `"error"`)
		if err != nil || good != tt.good || r.Header.Get("Content-Encoding") != "" {
			t.Errorf("%s, stream=%v: %d %v %.200s", tt.name, tt.stream, r.StatusCode, r.Header, data)
		}
	}
}

// TestAnswersOfUpstreams checks what of an upstream's answer is not passed on.
func TestAnswersOfUpstreams(t *testing.T) {
	upstream := upstreamOf(t, func(c net.Conn) {
		_, _ = io.WriteString(
			c, "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n"+
				"Access-Control-Allow-Origin: *\r\naccess-control-allow-credentials: true\r\nSet-Cookie: a=b\r\nAlt-Svc: h3=\":443\"\r\n"+
				"Callwright-Mode: forged\r\nX-Request-Id: abc\r\n"+fmt.Sprintf("Content-Length: %d\r\n\r\n", len(wholeReply))+wholeReply,
		)
	})
	s := serve(t, upstream, func(c *config.Config) { c.Server.UpstreamFormat = "openai" })
	for _, target := range []string{"/v1/chat/completions", "/v1/other"} {
		r, err := http.Post(s.URL+target, "application/json", bytes.NewReader(requestBody(t, openai.Chat, false)))
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		for name := range r.Header {
			if strings.HasPrefix(name, "Access-Control") || name == "Set-Cookie" || name == "Alt-Svc" || name == "Link" {
				t.Errorf("%s: %s is passed on", target, name)
			}
		}
		if r.StatusCode != http.StatusOK || r.Header.Get("Callwright-Mode") == "forged" || r.Header.Get("X-Request-Id") != "abc" ||
			len(r.Header.Values("Callwright-Request")) != 1 {
			t.Errorf("%s: %d %v", target, r.StatusCode, r.Header)
		}
	}
	switching := upstreamOf(t, raw("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nhello"))
	s = serve(t, switching, func(c *config.Config) { c.Server.UpstreamFormat = "openai" })
	for _, target := range []string{"/v1/chat/completions", "/v1/other"} {
		r, err := http.Post(s.URL+target, "application/json", bytes.NewReader(requestBody(t, openai.Chat, false)))
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		if r.StatusCode != http.StatusBadGateway {
			t.Errorf("%s: %d", target, r.StatusCode)
		}
	}
}

// listening is a server with the timeouts and limits of the configuration.
func listening(t *testing.T, c *config.Config) string {
	t.Helper()
	h, err := interceptor.New(c, interceptor.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := interceptor.NewServer(h, &c.Server, nil)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

// TestBothLengths checks that a request with two ways of saying where it ends is refused,
// on a fresh connection, behind other requests, and however it is cut.
func TestBothLengths(t *testing.T) {
	c := config.Default()
	c.Server.Upstream, c.Server.UpstreamFormat = scripted(t, saying(openai.Chat, false, says("Hi."))), "openai"
	address := listening(t, c)
	body := string(requestBody(t, openai.Chat, false))
	chunked := fmt.Sprintf("Transfer-Encoding: chunked\r\n%%s\r\n%x\r\n%s\r\n0\r\n\r\n", len(body), body)
	head := "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
	good := head + fmt.Sprintf(chunked, "")
	odd := "\nContent-Length: 3\nTransfer-Encoding: chunked\n\n" + body
	plainly := head + fmt.Sprintf("Content-Length: %d\r\n\r\n", len(body)) + body
	for name, tt := range map[string]struct {
		requests []string
		want     []int
	}{
		"chunked":           {[]string{good, good, plainly, good}, []int{200, 200, 200, 200}},
		"both":              {[]string{head + fmt.Sprintf(chunked, "Content-Length: 5\r\n")}, []int{400}},
		"both, in capitals": {[]string{head + fmt.Sprintf(chunked, "CONTENT-LENGTH:5\r\n")}, []int{400}},
		"length first":      {[]string{strings.Replace(head, "Content-Type", "content-length: 3\r\nContent-Type", 1) + fmt.Sprintf(chunked, "")}, []int{400}},
		"behind others":     {[]string{good, plainly, head + fmt.Sprintf(chunked, "Content-Length: 5\r\n")}, []int{200, 200, 400}},
		"bare line feeds":   {[]string{strings.ReplaceAll(head, "\r\n", "\n") + "Content-Length: 3\n" + fmt.Sprintf(chunked, "")}, []int{400}},
		"in a body":         {[]string{head + fmt.Sprintf("Content-Length: %d\r\n\r\n", len(odd)) + odd, plainly}, []int{400, 200}}, // harmless, but no JSON
	} {
		for _, size := range []int{1 << 20, 7, 1} {
			conn, err := net.Dial("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
				t.Fatal(err)
			}
			in := bufio.NewReader(conn)
			for i, request := range tt.requests {
				for from := 0; from < len(request); from += size {
					if _, err := io.WriteString(conn, request[from:min(from+size, len(request))]); err != nil {
						break // it was answered already
					}
				}
				r, err := http.ReadResponse(in, nil)
				if err != nil {
					t.Fatalf("%s, pieces of %d, request %d: %v", name, size, i, err)
				}
				_, _ = io.Copy(io.Discard, r.Body)
				r.Body.Close()
				if r.StatusCode != tt.want[i] {
					t.Errorf("%s, pieces of %d, request %d: status %d, want %d", name, size, i, r.StatusCode, tt.want[i])
				}
				if r.StatusCode == http.StatusBadRequest && r.Close != (name != "in a body") {
					t.Errorf("%s: the connection goes on", name)
				}
			}
			_ = conn.Close() // it is done with
		}
	}
}
