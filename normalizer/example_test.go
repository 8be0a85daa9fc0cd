package normalizer_test

import (
	"fmt"

	"github.com/callwright/callwright/normalizer"
)

// One call in the shape of OpenAI's API.
func ExampleDetect() {
	found := normalizer.Detect(map[string]any{
		"type": "function", "function": map[string]any{"name": "get_weather", "arguments": `{"city": "Rome"}`},
	}, normalizer.Options{Marked: true})
	fmt.Println(found.Format, found.Entries[0].Name, found.Entries[0].Arguments)
	// Output: openai_function_call get_weather map[city:Rome]
}
