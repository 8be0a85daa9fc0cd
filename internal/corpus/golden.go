package corpus

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/txtar"

	"github.com/callwright/callwright/registry"
)

// Golden reads the golden cases below a folder: texts and the calls that a person
// checked. Those that need options of their own are left out.
func Golden(root string) ([]Case, error) {
	data, err := os.ReadFile(filepath.Join(root, "tools.json"))
	if err != nil {
		return nil, err
	}
	var cases []Case
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".txtar") || strings.Contains(path, "replies") {
			return err
		}
		a, err := txtar.ParseFile(path)
		if err != nil {
			return err
		}
		files := map[string][]byte{}
		for _, f := range a.Files {
			files[f.Name] = f.Data
		}
		tools := data
		if own, ok := files["tools.json"]; ok {
			tools = own
		}
		list, err := registry.Parse(tools)
		if err != nil {
			return err
		}
		r, err := registry.New(list...)
		if err != nil {
			return err
		}
		for _, f := range a.Files {
			name, ok := strings.CutSuffix(f.Name, ".input")
			if _, special := files[name+".options"]; !ok || special {
				continue
			}
			c := Case{
				ID: filepath.Base(filepath.Dir(path)) + "/" + name, Text: strings.TrimSuffix(string(f.Data), "\n"), Tools: r,
				Format: filepath.Base(filepath.Dir(path)), Difficulty: Medium, Tags: []string{"golden", name},
			}
			if c.Want, err = wanted(string(files[name+".want"])); err != nil {
				return fmt.Errorf("%s: %s: %w", path, name, err)
			}
			c.ShouldSucceed = len(c.Want) > 0
			cases = append(cases, c)
		}
		return nil
	})
	return cases, err
}

// wanted reads the calls of what a golden file wants.
func wanted(want string) (calls []Call, err error) {
	for line := range strings.Lines(want) {
		rest, ok := strings.CutPrefix(line, "call ")
		if !ok {
			continue
		}
		tool, parameters, _ := strings.Cut(strings.TrimSpace(rest), " ")
		c := Call{Tool: tool}
		if err := json.Unmarshal([]byte(parameters), &c.Parameters); err != nil {
			return nil, err
		}
		calls = append(calls, c)
	}
	return calls, nil
}

// Mutate makes variants of cases: in other words, and with a letter of their structure
// lost. A variant means what its original means.
func Mutate(seed uint64, cases []Case, each int) []Case {
	var out []Case
	for i := range cases {
		base := &cases[i]
		out = append(out, *base)
		h := fnv.New64a()
		h.Write([]byte(base.ID))
		g := &generator{r: rand.New(rand.NewPCG(seed, h.Sum64())), tools: base.Tools}
		for n := range each {
			c := *base
			c.ID = fmt.Sprintf("%s#%d", base.ID, n)
			c.Tags = append([]string{}, base.Tags...)
			switch g.r.IntN(3) {
			case 0:
				if strings.HasPrefix(c.Text, "<") || strings.HasPrefix(c.Text, "[") { // words may belong to what is there
					c.Text = g.preamble() + "\n" + c.Text
					c.Tags = append(c.Tags, "prose")
				}
			case 1:
				if c.delicate() {
					continue
				}
				if text, ok := g.dropOne(c.Text, g.one(`"`, ",", ":", "}", "]")[0]); ok {
					c.Text = text
					c.Tags = append(c.Tags, "dropped")
				}
			case 2:
				if c.delicate() || !g.mutate(&c) {
					continue
				}
			}
			if c.Text != base.Text {
				c.Difficulty = Hard
				out = append(out, c)
			}
		}
	}
	return out
}

// delicate reports whether some string of the calls holds what also makes up their
// structure: a mutation may hit it, and then the text means something else.
func (c *Case) delicate() bool {
	for _, w := range c.Want {
		if delicate(w.Parameters) {
			return true
		}
	}
	return false
}

func delicate(v any) bool {
	switch x := v.(type) {
	case string:
		return strings.ContainsAny(x, "{}[]<>\"'\\:,\n")
	case map[string]any:
		for _, e := range x {
			if delicate(e) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(x, delicate)
	}
	return false
}

// Half reports to which half of a sample a case belongs: its variants go with it.
func Half(c *Case) int {
	id, _, _ := strings.Cut(c.ID, "#")
	h := fnv.New32a()
	h.Write([]byte(id))
	return int(h.Sum32() & 1)
}
