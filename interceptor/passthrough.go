package interceptor

import (
	"bytes"
	"errors"
	"net/http"
	"strconv"
	"unicode/utf8"

	"github.com/callwright/callwright/adapters/anthropic"
	"github.com/callwright/callwright/internal/wire"
)

// servePassthrough passes a request through to the upstream.
func (h *Handler) servePassthrough(w http.ResponseWriter, r *http.Request) {
	s := h.settings.Load()
	if s.c.Server.UnknownPaths == "refuse" && (r.Method != http.MethodGet || r.URL.Path != "/v1/models") {
		writeError(w, formatOf(r), http.StatusNotFound, "", "unknown path")
		return
	}
	s.proxy.ServeHTTP(w, r)
}

// serveCountTokens counts the tokens of a request: an Anthropic server is asked; for any
// other it is an estimate of four characters a token, and a header says so.
func (h *Handler) serveCountTokens(w http.ResponseWriter, r *http.Request) {
	s := h.settings.Load()
	kind, _, err := s.kind(r.Context())
	if err == nil && kind == anthropic.Messages.Servers[0] {
		s.proxy.ServeHTTP(w, r)
		return
	}
	body, err := s.readBody(w, r)
	if err != nil {
		refuse(w, anthropic.Messages, err)
		return
	}
	if _, err := anthropic.Messages.DecodeRequest(body); err != nil {
		writeError(w, anthropic.Messages, http.StatusBadRequest, "", err.Error())
		return
	}
	w.Header().Set("Callwright-Estimated", "true")
	writeJSON(w, http.StatusOK, map[string]int{"input_tokens": (utf8.RuneCount(body) + 3) / 4})
}

// maxShown bounds what is read of an Ollama server's answer about its models, in bytes.
const maxShown = 16 << 20

// serveShow passes on an Ollama server's answer about its models, with the capability
// "tools" added: the interceptor gives it to them.
func (h *Handler) serveShow(w http.ResponseWriter, r *http.Request) {
	s := h.settings.Load()
	if s.c.Server.Mode == "native" {
		s.proxy.ServeHTTP(w, r)
		return
	}
	rec := &buffer{header: http.Header{}, status: http.StatusOK}
	s.proxy.ServeHTTP(rec, r)
	body := rec.body.Bytes()
	if rec.status == http.StatusOK && !rec.cut {
		if o, err := wire.ParseObject(body); err == nil {
			body = withTools(o).Bytes()
		}
	}
	for name, values := range rec.header {
		w.Header()[name] = values
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(rec.status)
	_, _ = w.Write(body) // the client is gone, if anything
}

// withTools adds the capability "tools" to a model, or to each of a list of models.
func withTools(o wire.Object) wire.Object {
	if models := wire.AsList(o.Get("models")); models != nil {
		for i, m := range models {
			if model, ok := wire.AsObject(m); ok {
				models[i] = withTools(model).Bytes()
			}
		}
		o.SetList("models", models)
		return o
	}
	capabilities := wire.AsList(o.Get("capabilities"))
	if capabilities == nil {
		return o
	}
	completes := false
	for _, c := range capabilities {
		name, _ := wire.String(c)
		if name == "tools" {
			return o
		}
		completes = completes || name == "completion"
	}
	if completes { // not for embedding models
		o.SetList("capabilities", append(capabilities, []byte(`"tools"`)))
	}
	return o
}

// buffer is a response writer that keeps the response.
type buffer struct {
	header http.Header
	body   bytes.Buffer
	status int
	cut    bool
}

func (b *buffer) Header() http.Header    { return b.header }
func (b *buffer) WriteHeader(status int) { b.status = status }

func (b *buffer) Write(p []byte) (int, error) {
	if b.body.Len()+len(p) > maxShown {
		b.cut = true
		return 0, errors.New("the answer is too large")
	}
	return b.body.Write(p)
}
