package interceptor

import (
	"cmp"
	"net/http"

	"github.com/callwright/callwright/adapters"
)

// errorTypes are how OpenAI and Anthropic name the kinds of errors, by the status.
var errorTypes = map[int]string{
	http.StatusBadRequest: "invalid_request_error", http.StatusUnauthorized: "authentication_error", http.StatusForbidden: "permission_error",
	http.StatusNotFound: "not_found_error", http.StatusRequestEntityTooLarge: "request_too_large",
	http.StatusTooManyRequests:    "rate_limit_error",
	http.StatusServiceUnavailable: "overloaded_error",
}

// defaultErrorType is that of all other errors.
const defaultErrorType = "api_error"

// writeError answers with an error in the words of a format. An empty kind is that of
// the status.
func writeError(w http.ResponseWriter, f *adapters.Format, status int, kind, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Del("Content-Length")
	w.WriteHeader(status)
	body := f.EncodeError(&adapters.ProviderError{Type: cmp.Or(kind, errorTypes[status], defaultErrorType), Message: message})
	_, _ = w.Write(append(body, '\n')) // the client is gone, if anything
}
