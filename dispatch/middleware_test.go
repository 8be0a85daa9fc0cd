package dispatch_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/callwright/callwright/dispatch"
	"github.com/callwright/callwright/registry"
)

// with runs one call of a handler within middleware.
func with(t *testing.T, tool dispatch.Tool, m ...dispatch.Middleware) dispatch.Result {
	t.Helper()
	d := &dispatch.Dispatcher{}
	d.Use(m...)
	tool.Name = "work"
	if err := d.Add(tool); err != nil {
		t.Fatal(err)
	}
	return must(t, d, one("i", "work", `{"a": 1}`))[0]
}

func TestOrderOfMiddleware(t *testing.T) {
	var log []string
	note := func(name string) dispatch.Middleware {
		return func(next dispatch.Handler) dispatch.Handler {
			return func(ctx context.Context, c *dispatch.Call) (dispatch.Result, error) {
				log = append(log, name)
				defer func() { log = append(log, "/"+name) }()
				return next(ctx, c)
			}
		}
	}
	tool := dispatch.Tool{
		Use: []dispatch.Middleware{note("c"), note("d")},
		Run: func(context.Context, *dispatch.Call) (dispatch.Result, error) { return dispatch.Result{}, nil },
	}
	with(t, tool, note("a"), note("b"))
	if want := []string{"a", "b", "c", "d", "/d", "/c", "/b", "/a"}; !slices.Equal(log, want) {
		t.Error(log)
	}
}

// TestPanic holds that a panic, wherever it comes from, is an error of its call, whose
// stack is logged and not shown.
func TestPanic(t *testing.T) {
	boom := func(dispatch.Handler) dispatch.Handler {
		return func(context.Context, *dispatch.Call) (dispatch.Result, error) { panic(io.ErrUnexpectedEOF) }
	}
	ok := func(context.Context, *dispatch.Call) (dispatch.Result, error) {
		return dispatch.Result{Text: "ok"}, nil
	}
	for name, tool := range map[string]dispatch.Tool{
		"handler":    {Run: boom(nil)},
		"middleware": {Run: ok, Use: []dispatch.Middleware{boom}},
		"resolver": {Run: ok, Resolve: map[string]dispatch.Resolver{"x": func(context.Context, *dispatch.Call, *dispatch.Context) (any, error) {
			panic(io.ErrUnexpectedEOF)
		}}},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			d := &dispatch.Dispatcher{Log: slog.New(slog.NewTextHandler(&log, nil))}
			tool.Name = "work"
			fine := dispatch.Tool{Tool: registry.Tool{Name: "fine"}, Run: ok}
			if err := d.Add(tool, fine); err != nil {
				t.Fatal(err)
			}
			report, err := d.Run(context.Background(), both(one("a", "work", "{}"), one("b", "fine", "{}")), nil)
			if err != nil {
				t.Fatal(err)
			}
			e := report.Results[0].Err
			if e == nil || e.Code != dispatch.CodePanic || !errors.Is(e, io.ErrUnexpectedEOF) || len(e.Stack) == 0 {
				t.Fatalf("%+v", e)
			}
			if report.Results[1].Text != "ok" {
				t.Error("the other call did not run")
			}
			if shown := report.Messages()[0].Blocks[0].Result.Text; strings.Contains(shown, "EOF") || strings.Contains(shown, ".go") {
				t.Errorf("the model is shown %q", shown)
			}
			if name != "resolver" && !strings.Contains(log.String(), "middleware_test.go") {
				t.Errorf("the log has no stack: %s", log.String())
			}
		})
	}
}

func TestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		waits := func(ctx context.Context, _ *dispatch.Call) (dispatch.Result, error) {
			if _, ok := ctx.Deadline(); !ok {
				t.Error("no deadline")
			}
			<-ctx.Done()
			if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
				t.Error(ctx.Err())
			}
			return dispatch.Result{}, fmt.Errorf("while waiting: %w", ctx.Err())
		}
		begin := time.Now()
		if r := with(t, dispatch.Tool{Run: waits, Timeout: time.Second}); code(r) != dispatch.CodeTimeout || r.Took != time.Second {
			t.Error(r.Err, r.Took)
		}
		if r := with(t, dispatch.Tool{Run: waits}); code(r) != dispatch.CodeTimeout || r.Took != dispatch.DefaultTimeout {
			t.Error(r.Err, r.Took)
		}
		if r := with(t, dispatch.Tool{Run: waits, Timeout: time.Hour}, dispatch.Timeout(time.Minute)); r.Took != time.Minute {
			t.Error(r.Err, r.Took)
		}
		// One that goes on and has a result all the same has it.
		late := func(ctx context.Context, _ *dispatch.Call) (dispatch.Result, error) {
			time.Sleep(2 * time.Second)
			if ctx.Err() == nil {
				t.Error("the context goes on")
			}
			return dispatch.Result{Text: "late"}, nil
		}
		if r := with(t, dispatch.Tool{Run: late, Timeout: time.Second}); r.Text != "late" {
			t.Error(r.Err)
		}
		none := func(ctx context.Context, _ *dispatch.Call) (dispatch.Result, error) {
			_, ok := ctx.Deadline()
			return dispatch.Result{Text: fmt.Sprint(ok)}, nil
		}
		if r := with(t, dispatch.Tool{Run: none, Timeout: -1}); r.Text != "false" {
			t.Error(r.Text)
		}
		_ = begin
	})
}

// TestDeadlineContext holds that the context of a call is one as package context makes
// them: for those who derive from it too.
func TestDeadlineContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type key struct{}
		parent := context.WithValue(context.Background(), key{}, "v")
		var after context.Context
		d := &dispatch.Dispatcher{}
		if err := d.Add(dispatch.Tool{Tool: registry.Tool{Name: "work"}, Timeout: time.Second, Run: func(ctx context.Context, _ *dispatch.Call) (dispatch.Result, error) {
			after = ctx
			if ctx.Err() != nil || ctx.Value(key{}) != "v" {
				t.Error(ctx.Err(), ctx.Value(key{}))
			}
			child, cancel := context.WithCancel(ctx)
			defer cancel()
			stopped := make(chan struct{})
			context.AfterFunc(ctx, func() { close(stopped) })
			<-child.Done()
			<-stopped
			return dispatch.Result{}, context.Cause(child)
		}}); err != nil {
			t.Fatal(err)
		}
		report, err := d.Run(parent, one("i", "work", "{}"), nil)
		if err != nil || code(report.Results[0]) != dispatch.CodeTimeout {
			t.Error(report.Results[0].Err, err)
		}
		if after.Err() == nil || after.Value(key{}) != "v" {
			t.Error("the context goes on after its call")
		}
	})
}

func TestStuckIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		d := &dispatch.Dispatcher{Log: slog.New(slog.NewTextHandler(&log, nil))}
		stuck := func(context.Context, *dispatch.Call) (dispatch.Result, error) {
			time.Sleep(time.Minute)
			return dispatch.Result{}, nil
		}
		if err := d.Add(
			dispatch.Tool{Tool: registry.Tool{Name: "stuck"}, Timeout: time.Second, Run: stuck},
			dispatch.Tool{Tool: registry.Tool{Name: "slow"}, Timeout: time.Hour, Run: stuck},
		); err != nil {
			t.Fatal(err)
		}
		must(t, d, both(one("a", "stuck", "{}"), one("b", "slow", "{}")))
		if n := strings.Count(log.String(), "goes on"); n != 1 || !strings.Contains(log.String(), "tool=stuck") {
			t.Error(log.String())
		}
	})
}

func TestRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		idempotent := dispatch.Hints{Idempotent: true}
		for name, tt := range map[string]struct {
			hints  dispatch.Hints
			errs   []error
			delays func() backoff.BackOff
			want   int
			code   dispatch.Code
		}{
			"runs at last":        {idempotent, []error{dispatch.Transient(io.EOF), fmt.Errorf("x: %w", dispatch.Transient(io.EOF)), nil}, nil, 3, ""},
			"fails at last":       {idempotent, []error{dispatch.Transient(io.EOF), dispatch.Transient(io.EOF), dispatch.Transient(io.EOF), nil}, nil, 3, dispatch.CodeFailed},
			"not transient":       {idempotent, []error{io.EOF, nil}, nil, 1, dispatch.CodeFailed},
			"read-only":           {dispatch.Hints{ReadOnly: true}, []error{dispatch.Transient(io.EOF), nil}, nil, 2, ""},
			"may do things twice": {dispatch.Hints{}, []error{dispatch.Transient(io.EOF), nil}, nil, 1, dispatch.CodeFailed},
			"no delays left":      {idempotent, []error{dispatch.Transient(io.EOF), nil}, func() backoff.BackOff { return &backoff.StopBackOff{} }, 1, dispatch.CodeFailed},
		} {
			attempts := 0
			var seen []int
			r := with(t, dispatch.Tool{Hints: tt.hints, Run: func(_ context.Context, c *dispatch.Call) (dispatch.Result, error) {
				attempts++
				seen = append(seen, c.Attempt)
				return dispatch.Result{Text: "ok"}, tt.errs[attempts-1]
			}}, dispatch.Retry(3, tt.delays))
			if attempts != tt.want || code(r) != tt.code || seen[len(seen)-1] != attempts {
				t.Errorf("%s: %d attempts %v, %v", name, attempts, seen, r.Err)
			}
			if tt.want > 1 && r.Took < 50*time.Millisecond {
				t.Errorf("%s: no delay", name)
			}
			if tt.code != "" && !errors.Is(r.Err, io.EOF) {
				t.Errorf("%s: %v", name, r.Err)
			}
		}
		ctx, cancel := context.WithCancel(context.Background())
		d := &dispatch.Dispatcher{}
		d.Use(dispatch.Retry(100, func() backoff.BackOff { return backoff.NewConstantBackOff(time.Hour) }))
		if err := d.Add(dispatch.Tool{Tool: registry.Tool{Name: "work"}, Hints: idempotent, Run: func(context.Context, *dispatch.Call) (dispatch.Result, error) {
			time.AfterFunc(time.Second, cancel)
			return dispatch.Result{}, dispatch.Transient(io.EOF)
		}}); err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		if _, err := d.Run(ctx, one("i", "work", "{}"), nil); err == nil || time.Since(begin) != time.Second {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
	})
}

func TestLogAndMetrics(t *testing.T) {
	for _, level := range []slog.Level{slog.LevelInfo, slog.LevelDebug} {
		var log bytes.Buffer
		var seen []dispatch.Observation
		observe := dispatch.Metrics(func(o dispatch.Observation) { seen = append(seen, o) })
		logger := dispatch.Log(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: level})))
		with(t, dispatch.Tool{Run: func(context.Context, *dispatch.Call) (dispatch.Result, error) { return dispatch.Result{}, nil }}, logger, observe)
		with(t, dispatch.Tool{Run: func(context.Context, *dispatch.Call) (dispatch.Result, error) { return dispatch.Result{}, io.EOF }}, logger, observe)
		with(t, dispatch.Tool{Run: func(context.Context, *dispatch.Call) (dispatch.Result, error) {
			return dispatch.Result{}, dispatch.ErrStop
		}}, logger, observe)
		lines := strings.Split(strings.TrimSpace(log.String()), "\n")
		if len(lines) != 3 || !strings.Contains(lines[0], "level=INFO msg=call tool=work call=i attempt=1") || !strings.Contains(lines[1], "level=WARN") ||
			!strings.Contains(lines[1], "code=failed") || strings.Contains(lines[2], "WARN") || strings.Contains(lines[0], "arguments") != (level == slog.LevelDebug) {
			t.Error(log.String())
		}
		if len(seen) != 3 || seen[0].Tool != "work" || seen[0].Code != "" || seen[1].Code != dispatch.CodeFailed || seen[2].Code != "" {
			t.Errorf("%+v", seen)
		}
	}
}

func TestApprove(t *testing.T) {
	var ran []any
	tool := func(a dispatch.Answer, err error) dispatch.Tool {
		ask := func(_ context.Context, q dispatch.Question) (dispatch.Answer, error) { return a, err }
		return dispatch.Tool{Use: []dispatch.Middleware{dispatch.Approve(ask)}, Run: func(_ context.Context, c *dispatch.Call) (dispatch.Result, error) {
			ran = append(ran, c.Parameters["a"])
			return dispatch.Result{}, nil
		}}
	}
	for _, tt := range []struct {
		a    dispatch.Answer
		err  error
		want dispatch.Code
	}{
		{dispatch.Answer{}, nil, dispatch.CodeNotApproved},
		{dispatch.Answer{Allow: true}, nil, ""},
		{dispatch.Answer{Allow: true}, io.EOF, dispatch.CodeNotApproved},
		{dispatch.Answer{}, dispatch.ErrLater, dispatch.CodePending},
		{dispatch.Answer{Allow: true, Parameters: map[string]any{"a": "other"}}, nil, ""},
	} {
		if r := with(t, tool(tt.a, tt.err)); code(r) != tt.want {
			t.Errorf("%+v %v: %v", tt.a, tt.err, r.Err)
		}
	}
	if !slices.Equal(ran, []any{1.0, "other"}) {
		t.Error(ran)
	}
}

// TestErrors holds what becomes of handlers' errors.
func TestErrors(t *testing.T) {
	own := &dispatch.Error{Code: dispatch.CodeUnavailable, Message: "the printer is off"}
	for _, tt := range []struct {
		err           error
		code          dispatch.Code
		message       string
		stop, isError bool
	}{
		{io.EOF, dispatch.CodeFailed, "EOF", false, true},
		{fmt.Errorf("printing: %w", own), dispatch.CodeUnavailable, "the printer is off", false, true},
		{dispatch.ErrStop, "", "", true, false},
		{fmt.Errorf("that is it: %w", dispatch.ErrStop), "", "", true, false},
		{errors.Join(own, dispatch.ErrStop), dispatch.CodeUnavailable, "the printer is off", false, true},
		{errors.New(strings.Repeat("é", 1<<16)), dispatch.CodeFailed, "", false, true},
		{errors.New("a\xffb"), dispatch.CodeFailed, "a\uFFFDb", false, true},
	} {
		d := &dispatch.Dispatcher{}
		if err := d.Add(dispatch.Tool{Tool: registry.Tool{Name: "work"}, Run: func(context.Context, *dispatch.Call) (dispatch.Result, error) {
			return dispatch.Result{Text: "text"}, tt.err
		}}); err != nil {
			t.Fatal(err)
		}
		report, err := d.Run(context.Background(), one("i", "work", "{}"), nil)
		if err != nil {
			t.Fatal(err)
		}
		r := report.Results[0]
		if code(r) != tt.code || report.Stop != tt.stop || report.Failed() != tt.isError {
			t.Errorf("%v: %v, stop %v", tt.err, r.Err, report.Stop)
		}
		if tt.isError {
			if !errors.Is(r.Err, tt.err) && !errors.Is(tt.err, own) || r.Err.ID != "i" || r.Err.Tool != "work" || len(r.Err.Message) > 65<<10 {
				t.Errorf("%v: %+v", tt.err, r.Err)
			}
			if tt.message != "" && r.Err.Message != tt.message {
				t.Errorf("%q, want %q", r.Err.Message, tt.message)
			}
			if m := report.Messages()[0].Blocks[0].Result; !m.IsError || !strings.HasPrefix(m.Text, "Error ("+string(tt.code)+"): ") {
				t.Errorf("%+v", m)
			}
		}
	}
	if dispatch.Transient(nil) != nil || dispatch.IsTransient(io.EOF) {
		t.Error("nil is transient")
	}
}
