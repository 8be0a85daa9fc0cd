package dispatch_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	words "github.com/callwright/callwright/call"
	"github.com/callwright/callwright/dispatch"
	"github.com/callwright/callwright/parser"
	"github.com/callwright/callwright/registry"
)

// files has tools that read and write files, and notes what ran.
func files(p dispatch.Policy) (*dispatch.Dispatcher, *[]string) {
	d := &dispatch.Dispatcher{Policy: p, Parallel: 1}
	var ran []string
	note := func(_ context.Context, c *dispatch.Call) (dispatch.Result, error) {
		ran = append(ran, fmt.Sprintf("%s %v", c.Tool, c.Parameters["path"]))
		return dispatch.Result{Text: "ok"}, nil
	}
	schema := map[string]any{"type": "object", "properties": map[string]any{"path": map[string]any{}, "size": map[string]any{"type": "integer"}}}
	tool := func(name string) registry.Tool { return registry.Tool{Name: name, Parameters: schema} }
	if err := d.Add(
		dispatch.Tool{Tool: tool("read"), Run: note, Hints: dispatch.Hints{ReadOnly: true}},
		dispatch.Tool{Tool: tool("write"), Run: note},
		dispatch.Tool{Tool: tool("delete"), Run: note, Hints: dispatch.Hints{Destructive: true}},
		dispatch.Tool{Tool: tool("far"), Run: note, Foreign: true, Hints: dispatch.Hints{ReadOnly: true}},
	); err != nil {
		panic(err)
	}
	return d, &ran
}

func TestUsualPolicy(t *testing.T) {
	for name, tt := range map[string]struct {
		tool   string
		change func(*parser.Call)
		want   dispatch.Code
	}{
		"plain":            {"write", func(*parser.Call) {}, ""},
		"read-only":        {"read", func(*parser.Call) {}, ""},
		"destructive":      {"delete", func(*parser.Call) {}, dispatch.CodeNotApproved},
		"foreign":          {"far", func(*parser.Call) {}, dispatch.CodeNotApproved},
		"inferred":         {"write", func(c *parser.Call) { c.Inferred = true }, dispatch.CodeNotApproved},
		"truncated":        {"write", func(c *parser.Call) { c.Truncated = true }, dispatch.CodeDenied},
		"trailing comma":   {"write", func(c *parser.Call) { c.Repairs = []string{"trailing_comma", "single_quotes"} }, ""},
		"a guessed end":    {"write", func(c *parser.Call) { c.Repairs = []string{"trailing_comma", "unescaped_quote"} }, dispatch.CodeNotApproved},
		"a model's repair": {"write", func(c *parser.Call) { c.Metadata.ParsingMethod = words.MethodAssisted }, dispatch.CodeNotApproved},
		"doubtful":         {"write", func(c *parser.Call) { c.Confidence = 0.79 }, dispatch.CodeNotApproved},
		"bare":             {"write", func(c *parser.Call) { c.Provenance = words.Bare }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			d, ran := files(dispatch.Policy{})
			r := must(t, d, one("i", tt.tool, `{"path": "a"}`, tt.change))[0]
			if code(r) != tt.want || (len(*ran) == 1) != (tt.want == "") {
				t.Errorf("%v, ran %v", r.Err, *ran)
			}
			d, _ = files(dispatch.Policy{Ask: func(_ context.Context, q dispatch.Question) (dispatch.Answer, error) {
				if q.Why == "" || q.Call.Tool != tt.tool {
					t.Errorf("%+v", q)
				}
				return dispatch.Answer{Allow: true}, nil
			}})
			if r := must(t, d, one("i", tt.tool, `{"path": "a"}`, tt.change))[0]; (r.Err == nil) != (tt.want != dispatch.CodeDenied) {
				t.Errorf("allowed: %v", r.Err)
			}
			d, _ = files(dispatch.Policy{Rules: []dispatch.Rule{{Do: dispatch.Allow}}})
			if r := must(t, d, one("i", tt.tool, `{"path": "a"}`, tt.change))[0]; r.Err != nil {
				t.Errorf("a rule allows all: %v", r.Err)
			}
			p, err := d.Plan(one("i", tt.tool, `{"path": "a"}`, tt.change), nil)
			if err != nil || p.Steps[0].Decision != dispatch.Allow {
				t.Error(p, err)
			}
		})
	}
}

func TestRules(t *testing.T) {
	for _, tt := range []struct {
		rule dispatch.Rule
		args string
		want bool
	}{
		{dispatch.Rule{}, `{}`, true},
		{dispatch.Rule{Tool: "write"}, `{}`, true},
		{dispatch.Rule{Tool: "wr*e"}, `{}`, true},
		{dispatch.Rule{Tool: "Write"}, `{}`, false},
		{dispatch.Rule{Tool: "write*x"}, `{}`, false},
		{dispatch.Rule{Tool: "*r*t*e*"}, `{}`, true},
		{dispatch.Rule{Tool: "*e*w*"}, `{}`, false},
		{dispatch.Rule{Arguments: map[string]string{"/path": "/tmp/*"}}, `{"path": "/tmp/a/b"}`, true},
		{dispatch.Rule{Arguments: map[string]string{"/path": "/tmp/*"}}, `{"path": "/etc/passwd"}`, false},
		{dispatch.Rule{Arguments: map[string]string{"/path": "/tmp/*"}}, `{"path": "/tmp/../etc/passwd"}`, false},
		{dispatch.Rule{Arguments: map[string]string{"/path": "/tmp/*"}}, `{"path": "/tmp\\..\\etc"}`, false},
		{dispatch.Rule{Arguments: map[string]string{"/path": "/tmp/*"}}, `{"path": "/tmp/a/../b"}`, true},
		{dispatch.Rule{Do: dispatch.Deny, Arguments: map[string]string{"/path": "/etc/*"}}, `{"path": "/tmp/../etc/passwd"}`, true},
		{dispatch.Rule{Arguments: map[string]string{"/path": "*"}}, `{}`, false},
		{dispatch.Rule{Arguments: map[string]string{"/path": "/a*"}}, `{"path": ["/a1", "/a2"]}`, true},
		{dispatch.Rule{Arguments: map[string]string{"/path": "/a*"}}, `{"path": ["/a1", "/b"]}`, false},
		{dispatch.Rule{Arguments: map[string]string{"/path": "/a*"}}, `{"path": []}`, false},
		{dispatch.Rule{Do: dispatch.Deny, Arguments: map[string]string{"/path": "/a*"}}, `{"path": ["/b", "/a"]}`, true},
		{dispatch.Rule{Arguments: map[string]string{"/path/0": "/a*"}}, `{"path": ["/a1", "/b"]}`, true},
		{dispatch.Rule{Arguments: map[string]string{"/path/x": "5"}}, `{"path": {"x": 5}}`, true},
		{dispatch.Rule{Arguments: map[string]string{"/path/x": "true"}}, `{"path": {"x": true}}`, true},
		{dispatch.Rule{Arguments: map[string]string{"/path": "*"}}, `{"path": {"x": 5}}`, true},
		{dispatch.Rule{Arguments: map[string]string{"/path": "{*"}}, `{"path": {"x": 5}}`, false},
		{dispatch.Rule{When: []dispatch.Condition{dispatch.NotReadOnly}}, `{}`, true},
		{dispatch.Rule{When: []dispatch.Condition{dispatch.NotReadOnly, dispatch.Inferred}}, `{}`, false},
		{dispatch.Rule{Below: 0.5}, `{}`, false},
		{dispatch.Rule{Below: 1}, `{}`, false},
	} {
		for _, do := range []dispatch.Decision{tt.rule.Do, dispatch.Allow} {
			if tt.rule.Do == "" {
				tt.rule.Do = do
			}
		}
		last := dispatch.Rule{Do: dispatch.Deny}
		if tt.rule.Do == dispatch.Deny {
			last.Do = dispatch.Allow
		}
		d, _ := files(dispatch.Policy{Rules: []dispatch.Rule{tt.rule, last}})
		r := must(t, d, one("i", "write", tt.args))[0]
		if matched := (r.Err == nil) == (tt.rule.Do == dispatch.Allow); matched != tt.want {
			t.Errorf("%+v of %s: matched %v", tt.rule, tt.args, matched)
		}
	}
}

func TestDecide(t *testing.T) {
	d, ran := files(dispatch.Policy{
		Decide: func(_ context.Context, c *dispatch.Call) (dispatch.Decision, string) {
			switch c.Parameters["path"] {
			case "secret":
				return dispatch.Deny, "secrets stay here"
			case "boom":
				panic("boom")
			}
			return "", ""
		},
		Rules: []dispatch.Rule{{Tool: "delete", Do: dispatch.Allow}},
	})
	results := must(t, d, both(one("a", "write", `{"path": "secret"}`), one("b", "write", `{"path": "boom"}`), one("c", "delete", `{"path": "x"}`)))
	if code(results[0]) != dispatch.CodeDenied || !strings.Contains(results[0].Err.Message, "secrets stay here") || code(results[1]) != dispatch.CodeDenied {
		t.Error(results[0].Err, results[1].Err)
	}
	if !slices.Equal(*ran, []string{"delete x"}) {
		t.Error(*ran)
	}
}

func TestCheckPolicy(t *testing.T) {
	for want, r := range map[string]dispatch.Rule{
		`do is ""`:                {},
		`no condition "sometime"`: {Do: dispatch.Deny, When: []dispatch.Condition{"sometime"}},
		`write "/path"`:           {Do: dispatch.Deny, Arguments: map[string]string{"path": "x"}},
		"must be from 0 to 1":     {Do: dispatch.Deny, Below: 80},
	} {
		p := dispatch.Policy{Rules: []dispatch.Rule{r}}
		if err := p.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	var rules []dispatch.Rule
	text := `[{"tool": "read_*", "do": "allow"}, {"arguments": {"/path": "/etc/*"}, "when": ["foreign"], "below": 0.5, "do": "deny", "why": "no"}]`
	if err := json.Unmarshal([]byte(text), &rules); err != nil {
		t.Fatal(err)
	}
	if err := (&dispatch.Policy{Rules: rules}).Check(); err != nil {
		t.Error(err)
	}
}

// TestAsk holds that questions are asked one at a time, in the text's order, while other
// calls run, and that their answers count.
func TestAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var log []string
		begin := time.Now()
		note := func(format string, args ...any) {
			mu.Lock()
			defer mu.Unlock()
			log = append(log, fmt.Sprintf("%v ", time.Since(begin))+fmt.Sprintf(format, args...))
		}
		asking := 0
		d := &dispatch.Dispatcher{Parallel: 2, Policy: dispatch.Policy{Ask: func(_ context.Context, q dispatch.Question) (dispatch.Answer, error) {
			mu.Lock()
			if asking++; asking != 1 {
				t.Error("two questions at a time")
			}
			mu.Unlock()
			time.Sleep(10 * time.Second)
			mu.Lock()
			asking--
			mu.Unlock()
			note("asked %s", q.Call.ID)
			switch q.Call.ID {
			case "no":
				return dispatch.Answer{Message: "not this one."}, nil
			case "edit":
				return dispatch.Answer{Allow: true, Parameters: map[string]any{"path": "b"}}, nil
			case "wrong":
				return dispatch.Answer{Allow: true, Parameters: map[string]any{"size": "x"}}, nil
			case "error":
				return dispatch.Answer{}, errors.New("the window is gone")
			case "panic":
				panic("boom")
			case "later":
				return dispatch.Answer{}, dispatch.ErrLater
			case "always":
				return dispatch.Answer{Allow: true, Always: true}, nil
			}
			return dispatch.Answer{Allow: true}, nil
		}}}
		var handler dispatch.Handler = func(_ context.Context, c *dispatch.Call) (dispatch.Result, error) {
			time.Sleep(time.Second)
			note("ran %s %v", c.ID, c.Parameters["path"])
			return dispatch.Result{Text: "ok"}, nil
		}
		schema := map[string]any{"type": "object", "properties": map[string]any{"path": map[string]any{"type": "string"}, "size": map[string]any{"type": "integer"}}}
		add := func(name string, h dispatch.Hints) {
			tool := dispatch.Tool{Tool: registry.Tool{Name: name, Parameters: schema}, Run: handler, Hints: h, Repeatable: true}
			if err := d.Add(tool); err != nil {
				t.Fatal(err)
			}
		}
		add("free", dispatch.Hints{})
		add("delete", dispatch.Hints{Destructive: true})
		add("drop", dispatch.Hints{Destructive: true})
		results := must(t, d, both(
			one("yes", "delete", `{}`), one("dep", "delete", `{"path": "$free1"}`), one("no", "delete", `{}`), one("free1", "free", `{}`), one("edit", "delete", `{"path": "a"}`), one("free2", "free", `{}`),
			one("wrong", "delete", `{}`), one("error", "delete", `{}`), one("panic", "delete", `{}`), one("later", "delete", `{}`), one("free3", "free", `{}`),
			one("always", "delete", `{}`), one("after", "delete", `{}`), one("other", "drop", `{}`),
		))
		want := []string{
			"1s ran free1 <nil>", "1s ran free2 <nil>", "2s ran free3 <nil>", "10s asked yes", "11s ran yes <nil>", "20s asked dep", "21s ran dep ok",
			"30s asked no", "40s asked edit", "41s ran edit b", "50s asked wrong", "1m0s asked error", "1m10s asked panic", "1m20s asked later",
			"1m30s asked always", "1m31s ran after <nil>", "1m31s ran always <nil>", "1m40s asked other", "1m41s ran other <nil>",
		}
		slices.Sort(want)
		slices.Sort(log)
		if !slices.Equal(log, want) {
			t.Errorf("%s", strings.Join(log, "\n"))
		}
		for id, want := range map[string]dispatch.Code{
			"yes": "", "no": dispatch.CodeNotApproved, "edit": "", "wrong": dispatch.CodeInvalid, "error": dispatch.CodeNotApproved,
			"panic": dispatch.CodeNotApproved, "later": dispatch.CodePending, "always": "", "after": "", "other": "",
		} {
			i := slices.IndexFunc(results, func(r dispatch.Result) bool { return r.Call.ID == id })
			if code(results[i]) != want {
				t.Errorf("%s: %v", id, results[i].Err)
			}
			if id == "no" && results[i].Err.Message != "The user did not allow delete: not this one. Do not call it again; say what you need." {
				t.Error(results[i].Err.Message)
			}
		}
	})
}

// TestAskTime holds that nobody answers for ever.
func TestAskTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, parallel := range []int{1, 8} {
			d, _ := files(dispatch.Policy{AskTime: time.Minute, Ask: func(ctx context.Context, _ dispatch.Question) (dispatch.Answer, error) {
				<-ctx.Done()
				return dispatch.Answer{Allow: true}, ctx.Err()
			}})
			d.Parallel = parallel
			begin := time.Now()
			if r := must(t, d, one("i", "delete", `{}`))[0]; code(r) != dispatch.CodeNotApproved || time.Since(begin) != time.Minute {
				t.Error(r.Err, time.Since(begin))
			}
		}
	})
}

// TestPending holds that a reply whose approvals come later is run again, and does nothing
// twice: across a restart of the program, by a file.
func TestPending(t *testing.T) {
	name := t.TempDir() + "/memory/calls.jsonl"
	approved := false
	var ran []string
	attempt := func() *dispatch.Report {
		m, err := dispatch.OpenMemory(name)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = m.Close() }()
		d, now := files(dispatch.Policy{Ask: func(context.Context, dispatch.Question) (dispatch.Answer, error) {
			if !approved {
				return dispatch.Answer{}, dispatch.ErrLater
			}
			return dispatch.Answer{Allow: true}, nil
		}})
		d.Memory = m
		report, err := d.Run(context.Background(), both(
			one("a", "write", `{"path": "a"}`), one("b", "delete", `{"path": "$a"}`), one("c", "write", `{"path": "$b"}`), one("d", "write", `{"path": "a"}`),
		), nil)
		if err != nil {
			t.Fatal(err)
		}
		ran = append(ran, *now...)
		return report
	}
	first := attempt()
	if len(first.Pending) != 1 || first.Pending[0].ID != "b" || code(first.Results[2]) != dispatch.CodeDependencyFailed {
		t.Errorf("%+v", first)
	}
	approved = true
	second := attempt()
	if len(second.Pending) != 0 || second.Failed() || !second.Results[0].Repeated || second.Results[1].Repeated {
		t.Errorf("%+v", second.Results)
	}
	if want := []string{"write a", "write a", "delete ok", "write ok"}; !slices.Equal(ran, want) {
		t.Errorf("%q", ran)
	}
	if attempt(); len(ran) != 4 {
		t.Errorf("%q", ran)
	}
}
