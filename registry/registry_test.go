package registry_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/callwright/callwright/registry"
)

func TestParseShapes(t *testing.T) {
	const schema = `{"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}`
	tests := []struct{ name, text string }{
		{"openai", `[{"type": "function", "function": {"name": "get_weather", "description": "d", "parameters": ` + schema + `}}]`},
		{"openai responses", `{"tools": [{"type": "function", "name": "get_weather", "parameters": ` + schema + `}]}`},
		{"anthropic", `{"name": "get_weather", "input_schema": ` + schema + `}`},
		{"ollama", `{"tools": [{"type": "function", "function": {"name": "get_weather", "parameters": ` + schema + `}}]}`},
		{
			"gemini",
			`{"functionDeclarations": [{"name": "get_weather", "parameters": {"type": "OBJECT", "properties": {"city": {"type": "STRING"}}, ` +
				`"required": ["city"]}}]}`,
		},
		{"gemini in tools", `{"tools": [{"function_declarations": [{"name": "get_weather", "parametersJsonSchema": ` + schema + `}]}]}`},
		{"mcp", `{"result": {"tools": [{"name": "get_weather", "inputSchema": ` + schema + `}]}}`},
		{
			"specification",
			`{"id": "1", "name": "get_weather", "parameters": {"city": {"type": "string"}}, "required": ["city"], "dependencies": ["a"], ` +
				`"returns": {}}`,
		},
		{"by name", `{"get_weather": {"description": "d", "parameters": ` + schema + `}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tools, err := registry.Parse([]byte(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			r, err := registry.New(tools...)
			if err != nil {
				t.Fatal(err)
			}
			tool := r.Get("get_weather")
			if tool == nil || tool.Schema() == nil || !slices.Equal(tool.Schema().Required, []string{"city"}) ||
				tool.Schema().Properties["city"] == nil {
				t.Fatalf("%+v", tool)
			}
		})
	}
	for _, bad := range []string{"", "nope", "42", `{"a": 1}`, `[1]`, `{"name": "x", "parameters": 3}`, `{} {}`} {
		if _, err := registry.Parse([]byte(bad)); err == nil {
			t.Errorf("%q is taken for definitions", bad)
		}
	}
}

func TestDestructiveNeedsMarker(t *testing.T) {
	tools, err := registry.Parse(
		[]byte(`[{"name": "delete_all", "inputSchema": {"type": "object"}, "annotations": {"destructiveHint": true}}]`),
	)
	if err != nil || len(tools) != 1 || !tools[0].RequireMarker {
		t.Fatalf("%+v, %v", tools, err)
	}
	r, err := registry.New(tools...)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := r.Lookup("deleteAll"); ok {
		t.Error("a destructive tool is found by a near name")
	}
	if _, ok := r.Lookup("functions.delete_all"); !ok {
		t.Error("a destructive tool is not found behind a namespace")
	}
}

func TestNames(t *testing.T) {
	r, err := registry.New(
		registry.Tool{Name: "get_weather"}, registry.Tool{Name: "geometry.circumference"}, registry.Tool{Name: "say_hello"},
		registry.Tool{Name: "say_hello_world"}, registry.Tool{Name: "mcp.server/read"},
	)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"get_weather": "get_weather", "getWeather": "get_weather", "get-weather": "get_weather", "functions.get_weather": "get_weather",
		"get_weather:0":            "get_weather",
		"functions.get_weather:12": "get_weather", `get\_weather`: "get_weather", " `get_weather` ": "get_weather", "GET_WEATHER": "get_weather",
		"mcp__geo__get_weather":  "get_weather",
		"geometry_circumference": "geometry.circumference", "circumference": "geometry.circumference", "default_api.get_weather": "get_weather",
		"say_hello":       "say_hello",
		"say_hello_world": "say_hello_world", "tools::get_weather": "get_weather", "get_weather()": "get_weather",
		"mcp.server/read": "mcp.server/read",
	} {
		if m, ok := r.Lookup(name); !ok || m.Tool.Name != want {
			t.Errorf("%q leads to %v", name, m.Tool)
		}
	}
	for _, name := range []string{
		"", "get_wether", "weather", "hello", "say", "get\u202eweather", strings.Repeat("x", 300), "gеt_weather", /* a Cyrillic letter */
	} {
		if m, ok := r.Lookup(name); ok {
			t.Errorf("%q leads to %s", name, m.Tool.Name)
		}
	}
	for name, want := range map[string]string{
		"get_wether": "get_weather", "get_weathr": "get_weather", "say_helo": "say_hello", "geom": "geometry.circumference", "rm": "",
		"xyz_abc": "",
	} {
		if got := r.Suggest(name); got != want {
			t.Errorf("for %q %q is suggested, not %q", name, got, want)
		}
	}
}

func TestVersion(t *testing.T) {
	a, _ := registry.New(registry.Tool{Name: "a"}, registry.Tool{Name: "b"})
	b, _ := registry.New(registry.Tool{Name: "b"}, registry.Tool{Name: "a"})
	if a.Version() != b.Version() || a.Version() == "" {
		t.Error("the order of tools changes the version")
	}
	before := a.Version()
	if err := a.Add(registry.Tool{Name: "a", Parameters: map[string]any{"type": "object"}}); err != nil {
		t.Fatal(err)
	}
	if a.Version() == before || a.Len() != 2 {
		t.Error("a changed tool does not change the version")
	}
	if !a.Remove("a") || a.Remove("a") || a.Get("a") != nil {
		t.Error("a tool is not removed")
	}
}

func TestBadSchemas(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret.json")
	if err := os.WriteFile(secret, []byte(`{"const": "TOPSECRET"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	deep := map[string]any{"type": "string"}
	for range 200 {
		deep = map[string]any{"not": deep}
	}
	laughs := map[string]any{
		"$defs": map[string]any{"l0": map[string]any{"type": "object"}}, "allOf": []any{map[string]any{"$ref": "#/$defs/l22"}},
	}
	for i := 1; i <= 22; i++ {
		ref := map[string]any{"$ref": fmt.Sprintf("#/$defs/l%d", i-1)}
		laughs["$defs"].(map[string]any)[fmt.Sprintf("l%d", i)] = map[string]any{"allOf": []any{ref, ref}}
	}
	tests := []struct {
		name   string
		schema map[string]any
		want   string
	}{
		{"file", map[string]any{"properties": map[string]any{"a": map[string]any{"$ref": "file://" + secret}}}, "/properties/a/$ref"},
		{"relative file", map[string]any{"$ref": "secret.json"}, "/$ref"},
		{"http", map[string]any{"allOf": []any{map[string]any{"$ref": "http://127.0.0.1:1/x"}}}, "/allOf/0/$ref"},
		{"deep", deep, "too large"},
		{"laughs", laughs, "too large"},
		{"not an object", map[string]any{"properties": map[string]any{"a": 3}}, "/properties/a"},
		{"bad keyword", map[string]any{"type": "object", "minProperties": "x"}, `tool "t"`},
		{"dangling reference", map[string]any{"$ref": "#/$defs/none"}, `tool "t"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := registry.New(registry.Tool{Name: "t", Parameters: tt.schema})
			if err != nil {
				t.Fatal(err)
			}
			err = r.Check(t.Context())
			var bad *registry.SchemaError
			if !errors.As(err, &bad) || bad.Tool != "t" || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "TOPSECRET") {
				t.Fatalf("%v, want %q", err, tt.want)
			}
			tool := r.Get("t")
			if tool == nil || tool.Schema() != nil || !strings.Contains(strings.Join(tool.Warnings(), "\n"), "schema_invalid") {
				t.Errorf("the tool is not usable without its schema: %+v", tool)
			}
			strict, err := registry.NewWith(registry.Options{Strict: true}, registry.Tool{Name: "t", Parameters: tt.schema})
			if err == nil || strict.Get("t") != nil {
				t.Error("a strict registry takes the tool")
			}
		})
	}
}

func TestSloppySchemas(t *testing.T) {
	r, err := registry.New(registry.Tool{Name: "t", Parameters: map[string]any{
		"type": "dict", "properties": map[string]any{
			"a": map[string]any{"type": "float"}, "b": map[string]any{"type": "any", "required": true}, "c": "string",
			"d": map[string]any{"type": "string", "nullable": true}, "e": map[string]any{"type": "string", "pattern": "(?!x)y"},
		},
	}})
	if err != nil {
		t.Fatal(err)
	}
	tool := r.Get("t")
	if err := tool.Schema().Validate(map[string]any{"a": 1.5, "b": true, "c": "x", "d": nil, "e": "anything"}); err != nil {
		t.Error(err)
	}
	if err := tool.Schema().Validate(map[string]any{}); err == nil {
		t.Error("the required property was not moved to its object")
	}
	if !strings.Contains(strings.Join(tool.Warnings(), "\n"), "pattern_skipped") {
		t.Errorf("no word of the pattern: %q", tool.Warnings())
	}
}

func TestManyTools(t *testing.T) {
	tools := make([]registry.Tool, 5000)
	for i := range tools {
		tools[i] = registry.Tool{Name: fmt.Sprintf("tool_number_%d", i)}
	}
	r, err := registry.New(tools...)
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for w := range 4 {
		group.Go(func() {
			for i := range 200 {
				if _, ok := r.Lookup(fmt.Sprintf("toolNumber%d", i)); !ok {
					t.Errorf("tool %d is not found", i)
				}
				if w == 0 && i%50 == 0 {
					if err := r.Add(registry.Tool{Name: fmt.Sprintf("new%d", i)}); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	group.Wait()
}

func ExampleParse() {
	tools, err := registry.Parse(
		[]byte(`[{"name": "get_weather", "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}}}]`),
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := registry.New(tools...)
	if err != nil {
		fmt.Println(err)
		return
	}
	match, ok := r.Lookup("functions.getWeather")
	fmt.Println(match.Tool.Name, match.Rule, ok)
	// Output: get_weather folded true
}

func TestSignature(t *testing.T) {
	for _, tt := range []struct{ definition, want string }{
		{
			`{"name":"get_weather","parameters":{"type":"object","properties":{"city":{"type":"string"},"unit":{"enum":["c","f"]},` +
				`"days":{"type":"integer","default":3}},"required":["city"]}}`,
			`get_weather(city: string, unit?: "c" | "f", days?: integer = 3)`,
		},
		{`{"name":"none"}`, "none()"},
		{
			`{"name":"deep","parameters":{"type":"object","properties":{"a":{"type":"array","items":{"type":"string"}},"o":{"type":"object",` +
				`"properties":{"b":{"type":["string","null"]}}},"x":{}}}}`,
			"deep(a?: string[], o?: {b: string | null}, x?: any)",
		},
	} {
		tools, err := registry.Parse([]byte(tt.definition))
		if err != nil {
			t.Fatal(err)
		}
		r, err := registry.New(tools...)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Tools()[0].Signature(); got != tt.want {
			t.Errorf("%s, want %s", got, tt.want)
		}
	}
}
