package check_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/callwright/callwright/dispatch/check"
	"github.com/callwright/callwright/registry"
)

func tool(t testing.TB, name, description, schema string) registry.Tool {
	t.Helper()
	list, err := registry.Parse([]byte(fmt.Sprintf(`{"name": %q, "description": %q, "parameters": %s}`, name, description, schema)))
	if err != nil {
		t.Fatal(err)
	}
	return list[0]
}

func TestTools(t *testing.T) {
	enum := `"v0"`
	for i := 1; i <= 100; i++ {
		enum += fmt.Sprintf(`,"v%d"`, i)
	}
	deep := `{"type":"string"}`
	for range 7 {
		deep = `{"type":"object","properties":{"x":` + deep + `}}`
	}
	one := func(p string) string { return `{"type":"object","properties":{"p":` + p + `}}` }
	for _, tt := range []struct {
		name, schema string
		want         []string // codes and paths
	}{
		{"good", one(`{"type":"string","enum":["a"],"default":"a","pattern":"^a$","x-context":"selection.0"}`), nil},
		{"bad name", one(`{"type":"string"}`), []string{"name "}},
		{strings.Repeat("x", 65), one(`{"type":"string"}`), []string{"name "}},
		{"compile", one(`{"type":"objekt"}`), []string{"schema "}},
		{"free", one(`{"type":"object"}`), []string{"free_form /properties/p"}},
		{"list", one(`{"type":"array"}`), []string{"free_form /properties/p"}},
		{"enum", one(`{"enum":[` + enum + `]}`), []string{"large_enum /properties/p"}},
		{"deep", deep, []string{"nesting /properties/x/properties/x/properties/x/properties/x/properties/x/properties/x"}},
		{
			"recursive", `{"type":"object","properties":{"p":{"$ref":"#/$defs/n"}},"$defs":{"n":{"type":"object","properties":{"n":{"$ref":"#/$defs/m"}}},"m":{"anyOf":[{"$ref":"#/$defs/n"},{"type":"null"}]}}}`,
			[]string{"recursion /$defs/m/anyOf/0", "recursion /$defs/n/properties/n", "recursion /properties/p"},
		},
		{"root", `{"type":"object","oneOf":[{"required":["a"]}]}`, []string{"root_variants "}},
		{"array", `{"type":"array","items":{}}`, []string{"schema "}},
		{"pattern", one(`{"type":"string","pattern":"^(?=a)b"}`), []string{"pattern /properties/p"}},
		{"keyword", one(`{"not":{"const":1},"if":{},"then":{}}`), []string{"keyword /properties/p", "keyword /properties/p"}},
		{"default", one(`{"type":"integer","default":"x"}`), []string{"default /properties/p"}},
		{"context", one(`{"type":"string","x-context":"history"}`), []string{"context_path /properties/p"}},
		{"context2", one(`{"type":"string","x-context":5}`), []string{"context_path /properties/p"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, f := range check.Tools(tool(t, tt.name, "does it", tt.schema)) {
				path := f.Path
				if f.Code == check.Schema || f.Code == check.Name {
					path = ""
				}
				got = append(got, string(f.Code)+" "+path)
				if f.Message == "" || !strings.HasPrefix(f.String(), tt.name) {
					t.Error(f)
				}
			}
			for _, w := range tt.want {
				if !slices.Contains(got, w) {
					t.Errorf("no %q in %q", w, got)
				}
			}
			if len(tt.want) == 0 && len(got) > 0 {
				t.Error(got)
			}
		})
	}
}

func TestTogether(t *testing.T) {
	got := check.Tools(tool(t, "get_file", "", "{}"), tool(t, "getFile", strings.Repeat("x", 2000), "{}"), registry.Tool{Description: "x"})
	var codes []string
	for _, f := range got {
		codes = append(codes, string(f.Code))
	}
	if want := "no_description similar_name long_text name"; strings.Join(codes, " ") != want {
		t.Errorf("%s, want %s", strings.Join(codes, " "), want)
	}
}

func Example() {
	for _, f := range check.Tools(registry.Tool{Name: "get weather", Parameters: map[string]any{
		"type": "object", "properties": map[string]any{"days": map[string]any{"type": "integer", "default": "3"}},
	}}) {
		fmt.Println(f)
	}
	// Output:
	// get weather: name: model servers take 1 to 64 letters, digits, _ and -
	// get weather: no_description: say what the tool does, and when to call it
	// get weather /properties/days: default: the default "3" does not fit the schema
}
