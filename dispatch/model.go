package dispatch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"mime"
	"net/http"
	"strings"
	"sync"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/internal/text"
)

// Model asks a model, and yields the events of its reply. An error ends them.
type Model func(ctx context.Context, r *adapters.Request) iter.Seq2[adapters.Event, error]

// Whole makes a Model of a function that returns whole replies.
func Whole(ask func(context.Context, *adapters.Request) (*adapters.Reply, error)) Model {
	return func(ctx context.Context, r *adapters.Request) iter.Seq2[adapters.Event, error] {
		return func(yield func(adapters.Event, error) bool) {
			reply, err := ask(ctx, r)
			if err != nil {
				yield(adapters.Event{}, err)
				return
			}
			for _, e := range reply.Events() {
				if !yield(e, nil) {
					return
				}
			}
		}
	}
}

// maxErrorBody is how much of an answer is read that is an error, in bytes.
const maxErrorBody = 64 << 10

// ModelOf makes a Model of what serves a provider's interface in the same program, such as
// an interceptor's handler, which emulates tool calling for models that have none. Requests
// are written in the format.
func ModelOf(h http.Handler, f *adapters.Format) Model {
	return func(ctx context.Context, r *adapters.Request) iter.Seq2[adapters.Event, error] {
		return func(yield func(adapters.Event, error) bool) {
			err := ask(ctx, h, f, r, yield)
			if err != nil && ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			if err != nil {
				yield(adapters.Event{}, err)
			}
		}
	}
}

// errLeft says that who ranged over the events has left.
var errLeft = errors.New("nobody reads on")

// ask serves a request in the same program. The handler has ended when it returns.
func ask(ctx context.Context, h http.Handler, f *adapters.Format, r *adapters.Request, yield func(adapters.Event, error) bool) error {
	body, err := f.EncodeRequest(r)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://localhost"+f.Paths[0], bytes.NewReader(body))
	if err != nil {
		return err
	}
	q.Header.Set("Content-Type", "application/json")
	q.RequestURI, q.RemoteAddr = q.URL.RequestURI(), "127.0.0.1:0"
	reader, writer := io.Pipe()
	w := &response{header: http.Header{}, body: writer, begun: make(chan struct{})}
	var group sync.WaitGroup
	group.Go(func() { w.serve(h, q) })
	defer group.Wait()
	defer reader.CloseWithError(errLeft)
	defer cancel()
	<-w.begun
	if w.status != http.StatusOK {
		data, err := io.ReadAll(io.LimitReader(reader, maxErrorBody))
		if e := adapters.ErrorOf(data); e != nil {
			return e
		}
		return errors.Join(fmt.Errorf("the model server answered %d: %s", w.status, text.Clip(strings.TrimSpace(string(data)), 1000)), err)
	}
	if kind, _, _ := mime.ParseMediaType(w.header.Get("Content-Type")); kind == "application/json" {
		data, err := io.ReadAll(reader)
		if err != nil {
			return err
		}
		reply, err := f.DecodeReply(data)
		if err != nil {
			return err
		}
		for _, e := range reply.Events() {
			if !yield(e, nil) {
				return nil
			}
		}
		return nil
	}
	for e, err := range f.DecodeStream(reader, adapters.Limits{}) {
		if err != nil {
			return err
		}
		if !yield(e, nil) {
			return nil
		}
	}
	return nil
}

// response is the response to a request in the same program: its body is a pipe.
type response struct {
	header http.Header
	body   *io.PipeWriter
	once   sync.Once
	begun  chan struct{} // status is known, and the header does not change
	status int
}

func (w *response) Header() http.Header { return w.header }

// WriteHeader begins the response. Information before it is none.
func (w *response) WriteHeader(status int) {
	if status < 200 {
		return
	}
	w.once.Do(func() {
		w.status, w.header = status, w.header.Clone()
		close(w.begun)
	})
}

func (w *response) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(b)
}

// Flush has nothing to do: a pipe keeps nothing.
func (w *response) Flush() { w.WriteHeader(http.StatusOK) }

// serve has the handler serve the request.
func (w *response) serve(h http.Handler, q *http.Request) {
	failed := errors.New("the model's answer broke off")
	defer func() {
		if recover() == nil {
			failed = nil
		}
		w.WriteHeader(http.StatusOK)
		_ = w.body.CloseWithError(failed) // it always succeeds
	}()
	h.ServeHTTP(w, q)
}
