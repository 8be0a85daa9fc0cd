package formats_test

import (
	"fmt"
	"strings"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/formats"
)

// A reply is read without being told its format.
func ExampleRead() {
	body := []byte(`{"type": "message", "role": "assistant", "content": [{"type": "text", "text": "Hello."}], "stop_reason": "end_turn"}`)
	reply, err := formats.Read(nil, body, adapters.Limits{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(reply.Format, reply.Text(), reply.First().Finish)
	// Output: anthropic_messages Hello. stop
}

// A stream's format is detected by its first message.
func ExampleOpen() {
	body := strings.NewReader(`{"model":"m","message":{"role":"assistant","content":"Hello."},"done":false}
{"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop"}
`)
	stream, err := formats.Open(body, adapters.Limits{})
	if err != nil || stream.Format == nil {
		fmt.Println("not a stream of a known format", err)
		return
	}
	fmt.Println(stream.Format.Name)
	for event, err := range stream.Events(stream.Format) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s %q\n", event.Type, event.Text)
	}
	// Output:
	// ollama_chat
	// start ""
	// text "Hello."
	// finish ""
}

func ExampleResolve() {
	reply := []byte(`{"object": "response", "status": "completed", "output": []}`)
	fmt.Println(formats.Resolve("openai", reply).Name, formats.Resolve("gemini-generate", nil).Name)
	fmt.Println(formats.Resolve("openai", []byte("plain text")) == nil)
	// Output:
	// openai_responses gemini_generate
	// true
}
