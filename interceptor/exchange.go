package interceptor

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/openai"
	"github.com/callwright/callwright/cache"
	"github.com/callwright/callwright/config"
	"github.com/callwright/callwright/internal/wire"
	"github.com/callwright/callwright/parser"
	"github.com/callwright/callwright/registry"
)

// exchange is one request of a client, and all that is asked of the upstream for it.
type exchange struct {
	h      *Handler
	s      *settings
	w      http.ResponseWriter
	r      *http.Request
	start  time.Time
	front  *adapters.Format
	target *adapters.Format
	body   []byte            // as the client sent it
	req    *adapters.Request // what it says
	mode   string            // "native" or "emulate"
	auto   bool              // the mode may change with what the server says
	legacy bool              // the client knows functions, and no tools
	parser *parser.Parser
	pc     parser.Context
	caps   adapters.ModelCapabilities
	done   summary
	// stillWaiting is called before the upstream is waited for within an answer.
	stillWaiting func()
}

// summary is what was done for a request.
type summary struct {
	calls, retries, repaired, coerced, invalid int
	dialects                                   []string
	unmet                                      bool // a call was required and none came
}

// errTooLarge says that a request is larger than it may be.
var errTooLarge = errors.New("the request is too large")

func (h *Handler) serveChat(w http.ResponseWriter, r *http.Request, front *adapters.Format) {
	x := &exchange{h: h, s: h.settings.Load(), w: w, r: r, front: front, start: time.Now()}
	defer func() { h.ring.keep(x) }()
	if err := x.read(); err != nil {
		refuse(w, front, err)
		return
	}
	var err error
	if x.target, err = x.s.target(r.Context(), front); err != nil {
		x.unreachable(err)
		return
	}
	if previous := wire.Object(x.req.Extra.For(front.Name)).String("previous_response_id"); previous != "" && x.target != front {
		writeError(w, front, http.StatusBadRequest, "", "previous_response_id: the model server keeps no responses: send the whole conversation as input")
		return
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	stop := context.AfterFunc(h.closing, func() { cancel(errClosing) })
	defer stop()
	x.serve(ctx, cancel)
}

// errClosing says that the server ends.
var errClosing = errors.New("the server is ending")

// readBody reads the body of a request.
func (s *settings) readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	limit := int64(s.c.Server.MaxBodyBytes)
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, fmt.Errorf("%w: at most %d bytes", errTooLarge, limit)
	case err != nil:
		return nil, errors.New("the request cannot be read")
	}
	return body, nil
}

// refuse answers a request that is wrong.
func refuse(w http.ResponseWriter, front *adapters.Format, err error) {
	status := http.StatusBadRequest
	if errors.Is(err, errTooLarge) {
		status = http.StatusRequestEntityTooLarge
	}
	writeError(w, front, status, "", err.Error())
}

// mayCall reports whether the model may call at all.
func (x *exchange) mayCall() bool {
	return len(x.req.Tools) > 0 && x.req.ToolChoice.Mode != adapters.ToolNone
}

// mustCall reports whether the model has to call.
func (x *exchange) mustCall() bool {
	return x.req.ToolChoice.Mode == adapters.ToolRequired || x.req.ToolChoice.Mode == adapters.ToolNamed
}

// read reads the request, and makes the parser of its tools.
func (x *exchange) read() error {
	var err error
	// For the body alone: what comes behind it may take as long as it likes.
	deadline := http.NewResponseController(x.w)
	if deadline.SetReadDeadline(time.Now().Add(time.Duration(x.s.c.Server.ReadTimeoutMS)*time.Millisecond)) == nil {
		defer func() { _ = deadline.SetReadDeadline(time.Time{}) }() // as it was set
	}
	if x.body, err = x.s.readBody(x.w, x.r); err != nil {
		return err
	}
	if x.req, err = x.front.DecodeRequest(x.body); err != nil {
		return fmt.Errorf("the request is not what %s wants: %w", x.front.Name, err)
	}
	if x.front == openai.Chat && bytes.Contains(x.body, []byte(`"functions"`)) {
		o, err := wire.ParseObject(x.body)
		x.legacy = err == nil && o.Has("functions") && !o.Has("tools")
	}
	x.caps = x.s.capabilities(x.req.Model)
	x.pc = parser.Context{Model: x.req.Model, Formats: x.caps.KnownFormats, Heard: heard(x.req), Tenant: tenant(x.r)}
	if x.parser, err = x.s.parserOf(x.r.Context(), x.req); err != nil {
		return err
	}
	x.mode, x.auto = x.s.modeOf(x.req.Model)
	return nil
}

// heard is what the model was told by users and tools, which it may only repeat.
func heard(r *adapters.Request) (list []string) {
	size := 0
	for i := range slices.Backward(r.Messages) {
		m := &r.Messages[i]
		if m.Role != adapters.RoleUser && m.Role != adapters.RoleTool {
			continue
		}
		for j := range m.Blocks {
			text := m.Blocks[j].Text
			if m.Blocks[j].Result != nil {
				text = m.Blocks[j].Result.Text
			}
			if size += len(text); text != "" && size <= 4<<20 {
				list = append(list, text)
			}
		}
	}
	return list
}

// setFor is what the configuration sets for a model: of the rows that match, the first
// that says something.
func (s *settings) setFor(model string, of func(*config.ModelMode) string) string {
	for i := range s.c.Server.ModelModes {
		if m := &s.c.Server.ModelModes[i]; of(m) != "" && adapters.Matches(m.Model, model) {
			return of(m)
		}
	}
	return ""
}

// modeOf is how the requests for a model are served.
func (s *settings) modeOf(model string) (mode string, auto bool) {
	mode = cmp.Or(s.setFor(model, func(m *config.ModelMode) string { return m.Mode }), s.c.Server.Mode)
	if mode != "auto" {
		return mode, false
	}
	if s.learned.withoutTools.Contains(model) {
		return "emulate", false
	}
	return "native", true
}

// parserOf returns the parser of a request's tools.
func (s *settings) parserOf(ctx context.Context, r *adapters.Request) (*parser.Parser, error) {
	if len(r.Tools) == 0 {
		return s.own, nil
	}
	var list [][]byte
	for i := range r.Tools {
		t := &r.Tools[i]
		if t.Other || r.ToolChoice.Mode == adapters.ToolNamed && t.Name != r.ToolChoice.Name {
			continue
		}
		definition := definitionOf(t)
		list = append(list, definition.Bytes())
	}
	tools := wire.List(list)
	o := s.parts.Options
	// Where nobody sees a call before its end, or it is not to be seen before it is
	// known to be right, it comes as a whole.
	o.Complete = !r.Stream || s.c.Server.OnInvalid == "retry"
	return s.parsers.Do(ctx, cache.KeyOf(string(tools), fmt.Sprint(o.Complete)), func(context.Context) (*parser.Parser, int, error) {
		parsed, err := registry.Parse(tools)
		if err != nil {
			return nil, 0, fmt.Errorf("tools: %w", err)
		}
		reg, err := registry.NewWith(registry.Options{Strict: s.c.Validation.StrictSchema}, parsed...)
		var bad *registry.SchemaError
		if err != nil && (s.c.Validation.StrictSchema || !errors.As(err, &bad)) {
			return nil, 0, fmt.Errorf("tools: %w", err)
		}
		p, err := parser.New(reg, o, s.parts.More...)
		return p, 16 * len(tools), err
	})
}

// definitionOf writes a tool. One that takes free text has it as its one parameter.
func definitionOf(t *adapters.Tool) (o wire.Object) {
	o.SetString("name", t.Name)
	o.SetText("description", t.Description)
	switch {
	case t.Custom:
		o.Set("parameters", []byte(`{"type":"object","properties":{"input":{"type":"string"}},"required":["input"]}`))
	case len(t.Parameters) > 0 && !wire.IsNull(t.Parameters):
		o.Set("parameters", t.Parameters)
	}
	return o
}

// serve asks the upstream and answers.
func (x *exchange) serve(ctx context.Context, cancel context.CancelCauseFunc) {
	response, err := x.ask(ctx, x.request())
	if err == nil && response.StatusCode == http.StatusBadRequest && x.auto && len(x.req.Tools) > 0 {
		if body := peek(response); withoutTools(body) {
			response.Body.Close()
			x.s.learned.withoutTools.Add(x.req.Model, true)
			x.mode, x.auto = "emulate", false
			x.h.log.Info("the model takes no tools: they are written into the prompt", "model", clip(x.req.Model, 96))
			response, err = x.ask(ctx, x.request())
		}
	}
	if err != nil {
		x.unreachable(err)
		return
	}
	defer response.Body.Close()
	x.h.ready.Store(true)
	replyHeader(x.w.Header(), response.Header)
	x.w.Header().Set("Callwright-Mode", x.mode)
	if response.StatusCode != http.StatusOK || !isReply(response) {
		x.passError(response)
		return
	}
	response.Body = watch(response.Body, time.Duration(x.s.c.Server.IdleTimeoutMS)*time.Millisecond, cancel)
	if x.req.Stream {
		x.stream(ctx, response)
	} else {
		x.whole(ctx, response)
	}
	drain(response.Body, cancel)
}

// Bounds of what is read behind a reply's end, so that its connection can be used again.
const (
	maxDrain  = 4 << 10
	drainTime = 100 * time.Millisecond
)

// drain reads what is left of a body.
func drain(body io.Reader, cancel context.CancelCauseFunc) {
	late := time.AfterFunc(drainTime, func() { cancel(nil) })
	defer late.Stop()
	_, _ = io.CopyN(io.Discard, body, maxDrain) // what is left open is closed
}

// request is what the upstream is asked first. A request in the upstream's own format
// stays as it was sent.
func (x *exchange) request() *asked {
	if x.mode == "emulate" {
		return &asked{req: x.emulated()}
	}
	if x.front == x.target {
		return &asked{req: x.req, raw: x.body}
	}
	return &asked{req: x.req}
}

// asked is a request to the upstream.
type asked struct {
	req *adapters.Request
	raw []byte // nil: to be written
}

func (x *exchange) ask(ctx context.Context, a *asked) (*http.Response, error) {
	if x.stillWaiting != nil {
		x.stillWaiting()
	}
	body := a.raw
	if body == nil {
		req := *a.req
		req.IncludeUsage = req.Stream
		var err error
		if body, err = x.target.EncodeRequest(&req); err != nil {
			return nil, err
		}
	}
	return x.s.send(ctx, x.r, x.front, x.target, body)
}

// isReply reports whether an answer is one that can be parsed.
func isReply(r *http.Response) bool {
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	switch strings.TrimSpace(strings.ToLower(kind)) {
	case "text/html", "text/xml", "application/xml", "application/octet-stream":
		return false
	}
	return true
}

// maxPeek bounds how much of an error is looked at, in bytes.
const maxPeek = 64 << 10

// peek returns the beginning of a body, which stays to be read.
func peek(r *http.Response) []byte {
	head, err := io.ReadAll(io.LimitReader(r.Body, maxPeek))
	rest := io.Reader(r.Body)
	if err != nil {
		rest = errReader{err}
	}
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(strings.NewReader(string(head)), rest), r.Body}
	return head
}

type errReader struct{ err error }

func (e errReader) Read([]byte) (int, error) { return 0, e.err }

// refusals are how servers say that a model, or they, take no tools.
var refusals = []string{
	"does not support tools", "does not support tool", "tools are not supported", "tool use is not supported", "tool calling is not supported", "function calling is not supported",
	"does not support function calling", "--enable-auto-tool-choice", "tools param requires --jinja", "unsupported param: tools", "tool_use is not supported", "no endpoints found that support tool use",
}

func withoutTools(body []byte) bool {
	text := strings.ToLower(string(body))
	return slices.ContainsFunc(refusals, func(r string) bool { return strings.Contains(text, r) })
}

// passError hands on what is no reply: as it is, or in the client's words.
func (x *exchange) passError(r *http.Response) {
	if x.front == x.target || !isReply(r) {
		if kind := r.Header.Get("Content-Type"); kind != "" {
			x.w.Header().Set("Content-Type", kind)
		}
		x.w.WriteHeader(r.StatusCode)
		_, _ = io.Copy(x.w, io.LimitReader(r.Body, int64(x.s.c.Server.MaxReplyBytes))) // one of both is gone, if anything
		return
	}
	message := http.StatusText(r.StatusCode)
	if reported := adapters.ErrorOf(peek(r)); reported != nil && reported.Message != "" {
		message = reported.Message
	}
	writeError(x.w, x.front, r.StatusCode, "", message)
}

// unreachable answers where the upstream did not.
func (x *exchange) unreachable(err error) {
	if x.r.Context().Err() != nil {
		return // nobody listens
	}
	x.h.log.Warn("the model server cannot be asked", "cause", cause(err))
	status, message := http.StatusBadGateway, "the model server cannot be asked"
	var timeout interface{ Timeout() bool }
	if errors.As(err, &timeout) && timeout.Timeout() {
		status, message = http.StatusGatewayTimeout, "the model server took too long to answer"
	}
	writeError(x.w, x.front, status, "", message)
}

// events are those of a response of the upstream.
func (x *exchange) events(r *http.Response, streamed bool) iter.Seq2[adapters.Event, error] {
	if streamed {
		return x.target.DecodeStream(r.Body, adapters.Limits{MaxTotalBytes: x.s.c.Server.MaxReplyBytes})
	}
	_, reply, err := x.readReply(r)
	if err != nil {
		return func(yield func(adapters.Event, error) bool) { yield(adapters.Event{}, err) }
	}
	return eventsOf(reply)
}

// readReply reads a whole reply of the upstream.
func (x *exchange) readReply(r *http.Response) (data []byte, reply *adapters.Reply, err error) {
	limit := x.s.c.Server.MaxReplyBytes
	data, err = io.ReadAll(io.LimitReader(r.Body, int64(limit)+1))
	if err == nil && len(data) > limit {
		err = adapters.ErrTooLarge
	}
	if err == nil {
		reply, err = x.target.DecodeReply(data)
	}
	return data, reply, err
}

// eventsOf are the events of a reply, none of them an error.
func eventsOf(reply *adapters.Reply) iter.Seq2[adapters.Event, error] {
	return func(yield func(adapters.Event, error) bool) {
		for _, e := range reply.Events() {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// whole answers with a whole reply.
func (x *exchange) whole(ctx context.Context, r *http.Response) {
	data, reply, err := x.readReply(r)
	if err != nil {
		x.broken(ctx, err)
		return
	}
	var out adapters.Accumulator
	t := x.turn(ctx, func(e adapters.Event) error {
		out.Add(e)
		return nil
	})
	if err = t.run(eventsOf(reply)); err != nil {
		x.broken(ctx, err)
		return
	}
	x.headers(x.w.Header())
	body := data
	answer := out.Reply()
	if t.calls == 0 && x.done.retries == 0 { // there is nothing in it but what the model said
		answer = reply
	}
	if x.front != x.target || !same(answer, reply) {
		answer.Format = reply.Format
		if body, err = x.front.EncodeReply(answer); err != nil {
			x.broken(ctx, err)
			return
		}
	}
	x.w.Header().Set("Content-Type", "application/json")
	x.w.WriteHeader(http.StatusOK)
	_, _ = x.w.Write(body) // the client is gone, if anything
}

// same reports whether a reply says what another does: then it is left as it came.
func same(a, b *adapters.Reply) bool {
	x, y := a.Calls(), b.Calls()
	if a.Text() != b.Text() || a.Reasoning() != b.Reasoning() || a.First().Finish != b.First().Finish || len(x) != len(y) {
		return false
	}
	for i := range x {
		if x[i].ID != y[i].ID || x[i].Name != y[i].Name || x[i].Arguments != y[i].Arguments && !sameJSON(x[i].Arguments, y[i].Arguments) {
			return false
		}
	}
	return true
}

// sameJSON reports whether two texts are the same JSON, whatever the order of members.
func sameJSON(a, b string) bool {
	var x, y any
	for text, into := range map[string]*any{a: &x, b: &y} {
		dec := json.NewDecoder(strings.NewReader(text))
		dec.UseNumber()
		if dec.Decode(into) != nil {
			return false
		}
	}
	return reflect.DeepEqual(x, y)
}

// broken answers where the upstream's reply cannot be read.
func (x *exchange) broken(ctx context.Context, err error) {
	if x.r.Context().Err() != nil {
		return
	}
	if c := context.Cause(ctx); c != nil {
		err = c
	}
	message := "the model server's reply cannot be read"
	switch {
	case errors.Is(err, errIdle):
		message = errIdle.Error()
	case errors.Is(err, errClosing):
		message = errClosing.Error()
	case errors.Is(err, adapters.ErrTooLarge):
		message = "the model server's reply is too large"
	}
	var reported *adapters.ProviderError
	if errors.As(err, &reported) {
		message = reported.Message
	}
	writeError(x.w, x.front, http.StatusBadGateway, "", message)
}

// headers tell what was done.
func (x *exchange) headers(h http.Header) {
	h.Set("Callwright-Calls", fmt.Sprint(x.done.calls))
	if len(x.done.dialects) > 0 {
		h.Set("Callwright-Dialect", strings.Join(x.done.dialects, ", "))
	}
	for name, n := range map[string]int{"Callwright-Repaired": x.done.repaired, "Callwright-Coerced": x.done.coerced, "Callwright-Invalid": x.done.invalid, "Callwright-Retries": x.done.retries} {
		if n > 0 {
			h.Set(name, fmt.Sprint(n))
		}
	}
	if x.done.unmet {
		h.Set("Callwright-Tool-Choice", "unmet")
	}
}

// trailers are the headers that a stream tells at its end.
const trailers = "Callwright-Calls, Callwright-Dialect, Callwright-Repaired, Callwright-Coerced, Callwright-Invalid, Callwright-Retries, Callwright-Tool-Choice"

func clip(s string, n int) string {
	if len(s) > n {
		return strings.ToValidUTF8(s[:n], "") + "…"
	}
	return s
}

// arguments writes parameters as JSON.
func arguments(p map[string]any) string {
	b, err := wire.Encode(p)
	if err != nil {
		return "{}"
	}
	return string(b)
}
