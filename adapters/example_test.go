package adapters_test

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/anthropic"
	"github.com/callwright/callwright/adapters/openai"
)

// A request of one format is written in another: the system's message moves to its own
// member, the tool's schema gets its other name.
func Example() {
	request, err := openai.Chat.DecodeRequest([]byte(`{"model": "m", "max_tokens": 100,
		"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Weather in Rome?"}],
		"tools": [{"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	body, err := anthropic.Messages.EncodeRequest(request)
	fmt.Println(strings.ReplaceAll(string(body), ",\"", ",\n\""), err)
	// Output:
	// {"model":"m",
	// "max_tokens":100,
	// "system":"Be brief.",
	// "messages":[{"role":"user",
	// "content":"Weather in Rome?"}],
	// "tools":[{"name":"get_weather",
	// "input_schema":{"type": "object"}}]} <nil>
}

// A stream is read event by event.
func ExampleFormat_DecodeStream() {
	stream := `data: {"id":"c1","choices":[{"index":0,"delta":{"content":"Let me "}}]}

data: {"id":"c1","choices":[{"index":0,"delta":{"content":"look."}}]}

data: {"id":"c1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}

data: [DONE]

`
	for event, err := range openai.Chat.DecodeStream(strings.NewReader(stream), adapters.Limits{}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s %q\n", event.Type, event.Text+string(event.Finish))
	}
	// Output:
	// start ""
	// text "Let me "
	// text "look."
	// finish "stop"
}

// A whole reply is written as a stream of another format.
func ExampleFormat_EncodeStream() {
	reply := &adapters.Reply{Model: "m", Choices: []adapters.Choice{{
		Blocks: []adapters.Block{{Type: adapters.BlockText, Text: "Hello."}}, Finish: adapters.FinishStop,
	}}}
	var b bytes.Buffer
	err := anthropic.Messages.EncodeStream(&b, reply)
	for line := range strings.Lines(b.String()) {
		if event, ok := strings.CutPrefix(line, "event: "); ok {
			fmt.Print(event)
		}
	}
	fmt.Println(err)
	// Output:
	// message_start
	// content_block_start
	// content_block_delta
	// content_block_stop
	// message_delta
	// message_stop
	// <nil>
}
