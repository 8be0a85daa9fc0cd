package parser_test

import (
	"context"
	"testing"

	"github.com/callwright/callwright/parser"
	"github.com/callwright/callwright/registry"
)

// TestNamesWithoutNamespace calls tools whose namespace the model left out, where there is
// one such tool and what stands behind the name fits it.
func TestNamesWithoutNamespace(t *testing.T) {
	object := func(keys ...string) map[string]any {
		properties, required := map[string]any{}, []any{}
		for _, k := range keys {
			properties[k] = map[string]any{"type": "string"}
			required = append(required, k)
		}
		return map[string]any{"type": "object", "properties": properties, "required": required}
	}
	r, err := registry.New(
		registry.Tool{Name: "shops.find", Parameters: object("town")},
		registry.Tool{Name: "maps.route", Parameters: object("from", "to")},
		registry.Tool{Name: "maps.erase", Parameters: object("id"), RequireMarker: true},
		registry.Tool{Name: "a.open", Parameters: object("id")},
		registry.Tool{Name: "b.open", Parameters: object("id")},
	)
	if err != nil {
		t.Fatal(err)
	}
	p, err := parser.New(r, parser.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		text  string
		tools []string
	}{
		{`[find(town="Bergen"), route(from="Bergen", to="Voss")]`, []string{"shops.find", "maps.route"}},
		{`find(name="Bergen")`, nil}, // no parameter of that name
		{`[erase(id="1")]`, nil},     // a near name is not enough
		{`[open(id="1")]`, nil},      // which one?
		{`open("notes.txt").read()`, nil},
	} {
		r, err := p.Parse(context.Background(), c.text, parser.Context{})
		if err != nil {
			t.Fatal(err)
		}
		var tools []string
		for i := range r.Calls {
			tools = append(tools, r.Calls[i].Tool)
		}
		if len(tools) != len(c.tools) || len(tools) > 0 && tools[0] != c.tools[0] {
			t.Errorf("%s calls %v, want %v", c.text, tools, c.tools)
		}
	}
}
