package interceptor

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/gemini"
)

// NOTE: Every request goes through [settings.refuses], the bound of requests in flight,
// and refusesForm, in this order, before anything else looks at it. Who adds a route adds
// no way around them.

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
	if strings.HasPrefix(r.URL.Path, gemini.Generate.Prefix) { // Google's clients may send it so
		return r.URL.Query().Get("key")
	}
	return ""
}

// tenant identifies a client by a hash of its key.
func tenant(r *http.Request) string {
	hash := sha256.Sum256([]byte(credential(r)))
	return hex.EncodeToString(hash[:])
}

// sameSecret compares a secret with the one that is wanted, in a time that tells nothing.
func sameSecret(given, want string) bool {
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(want))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// authorized reports whether a request has the key, if one is asked for.
func (s *settings) authorized(r *http.Request) bool {
	return s.key == "" || sameSecret(credential(r), s.key)
}

// refuses returns the status and the message with which a request is refused; the status
// is 0 if it is served.
func (s *settings) refuses(r *http.Request) (status int, message string) {
	if !s.hostAllowed(r.Host) {
		return http.StatusForbidden, "this host name is not allowed: add it to server.allowed_hosts, or name it with --allowed-hosts"
	}
	// Pages of other sites, in a browser, are not clients: their requests have an origin.
	origin := r.Header.Get("Origin")
	listed := s.listedOrigin(origin)
	if origin != "" && !listed && !s.originAllowed(origin, r.Host) {
		return http.StatusForbidden, "requests of other sites are not served: list their origin in server.allowed_origins"
	}
	if site := r.Header.Get("Sec-Fetch-Site"); !listed && site != "" && site != "same-origin" && site != "none" {
		return http.StatusForbidden, "requests of other sites are not served"
	}
	if !isHealth(r) && !s.authorized(r) {
		return http.StatusUnauthorized, "unauthorized"
	}
	return 0, ""
}

// isHealth reports whether a request only asks for the state of the server, which takes
// no key.
func isHealth(r *http.Request) bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) && (r.URL.Path == "/healthz" || r.URL.Path == "/readyz")
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

// methods are those that are served.
var methods = []string{
	http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions,
}

// endToEnd are headers that a request must not name in "Connection", as if they were for
// one connection: servers behind would be asked without them. RFC 9110, section 7.6.1,
// forbids it; leaving them out would turn a request with a key into one without.
var endToEnd = append([]string{
	"Host", "Content-Length", "Content-Type", "Content-Encoding", "Transfer-Encoding", "Accept", "Origin", "Cookie", "Anthropic-Version",
}, credentials...)

// refusesForm returns the status and the message with which a request is refused for how
// it is written; the status is 0 if it is not.
func refusesForm(r *http.Request) (status int, message string) {
	switch {
	case !slices.Contains(methods, r.Method):
		return http.StatusMethodNotAllowed, "this method is not served"
	case hasBothLengths(r):
		return http.StatusBadRequest, "the request has both Content-Length and Transfer-Encoding"
	case escapes(r.URL):
		return http.StatusBadRequest, "the path leads out of itself"
	}
	for _, list := range r.Header.Values("Connection") {
		for name := range strings.SplitSeq(list, ",") {
			name = http.CanonicalHeaderKey(strings.TrimSpace(name))
			if slices.Contains(endToEnd, name) {
				return http.StatusBadRequest, "the header Connection names " + name
			}
			// Some clients offer HTTP/2 with each request; a server may go on in HTTP/1.1.
			if name == "Upgrade" && !strings.EqualFold(strings.TrimSpace(r.Header.Get("Upgrade")), "h2c") {
				return http.StatusBadRequest, "other protocols are not served"
			}
		}
	}
	return 0, ""
}

// maxDecodings is how often a path may be percent-encoded.
const maxDecodings = 4

// escapes reports whether a path could lead out of the folder of the upstream's base URL:
// as it is, or however often a server behind decodes it.
func escapes(u *url.URL) bool {
	path := u.EscapedPath()
	if !strings.HasPrefix(path, "/") {
		return true
	}
	for range maxDecodings {
		if leadsUp(path) {
			return true
		}
		decoded, err := url.PathUnescape(path)
		if err != nil || decoded == path {
			return false
		}
		path = decoded
	}
	return true
}

// leadsUp reports whether a path has a segment of nothing but dots and spaces, parameters
// aside, a backslash, a control character, or bytes that are not UTF-8.
func leadsUp(path string) bool {
	if !utf8.ValidString(path) || strings.ContainsFunc(path, func(c rune) bool { return c == '\\' || c < 0x20 || c == 0x7f }) {
		return true
	}
	for segment := range strings.SplitSeq(path, "/") {
		segment, _, _ = strings.Cut(segment, ";")
		if segment != "" && strings.Trim(segment, ". ") == "" {
			return true
		}
	}
	return false
}

// connKey is the key of a context's [headConn].
type connKey struct{}

// withConn returns the context of a connection's requests.
func withConn(ctx context.Context, c net.Conn) context.Context {
	if c, ok := c.(*headConn); ok {
		return context.WithValue(ctx, connKey{}, c)
	}
	return ctx
}

// hasBothLengths reports whether a request came with two ways of saying where it ends,
// which servers disagree about. The server below removes one of them.
func hasBothLengths(r *http.Request) bool {
	c, ok := r.Context().Value(connKey{}).(*headConn)
	return ok && c.both.Swap(false) && len(r.TransferEncoding) > 0
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
