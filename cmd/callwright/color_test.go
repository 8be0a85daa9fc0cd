package main

import (
	"context"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/mattn/go-runewidth"

	"github.com/callwright/callwright/parser"
)

// colors are what paint adds to a text.
var colors = regexp.MustCompile("\x1b\\[[0-9;]*m")

// parsed parses a text with the tools of testdata.
func parsed(t *testing.T, input string) (*parser.Parser, *parser.Result, []parser.Candidate) {
	t.Helper()
	p, err := (&flags{tools: root + "/tools.json"}).parser(io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	r, all, err := p.Explain(context.Background(), input, parser.Context{})
	if err != nil {
		t.Fatal(err)
	}
	return p, r, all
}

const rome = `<think>それを調べる</think>Moment. <tool_call>{"name": "get_weather", "arguments": {"city": "ローマ"}}</tool_call>` +
	"\n" + `<tool_call>{"name": "no_such", "arguments": {}}</tool_call>`

func TestMarked(t *testing.T) {
	_, r, all := parsed(t, rome)
	var plain, colored strings.Builder
	screen{}.markedInput(&plain, rome, r, all)
	screen{colors: true}.markedInput(&colored, rome, r, all)
	want := `   1 │ <think>それを調べる</think>Moment. [1 get_weather `
	if !strings.HasPrefix(plain.String(), want) || !strings.Contains(plain.String(), "\n   2 │ [2 ✕ no_such] <tool_call>{") {
		t.Errorf("%s", plain.String())
	}
	if got := colors.ReplaceAllString(colored.String(), ""); got != plain.String() {
		t.Errorf("colours change the text:\n%s\n%s", got, plain.String())
	}
	for _, want := range []string{
		"\x1b[2;9m<think>\x1b[0m", "\x1b[3;35mそれを調べる\x1b[0m", "\x1b[1;4;36m<tool_call>{", "\x1b[4;33m<tool_call>{", "\x1b[2;9m</tool_call>",
	} {
		if !strings.Contains(colored.String(), want) {
			t.Errorf("no %q in\n%q", want, colored.String())
		}
	}
}

// TestWrapped wraps lines by what they take on a terminal, at any width.
func TestWrapped(t *testing.T) {
	input := rome + strings.Repeat("天気", 50) + "\tend\n"
	_, r, all := parsed(t, input)
	for width := 0; width < 60; width++ {
		var b strings.Builder
		screen{colors: true, width: width}.markedInput(&b, input, r, all)
		for line := range strings.Lines(colors.ReplaceAllString(b.String(), "")) {
			if n := runewidth.StringWidth(strings.TrimRight(line, "\n")); width > 0 && n > max(width, gutter+2) {
				t.Fatalf("width %d: a line takes %d columns: %q", width, n, line)
			}
		}
	}
}

func TestMarkedHostile(t *testing.T) {
	input := "\x1b]0;title\x07 \u202e <tool_call>{\"name\": \"get_\x1b[31mweather\", \"arguments\": {\"city\": \"\x1b[2J\"}}</tool_call>\r"
	_, r, all := parsed(t, input)
	var b strings.Builder
	screen{colors: true, width: 40}.markedInput(&b, input, r, all)
	if rest := colors.ReplaceAllString(b.String(), ""); strings.ContainsAny(rest, "\x1b\x07\r\u202e") {
		t.Errorf("%q", rest)
	}
	if strings.Contains(b.String(), "\x1b[2J") || strings.Contains(b.String(), "\x1b[31m") {
		t.Errorf("%q", b.String())
	}
}

func TestScreen(t *testing.T) {
	if s := screenOf(io.Discard); s.colors || s.width != 0 {
		t.Error(s)
	}
	if got := (screen{colors: true}).paint(styleMuted, "a\x1b"); got != "\x1b[2ma\ufffd\x1b[0m" {
		t.Errorf("%q", got)
	}
}

func TestBar(t *testing.T) {
	for _, tt := range []struct {
		factor float64
		want   string
	}{
		{1, "                │   "},
		{0.2, "████████████████│   "},
		{0.01, "████████████████│   "},
		{0, "████████████████│   "},
		{0.5, "         ███████│   "},
		{1.25, "                │███"},
		{9, "                │███"},
	} {
		if got := bar(tt.factor); got != tt.want {
			t.Errorf("%g: %q, not %q", tt.factor, got, tt.want)
		}
	}
	out, _, _ := run(t, rome, "explain", "--tools", root+"/tools.json")
	if !strings.Contains(out, "   0.50           ███████│     name_unknown\n") || !strings.Contains(out, "1 │ <think>") {
		t.Error(out)
	}
}

// TestStreamView shows what comes, however it is cut.
func TestStreamView(t *testing.T) {
	p, _, _ := parsed(t, "")
	for _, size := range []int{1, 7, len(rome)} {
		var b strings.Builder
		v := streamView{screen: screen{colors: true}, w: &b}
		chunks := func(yield func(string) bool) {
			for at := 0; at < len(rome); at += size {
				if !yield(rome[at:min(at+size, len(rome))]) {
					return
				}
			}
		}
		for e, err := range parser.Stream(context.Background(), p, chunks, parser.Context{}) {
			if err != nil {
				t.Fatal(err)
			}
			if err := v.event(&e); err != nil {
				t.Fatal(err)
			}
		}
		got := colors.ReplaceAllString(b.String(), "")
		lines := strings.Split(got, "\n")
		if len(lines) != 6 || lines[0] != "それを調べる" || lines[1] != "Moment." || !strings.HasPrefix(lines[2], `[1 get_weather] {"city":"ローマ"`) ||
			!strings.Contains(lines[2], "  ✓ ") || !strings.HasPrefix(lines[3], "[no_such]") || !strings.Contains(lines[3], "✕ unknown_tool: ") ||
			lines[4] != "1 call, 1 rejected" || lines[5] != "" {
			t.Errorf("pieces of %d:\n%s", size, got)
		}
	}
}

func TestSummary(t *testing.T) {
	lines := strings.Join([]string{
		`{"text": "<tool_call>{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Rome\"}}</tool_call>"}`,
		`{"text": "<tool_call>{\"name\": \"no_such\", \"arguments\": {}}</tool_call>"}`, `{"text": "hello"}`, `{`, `{"text": "{}", "schema": true}`,
	}, "\n")
	_, errs, code := run(t, lines, "batch", "--summary", "--tools", root+"/tools.json")
	want := `
dialect  lines  called  called and rejected  rejected  no call  failed
none         2       0                    0         0        1       1
hermes       2       1                    0         1        0       0
all          4       1                    0         1        1       1
`
	if code != exitNoCalls || !strings.HasSuffix(errs, want) {
		t.Errorf("exit code %d\n%s", code, errs)
	}
	if _, errs, _ := run(t, lines, "batch"); strings.Contains(errs, "dialect") {
		t.Errorf("a summary without a terminal:\n%s", errs)
	}
}
