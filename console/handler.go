package console

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/callwright/callwright/parser"
)

// TokenHeader is the request header with the token. A page of the same origin can send it,
// a link or a form cannot.
const TokenHeader = "Callwright-Token"

// Prefix is the path below which a [Handler] answers.
const Prefix = "/callwright/"

// securityPolicy lets the page load its own script and style and ask its own server, and
// makes Chromium refuse any assignment of a string as markup.
const securityPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'none'; " +
	"base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// explainTimeout bounds the time of one request to explain a text.
const explainTimeout = 2 * time.Second

// maxExplaining is how many texts are explained concurrently; a request too many gets 503.
const maxExplaining = 4

// Options configure a [Handler].
type Options struct {
	// Token is the secret that the page sends with each request for data. It must not be
	// empty; [NewToken] makes one.
	Token string
	// Hosts are host names, besides those of the loopback interface, under which the page is
	// served, without ports. Requests for others are refused, so that a name that an
	// attacker makes resolve to this machine reads nothing.
	Hosts []string
	// Parser are the options of the parser of the playground. Its cache, metrics, patterns
	// and fallbacks are not used, so that nobody is asked and nothing is kept.
	Parser parser.Options
	// Version is shown on the page.
	Version string
}

// ErrToken says that a handler needs a token.
var ErrToken = errors.New("the console needs a token")

//go:embed page
var assets embed.FS

var shell = template.Must(template.ParseFS(assets, "page/index.html"))

// NewToken returns a token of 128 random bits or more.
func NewToken() string { return rand.Text() }

// Handler serves the playground below [Prefix]: the page and its assets to anybody on this
// machine, since a browser cannot send a token when it navigates, and what callwright makes
// of a text to those who send the token.
type Handler struct {
	options Options
	mux     *http.ServeMux
	page    []byte
	slots   chan struct{}
}

// NewHandler returns a handler. The error is [ErrToken], or that of the parser's options.
func NewHandler(o Options) (*Handler, error) {
	if o.Token == "" {
		return nil, ErrToken
	}
	o.Parser.Cache, o.Parser.Metrics, o.Parser.Patterns, o.Parser.Fallbacks = nil, nil, nil, nil
	o.Parser.Timeout = explainTimeout
	p, err := parser.New(nil, o.Parser)
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(p.Dialects()))
	for _, d := range p.Dialects() {
		names = append(names, d.Name)
	}
	h := &Handler{options: o, mux: http.NewServeMux(), slots: make(chan struct{}, maxExplaining)}
	var page bytes.Buffer
	if err := shell.Execute(&page, struct {
		Version  string
		Dialects []string
	}{o.Version, names}); err != nil {
		return nil, err
	}
	h.page = page.Bytes()
	h.mux.HandleFunc("GET "+Prefix+"{$}", func(w http.ResponseWriter, _ *http.Request) {
		write(w, "text/html; charset=utf-8", h.page)
	})
	for _, name := range []string{"app.js", "app.css", "icon.svg"} {
		data, err := assets.ReadFile("page/" + name)
		if err != nil {
			return nil, err
		}
		h.mux.HandleFunc("GET "+Prefix+name, func(w http.ResponseWriter, _ *http.Request) {
			write(w, mime.TypeByExtension(name[strings.LastIndexByte(name, '.'):]), data)
		})
	}
	h.mux.HandleFunc("POST "+Prefix+"api/explain", h.explain)
	return h, nil
}

// ServeHTTP answers a request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Security-Policy", securityPolicy)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Cache-Control", "no-store")
	if !h.allowed(r) {
		refuse(w, http.StatusForbidden, "this page is served to this machine only, under its loopback address")
		return
	}
	h.mux.ServeHTTP(w, r)
}

// allowed reports whether a request is for this host, and not from another site.
func (h *Handler) allowed(r *http.Request) bool {
	if !h.known(r.Host) {
		return false
	}
	if origin := r.Header.Get("Origin"); origin != "" {
		_, host, ok := strings.Cut(origin, "://")
		if !ok || host != r.Host {
			return false
		}
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "none", "same-origin":
		return true
	}
	// A link from another page may open the page, which has no data of its own.
	return r.Method == http.MethodGet && r.URL.Path == Prefix && r.Header.Get("Sec-Fetch-Mode") == "navigate"
}

// known reports whether a host is one under which the page is served.
func (h *Handler) known(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.Trim(host, "[]")
	if ip, err := netip.ParseAddr(host); err == nil && ip.IsLoopback() || strings.EqualFold(host, "localhost") {
		return true
	}
	for _, name := range h.options.Hosts {
		if strings.EqualFold(host, name) {
			return true
		}
	}
	return false
}

// explain answers what callwright makes of a text.
func (h *Handler) explain(w http.ResponseWriter, r *http.Request) {
	if subtle.ConstantTimeCompare([]byte(r.Header.Get(TokenHeader)), []byte(h.options.Token)) != 1 {
		refuse(w, http.StatusUnauthorized, "this page has no valid token: open the address that the command printed")
		return
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		refuse(w, http.StatusUnsupportedMediaType, "the request must be application/json")
		return
	}
	select {
	case h.slots <- struct{}{}:
		defer func() { <-h.slots }()
	default:
		refuse(w, http.StatusServiceUnavailable, "too many texts at once")
		return
	}
	var q Request
	decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, MaxRequestBytes))
	if err := decoder.Decode(&q); err != nil {
		if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
			refuse(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("text and tools are larger than %d bytes", MaxRequestBytes))
			return
		}
		refuse(w, http.StatusBadRequest, "the request is not JSON: "+err.Error())
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), explainTimeout)
	defer cancel()
	x, err := Explain(ctx, &q, h.options.Parser)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		refuse(w, http.StatusUnprocessableEntity, fmt.Sprintf("reading the text takes longer than %s", explainTimeout))
	case err != nil:
		refuse(w, http.StatusUnprocessableEntity, err.Error())
	default:
		var b bytes.Buffer
		if err := json.NewEncoder(&b).Encode(x); err != nil {
			refuse(w, http.StatusInternalServerError, err.Error())
			return
		}
		write(w, "application/json", b.Bytes())
	}
}

func write(w http.ResponseWriter, kind string, data []byte) {
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(data) // a client that is gone reads nothing
}

// refuse answers with an error as JSON.
func refuse(w http.ResponseWriter, status int, message string) {
	data, _ := json.Marshal(map[string]string{"error": message}) // strings can be written
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(data)
}
