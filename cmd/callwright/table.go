package main

import (
	"strings"

	"github.com/mattn/go-runewidth"
)

// table is text in columns: the first flush left, the others flush right. Widths are those
// of a terminal, where Chinese, Japanese and Korean characters take two columns.
type table struct {
	rows   [][]string
	widths []int
}

// row adds a row. A row of one cell is a heading and widens no column.
func (t *table) row(cells ...string) {
	t.rows = append(t.rows, cells)
	if len(cells) == 1 {
		return
	}
	for i, c := range cells {
		if i == len(t.widths) {
			t.widths = append(t.widths, 0)
		}
		t.widths[i] = max(t.widths[i], runewidth.StringWidth(c))
	}
}

func (t *table) write(b *strings.Builder) {
	for _, cells := range t.rows {
		var line strings.Builder
		for i, c := range cells {
			if i == 0 {
				line.WriteString(runewidth.FillRight(c, t.widths[i]))
			} else {
				line.WriteString("  " + runewidth.FillLeft(c, t.widths[i]))
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
}
