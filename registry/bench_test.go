package registry_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/callwright/callwright/registry"
)

// definitions are n tools in OpenAI's format, 480 bytes each.
func definitions(n int) []byte {
	var b strings.Builder
	b.WriteString("[")
	for i := range n {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, `{"type":"function","function":{"name":"tool_%d","description":"Does a thing, number %d, with some words","parameters":
			{"type":"object","properties":{"city":{"type":"string","description":"The city to look at"},"days":{"type":"integer","minimum":1,
			"maximum":7,"description":"How many days"},"unit":{"type":"string","enum":["c","f"]},"opts":{"type":"object","properties":
			{"a":{"type":"boolean"},"b":{"type":"array","items":{"type":"string"}}}}},"required":["city"]}}}`, i, i)
	}
	b.WriteString("]")
	return []byte(b.String())
}

// BenchmarkNew reads the definitions of so many tools, makes a registry and asks for one
// tool's schema.
func BenchmarkNew(b *testing.B) {
	for _, n := range []int{1, 100, 10_000} {
		data := definitions(n)
		b.Run(fmt.Sprintf("tools=%d", n), func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				tools, err := registry.Parse(data)
				if err != nil {
					b.Fatal(err)
				}
				r, err := registry.New(tools...)
				if err != nil {
					b.Fatal(err)
				}
				if r.Get("tool_0").Schema() == nil {
					b.Fatal("no schema")
				}
			}
		})
		b.Run(fmt.Sprintf("tools=%d/encoding_json", n), func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				var v any
				if err := json.Unmarshal(data, &v); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkLookup(b *testing.B) {
	tools, err := registry.Parse(definitions(1000))
	if err != nil {
		b.Fatal(err)
	}
	r, err := registry.New(tools...)
	if err != nil {
		b.Fatal(err)
	}
	for _, name := range []string{"tool_500", "functions.tool_500:3", "Tool500", "no_such_tool"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r.Lookup(name)
			}
		})
	}
}
