package interceptor

import (
	"bytes"
	"net"
	"sync/atomic"
)

// headListener makes connections that look at the heads of requests.
type headListener struct{ net.Listener }

// Accept returns the next connection.
func (l headListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &headConn{Conn: c}, nil
}

// headConn is a connection that looks for heads with both Content-Length and
// Transfer-Encoding: net/http drops the first without a word. What looks like a head
// within a body counts too, but only against a request that is chunked.
type headConn struct {
	net.Conn
	line           []byte // the beginning of the line that is being read
	length, coding bool   // the head so far has them
	both           atomic.Bool
}

// maxLine is how much of a line is looked at, in bytes: longer than the names.
const maxLine = 32

// Read reads from the connection. It is not safe for concurrent use, as net/http uses it.
func (c *headConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	for rest := p[:n]; len(rest) > 0; {
		line, more, ended := bytes.Cut(rest, []byte("\n"))
		c.line = append(c.line, line[:min(len(line), maxLine-len(c.line))]...)
		if ended {
			c.endLine()
		}
		rest = more
	}
	return n, err
}

// endLine looks at a line; an empty one ends a head.
func (c *headConn) endLine() {
	name, _, _ := bytes.Cut(c.line, []byte(":"))
	switch name = bytes.TrimSpace(name); {
	case len(bytes.TrimSpace(c.line)) == 0:
		if c.length && c.coding {
			c.both.Store(true)
		}
		c.length, c.coding = false, false
	case bytes.EqualFold(name, []byte("Content-Length")):
		c.length = true
	case bytes.EqualFold(name, []byte("Transfer-Encoding")):
		c.coding = true
	}
	c.line = c.line[:0]
}

// CloseWrite ends what is sent, so that the client can still read it.
func (c *headConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}
