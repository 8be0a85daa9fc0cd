package interceptor

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/anthropic"
	"github.com/callwright/callwright/adapters/gemini"
	"github.com/callwright/callwright/adapters/ollama"
	"github.com/callwright/callwright/adapters/openai"
	"github.com/callwright/callwright/internal/text"
	"github.com/callwright/callwright/metrics"
)

// clientFormats are the formats of clients, the default first. Requests to all other
// paths pass through.
var clientFormats = []*adapters.Format{openai.Chat, openai.Responses, anthropic.Messages, ollama.Chat, gemini.Generate}

func (h *Handler) routes() {
	h.mux = http.NewServeMux()
	for _, format := range clientFormats {
		for _, path := range format.Paths {
			h.mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) { h.serveChat(w, r, format) })
		}
	}
	for _, version := range []string{"/v1beta", "/v1"} {
		h.mux.HandleFunc("POST "+version+"/models/{call...}", h.serveGemini)
	}
	h.mux.HandleFunc("POST /v1/messages/count_tokens", h.serveCountTokens)
	h.mux.HandleFunc("POST /api/show", h.serveShow)
	h.mux.HandleFunc("GET /api/tags", h.serveShow)
	h.mux.HandleFunc("/", h.servePassthrough)
	// These are the interceptor's own: nothing of them passes through.
	for path, serve := range map[string]http.HandlerFunc{
		"/metrics": h.serveMetrics, "/healthz": h.serveHealth, "/readyz": h.serveReady, "/callwright/requests": h.serveRequests,
	} {
		h.mux.HandleFunc(path, readOnly(serve))
	}
	h.mux.HandleFunc("/callwright/", func(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) })
}

// readOnly serves GET and HEAD only.
func readOnly(serve http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			writeError(w, formatOf(r), http.StatusMethodNotAllowed, "", "this path is only read")
			return
		}
		serve(w, r)
	}
}

// maxHealthInFlight bounds the requests for the server's state that are served at a time.
// They have a bound of their own, so that a busy server is not taken for a dead one.
const maxHealthInFlight = 16

// ServeHTTP serves one request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s := h.settings.Load()
	start := time.Now()
	rec := &recorder{ResponseWriter: w, c: http.NewResponseController(w), id: rand.Text()[:16]}
	rec.Header().Set(requestHeader, rec.id)
	defer func() {
		if p := recover(); p != nil {
			if p == http.ErrAbortHandler { //nolint:errorlint // it is compared as net/http does
				panic(p)
			}
			h.log.Error("internal error", "request", rec.id, "cause", p)
			if rec.status == 0 {
				writeError(rec, formatOf(r), http.StatusInternalServerError, "internal_error", "internal error")
			}
		}
		level := slog.LevelInfo
		if rec.status >= 500 {
			level = slog.LevelWarn
		}
		h.counts.served(r.Pattern, rec.status, rec.x)
		h.log.Log(
			r.Context(), level, "request", append([]any{
				"request", rec.id, "method", text.Clip(r.Method, 16), "route", r.Pattern, "status", rec.status, "bytes", rec.bytes,
				"duration_ms", time.Since(start).Milliseconds(),
			}, rec.x.logged()...)...,
		)
	}()
	if s.allowOrigin(rec, r) {
		return
	}
	if status, message := s.refuses(r); status != 0 {
		if status == http.StatusUnauthorized {
			rec.Header().Set("WWW-Authenticate", "Bearer")
		}
		writeError(rec, formatOf(r), status, "", message)
		return
	}
	slots := h.inFlight
	if isHealth(r) {
		slots = h.healthInFlight
	}
	select {
	case slots <- struct{}{}:
		defer func() { <-slots }()
	default:
		rec.Header().Set("Retry-After", "1")
		writeError(rec, formatOf(r), http.StatusServiceUnavailable, "overloaded_error", "too many requests are being served: try again later")
		return
	}
	if status, message := refusesForm(r); status != 0 {
		rec.Header().Set("Connection", "close") // what follows on the connection may not be what it seems
		writeError(rec, formatOf(r), status, "", message)
		return
	}
	r.Header.Del("Expect")
	r.Header.Del("Upgrade")
	r = r.WithContext(context.WithValue(r.Context(), recorderKey{}, rec))
	h.mux.ServeHTTP(rec, r)
}

// recorderKey is the key of a request's recorder in its context.
type recorderKey struct{}

// requestHeader is the response header with the id of a request.
const requestHeader = "Callwright-Request"

// recorder records the status and the size of a response, and bounds each write of it.
type recorder struct {
	http.ResponseWriter
	c      *http.ResponseController
	id     string
	x      *exchange // that is replied to; nil if the request passes through
	status int
	bytes  int64
	last   time.Time // when the deadline was set
}

// WriteHeader writes the head of the response. Informational ones of the upstream are
// its own affair: they are not passed on.
func (r *recorder) WriteHeader(status int) {
	if status < 200 {
		return
	}
	if r.status == 0 {
		r.status = status
		r.Header().Set(requestHeader, r.id)
		r.bound()
	}
	r.ResponseWriter.WriteHeader(status)
}

// writeTimeout bounds each write to the client.
const writeTimeout = 60 * time.Second

// bound gives the client time to take what is written now.
func (r *recorder) bound() {
	if now := time.Now(); now.Sub(r.last) > time.Second {
		r.last = now
		// Servers without deadlines, such as a test's recorder, go without.
		if err := r.c.SetWriteDeadline(now.Add(writeTimeout)); err != nil && !errors.Is(err, http.ErrNotSupported) {
			return // the connection is gone: the write says so
		}
	}
}

func (r *recorder) Write(p []byte) (int, error) {
	if r.status == 0 {
		r.WriteHeader(http.StatusOK)
	}
	r.bound()
	n, err := r.ResponseWriter.Write(p)
	r.bytes += int64(n)
	return n, err
}

// Unwrap lets [http.ResponseController] reach the connection.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

func (h *Handler) serveMetrics(w http.ResponseWriter, r *http.Request) {
	if m := h.settings.Load().metrics; m != nil {
		m.ServeHTTP(w, r)
		return
	}
	http.NotFound(w, r)
}

// health is what GET /healthz says to who has the key.
type health struct {
	Status string `json:"status"` // of the server
	// Parser is what the alerts say of the models' calls.
	Parser metrics.Status `json:"parser"`
	metrics.Health
}

// serveHealth reports the state of the server, which is "healthy" as long as it serves,
// whatever the models write; to who has the key also the health of the parser.
func (h *Handler) serveHealth(w http.ResponseWriter, r *http.Request) {
	s := h.settings.Load()
	state, status := "healthy", http.StatusOK
	if h.closing.Err() != nil {
		state, status = "closing", http.StatusServiceUnavailable
	}
	if s.parts.Metrics == nil || !s.authorized(r) {
		writeJSON(w, status, map[string]string{"status": state})
		return
	}
	details := s.parts.Metrics.Health()
	writeJSON(w, status, health{state, details.Status, details})
}

// serveReady reports whether the upstream answers.
func (h *Handler) serveReady(w http.ResponseWriter, r *http.Request) {
	if !h.ready.Load() {
		if _, _, err := h.settings.Load().kind(r.Context()); err != nil {
			writeJSON(w, http.StatusServiceUnavailable, map[string]string{"status": "the model server does not answer"})
			return
		}
		h.ready.Store(true)
	}
	writeJSON(w, http.StatusOK, map[string]string{"status": "ready"})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // the client is gone, if anything
}
