package extractor

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/callwright/callwright/internal/prefix"
)

// Table is a set of dialects, made ready for scanning. It does not change and is
// safe for concurrent use.
type Table struct {
	rows    []Dialect
	byName  map[string]*Dialect
	markers map[uint16][]*marker // by their first two bytes, the longest first
	line    [256][]*marker       // markers that count at a line's beginning, by first byte
	labels  []*Dialect           // bodies of lines
	trigger [256]bool
	begins  prefix.Set // of what may begin a line
	closers []string   // closing markers of reasoning that say that all before was reasoning
}

// NewTable makes a table of dialects. A row takes precedence over those before
// it that have the same name. The error is a [*DialectError].
func NewTable(rows ...Dialect) (*Table, error) {
	t := &Table{byName: make(map[string]*Dialect), markers: make(map[uint16][]*marker)}
	at := make(map[string]int)
	for _, row := range rows {
		if err := row.Check(); err != nil {
			return nil, err
		}
		if i, ok := at[row.Name]; ok {
			t.rows[i] = row
			continue
		}
		at[row.Name] = len(t.rows)
		t.rows = append(t.rows, row)
	}
	all := make(map[string]*marker)
	for i := range t.rows {
		row := &t.rows[i]
		t.byName[row.Name] = row
		for _, m := range row.Open {
			for _, form := range spellings(m) {
				mk := t.marker(all, form, opens)
				mk.rows = append(mk.rows, row)
				mk.section = mk.section || form == m && slices.Contains(row.Options.Section, m)
			}
		}
		if row.Body == BodyLines && row.Options.Label != "" {
			t.labels = append(t.labels, row)
		}
	}
	for i := range t.rows {
		row := &t.rows[i]
		for _, a := range row.Aliases {
			if other := t.byName[a]; other != nil && other != row && other.Name == a {
				return nil, &DialectError{Dialect: row.Name, Field: "aliases", Err: fmt.Errorf("%w: %q", ErrTwice, a)}
			}
			if t.byName[a] == nil {
				t.byName[a] = row
			}
		}
		for _, m := range row.Close {
			for _, form := range spellings(m) {
				t.marker(all, form, closes)
			}
		}
	}
	for i := range reasonings {
		f := &reasonings[i]
		for _, m := range f.open {
			if f.start {
				m = "^" + m
			}
			for _, form := range spellings(m) {
				t.marker(all, form, thinks).form = f
			}
		}
		for _, m := range f.close {
			if f.orphan {
				t.marker(all, m, concludes)
				if !slices.Contains(t.closers, m) {
					t.closers = append(t.closers, m)
				}
			} else if !f.start {
				t.marker(all, m, noise)
			}
		}
	}
	for _, w := range wrappers {
		t.marker(all, w.end, closes)
	}
	for _, m := range turnMarkers {
		t.marker(all, m, noise)
	}
	for _, r := range resultRegions {
		t.marker(all, r.open, results).end = r.end
		t.marker(all, r.end, noise)
	}
	for _, r := range quoteRegions {
		t.marker(all, r.open, quotes).end = r.end
	}
	for _, m := range all {
		if strings.HasPrefix(m.pattern, "^") {
			m.pattern = m.pattern[1:]
			t.line[m.pattern[0]] = append(t.line[m.pattern[0]], m)
			continue
		}
		t.trigger[m.pattern[0]] = true
		key := uint16(m.pattern[0])<<8 | uint16(m.pattern[1])
		if !m.plain && strings.HasPrefix(m.pattern[1:], "｜") { // any bar, or a blank
			for _, second := range []byte{'|', ' ', "｜"[0], "‖"[0]} {
				t.add(uint16(m.pattern[0])<<8|uint16(second), m)
			}
			continue
		}
		t.add(key, m)
	}
	longestFirst := func(list []*marker) {
		sort.Slice(list, func(i, j int) bool {
			a, b := len(strings.Replace(list[i].pattern, ":*", "", 1)), len(strings.Replace(list[j].pattern, ":*", "", 1))
			if a != b {
				return a > b
			}
			if list[i].plain != list[j].plain {
				return list[i].plain
			}
			return list[i].pattern < list[j].pattern
		})
	}
	for _, list := range t.markers {
		longestFirst(list)
	}
	for i := range t.line {
		longestFirst(t.line[i])
	}
	for _, list := range t.line {
		for _, m := range list {
			t.begins.Add(m.pattern)
		}
	}
	for _, row := range t.labels {
		t.addLabel(row.Options.Label)
	}
	for _, label := range []string{"Thought", "Observation", "call:", "function"} {
		t.addLabel(label)
	}
	for _, b := range []byte(">*#_-0123456789") { // quotations, bold labels, lists
		t.begins.AddAny(b)
	}
	for _, b := range []byte("\n`{[<~") {
		t.trigger[b] = true
	}
	return t, nil
}

// addLabel adds a label in any case to what may begin a line.
func (t *Table) addLabel(label string) {
	for _, first := range []byte{label[0] | 0x20, label[0] &^ 0x20} {
		for _, second := range []byte{label[1] | 0x20, label[1] &^ 0x20} {
			t.begins.Add(string([]byte{first, second}))
		}
	}
}

// spellings returns a pattern and, where a suffix is optional in it, the pattern
// without, which may be another dialect's marker too.
func spellings(p string) []string {
	if strings.Contains(p, ":*") {
		return []string{strings.Replace(p, ":*", "", 1), p}
	}
	return []string{p}
}

func (t *Table) add(key uint16, m *marker) {
	if !slices.Contains(t.markers[key], m) {
		t.markers[key] = append(t.markers[key], m)
	}
}

// marker returns the marker of a pattern, made if it is not there. What a marker
// was first made for stays its kind: opening takes precedence over closing.
func (t *Table) marker(all map[string]*marker, pattern string, kind markerKind) *marker {
	m := all[pattern]
	if m == nil {
		m = &marker{pattern: pattern, plain: !isLoose(pattern), kind: kind}
		all[pattern] = m
	}
	return m
}

// Dialects returns the rows in their order.
func (t *Table) Dialects() []Dialect { return slices.Clone(t.rows) }

// Lookup returns the dialect of a name or an alias, or nil.
func (t *Table) Lookup(name string) *Dialect { return t.byName[name] }
