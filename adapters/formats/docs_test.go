package formats_test

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/formats"
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
	fields := reflect.TypeFor[adapters.Carries]()
	for i := range fields.NumField() {
		cells := []string{words(fields.Field(i).Name)}
		for _, f := range formats.All() {
			has := reflect.ValueOf(f.Carries).Field(i).Bool()
			if fields.Field(i).Name == "NoCalls" {
				has = !has
			}
			cells = append(cells, map[bool]string{true: "yes", false: "–"}[has])
		}
		row(cells)
	}
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
	want := head + "this table -->\n" + b.String() + "<!-- end -->" + tail
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(data) != want {
		t.Error("the table is not up to date: go test ./adapters/formats -update")
	}
}

// words are what the table calls a field.
func words(field string) string {
	for name, shown := range map[string]string{
		"ID": "the reply's id", "Model": "its model", "Created": "when it was made", "Choices": "several choices", "Refusal": "refusals", "Reasoning": "reasoning",
		"Signature": "its signature", "CallSignature": "a call's signature", "CallIDs": "ids of calls", "NoCalls": "calls", "Custom": "custom tools", "Order": "order of text and calls",
		"StopSequence": "which stop sequence", "Usage": "usage", "CachedTokens": "tokens read from a cache", "CacheWriteTokens": "tokens written to one", "ReasoningTokens": "tokens of reasoning",
		"Filter": "finish: content_filter", "Sequence": "finish: stop_sequence", "Pause": "finish: pause", "Error": "finish: error",
	} {
		if name == field {
			return shown
		}
	}
	return field
}
