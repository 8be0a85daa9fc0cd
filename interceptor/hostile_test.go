package interceptor_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/adapters/openai"
	"github.com/callwright/callwright/config"
	"github.com/callwright/callwright/interceptor"
)

// TestHostileClients sends what smugglers send, over a socket of its own.
func TestHostileClients(t *testing.T) {
	var got http.Header
	var length int64
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got, length = r.Header.Clone(), r.ContentLength
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Connection", "X-Secret")
		w.Header().Set("X-Secret", "of one connection")
		_, _ = io.WriteString(w, wholeReply)
	}))
	defer upstream.Close()
	c := config.Default()
	c.Server.Upstream, c.Server.UpstreamFormat, c.Server.ReadTimeoutMS = upstream.URL, "openai", 500
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
	defer func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	body := string(requestBody(t, openai.Chat, false))
	head := "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n"
	withConnection := func(connection string) string {
		return strings.Replace(head, "Connection: close", "Connection: "+connection, 1)
	}
	whole := fmt.Sprintf("Content-Length: %d\r\n", len(body))
	for _, tt := range []struct {
		name, request string
		status        int
	}{
		{"good", head + whole + "\r\n" + body, 200},
		{"both lengths", head + whole + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
		{"two lengths", head + whole + "Content-Length: 3\r\n\r\n" + body, 400},
		{"a bare line feed in a chunk", head + "Transfer-Encoding: chunked\r\n\r\n5\nhello\r\n0\r\n\r\n", 400},
		{"a large header", head + "X: " + strings.Repeat("x", 1<<20) + "\r\n" + whole + "\r\n" + body, 431},
		{"no host", "POST /v1/chat/completions HTTP/1.1\r\nConnection: close\r\n" + whole + "\r\n" + body, 400},
		{"an upgrade that is none", head + "Upgrade: websocket\r\n" + whole + "\r\n" + body, 200},
		{"an offer of HTTP/2", withConnection("Upgrade, HTTP2-Settings") + "Upgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n" + whole + "\r\n" + body, 200},
		{"an upgrade", withConnection("keep-alive, Upgrade") + "Upgrade: websocket\r\n" + whole + "\r\n" + body, 400},
		{"a key for one connection", withConnection("close, authorization") + "Authorization: Bearer x\r\n" + whole + "\r\n" + body, 400},
		{"a length for one connection", withConnection("Content-Length") + whole + "\r\n" + body, 400},
		{"TRACE", "TRACE / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", 405},
		{"CONNECT", "CONNECT localhost:80 HTTP/1.1\r\nHost: localhost:80\r\nConnection: close\r\n\r\n", 405},
		{"CONNECT elsewhere", "CONNECT evil.example:80 HTTP/1.1\r\nHost: evil.example:80\r\nConnection: close\r\n\r\n", 403},
		{"all of the server", "OPTIONS * HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", 400},
		{"an address for a path", "GET http://evil.example/v1/models HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", 403},
		{"a body that never comes", head + "Content-Length: 100000\r\n\r\n{", 400},
	} {
		conn, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
			t.Fatal(err)
		}
		go func() { _, _ = io.WriteString(conn, tt.request) }() // the server may not read all of it
		r, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		_, _ = io.Copy(io.Discard, r.Body) // only the status counts
		r.Body.Close()
		if r.StatusCode != tt.status {
			t.Errorf("%s: status %d, want %d", tt.name, r.StatusCode, tt.status)
		}
		if r.Header.Get("X-Secret") != "" {
			t.Errorf("%s: a header of another connection comes through", tt.name)
		}
		_ = conn.Close() // it is done with
	}
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }() // it is done with
	named := strings.Replace(head, "Connection: close", "Connection: close, Te, X-Mine", 1)
	_, _ = io.WriteString(
		conn,
		named+"Authorization: Bearer x\r\nX-Mine: 1\r\nTe: trailers\r\nExpect: 100-continue\r\n"+
			"X-Forwarded-For: 1.2.3.4\r\nCookie: a=b\r\n"+whole+"\r\n"+body,
	)
	in := bufio.NewReader(conn) // one, since it may hold both responses
	r, err := http.ReadResponse(in, nil)
	for err == nil && r.StatusCode == http.StatusContinue {
		r, err = http.ReadResponse(in, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	for _, name := range []string{"X-Mine", "Te", "Expect", "X-Forwarded-For", "Cookie", "Connection"} {
		if got.Get(name) != "" {
			t.Errorf("%s reaches the upstream: %q", name, got.Get(name))
		}
	}
	if length != int64(len(body)) {
		t.Errorf("the upstream is told of %d bytes, sent are %d", length, len(body))
	}
}
