package console

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/callwright/callwright/parser"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const token = "a token of the test"

func handler(t *testing.T) *Handler {
	t.Helper()
	h, err := NewHandler(Options{Token: token, Version: `<v1>`, Hosts: []string{"console.example"}})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// ask sends a request with the headers, as pairs of name and value.
func ask(h http.Handler, method, path, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(context.Background(), method, path, strings.NewReader(body))
	r.Host = "127.0.0.1:8791"
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
			continue
		}
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestRoutes(t *testing.T) {
	h := handler(t)
	const json = "application/json"
	for _, tt := range []struct {
		name, method, path, body string
		headers                  []string
		status                   int
		want                     string
	}{
		{"page", "GET", Prefix, "", nil, 200, "&lt;v1&gt;"},
		{"dialects", "GET", Prefix, "", nil, 200, "<option>hermes</option>"},
		{"script", "GET", Prefix + "app.js", "", nil, 200, "textContent"},
		{"style", "GET", Prefix + "app.css", "", nil, 200, "prefers-color-scheme"},
		{"icon", "GET", Prefix + "icon.svg", "", nil, 200, "<svg"},
		{"other path", "GET", Prefix + "page/index.html", "", nil, 404, ""},
		{"by its name", "GET", Prefix, "", []string{"Host", "console.example:80"}, 200, ""},
		{"localhost", "GET", Prefix, "", []string{"Host", "LocalHost:1"}, 200, ""},
		{"IPv6", "GET", Prefix, "", []string{"Host", "[::1]:8791"}, 200, ""},
		{"a name that resolves to this machine", "GET", Prefix, "", []string{"Host", "attacker.example"}, 403, ""},
		{"a link from elsewhere", "GET", Prefix, "", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"}, 200, ""},
		{"a script from elsewhere", "GET", Prefix + "app.js", "", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors"}, 403, ""},
		{"explain", "POST", Prefix + "api/explain", `{"text": "hello"}`, []string{TokenHeader, token, "Content-Type", json}, 200, `"segments":[{"kind":"content"`},
		{"no token", "POST", Prefix + "api/explain", `{"text": "hello"}`, []string{"Content-Type", json}, 401, "no valid token"},
		{"wrong token", "POST", Prefix + "api/explain", `{}`, []string{TokenHeader, token + "x", "Content-Type", json}, 401, "no valid token"},
		{"a form", "POST", Prefix + "api/explain", `{}`, []string{TokenHeader, token, "Content-Type", "text/plain"}, 415, ""},
		{"another origin", "POST", Prefix + "api/explain", `{}`, []string{TokenHeader, token, "Content-Type", json, "Origin", "http://127.0.0.1:9"}, 403, ""},
		{"no origin", "POST", Prefix + "api/explain", `{}`, []string{TokenHeader, token, "Content-Type", json, "Origin", "null"}, 403, ""},
		{
			"its own origin", "POST", Prefix + "api/explain", `{}`,
			[]string{TokenHeader, token, "Content-Type", json, "Origin", "http://127.0.0.1:8791", "Sec-Fetch-Site", "same-origin"},
			200, "",
		},
		{"broken", "POST", Prefix + "api/explain", `{`, []string{TokenHeader, token, "Content-Type", json}, 400, "not JSON"},
		{"tools", "POST", Prefix + "api/explain", `{"tools": 3}`, []string{TokenHeader, token, "Content-Type", json}, 422, "tools cannot be read"},
		{
			"too large", "POST", Prefix + "api/explain", `{"text": "` + strings.Repeat("a", MaxRequestBytes) + `"}`,
			[]string{TokenHeader, token, "Content-Type", json},
			413, "larger than",
		},
		{"by GET", "GET", Prefix + "api/explain", "", []string{TokenHeader, token}, 405, ""},
	} {
		w := ask(h, tt.method, tt.path, tt.body, tt.headers...)
		if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.want) {
			t.Errorf("%s: status %d, %.300s", tt.name, w.Code, w.Body)
		}
		if got := w.Header().Get("Content-Security-Policy"); got != securityPolicy || w.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %v", tt.name, w.Header())
		}
		if strings.Contains(w.Body.String(), token) {
			t.Errorf("%s: the answer has the token", tt.name)
		}
	}
	if _, err := NewHandler(Options{}); !errors.Is(err, ErrToken) {
		t.Error(err)
	}
	if a, b := NewToken(), NewToken(); len(a) < 22 || a == b {
		t.Error(a, b)
	}
}

// TestAssets holds the page small, and free of all that could make markup of a text or ask
// another server.
func TestAssets(t *testing.T) {
	const most = 200 << 10
	forbidden := regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|DOMParser|srcdoc|` +
		`\son[a-z]+\s*=\s*["']|\sstyle=|javascript:|https?://`)
	total := 0
	err := fs.WalkDir(assets, "page", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(assets, path)
		total += len(data)
		source := strings.ReplaceAll(string(data), "http://www.w3.org/2000/svg", "") // the name of a namespace
		if found := forbidden.FindString(source); found != "" {
			t.Errorf("%s has %q", path, found)
		}
		return err
	})
	if err != nil || total == 0 || total > most {
		t.Errorf("%d bytes, %v", total, err)
	}
}

// TestEvents replays a text in pieces of each size: the same calls come, no later than the
// piece that ends them.
func TestEvents(t *testing.T) {
	text := `Moment. <tool_call>{"name": "get_weather", "arguments": {"city": "ローマ"}}</tool_call> Done.`
	for _, piece := range []int{1, 6, 16, -1, 0} {
		x := explained(t, Request{Text: text, Tools: tools(t), Piece: piece})
		if n := len(x.Pieces); n == 0 || x.Pieces[n-1] != len(text) {
			t.Fatalf("pieces of %d: %v", piece, x.Pieces)
		}
		calls, last := 0, 0
		for _, e := range x.Events {
			if e.At < last || e.At > len(text) {
				t.Errorf("pieces of %d: an event at %d behind one at %d", piece, e.At, last)
			}
			last = e.At
			if e.Call != nil {
				calls++
				if end := strings.Index(text, "</tool_call>") + len("</tool_call>"); piece == 1 && e.At > end {
					t.Errorf("the call is told at %d, its end is at %d", e.At, end)
				}
			}
		}
		if calls != 1 || len(x.Result.Calls) != 1 || x.Tools == 0 {
			t.Errorf("pieces of %d: %d calls", piece, calls)
		}
	}
}

func TestEventJSON(t *testing.T) {
	x := explained(t, Request{Text: strings.Repeat("a b ", MaxEvents), Piece: 1})
	if len(x.Events) != MaxEvents {
		t.Errorf("%d events", len(x.Events))
	}
	data, err := json.Marshal(Event{At: 3, Event: parser.Event{Type: parser.EventContent, Text: "x"}})
	if err != nil || string(data) != `{"at":3,"type":"content","text":"x"}` {
		t.Errorf("%s, %v", data, err)
	}
}

// TestBusy refuses texts when there are too many at once.
func TestBusy(t *testing.T) {
	h := handler(t)
	for range maxExplaining {
		h.slots <- struct{}{}
	}
	headers := []string{TokenHeader, token, "Content-Type", "application/json"}
	if w := ask(h, "POST", Prefix+"api/explain", `{}`, headers...); w.Code != http.StatusServiceUnavailable {
		t.Error(w.Code)
	}
	for range maxExplaining {
		<-h.slots
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if w := ask(h, "POST", Prefix+"api/explain", `{"text": "<tool_call>"}`, headers...); w.Code != 200 && w.Code != 503 {
				t.Errorf("%d: %s", w.Code, w.Body)
			}
		})
	}
	all.Wait()
}

// FuzzExplain explains any request: there is an answer, and its segments add up.
func FuzzExplain(f *testing.F) {
	definitions := tools(f)
	f.Add(`<think>x</think> {"name": "get_weather"} <tool_call>`, 3)
	f.Add("[get_weather(city='a'), f()]\x00\xff", -1)
	f.Fuzz(func(t *testing.T, text string, piece int) {
		if len(text) > 1<<12 {
			return
		}
		x, err := Explain(context.Background(), &Request{Text: text, Tools: definitions, Piece: piece}, parser.Options{})
		if err != nil {
			t.Fatal(err)
		}
		checkSegments(t, text, x)
	})
}
