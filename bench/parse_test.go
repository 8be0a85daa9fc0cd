package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/bytedance/sonic"
	experiment "github.com/go-json-experiment/json"
	"github.com/kaptinlin/jsonrepair"
	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/model/parsers"
	"github.com/ollama/ollama/tools"

	"github.com/callwright/callwright/parser"
	"github.com/callwright/callwright/registry"
)

// toolNames are the tools that the works call.
var toolNames = []string{"get_weather", "write_file", "save_rows"}

// schemas are the parameters of the tools.
var schemas = map[string]string{
	"get_weather": `{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer","minimum":1,"maximum":14},
		"units":{"type":"string","enum":["celsius","fahrenheit"]}},"required":["city"]}`,
	"write_file": `{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},"required":["path","content"]}`,
	"save_rows": `{"type":"object","properties":{"rows":{"type":"array","items":{"type":"object","properties":{"id":{"type":"integer"},
		"name":{"type":"string"},"price":{"type":"number","minimum":0},"active":{"type":"boolean"}},"required":["id","name"]}}},"required":["rows"]}`,
}

// newParser returns a parser of a number of tools, at least those that the works call, with
// their schemas or without.
func newParser(tb testing.TB, number int, o parser.Options, validation bool) *parser.Parser {
	tb.Helper()
	list := make([]registry.Tool, 0, number)
	add := func(name, schema string) {
		t := registry.Tool{Name: name}
		if validation {
			if err := json.Unmarshal([]byte(schema), &t.Parameters); err != nil {
				tb.Fatal(err)
			}
		}
		list = append(list, t)
	}
	for _, name := range toolNames {
		add(name, schemas[name])
	}
	for i := len(list); i < number; i++ {
		add(fmt.Sprintf("tool_number_%d", i), schemas["get_weather"])
	}
	r, err := registry.New(list...)
	if err != nil {
		tb.Fatal(err)
	}
	o.Timeout = -1
	p, err := parser.New(r, o)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// ollamaTools are the tools as Ollama's parsers want them.
func ollamaTools(tb testing.TB, number int) []api.Tool {
	tb.Helper()
	var list []api.Tool
	for _, name := range toolNames {
		t := api.Tool{Type: "function", Function: api.ToolFunction{Name: name}}
		if err := json.Unmarshal([]byte(schemas[name]), &t.Function.Parameters); err != nil {
			tb.Fatal(err)
		}
		list = append(list, t)
	}
	for i := len(list); i < number; i++ {
		t := list[0]
		t.Function.Name = fmt.Sprintf("tool_number_%d", i)
		list = append(list, t)
	}
	return list
}

// pieces cuts a text into pieces of a size; 0 leaves it whole.
func pieces(text string, size int) []string {
	if size == 0 {
		return []string{text}
	}
	var list []string
	for ; len(text) > size; text = text[size:] {
		list = append(list, text[:size])
	}
	return append(list, text)
}

// parseWhole has callwright parse a text, and returns how many calls it has.
func parseWhole(p *parser.Parser, text string) (int, error) {
	r, err := p.Parse(context.Background(), text, parser.Context{})
	return len(r.Calls), err
}

// parsePieces has callwright parse a text piece by piece.
func parsePieces(p *parser.Parser, list [][]byte) (int, error) {
	f := p.NewFeeder(context.Background(), parser.Context{})
	defer f.Close()
	for _, piece := range list {
		if _, err := f.Feed(piece); err != nil {
			return 0, err
		}
	}
	events, err := f.End()
	return len(events[len(events)-1].Result.Calls), err
}

// parseOllama has one of Ollama's parsers read a text piece by piece. What it says is
// joined, as a whole answer is.
func parseOllama(name string, known []api.Tool, list []string) (int, error) {
	calls := 0
	var content strings.Builder
	if name == "tools" {
		p := tools.NewParserWithTag(known, "<tool_call>")
		for _, piece := range list {
			found, text := p.Add(piece)
			calls += len(found)
			content.WriteString(text)
		}
		return calls, nil
	}
	p := parsers.ParserForName(name)
	p.Init(known, nil, nil)
	for i, piece := range list {
		text, _, found, err := p.Add(piece, i == len(list)-1)
		if err != nil {
			return 0, err
		}
		calls += len(found)
		content.WriteString(text)
	}
	return calls, nil
}

// decoders read the JSON of a call into values.
var decoders = []struct {
	name   string
	decode func(b []byte) error
}{
	{"encoding_json", func(b []byte) error { var v any; return json.Unmarshal(b, &v) }},
	{"go_json_experiment", func(b []byte) error { var v any; return experiment.Unmarshal(b, &v) }},
	{"sonic", func(b []byte) error { var v any; return sonic.Unmarshal(b, &v) }},
	{"jsonrepair", func(b []byte) error {
		repaired, err := jsonrepair.Repair(string(b))
		if err != nil {
			return err
		}
		var v any
		return json.Unmarshal([]byte(repaired), &v)
	}},
}

// measure runs a reader of a work that returns how many calls it found.
func measure(b *testing.B, w *work, want int, read func() (int, error)) {
	b.Helper()
	b.SetBytes(int64(len(w.text)))
	b.ReportAllocs()
	for b.Loop() {
		if calls, err := read(); err != nil || calls != want {
			b.Fatalf("%d calls, want %d: %v", calls, want, err)
		}
	}
}

// BenchmarkParse reads each work whole, in pieces of 4 and of 64 bytes:
//
//	BenchmarkParse/small/4/callwright
func BenchmarkParse(b *testing.B) {
	p, known := newParser(b, len(toolNames), parser.Options{}, true), ollamaTools(b, len(toolNames))
	complete := newParser(b, len(toolNames), parser.Options{Complete: true}, true) // calls when they are whole, as Ollama's
	for i := range works {
		w := &works[i]
		for _, size := range []int{0, 4, 64} {
			at := fmt.Sprintf("%s/%d/", w.name, size)
			if size == 0 {
				at = w.name + "/whole/"
			}
			list := pieces(w.text, size)
			b.Run(at+"callwright", func(b *testing.B) {
				if size == 0 {
					measure(b, w, w.calls, func() (int, error) { return parseWhole(p, w.text) })
					return
				}
				chunks := make([][]byte, len(list))
				for i := range list {
					chunks[i] = []byte(list[i])
				}
				measure(b, w, w.calls, func() (int, error) { return parsePieces(p, chunks) })
			})
			if size > 0 && w.calls > 0 {
				b.Run(at+"callwright_complete", func(b *testing.B) {
					chunks := make([][]byte, len(list))
					for i := range list {
						chunks[i] = []byte(list[i])
					}
					measure(b, w, w.calls, func() (int, error) { return parsePieces(complete, chunks) })
				})
			}
			for _, name := range w.ollama {
				if name == "tools" && size == 4 && len(w.text) > 8<<10 && w.calls > 0 {
					continue // quadratic: minutes
				}
				b.Run(at+"ollama_"+name, func(b *testing.B) {
					measure(b, w, w.calls, func() (int, error) { return parseOllama(name, known, list) })
				})
			}
			if size > 0 {
				continue
			}
			if w.calls == 0 {
				b.Run(at+"substring_search", func(b *testing.B) { measure(b, w, 0, func() (int, error) { return searched(w.text), nil }) })
			}
			if w.object == nil {
				continue
			}
			for _, d := range decoders {
				b.Run(at+d.name, func(b *testing.B) { measure(b, w, 0, func() (int, error) { return 0, d.decode(w.object) }) })
			}
		}
	}
}

// sink keeps what was copied.
var sink string

// searched looks for one marker and copies the text: the least that a parser of one
// dialect does with prose.
func searched(text string) int {
	n := strings.Count(text, "<tool_call>")
	sink = strings.Clone(text)
	return n
}

// BenchmarkTools reads the small call where more tools are known, with their schemas and
// without.
//
//	BenchmarkTools/small/10000_tools/callwright
func BenchmarkTools(b *testing.B) {
	w := &works[0]
	for _, number := range []int{len(toolNames), 100, 10000} {
		at := fmt.Sprintf("%s/%d_tools/", w.name, number)
		p, bare, known := newParser(b, number, parser.Options{}, true), newParser(b, number, parser.Options{}, false), ollamaTools(b, number)
		b.Run(at+"callwright", func(b *testing.B) {
			measure(b, w, 1, func() (int, error) { return parseWhole(p, w.text) })
		})
		b.Run(at+"callwright_no_schema", func(b *testing.B) {
			measure(b, w, 1, func() (int, error) { return parseWhole(bare, w.text) })
		})
		for _, name := range w.ollama {
			if name == "tools" && number > 100 {
				continue // milliseconds a call
			}
			b.Run(at+"ollama_"+name, func(b *testing.B) {
				measure(b, w, 1, func() (int, error) { return parseOllama(name, known, []string{w.text}) })
			})
		}
	}
}
