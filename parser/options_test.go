package parser_test

import (
	"context"
	"errors"
	"testing"

	"github.com/callwright/callwright/dialect"
	"github.com/callwright/callwright/parser"
)

// TestDialects checks that a parser reads what it is told of how a model writes: calls,
// and reasoning in tags of its own.
func TestDialects(t *testing.T) {
	set, err := dialect.Parse([]byte(`
dialects:
  - {name: acme, models: [Acme 1], source: test, open: ["<<call>>"], close: ["<<end>>"], body: json}
reasoning:
  - {open: ["<musing>"], close: ["</musing>"]}
`))
	if err != nil {
		t.Fatal(err)
	}
	text := `<musing>Should I?</musing>Yes. <<call>>{"name": "f", "arguments": {}}<<end>>`
	for name, o := range map[string]struct {
		options parser.Options
		more    []parser.Option
	}{
		"field":      {parser.Options{Dialects: set}, nil},
		"deprecated": {parser.Options{Dialects: dialect.Set{Reasoning: set.Reasoning}}, []parser.Option{parser.WithDialects(set.Dialects...)}},
	} {
		p, err := parser.New(nil, o.options, o.more...)
		if err != nil {
			t.Fatal(err)
		}
		r, err := p.Parse(context.Background(), text, parser.Context{})
		if err != nil || len(r.Calls) != 1 || r.Calls[0].SourceFormat != "acme" || r.Reasoning != "Should I?" || r.Content != "Yes." {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	var bad *dialect.Error
	if _, err := parser.New(nil, parser.Options{Dialects: dialect.Set{Dialects: []dialect.Row{{Name: "acme"}}}}); !errors.As(err, &bad) {
		t.Errorf("a row without a body: %v", err)
	}
}
