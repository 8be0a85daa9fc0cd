package interceptor

import (
	"net/http"
	"slices"
	"strings"
)

// NOTE: Pages of other sites may ask only if server.allowed_origins lists them. Their
// preflight has no key: it is answered without one, and nothing else is.

// listedOrigin reports whether the configuration lets pages of an origin ask.
func (s *settings) listedOrigin(origin string) bool {
	return origin != "" && slices.ContainsFunc(s.c.Server.AllowedOrigins, func(o string) bool { return strings.EqualFold(o, origin) })
}

// allowOrigin lets a page of a listed origin read the answer. It reports whether the
// request was a preflight, which is answered with that.
func (s *settings) allowOrigin(w http.ResponseWriter, r *http.Request) (answered bool) {
	origin := r.Header.Get("Origin")
	if !s.listedOrigin(origin) || !s.hostAllowed(r.Host) {
		return false
	}
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", origin)
	h.Add("Vary", "Origin")
	h.Set("Access-Control-Expose-Headers", requestHeader+", Callwright-Mode, "+trailers)
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	h.Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
	if asked := r.Header.Get("Access-Control-Request-Headers"); asked != "" {
		h.Set("Access-Control-Allow-Headers", asked)
	}
	h.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
	return true
}
