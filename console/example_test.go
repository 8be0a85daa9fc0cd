package console_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"

	"github.com/callwright/callwright/console"
	"github.com/callwright/callwright/parser"
)

func ExampleExplain() {
	x, err := console.Explain(context.Background(), &console.Request{
		Text:  `One moment. <tool_call>{"name": "lookup_word", "arguments": {"word": "tern"}}</tool_call>`,
		Tools: json.RawMessage(`[{"name": "lookup_word", "parameters": {"type": "object", "properties": {"word": {"type": "string"}}}}]`),
	}, parser.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range x.Segments {
		fmt.Printf("%-8s %q\n", s.Kind, s.Text)
	}
	// Output:
	// content  "One moment."
	// dropped  " "
	// called   "<tool_call>{\"name\": \"lookup_word\", \"arguments\": {\"word\": \"tern\"}}"
	// dropped  "</tool_call>"
}
