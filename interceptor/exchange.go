package interceptor

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/anthropic"
	"github.com/callwright/callwright/adapters/ollama"
	"github.com/callwright/callwright/adapters/openai"
	"github.com/callwright/callwright/dispatch/mcptools"
	"github.com/callwright/callwright/internal/wire"
	"github.com/callwright/callwright/parser"
)

// exchange is one request of a client, with the requests to the upstream that it takes.
type exchange struct {
	h       *Handler
	s       *settings
	w       http.ResponseWriter
	r       *http.Request
	start   time.Time
	turn    time.Time         // when this turn of the model began
	client  *adapters.Format  // in which the client speaks
	server  *adapters.Format  // in which the upstream is asked
	body    []byte            // as the client sent it
	req     *adapters.Request // what it says
	guess   bool              // that the upstream speaks this format
	kind    string            // of the upstream, as server.upstream_format names it
	mode    string            // "native" or "emulate"
	auto    bool              // the mode may change with what the server says
	parser  *parser.Parser
	pc      parser.Context
	caps    adapters.ModelCapabilities
	done    summary
	names   map[string]string // of tools, by those that the server is told
	changed bool              // the request is not as the client sent it
	standby *settings         // of the upstream that stands by; nil if none does
	slot    chan struct{}     // that is taken at the upstream
	extra   int               // requests that were sent beside the first of this turn
	cancel  context.CancelCauseFunc

	offer       *mcptools.Offer // of tools that run here; nil if there are none
	clientTools int             // how many tools the client has, where there is an offer
	// firstByte is how long the upstream took to answer the first; 0 until it has.
	firstByte time.Duration
}

// summary counts what was done for a request, for headers and the inspector.
type summary struct {
	calls, retries, repaired, coerced, invalid int
	dialects                                   []string
	rescue                                     string // why a turn was rescued; "" if it was not
	rescued                                    bool   // and that it was saved
	usage                                      *adapters.Usage
	unmet                                      bool // a call was required, and the model made none
	ran                                        int  // calls of tools that run here
}

func (h *Handler) serveChat(w http.ResponseWriter, r *http.Request, client *adapters.Format) {
	h.serveModel(w, r, client, "", false)
}

// serveModel serves a request. The model and whether it streams are given where the path
// says so; else the body says it.
func (h *Handler) serveModel(w http.ResponseWriter, r *http.Request, client *adapters.Format, model string, stream bool) {
	x := &exchange{h: h, s: h.settings.Load(), w: w, r: r, client: client, start: time.Now()}
	x.turn = x.start
	defer func() { h.ring.keep(x) }()
	if rec, ok := r.Context().Value(recorderKey{}).(*recorder); ok {
		rec.x = x
	}
	if err := x.read(model, stream); err != nil {
		refuse(w, client, err)
		return
	}
	defer func() { x.release() }()
	err := x.connect(r.Context())
	if err != nil && x.failOver(cause(err)) {
		err = x.connect(r.Context())
	}
	if err != nil {
		x.unreachable(err)
		return
	}
	if previous := wire.Object(x.req.Extra.For(client.Name)).String("previous_response_id"); previous != "" && x.server != client {
		writeError(
			w, client, http.StatusBadRequest, "", "previous_response_id: the model server keeps no responses: send the whole conversation as input",
		)
		return
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	stop := context.AfterFunc(h.closing, func() { cancel(errClosing) })
	defer stop()
	x.serve(ctx, cancel)
}

// errClosing says that the server shuts down.
var errClosing = errors.New("the server is ending")

// refuse answers a request that cannot be read.
func refuse(w http.ResponseWriter, client *adapters.Format, err error) {
	status := http.StatusBadRequest
	switch {
	case errors.Is(err, errTooLarge):
		status = http.StatusRequestEntityTooLarge
	case errors.Is(err, errEncoding):
		status = http.StatusUnsupportedMediaType
	}
	writeError(w, client, status, "", err.Error())
}

// serve sends the request to the upstream and replies to the client.
func (x *exchange) serve(ctx context.Context, cancel context.CancelCauseFunc) {
	x.cancel = cancel
	response, err := x.first(ctx)
	if err != nil {
		x.unreachable(err)
		return
	}
	defer response.Body.Close()
	x.h.ready.Store(true)
	if x.guess && response.StatusCode == http.StatusOK && isReply(response) {
		x.s.learned.learn(x.server.Servers[0])
	}
	replyHeader(x.w.Header(), response.Header)
	x.w.Header().Set("Callwright-Mode", x.mode)
	if response.StatusCode != http.StatusOK || !isReply(response) {
		x.passError(response)
		return
	}
	response.Body = withIdleTimeout(response.Body, time.Duration(x.s.c.Server.IdleTimeoutMS)*time.Millisecond, cancel)
	if x.req.Stream {
		x.stream(ctx, response)
	} else {
		x.whole(ctx, response)
	}
	drain(response.Body, cancel)
}

// first sends the first request, and what it takes to get an answer to it.
func (x *exchange) first(ctx context.Context) (*http.Response, error) {
	x.mend(ctx)
	if reply := x.guardLoop(); reply != nil {
		if response := x.response(reply); response != nil {
			return response, nil
		}
	}
	x.chooseContext()
	response, err := x.ask(ctx, x.firstRequest())
	why := ""
	switch {
	case err != nil:
		why = cause(err)
	case unavailable(response.StatusCode):
		why = response.Status
	}
	if why != "" && x.failOver(why) {
		if err == nil {
			response.Body.Close()
		}
		if err = x.connect(ctx); err == nil {
			response, err = x.ask(ctx, x.firstRequest())
		}
	}
	x.firstByte = x.since()
	if err != nil {
		return nil, err
	}
	return x.recover(ctx, response), nil
}

// noPath reports whether an upstream answers as one does that does not have a path.
func noPath(r *http.Response) bool {
	return r.StatusCode == http.StatusNotFound || r.StatusCode == http.StatusMethodNotAllowed
}

// anthropicError reports whether a response is an error as Anthropic writes them.
func anthropicError(r *http.Response) bool {
	if r.StatusCode < 400 {
		return false
	}
	answer, err := wire.ParseObject(peek(r))
	return err == nil && isAnthropic(answer)
}

// askAnthropic asks an upstream that refused the format of most servers in Anthropic's. If
// it refuses that too, its first response is returned.
func (x *exchange) askAnthropic(ctx context.Context, first *http.Response) *http.Response {
	peek(first)
	x.server = anthropic.Messages
	second, err := x.ask(ctx, x.firstRequest())
	if err == nil && (!noPath(second) || anthropicError(second)) {
		first.Body.Close()
		return second
	}
	if err == nil {
		second.Body.Close()
	}
	x.server = openai.Chat
	return first
}

// Bounds of what is read behind a reply's end, so that the connection can be reused.
const (
	maxDrain  = 4 << 10
	drainTime = 100 * time.Millisecond
)

// drain reads the rest of a body.
func drain(body io.Reader, cancel context.CancelCauseFunc) {
	late := time.AfterFunc(drainTime, func() { cancel(nil) })
	defer late.Stop()
	_, _ = io.CopyN(io.Discard, body, maxDrain) // what is left open is closed
}

// firstRequest is the first request to the upstream. Where client and upstream speak the
// same format, it is the client's, byte for byte.
func (x *exchange) firstRequest() *upstreamRequest {
	if x.mode == "emulate" || x.kind == ollama.Chat.Servers[0] { // the others see to a required call by themselves
		if held := x.heldToCall(); held != nil {
			x.mode, x.auto = "emulate", false
			return &upstreamRequest{req: held, held: true}
		}
	}
	if x.mode == "emulate" {
		return &upstreamRequest{req: x.emulated()}
	}
	if x.client == x.server && !x.changed {
		return &upstreamRequest{req: x.req, raw: x.body}
	}
	return &upstreamRequest{req: x.req}
}

// upstreamRequest is a request to the upstream.
type upstreamRequest struct {
	req *adapters.Request
	raw []byte // nil: to be written, and asks for the usage
	// held says that the answer is held to the JSON of a call. Where the server refuses
	// that, it is asked without.
	held bool
}

// ask sends a request to the upstream.
func (x *exchange) ask(ctx context.Context, q *upstreamRequest) (*http.Response, error) {
	body, wants, sent := q.raw, x.s.learned.needsOf(q.req.Model), q.req
	if x.server == ollama.Chat {
		sent = x.withContext(sent)
	}
	if body == nil || wants != 0 || sent != q.req {
		req := *sent
		req.IncludeUsage = req.Stream
		var err error
		if body, err = x.server.EncodeRequest(x.adapted(req, wants)); err != nil {
			return nil, err
		}
	}
	r, err := x.s.send(ctx, x.r, x.client, x.server, body, x.server.Path(q.req.Model, q.req.Stream))
	if err == nil && q.held && refusesSchema(r.StatusCode) {
		x.s.learned.noteWithoutSchema(x.req.Model)
		r.Body.Close()
		return x.ask(ctx, x.firstRequest())
	}
	return r, err
}

// refusesSchema reports whether a server answers as one does that cannot hold an answer to a
// schema.
func refusesSchema(status int) bool {
	switch status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusInternalServerError, http.StatusNotImplemented:
		return true
	}
	return false
}

// isReply reports whether a response can be a model's reply, by its content type.
func isReply(r *http.Response) bool {
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	switch strings.TrimSpace(strings.ToLower(kind)) {
	case "text/html", "text/xml", "application/xml", "application/octet-stream":
		return false
	}
	return true
}

// maxPeek bounds how much of an error response is looked at, in bytes.
const maxPeek = 64 << 10

// peek returns the beginning of a body. The body can still be read from there on.
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

// refusals are how servers say that they, or a model, do not support tools.
var refusals = []string{
	"does not support tools", "does not support tool", "tools are not supported", "tool use is not supported", "tool calling is not supported",
	"function calling is not supported",
	"does not support function calling", "--enable-auto-tool-choice", "tools param requires --jinja", "unsupported param: tools",
	"tool_use is not supported", "no endpoints found that support tool use",
}

func withoutTools(body []byte) bool {
	text := strings.ToLower(string(body))
	return slices.ContainsFunc(refusals, func(r string) bool { return strings.Contains(text, r) })
}

// passError passes on a response that is not a reply: as it is, or in the client's
// format.
func (x *exchange) passError(r *http.Response) {
	if x.client == x.server || !isReply(r) {
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
	writeError(x.w, x.client, r.StatusCode, "", message)
}

// unreachable replies that the upstream did not answer.
func (x *exchange) unreachable(err error) {
	if x.r.Context().Err() != nil {
		return // nobody listens
	}
	x.h.log.Warn(
		"the model server cannot be reached", "request", x.w.Header().Get(requestHeader), "address", x.s.upstream.Host, "cause", cause(err),
	)
	status, message := http.StatusBadGateway, "the model server at "+x.s.upstream.Host+" cannot be reached: "+cause(err)
	var timeout interface{ Timeout() bool }
	switch {
	case errors.Is(err, errBusy):
		x.w.Header().Set("Retry-After", "1")
		status, message = http.StatusServiceUnavailable, err.Error()
	case errors.As(err, &timeout) && timeout.Timeout():
		status, message = http.StatusGatewayTimeout, "the model server at "+x.s.upstream.Host+" took too long to answer"
	case errors.Is(err, errEncoding), errors.Is(err, errProtocol):
		message = "the model server's reply cannot be read"
	}
	writeError(x.w, x.client, status, "", message)
}
