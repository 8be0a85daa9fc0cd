package interceptor_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/anthropic"
	"github.com/callwright/callwright/adapters/ollama"
	"github.com/callwright/callwright/adapters/openai"
	"github.com/callwright/callwright/config"
	"github.com/callwright/callwright/interceptor"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(
		m, goleak.IgnoreTopFunction("internal/poll.runtime_pollWait"), goleak.IgnoreTopFunction("net/http.(*persistConn).writeLoop"),
	)
}

var frontPaths = map[*adapters.Format]string{
	openai.Chat: "/v1/chat/completions", anthropic.Messages: "/v1/messages", ollama.Chat: "/api/chat",
}

// requestBody is a request with a tool, in a format.
func requestBody(t testing.TB, f *adapters.Format, stream bool) []byte {
	t.Helper()
	body, err := f.EncodeRequest(&adapters.Request{
		Model: "m", Stream: stream, MaxTokens: 100,
		Messages: []adapters.Message{{Role: adapters.RoleUser, Blocks: []adapters.Block{{Type: adapters.BlockText, Text: "Hello"}}}},
		Tools: []adapters.Tool{{
			Name: "get_weather", Parameters: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`),
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// ended reports whether a stream ends as its format's streams do.
func ended(f *adapters.Format, data []byte) bool {
	text := strings.TrimSpace(string(data))
	switch f {
	case openai.Chat:
		return strings.HasSuffix(text, "data: [DONE]") && strings.Count(text, "[DONE]") == 1
	case anthropic.Messages:
		return strings.Count(text, "event: message_stop") == 1 && strings.HasSuffix(text, `{"type":"message_stop"}`)
	}
	lines := strings.Split(text, "\n")
	for _, l := range lines {
		if !json.Valid([]byte(l)) {
			return false
		}
	}
	return strings.Contains(lines[len(lines)-1], `"done":true`)
}

// chunk is a piece of a stream of OpenAI's chat.
func chunk(delta string) string {
	return `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":` + delta +
		`,"finish_reason":null}]}` + "\n\n"
}

const (
	finishChunk = `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},` +
		`"finish_reason":"stop"}]}` + "\n\n"
	doneChunk  = "data: [DONE]\n\n"
	wholeReply = `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant",` +
		`"content":"Hi."},"finish_reason":"stop"}]}`
)

var (
	callStart = chunk(`{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"get_weather","arguments":""}}]}`)
	callArgs  = chunk(`{"tool_calls":[{"index":0,"function":{"arguments":"{\"city\": \"Ro"}}]}`)
)

// raw answers with bytes as they are, and closes the connection.
func raw(text string) func(net.Conn) {
	return func(c net.Conn) { _, _ = io.WriteString(c, text) }
}

const sseHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"

// streamed answers with a stream, and whole with a whole reply.
func streamed(body string) func(net.Conn) { return raw(sseHead + body) }

func answered(status, kind, body string) func(net.Conn) {
	return raw(fmt.Sprintf(
		"HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", status, kind, len(body), body,
	))
}

// upstreamOf is a server that answers each request with a function, in OpenAI's words.
func upstreamOf(t testing.TB, answer func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	t.Cleanup(func() {
		_ = l.Close() // the test is over
		wg.Wait()
	})
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer func() { _ = c.Close() }() // it may be closed already
				r, err := http.ReadRequest(bufio.NewReader(c))
				if err != nil {
					return
				}
				_, _ = io.Copy(io.Discard, r.Body)
				answer(c)
			})
		}
	})
	return "http://" + l.Addr().String()
}

func gzipped(s string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, s)
	_ = w.Close()
	return b.String()
}

// faults are what upstreams do wrong. A stream's fault is also a whole reply's, which
// then is none.
var faults = []struct {
	name   string
	answer func(net.Conn)
	text   string // that a client gets in a stream all the same
	status int    // 0: 200 for a stream, 502 for a whole reply
}{
	{"closes before headers", func(net.Conn) {}, "", 502},
	{"closes after headers", streamed(""), "", 0},
	{"closes mid chunk", streamed(chunk(`{"content":"Hello"}`) + `data: {"id":"c","obj`), "Hello", 0},
	{"closes mid call", streamed(chunk(`{"content":"Hello"}`) + callStart + callArgs), "Hello", 0},
	{"401", answered("401 Unauthorized", "application/json", `{"error":{"message":"bad key"}}`), "", 401},
	{"429", answered("429 Too Many Requests", "application/json", `{"error":{"message":"slow down"}}`), "", 429},
	{"500 html", answered("500 Internal Server Error", "text/html", "<html>oops</html>"), "", 500},
	{"502 empty", answered("502 Bad Gateway", "text/plain", ""), "", 502},
	{"200 html", answered("200 OK", "text/html", "<html>login</html>"), "", 200},
	{"wrong type", answered("200 OK", "text/plain", "hello"), "", 0},
	{"redirect", raw("HTTP/1.1 302 Found\r\nConnection: close\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"), "", 302},
	{"204", raw("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"), "", 204},
	{
		"3 GB and 10 bytes",
		raw("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: 3000000000\r\n\r\n{\"id\":\"c\","), "", 0,
	},
	{
		"no blank line",
		streamed(strings.TrimSuffix(chunk(`{"content":"Hello"}`), "\n") + strings.TrimSuffix(finishChunk, "\n") + "data: [DONE]\n"), "Hello", 200,
	},
	{"CR only", streamed(strings.ReplaceAll(chunk(`{"content":"Hello"}`)+finishChunk+doneChunk, "\n", "\r")), "Hello", 200},
	{"a long line", streamed("data: {\"choices\":[{\"delta\":{\"content\":\"" + strings.Repeat("x", 5<<20) + "\"}}]}\n\n" + doneChunk), "", 0},
	{"comments", streamed(strings.Repeat(": hello\n\n", 10000) + chunk(`{"content":"Hello"}`) + finishChunk + doneChunk), "Hello", 200},
	{"bad JSON", streamed(chunk(`{"content":"Hello"}`) + "data: {\"choices\": [}\n\n" + finishChunk + doneChunk), "Hello", 0},
	{"no [DONE]", streamed(chunk(`{"content":"Hello"}`) + finishChunk), "Hello", 200},
	{"data after [DONE]", streamed(chunk(`{"content":"Hello"}`) + finishChunk + doneChunk + chunk(`{"content":"more"}`)), "Hello", 200},
	{"no choices", streamed(
		`data: {"id":"c","choices":[]}` + "\n\n" + `data: {"id":"c","choices":null}` + "\n\n" +
			chunk(`{"content":"Hello"}`) + finishChunk + doneChunk,
	), "Hello", 200},
	{"call index", streamed(chunk(`{"tool_calls":[{"index":-1,"id":"a","function":{"name":"get_weather","arguments":"{}"}}]}`) + chunk(
		`{"tool_calls":[{"index":1000000000,"id":"b","function":{"name":"x"}}]}`,
	) + chunk(`{"content":"Hello"}`) + finishChunk + doneChunk), "Hello", 200},
	{"an error within", streamed(chunk(`{"content":"Hello"}`) + `data: {"error":{"message":"out of memory"}}` + "\n\n"), "Hello", 0},
	{"gzip", raw("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: gzip\r\nConnection: close\r\n\r\n" + gzipped(
		chunk(`{"content":"Hello"}`)+finishChunk+doneChunk,
	)), "Hello", 200},
	{"a gzip bomb", raw("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: gzip\r\nConnection: close\r\n\r\n" + gzipped(
		strings.Repeat(": \n", 20<<20),
	)), "", 0},
	{"bad chunk sizes", raw("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"), "", 0},
	{"two lengths", raw("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello"), "", 502},
	{"a large header", raw("HTTP/1.1 200 OK\r\nConnection: close\r\nX: " + strings.Repeat("x", 11<<20) + "\r\n\r\n"), "", 502},
}

// plain follows no redirects.
var plain = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// TestFaults has upstreams do wrong, and checks that each client gets a well-formed end.
func TestFaults(t *testing.T) {
	for _, fault := range faults {
		t.Run(fault.name, func(t *testing.T) {
			t.Parallel()
			url := upstreamOf(t, fault.answer)
			s := serve(t, url, func(c *config.Config) {
				c.Server.UpstreamFormat = "openai"
				c.Server.MaxReplyBytes = 8 << 20
			})
			for front, path := range frontPaths {
				for _, stream := range []bool{true, false} {
					r, err := plain.Post(s.URL+path, "application/json", bytes.NewReader(requestBody(t, front, stream)))
					if err != nil {
						t.Fatalf("%s stream=%v: %v", front.Name, stream, err)
					}
					data, err := io.ReadAll(r.Body)
					r.Body.Close()
					if err != nil {
						t.Fatalf("%s stream=%v: %v", front.Name, stream, err)
					}
					want := fault.status
					if want == 0 || want == 200 && !stream && fault.name != "200 html" {
						want = map[bool]int{true: 200, false: 502}[stream]
					}
					if fault.status == 204 || fault.status >= 300 {
						want = fault.status
					}
					if r.StatusCode != want {
						t.Errorf("%s stream=%v: status %d, want %d: %.300s", front.Name, stream, r.StatusCode, want, data)
					}
					if stream && r.StatusCode == http.StatusOK && fault.name != "200 html" {
						if !ended(front, data) {
							t.Errorf("%s: the stream has no end, or several: %.600s", front.Name, data)
						}
						if !strings.Contains(string(data), fault.text) {
							t.Errorf("%s: what was certain is lost: %.600s", front.Name, data)
						}
						if fault.status == 0 && !strings.Contains(string(data), "error") {
							t.Errorf("%s: the end does not say that the reply broke off: %.600s", front.Name, data)
						}
						if strings.Contains(string(data), `Ro\"}`) {
							t.Errorf("%s: a call that was cut off looks whole: %s", front.Name, data)
						}
					}
					if !stream && r.StatusCode >= 400 && fault.status == 0 && !json.Valid(data) {
						t.Errorf("%s: the error is no JSON: %.300s", front.Name, data)
					}
				}
			}
		})
	}
}

// TestHangs checks that an upstream that says nothing is not waited for, and that the
// client hears that a stream goes on.
func TestHangs(t *testing.T) {
	release := make(chan struct{})
	url := upstreamOf(t, func(c net.Conn) {
		_, _ = io.WriteString(c, sseHead+chunk(`{"content":"Hello"}`))
		<-release
	})
	defer close(release)
	s := serve(t, url, func(c *config.Config) {
		c.Server.UpstreamFormat, c.Server.IdleTimeoutMS, c.Server.HeartbeatMS = "openai", 1000, 50
	})
	for front, path := range frontPaths {
		start := time.Now()
		r, err := http.Post(s.URL+path, "application/json", bytes.NewReader(requestBody(t, front, true)))
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r.Body)
		r.Body.Close()
		if err != nil || !ended(front, data) || !strings.Contains(string(data), "silent for too long") {
			t.Errorf("%s: %v: %s", front.Name, err, data)
		}
		if d := time.Since(start); d > 20*time.Second {
			t.Errorf("%s: it took %v", front.Name, d)
		}
		keepAlives := strings.Count(string(data), ": ping\n") + strings.Count(string(data), `"role":"assistant","content":""},"done":false`)
		if keepAlives == 0 {
			t.Errorf("%s: no keep-alive: %s", front.Name, data)
		}
	}
	hung := upstreamOf(t, func(net.Conn) { <-release })
	s = serve(t, hung, func(c *config.Config) {
		c.Server.UpstreamFormat, c.Server.FirstByteTimeoutMS = "openai", 200
	})
	r, err := http.Post(s.URL+"/v1/chat/completions", "application/json", bytes.NewReader(requestBody(t, openai.Chat, true)))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if r.StatusCode != http.StatusGatewayTimeout {
		t.Errorf("status %d", r.StatusCode)
	}
}

// TestClientLeaves checks that the upstream is told at once when a client goes away, at
// each stage.
func TestClientLeaves(t *testing.T) {
	for _, stage := range []string{"before headers", "before text", "mid text", "mid call"} {
		gone := make(chan struct{}, 1)
		upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			w.Header().Set("Content-Type", "text/event-stream")
			if stage != "before headers" {
				_ = http.NewResponseController(w).Flush()
			}
			text := map[string]string{"mid text": chunk(`{"content":"Hello"}`), "mid call": callStart + callArgs}[stage]
			if text != "" {
				_, _ = io.WriteString(w, text)
				_ = http.NewResponseController(w).Flush()
			}
			<-r.Context().Done()
			gone <- struct{}{}
		}))
		s := serve(t, upstream.URL, func(c *config.Config) { c.Server.UpstreamFormat = "openai" })
		for front, path := range frontPaths {
			ctx, cancel := context.WithCancel(context.Background())
			q, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+path, bytes.NewReader(requestBody(t, front, true)))
			if err != nil {
				t.Fatal(err)
			}
			time.AfterFunc(100*time.Millisecond, cancel)
			if r, err := http.DefaultClient.Do(q); err == nil {
				_, _ = io.Copy(io.Discard, r.Body)
				r.Body.Close()
			}
			select {
			case <-gone:
			case <-time.After(2 * time.Second):
				t.Errorf("%s, %s: the upstream goes on", stage, front.Name)
			}
			cancel()
		}
		upstream.Close()
	}
}

// TestManyClients has many clients come and go.
func TestManyClients(t *testing.T) {
	var served atomic.Int64
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		for _, c := range []string{
			chunk(`{"content":"Hello "}`), callStart, chunk(`{"tool_calls":[{"index":0,"function":{"arguments":"{\"city\": \"Rome\"}"}}]}`),
			finishChunk, doneChunk,
		} {
			if _, err := io.WriteString(w, c); err != nil {
				return
			}
			_ = http.NewResponseController(w).Flush()
		}
		served.Add(1)
	}))
	defer upstream.Close()
	s := serve(t, upstream.URL, func(c *config.Config) { c.Server.UpstreamFormat = "openai" })
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 50}}
	defer client.CloseIdleConnections()
	before := runtime.NumGoroutine()
	body := requestBody(t, openai.Chat, true)
	var wg sync.WaitGroup
	var bad atomic.Int64
	gate := make(chan struct{}, 50)
	n := 1000
	if testing.Short() {
		n = 200
	}
	for i := range n {
		gate <- struct{}{}
		wg.Go(func() {
			defer func() { <-gate }()
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			if i%3 == 0 {
				time.AfterFunc(time.Duration(i%7)*time.Millisecond, cancel)
			}
			q, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+"/v1/chat/completions", bytes.NewReader(body))
			if err != nil {
				bad.Add(1)
				return
			}
			r, err := client.Do(q)
			if err != nil {
				if i%3 != 0 {
					bad.Add(1)
				}
				return
			}
			data, err := io.ReadAll(r.Body)
			r.Body.Close()
			if i%3 != 0 && (err != nil || !ended(openai.Chat, data)) {
				bad.Add(1)
			}
		})
	}
	wg.Wait()
	if bad.Load() != 0 {
		t.Errorf("%d of %d clients got no end", bad.Load(), n)
	}
	client.CloseIdleConnections()
	upstream.CloseClientConnections()
	for range 100 {
		if runtime.NumGoroutine() <= before+20 {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("%d goroutines before, %d after", before, runtime.NumGoroutine())
}

// TestShutdown checks that streams end with their terminator when the server does.
func TestShutdown(t *testing.T) {
	began := make(chan struct{}, 1)
	release := make(chan struct{})
	defer close(release)
	url := upstreamOf(t, func(c net.Conn) {
		_, _ = io.WriteString(c, sseHead+chunk(`{"content":"Hello"}`))
		began <- struct{}{}
		<-release
	})
	c := config.Default()
	c.Server.Upstream, c.Server.UpstreamFormat, c.Server.ShutdownTimeoutMS = url, "openai", 200
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
	r, err := http.Post(
		"http://"+l.Addr().String()+"/v1/chat/completions", "application/json", bytes.NewReader(requestBody(t, openai.Chat, true)),
	)
	if err != nil {
		t.Fatal(err)
	}
	<-began
	stop()
	data, err := io.ReadAll(r.Body)
	r.Body.Close()
	if err != nil || !ended(openai.Chat, data) || !strings.Contains(string(data), "the server is ending") ||
		!strings.Contains(string(data), "Hello") {
		t.Errorf("%v: %s", err, data)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if c, err := net.Dial("tcp", l.Addr().String()); err == nil {
		_ = c.Close() // it should not be there
		t.Error("it still listens")
	}
}

func TestRefuses(t *testing.T) {
	url := upstreamOf(t, answered("200 OK", "application/json", wholeReply))
	s := serve(t, url, func(c *config.Config) {
		c.Server.UpstreamFormat, c.Server.MaxBodyBytes = "openai", 2000
	})
	post := func(path, body string, header map[string]string) (int, string) {
		t.Helper()
		q, err := http.NewRequestWithContext(context.Background(), http.MethodPost, s.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for k, v := range header {
			if k == "Host" {
				q.Host = v
			} else {
				q.Header.Set(k, v)
			}
		}
		r, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		data, err := io.ReadAll(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		return r.StatusCode, string(data)
	}
	good := string(requestBody(t, openai.Chat, false))
	for _, tt := range []struct {
		name, path, body string
		header           map[string]string
		status           int
		want             string
	}{
		{"good", "/v1/chat/completions", good, nil, 200, "Hi."},
		{"too large", "/v1/chat/completions", strings.Repeat(" ", 3000), nil, 413, "at most 2000 bytes"},
		{"not JSON", "/v1/messages", "{", nil, 400, `"type":"error"`},
		{
			"a bad tool", "/api/chat", `{"model":"m","messages":[],"tools":[{"type":"function","function":{"name":"","parameters":{}}}]}`, nil, 400,
			"tools",
		},
		{"another site", "/v1/chat/completions", good, map[string]string{"Origin": "https://evil.example"}, 403, "other sites"},
		{"another site's page", "/v1/chat/completions", good, map[string]string{"Sec-Fetch-Site": "cross-site"}, 403, "other sites"},
		{"a name that leads here", "/v1/chat/completions", good, map[string]string{"Host": "evil.example"}, 403, "allowed_hosts"},
		{
			"a state that nobody keeps", "/v1/responses", `{"model":"m","input":"Hi","previous_response_id":"resp_1"}`, nil, 400,
			"previous_response_id",
		},
		{"Expect", "/v1/chat/completions", good, map[string]string{"Expect": "100-continue"}, 200, "Hi."},
	} {
		if status, body := post(tt.path, tt.body, tt.header); status != tt.status || !strings.Contains(body, tt.want) {
			t.Errorf("%s: %d %s", tt.name, status, body)
		}
	}
	c := config.Default()
	for _, bad := range []func(){
		func() { c.Server.Upstream = "" }, func() { c.Server.Upstream = "http://169.254.169.254" },
		func() { c.Server.Upstream, c.Server.KeyEnv = url, "NO_SUCH_KEY" },
	} {
		bad()
		if _, err := interceptor.New(c, interceptor.Options{Getenv: func(string) string { return "" }}); err == nil {
			t.Errorf("%+v is taken", c.Server)
		}
	}
	c = config.Default()
	c.Server.Upstream = url
	h, err := interceptor.New(c, interceptor.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for address, open := range map[string]bool{
		"0.0.0.0:0": true, ":8080": true, "192.168.1.2:1": true, "127.0.0.1:0": false, "[::1]:0": false, "localhost:1": false,
	} {
		c.Server.Listen = address
		if _, err := interceptor.NewServer(h, &c.Server, nil); errors.Is(err, interceptor.ErrOpen) != open {
			t.Errorf("%s: %v", address, err)
		}
	}
}
