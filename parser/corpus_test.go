package parser_test

import (
	"strings"
	"testing"

	"github.com/callwright/callwright/internal/golden"
)

// TestNoCalls holds the texts that must make no call at none, and TestNastyCalls
// those whose arguments look like much else at exactly one: the golden files say
// which.
func TestNoCalls(t *testing.T) {
	_, cases := golden.Load(t, root, root+"/corpus/no_calls.txtar")
	if len(cases) < 80 {
		t.Fatalf("only %d cases", len(cases))
	}
	for _, c := range cases {
		if calls := parse(t, c, c.Text).Calls; len(calls) > 0 {
			t.Errorf("%s: %q makes %s %v", c.Name, c.Text, calls[0].Tool, calls[0].Parameters)
		}
	}
}

func TestNastyCalls(t *testing.T) {
	_, cases := golden.Load(t, root, root+"/corpus/nasty_calls.txtar")
	if len(cases) < 80 {
		t.Fatalf("only %d cases", len(cases))
	}
	for _, c := range cases {
		r := parse(t, c, c.Text)
		if len(r.Calls) != 1 || r.Calls[0].Tool != "write_file" || r.Calls[0].Parameters["path"] != "a.txt" || len(r.Calls[0].Parameters) != 2 {
			t.Errorf("%s: %q makes %v", c.Name, c.Text, r.Calls)
		}
	}
}

// TestHint checks that a wrong hint loses no call.
func TestHint(t *testing.T) {
	eachCase(t, func(t *testing.T, c *golden.Case) {
		want := parse(t, c, c.Text)
		for _, hint := range []string{"hermes", "glm45", "pythonic", "react", "no such dialect"} {
			c.Context.Format, c.Context.Model = hint, "DeepSeek-V3.1-GGUF"
			got := parse(t, c, c.Text)
			if len(got.Calls) != len(want.Calls) {
				t.Fatalf("with the hint %q %d calls, not %d", hint, len(got.Calls), len(want.Calls))
			}
			for i := range got.Calls {
				if partOf(&got.Calls[i], &want.Calls[i], false) && partOf(&want.Calls[i], &got.Calls[i], false) {
					continue
				}
				t.Errorf("with the hint %q call %d is %v, not %v", hint, i, got.Calls[i].Parameters, want.Calls[i].Parameters)
			}
		}
	})
}

// TestLongArguments parses arguments of 100 KB that hold what looks like an end.
func TestLongArguments(t *testing.T) {
	_, cases := golden.Load(t, root, root+"/dialects/qwen3_coder/cases.txtar")
	long := strings.Repeat("x = \"y\" # </parameter> {z}\n", 4000)
	text := "<tool_call>\n<function=write_file>\n<parameter=path>\na\n</parameter>\n<parameter=content>\n" + long + "\n</parameter>\n</function>\n</tool_call>"
	r := parse(t, cases[0], text)
	if len(r.Calls) != 1 || r.Calls[0].Parameters["content"] != long {
		t.Fatalf("%d calls, rejected %v", len(r.Calls), r.Rejected)
	}
}
