package parser_test

import (
	"context"
	"strings"
	"testing"

	"github.com/callwright/callwright/metrics"
	"github.com/callwright/callwright/parser"
)

// kilobyte is a text of 1 KB with a call in it.
func kilobyte() string {
	return strings.Repeat("Some words before it. ", 42) + `<tool_call>{"name": "get_weather", "arguments": {"city": "Rome"}}</tool_call>`
}

// BenchmarkCache parses the same kilobyte, with and without a cache.
func BenchmarkCache(b *testing.B) {
	text := kilobyte()
	for _, bench := range []struct {
		name string
		o    parser.Options
	}{{"parsed", parser.Options{}}, {"hit", parser.Options{Cache: mustCache(b)}}} {
		p := mustParser(b, weatherTools(b, cityOnly()), bench.o)
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if r := mustParse(b, p, text, parser.Context{Model: "qwen"}); len(r.Calls) != 1 {
					b.Fatal(r)
				}
			}
		})
	}
}

// BenchmarkMetrics parses with counting and without.
func BenchmarkMetrics(b *testing.B) {
	for _, text := range []struct{ name, text string }{{"call", romeCall}, {"kilobyte", kilobyte()}} {
		for _, bench := range []struct {
			name string
			o    parser.Options
		}{{"off", parser.Options{}}, {"on", parser.Options{Metrics: metrics.New(metrics.Options{})}}} {
			p := mustParser(b, weatherTools(b, cityOnly()), bench.o)
			b.Run(text.name+"/"+bench.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					mustParse(b, p, text.text, parser.Context{Model: "qwen"})
				}
			})
		}
	}
}

// BenchmarkParallel has 16 goroutines for each core parse with one parser. Compare
// the time of one parse with -cpu 1,2,4.
func BenchmarkParallel(b *testing.B) {
	text := kilobyte()
	for _, bench := range []struct {
		name string
		o    parser.Options
	}{{"plain", parser.Options{}}, {"metrics", parser.Options{Metrics: metrics.New(metrics.Options{})}}, {"cache", parser.Options{Cache: mustCache(b)}}} {
		p := mustParser(b, weatherTools(b, cityOnly()), bench.o)
		b.Run(bench.name, func(b *testing.B) {
			b.SetParallelism(16)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if _, err := p.Parse(context.Background(), text, parser.Context{Model: "qwen"}); err != nil {
						b.Error(err)
					}
				}
			})
		})
	}
}
