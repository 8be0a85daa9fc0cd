package scan

import (
	"cmp"
	"slices"
	"strings"

	"github.com/callwright/callwright/dialect"
	"github.com/callwright/callwright/internal/prefix"
)

// Table is what is known of how models write, made ready for scanning. It does not
// change and is safe for concurrent use.
type Table struct {
	set     dialect.Set
	byName  map[string]*dialect.Row
	markers map[uint16][]*marker // by their first two bytes, the longest first
	pairs   prefix.Set           // of the markers
	line    [256][]*marker       // markers that count at a line's beginning, by first byte
	labels  []*dialect.Row       // with a label at the beginning of a line
	places  map[place][]*dialect.Row
	leads   []lead           // what is left of markers at the beginning of a line
	words   tagWords         // of tags
	closers []string         // closing markers of reasoning that say that all before was reasoning
	wraps   []dialect.Region // wrappers of the visible text

	plain map[*dialect.Row][]string // the plainClosers of each row

	trigger [256]bool  // bytes at which something may begin
	begins  prefix.Set // of what may begin a line
}

// place is a place where a body is read without a marker.
type place struct {
	body  dialect.Body
	where dialect.Place
}

// lead is the word that is left before a call's name when a dialect's special tokens
// were taken out of its text.
type lead struct {
	word string
	row  *dialect.Row
}

// Builtin is the table of what callwright knows.
var Builtin = func() *Table {
	t, err := NewTable(dialect.Builtin())
	if err != nil {
		panic("built-in dialects: " + err.Error())
	}
	return t
}()

// NewTable makes a table of a set. The error is a [*dialect.Error].
func NewTable(set dialect.Set) (*Table, error) {
	if err := set.Check(); err != nil {
		return nil, err
	}
	t := &Table{
		set: set, byName: make(map[string]*dialect.Row), markers: make(map[uint16][]*marker),
		places: make(map[place][]*dialect.Row), plain: make(map[*dialect.Row][]string),
	}
	t.set.Dialects = slices.Clone(set.Dialects)
	all := make(markerSet)
	t.addDialects(all)
	t.addTurns(all)
	t.index(all)
	return t, nil
}

// Dialects returns the rows in their order.
func (t *Table) Dialects() []dialect.Row { return slices.Clone(t.set.Dialects) }

// Lookup returns the dialect of a name or an alias, or nil.
func (t *Table) Lookup(name string) *dialect.Row { return t.byName[name] }

// addDialects makes the markers that open and close calls.
func (t *Table) addDialects(all markerSet) {
	t.words = usualWords.clone()
	for i := range t.set.Dialects {
		row := &t.set.Dialects[i]
		t.byName[row.Name] = row
		t.plain[row] = slices.Clip(plainClosers(row.Close))
		for _, m := range row.Open {
			for _, form := range spellings(m) {
				mk := all.get(form, opens)
				mk.rows = append(mk.rows, row)
				mk.section = mk.section || form == m && slices.Contains(row.Options.Section, m)
				mk.trained = mk.trained || row.Trained && !strings.HasPrefix(m, "^")
			}
		}
		if row.Options.Label != "" {
			t.labels = append(t.labels, row)
		}
		t.words.add(&row.Options)
		for _, where := range row.Options.WithoutMarker {
			key := place{row.Body, where}
			t.places[key] = append(t.places[key], row)
			if where == dialect.OnLine {
				t.addLeads(row)
			}
		}
	}
	for i := range t.set.Dialects {
		row := &t.set.Dialects[i]
		for _, a := range row.Aliases {
			if t.byName[a] == nil {
				t.byName[a] = row
			}
		}
		for _, m := range row.Close {
			for _, form := range spellings(m) {
				all.get(form, closes)
			}
		}
	}
}

// addTurns makes the markers of reasoning, turns and regions. A marker that opens or
// closes calls stays what it is.
func (t *Table) addTurns(all markerSet) {
	for i := range t.set.Reasoning {
		f := &t.set.Reasoning[i]
		for _, m := range f.Open {
			if f.AtStart {
				m = "^" + m
			}
			for _, form := range spellings(m) {
				all.get(form, thinks).form = f
			}
		}
		for _, m := range f.Close {
			if f.CloseAlone {
				all.get(m, concludes)
				if !slices.Contains(t.closers, m) {
					t.closers = append(t.closers, m)
				}
			} else if !f.AtStart {
				all.get(m, noise)
			}
		}
	}
	for i := range t.set.Turns {
		turn := &t.set.Turns[i]
		all.get(turn.Marker, noise).turn = turn
		if turn.Close != "" {
			all.get(turn.Close, noise)
		}
	}
	for _, r := range t.set.Regions {
		switch r.Kind {
		case dialect.Result:
			m := all.get(r.Open, results)
			m.end, m.afterCall = r.Close, r.AfterCall
			all.get(r.Close, noise)
			if open, ok := withAttributes(r.Open); ok {
				m := all.get(open, results)
				m.end, m.afterCall, m.element = r.Close, r.AfterCall, true
			}
		case dialect.Quote:
			all.get(r.Open, quotes).end = r.Close
			if open, ok := withAttributes(r.Open); ok {
				m := all.get(open, quotes)
				m.end, m.element = r.Close, true
			}
		case dialect.Wrapper:
			all.get(r.Close, closes)
			t.wraps = append(t.wraps, r)
		}
	}
}

// withAttributes returns how an element's tag begins that has attributes: "<pre " of "<pre>".
func withAttributes(open string) (string, bool) {
	word, ok := strings.CutSuffix(open, ">")
	if !ok || len(word) < 3 || word[0] != '<' || strings.Trim(word[1:], "abcdefghijklmnopqrstuvwxyz_") != "" {
		return "", false
	}
	return word + " ", true
}

// index sorts the markers by what they begin with, and sets the bytes at which
// something may begin.
func (t *Table) index(all markerSet) {
	for _, m := range all {
		if strings.HasPrefix(m.pattern, "^") {
			m.pattern = m.pattern[1:]
			t.line[m.pattern[0]] = append(t.line[m.pattern[0]], m)
			t.begins.Add(m.pattern)
			continue
		}
		t.trigger[m.pattern[0]] = true
		seconds := []byte{m.pattern[1]}
		if !m.plain && strings.HasPrefix(m.pattern[1:], "｜") { // any bar, or a blank
			seconds = []byte{'|', ' ', "｜"[0], "‖"[0]}
		}
		for _, second := range seconds {
			key := pair(m.pattern[0], second)
			if !slices.Contains(t.markers[key], m) {
				t.markers[key] = append(t.markers[key], m)
				t.pairs.Add(string([]byte{m.pattern[0], second}))
			}
		}
	}
	for _, list := range t.markers {
		slices.SortFunc(list, longestFirst)
	}
	for i := range t.line {
		slices.SortFunc(t.line[i], longestFirst)
	}
	for _, row := range t.labels {
		t.addLabel(row.Options.Label)
	}
	for _, l := range t.leads {
		t.addLabel(l.word)
	}
	for _, label := range []string{"Thought", "Observation", "Final Answer", "Question", "Answer"} {
		t.addLabel(label)
	}
	for _, b := range []byte(">*#_-(0123456789") { // quotations, bold labels, lists
		t.begins.AddAny(b)
	}
	t.begins.Add(latexList)
	t.begins.Add(printCall)
	for _, namespace := range lineNamespaces {
		t.begins.Add(namespace)
	}
	for _, b := range []byte("\n`{[<~") {
		t.trigger[b] = true
	}
}

// pair is the key of two bytes.
func pair(first, second byte) uint16 { return uint16(first)<<8 | uint16(second) }

// addLabel adds a label in any case to what may begin a line.
func (t *Table) addLabel(label string) {
	for _, first := range []byte{label[0] | 0x20, label[0] &^ 0x20} {
		for _, second := range []byte{label[1] | 0x20, label[1] &^ 0x20} {
			t.begins.Add(string([]byte{first, second}))
		}
	}
}

// addLeads notes what is left of a row's markers when its special tokens were taken out.
func (t *Table) addLeads(row *dialect.Row) {
	if row.Body == dialect.BodyBraceCall {
		t.leads = append(t.leads, lead{braceCallWord, row})
	}
	for _, l := range row.Options.Lead {
		if i := strings.IndexByte(l, '<'); i > 1 {
			t.leads = append(t.leads, lead{l[:i], row})
		}
	}
}

// markerSet are markers by their patterns.
type markerSet map[string]*marker

// get returns the marker of a pattern, made if it is not there. What a marker was first
// made for stays its kind: opening takes precedence over closing.
func (all markerSet) get(pattern string, kind markerKind) *marker {
	m := all[pattern]
	if m == nil {
		m = &marker{pattern: pattern, plain: !isLoose(pattern), kind: kind}
		all[pattern] = m
	}
	return m
}

// longestFirst orders markers for trying them.
func longestFirst(a, b *marker) int {
	length := func(m *marker) int { return len(strings.Replace(m.pattern, ":*", "", 1)) }
	if c := cmp.Compare(length(b), length(a)); c != 0 {
		return c
	}
	if a.plain != b.plain {
		if a.plain {
			return -1
		}
		return 1
	}
	return strings.Compare(a.pattern, b.pattern)
}

// spellings returns a pattern and, where a suffix is optional in it, the pattern
// without, which may be another dialect's marker too.
func spellings(p string) []string {
	if strings.Contains(p, ":*") {
		return []string{strings.Replace(p, ":*", "", 1), p}
	}
	return []string{p}
}

// without returns the first row of a body that is read in a place without its marker,
// and that fits if fits is not nil; nil if there is none.
func (t *Table) without(body dialect.Body, where dialect.Place, fits func(*dialect.Row) bool) *dialect.Row {
	for _, row := range t.places[place{body, where}] {
		if fits == nil || fits(row) {
			return row
		}
	}
	return nil
}
