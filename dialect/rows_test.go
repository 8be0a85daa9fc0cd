package dialect_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/callwright/callwright/dialect"
	"github.com/callwright/callwright/internal/golden"
	"github.com/callwright/callwright/internal/scan"
)

// TestTable checks that the rows make a table, and that each has golden cases.
func TestTable(t *testing.T) {
	table, err := scan.NewTable(dialect.Builtin())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range table.Dialects() {
		file := filepath.Join("../testdata/dialects", d.Name, "cases.txtar")
		data, err := os.ReadFile(file)
		if err != nil {
			t.Errorf("%s has no golden file: %v", d.Name, err)
			continue
		}
		for _, name := range []string{"plain", "parallel", "prose", "broken", "nasty"} {
			if !strings.Contains(string(data), "-- "+name+".input --") {
				t.Errorf("%s has no case %q", d.Name, name)
			}
		}
		if len(d.Models) == 0 || d.Source == "" {
			t.Errorf("%s does not say who writes it and where that is known from", d.Name)
		}
	}
}

// TestDocument checks that docs/dialects.md is what the rows say.
func TestDocument(t *testing.T) {
	golden.Check(t, "../docs/dialects.md", document())
}

func document() string {
	var b strings.Builder
	rows := dialect.Builtin().Dialects
	fmt.Fprintf(&b, "# Dialects\n\nThe %d dialects that callwright reads without being told, by their bodies. This page is made from the rows in\n`dialect`; a row and a golden file add one (see CONTRIBUTING.md).\n\nIn markers `｜` also stands for `|`, `▁` for `_` and a space, and `:*` for an optional suffix. `^` means at the beginning of\na line. Models often mix the markers of one dialect with the body of another: what follows the marker decides.\n", len(rows))
	for _, body := range dialect.Bodies() {
		fmt.Fprintf(&b, "\n## `%s`: %s\n\n| dialect | models | opens | closes | also known as | source |\n|---|---|---|---|---|---|\n", body.Body, body.What)
		for _, d := range rows {
			if d.Body == body.Body {
				open := code(d.Open)
				if d.Options.Label != "" {
					open = code([]string{d.Options.Label + ":"})
				} else if open == "" {
					open = "a known tool's name"
				}
				fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s |\n", d.Name, strings.Join(d.Models, ", "), open, code(d.Close), strings.Join(d.Aliases, ", "), escape(d.Source))
			}
		}
	}
	return b.String()
}

func escape(s string) string { return strings.NewReplacer("|", `\|`, "<", "&lt;").Replace(s) }

func code(markers []string) string {
	quoted := make([]string, len(markers))
	for i, m := range markers {
		quoted[i] = "`" + strings.ReplaceAll(m, "|", `\|`) + "`"
	}
	return strings.Join(quoted, " ")
}

// TestYAML checks that rows can come from a file, and what is said of bad ones.
func TestYAML(t *testing.T) {
	rows, err := dialect.Parse([]byte("dialects:\n  - name: acme\n    open: [\"<<call>>\"]\n    close: [\"<<end>>\"]\n    body: json\n    models: [Acme 1]\n"))
	if err != nil || len(rows.Dialects) != 1 || rows.Dialects[0].Open[0] != "<<call>>" {
		t.Fatalf("%v, %v", rows, err)
	}
	for _, tt := range []struct{ text, want string }{
		{"- name: acme\n  open: [\"<<call>>\"]\n  body: soup\n", `line 3: dialect "acme": field "body": must be one of the eight bodies, not "soup"`},
		{"- name: Acme!\n  open: [xx]\n  body: json\n", `line 1: dialect "Acme!": field "name": must be lower case letters, digits and underscores`},
		{"- name: acme\n  opne: [xx]\n  body: json\n", `line 2: dialect "acme": field "opne": there is no such field`},
		{"- name: acme\n  open: [x]\n  body: json\n", `line 2: dialect "acme": field "open": a marker must have at least two bytes, and no more than 64: "x"`},
		{"- name: acme\n  open: {a: b}\n  body: json\n", `line 2: dialect "acme": field "open": `},
		{"name: acme\n", `line 1: field "name": must be dialects, reasoning, turns or regions`},
		{"dialects: acme\n", `line 1: field "dialects": must be a list`},
		{"reasoning:\n  - open: [\"<musing>\"]\n    close: [x]\n", `line 3: field "reasoning.close": a marker must have at least two bytes, and no more than 64: "x"`},
		{"regions:\n  - {open: ab, close: cd, kind: soup}\n", `line 2: field "regions.kind": must be result, quote or wrapper`},
	} {
		_, err := dialect.Parse([]byte(tt.text))
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%q: %v, want %s", tt.text, err, tt.want)
		}
	}
}
