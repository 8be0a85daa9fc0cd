package openapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/callwright/callwright/dispatch"
	"github.com/callwright/callwright/dispatch/openapi"
)

var update = flag.Bool("update", false, "write the golden file")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func document(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// allow allows everything: the tests are not about the policy.
func allow(t testing.TB, tools []dispatch.Tool) *dispatch.Dispatcher {
	t.Helper()
	d := &dispatch.Dispatcher{Policy: dispatch.Policy{Rules: []dispatch.Rule{{Do: dispatch.Allow}}}}
	if err := d.Add(tools...); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestTools(t *testing.T) {
	doc, err := openapi.Parse(document(t, "shop.yaml"), openapi.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if doc.BaseURL != "https://shop.example/v1" || doc.Title != "Shop" {
		t.Errorf("%q %q", doc.BaseURL, doc.Title)
	}
	d := allow(t, doc.Tools)
	var got strings.Builder
	for _, tool := range d.Tools() {
		schema, err := json.MarshalIndent(tool.Parameters, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		hints, err := json.Marshal(tool.Hints)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&got, "%s\n%s\n%s\n%s\n\n", d.Registry().Get(tool.Name).Signature(), tool.Description, hints, schema)
		if w := d.Registry().Get(tool.Name).Warnings(); len(w) > 0 {
			t.Errorf("%s: %v", tool.Name, w)
		}
	}
	for _, s := range doc.Skipped {
		fmt.Fprintf(&got, "skipped %s\n", s)
	}
	if *update {
		if err := os.WriteFile("testdata/shop.want", []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(string(document(t, "shop.want")), got.String()); diff != "" {
		t.Error(diff)
	}
}

// TestRequests holds what is sent for a call.
func TestRequests(t *testing.T) {
	var got string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got = fmt.Sprintf("%s %s", r.Method, r.URL.RequestURI())
		for _, h := range []string{"X-Trace", "Cookie", "Content-Type", "Authorization"} {
			if v := r.Header.Get(h); v != "" {
				got += fmt.Sprintf(" %s=%s", h, v)
			}
		}
		if len(body) > 0 {
			got += " " + string(body)
		}
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_, _ = io.WriteString(w, `{"id": 9007199254740993}`)
	}))
	defer server.Close()
	doc, err := openapi.Parse(document(t, "shop.yaml"), openapi.Options{
		BaseURL: server.URL + "/v1/", Header: http.Header{"Authorization": {"Bearer secret"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	d := allow(t, doc.Tools)
	for _, tt := range []struct{ tool, args, want string }{
		{"getItem", `{"id": "a/b c", "id_query": "x"}`, "GET /v1/items/a%2Fb%20c?id=x Authorization=Bearer secret"},
		{"getItem", `{"id": ".."}`, "!invalid: id: \"..\" cannot stand in the address"},
		{"getItem", `{}`, "!rejected"},
		{
			"listItems", `{"tags": ["a b", "c"], "ids": [1, 2], "near": {"lat": 1.5, "lon": 2}, "limit": "10", "X-Trace": "t", "session": "s 1"}`,
			"GET /v1/items?limit=10&tags=a+b&tags=c&ids=1,2&near[lat]=1.5&near[lon]=2 X-Trace=t Cookie=session=s+1 Authorization=Bearer secret",
		},
		{"listItems", `{"filter": {"color": "red & blue"}}`, "GET /v1/items?filter=%7B%22color%22%3A%22red+%26+blue%22%7D&limit=20 Authorization=Bearer secret"},
		{"createItem", `{"name": "n", "price": "9.50"}`, `POST /v1/items Content-Type=application/json Authorization=Bearer secret {"name":"n","price":9.50}`},
		{"createItem", `{"name": "n", "price": null, "id": "mine"}`, `POST /v1/items Content-Type=application/json Authorization=Bearer secret {"name":"n","price":null}`},
		{"post_items_id_notes", `{"id": "7", "body": "a note"}`, `POST /v1/items/7/notes Content-Type=text/plain Authorization=Bearer secret a note`},
		{"updateItem", `{"id": "7", "body": {"id": "x", "name": "n"}}`, `PUT /v1/items/7 Content-Type=application/merge-patch+json Authorization=Bearer secret {"id":"x","name":"n"}`},
		{"login", `{"user": "a&b", "scopes": ["x", "y"]}`, `POST /v1/login Content-Type=application/x-www-form-urlencoded Authorization=Bearer secret scopes=x&scopes=y&user=a%26b`},
		{"deleteItem", `{"id": "7"}`, "DELETE /v1/items/7 Authorization=Bearer secret"},
		{"matrix", `{"a": ["x", "y"], "b": {"r": 1, "g": 2}, "c": [3, 4]}`, "GET /v1/m/;a=x;a=y/;g=2;r=1/.3.4 Authorization=Bearer secret"},
	} {
		var args map[string]any
		dec := json.NewDecoder(strings.NewReader(tt.args))
		dec.UseNumber()
		if err := dec.Decode(&args); err != nil {
			t.Fatal(err)
		}
		got = ""
		r := d.Call(context.Background(), tt.tool, args, nil)
		if r.Err != nil {
			got = "!" + strings.TrimPrefix(strings.SplitN(r.Err.Error(), "\n", 2)[0], tt.tool+": ")
			got, _, _ = strings.Cut(got, ": The call")
		} else if m, ok := r.Value.(map[string]any); !ok || m["id"] != json.Number("9007199254740993") {
			t.Errorf("%s: %v", tt.tool, r.Value)
		}
		if tt.want != got {
			t.Errorf("%s %s:\n%s, want\n%s", tt.tool, tt.args, got, tt.want)
		}
	}
}

// TestAnswers holds what becomes of a server's answers.
func TestAnswers(t *testing.T) {
	var status int
	var contentType, body string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if contentType != "" {
			w.Header().Set("Content-Type", contentType)
		}
		if status == http.StatusFound {
			w.Header().Set("Location", "https://elsewhere.example/")
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	doc, err := openapi.Parse(document(t, "shop.yaml"), openapi.Options{BaseURL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	d := allow(t, doc.Tools)
	for _, tt := range []struct {
		status    int
		kind      string
		body      string
		want      string
		transient bool
	}{
		{200, "application/json", `{"a": 1}`, `{"a": 1}`, false},
		{200, "application/problem+json", `{"a": 1}`, `{"a": 1}`, false},
		{200, "application/json", `not JSON`, "not JSON", false},
		{200, "text/html", `<p>`, "<p>", false},
		{200, "image/png", "\x89PNG", "", false},
		{200, "application/pdf", "%PDF", "[application/pdf, 4 bytes, not shown]", false},
		{204, "", "", "done", false},
		{302, "text/plain", "moved", "!failed: HTTP 302 Found (to https://elsewhere.example/, which is not followed): moved", false},
		{404, "application/json", `{"error": "no such item"}`, `!failed: HTTP 404 Not Found: {"error": "no such item"}`, false},
		{500, "text/plain", strings.Repeat("x", 5000), "!failed: HTTP 500 Internal Server Error: " + strings.Repeat("x", 2048) + "…", false},
		{503, "", "", "!failed: HTTP 503 Service Unavailable", true},
		{429, "", "", "!failed: HTTP 429 Too Many Requests", true},
		{200, "text/plain", strings.Repeat("x", 9<<20), "!failed: the answer is larger than 8388608 bytes", false},
	} {
		status, contentType, body = tt.status, tt.kind, tt.body
		r := d.Call(context.Background(), "deleteItem", map[string]any{"id": "7"}, nil)
		got := r.Text
		if r.Err != nil {
			got = "!" + strings.TrimPrefix(r.Err.Error(), "deleteItem: ")
			if dispatch.IsTransient(r.Err) != tt.transient {
				t.Errorf("%d: transient %v", tt.status, !tt.transient)
			}
		}
		if got != tt.want {
			t.Errorf("%d %s: %q, want %q", tt.status, tt.kind, got, tt.want)
		}
		if tt.kind == "image/png" && (len(r.Media) != 1 || r.Media[0].Data != "iVBORw==" && r.Media[0].Data != "iVBORw") {
			t.Errorf("%+v", r.Media)
		}
	}
	server.Close()
	r := d.Call(context.Background(), "deleteItem", map[string]any{"id": "7"}, nil)
	if r.Err == nil || r.Err.Code != dispatch.CodeUnavailable || strings.Contains(r.Err.Message, "127.0.0.1") {
		t.Error(r.Err)
	}
}

func TestErrors(t *testing.T) {
	head := "openapi: 3.0.3\ninfo: {title: T, version: '1'}\n"
	for want, tt := range map[string]struct {
		doc string
		o   openapi.Options
	}{
		"not an OpenAPI document":  {"[1, 2]", openapi.Options{BaseURL: "http://x"}},
		"of version 3":             {"swagger: '2.0'\ninfo: {title: T, version: '1'}\npaths: {}", openapi.Options{BaseURL: "http://x"}},
		"names no server":          {head + "paths: {}", openapi.Options{}},
		"is link-local":            {head + "servers: [{url: 'http://169.254.169.254/'}]\npaths: {}", openapi.Options{}},
		"to a base URL only":       {head + "servers: [{url: 'http://x/'}]\npaths: {}", openapi.Options{Header: http.Header{"X": {"y"}}}},
		"disallowed external ref":  {head + "paths: {/a: {get: {responses: {}, parameters: [{$ref: 'file:///etc/passwd'}]}}}", openapi.Options{BaseURL: "http://x"}},
		"disallowed external refe": {head + "paths: {/a: {get: {responses: {}, parameters: [{name: a, in: query, schema: {$ref: 'http://x/y'}}]}}}", openapi.Options{BaseURL: "http://x"}},
	} {
		if doc, err := openapi.Parse([]byte(tt.doc), tt.o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q (%+v)", err, want, doc)
		}
	}
	if _, err := openapi.Parse(make([]byte, 17<<20), openapi.Options{}); !errors.Is(err, openapi.ErrTooLarge) {
		t.Error(err)
	}
	doc, err := openapi.Parse(document(t, "shop.yaml"), openapi.Options{Only: []string{"get*", "deleteItem"}})
	if err != nil || len(doc.Tools) != 2 {
		t.Error(len(doc.Tools), err)
	}
}

func ExampleParse() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"city": %q, "degrees": 21}`, r.URL.Query().Get("city"))
	}))
	defer server.Close()
	doc, err := openapi.Parse([]byte(`
openapi: 3.1.0
info: {title: Weather, version: "1"}
paths:
  /today:
    get:
      operationId: get_weather
      parameters: [{name: city, in: query, required: true, schema: {type: string}}]
      responses: {}
`), openapi.Options{BaseURL: server.URL})
	if err != nil {
		fmt.Println(err)
		return
	}
	var d dispatch.Dispatcher
	if err := d.Add(doc.Tools...); err != nil {
		fmt.Println(err)
		return
	}
	r := d.Call(context.Background(), "get_weather", map[string]any{"city": "Rome"}, nil)
	fmt.Println(r.Text)
	// Output: {"city": "Rome", "degrees": 21}
}
