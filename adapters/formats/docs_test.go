package formats_test

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/formats"
	"github.com/callwright/callwright/internal/golden"
)

// TestDocs holds the table of docs/wire-formats.md to what the formats say.
func TestDocs(t *testing.T) {
	var b strings.Builder
	names := []string{"`--format`"}
	for _, f := range formats.All() {
		names = append(names, "`"+f.Name+"`")
	}
	row := func(cells []string) { fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | ")) }
	row(names)
	b.WriteString(strings.Repeat("|---", len(names)) + "|\n")
	versions, framings := []string{"version"}, []string{"streams as"}
	for _, f := range formats.All() {
		versions, framings = append(versions, f.Version), append(framings, f.Framing)
	}
	row(versions)
	row(framings)
	rows := func(name string, of func(f *adapters.Format) any) {
		fields := reflect.TypeOf(of(formats.All()[0]))
		for i := range fields.NumField() {
			shown, ok := words[name+fields.Field(i).Name]
			if !ok {
				t.Errorf("the table has no words for %s%s", name, fields.Field(i).Name)
			}
			cells := []string{shown}
			for _, f := range formats.All() {
				has := reflect.ValueOf(of(f)).Field(i).Bool()
				if fields.Field(i).Name == "NoCalls" {
					has = !has
				}
				cells = append(cells, map[bool]string{true: "yes", false: "–"}[has])
			}
			row(cells)
		}
	}
	rows("", func(f *adapters.Format) any { return f.Carries })
	rows("Request.", func(f *adapters.Format) any { return f.CarriesRequest })
	const file = "../../docs/wire-formats.md"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(data), "this table -->\n")
	_, tail, ok2 := strings.Cut(rest, "<!-- end -->")
	if !ok || !ok2 {
		t.Fatal("the marks of the table are gone")
	}
	golden.Check(t, file, head+"this table -->\n"+b.String()+"<!-- end -->"+tail)
}

// words are what the table calls a field.
var words = map[string]string{
	"ID": "the reply's id", "Model": "its model", "Created": "when it was made", "Choices": "several choices", "Refusal": "refusals",
	"Reasoning": "reasoning",
	"Signature": "its signature", "CallSignature": "a call's signature", "CallIDs": "ids of calls", "NoCalls": "calls",
	"Custom": "custom tools",
	"Order":  "order of text and calls", "StopSequence": "which stop sequence", "Usage": "usage", "CachedTokens": "tokens read from a cache",
	"CacheWriteTokens": "tokens written to one", "ReasoningTokens": "tokens of reasoning", "Filter": "finish: content_filter",
	"Sequence": "finish: stop_sequence", "Pause": "finish: pause", "Error": "finish: error",
	"Request.Model": "request: model", "Request.Turns": "request: messages", "Request.Tools": "request: tools",
	"Request.ToolChoice": "request: choice of tools",
	"Request.NamedTool":  "request: one tool by name", "Request.ParallelCalls": "request: parallel calls",
	"Request.Choices": "request: several choices",
	"Request.Stop":    "request: stop sequences", "Request.TopK": "request: top_k", "Request.Seed": "request: seed",
	"Request.Penalties": "request: penalties",
	"Request.Schema":    "request: schema of the answer", "Request.SchemaName": "request: its name and strictness",
	"Request.Effort":   "request: effort",
	"Request.Thinking": "request: thinking on or off", "Request.ReasoningTokens": "request: bound on the thinking",
	"Request.User": "request: user",
}
