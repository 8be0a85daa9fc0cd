package config_test

import (
	"fmt"

	"github.com/callwright/callwright/config"
	"github.com/callwright/callwright/parser"
)

// A parser is made as callwright.yaml says.
func Example() {
	c, err := config.Parse("callwright.yaml", []byte("parser:\n  strict_mode: true\nextraction:\n  priority: precise\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	tools, err := c.Registry(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	parts, err := c.Parts(nil, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = parser.New(tools, parts.Options)
	fmt.Println(parts.Options.MinConfidence, err)
	// Output: 0.8 <nil>
}

func ExampleParse() {
	_, err := config.Parse("callwright.yaml", []byte("parser:\n  timeout: 5"))
	fmt.Println(err)
	// Output: callwright.yaml:2: parser.timeout: there is no such option
}
