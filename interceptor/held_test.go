package interceptor_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/ollama"
	"github.com/callwright/callwright/adapters/openai"
	"github.com/callwright/callwright/config"
)

// TestHeldToCall checks that a required call which did not come is asked for with the
// server's own constraint, once, and that a server which refuses it is not asked so again.
func TestHeldToCall(t *testing.T) {
	bare := saysIt(says(`{"name": "get_weather", "arguments": {"city": "Rome"}}`))
	for _, server := range []*adapters.Format{openai.Chat, ollama.Chat} {
		for _, mode := range []adapters.ToolMode{adapters.ToolRequired, adapters.ToolNamed} {
			for _, front := range everyClient {
				for _, stream := range []bool{false, true} {
					up, at := &script{answers: []func(http.ResponseWriter, asking){saysIt(says("Well.")), bare}}, 1
					if server == ollama.Chat { // it knows no required choice
						up.answers, at = up.answers[1:], 0
					}
					upstream := httptest.NewServer(up)
					s := serve(t, upstream.URL, func(c *config.Config) { c.Server.UpstreamFormat = kinds[server] })
					choose := func(r *adapters.Request) {
						r.ToolChoice.Mode = mode
						if mode == adapters.ToolNamed {
							r.ToolChoice.Name = "get_weather"
						}
					}
					reply, header := ask(t, s.URL, front, "m", stream, choose)
					upstream.Close()
					if front == ollama.Chat { // its requests cannot require a call
						continue
					}
					if len(reply.Calls()) != 1 || reply.Text() != "" || len(up.asked) != at+1 || header.Get("Callwright-Tool-Choice") != "" {
						t.Errorf("%s before %s: %q and %s, asked %d times", front.Name, server.Name, reply.Text(), callsOf(reply), len(up.asked))
					}
					if !strings.Contains(up.asked[at], `"enum":["get_weather"]`) || at > 0 && strings.Contains(up.asked[0], `"enum":["get_weather"]`) {
						t.Errorf("%s before %s: %s", front.Name, server.Name, up.asked)
					}
				}
			}
		}
	}
	// Where tools are emulated, the first request is held to a call; a refusal is remembered.
	refuses := status(http.StatusBadRequest, `{"error":{"message":"'response_format.type' must be 'text'"}}`)
	emulated := &script{answers: []func(http.ResponseWriter, asking){bare, refuses, saysIt(says(romeText))}}
	before := httptest.NewServer(emulated)
	t.Cleanup(before.Close)
	e := serve(t, before.URL, func(c *config.Config) { c.Server.UpstreamFormat, c.Server.Mode = "openai", "emulate" })
	for i, want := range []int{1, 3, 4} {
		reply, _ := ask(t, e.URL, openai.Chat, "m", i > 0, func(r *adapters.Request) { r.ToolChoice.Mode = adapters.ToolRequired })
		if len(reply.Calls()) != 1 || len(emulated.asked) != want || strings.Contains(emulated.asked[want-1], `"enum"`) != (i == 0) {
			t.Errorf("request %d: %s, asked %s", i, callsOf(reply), emulated.asked)
		}
	}
	refusal := status(http.StatusBadRequest, `{"error":{"message":"failed to parse grammar"}}`)
	up := &script{answers: []func(http.ResponseWriter, asking){saysIt(says("Well.")), refusal, saysIt(says("Well.")), bare}}
	upstream := httptest.NewServer(up)
	t.Cleanup(upstream.Close)
	s := serve(t, upstream.URL, func(c *config.Config) { c.Server.UpstreamFormat = "openai" })
	required := func(r *adapters.Request) { r.ToolChoice.Mode = adapters.ToolRequired }
	if _, header := ask(t, s.URL, openai.Chat, "m", false, required); header.Get("Callwright-Tool-Choice") != "unmet" || len(up.asked) != 2 {
		t.Errorf("%v, asked %d times", header, len(up.asked))
	}
	reply, _ := ask(t, s.URL, openai.Chat, "m", false, required)
	if len(reply.Calls()) != 1 || strings.Contains(up.asked[3], `"enum"`) {
		t.Errorf("%s: %s", callsOf(reply), up.asked[3])
	}
}

// TestTokensInNames checks that a tool's name in the server's own field may have special
// tokens behind it.
func TestTokensInNames(t *testing.T) {
	for _, name := range []string{"get_weather<|channel|>commentary", "get_weather<|channel|>json", "get_weather<|constrain|>json"} {
		for _, front := range everyClient {
			for _, stream := range []bool{false, true} {
				up := &script{answers: []func(http.ResponseWriter, asking){saysIt(says("", name+` {"city":"Rome"}`))}}
				upstream := httptest.NewServer(up)
				s := serve(t, upstream.URL, func(c *config.Config) { c.Server.UpstreamFormat = "openai" })
				reply, header := ask(t, s.URL, front, "m", stream, nil)
				upstream.Close()
				if calls := reply.Calls(); len(calls) != 1 || calls[0].Name != "get_weather" || header.Get("Callwright-Invalid") != "" {
					t.Errorf("%s, %s, stream=%v: %s", name, front.Name, stream, callsOf(reply))
				}
			}
		}
	}
}

// TestNoneMeansNone checks that a client which forbids calls gets none, also from a server
// that calls all the same.
func TestNoneMeansNone(t *testing.T) {
	for _, front := range everyClient {
		for _, stream := range []bool{false, true} {
			up := &script{answers: []func(http.ResponseWriter, asking){saysIt(says("It rains.", romeCall))}}
			upstream := httptest.NewServer(up)
			s := serve(t, upstream.URL, func(c *config.Config) { c.Server.UpstreamFormat = "openai" })
			reply, _ := ask(t, s.URL, front, "m", stream, func(r *adapters.Request) { r.ToolChoice.Mode = adapters.ToolNone })
			upstream.Close()
			if front == ollama.Chat { // its requests have no word for it
				continue
			}
			if len(reply.Calls()) != 0 || reply.Text() != "It rains." || reply.First().Finish != adapters.FinishStop {
				t.Errorf("%s, stream=%v: %q and %s, ends with %q", front.Name, stream, reply.Text(), callsOf(reply), reply.First().Finish)
			}
		}
	}
}
