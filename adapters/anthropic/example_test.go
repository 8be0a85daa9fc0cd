package anthropic_test

import (
	"fmt"

	"github.com/callwright/callwright/adapters/anthropic"
)

func Example() {
	reply, err := anthropic.Messages.DecodeReply([]byte(`{"type": "message", "role": "assistant", "model": "m", "stop_reason": "tool_use",
		"content": [{"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": {"city": "Rome"}}]}`))
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
