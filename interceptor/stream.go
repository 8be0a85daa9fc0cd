package interceptor

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/openai"
)

// writeTimeout is how long a client may take to read a piece of a stream.
const writeTimeout = 60 * time.Second

// pieces writes what a stream is made of. It reaches the client when it is flushed.
type pieces struct {
	w       http.ResponseWriter
	c       *http.ResponseController
	waiting bool
	muted   bool
}

func (f *pieces) Write(p []byte) (int, error) {
	if f.muted {
		return len(p), nil
	}
	f.waiting = true
	return f.w.Write(p)
}

func (f *pieces) flush() error {
	if !f.waiting {
		return nil
	}
	f.waiting = false
	// Servers without deadlines, such as a test's recorder, go without.
	if err := f.c.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return f.c.Flush()
}

// flushing is the upstream's body: before it is waited for, the client gets what was
// made of all that has come. What comes at once goes at once.
type flushing struct {
	io.ReadCloser
	s *streamWriter
}

func (f flushing) Read(p []byte) (int, error) {
	f.s.flush()
	return f.ReadCloser.Read(p)
}

// errClient says that the client cannot be written to.
var errClient = errors.New("the client is gone")

// streamWriter writes events to the client, and a sign of life where it is long silent.
type streamWriter struct {
	mu    sync.Mutex
	enc   adapters.Encoder
	out   *pieces
	last  time.Time
	every time.Duration
	timer *time.Timer
	begun bool
	ended bool
	err   error

	// Where both sides speak the same, a message of which nothing is changed is handed
	// on as it came: told are the events for the client.
	passing bool
	told    []adapters.Event
	line    []byte
}

func (s *streamWriter) event(e adapters.Event) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.passing {
		s.told = append(s.told, e)
		return s.err
	}
	return s.write(e)
}

// begin says that what is written from now on is made of one message.
func (s *streamWriter) begin() { s.passing, s.told = true, s.told[:0] }

// finish hands a message on, with what was made of its events, or as it came if that is
// the same.
func (s *streamWriter) finish(raw []byte, in []adapters.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.passing = false
	if !slices.EqualFunc(in, s.told, sameEvent) || len(in) == 0 || bytes.Contains(raw, callMembers) || bytes.ContainsAny(raw, "\r\n") {
		for _, e := range s.told {
			if s.write(e) != nil {
				break
			}
		}
		return
	}
	if !s.begun { // what is written later has to know how it began
		s.out.muted = true
		for _, e := range s.told {
			_ = s.write(e) // into nothing
		}
		s.out.muted = false
	}
	if s.err == nil {
		s.last = time.Now()
		s.line = append(append(append(s.line[:0], "data: "...), raw...), "\n\n"...)
		if _, err := s.out.Write(s.line); err != nil {
			s.err = errors.Join(errClient, err)
		}
	}
}

// callMembers stands in the names of the members that hold calls: what a message says
// of a call may be told by a later one.
var callMembers = []byte("_call")

// sameEvent reports whether an event was handed on as it came, and its message may be.
// Those of calls may have other ids and words, and the end is told at the end.
func sameEvent(a, b adapters.Event) bool {
	switch a.Type {
	case adapters.EventStart, adapters.EventText, adapters.EventReasoning, adapters.EventExtra:
		return a.Type == b.Type && a.Choice == b.Choice && a.Text == b.Text
	}
	return false
}

func (s *streamWriter) write(e adapters.Event) error {
	if s.err != nil {
		return s.err
	}
	s.last, s.begun = time.Now(), s.begun || e.Type != adapters.EventPing
	if err := s.enc.Event(e); err != nil {
		s.err = errors.Join(errClient, err)
	}
	return s.err
}

// flush hands on what was written.
func (s *streamWriter) flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		if err := s.out.flush(); err != nil {
			s.err = errors.Join(errClient, err)
		}
	}
}

// beat writes a sign of life after each silence, until the stream ends. It holds no
// goroutine while it waits.
func (s *streamWriter) beat() {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch silent := time.Since(s.last); {
	case s.ended:
	case silent < s.every:
		s.timer.Reset(s.every - silent)
	default:
		if s.write(adapters.Event{Type: adapters.EventPing}) == nil { // an error is kept, and told to who writes next
			_ = s.out.flush()
		}
		s.timer.Reset(s.every)
	}
}

// stop ends the signs of life: none is being written when it returns.
func (s *streamWriter) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	if s.timer != nil {
		s.timer.Stop()
	}
}

// end writes an error, if there is one to tell, and what ends the stream.
func (s *streamWriter) end(front *adapters.Format, model, message string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.begun { // what never began cannot end
		_ = s.write(adapters.Event{Type: adapters.EventStart, Model: model}) // the error is kept
	}
	s.ended = true
	if s.err != nil {
		return
	}
	if message != "" {
		if _, err := s.out.Write(streamError(front, message)); err != nil {
			return
		}
	}
	if s.enc.End() == nil { // else the client is gone
		_ = s.out.flush()
	}
}

// stream answers with a stream.
func (x *exchange) stream(ctx context.Context, r *http.Response) {
	x.w.Header().Set("Content-Type", x.front.ContentType)
	x.w.Header().Set("Cache-Control", "no-cache")
	x.w.Header().Set("X-Accel-Buffering", "no")
	x.w.Header().Set("Trailer", trailers)
	out := &pieces{w: x.w, c: http.NewResponseController(x.w)}
	x.w.WriteHeader(http.StatusOK)
	if err := out.c.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return
	}
	s := &streamWriter{enc: x.front.NewEncoder(out), out: out, last: time.Now(), every: time.Duration(x.s.c.Server.HeartbeatMS) * time.Millisecond}
	if s.every > 0 {
		s.mu.Lock() // the timer is there before it is looked at
		s.timer = time.AfterFunc(s.every, s.beat)
		s.mu.Unlock()
	}
	defer s.stop()
	waited := *r
	waited.Body = flushing{r.Body, s}
	x.stillWaiting = s.flush
	t := x.turn(ctx, s.event)
	events := x.events(&waited, true)
	if x.front == x.target && x.front == openai.Chat { // its messages do not hang together
		events = x.passed(&waited, s)
	}
	err := t.run(events)
	if x.r.Context().Err() != nil || errors.Is(err, errClient) {
		return
	}
	s.end(x.front, x.req.Model, x.streamMessage(ctx, err))
	x.headers(x.w.Header())
}

// passed are the events of a response whose messages are handed on as they come where
// nothing is changed.
func (x *exchange) passed(r *http.Response, s *streamWriter) iter.Seq2[adapters.Event, error] {
	return func(yield func(adapters.Event, error) bool) {
		in := x.target.NewStreamReader(r.Body, adapters.Limits{MaxTotalBytes: x.s.c.Server.MaxReplyBytes})
		for {
			raw, events, err := in.Next()
			if err == nil {
				s.begin()
			}
			goOn := true
			for i := 0; i < len(events) && goOn; i++ {
				goOn = yield(events[i], nil)
			}
			if err == nil {
				s.finish(raw, events)
			} else if goOn && !errors.Is(err, io.EOF) {
				yield(adapters.Event{}, err)
			}
			if err != nil || !goOn {
				return
			}
		}
	}
}

// streamMessage says what a client is told of an error within a stream.
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
	x.h.log.Warn("a reply broke off", "cause", cause(err))
	return "the model server's reply broke off"
}
