package interceptor_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/anthropic"
	"github.com/callwright/callwright/adapters/ollama"
	"github.com/callwright/callwright/adapters/openai"
	"github.com/callwright/callwright/config"
)

const badCall = "<tool_call>\n" + `{"name": "get_weather", "arguments": {}}` + "\n</tool_call>"

// scripted is an upstream that gives one raw answer after the other.
func scripted(t testing.TB, answers ...func(http.ResponseWriter)) string {
	t.Helper()
	n := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		answers[min(n, len(answers)-1)](w)
		n++
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// saying answers with a reply of a format, its text and arguments in small pieces.
func saying(f *adapters.Format, stream bool, r *adapters.Reply) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		if !stream {
			w.Header().Set("Content-Type", "application/json")
			data, err := f.EncodeReply(r)
			if err != nil {
				panic(err)
			}
			_, _ = w.Write(data)
			return
		}
		w.Header().Set("Content-Type", f.ContentType)
		enc := f.NewEncoder(w)
		for _, e := range r.Events() {
			if e.Type != adapters.EventText {
				_ = enc.Event(e)
				continue
			}
			for i := 0; i < len(e.Text); i += 6 {
				piece := e
				piece.Text, piece.New = e.Text[i:min(i+6, len(e.Text))], e.New && i == 0
				_ = enc.Event(piece)
			}
		}
		_ = enc.End()
	}
}

// TestRetryOneAnswer checks that a client gets one answer or the other, whatever the
// second one is, with the usage of both.
func TestRetryOneAnswer(t *testing.T) {
	broken := func(f *adapters.Format, stream bool) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			var b bytes.Buffer
			rec := httptest.NewRecorder()
			saying(f, stream, says("The file is there."))(rec)
			b.Write(rec.Body.Bytes())
			w.Header().Set("Content-Type", rec.Header().Get("Content-Type"))
			_, _ = w.Write(b.Bytes()[:b.Len()/2])
		}
	}
	for _, f := range []*adapters.Format{openai.Chat, anthropic.Messages, ollama.Chat} {
		for _, stream := range []bool{false, true} {
			first := saying(f, stream, says("Let me look.\n"+badCall))
			for name, tt := range map[string]struct {
				second func(http.ResponseWriter)
				text   string
				calls  string
				tokens int64
			}{
				"a call":             {saying(f, stream, says("Sure.", `get_weather {"city":"Rome","days":3}`)), "Sure.", "get_weather", 10},
				"a call in the text": {saying(f, stream, says("Sure.\n"+romeText)), "Sure.\n", "get_weather", 10},
				"text":               {saying(f, stream, says("The file is there. Done.")), "The file is there. Done.", "", 10},
				"wrong again":        {saying(f, stream, says("Well.\n"+badCall)), "Let me look.\n" + badCall, "", 10},
				"broken off":         {broken(f, stream), "Let me look.\n" + badCall, "", 5},
				"an error":           {func(w http.ResponseWriter) { http.Error(w, "no", http.StatusInternalServerError) }, "Let me look.\n" + badCall, "", 5},
			} {
				t.Run(fmt.Sprintf("%s/stream=%v/%s", f.Name, stream, name), func(t *testing.T) {
					s := serve(t, scripted(t, first, tt.second), func(c *config.Config) {
						c.Server.UpstreamFormat, c.Server.OnInvalid = kinds[f], "retry"
					})
					reply, header := ask(t, s.URL, f, "m", stream, nil)
					if strings.TrimSpace(reply.Text()) != strings.TrimSpace(tt.text) || len(reply.Calls()) != strings.Count(tt.calls, "get_weather") {
						t.Errorf("%q and %s", reply.Text(), callsOf(reply))
					}
					if reply.Usage == nil || reply.Usage.InputTokens != tt.tokens {
						t.Errorf("usage %+v, want %d", reply.Usage, tt.tokens)
					}
					if header.Get("Callwright-Retries") != "1" {
						t.Errorf("%v", header)
					}
				})
			}
		}
	}
}

// TestRetryNeverMixes has any two answers follow each other.
func TestRetryNeverMixes(t *testing.T) {
	answer := func(t *rapid.T, mark string) (*adapters.Reply, []string) {
		var text strings.Builder
		var calls []string
		for range rapid.IntRange(0, 3).Draw(t, "parts") {
			switch rapid.IntRange(0, 2).Draw(t, "part") {
			case 0:
				text.WriteString(mark + " says something. ")
			case 1:
				text.WriteString("\n" + strings.Replace(badCall, "{}", `{"days": 1, "by": "`+mark+`"}`, 1) + "\n")
			case 2:
				calls = append(calls, `get_weather {"city":"`+mark+`","days":3}`)
			}
		}
		return says(text.String(), calls...), calls
	}
	url := ""
	var answers []func(http.ResponseWriter)
	n := 0
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		answers[min(n, len(answers)-1)](w)
		n++
	}))
	defer upstream.Close()
	url = serve(t, upstream.URL, func(c *config.Config) {
		c.Server.UpstreamFormat, c.Server.OnInvalid, c.Server.Retries = "openai", "retry", 2
		c.Server.Rescue = false // an empty answer is one here
	}).URL
	rapid.Check(t, func(rt *rapid.T) {
		stream := rapid.Bool().Draw(rt, "stream")
		answers, n = nil, 0
		for _, mark := range []string{"Anna", "Berta", "Clara"} {
			r, _ := answer(rt, mark)
			answers = append(answers, saying(openai.Chat, stream, r))
		}
		required := rapid.Bool().Draw(rt, "required")
		reply, _ := ask(t, url, openai.Chat, "m", stream, func(r *adapters.Request) {
			if required {
				r.ToolChoice.Mode = adapters.ToolRequired
			}
		})
		whole := reply.Text() + callsOf(reply)
		seen := 0
		for _, mark := range []string{"Anna", "Berta", "Clara"} {
			if strings.Contains(whole, mark) {
				seen++
			}
		}
		if seen > 1 {
			rt.Fatalf("several answers at once: %q %s", reply.Text(), callsOf(reply))
		}
		if reply.Usage == nil || reply.Usage.InputTokens != int64(5*n) {
			rt.Fatalf("usage %+v of %d requests", reply.Usage, n)
		}
	})
}

// TestOwnIDs checks that a reply has an id of the client's format that no other has,
// unless the server speaks the format itself.
func TestOwnIDs(t *testing.T) {
	prefixes := map[*adapters.Format]string{openai.Chat: "chatcmpl-", openai.Responses: "resp_", anthropic.Messages: "msg_"}
	for _, server := range []*adapters.Format{openai.Chat, anthropic.Messages} {
		url := start(t, &model{format: server, says: []*adapters.Reply{says("Hi. " + romeText)}}, nil)
		for front, prefix := range prefixes {
			seen := map[string]bool{}
			for _, stream := range []bool{false, true, false, true} {
				reply, _ := ask(t, url, front, "m", stream, nil)
				if front == server {
					if reply.ID != "r1" {
						t.Errorf("%s before itself: the id is %q", front.Name, reply.ID)
					}
					continue
				}
				if !strings.HasPrefix(reply.ID, prefix) || seen[reply.ID] {
					t.Errorf("%s before %s, stream=%v: the id is %q", front.Name, server.Name, stream, reply.ID)
				}
				seen[reply.ID] = true
			}
		}
	}
}
