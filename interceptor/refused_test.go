package interceptor_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/openai"
	"github.com/callwright/callwright/config"
)

// strictServer refuses what a request must not have, with the words of real servers.
type strictServer struct {
	wrong  func(*adapters.Request) bool
	says   string
	status int
	asked  []*adapters.Request
}

func (s *strictServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	q, err := openai.Chat.DecodeRequest(body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.asked = append(s.asked, q)
	if s.wrong(q) {
		status(s.status, `{"error":{"message":"`+s.says+`"}}`)(w, asking{})
		return
	}
	saying(openai.Chat, q.Stream, says("It rains.", romeCall))(w)
}

func roles(r *adapters.Request) string {
	var list []string
	for i := range r.Messages {
		list = append(list, string(r.Messages[i].Role))
	}
	return strings.Join(list, " ")
}

// TestStrictServers checks that a request which a server refuses for how it is written is
// written as the server wants it, that it is remembered, and that nothing is lost.
func TestStrictServers(t *testing.T) {
	text := func(role adapters.Role, texts ...string) (m adapters.Message) {
		m.Role = role
		for _, s := range texts {
			m.Blocks = append(m.Blocks, adapters.Block{Type: adapters.BlockText, Text: s})
		}
		return m
	}
	const schema = `{"type":"object","$defs":{"d":{"type":"string"}},"properties":{"city":{"type":["string","null"],"pattern":"^R","description":"C"},` +
		`"where":{"$ref":"#/$defs/d"},"days":{"type":"integer","default":3}},"required":["city"],"additionalProperties":false}`
	for name, tt := range map[string]struct {
		status int
		says   string
		wrong  func(*adapters.Request) bool
		header string
	}{
		"turns": {
			500, "Conversation roles must alternate user/assistant/user/assistant/...",
			func(r *adapters.Request) bool { return roles(r) != "system user assistant user" }, "roles",
		},
		"no system": {
			400, "System role not supported", func(r *adapters.Request) bool { return strings.Contains(roles(r), "system") }, "system_role",
		},
		"strings": {
			422, "Input should be a valid string", func(r *adapters.Request) bool { return len(r.Messages[0].Blocks) > 1 }, "content",
		},
		"schemas": {
			400, "failed to parse grammar",
			func(r *adapters.Request) bool { return strings.Contains(string(r.Tools[0].Parameters), "pattern") }, "schemas",
		},
	} {
		for _, front := range everyClient {
			for _, stream := range []bool{false, true} {
				server := &strictServer{wrong: tt.wrong, says: tt.says, status: tt.status}
				upstream := httptest.NewServer(server)
				s := serve(t, upstream.URL, func(c *config.Config) { c.Server.UpstreamFormat = "openai" })
				change := func(r *adapters.Request) {
					r.Messages = []adapters.Message{
						text(adapters.RoleSystem, "one", "two"), text(adapters.RoleUser, "three"), text(adapters.RoleUser, "four"),
						text(adapters.RoleAssistant, "five"), text(adapters.RoleUser, "six"),
					}
					r.Tools[0].Parameters = []byte(schema)
				}
				for i := range 2 {
					reply, header := ask(t, s.URL, front, "m", stream, change)
					at := name + ", " + front.Name
					refused := tt.wrong(server.asked[0]) // not every format can say it so
					want := 1 + i
					if refused {
						want = 2 + i
					}
					if len(reply.Calls()) != 1 || reply.Text() != "It rains." || len(server.asked) != want {
						t.Fatalf("%s: %q, %s, asked %d times", at, reply.Text(), callsOf(reply), len(server.asked))
					}
					if refused && header.Get("Callwright-Mended") != tt.header {
						t.Errorf("%s: %v", at, header)
					}
					last := server.asked[len(server.asked)-1]
					said := ""
					for j := range last.Messages {
						said += last.Messages[j].Text() + " "
					}
					if got := strings.Join(strings.Fields(said), ""); !strings.Contains(got, "threefourfivesix") || !strings.Contains(got, "one") || !strings.Contains(got, "two") {
						t.Errorf("%s: the server is told %q", at, got)
					}
					if p := string(last.Tools[0].Parameters); !strings.Contains(p, `"days"`) || !strings.Contains(p, `"required":["city"]`) {
						t.Errorf("%s: %s", at, p)
					}
				}
				upstream.Close()
			}
		}
	}
}

// TestStrictServerStays checks that what does not help is not tried without an end, and
// that the client gets the server's words.
func TestStrictServerStays(t *testing.T) {
	server := &strictServer{wrong: func(*adapters.Request) bool { return true }, says: "roles must alternate", status: 400}
	upstream := httptest.NewServer(server)
	t.Cleanup(upstream.Close)
	s := serve(t, upstream.URL, func(c *config.Config) { c.Server.UpstreamFormat = "openai" })
	code, said := postBody(t, s.URL+"/v1/chat/completions", requestBody(t, openai.Chat, false))
	if code != http.StatusBadRequest || !strings.Contains(said, "roles must alternate") || len(server.asked) != 2 {
		t.Errorf("%d %s, asked %d times", code, said, len(server.asked))
	}
}
