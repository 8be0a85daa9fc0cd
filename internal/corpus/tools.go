package corpus

import (
	_ "embed" // the tools
	"strconv"

	"github.com/callwright/callwright/registry"
)

//go:embed tools.json
var definitions []byte

func tools() *registry.Registry {
	list, err := registry.Parse(definitions)
	if err != nil {
		panic(err)
	}
	r, err := registry.New(list...)
	if err != nil {
		panic(err)
	}
	return r
}

// call makes a call that fits its tool.
func (g *generator) call() Call {
	all := g.tools.Tools()
	t := all[g.r.IntN(len(all))]
	c := Call{Tool: t.Name, Parameters: map[string]any{}}
	properties, _ := t.Parameters["properties"].(map[string]any)
	for _, name := range t.Order() {
		if p, ok := properties[name].(map[string]any); ok && (t.Requires(name) || g.chance(0.5)) {
			c.Parameters[name] = g.value(name, p)
		}
	}
	return c
}

func (g *generator) value(name string, p map[string]any) any {
	if enum, ok := p["enum"].([]any); ok {
		return enum[g.r.IntN(len(enum))]
	}
	switch p["type"] {
	case "integer":
		return 1 + g.r.IntN(14)
	case "number":
		if g.chance(0.3) {
			return float64(g.r.IntN(1000)) / 4
		}
		return g.r.IntN(500)
	case "boolean":
		return g.chance(0.5)
	case "array":
		list := []any{}
		for range 1 + g.r.IntN(2) {
			list = append(list, g.one("ada@example.com", "bob@example.org", "team@example.net"))
		}
		return list
	case "object":
		return map[string]any{g.one("status", "name", "note"): g.words(2), "n": g.r.IntN(9)}
	}
	switch name {
	case "city":
		return g.one("Rome", "Oslo", "São Paulo", "New York", "東京")
	case "fill":
		return g.one("#3B82F6", "red", "rgba(0,0,0,0.1)")
	case "layerId":
		return "layer_" + strconv.Itoa(g.r.IntN(100))
	case "path":
		return g.one("notes.md", "src/main.go", `C:\temp\new.txt`, "/tmp/a b.txt")
	case "command":
		return g.one("ls -la", `grep -n "x{2}" *.go`, "git log --oneline | head -5", `echo '{"a": 1}'`)
	case "content", "body":
		return g.one(
			"Hello.\nThis is the second line.", "func main() {\n\tfmt.Println(\"hi\", `{}`)\n}", `{"name": "inner", "arguments": {}}`,
			"<p class=\"x\">It's done</p>", "# Title\n\n- one\n- two\n\n```json\n{\"a\": 1}\n```", "price: 3,50 € — \"net\"; a=1, b={c}",
		)
	}
	return g.words(1 + g.r.IntN(5))
}

func (g *generator) words(n int) string {
	s := ""
	for i := range n {
		if i > 0 {
			s += " "
		}
		s += g.one("blue", "report", "of", "the", "week", "it's", "new", "order", "ready", "first", "note", "x1", "50%")
	}
	return s
}
