package gemini_test

import (
	"fmt"

	"github.com/callwright/callwright/adapters/gemini"
)

func Example() {
	reply, err := gemini.Generate.DecodeReply([]byte(`{"candidates": [{"finishReason": "STOP", "content": {"role": "model",
		"parts": [{"functionCall": {"name": "get_weather", "args": {"city": "Rome"}}}]}}]}`))
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
