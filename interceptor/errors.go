package interceptor

import (
	"net/http"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/anthropic"
	"github.com/callwright/callwright/adapters/ollama"
	"github.com/callwright/callwright/internal/wire"
)

// errorTypes are how OpenAI and Anthropic name the kinds of errors, by the status.
var errorTypes = map[int]string{
	http.StatusBadRequest: "invalid_request_error", http.StatusUnauthorized: "authentication_error", http.StatusForbidden: "permission_error",
	http.StatusNotFound: "not_found_error", http.StatusRequestEntityTooLarge: "request_too_large", http.StatusTooManyRequests: "rate_limit_error",
	http.StatusServiceUnavailable: "overloaded_error",
}

// errorBody is an error in the words of a format.
func errorBody(f *adapters.Format, status int, kind, message string) []byte {
	if kind == "" {
		kind = errorTypes[status]
	}
	if kind == "" {
		kind = "api_error"
	}
	var inner, o wire.Object
	switch f {
	case ollama.Chat:
		o.SetString("error", message)
		return o.Bytes()
	case anthropic.Messages:
		inner.SetString("type", kind)
		inner.SetString("message", message)
		o.SetString("type", "error")
	default:
		inner.SetString("message", message)
		inner.SetString("type", kind)
		inner.Set("param", []byte("null"))
		inner.Set("code", []byte("null"))
	}
	o.SetObject("error", inner)
	return o.Bytes()
}

// writeError answers with an error.
func writeError(w http.ResponseWriter, f *adapters.Format, status int, kind, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Del("Content-Length")
	w.WriteHeader(status)
	_, _ = w.Write(append(errorBody(f, status, kind, message), '\n')) // the client is gone, if anything
}

// streamError is an error within a stream.
func streamError(f *adapters.Format, message string) []byte {
	body := errorBody(f, 0, "", message)
	switch f {
	case ollama.Chat:
		return append(body, '\n')
	case anthropic.Messages:
		return []byte("event: error\ndata: " + string(body) + "\n\n")
	}
	if f.Sequential { // OpenAI's responses
		var o wire.Object
		o.SetString("type", "error")
		o.SetString("code", "api_error")
		o.SetString("message", message)
		o.Set("param", []byte("null"))
		return []byte("event: error\ndata: " + string(o.Bytes()) + "\n\n")
	}
	return []byte("data: " + string(body) + "\n\n")
}
