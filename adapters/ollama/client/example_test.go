package client_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/callwright/callwright/adapters/ollama/client"
	"github.com/callwright/callwright/fallback"
)

func Example() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"model":"m","message":{"role":"assistant","content":"{\"calls\": []}"},"done":true,"done_reason":"stop"}`)
	}))
	defer server.Close()
	model, err := client.New(server.URL, "qwen3:0.6b")
	if err != nil {
		fmt.Println(err)
		return
	}
	answer, err := model.Complete(context.Background(), fallback.Prompt{System: "Repair the call.", User: "…", MaxTokens: 100})
	fmt.Println(answer, err)
	// Output: {"calls": []} <nil>
}
