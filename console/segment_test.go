package console

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/tools/txtar"
	"pgregory.net/rapid"

	"github.com/callwright/callwright/parser"
)

func tools(t testing.TB) []byte {
	t.Helper()
	data, err := os.ReadFile("../testdata/tools.json")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func explained(t testing.TB, q Request) *Explanation {
	t.Helper()
	x, err := Explain(context.Background(), &q, parser.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// checkSegments holds that segments add up to the text and name each candidate once.
func checkSegments(t interface{ Fatalf(string, ...any) }, text string, x *Explanation) {
	at, seen := 0, map[int]bool{}
	for _, s := range x.Segments {
		if s.Start != at || s.Text == "" || !strings.HasPrefix(text[at:], s.Text) {
			t.Fatalf("%q: at %d: %+v", text, at, s)
		}
		at += len(s.Text)
		for _, c := range s.Candidates {
			if seen[c] || c >= len(x.Candidates) {
				t.Fatalf("%q: candidate %d: %+v", text, c, x.Segments)
			}
			seen[c] = true
		}
	}
	if at != len(text) {
		t.Fatalf("%q: the segments end at %d", text, at)
	}
	if !utf8.ValidString(text) { // in open reasoning, spans of such texts are not those of the input
		return
	}
	for i := range x.Candidates {
		if span := x.Candidates[i].Span; !seen[i] && span[0] < span[1] {
			t.Fatalf("%q: candidate %d is in no segment: %+v", text, i, x.Candidates[i])
		}
	}
}

// TestSegments marks the texts of all golden cases.
func TestSegments(t *testing.T) {
	files, err := filepath.Glob("../testdata/*/*.txtar")
	more, err2 := filepath.Glob("../testdata/dialects/*/*.txtar")
	if err != nil || err2 != nil || len(more) == 0 {
		t.Fatal(err, err2)
	}
	definitions := tools(t)
	for _, file := range append(files, more...) {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.Files {
			if strings.HasSuffix(f.Name, ".input") {
				text := string(f.Data)
				x := explained(t, Request{Text: text, Tools: definitions})
				checkSegments(t, text, x)
			}
		}
	}
}

func TestSegmentsOfAnyText(t *testing.T) {
	definitions := tools(t)
	parts := []string{
		`<tool_call>`, `</tool_call>`, `{"name": "get_weather", "arguments": {"city": "Rome"}}`, "\n", " ", "<think>", "</think>", "Moment. ",
		`[get_weather(city="a"), get_weather(city="b")]`, "```json\n", "```", "天気", "\x00", "\xff", `{"name": "x"`, "For example: ",
	}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 12).Draw(t, "parts"), "")
		open := rapid.Bool().Draw(t, "reasoning open")
		x, err := Explain(context.Background(), &Request{Text: text, Tools: definitions, ReasoningOpen: open, Piece: 5}, parser.Options{})
		if err != nil {
			t.Fatal(err)
		}
		checkSegments(t, text, x)
	})
}

func TestSegmentKinds(t *testing.T) {
	text := "<think>Hm.</think>Moment. <tool_call>{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Rome\"}}\n</tool_call> Done. " +
		"For example {\"name\": \"get_weather\", \"arguments\": {\"city\": \"Rome\"}}"
	var got []string
	for _, s := range explained(t, Request{Text: text, Tools: tools(t)}).Segments {
		got = append(got, string(s.Kind)+":"+strings.TrimSpace(s.Text))
	}
	want := "dropped:<think>|reasoning:Hm.|dropped:</think>|content:Moment.|dropped:|called:<tool_call>{\"name\": \"get_weather\", \"arguments\": " +
		"{\"city\": \"Rome\"}}|dropped:</tool_call>|content:Done. For example|rejected:{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Rome\"}}"
	if s := strings.Join(got, "|"); s != want {
		t.Errorf("\n%s\n%s", s, want)
	}
}
