package interceptor_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/ollama"
	"github.com/callwright/callwright/config"
	"github.com/callwright/callwright/internal/wire"
)

// TestContext checks that an Ollama server is asked for a context that holds the prompt, in
// steps, and that a request which fits, or says one itself, stays as it is.
func TestContext(t *testing.T) {
	ascii := func(n int) string { return strings.Repeat("word ", n/5) }
	for name, tt := range map[string]struct {
		system   string
		own      string // what the client says
		limit    int
		want     string // num_ctx; "" if there is none
		maxToken int64
	}{
		"it fits":           {ascii(8000), "", 32768, "", 0},
		"it does not":       {ascii(20000), "", 32768, "8192", 0},
		"room for answers":  {ascii(8000), "", 32768, "8192", 3000},
		"twice as much":     {ascii(40000), "", 32768, "16384", 0},
		"other letters":     {strings.Repeat("字", 8000), "", 32768, "16384", 0},
		"more than allowed": {ascii(900000), "", 20000, "20000", 0},
		"never":             {ascii(40000), "", 0, "", 0},
		"the client's own":  {ascii(40000), "5000", 32768, "5000", 0},
	} {
		for _, mode := range []string{"native", "emulate"} {
			for _, front := range everyClient {
				for _, stream := range []bool{false, true} {
					if tt.own != "" && front != ollama.Chat { // the others have no word for it
						continue
					}
					up := &script{answers: []func(http.ResponseWriter, asking){saysIt(says("Hi.", romeCall))}}
					upstream := httptest.NewServer(up)
					s := serve(t, upstream.URL, func(c *config.Config) {
						c.Server.UpstreamFormat, c.Server.MaxContext, c.Server.Mode = "ollama", tt.limit, mode
					})
					reply, header := ask(t, s.URL, front, "m", stream, func(r *adapters.Request) {
						system := adapters.Message{Role: adapters.RoleSystem, Blocks: []adapters.Block{{Type: adapters.BlockText, Text: tt.system}}}
						r.Messages, r.MaxTokens = append([]adapters.Message{system}, r.Messages...), tt.maxToken
						if front.Name == "anthropic_messages" && r.MaxTokens == 0 {
							r.MaxTokens = 10 // it is required
						}
						if tt.own != "" {
							r.Extra = adapters.ExtraOf(ollama.ChatName, wire.Object{{Key: "options", Value: []byte(`{"num_ctx":` + tt.own + `}`)}})
						}
					})
					upstream.Close()
					at := fmt.Sprintf("%s, %s, %s, stream=%v", name, mode, front.Name, stream)
					o, err := wire.ParseObject([]byte(up.asked[0]))
					if err != nil {
						t.Fatal(err)
					}
					options, _ := wire.AsObject(o.Get("options"))
					if got := string(options.Get("num_ctx")); got != tt.want || len(reply.Calls()) != 1 || len(up.asked) != 1 {
						t.Errorf("%s: num_ctx %q, want %q; %s", at, got, tt.want, callsOf(reply))
					}
					if got := header.Get("Callwright-Context"); got != tt.want && tt.own == "" {
						t.Errorf("%s: the header says %q", at, got)
					}
				}
			}
		}
	}
}
