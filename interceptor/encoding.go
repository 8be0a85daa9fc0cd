package interceptor

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"strings"
)

// encodings are the content encodings that are read, as a client is told of them.
const encodings = "gzip, deflate, identity"

var (
	// errEncoding says that a body has a content encoding that is not read.
	errEncoding = errors.New("the content encoding is not one of " + encodings)
	// errRatio says that a body is packed more densely than anything honest.
	errRatio = errors.New("the content encoding hides too much")
	// errPacked says that a body is not in its content encoding.
	errPacked = errors.New("the body is not in its content encoding")
)

// Bounds of what a packed body may hold: freely bytes, beyond that maxRatio times its own
// size.
const (
	freely   = 64 << 10
	maxRatio = 100
)

// unpack returns what a body with a content encoding holds. Errors of reading are
// errRatio, errPacked, or those of the body.
func unpack(body io.Reader, encoding string) (io.Reader, error) {
	packed := &counter{r: body}
	u := &unpacked{packed: packed}
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "", "identity":
		return body, nil
	case "gzip", "x-gzip":
		u.open = func() (io.Reader, error) { return gzip.NewReader(packed) }
	case "deflate": // RFC 9110 means zlib; some send what is in it
		u.open = func() (io.Reader, error) {
			in := bufio.NewReader(packed)
			if head, err := in.Peek(2); err == nil && head[0]&15 == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 {
				return zlib.NewReader(in)
			}
			return flate.NewReader(in), nil
		}
	default:
		return nil, errEncoding
	}
	return u, nil
}

// counter counts what is read, and keeps the error of reading.
type counter struct {
	r   io.Reader
	n   int64
	err error
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		c.err = err
	}
	return n, err
}

// unpacked reads what a packed body holds. It is opened when it is read, for the beginning
// of a stream may be long in coming.
type unpacked struct {
	packed *counter
	open   func() (io.Reader, error)
	r      io.Reader
	n      int64
}

func (u *unpacked) Read(p []byte) (n int, err error) {
	if u.r == nil {
		if u.r, err = u.open(); err != nil {
			return 0, u.wrap(err)
		}
	}
	n, err = u.r.Read(p)
	if u.n += int64(n); u.n > freely && u.n > maxRatio*u.packed.n {
		return 0, errRatio
	}
	return n, u.wrap(err)
}

// wrap says whose an error is.
func (u *unpacked) wrap(err error) error {
	switch {
	case err == nil, errors.Is(err, io.EOF) && u.r != nil:
		return err
	case u.packed.err != nil:
		return u.packed.err
	}
	return fmt.Errorf("%w: %w", errPacked, err)
}
