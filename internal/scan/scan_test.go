package scan_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
	"pgregory.net/rapid"

	"github.com/callwright/callwright/dialect"
	"github.com/callwright/callwright/internal/lenient"
	"github.com/callwright/callwright/internal/scan"
	"github.com/callwright/callwright/registry"
)

// tools are those of the golden files.
func tools(t testing.TB) *registry.Registry {
	t.Helper()
	r, err := registry.New(
		registry.Tool{Name: "get_weather", Parameters: object("city", "days", "unit")},
		registry.Tool{Name: "write_file", Parameters: object("path", "content")},
		registry.Tool{Name: "run", Parameters: object("command")},
		registry.Tool{Name: "list_rooms"},
	)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func object(keys ...string) map[string]any {
	properties := map[string]any{}
	for _, k := range keys {
		properties[k] = map[string]any{"type": "string"}
	}
	return map[string]any{"type": "object", "properties": properties}
}

// sample is the text of a golden case.
type sample struct{ name, text string }

// texts returns the texts of all golden cases, named after their folder and case.
func texts(t testing.TB) []sample {
	t.Helper()
	files, err := filepath.Glob("../../testdata/*/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	more, err := filepath.Glob("../../testdata/*/*/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var all []sample
	for _, file := range append(files, more...) {
		a, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range a.Files {
			if name, ok := strings.CutSuffix(f.Name, ".input"); ok {
				all = append(all, sample{filepath.Base(filepath.Dir(file)) + "/" + name, strings.TrimSuffix(string(f.Data), "\n")})
			}
		}
	}
	if len(all) < 500 {
		t.Fatalf("only %d texts", len(all))
	}
	return all
}

// event is one thing that a sink was told.
type event struct {
	kind, text string
	from, to   int
}

// recorder is a sink that writes down what it is told. It takes each candidate that
// could be read.
type recorder struct {
	events []event
	drafts []int // they are told as they are seen, which may be before the reasoning around them
}

func (r *recorder) add(kind, text string, from, to int) {
	if n := len(r.events); n > 0 && (kind == "content" || kind == "reasoning") && r.events[n-1].kind == kind {
		r.events[n-1].text += text // how it is cut does not count
		return
	}
	r.events = append(r.events, event{kind, text, from, to})
}

func (r *recorder) Content(text string)   { r.add("content", text, 0, 0) }
func (r *recorder) Reasoning(text string) { r.add("reasoning", text, 0, 0) }
func (r *recorder) Candidate(c *scan.Candidate) bool {
	taken := c.Err == nil && !c.Evidence.Quoted && !c.Evidence.Example
	if taken {
		r.add("candidate", c.Raw, c.Start, c.End)
	}
	return taken
}
func (r *recorder) Abandoned()                         {}
func (r *recorder) Recast()                            { r.add("recast", "", 0, 0) }
func (r *recorder) Unclosed()                          { r.add("unclosed", "", 0, 0) }
func (r *recorder) Draft(_ *dialect.Row, at int)       { r.drafts = append(r.drafts, at) }
func (r *recorder) Dropped(from, to int, why scan.Why) { r.add("dropped", string(why), from, to) }
func whole(text string, o scan.Options) (events []event) {
	r := &recorder{}
	_ = scan.New(lenient.NewText(text), o, r).Run()
	return r.events
}

// streamed scans a text that comes in pieces.
func streamed(pieces []string, o scan.Options) []event {
	r := &recorder{}
	reading := lenient.Start(func(c *lenient.Cursor) error { return scan.New(c, o, r).Run() })
	defer reading.Stop()
	for _, p := range pieces {
		reading.Feed([]byte(p))
	}
	reading.End()
	return r.events
}

// TestNothingLost checks that content, reasoning and what was dropped add up to the
// text, but for white space and separators.
func TestNothingLost(t *testing.T) {
	o := scan.Options{Registry: tools(t)}
	for _, x := range texts(t) {
		name, text := x.name, x.text
		lost := []byte(text)
		at := 0 // behind the last byte that content or reasoning had
		for _, e := range whole(text, o) {
			switch e.kind {
			case "content", "reasoning":
				for _, word := range strings.Fields(e.text) {
					for at < len(lost) && !strings.HasPrefix(string(lost[at:]), word) {
						at++
					}
					if at == len(lost) {
						t.Fatalf("%s: %s %q does not stand where it should", name, e.kind, word)
					}
					for range len(word) {
						lost[at] = ' '
						at++
					}
				}
			case "dropped":
				for i := e.from; i < min(e.to, len(lost)); i++ {
					lost[i] = ' '
				}
			}
		}
		if rest := strings.Trim(string(lost), " \t\r\n,;"); rest != "" {
			t.Errorf("%s: nowhere: %q", name, rest)
		}
	}
}

// TestAnyCut checks that a scan cannot tell how its text was cut.
func TestAnyCut(t *testing.T) {
	o := scan.Options{Registry: tools(t)}
	all := texts(t)
	rapid.Check(t, func(t *rapid.T) {
		i := rapid.IntRange(0, len(all)-1).Draw(t, "case")
		text := all[i].text
		var pieces []string
		for rest := text; rest != ""; {
			n := min(rapid.IntRange(1, 12).Draw(t, "n"), len(rest))
			pieces, rest = append(pieces, rest[:n]), rest[n:]
		}
		if want, got := whole(text, o), streamed(pieces, o); !slices.Equal(got, want) {
			t.Fatalf("%s\n%q\n got %v\nwant %v", all[i].name, pieces, got, want)
		}
	})
}

// TestAnyTable scans all texts with tables that lack dialects: each one alone, and
// none at all.
func TestAnyTable(t *testing.T) {
	r := tools(t)
	sets := []dialect.Set{{}, {Dialects: dialect.Builtin().Dialects}}
	for _, row := range dialect.Builtin().Dialects {
		sets = append(sets, dialect.Set{Dialects: []dialect.Row{row}})
	}
	all := texts(t)
	n := 0
	for i, set := range sets {
		table, err := scan.NewTable(set)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range all {
			name, text := x.name, x.text
			// Each text with every 16th table, the empty one, and its own dialect's.
			own := len(set.Dialects) == 1 && strings.HasPrefix(name, set.Dialects[0].Name+"/")
			if n++; i > 1 && n%16 != 0 && !own {
				continue
			}
			func() {
				defer func() {
					if p := recover(); p != nil {
						t.Errorf("%s, with %d dialects: %v", name, len(set.Dialects), p)
					}
				}()
				whole(text, scan.Options{Table: table, Registry: r})
				whole(text, scan.Options{Table: table, AnyValue: true})
			}()
		}
	}
}

// TestCodeNamesNoDialect checks that what is known of dialects is data: no string in
// the code is a dialect's name or alias.
func TestCodeNamesNoDialect(t *testing.T) {
	names := map[string]bool{}
	for _, d := range dialect.Builtin().Dialects {
		for _, n := range append([]string{d.Name}, d.Aliases...) {
			if strings.ContainsAny(n, "_0123456789") { // not a word of its own, such as "openai" or "yaml"
				names[n] = true
			}
		}
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if s, err := strconv.Unquote(lit.Value); err == nil && names[s] {
					t.Errorf("%s names the dialect %q", file, s)
				}
			}
			return true
		})
	}
}

// FuzzScan scans any text in any pieces.
func FuzzScan(f *testing.F) {
	for _, x := range texts(f) {
		f.Add(x.text, uint8(3))
	}
	r := tools(f)
	f.Fuzz(func(t *testing.T, text string, n uint8) {
		if len(text) > 1<<12 {
			return
		}
		o := scan.Options{Registry: r}
		var pieces []string
		for rest := text; rest != ""; {
			k := min(int(n%16)+1, len(rest))
			pieces, rest = append(pieces, rest[:k]), rest[k:]
		}
		if want, got := whole(text, o), streamed(pieces, o); !slices.Equal(got, want) {
			t.Fatalf("%q\n got %v\nwant %v", pieces, got, want)
		}
	})
}
