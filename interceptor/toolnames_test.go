package interceptor_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/config"
)

// TestToolNames checks that names which servers refuse are mapped to others, in tools,
// choice and history, and that the client gets its own back, whole and streamed.
func TestToolNames(t *testing.T) {
	names := []string{"weather.get/now v1", "weather.get/now_v1", "wetter_für_alle", strings.Repeat("mcp__server__", 6) + "get"}
	plain := regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	for _, front := range everyClient {
		for _, stream := range []bool{false, true} {
			for i, name := range names {
				for _, inText := range []bool{false, true} {
					var told []string
					upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						rec := &script{answers: []func(http.ResponseWriter, asking){func(http.ResponseWriter, asking) {}}}
						rec.ServeHTTP(httptest.NewRecorder(), r)
						request, err := kindFormat("openai").DecodeRequest([]byte(rec.asked[0]))
						if err != nil || len(request.Messages) < 3 {
							t.Errorf("%v: %s", err, rec.asked[0])
							return
						}
						told = nil
						for j := range request.Tools {
							told = append(told, request.Tools[j].Name)
						}
						if request.Messages[1].Calls()[0].Name != told[0] {
							t.Errorf("the history has %q, the tools %q", request.Messages[1].Calls()[0].Name, told[0])
						}
						answer := says("", told[i]+` {"city":"Rome"}`)
						if inText {
							answer = says(fmt.Sprintf(`<tool_call>{"name": %q, "arguments": {"city": "Rome"}}</tool_call>`, told[i]))
						}
						saying(kindFormat("openai"), request.Stream, answer)(w)
					}))
					s := serve(t, upstream.URL, func(c *config.Config) { c.Server.UpstreamFormat = "openai" })
					reply, header := ask(t, s.URL, front, "m", stream, func(r *adapters.Request) {
						parameters := r.Tools[0].Parameters
						r.Tools = nil
						for _, n := range names {
							r.Tools = append(r.Tools, adapters.Tool{Name: n, Parameters: parameters})
						}
						rounds("x {\"city\":\"Oslo\"} rain")(r)
						r.Messages[1].Blocks[0].Call.Name, r.Messages[2].Blocks[0].Result.Name = names[0], names[0]
					})
					upstream.Close()
					if calls := reply.Calls(); len(calls) != 1 || calls[0].Name != name || header.Get("Callwright-Mended") != "tool_names" {
						t.Errorf("%s, stream=%v, %q: %s, mended %q", front.Name, stream, name, callsOf(reply), header.Get("Callwright-Mended"))
					}
					seen := map[string]bool{}
					for _, n := range told {
						if !plain.MatchString(n) || seen[n] {
							t.Errorf("the server is told %q", told)
						}
						seen[n] = true
					}
				}
			}
		}
	}
}

// kindFormat is the own format of a kind of server.
func kindFormat(kind string) *adapters.Format {
	for f, k := range kinds {
		if k == kind {
			return f
		}
	}
	return nil
}
