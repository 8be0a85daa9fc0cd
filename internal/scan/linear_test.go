package scan

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/callwright/callwright/dialect"
	"github.com/callwright/callwright/internal/lenient"
	"github.com/callwright/callwright/registry"
)

// fragments are what hostile texts are made of: the markers of all dialects, turns and
// regions, and pieces of JSON, tags, code and YAML.
func fragments() []string {
	list := []string{
		"{", "}", "[", "]", "[{", "{[", `{"a":`, `{"name":`, `{"name": "f", "arguments": {`, `{"name": "f"}`, `"`, `'`, `\"`, `"""`, "`", "```", "```json\n", "``` ",
		"<", "</", "<f>", "</f>", "<f>\n<a>", "<f><a>1</a>", "<a>", "</a>", "<f ", `<f a="`, "<invoke", `<invoke name="f">`, `<parameter name="a">`, "<parameter=a>",
		"<function=f>", "</function>", "</parameter>", "<tool_call>", "</tool_call>", "<tool_call>f", "<arg_key>a</arg_key>", "<arg_value>", "<![CDATA[", "]]>",
		"f(", "f(a=", "f(a=1", "[f(", "f(a=[", "f ", "f\n", "f\n{", "f: ", "Action: f\n", "Action Input: ", "Thought: ", "Observation: ", "tool: f\n", "- name: f\n",
		"name: f\narguments:\n", "call:f{", `call:f{a:<|"|>`, "a: |\n  ", "\n", " ", "\n\n", "\t", ",", ":", ">", "> ", "# ", "| ", "- ", "1. ", "**", "//", "/*", "*/", "#",
		"<think>", "</think>", "\\", "\\u", "\\n", "&lt;", "&quot;", "“", "「", "\u00a0", "x", "word ", "<|", "|>", "<0>", "<item>", "(", ")", "=", "$", "\\[", "END_ARG", "BEGIN_ARG: a\n",
	}
	b := dialect.Builtin()
	for _, d := range b.Dialects {
		list = append(list, d.Open...)
		list = append(list, d.Close...)
	}
	for _, turn := range b.Turns {
		list = append(list, strings.TrimPrefix(turn.Marker, "^"))
	}
	seen := map[string]bool{}
	kept := list[:0]
	for _, f := range list {
		if f != "" && !seen[f] {
			seen[f] = true
			kept = append(kept, f)
		}
	}
	return kept
}

// lookedAt returns how many bytes a scan of a text examined.
func lookedAt(table *Table, r *registry.Registry, text string) int {
	c := lenient.NewText(text)
	s := New(c, Options{Table: table, Registry: r}, &collector{})
	_ = s.Run() // it cannot fail without a check
	return c.Looked()
}

// TestLinear repeats each fragment, and pairs of fragments, many times and twice as many:
// what is examined grows no faster than the text, or stays within its bound.
func TestLinear(t *testing.T) {
	r, err := registry.New(registry.Tool{Name: "f", Parameters: map[string]any{
		"type": "object", "properties": map[string]any{"a": map[string]any{"type": "string"}, "b": map[string]any{"type": "array"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	table, err := NewTable(dialect.Builtin())
	if err != nil {
		t.Fatal(err)
	}
	const small = 1 << 14 // bytes
	list := fragments()
	check := func(name string, text func(n int) string, unit int) {
		n := small/unit + 1
		one, two := text(n), text(2*n)
		a, b := lookedAt(table, r, one), lookedAt(table, r, two)
		bound := looksPerByte*len(two) + looksAtLeast // and what one construct may take beyond it
		if float64(b) > 2.2*float64(a) && b > bound+bound/4 {
			t.Errorf("%s: %d bytes are looked at %.1f times, %d bytes %.1f times", name, len(one), float64(a)/float64(len(one)), len(two), float64(b)/float64(len(two)))
		}
	}
	for _, f := range list {
		check(fmt.Sprintf("%q", f), func(n int) string { return strings.Repeat(f, n) }, len(f))
	}
	if testing.Short() {
		return
	}
	const partners = 6
	random := rand.New(rand.NewPCG(1, 2))
	for _, f := range list {
		for range partners {
			g := list[random.IntN(len(list))]
			check(fmt.Sprintf("%q + %q", f, g), func(n int) string { return strings.Repeat(f+g, n) }, len(f)+len(g))
			check(fmt.Sprintf("%q, then %q", f, g), func(n int) string { return strings.Repeat(f, n) + strings.Repeat(g, n) }, len(f)+len(g))
		}
	}
}
