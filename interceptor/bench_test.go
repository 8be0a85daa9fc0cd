package interceptor_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"github.com/callwright/callwright/adapters/openai"
	"github.com/callwright/callwright/config"
	"github.com/callwright/callwright/interceptor"
)

// BenchmarkStream sends a stream of 64 pieces through a plain proxy and through the
// interceptor.
func BenchmarkStream(b *testing.B) {
	var stream strings.Builder
	for i := range 64 {
		stream.WriteString(chunk(fmt.Sprintf(`{"content":" word%d"}`, i)))
	}
	stream.WriteString(finishChunk + doneChunk)
	data := []byte(stream.String())
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // it is always the same
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(data)
	}))
	defer upstream.Close()
	u, err := url.Parse(upstream.URL)
	if err != nil {
		b.Fatal(err)
	}
	c := config.Default()
	c.Server.Upstream, c.Server.UpstreamFormat = upstream.URL, "openai"
	h, err := interceptor.New(c, interceptor.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer h.Close()
	body := requestBody(b, openai.Chat, true)
	for _, bench := range []struct {
		name string
		h    http.Handler
	}{{"proxy", &httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) { p.SetURL(u) }}}, {"interceptor", h}} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				w := httptest.NewRecorder()
				q := httptest.NewRequest(http.MethodPost, "/v1/chat/completions", bytes.NewReader(body))
				q.Host = "localhost"
				bench.h.ServeHTTP(w, q)
				if w.Code != http.StatusOK || !bytes.HasSuffix(w.Body.Bytes(), []byte(doneChunk)) {
					b.Fatal(w.Code, w.Body.String())
				}
			}
		})
	}
}
