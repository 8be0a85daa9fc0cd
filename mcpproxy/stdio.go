package mcpproxy

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/callwright/callwright/internal/process"
)

// endAfter is how long a server has to end once its input has ended, and again once it was
// told to terminate.
const endAfter = 5 * time.Second

// Stdio starts a server and carries lines between it and a client: in has what the client
// writes, out gets what it reads. Stdin and Stdout of the command must not be set; a nil
// Stderr discards.
//
// It returns when the server has ended. When the client's input ends, that of the server
// does; it is terminated after 5 seconds, and killed after 5 more. When ctx ends, it is
// terminated at once. in is closed in any case. The error is an [*exec.ExitError] where the
// server failed by itself.
func (p *Proxy) Stdio(ctx context.Context, in io.ReadCloser, out io.Writer, server *exec.Cmd) error {
	defer in.Close()
	toServer, err := server.StdinPipe()
	if err != nil {
		return err
	}
	fromServer, err := server.StdoutPipe()
	if err != nil {
		return err
	}
	var banners io.Writer
	if p.o.Strict {
		if _, file := server.Stderr.(*os.File); !file {
			server.Stderr = &lockedWriter{w: server.Stderr} // it has two writers
		}
		banners = server.Stderr
	}
	process.Own(server)
	if err := server.Start(); err != nil {
		return err
	}
	defer process.End(server)
	var lock sync.Mutex // of the client's output
	talk := p.conversation(&catalog{})

	ended := make(chan struct{}) // the client's input has
	var group sync.WaitGroup
	group.Go(func() {
		defer close(ended)
		defer toServer.Close()
		p.fromClient(in, toServer, &lineWriter{shared: &lock, w: out}, talk)
	})
	stopped := make(chan struct{}) // the server has
	group.Go(func() { end(ctx, server, ended, stopped) })

	copyLines(fromServer, &lineWriter{shared: &lock, w: out}, banners, talk)
	err = server.Wait()
	close(stopped)
	in.Close() // a client that goes on writing has nobody to write to
	group.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		select {
		case <-ended: // it was to end
			if !exit.Exited() {
				return nil
			}
		default:
		}
	}
	return err
}

// fromClient carries the client's lines to the server, mended, or answers them.
func (p *Proxy) fromClient(in io.Reader, server io.Writer, client *lineWriter, talk *conversation) {
	to := &lineWriter{shared: new(sync.Mutex), w: server}
	_ = eachLine(in, func(l []byte, more bool) error { // an error ends it like the input's end
		if more || len(l) > MaxMessage {
			return to.write(l, more)
		}
		body, ending := splitEnding(l)
		o := talk.fromClient(body)
		if o.reply != nil {
			return client.write(append(o.reply, '\n'), false)
		}
		if o.changed {
			l = append(o.forward, ending...)
		}
		return to.write(l, false)
	})
}

// copyLines carries the server's lines to the client as they are. With banners, lines that
// cannot be JSON go there.
func copyLines(in io.Reader, client *lineWriter, banners io.Writer, talk *conversation) {
	defer client.close()
	long := false
	var to io.Writer
	err := eachLine(in, func(l []byte, more bool) error {
		if !long && banners != nil && !mayBeJSON(l) {
			to = banners
		}
		if !long && !more {
			body, _ := splitEnding(l)
			talk.fromServer(body)
		}
		long = more
		if to != nil {
			_, err := to.Write(l)
			if !more {
				to = nil
			}
			return err
		}
		return client.write(l, more)
	})
	if err != nil {
		_, _ = io.Copy(io.Discard, in) // nobody reads: the server must not block
	}
}

// mayBeJSON reports whether a line begins as a message does.
func mayBeJSON(l []byte) bool {
	l = bytes.TrimLeft(l, " \t\r\n")
	return len(l) == 0 || l[0] == '{' || l[0] == '['
}

// splitEnding cuts off the end of a line.
func splitEnding(l []byte) (body, ending []byte) {
	body = bytes.TrimRight(l, "\r\n")
	return body, l[len(body):]
}

// eachLine calls f with each line and its ending. A line that is longer than [MaxMessage]
// comes in pieces: more says that it goes on. The last line may have no ending. f must not
// keep the bytes.
func eachLine(in io.Reader, f func(l []byte, more bool) error) error {
	r := bufio.NewReaderSize(in, 64<<10)
	var line []byte
	long := false
	for {
		piece, err := r.ReadSlice('\n')
		full := errors.Is(err, bufio.ErrBufferFull)
		switch {
		case long || full && len(line)+len(piece) > MaxMessage:
			long = full
			if len(line) > 0 {
				if err := f(line, true); err != nil {
					return err
				}
				line = nil
			}
			if err := f(piece, full); err != nil {
				return err
			}
		case full:
			line = append(line, piece...)
			continue
		case len(line) > 0:
			line = append(line, piece...)
			err := f(line, false)
			if line = line[:0]; cap(line) > 1<<20 {
				line = nil
			}
			if err != nil {
				return err
			}
		case len(piece) > 0:
			if err := f(piece, false); err != nil {
				return err
			}
		}
		if err != nil && !full {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
	}
}

// lineWriter writes the lines of one writer, among those of others that share the lock.
type lineWriter struct {
	shared *sync.Mutex
	w      io.Writer
	open   bool // a line goes on, and the lock is held until it ends
}

// write writes a line, or a piece of one.
func (w *lineWriter) write(l []byte, more bool) error {
	if !w.open {
		w.shared.Lock()
	}
	_, err := w.w.Write(l)
	w.open = more && err == nil
	if !w.open {
		w.shared.Unlock()
	}
	return err
}

// close ends a line that was not ended.
func (w *lineWriter) close() {
	if w.open {
		w.open = false
		w.shared.Unlock()
	}
}

// lockedWriter is a writer that several may use; nil discards.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (w *lockedWriter) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.w == nil {
		return len(b), nil
	}
	return w.w.Write(b)
}

// end sees to it that a server ends: once its input has, or ctx.
func end(ctx context.Context, server *exec.Cmd, ended, stopped <-chan struct{}) {
	select {
	case <-stopped:
		return
	case <-ctx.Done():
	case <-ended:
		select {
		case <-stopped:
			return
		case <-ctx.Done():
		case <-time.After(endAfter):
		}
	}
	process.Terminate(server)
	select {
	case <-stopped:
	case <-time.After(endAfter):
		_ = server.Process.Kill() // an error means that it has ended
		process.End(server)
	}
}
