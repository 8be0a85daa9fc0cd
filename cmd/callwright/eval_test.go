package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestEval scores cases and shows what differs: as a table and as JSON.
func TestEval(t *testing.T) {
	const cases = "../../eval/testdata/"
	out, errs, code := run(t, "", "eval", "--stream", "--list", "1", cases+"own.jsonl")
	if code != exitNoCalls {
		t.Fatalf("exit code %d\n%s%s", code, out, errs)
	}
	for _, want := range []string{
		"by model", "by dialect", "  hermes", "  none found", "\nall ", "4/5 0.8000", `found the content "One moment."`, "1 more differences",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing:\n%s", want, out)
		}
	}
	out, _, code = run(t, "", "eval", "--json", "--verdicts", cases+"verdicts.json", cases+"parser_tests.jsonl")
	var r struct {
		Total  struct{ Cases, Calls int }
		Groups []struct{ Name string }
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil || code != exitNoCalls || r.Total.Cases != 5 || r.Total.Calls != 1 || len(r.Groups) != 4 {
		t.Errorf("%v, exit code %d\n%s", err, code, out)
	}
	if out, errs, code = run(t, "", "eval", "--hint", cases+"suite"); code != exitCalls {
		t.Errorf("exit code %d\n%s%s", code, out, errs)
	}
	for _, tt := range []struct{ arg, want string }{{"no such file", "no such file"}, {t.TempDir(), "there are no cases"}} {
		if _, errs, code := run(t, "", "eval", tt.arg); code != exitMisuse || !strings.Contains(errs, tt.want) {
			t.Errorf("%s: exit code %d, %s", tt.arg, code, errs)
		}
	}
}

// TestTable aligns columns by their width on a terminal.
func TestTable(t *testing.T) {
	var tab table
	tab.row("", "n")
	tab.row("天気", "1")
	tab.row("rain", "22")
	tab.row("a heading that is longer than its column")
	var b strings.Builder
	tab.write(&b)
	if want := "       n\n天気   1\nrain  22\na heading that is longer than its column\n"; b.String() != want {
		t.Errorf("%q", b.String())
	}
}
