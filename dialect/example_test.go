package dialect_test

import (
	"fmt"

	"github.com/callwright/callwright/dialect"
)

// A dialect from a file, and what is said of a mistake in it.
func ExampleParse() {
	set, err := dialect.Parse([]byte("dialects:\n  - name: acme\n    open: [\"<<call>>\"]\n    close: [\"<<end>>\"]\n    body: json\n"))
	fmt.Println(len(set.Dialects), err)
	_, err = dialect.Parse([]byte("dialects:\n  - name: acme\n    open: [\"<<call>>\"]\n    body: jsn\n"))
	fmt.Println(err)
	// Output:
	// 1 <nil>
	// line 4: dialect "acme": field "body": must be one of the eight bodies, not "jsn"
}

// A call written as Hermes and Qwen read it.
func ExampleWriter() {
	row, _ := dialect.Lookup("hermes")
	w, ok := row.Writer()
	fmt.Println(ok)
	fmt.Println(w.Call("get_weather", `{"city": "Rome"}`))
	// Output:
	// true
	// <tool_call>
	// {"name": "get_weather", "arguments": {"city":"Rome"}}
	// </tool_call>
}
