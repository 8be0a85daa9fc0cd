package interceptor_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/config"
)

// TestStructured checks that a client which wants JSON gets JSON, in every format, whole
// and streamed, with at most one request more.
func TestStructured(t *testing.T) {
	schema := json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"}},"required":["city"]}`)
	for name, tt := range map[string]struct {
		first, second, want string
		asked               int
	}{
		"as it is":        {`{"city":  "Rome"}`, "", `{"city":  "Rome"}`, 1},
		"fenced":          {"```json\n{\"city\": \"Rome\"}\n```", "", `{"city":"Rome"}`, 1},
		"words around it": {"Here it is: {\"city\": \"Rome\", \"days\": \"3\"} Bye.", "", `{"city":"Rome","days":3}`, 1},
		"words behind it": {"{\"city\": \"Rome\"} is the answer.", "", `{"city":"Rome"}`, 1},
		"does not fit":    {`{"town": "Rome"}`, `{"city": "Rome"}`, `{"city": "Rome"}`, 2},
		"no JSON":         {"Rome, three days.", `{"city": "Rome"}`, `{"city": "Rome"}`, 2},
		"no JSON, fenced": {"Rome, three days.", "```\n{\"city\": \"Rome\"}\n```", `{"city":"Rome"}`, 2},
		"never":           {"Rome.", "Still Rome.", "Rome.", 2},
	} {
		for _, tools := range []bool{false, true} {
			for _, front := range everyClient {
				for _, stream := range []bool{false, true} {
					up := &script{answers: []func(http.ResponseWriter, asking){saysIt(says(tt.first)), saysIt(says(tt.second))}}
					upstream := httptest.NewServer(up)
					s := serve(t, upstream.URL, func(c *config.Config) { c.Server.UpstreamFormat = "openai" })
					reply, _ := ask(t, s.URL, front, "m", stream, func(r *adapters.Request) {
						r.Response = &adapters.ResponseFormat{Name: "answer", Schema: schema}
						if !tools {
							r.Tools = nil
						}
					})
					upstream.Close()
					if reply.Text() != tt.want || len(up.asked) != tt.asked || reply.First().Finish != adapters.FinishStop {
						t.Errorf("%s, %s, stream=%v: %q, asked %d times", name, front.Name, stream, reply.Text(), len(up.asked))
					}
				}
			}
		}
	}
}
