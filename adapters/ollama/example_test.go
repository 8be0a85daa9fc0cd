package ollama_test

import (
	"fmt"

	"github.com/callwright/callwright/adapters/ollama"
)

func Example() {
	reply, err := ollama.Chat.DecodeReply([]byte(`{"model": "m", "done": true, "message": {"role": "assistant", "content": "",
		"tool_calls": [{"function": {"name": "get_weather", "arguments": {"city": "Rome"}}}]}}`))
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
