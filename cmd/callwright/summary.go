package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/callwright/callwright/internal/text"
	"github.com/callwright/callwright/parser"
)

// outcome is what became of a line of batch.
type outcome int

const (
	outcomeCalled   outcome = iota // there are calls, and none that was meant is missing
	outcomePartly                  // there are calls, and another that was meant was rejected
	outcomeRejected                // what was meant as a call was rejected
	outcomeNone                    // there is no call
	outcomeFailed                  // the line could not be parsed
	outcomes
)

// summary counts the lines of batch by dialect and outcome. It may be used concurrently.
type summary struct {
	mu    sync.Mutex
	lines map[string]*[outcomes]int
}

// add counts a line's result; nil is a line that could not be parsed.
func (s *summary) add(r *parser.Result) {
	dialect, o := "", outcomeFailed
	if r != nil {
		dialect, o = outcomeOf(r)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lines == nil {
		s.lines = map[string]*[outcomes]int{}
	}
	if s.lines[dialect] == nil {
		s.lines[dialect] = &[outcomes]int{}
	}
	s.lines[dialect][o]++
}

// outcomeOf is a result's outcome, and the dialect of its first call, or of the first that
// was rejected.
func outcomeOf(r *parser.Result) (dialect string, o outcome) {
	meant := slices.IndexFunc(r.Rejected, func(x parser.Rejected) bool { return x.Meant() })
	switch {
	case len(r.Calls) > 0 && meant >= 0:
		return string(r.Calls[0].SourceFormat), outcomePartly
	case len(r.Calls) > 0:
		return string(r.Calls[0].SourceFormat), outcomeCalled
	case meant >= 0:
		return string(r.Rejected[meant].Format), outcomeRejected
	}
	return "", outcomeNone
}

// String is a table: a line for each dialect, and one for all.
func (s *summary) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var t table
	t.row("dialect", "lines", "called", "called and rejected", "rejected", "no call", "failed")
	var all [outcomes]int
	for _, name := range slices.Sorted(maps.Keys(s.lines)) {
		t.row(summaryRow(text.Printable(cmp.Or(name, "none")), s.lines[name])...)
		for o, n := range s.lines[name] {
			all[o] += n
		}
	}
	t.row(summaryRow("all", &all)...)
	var b strings.Builder
	t.write(&b)
	return b.String()
}

func summaryRow(name string, counts *[outcomes]int) []string {
	cells, lines := []string{name, ""}, 0
	for _, n := range counts {
		lines += n
		cells = append(cells, fmt.Sprint(n))
	}
	cells[1] = fmt.Sprint(lines)
	return cells
}
