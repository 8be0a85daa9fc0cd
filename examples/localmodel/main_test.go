package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestAnswer has a model server without tool calling say one thing after another.
func TestAnswer(t *testing.T) {
	says := []string{
		"Let me look.\n<tool_call>{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}</tool_call>",
		"<tool_call>{'name': 'get_weather', 'arguments': {'city': 'Rome', 'days': '2',}}</tool_call>",
		"24 degrees, and 25 tomorrow.",
	}
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			http.NotFound(w, r)
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if strings.Contains(string(body), `"tools"`) {
			http.Error(w, `{"error":{"message":"this model does not support tools"}}`, http.StatusBadRequest)
			return
		}
		asked = append(asked, string(body))
		content, err := json.Marshal(says[len(asked)-1])
		if err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"id":"c","model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":%s}}]}`, content)
	}))
	defer server.Close()
	got, err := answer(context.Background(), server.URL, "m", "How is the weather in Rome?")
	if err != nil || got != says[2] || len(asked) != 3 {
		t.Fatalf("%q %v %d", got, err, len(asked))
	}
	for i, want := range []string{"get_weather", "Rome and Oslo are known", "24,25"} {
		if !strings.Contains(asked[i], want) {
			t.Errorf("request %d does not have %q: %s", i+1, want, asked[i])
		}
	}
}
