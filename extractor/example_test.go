package extractor_test

import (
	"fmt"

	"github.com/callwright/callwright/extractor"
)

// The best of the values in a text, read through what is broken.
func ExampleSelectBest() {
	found := extractor.ExtractAll("Here you are:\n```json\n{tool: \"add\", \"a\": 1,}\n```", extractor.Options{})
	best, ok := extractor.SelectBest(found)
	fmt.Println(ok, best.Value, best.Repairs)
	// Output: true map[a:1 tool:add] [trailing_comma unquoted_key]
}
