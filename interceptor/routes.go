package interceptor

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/anthropic"
	"github.com/callwright/callwright/adapters/ollama"
	"github.com/callwright/callwright/adapters/openai"
)

// clientFormats are the formats of clients, the default first. Requests to all other
// paths pass through.
var clientFormats = []*adapters.Format{openai.Chat, openai.Responses, anthropic.Messages, ollama.Chat}

func (h *Handler) routes() {
	h.mux = http.NewServeMux()
	for _, format := range clientFormats {
		for _, path := range format.Paths {
			h.mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) { h.serveChat(w, r, format) })
		}
	}
	h.mux.HandleFunc("POST /v1/messages/count_tokens", h.serveCountTokens)
	h.mux.HandleFunc("POST /api/show", h.serveShow)
	h.mux.HandleFunc("GET /api/tags", h.serveShow)
	h.mux.HandleFunc("GET /metrics", h.serveMetrics)
	h.mux.HandleFunc("GET /healthz", h.serveHealth)
	h.mux.HandleFunc("GET /readyz", h.serveReady)
	h.mux.HandleFunc("GET /callwright/requests", h.serveRequests)
	h.mux.HandleFunc("/", h.servePassthrough)
}

// ServeHTTP serves one request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s := h.settings.Load()
	start := time.Now()
	id := rand.Text()[:16]
	w.Header().Set("Callwright-Request", id)
	rec := &recorder{ResponseWriter: w}
	defer func() {
		if p := recover(); p != nil {
			if p == http.ErrAbortHandler { //nolint:errorlint // it is compared as net/http does
				panic(p)
			}
			h.log.Error("internal error", "request", id, "cause", p)
			if rec.status == 0 {
				writeError(rec, formatOf(r), http.StatusInternalServerError, "internal_error", "internal error")
			}
		}
		level := slog.LevelInfo
		if rec.status >= 500 {
			level = slog.LevelWarn
		}
		h.log.Log(
			r.Context(), level, "request", "request", id, "method", r.Method, "route", r.Pattern, "status", rec.status, "bytes", rec.bytes,
			"duration_ms", time.Since(start).Milliseconds(),
		)
	}()
	if r.URL.Path == "/healthz" || r.URL.Path == "/readyz" { // for monitoring, without a key
		h.mux.ServeHTTP(rec, r)
		return
	}
	if status, message := s.refuses(r); status != 0 {
		if status == http.StatusUnauthorized {
			rec.Header().Set("WWW-Authenticate", "Bearer")
		}
		writeError(rec, formatOf(r), status, "", message)
		return
	}
	select {
	case h.inFlight <- struct{}{}:
		defer func() { <-h.inFlight }()
	default:
		rec.Header().Set("Retry-After", "1")
		writeError(rec, formatOf(r), http.StatusServiceUnavailable, "overloaded_error", "too many requests are being served: try again later")
		return
	}
	r.Header.Del("Expect")
	h.mux.ServeHTTP(rec, r)
}

// formatOf is the format for errors about a request: the one with the longest prefix of
// the request's path.
func formatOf(r *http.Request) *adapters.Format {
	best := clientFormats[0]
	for _, f := range clientFormats {
		if strings.HasPrefix(r.URL.Path, f.Prefix) && (!strings.HasPrefix(r.URL.Path, best.Prefix) || len(f.Prefix) > len(best.Prefix)) {
			best = f
		}
	}
	return best
}

// credentials are the headers that may hold a client's key, in their order of
// precedence.
var credentials = []string{"Authorization", "X-Api-Key", "Api-Key", "X-Goog-Api-Key"}

// credential returns the key of a request, "" if there is none.
func credential(r *http.Request) string {
	for _, name := range credentials {
		if v := r.Header.Get(name); v != "" {
			if name == "Authorization" {
				scheme, token, ok := strings.Cut(v, " ")
				if !ok || !strings.EqualFold(scheme, "Bearer") {
					continue
				}
				v = strings.TrimSpace(token)
			}
			return v
		}
	}
	return ""
}

// tenant identifies a client by a hash of its key.
func tenant(r *http.Request) string {
	hash := sha256.Sum256([]byte(credential(r)))
	return hex.EncodeToString(hash[:])
}

// refuses returns the status and the message with which a request is refused; the status
// is 0 if it is served.
func (s *settings) refuses(r *http.Request) (status int, message string) {
	if !s.hostAllowed(r.Host) {
		return http.StatusForbidden, "this host name is not allowed: add it to server.allowed_hosts"
	}
	// Pages of other sites, in a browser, are not clients: their requests have an origin.
	if origin := r.Header.Get("Origin"); origin != "" && !s.originAllowed(origin, r.Host) {
		return http.StatusForbidden, "requests of other sites are not served"
	}
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		return http.StatusForbidden, "requests of other sites are not served"
	}
	if s.key == "" {
		return 0, ""
	}
	given := sha256.Sum256([]byte(credential(r)))
	want := sha256.Sum256([]byte(s.key))
	if subtle.ConstantTimeCompare(given[:], want[:]) != 1 {
		return http.StatusUnauthorized, "unauthorized"
	}
	return 0, ""
}

// hostAllowed reports whether a request's Host is allowed, against DNS rebinding: IP
// addresses and localhost are, names only if they are configured or a key is required.
func (s *settings) hostAllowed(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.Trim(name, "[]")
	if strings.EqualFold(name, "localhost") || name == "" {
		return true
	}
	if _, err := netip.ParseAddr(name); err == nil {
		return true
	}
	allowed := s.c.Server.AllowedHosts
	return slices.ContainsFunc(allowed, func(a string) bool { return strings.EqualFold(a, name) }) || len(allowed) == 0 && s.key != ""
}

func (s *settings) originAllowed(origin, host string) bool {
	_, rest, ok := strings.Cut(origin, "://")
	return ok && strings.EqualFold(rest, host)
}

// recorder records the status and the size of a response.
type recorder struct {
	http.ResponseWriter
	status int
	bytes  int64
}

func (r *recorder) WriteHeader(status int) {
	if r.status == 0 && status >= 200 {
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(p []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
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

// serveHealth reports the health of the parser. It answers as long as the process runs.
func (h *Handler) serveHealth(w http.ResponseWriter, _ *http.Request) {
	s := h.settings.Load()
	if s.parts.Metrics == nil {
		writeJSON(w, http.StatusOK, map[string]string{"status": "healthy"})
		return
	}
	writeJSON(w, http.StatusOK, s.parts.Metrics.Health())
}

// serveReady reports whether the upstream answers.
func (h *Handler) serveReady(w http.ResponseWriter, r *http.Request) {
	if !h.ready.Load() {
		if _, err := h.settings.Load().serverFormat(r.Context(), clientFormats[0]); err != nil {
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
