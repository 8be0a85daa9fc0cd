package bedrock_test

import (
	"fmt"

	"github.com/callwright/callwright/adapters/bedrock"
)

func Example() {
	reply, err := bedrock.Converse.DecodeReply([]byte(`{"stopReason": "tool_use", "output": {"message": {"role": "assistant",
		"content": [{"toolUse": {"toolUseId": "tooluse_1", "name": "get_weather", "input": {"city": "Rome"}}}]}}}`))
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
