package main

import (
	"strings"
	"testing"
)

const runs = `goos: linux
cpu: A processor
BenchmarkParse/small/whole/callwright-2 100 2000 ns/op 100 B/op 20 allocs/op
BenchmarkParse/small/whole/callwright-2 100 1500 ns/op 100 B/op 20 allocs/op
BenchmarkParse/small/whole/ollama_qwen3-2 100 3000 ns/op 100 B/op 40 allocs/op
BenchmarkParse/small/whole/ollama_tools-2 100 1000 ns/op 100 B/op 30 allocs/op
BenchmarkParse/small/whole/encoding_json-2 100 500 ns/op 100 B/op 10 allocs/op
BenchmarkParse/small/whole/sonic-2 100 15000000 ns/op 100 B/op 10 allocs/op
BenchmarkParse/small/whole/callwright_no_schema-2 100 3000 ns/op 100 B/op 10 allocs/op
BenchmarkElsewhere-2 100 1 ns/op
`

func TestTable(t *testing.T) {
	table, err := tableOf(strings.NewReader(runs))
	if err != nil {
		t.Fatal(err)
	}
	const want = "| small, whole | 1.5 µs | 20 | 1.50 (tools) | 30 | 3.00 | 10 | callwright no schema 0.50, sonic 0.000 |\n"
	if got := string(table); !strings.HasSuffix(got, "|\n"+want) || !strings.HasPrefix(got, "A processor, ") {
		t.Errorf("the table is\n%s", got)
	}
}
