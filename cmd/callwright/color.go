package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"github.com/mattn/go-runewidth"
	"golang.org/x/term"

	"github.com/callwright/callwright/console"
	"github.com/callwright/callwright/internal/text"
	"github.com/callwright/callwright/parser"
)

// style is a set of ANSI display attributes (ECMA-48, SGR), from the sixteen colours of the
// terminal's own theme.
type style string

const (
	styleCalled    style = "1;4;36"
	styleRejected  style = "4;33"
	styleReasoning style = "3;35"
	styleDropped   style = "2;9"
	styleTag       style = "1;7"
	styleMuted     style = "2"
	stylePlain     style = ""
)

var kindStyles = map[console.Kind]style{
	console.Called: styleCalled, console.Rejected: styleRejected, console.Reasoning: styleReasoning, console.Dropped: styleDropped,
}

// screen is where people read: a terminal, or a text without colours.
type screen struct {
	colors bool
	width  int // columns; 0 if lines are not to be wrapped
}

// screenOf returns what is known of a writer. Colours are used on a terminal, unless
// NO_COLOR is set to anything (https://no-color.org) or the terminal knows none.
func screenOf(w io.Writer) screen {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return screen{}
	}
	s := screen{colors: os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
	if width, _, err := term.GetSize(int(f.Fd())); err == nil {
		s.width = width
	}
	return s
}

// paint puts a text into a style. What would steer the terminal is taken out of it.
func (s screen) paint(in style, t string) string {
	t = text.Printable(t)
	if !s.colors || in == stylePlain || t == "" {
		return t
	}
	return "\x1b[" + string(in) + "m" + t + "\x1b[0m"
}

// maxMarked bounds the text that is shown with marks, in bytes.
const maxMarked = 64 << 10

// marked writes a text with its line numbers and its segments marked: in colour, and each
// candidate behind a tag with its number, its tool, and its confidence or that it is no call.
func (s screen) marked(b *strings.Builder, all []console.Candidate, segments []console.Segment) {
	m := marker{screen: s, b: b}
	for i := range segments {
		x := &segments[i]
		for _, c := range x.Candidates {
			m.write(styleTag, tagOf(c, &all[c]))
			m.write(stylePlain, " ")
		}
		m.write(kindStyles[x.Kind], x.Text)
	}
	b.WriteString("\n")
}

// markedInput writes a text that was parsed with its candidates marked, if it is not too
// long to be read.
func (s screen) markedInput(b *strings.Builder, input string, r *parser.Result, all []parser.Candidate) {
	if len(input) > maxMarked || input == "" {
		return
	}
	candidates := console.Candidates(r, all)
	s.marked(b, candidates, console.Segments(input, r, candidates))
	b.WriteString("\n")
}

// tagOf names a candidate where it begins.
func tagOf(i int, c *console.Candidate) string {
	name := text.Clip(c.Tool, 48)
	if name == "" {
		name = "no call"
	}
	if c.Called {
		return fmt.Sprintf("[%d %s %.2f]", i+1, name, c.Score.Overall)
	}
	return fmt.Sprintf("[%d ✕ %s]", i+1, name)
}

// marker writes text behind line numbers, and wraps it by the widths of its characters.
type marker struct {
	screen
	b      *strings.Builder
	lines  int // how many line feeds there were
	begun  bool
	column int
}

const gutter = 7 // columns of a line number and the rule behind it

func (m *marker) begin(number string) {
	if m.begun {
		m.b.WriteString("\n")
	}
	m.begun = true
	m.b.WriteString(m.paint(styleMuted, runewidth.FillLeft(number, gutter-3)+" │ "))
	m.column = gutter
}

// write writes text in a style, which ends at each line's end.
func (m *marker) write(in style, t string) {
	if !m.begun {
		m.begin("1")
	}
	t = strings.ReplaceAll(text.Printable(t), "\t", "    ")
	for i, line := range strings.Split(t, "\n") {
		if i > 0 {
			m.lines++
			m.begin(fmt.Sprint(m.lines + 1))
		}
		for line != "" {
			n := m.fitting(line)
			m.b.WriteString(m.paint(in, line[:n]))
			m.column += runewidth.StringWidth(line[:n])
			if line = line[n:]; line != "" {
				m.begin("")
			}
		}
	}
}

// fitting is how many bytes of a line fit into what is left of the row: at least one
// character of a whole row.
func (m *marker) fitting(line string) int {
	if m.width == 0 {
		return len(line)
	}
	column := m.column
	for i, r := range line {
		column += runewidth.RuneWidth(r)
		if column > max(m.width, gutter+2) && (i > 0 || m.column > gutter) {
			return i
		}
	}
	return len(line)
}

// Columns of a bar on both sides of its rule.
const barLeft, barRight = 16, 3

// bar draws a factor of evidence on a logarithmic scale from 0.2 to 1.25: left of the rule
// what lowers the confidence, right of it what raises it.
func bar(factor float64) string {
	const low, high = 0.2, 1.25
	n := 0
	if factor > 0 && factor < 1 {
		n = int(math.Round(barLeft * math.Log(max(factor, low)) / math.Log(low)))
	} else if factor <= 0 {
		n = barLeft
	}
	above := 0
	if factor > 1 {
		above = int(math.Round(barRight * math.Log(min(factor, high)) / math.Log(high)))
	}
	return strings.Repeat(" ", barLeft-n) + strings.Repeat("█", n) + "│" + strings.Repeat("█", above) + strings.Repeat(" ", barRight-above)
}
