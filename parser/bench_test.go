package parser_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/callwright/callwright/parser"
	"github.com/callwright/callwright/registry"
)

func benchParser(b *testing.B) *parser.Parser {
	b.Helper()
	data, err := os.ReadFile(root + "/tools.json")
	if err != nil {
		b.Fatal(err)
	}
	tools, err := registry.Parse(data)
	if err != nil {
		b.Fatal(err)
	}
	r, err := registry.New(tools...)
	if err != nil {
		b.Fatal(err)
	}
	p, err := parser.New(r, parser.Options{Timeout: -1})
	if err != nil {
		b.Fatal(err)
	}
	return p
}

// prose is text without a call.
func prose(size int) string {
	return strings.Repeat("The weather in Rome is mild in autumn, and the light is golden. You may want to bring a coat\nfor the evenings, which grow cool after sunset; the days are long enough for a walk.\n\n", size/170+1)[:size]
}

func code(size int) string {
	return strings.Repeat("func f(a, b int) string {\n\tif a < b { return \"x\\\\y\" }\n\treturn fmt.Sprint(a, b)\n}\n", size/80+1)[:size]
}

func hermesCall(size int) string {
	b, err := json.Marshal(map[string]any{"name": "write_file", "arguments": map[string]any{"path": "main.go", "content": code(size)}})
	if err != nil {
		panic(err)
	}
	return "<tool_call>\n" + string(b) + "\n</tool_call>"
}

func coderCall(size int) string {
	return "<tool_call>\n<function=write_file>\n<parameter=path>\nmain.go\n</parameter>\n<parameter=content>\n" + code(size) + "\n</parameter>\n</function>\n</tool_call>"
}

func BenchmarkParse(b *testing.B) {
	p := benchParser(b)
	small := `<tool_call>{"name": "get_weather", "arguments": {"city": "Rome", "days": 3}}</tool_call>`
	for _, in := range []struct{ name, text string }{
		{"prose_64KB", prose(64 << 10)}, {"small_call", small}, {"call_json_64KB", hermesCall(64 << 10)}, {"call_params_64KB", coderCall(64 << 10)},
	} {
		b.Run(in.name, func(b *testing.B) {
			b.SetBytes(int64(len(in.text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.Parse(context.Background(), in.text, parser.Context{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	// The yardstick: what decoding the arguments alone takes.
	arguments := []byte(strings.TrimSuffix(strings.TrimPrefix(hermesCall(64<<10), "<tool_call>\n"), "\n</tool_call>"))
	b.Run("encoding_json_64KB", func(b *testing.B) {
		b.SetBytes(int64(len(arguments)))
		for b.Loop() {
			var v any
			if err := json.Unmarshal(arguments, &v); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkStream feeds texts in chunks of 4 bytes. The cost per byte must not
// grow with the size.
func BenchmarkStream(b *testing.B) {
	p := benchParser(b)
	for _, kind := range []struct {
		name string
		make func(int) string
	}{{"prose", prose}, {"call_json", hermesCall}, {"call_params", coderCall}} {
		for _, size := range []int{8, 64, 256} {
			text := []byte(kind.make(size << 10))
			b.Run(fmt.Sprintf("%s_%dKB", kind.name, size), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				b.ReportAllocs()
				chunks := 0
				for b.Loop() {
					f := p.NewFeeder(context.Background(), parser.Context{})
					for i := 0; i < len(text); i += 4 {
						if _, err := f.Feed(text[i:min(i+4, len(text))]); err != nil {
							b.Fatal(err)
						}
						chunks++
					}
					if _, err := f.End(); err != nil {
						b.Fatal(err)
					}
					f.Close()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(chunks), "ns/chunk")
			})
		}
	}
}
