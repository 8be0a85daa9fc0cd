package parser_test

import (
	"context"
	"os"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/callwright/callwright/internal/golden"
	"github.com/callwright/callwright/parser"
	"github.com/callwright/callwright/registry"
)

func newCase(t testing.TB) *golden.Case {
	t.Helper()
	_, cases := golden.Load(t, root, root+"/replies/bare.txtar")
	return cases[0]
}

// seeds are the texts of all golden cases.
func seeds(t testing.TB) []string {
	t.Helper()
	var texts []string
	for _, file := range golden.Files(t, root) {
		_, cases := golden.Load(t, root, file)
		for _, c := range cases {
			texts = append(texts, c.Text)
		}
	}
	return texts
}

// checkText checks on any text that parsing does not fail; that cutting it
// changes nothing; that every call's raw text stands at its span; and that a
// call's parameters fit its tool.
func checkText(t rapid.TB, c *golden.Case, text []byte, cuts []int) {
	t.Helper()
	whole := parse(t, c, string(text))
	for _, x := range whole.Calls {
		if x.Raw != string(text[x.Span[0]:x.Span[1]]) && x.Metadata.ParsingMethod != "native" && !x.Inferred {
			t.Errorf("the raw text of %s is not at its span", x.Tool)
		}
		if x.Confidence < 0.5 || x.Confidence > 1 {
			t.Errorf("%s has the confidence %g", x.Tool, x.Confidence)
		}
	}
	var chunks [][]byte
	at := 0
	for _, n := range cuts {
		if n > at && n < len(text) {
			chunks = append(chunks, text[at:n])
			at = n
		}
	}
	chunks = append(chunks, text[at:])
	if got := stream(t, c, chunks); golden.Render(got) != golden.Render(whole) {
		t.Errorf("%q cut at %v:\n%s\nwhole:\n%s", text, cuts, golden.Render(got), golden.Render(whole))
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range seeds(f) {
		if len(s) < 600 {
			f.Add([]byte(s), uint16(1))
		}
	}
	c := newCase(f)
	f.Fuzz(func(t *testing.T, text []byte, step uint16) {
		var cuts []int
		for i := int(step%7) + 1; i < len(text); i += int(step%7) + 1 {
			cuts = append(cuts, i)
		}
		checkText(t, c, text, cuts)
	})
}

// TestRandomCuts cuts texts made of pieces of the golden cases at random.
func TestRandomCuts(t *testing.T) {
	c, texts := newCase(t), seeds(t)
	rapid.Check(t, func(rt *rapid.T) {
		var text []byte
		for range rapid.IntRange(1, 4).Draw(rt, "pieces") {
			s := rapid.SampledFrom(texts).Draw(rt, "text")
			from := rapid.IntRange(0, len(s)).Draw(rt, "from")
			to := rapid.IntRange(from, len(s)).Draw(rt, "to")
			text = append(text, s[from:to]...)
		}
		cuts := rapid.SliceOfN(rapid.IntRange(0, len(text)+1), 0, 12).Draw(rt, "cuts")
		for i := range cuts { // ascending, whatever was drawn
			for j := i; j > 0 && cuts[j] < cuts[j-1]; j-- {
				cuts[j], cuts[j-1] = cuts[j-1], cuts[j]
			}
		}
		checkText(rt, c, text, cuts)
	})
}

func TestHostileTexts(t *testing.T) {
	data, err := os.ReadFile(root + "/tools.json")
	if err != nil {
		t.Fatal(err)
	}
	tools, err := registry.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	r, err := registry.New(tools...)
	if err != nil {
		t.Fatal(err)
	}
	p, err := parser.New(r, parser.Options{Timeout: -1})
	if err != nil {
		t.Fatal(err)
	}
	size := 10 << 20
	if testing.Short() {
		size = 1 << 20
	}
	for _, piece := range []string{
		"{", "[", `"`, "<tool_call>", "```", "```\n", "<think>", `{"a":`, "[{", `<tool_call>{"`, "<function=get_weather><parameter=city>", "> q\n", "</think>", "<", "\x00", "\xe4",
		".get_weather\n{\"city\":[", "\n['get_weather', {'city':", "\n[get_weather(", "print(get_weather(",
	} {
		text := make([]byte, 0, size+len(piece))
		for len(text) < size {
			text = append(text, piece...)
		}
		res, err := p.Parse(context.Background(), string(text), parser.Context{})
		if err != nil || len(res.Calls) > 0 {
			t.Errorf("%q many times: %d calls, %v", piece, len(res.Calls), err)
		}
	}
}

func TestConcurrentUse(t *testing.T) {
	c, texts := newCase(t), seeds(t)
	want := make([]*parser.Result, len(texts))
	for i, text := range texts {
		want[i] = parse(t, c, text)
	}
	for worker := range 4 {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			for i := worker; i < len(texts); i += 4 {
				if got := parse(t, c, texts[i]); len(got.Calls) != len(want[i].Calls) || !reflect.DeepEqual(got.Content, want[i].Content) {
					t.Errorf("%q parses otherwise beside others", texts[i])
				}
			}
		})
	}
}
