package conformance

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/adapters"
)

// reply is what the model says: it thinks, speaks and calls twice.
func reply() *adapters.Reply {
	return &adapters.Reply{
		ID: "reply_1", Model: "model-1", Created: time.Unix(1_760_000_000, 0).UTC(),
		Choices: []adapters.Choice{{Finish: adapters.FinishCalls, Blocks: []adapters.Block{
			{Type: adapters.BlockReasoning, Text: "Two cities.", Signature: "c2lnbmF0dXJl"},
			{Type: adapters.BlockText, Text: "Let me look. 🌍"},
			{Type: adapters.BlockCall, Call: &adapters.Call{ID: "call_one", Name: "get_weather", Arguments: `{"city":"Zürich \"C\"","days":3}`}},
			{Type: adapters.BlockCall, Call: &adapters.Call{ID: "call_two", Name: "list_all", Arguments: ``}},
		}}},
		Usage: &adapters.Usage{InputTokens: 100, OutputTokens: 50, CachedTokens: 30, ReasoningTokens: 10},
	}
}

const (
	wantText    = "Let me look. 🌍"
	wantFirst   = `{"city":"Zürich \"C\"","days":3}`
	weatherSpec = `{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"}},"required":["city"]}`
)

// pieces are the events of a reply, its text and arguments a few runes at a time,
// as a model would stream them.
func pieces(r *adapters.Reply) []adapters.Event {
	var out []adapters.Event
	for _, e := range r.Events() {
		runes := []rune(e.Text)
		if e.Type == adapters.EventSignature || len(runes) == 0 {
			out = append(out, e)
			continue
		}
		for i := 0; i < len(runes); i += 3 {
			piece := e
			piece.Text, piece.New = string(runes[i:min(i+3, len(runes))]), e.New && i == 0
			out = append(out, piece)
		}
	}
	return out
}

// server answers each request with the reply, in a format; ask has the requests.
func server(
	t *testing.T, f *adapters.Format, isStream func(path string, r *adapters.Request) bool,
) (url string, ask chan *adapters.Request) {
	t.Helper()
	ask = make(chan *adapters.Request, 4)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
			return
		}
		request, err := f.DecodeRequest(body)
		if err != nil {
			t.Errorf("%s: %v\n%s", r.URL, err, body)
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		ask <- request
		if !isStream(r.URL.Path, request) {
			data, err := f.EncodeReply(reply())
			if err != nil {
				t.Error(err)
			}
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(data)
			return
		}
		w.Header().Set("Content-Type", f.ContentType)
		enc := f.NewEncoder(flusher{w})
		ping := func() { // a silence
			if err := enc.Event(adapters.Event{Type: adapters.EventPing, Model: "model-1"}); err != nil {
				t.Error(err)
			}
		}
		ping()
		for _, e := range pieces(reply()) {
			if err := enc.Event(e); err != nil {
				t.Error(err)
			}
			ping()
		}
		if err := enc.End(); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL, ask
}

type flusher struct{ http.ResponseWriter }

func (f flusher) Write(p []byte) (int, error) {
	n, err := f.ResponseWriter.Write(p)
	f.ResponseWriter.(http.Flusher).Flush()
	return n, err
}

func byRequest(_ string, r *adapters.Request) bool { return r.Stream }

// asked checks what a client asked: a conversation with a call and its result.
func asked(t *testing.T, r *adapters.Request, model string) {
	t.Helper()
	if r.Model != model {
		t.Errorf("model %q", r.Model)
	}
	var roles []string
	for i := range r.Messages {
		roles = append(roles, string(r.Messages[i].Role))
	}
	if got := strings.Join(roles, " "); got != "system user assistant tool" {
		t.Fatalf("roles: %s", got)
	}
	if r.Messages[0].Text() != "Be brief." || r.Messages[1].Text() != "Weather?" {
		t.Errorf("messages: %+v", r.Messages[:2])
	}
	calls := r.Messages[2].Calls()
	if len(calls) != 1 || calls[0].Name != "get_weather" || !same(t, calls[0].Arguments, `{"city":"Rome"}`) {
		t.Errorf("calls: %+v", calls)
	}
	result := r.Messages[3].Blocks[0].Result
	if result == nil || result.Text != "sunny" || result.CallID != calls[0].ID {
		t.Errorf("result: %+v of call %+v", result, calls[0])
	}
	if len(r.Tools) != 1 || r.Tools[0].Name != "get_weather" || r.Tools[0].Description != "The weather." ||
		!strings.Contains(string(r.Tools[0].Parameters), `"city"`) {
		t.Errorf("tools: %+v", r.Tools)
	}
}

func same(t *testing.T, a, b string) bool {
	t.Helper()
	var x, y any
	if err := json.Unmarshal([]byte(a), &x); err != nil {
		t.Errorf("%q: %v", a, err)
		return false
	}
	if err := json.Unmarshal([]byte(b), &y); err != nil {
		t.Fatal(err)
	}
	p, _ := json.Marshal(x)
	q, _ := json.Marshal(y)
	return string(p) == string(q)
}

// said checks what a client understood.
func said(t *testing.T, text, first, second string, names ...string) {
	t.Helper()
	if text != wantText {
		t.Errorf("text: %q", text)
	}
	if !same(t, first, wantFirst) || !same(t, second, "{}") {
		t.Errorf("arguments: %q, %q", first, second)
	}
	if got := strings.Join(names, " "); got != "get_weather list_all" {
		t.Errorf("names: %s", got)
	}
}
