package interceptor

import (
	"bytes"
	"net/http"
	"net/url"
	"strings"

	"github.com/callwright/callwright/adapters/gemini"
)

// serveGemini serves the paths of Gemini's API, in which the model and what is asked of it
// stand: "models/gemini-2.5-pro:streamGenerateContent". A stream that is not asked for as
// events (alt=sse) is a list of pieces; it is answered with a list of one.
func (h *Handler) serveGemini(w http.ResponseWriter, r *http.Request) {
	model, action := r.PathValue("call"), ""
	if i := strings.LastIndexByte(model, ':'); i >= 0 {
		model, action = model[:i], model[i+1:]
	}
	switch {
	case action == "generateContent":
		h.serveModel(w, r, gemini.Generate, model, false)
	case action == "streamGenerateContent" && r.URL.Query().Get("alt") == "sse":
		h.serveModel(w, r, gemini.Generate, model, true)
	case action == "streamGenerateContent":
		h.serveModel(&listWriter{ResponseWriter: w}, r, gemini.Generate, model, false)
	case action == "countTokens":
		h.countGemini(w, r)
	default:
		h.servePassthrough(w, r)
	}
}

// countGemini counts the tokens of a request: a Gemini server is asked; for any other it is
// an estimate.
func (h *Handler) countGemini(w http.ResponseWriter, r *http.Request) {
	s := h.settings.Load()
	if kind, _, err := s.kind(r.Context()); err == nil && kind == gemini.Generate.Servers[0] {
		s.proxy.ServeHTTP(w, r)
		return
	}
	body, err := s.readBody(w, r)
	if err != nil {
		refuse(w, gemini.Generate, err)
		return
	}
	w.Header().Set("Callwright-Estimated", "true")
	writeJSON(w, http.StatusOK, map[string]int{"totalTokens": (len(body) + bytesPerToken - 1) / bytesPerToken})
}

// listWriter writes a reply as a list that holds it.
type listWriter struct {
	http.ResponseWriter
	ok bool
}

func (l *listWriter) WriteHeader(status int) {
	l.ok = status == http.StatusOK
	l.ResponseWriter.WriteHeader(status)
}

func (l *listWriter) Write(p []byte) (int, error) {
	if !l.ok {
		return l.ResponseWriter.Write(p)
	}
	_, err := l.ResponseWriter.Write(bytes.Join([][]byte{[]byte("["), p, []byte("]")}, nil)) // a reply is one write
	return len(p), err
}

// Unwrap lets [http.ResponseController] reach the connection.
func (l *listWriter) Unwrap() http.ResponseWriter { return l.ResponseWriter }

// withoutKey removes the key that Gemini's clients may put into the query.
func withoutKey(query string) string {
	values, err := url.ParseQuery(query)
	if err != nil || !values.Has("key") {
		return query
	}
	values.Del("key")
	return values.Encode()
}
