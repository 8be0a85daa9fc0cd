package mistral_test

import (
	"fmt"

	"github.com/callwright/callwright/adapters/mistral"
)

func Example() {
	reply, err := mistral.Chat.DecodeReply([]byte(`{"id": "r1", "choices": [{"index": 0, "finish_reason": "tool_calls",
		"message": {"role": "assistant", "content": null,
		"tool_calls": [{"id": "abcDEF123", "type": "function", "function": {"name": "get_weather", "arguments": "{\"city\": \"Rome\"}"}}]}}]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, call := range reply.Calls() {
		fmt.Println(call.Name, call.Arguments)
	}
	fmt.Println(reply.First().Finish)
	// Output:
	// get_weather {"city": "Rome"}
	// tool_calls
}
