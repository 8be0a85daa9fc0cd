package interceptor

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/internal/wire"
)

// flushWriter writes to the client, and flushes on demand.
type flushWriter struct {
	w       http.ResponseWriter
	c       *http.ResponseController
	written bool // something was, since the last flush
	muted   bool // what is written is dropped
}

func (f *flushWriter) Write(p []byte) (int, error) {
	if f.muted {
		return len(p), nil
	}
	f.written = true
	return f.w.Write(p)
}

func (f *flushWriter) flush() error {
	if !f.written {
		return nil
	}
	f.written = false
	return f.c.Flush()
}

// flushingBody is the upstream's body. Before it waits for more, what was written so far
// is flushed to the client: pieces that come together are sent together.
type flushingBody struct {
	io.ReadCloser
	flush func()
}

func (b flushingBody) Read(p []byte) (int, error) {
	b.flush()
	return b.ReadCloser.Read(p)
}

// errClient says that the client cannot be written to.
var errClient = errors.New("the client is gone")

// streamWriter writes events to the client, and keep-alives in long silences. Its methods
// are safe for concurrent use.
type streamWriter struct {
	mu    sync.Mutex
	enc   adapters.Encoder
	out   *flushWriter
	model string        // that was asked for
	last  time.Time     // when something was written
	every time.Duration // how long the stream may be silent
	timer *time.Timer
	begun bool   // more than a keep-alive was written
	told  []bool // by choice: the encoder knows that it has begun
	ended bool   // no keep-alive is to be written
	err   error  // the first; with it nothing more is written
}

// event writes an event.
func (s *streamWriter) event(e wireEvent) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.write(e)
}

// failed returns the error with which nothing more is written, nil if there is none.
func (s *streamWriter) failed() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// message writes a message as it is. events are its events: the encoder is given those
// that begin the reply and its choices, so that it does not begin them again.
func (s *streamWriter) message(framed []byte, events []wireEvent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range events {
		if e.Choice >= 0 && e.Choice < len(s.told) && s.told[e.Choice] {
			continue
		}
		s.out.muted = true
		_ = s.write(e) // into nothing
		s.out.muted = false
		if e.Type == adapters.EventText || e.Type == adapters.EventReasoning {
			for len(s.told) <= e.Choice {
				s.told = append(s.told, false)
			}
			s.told[e.Choice] = true
		}
	}
	if s.err != nil {
		return
	}
	s.last = time.Now()
	if _, err := s.out.Write(framed); err != nil {
		s.err = errors.Join(errClient, err)
	}
}

func (s *streamWriter) write(e wireEvent) error {
	if s.err != nil {
		return s.err
	}
	s.last, s.begun = time.Now(), s.begun || e.Type != adapters.EventPing
	if err := s.enc.Event(e); err != nil {
		s.err = errors.Join(errClient, err)
	}
	return s.err
}

// flush sends what was written.
func (s *streamWriter) flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		if err := s.out.flush(); err != nil {
			s.err = errors.Join(errClient, err)
		}
	}
}

// keepAlive writes a keep-alive if the stream was silent for too long, and sets the timer
// for the next one. No goroutine waits for it.
func (s *streamWriter) keepAlive() {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch silent := time.Since(s.last); {
	case s.ended:
	case silent < s.every:
		s.timer.Reset(s.every - silent)
	default:
		if s.write(wireEvent{Type: adapters.EventPing, Model: s.model}) == nil { // an error is kept, and told to who writes next
			_ = s.out.flush()
		}
		s.timer.Reset(s.every)
	}
}

// stop ends the keep-alives. None is being written when it returns.
func (s *streamWriter) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	if s.timer != nil {
		s.timer.Stop()
	}
}

// end writes the error message, if there is one, and what ends the stream.
func (s *streamWriter) end(message string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.begun { // what never began cannot end
		_ = s.write(wireEvent{Type: adapters.EventStart, Model: s.model}) // the error is kept
	}
	s.ended = true
	if s.err != nil {
		return
	}
	if message != "" && s.enc.Fail(&adapters.ProviderError{Type: defaultErrorType, Message: message}) != nil {
		return
	}
	if s.enc.End() == nil { // else the client is gone
		_ = s.out.flush()
	}
}

// stream replies with a stream.
func (x *exchange) stream(ctx context.Context, r *http.Response) {
	x.w.Header().Set("Content-Type", x.client.ContentType)
	x.w.Header().Set("Cache-Control", "no-cache")
	x.w.Header().Set("X-Accel-Buffering", "no")
	x.w.Header().Set("Trailer", trailers)
	out := &flushWriter{w: x.w, c: http.NewResponseController(x.w)}
	x.w.WriteHeader(http.StatusOK)
	if err := out.c.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return
	}
	every := time.Duration(x.s.c.Server.HeartbeatMS) * time.Millisecond
	s := &streamWriter{enc: x.client.NewEncoder(out), out: out, model: x.req.Model, last: time.Now(), every: every}
	if every > 0 {
		s.mu.Lock() // the timer is there before it is looked at
		s.timer = time.AfterFunc(every, s.keepAlive)
		s.mu.Unlock()
	}
	defer s.stop()
	flushing := *r
	flushing.Body = flushingBody{r.Body, s.flush}
	w := &rewrite{
		x: x, ctx: ctx, emit: s.event, beforeWait: s.flush, live: true, closeFirst: func() { _ = r.Body.Close() },
		askedUsage: x.client != x.server || x.mode == "emulate",
	}
	var err error
	if x.client == x.server && x.client.Independent {
		u := &unchanged{w: s, framing: wire.Framing(x.client.Framing)}
		w.emit = u.event
		_, err = w.run(u.events(x.server.NewStreamReader(flushing.Body, x.limits())))
	} else {
		_, err = w.run(x.events(&flushing, true))
	}
	if x.r.Context().Err() != nil || errors.Is(err, errClient) {
		return
	}
	s.end(x.streamMessage(ctx, err))
	x.headers(x.w.Header())
}

// streamMessage is the message to the client for an error within a stream.
func (x *exchange) streamMessage(ctx context.Context, err error) string {
	if err == nil {
		return ""
	}
	var reported *adapters.ProviderError
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errIdle), errors.Is(cause, errClosing):
		return cause.Error()
	case errors.As(err, &reported):
		return reported.Message
	case errors.Is(err, adapters.ErrUnexpectedEnd):
		return "the model server's reply broke off"
	case errors.Is(err, adapters.ErrTooLarge):
		return "the model server's reply is too large"
	case errors.Is(err, adapters.ErrNotStream), errors.Is(err, adapters.ErrMalformed):
		return "the model server's reply cannot be read"
	}
	x.h.log.Warn("the reply broke off", "cause", cause(err))
	return "the model server's reply broke off"
}
