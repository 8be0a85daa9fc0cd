package eval

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ErrLayout says that a line is in no layout that is known.
var ErrLayout = errors.New("no known layout of cases")

// maxLine bounds a line of a file of cases, in bytes.
const maxLine = 64 << 20

// A layout makes a case of a line. file is the file's path, for what stands beside it.
type layout struct {
	name string
	// fits reports whether a line with these keys is in this layout.
	fits func(keys map[string]json.RawMessage) bool
	// reader returns what reads the lines of a file.
	reader func(file, questions string) (func(line []byte) (Case, error), error)
}

// layouts are tried in this order; docs/accuracy.md shows a line of each.
var layouts = []layout{
	{"callwright", hasKeys("text", "expected"), readOwn},
	{"fixtures", hasKeys("raw_output"), readFixtures},
	{"parser tests", func(keys map[string]json.RawMessage) bool {
		return hasKeys("text", "expect")(keys) || hasKeys("text", "expect_error")(keys)
	}, readParserTests},
	{"answers", hasKeys("id", "text"), readAnswers},
}

func hasKeys(names ...string) func(map[string]json.RawMessage) bool {
	return func(keys map[string]json.RawMessage) bool {
		return !slices.ContainsFunc(names, func(name string) bool { return keys[name] == nil })
	}
}

// Files returns the files of cases that paths name: each file itself, and all files in and
// below a folder that end in .jsonl.
func Files(paths ...string) ([]string, error) {
	var files []string
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			files = append(files, path)
			continue
		}
		err = filepath.WalkDir(path, func(path string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() && filepath.Ext(path) == ".jsonl" {
				files = append(files, path)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}

// Read reads the cases of a file of JSON Lines. Its layout is that of its first line; an
// unknown one is [ErrLayout]. questions is the file with the questions of a suite whose
// answers stand apart; empty means questions.json beside the file.
func Read(file, questions string) ([]Case, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return read(bytes.NewReader(data), file, questions)
}

func read(in io.Reader, file, questions string) ([]Case, error) {
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 64<<10), maxLine)
	var cases []Case
	var next func([]byte) (Case, error)
	for n := 1; lines.Scan(); n++ {
		line := bytes.TrimSpace(bytes.TrimPrefix(lines.Bytes(), []byte("\ufeff")))
		if len(line) == 0 {
			continue
		}
		if next == nil {
			var keys map[string]json.RawMessage
			if err := decode(line, &keys); err != nil {
				return nil, fmt.Errorf("%s: line %d: %w", file, n, err)
			}
			i := slices.IndexFunc(layouts, func(l layout) bool { return l.fits(keys) })
			if i < 0 {
				return nil, fmt.Errorf("%s: line %d: %w: it needs \"text\" and \"expected\"", file, n, ErrLayout)
			}
			var err error
			if next, err = layouts[i].reader(file, questions); err != nil {
				return nil, err
			}
		}
		c, err := next(line)
		if err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", file, n, err)
		}
		if c.ID == "" {
			c.ID = fmt.Sprintf("%s:%d", filepath.Base(file), n)
		}
		if string(c.Tools) == "null" {
			c.Tools = nil
		}
		cases = append(cases, c)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return cases, nil
}

// decode reads JSON and leaves numbers as they are written.
func decode(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	return d.Decode(into)
}

// stem is a file's name without its folder and its ending.
func stem(file string) string {
	return strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
}

// ReadVerdicts reads a JSON object that says of cases by their id why they are no fair
// demand, and puts the reason behind their group, so that they are counted apart.
func ReadVerdicts(file string, cases []Case) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var reasons map[string]string
	if err := json.Unmarshal(data, &reasons); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	for i := range cases {
		if reason := reasons[cases[i].ID]; reason != "" {
			cases[i].Group = strings.TrimPrefix(cases[i].Group+": "+reason, ": ")
		}
	}
	return nil
}
