package dispatch_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDocument holds that the Go examples of docs/dispatch.md are parts of tests and
// examples, which run.
func TestDocument(t *testing.T) {
	data, err := os.ReadFile("../docs/dispatch.md")
	if err != nil {
		t.Fatal(err)
	}
	var sources strings.Builder
	for _, pattern := range []string{"*_test.go", "mcptools/*_test.go", "../mcpproxy/*_test.go", "../examples/*/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatal(pattern, err)
		}
		for _, name := range files {
			if filepath.Base(name) == "docs_test.go" {
				continue
			}
			source, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			sources.WriteString(unindented(string(source)))
		}
	}
	all := sources.String()
	blocks := strings.Split(string(data), "```go\n")[1:]
	if len(blocks) < 10 {
		t.Fatalf("%d examples", len(blocks))
	}
	for _, b := range blocks {
		example, _, _ := strings.Cut(b, "```")
		if !strings.Contains(all, unindented(example)) {
			t.Errorf("no test runs\n%s", example)
		}
	}
}

// unindented is a text without the white space around its lines.
func unindented(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		b.WriteString(strings.Join(strings.Fields(line), " ") + "\n")
	}
	return b.String()
}
