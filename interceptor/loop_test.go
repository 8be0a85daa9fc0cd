package interceptor_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/openai"
	"github.com/callwright/callwright/config"
)

// rounds adds calls with their results to a conversation: each as "tool arguments result".
func rounds(list ...string) func(*adapters.Request) {
	return func(r *adapters.Request) {
		for i, s := range list {
			if said, ok := strings.CutPrefix(s, "user "); ok {
				r.Messages = append(r.Messages, adapters.Message{
					Role: adapters.RoleUser, Blocks: []adapters.Block{{Type: adapters.BlockText, Text: said}},
				})
				continue
			}
			parts := strings.SplitN(s, " ", 3)
			id := fmt.Sprintf("call_%d", i)
			r.Messages = append(r.Messages, adapters.Message{Role: adapters.RoleAssistant, Blocks: []adapters.Block{{
				Type: adapters.BlockCall, Call: &adapters.Call{ID: id, Name: parts[0], Arguments: parts[1]},
			}}}, adapters.Message{Role: adapters.RoleTool, Blocks: []adapters.Block{{
				Type: adapters.BlockResult, Result: &adapters.ToolResult{CallID: id, Name: parts[0], Text: parts[2]},
			}}})
		}
	}
}

func repeated(n int, s string) []string { return strings.Split(strings.Repeat(s+"\n", n-1)+s, "\n") }

// TestLoops checks that a loop is told to the model and then refused, and that work which
// repeats rightly goes on, in every client format.
func TestLoops(t *testing.T) {
	const run = `run {"command":"make"} failed`
	var work []string // an edit between two runs
	for i := range 10 {
		work = append(work, run, fmt.Sprintf(`edit {"line":%d} ok`, i))
	}
	for name, tt := range map[string]struct {
		rounds []string
		want   string // of the header
	}{
		"two":             {repeated(2, run), ""},
		"three":           {repeated(3, run), "told; 3"},
		"spaces":          {[]string{run, run, `run {"command":"make"} failed`}, "told; 3"},
		"five":            {repeated(5, run), "told; 5"},
		"six":             {repeated(6, run), "refused; 6"},
		"sixty":           {repeated(60, run), "refused; 60"},
		"behind a word":   {append(repeated(6, run), "user Go on."), ""},
		"before a word":   {append(append(repeated(6, run), "user Go on."), repeated(2, run)...), ""},
		"work":            {work, ""},
		"another result":  {append(repeated(5, run), `run {"command":"make"} passed`), ""},
		"other arguments": {append(repeated(5, run), `run {"command":"ls"} failed`), ""},
		"polling":         {repeated(20, `job_status {"id":1} pending`), ""},
		"reading":         {repeated(20, `read_file {"path":"a"} text`), "told; 20"},
		"exempt":          {repeated(20, `dance {"how":1} ok`), ""},
	} {
		for _, front := range everyClient {
			for _, stream := range []bool{false, true} {
				up := &script{answers: []func(http.ResponseWriter, asking){saysIt(says("It is done."))}}
				upstream := httptest.NewServer(up)
				s := serve(t, upstream.URL, func(c *config.Config) {
					c.Server.UpstreamFormat, c.Server.LoopExempt = "openai", []string{"dan*"}
				})
				reply, header := ask(t, s.URL, front, "m", stream, rounds(tt.rounds...))
				upstream.Close()
				if got := header.Get("Callwright-Loop"); got != tt.want {
					t.Errorf("%s, %s: %q, want %q", name, front.Name, got, tt.want)
				}
				refused, told := strings.HasPrefix(tt.want, "refused"), strings.HasPrefix(tt.want, "told")
				if refused != (len(up.asked) == 0) || refused != strings.Contains(reply.Text(), "I stop here") {
					t.Errorf("%s, %s: asked %d times, %q", name, front.Name, len(up.asked), reply.Text())
				}
				if !refused && strings.Contains(up.asked[0], "with the same arguments and the same result") != told {
					t.Errorf("%s, %s: %s", name, front.Name, up.asked[0])
				}
			}
		}
	}
	// A conversation without a loop goes on as it was sent.
	up := &script{answers: []func(http.ResponseWriter, asking){saysIt(says("It is done."))}}
	upstream := httptest.NewServer(up)
	defer upstream.Close()
	s := serve(t, upstream.URL, func(c *config.Config) { c.Server.UpstreamFormat = "openai" })
	body := string(requestBody(t, openai.Chat, false)) + " "
	if _, _ = postBody(t, s.URL+"/v1/chat/completions", []byte(body)); up.asked[0] != body {
		t.Errorf("%s became %s", body, up.asked[0])
	}
}
