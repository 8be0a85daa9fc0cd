package call_test

import (
	"encoding/json"
	"fmt"

	"github.com/callwright/callwright/call"
)

// A call as it stands in results and in JSON.
func ExampleCall() {
	c := call.Call{ID: "call_1", Tool: "get_weather", Parameters: map[string]any{"city": "Rome"}, Provenance: call.Marked, SourceFormat: "hermes"}
	b, err := json.Marshal(map[string]any{"tool": c.Tool, "parameters": c.Parameters, "provenance": c.Provenance})
	if err != nil {
		panic(err)
	}
	fmt.Println(string(b))
	// Output: {"parameters":{"city":"Rome"},"provenance":"marked","tool":"get_weather"}
}
