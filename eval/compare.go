package eval

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/callwright/callwright/internal/text"
	"github.com/callwright/callwright/parser"
)

// Outcome says how what was read of a text compares with what was expected.
type Outcome string

// The outcomes, from the best to the worst.
const (
	Pass     Outcome = "pass"     // all is as expected
	Space    Outcome = "space"    // only white space around the content or the reasoning differs
	Text     Outcome = "text"     // the calls are right, the content or the reasoning is not
	Streamed Outcome = "streamed" // the text in pieces gives something else than the whole
	Calls    Outcome = "calls"    // the calls are wrong
	Failed   Outcome = "failed"   // the parse ended with an error
)

var outcomes = []Outcome{Pass, Space, Text, Streamed, Calls, Failed}

// worse returns the worse of two outcomes.
func worse(a, b Outcome) Outcome {
	return outcomes[max(slices.Index(outcomes, a), slices.Index(outcomes, b))]
}

// compare compares a result with what is expected, and says in words what differs.
func compare(c *Case, r *parser.Result) (outcome Outcome, why string) {
	x := &c.Expected
	if !x.AnyCalls {
		if why := compareCalls(x, r.Calls); why != "" {
			return Calls, why
		}
	}
	if x.Reported && strings.TrimSpace(r.Content) != strings.TrimSpace(c.Text) && len(r.Rejected) == 0 {
		return Text, "the text is neither the content nor rejected"
	}
	outcome = Pass
	for _, part := range []struct {
		name string
		want *string
		got  string
	}{{"content", x.Content, r.Content}, {"reasoning", x.Reasoning, r.Reasoning}} {
		switch {
		case part.want == nil || *part.want == part.got:
		case strings.TrimSpace(*part.want) != strings.TrimSpace(part.got):
			return Text, fmt.Sprintf("found the %s %q, expected %q", part.name, text.Clip(part.got, 80), text.Clip(*part.want, 80))
		default:
			outcome, why = Space, "white space around the "+part.name
		}
	}
	return outcome, why
}

// differs says what of a streamed result is not as that of the whole text. White space
// around content and reasoning does not count.
func differs(whole, streamed *parser.Result) string {
	same := slices.EqualFunc(whole.Calls, streamed.Calls, func(a, b parser.Call) bool {
		return a.Tool == b.Tool && equal(a.Parameters, b.Parameters)
	})
	switch {
	case !same:
		return "its calls are not those of the whole text"
	case strings.TrimSpace(whole.Content) != strings.TrimSpace(streamed.Content):
		return "its content is not that of the whole text"
	case strings.TrimSpace(whole.Reasoning) != strings.TrimSpace(streamed.Reasoning):
		return "its reasoning is not that of the whole text"
	}
	return ""
}

func compareCalls(x *Expected, got []parser.Call) string {
	if len(got) != len(x.Calls) {
		return fmt.Sprintf("found %d calls, expected %d", len(got), len(x.Calls))
	}
	open := slices.Clone(x.Calls)
	for i := range got {
		among := open[:1]
		if x.AnyOrder {
			among = open
		}
		var why string
		j := slices.IndexFunc(among, func(want Call) bool {
			difference := compareCall(&want, &got[i])
			if why == "" {
				why = difference
			}
			return difference == ""
		})
		if j < 0 {
			return fmt.Sprintf("call %d: %s", i+1, why)
		}
		open = slices.Delete(open, j, j+1)
	}
	return ""
}

// numbered is what suites put behind the name of a tool that is called several times.
var numbered = regexp.MustCompile(`[ _]\d+$`)

func compareCall(want *Call, got *parser.Call) string {
	if got.Tool != want.Tool && (want.Allowed == nil || got.Tool != numbered.ReplaceAllString(want.Tool, "")) {
		return fmt.Sprintf("found the tool %q, expected %q", got.Tool, want.Tool)
	}
	if want.Allowed == nil {
		if !equal(got.Parameters, want.Parameters) {
			return "the parameters differ"
		}
		return ""
	}
	for name := range got.Parameters {
		if want.Allowed[name] == nil {
			return fmt.Sprintf("parameter %q is one too many", name)
		}
	}
	for name, values := range want.Allowed {
		v, given := got.Parameters[name]
		switch {
		case !given && !slices.Contains(values, any("")):
			return fmt.Sprintf("parameter %q is missing", name)
		case given && !slices.ContainsFunc(values, func(x any) bool { return (x != "" || v == "") && alike(v, x) }):
			return fmt.Sprintf("parameter %q is none of the values that are right", name)
		}
	}
	return ""
}

// equal compares JSON values; 1 equals 1.0. The depth of what a parser returns is bounded.
func equal(a, b any) bool {
	switch a := a.(type) {
	case json.Number:
		b, ok := b.(json.Number)
		return ok && equalNumbers(a, b)
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, equal)
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for k, v := range a {
			if other, ok := b[k]; !ok || !equal(v, other) {
				return false
			}
		}
		return true
	}
	return a == b
}

// equalNumbers compares integers digit by digit and other numbers as float64, since most
// suites were written by programs that know no more digits.
func equalNumbers(a, b json.Number) bool {
	if a == b {
		return true
	}
	if !strings.ContainsAny(a.String()+b.String(), ".eE") {
		return false
	}
	x, err := a.Float64()
	y, err2 := b.Float64()
	return err == nil && err2 == nil && x == y
}

// marks are what strings are compared without where several values are right.
var marks = strings.NewReplacer(" ", "", ",", "", ".", "", "/", "", "-", "", "_", "", "*", "", "^", "")

func flat(s string) string { return strings.ReplaceAll(strings.ToLower(marks.Replace(s)), "'", `"`) }

// alike compares a value with one of several that are right: strings loosely, and objects
// whose members have again several values.
func alike(a, b any) bool {
	switch a := a.(type) {
	case string:
		b, ok := b.(string)
		return ok && flat(a) == flat(b)
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, alike)
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok {
			return false
		}
		for k := range a {
			if _, ok := b[k]; !ok {
				return false
			}
		}
		for k, right := range b {
			values, ok := right.([]any)
			v, given := a[k]
			if !ok || given && !slices.ContainsFunc(values, func(x any) bool { return alike(v, x) }) ||
				!given && !slices.Contains(values, any("")) {
				return false
			}
		}
		return true
	}
	return equal(a, b)
}
