package cohere_test

import (
	"fmt"

	"github.com/callwright/callwright/adapters/cohere"
)

func Example() {
	reply, err := cohere.Chat.DecodeReply([]byte(`{"id": "r1", "finish_reason": "TOOL_CALL", "message": {"role": "assistant",
		"tool_calls": [{"id": "abcDEF123", "type": "function", "function": {"name": "get_weather", "arguments": "{\"city\": \"Rome\"}"}}]}}`))
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
