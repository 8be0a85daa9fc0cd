package eval

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/callwright/callwright/adapters"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func readAll(t testing.TB, paths ...string) []Case {
	t.Helper()
	files, err := Files(paths...)
	if err != nil {
		t.Fatal(err)
	}
	var all []Case
	for _, file := range files {
		cases, err := Read(file, "")
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, cases...)
	}
	return all
}

// TestLayouts runs the cases of each layout, whole, in pieces, and with what is known of
// the models.
func TestLayouts(t *testing.T) {
	for _, tt := range []struct {
		path  string
		tally Tally
		wrong map[string]Outcome
	}{
		{
			"testdata/own.jsonl",
			Tally{Cases: 8, Pass: 5, Space: 1, Text: 1, Calls: 1, Asked: 5, AskedRight: 4, None: 3, NoneRight: 3},
			map[string]Outcome{"text": Text, "wrong": Calls},
		},
		{"testdata/suite", Tally{Cases: 3, Pass: 3, Asked: 1, AskedRight: 1, None: 2, NoneRight: 2}, nil},
		{"testdata/checkout", Tally{Cases: 3, Pass: 3, Asked: 1, AskedRight: 1, None: 2, NoneRight: 2}, nil},
		{
			"testdata/parser_tests.jsonl",
			Tally{Cases: 5, Pass: 4, Calls: 1, Asked: 2, AskedRight: 2, None: 3, NoneRight: 2},
			map[string]Outcome{"p/2": Calls},
		},
		{"testdata/answers", Tally{Cases: 3, Pass: 3, Asked: 2, AskedRight: 2, None: 1, NoneRight: 1}, nil},
	} {
		cases := readAll(t, tt.path)
		for _, o := range []Options{{}, {Stream: true, Workers: 2}, {Models: adapters.DefaultModels(), Stream: true}} {
			r, err := Run(context.Background(), cases, o)
			if err != nil {
				t.Fatal(err)
			}
			if r.Total != tt.tally {
				t.Errorf("%s: %+v, not %+v\n%+v", tt.path, r.Total, tt.tally, r.Differences)
			}
			if len(r.Differences) != len(tt.wrong) {
				t.Errorf("%s: %+v", tt.path, r.Differences)
			}
			for _, d := range r.Differences {
				if tt.wrong[d.ID] != d.Outcome || d.Why == "" {
					t.Errorf("%s: %+v", tt.path, d)
				}
			}
		}
	}
}

// TestFamily names the dialect after the file of a family, or after its folder.
func TestFamily(t *testing.T) {
	for _, c := range readAll(t, "testdata/suite", "testdata/checkout") {
		if c.Dialect != "birds" || c.ReasoningOpen != (c.ID != "birds/cut") {
			t.Errorf("%+v", c)
		}
	}
}

func TestVerdicts(t *testing.T) {
	cases := readAll(t, "testdata/parser_tests.jsonl")
	if err := ReadVerdicts("testdata/verdicts.json", cases); err != nil {
		t.Fatal(err)
	}
	r, err := Run(context.Background(), cases, Options{})
	if err != nil {
		t.Fatal(err)
	}
	names := []string{}
	for _, row := range r.Groups {
		names = append(names, row.Name)
	}
	if got := strings.Join(names, ", "); got != "error, firm, firm: policy, soft" {
		t.Error(got)
	}
}

func TestReadErrors(t *testing.T) {
	dir := t.TempDir()
	for _, tt := range []struct{ line, want string }{
		{`{"id": "a"}`, "no known layout"},
		{`{`, "unexpected EOF"},
		{`{"id": "a", "text": "x"}`, "questions are missing"},
		{`{"text": "x", "expected": {"calls": [{"name": "f"}]}}`, `needs "tool"`},
		{`{"raw_output": "x"}`, `needs "expected"`},
		{`{"text": 1, "expected": {}}`, "line 1"},
	} {
		file := filepath.Join(dir, "cases.jsonl")
		if err := os.WriteFile(file, []byte("\n"+tt.line+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(file, ""); err == nil || !strings.Contains(err.Error(), strings.Replace(tt.want, "line 1", "line 2", 1)) {
			t.Errorf("%s: %v", tt.line, err)
		}
	}
	if _, err := read(strings.NewReader(`{"id": 1}`), "x", ""); !errors.Is(err, ErrLayout) {
		t.Error(err)
	}
	if _, err := Run(context.Background(), []Case{{ID: "a", Tools: json.RawMessage(`3`)}}, Options{}); err == nil || !strings.Contains(err.Error(), "case a") {
		t.Error(err)
	}
}

// TestPieces cuts any text in each way: nothing is lost, and no character is cut.
func TestPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		for way := range StreamCuts {
			var b strings.Builder
			for piece := range pieces(text, way) {
				b.WriteString(piece)
			}
			if b.String() != text {
				t.Fatalf("way %d: %q", way, b.String())
			}
		}
	})
}

func TestEqual(t *testing.T) {
	for _, tt := range []struct {
		a, b        string
		same, loose bool
	}{
		{`1`, `1.0`, true, true},
		{`1`, `true`, false, false},
		{`9007199254740993`, `9007199254740992`, false, false},
		{`2.0000000000000001`, `2`, true, true},
		{`{"a": [1, null]}`, `{"a": [1.0, null]}`, true, false},
		{`{"a": 1}`, `{"a": [2, 1], "b": ["", 3]}`, false, true},
		{`{"a": 1, "c": 1}`, `{"a": [1]}`, false, false},
		{`"New York, NY"`, `"new york NY"`, false, true},
		{`["a"]`, `["A", "b"]`, false, false},
	} {
		var a, b any
		if err := errors.Join(decode([]byte(tt.a), &a), decode([]byte(tt.b), &b)); err != nil {
			t.Fatal(err)
		}
		if equal(a, b) != tt.same || alike(a, b) != tt.loose {
			t.Errorf("%s, %s: %v, %v", tt.a, tt.b, equal(a, b), alike(a, b))
		}
	}
}

// FuzzRead reads any lines: it ends with cases or an error.
func FuzzRead(f *testing.F) {
	for _, file := range []string{"testdata/own.jsonl", "testdata/parser_tests.jsonl", "testdata/suite/birds.jsonl", "testdata/answers/bird-1.jsonl"} {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		cases, err := read(strings.NewReader(string(data)), "testdata/x.jsonl", "testdata/answers/questions.json")
		if err != nil {
			return
		}
		for i := range cases {
			if cases[i].ID == "" {
				t.Error("a case without an id")
			}
		}
	})
}
