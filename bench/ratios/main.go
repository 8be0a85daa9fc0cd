// Command ratios reads the output of Go's benchmarks, named Benchmark…/work/way/reader, and
// prints how callwright compares with the other readers of the same work, as a table in
// Markdown. Of several runs it takes the fastest.
//
//	go test -run '^$' -bench . -benchmem -count 5 | go run ./ratios [-into ../docs/performance.md]
package main

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"
)

func main() {
	into := flag.String("into", "", "replace the table in this file, between its two marks, instead of printing it")
	flag.Parse()
	if err := run(os.Stdin, *into); err != nil {
		log.Fatal(err)
	}
}

// The marks around the table in a document.
const (
	begin = "<!-- make bench: begin -->\n"
	end   = "<!-- make bench: end -->\n"
)

var errMarks = errors.New("the file has no marks for the table: " + strings.TrimSpace(begin) + " and " + strings.TrimSpace(end))

func run(from io.Reader, into string) error {
	table, err := tableOf(from)
	if err != nil {
		return err
	}
	if into == "" {
		_, err := os.Stdout.Write(table)
		return err
	}
	text, err := os.ReadFile(into)
	if err != nil {
		return err
	}
	head, rest, ok := bytes.Cut(text, []byte(begin))
	_, tail, ended := bytes.Cut(rest, []byte(end))
	if !ok || !ended {
		return errMarks
	}
	return os.WriteFile(into, slices.Concat(head, []byte(begin), table, []byte(end), tail), 0o644)
}

// cost is what one reader takes for a work: the least of several runs.
type cost struct {
	seconds float64
	allocs  float64
}

// row is a work that is read in one way, such as prose in pieces of 4 bytes.
type row struct {
	name    string
	readers map[string]cost
}

// tableOf reads benchmarks and writes a table of their ratios.
func tableOf(from io.Reader) ([]byte, error) {
	var rows []*row
	cpu := "unknown"
	results := benchfmt.NewReader(from, "benchmarks")
	for results.Scan() {
		r, ok := results.Result().(*benchfmt.Result)
		if !ok {
			continue
		}
		if c := r.GetConfig("cpu"); c != "" {
			cpu = c
		}
		_, parts := r.Name.Parts()
		name, reader := split(parts)
		if reader == "" {
			continue
		}
		i := slices.IndexFunc(rows, func(x *row) bool { return x.name == name })
		if i < 0 {
			i = len(rows)
			rows = append(rows, &row{name, map[string]cost{}})
		}
		c := cost{}
		c.seconds, _ = r.Value("sec/op")
		c.allocs, _ = r.Value("allocs/op")
		if known, ok := rows[i].readers[reader]; ok {
			c.seconds, c.allocs = min(c.seconds, known.seconds), min(c.allocs, known.allocs)
		}
		rows[i].readers[reader] = c
	}
	if err := results.Err(); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s, %d cores, %s, %s/%s.\n\n", cpu, runtime.NumCPU(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	b.WriteString("| work | callwright | allocations | / fastest of Ollama | its allocations | / encoding/json | ")
	b.WriteString("its allocations | / others |\n")
	b.WriteString("|---|---|---|---|---|---|---|---|\n")
	for _, r := range rows {
		r.write(&b)
	}
	return b.Bytes(), nil
}

// split splits the parts of a benchmark's name into the work and who reads it.
func split(parts [][]byte) (name, reader string) {
	var all []string
	for _, p := range parts {
		if p := string(p); strings.HasPrefix(p, "/") {
			all = append(all, p[1:])
		}
	}
	if len(all) < 2 {
		return "", ""
	}
	return strings.Join(all[:len(all)-1], ", "), all[len(all)-1]
}

// ours are the names of callwright's readers, the one that is compared first.
var ours = []string{"callwright", "lenient"}

func (r *row) write(b *bytes.Buffer) {
	var us cost
	for _, name := range ours {
		if c, ok := r.readers[name]; ok {
			us = c
			break
		}
	}
	if us.seconds == 0 {
		return
	}
	peer, fastest := "", cost{}
	var others []string
	for _, name := range slices.SortedFunc(maps.Keys(r.readers), func(x, y string) int {
		return cmp.Or(cmp.Compare(r.readers[x].seconds, r.readers[y].seconds), cmp.Compare(x, y))
	}) {
		switch short, isOllama := strings.CutPrefix(name, "ollama_"); {
		case slices.Contains(ours, name), name == "encoding_json":
		case isOllama && peer == "":
			peer, fastest = short, r.readers[name]
		case isOllama:
		default:
			others = append(others, fmt.Sprintf("%s %s", strings.ReplaceAll(name, "_", " "), ratio(us, r.readers[name])))
		}
	}
	fmt.Fprintf(b, "| %s | %s | %.0f |", strings.ReplaceAll(r.name, "_", " "), duration(us.seconds), us.allocs)
	if peer != "" {
		fmt.Fprintf(b, " %s (%s) | %.0f |", ratio(us, fastest), peer, fastest.allocs)
	} else {
		b.WriteString(" | |")
	}
	if c, ok := r.readers["encoding_json"]; ok {
		fmt.Fprintf(b, " %s | %.0f |", ratio(us, c), c.allocs)
	} else {
		b.WriteString(" | |")
	}
	fmt.Fprintf(b, " %s |\n", strings.Join(others, ", "))
}

// ratio writes how much longer one takes than the other.
func ratio(us, them cost) string {
	if r := us.seconds / them.seconds; r < 0.1 {
		return fmt.Sprintf("%.3f", r)
	} else if r < 10 {
		return fmt.Sprintf("%.2f", r)
	} else {
		return fmt.Sprintf("%.0f", r)
	}
}

func duration(seconds float64) string {
	if seconds < 1e-3 {
		return fmt.Sprintf("%.1f µs", seconds*1e6)
	}
	return fmt.Sprintf("%.1f ms", seconds*1e3)
}
