package dispatch_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/callwright/callwright/dispatch"
	"github.com/callwright/callwright/registry"
)

// TestOnce holds which calls run once.
func TestOnce(t *testing.T) {
	for name, tt := range map[string]struct {
		tool dispatch.Tool
		want int
	}{
		"plain":       {dispatch.Tool{}, 3},
		"once":        {dispatch.Tool{Once: true}, 2},
		"destructive": {dispatch.Tool{Hints: dispatch.Hints{Destructive: true}}, 2},
		"repeatable":  {dispatch.Tool{Hints: dispatch.Hints{Destructive: true}, Repeatable: true}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			d := &dispatch.Dispatcher{Policy: dispatch.Policy{Rules: []dispatch.Rule{{Do: dispatch.Allow}}}}
			var ran atomic.Int32
			tt.tool.Name = "pay"
			tt.tool.Run = func(context.Context, *dispatch.Call) (dispatch.Result, error) {
				return dispatch.Result{Text: fmt.Sprint("paid ", ran.Add(1))}, nil
			}
			if err := d.Add(tt.tool); err != nil {
				t.Fatal(err)
			}
			r := must(t, d, both(one("a", "pay", `{"sum": 5, "to": "x"}`), one("b", "pay", `{"to": "x", "sum": 5}`), one("c", "pay", `{"sum": 6, "to": "x"}`)))
			if int(ran.Load()) != tt.want {
				t.Errorf("ran %d times", ran.Load())
			}
			if tt.want == 2 {
				repeated, other := r[0], r[1]
				if !repeated.Repeated {
					repeated, other = other, repeated
				}
				if !repeated.Repeated || other.Repeated || repeated.Text != other.Text {
					t.Errorf("%+v", r)
				}
			}
			must(t, d, one("a", "pay", `{"sum": 5, "to": "x"}`)) // nothing is remembered beyond a Run
			if int(ran.Load()) != tt.want+1 {
				t.Errorf("ran %d times", ran.Load())
			}
		})
	}
}

// TestMemory holds what both memories promise.
func TestMemory(t *testing.T) {
	for name, open := range map[string]func(t *testing.T) dispatch.Memory{
		"memory": func(*testing.T) dispatch.Memory { return dispatch.NewMemory(2) },
		"file": func(t *testing.T) dispatch.Memory {
			m, err := dispatch.OpenMemory(filepath.Join(t.TempDir(), "m.jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = m.Close() })
			return m
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := open(t)
			ctx := context.Background()
			var mu sync.Mutex
			runs := map[string]int{}
			do := func(key string, r dispatch.Result, err error) (dispatch.Result, bool, error) {
				return m.Do(ctx, key, func() (dispatch.Result, error) {
					mu.Lock()
					runs[key]++
					mu.Unlock()
					time.Sleep(time.Millisecond)
					return r, err
				})
			}
			var group sync.WaitGroup
			var repeats atomic.Int32
			for range 16 {
				group.Go(func() {
					r, repeated, err := do("a", dispatch.Result{Text: "x", Value: map[string]any{"n": json.Number("9007199254740993")}}, nil)
					if repeated {
						repeats.Add(1)
					}
					if v, ok := r.Value.(map[string]any); err != nil || !ok || v["n"] != json.Number("9007199254740993") || r.Text != "x" {
						t.Errorf("%+v %v", r, err)
					}
				})
			}
			group.Wait()
			if runs["a"] != 1 || repeats.Load() != 15 {
				t.Errorf("%d runs, %d repeats", runs["a"], repeats.Load())
			}
			for range 2 {
				if _, repeated, err := do("fails", dispatch.Result{}, errors.New("no")); err == nil || repeated {
					t.Error(repeated, err)
				}
			}
			for i := range 2 {
				if _, repeated, err := do("unknown", dispatch.Result{}, errors.Join(errors.New("late"), dispatch.ErrUnknown)); !errors.Is(err, dispatch.ErrUnknown) || repeated != (i == 1) {
					t.Error(repeated, err)
				}
			}
			if runs["fails"] != 2 || runs["unknown"] != 1 {
				t.Error(runs)
			}
			cancelled, cancel := context.WithCancel(ctx)
			busy, release := make(chan struct{}), make(chan struct{})
			group.Go(func() {
				_, _, _ = m.Do(ctx, "busy", func() (dispatch.Result, error) {
					close(busy)
					<-release
					return dispatch.Result{}, nil
				})
			})
			<-busy
			cancel()
			if _, _, err := m.Do(cancelled, "busy", nil); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			close(release)
			group.Wait()
		})
	}
}

// TestFileMemory holds what a file remembers of a program that ended anywhere.
func TestFileMemory(t *testing.T) {
	name := filepath.Join(t.TempDir(), "m.jsonl")
	ctx := context.Background()
	m, err := dispatch.OpenMemory(name)
	if err != nil {
		t.Fatal(err)
	}
	type shown struct{ A int }
	if _, _, err := m.Do(ctx, "done", func() (dispatch.Result, error) { return dispatch.Result{Text: "t", Value: shown{7}}, nil }); err != nil {
		t.Fatal(err)
	}
	if _, _, err := m.Do(ctx, "failed", func() (dispatch.Result, error) { return dispatch.Result{}, errors.New("x") }); err == nil {
		t.Fatal("no error")
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info.Mode(), err)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	data = append(data, `{"key":"began","state":"began"}`+"\n"...)
	for cut := range len(data) + 1 { // the program may have ended at any byte
		if err := os.WriteFile(name, data[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := dispatch.OpenMemory(name)
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		for _, key := range []string{"done", "failed", "began"} {
			begun := strings.Contains(string(data[:cut]), `{"key":"`+key+`","state":"began"}`)
			finished := strings.Contains(string(data[:cut]), `{"key":"`+key+`","state":"done"`) && strings.Contains(string(data[:cut]), `"value":{"A":7}}`) ||
				strings.Contains(string(data[:cut]), `{"key":"`+key+`","state":"failed","reason":"x"}`)
			ran := false
			r, repeated, err := m.Do(ctx, key, func() (dispatch.Result, error) {
				ran = true
				return dispatch.Result{Text: "again"}, nil
			})
			switch {
			case !begun || key == "failed" && finished:
				if !ran || err != nil {
					t.Errorf("cut at %d: %s did not run: %v", cut, key, err)
				}
			case finished:
				if ran || !repeated || r.Text != "t" || fmt.Sprint(r.Value) != "map[A:7]" {
					t.Errorf("cut at %d: %s: %+v", cut, key, r)
				}
			case ran || !errors.Is(err, dispatch.ErrUnknown):
				t.Errorf("cut at %d: %s: ran %v, %v", cut, key, ran, err)
			}
		}
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
		if m, err = dispatch.OpenMemory(name); err != nil { // what was appended can be read
			t.Fatalf("cut at %d, opened again: %v", cut, err)
		}
		_ = m.Close()
	}
	if err := os.WriteFile(name, []byte("not JSON\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if m, err := dispatch.OpenMemory(name); err == nil {
		_ = m.Close()
		t.Error("a file of other things is opened")
	}
}

// TestUnknown holds that a call that runs once and took too long is not run again.
func TestUnknown(t *testing.T) {
	d := &dispatch.Dispatcher{Memory: dispatch.NewMemory(10)}
	ran := 0
	if err := d.Add(dispatch.Tool{
		Tool: registry.Tool{Name: "pay"}, Once: true, Timeout: time.Millisecond,
		Run: func(ctx context.Context, _ *dispatch.Call) (dispatch.Result, error) {
			ran++
			<-ctx.Done()
			return dispatch.Result{}, ctx.Err()
		},
	}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		r := must(t, d, one("a", "pay", `{}`))[0]
		if code(r) != dispatch.CodeTimeout || !errors.Is(r.Err, dispatch.ErrUnknown) || !strings.Contains(r.Err.Message, "not known") {
			t.Errorf("%+v", r.Err)
		}
	}
	if ran != 1 {
		t.Errorf("ran %d times", ran)
	}
}
