// Package golden reads and writes the cases under testdata: texts, and what the
// parser makes of them in a form that a person can check.
package golden

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/callwright/callwright/fallback"
	"github.com/callwright/callwright/parser"
	"github.com/callwright/callwright/registry"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// Updating reports whether the golden files are to be rewritten: go test -update.
func Updating() bool { return *update }

// Check compares a text with a golden file. With -update it writes the file.
func Check(t testing.TB, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got; make golden rewrites it):\n%s", file, diff)
	}
}

// Case is one text and what is expected of it.
type Case struct {
	Name    string // of the case within its file
	File    string
	Text    string
	Want    string
	Context parser.Context
	Options parser.Options
	tools   *registry.Registry
	parser  *parser.Parser
}

// Tools returns the case's tools.
func (c *Case) Tools() *registry.Registry { return c.tools }

// Parser returns the parser of the case's tools.
func (c *Case) Parser() *parser.Parser { return c.parser }

// settings are what the file "NAME.options" of a case may say.
type settings struct {
	Model         string         `json:"model"`
	Format        string         `json:"format"`
	ReasoningOpen bool           `json:"reasoning_open"`
	Prompt        []string       `json:"prompt"`
	Values        map[string]any `json:"values"`
	AllowPartial  bool           `json:"allow_partial"`
	StrictMode    bool           `json:"strict_mode"`
	Lossy         bool           `json:"lossy"`
	NoTools       bool           `json:"no_tools"`
	// Tiers are the strategies of the fallbacks; the default chain if there are none.
	Tiers []fallback.Strategy `json:"tiers"`
}

// tiers are those that ask nobody.
var tiers = map[fallback.Strategy]fallback.Tier{
	fallback.StrategyAutoRepair: fallback.AutoRepair{}, fallback.StrategyIntent: fallback.NewIntent(),
	fallback.StrategyPartial: fallback.Partial{}, fallback.StrategyClarification: fallback.Clarification{},
}

// madeID begins the ids that the parser made, which the golden files leave out.
const madeID = "made_"

var made atomic.Int64

func newID() string { return fmt.Sprint(madeID, made.Add(1)) }

// Files returns the case files below a folder.
func Files(t testing.TB, root string) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".txtar") {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// Load reads the cases of a file. Their tools are in its "tools.json", or in the
// one at the root of the test data.
func Load(t testing.TB, root, file string) (*txtar.Archive, []*Case) {
	t.Helper()
	a, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	tools, err := os.ReadFile(filepath.Join(root, "tools.json"))
	if err != nil {
		t.Fatal(err)
	}
	files := make(map[string][]byte)
	for _, f := range a.Files {
		files[f.Name] = f.Data
	}
	if own, ok := files["tools.json"]; ok {
		tools = own
	}
	var cases []*Case
	for _, f := range a.Files {
		name, ok := strings.CutSuffix(f.Name, ".input")
		if !ok {
			continue
		}
		c := &Case{Name: name, File: file, Text: strings.TrimSuffix(string(f.Data), "\n"), Want: string(files[name+".want"])}
		var s settings
		if o, ok := files[name+".options"]; ok {
			dec := json.NewDecoder(bytes.NewReader(o))
			dec.DisallowUnknownFields()
			if err := dec.Decode(&s); err != nil {
				t.Fatalf("%s: %s.options: %v", file, name, err)
			}
		}
		c.Context = parser.Context{Model: s.Model, Format: s.Format, ReasoningOpen: s.ReasoningOpen, Prompt: s.Prompt, Values: s.Values}
		c.Options = parser.Options{AllowPartial: s.AllowPartial, StrictMode: s.StrictMode, NewID: newID, Timeout: -1}
		c.Options.Validation.Lossy = s.Lossy
		for _, name := range s.Tiers {
			tier, ok := tiers[name]
			if !ok {
				t.Fatalf("%s: there is no tier %q", file, name)
			}
			c.Options.Fallbacks = append(c.Options.Fallbacks, fallback.Step{Tier: tier})
		}
		var list []registry.Tool
		if !s.NoTools {
			if list, err = registry.Parse(tools); err != nil {
				t.Fatalf("%s: tools: %v", file, err)
			}
		}
		if c.tools, err = registry.New(list...); err != nil {
			t.Fatalf("%s: tools: %v", file, err)
		}
		if c.parser, err = parser.New(c.tools, c.Options); err != nil {
			t.Fatal(err)
		}
		cases = append(cases, c)
	}
	return a, cases
}

// Render writes a result for a person to check.
func Render(r *parser.Result) string {
	var b strings.Builder
	for i := range r.Calls {
		c := &r.Calls[i]
		fmt.Fprintf(&b, "call %s %s\n", c.Tool, compact(c.Parameters))
		fmt.Fprintf(&b, "  %s %s %.2f", c.SourceFormat, c.Provenance, c.Confidence)
		if !strings.HasPrefix(c.ID, madeID) {
			fmt.Fprintf(&b, " id=%s", c.ID)
		}
		for _, f := range []struct {
			name string
			on   bool
		}{{"truncated", c.Truncated}, {"inferred", c.Inferred}} {
			if f.on {
				b.WriteString(" " + f.name)
			}
		}
		b.WriteString("\n")
		for _, x := range c.Coercions {
			fmt.Fprintf(&b, "  coercion %s %s -> %s %s\n", x.Path, compact(x.From), compact(x.To), x.Rule)
		}
		for _, line := range []struct {
			name string
			list []string
		}{{"default", c.Defaults}, {"repair", c.Repairs}, {"warning", c.Warnings}} {
			for _, x := range line.list {
				fmt.Fprintf(&b, "  %s %s\n", line.name, x)
			}
		}
	}
	for i := range r.Rejected {
		x := &r.Rejected[i]
		fmt.Fprintf(&b, "rejected %q %s\n", x.Tool, compact(x.Parameters))
		for _, e := range x.Errors {
			fmt.Fprintf(&b, "  %s %s", e.Code, e.Path)
			if e.SuggestedFix != "" {
				fmt.Fprintf(&b, " (%s)", e.SuggestedFix)
			}
			b.WriteString("\n")
		}
	}
	if r.Content != "" {
		fmt.Fprintf(&b, "content %s\n", compact(r.Content))
	}
	if r.Reasoning != "" {
		fmt.Fprintf(&b, "reasoning %s\n", compact(r.Reasoning))
	}
	for _, w := range r.Warnings {
		fmt.Fprintf(&b, "warning %s\n", w)
	}
	if r.Strategy != "" {
		fmt.Fprintf(&b, "strategy %s\n", r.Strategy)
	}
	return b.String()
}

func compact(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err.Error()
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// Write writes what was made of the cases into their file.
func Write(t testing.TB, file string, a *txtar.Archive, got map[string]string) {
	t.Helper()
	var files []txtar.File
	for _, f := range a.Files {
		name, isWant := strings.CutSuffix(f.Name, ".want")
		if isWant {
			if _, ok := got[name]; ok {
				continue
			}
		}
		files = append(files, f)
		if name, ok := strings.CutSuffix(f.Name, ".input"); ok {
			files = append(files, txtar.File{Name: name + ".want", Data: []byte(got[name])})
		}
	}
	// The options of a case stand between its input and what is wanted.
	for i := 0; i+2 < len(files); i++ {
		if strings.HasSuffix(files[i].Name, ".input") && strings.HasSuffix(files[i+2].Name, ".options") {
			files[i+1], files[i+2] = files[i+2], files[i+1]
		}
	}
	a.Files = files
	if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
		t.Fatal(err)
	}
}
