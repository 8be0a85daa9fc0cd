package interceptor_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/callwright/callwright/adapters/openai"
	"github.com/callwright/callwright/config"
	"github.com/callwright/callwright/interceptor"
)

// A model server that writes calls into the text gets a proxy that makes calls of them.
func Example() {
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"id":"c","model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant",
			"content":"<tool_call>{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Rome\",}}</tool_call>"}}]}`)
	}))
	defer upstream.Close()
	c := config.Default()
	c.Server.Upstream, c.Server.UpstreamFormat = upstream.URL, "openai"
	handler, err := interceptor.New(c, interceptor.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer handler.Close()
	proxy := httptest.NewServer(handler)
	defer proxy.Close()

	response, err := http.Post(proxy.URL+"/v1/chat/completions", "application/json", strings.NewReader(`{"model": "m",
		"messages": [{"role": "user", "content": "Weather in Rome?"}],
		"tools": [{"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer response.Body.Close()
	body, _ := io.ReadAll(response.Body)
	reply, err := openai.Chat.DecodeReply(body)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(reply.Calls()[0].Name, reply.Calls()[0].Arguments)
	fmt.Println(response.Header.Get("Callwright-Dialect"), reply.First().Finish)
	// Output:
	// get_weather {"city":"Rome"}
	// hermes tool_calls
}
