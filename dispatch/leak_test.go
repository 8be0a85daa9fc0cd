package dispatch_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/callwright/callwright/parser"
)

// TestNoLeak dispatches 10,000 calls, at once and in many runs, and holds that nothing
// of them is left: no goroutine, and no memory.
func TestNoLeak(t *testing.T) {
	d := adder()
	const n = 10_000
	all := &parser.Result{}
	for i := range n {
		all.Calls = append(all.Calls, one(fmt.Sprint("call_", i+1), "add", `{"a": 1, "b": 2}`).Calls...)
	}
	runAll := func(r *parser.Result) {
		t.Helper()
		report, err := d.Run(context.Background(), r, nil)
		if err != nil || len(report.Results) != len(r.Calls) {
			t.Fatal(err, len(report.Results))
		}
		for i := range report.Results {
			if x := &report.Results[i]; x.Err != nil || x.Text != "3" || x.Call.ID != r.Calls[i].ID {
				t.Fatalf("%d: %v %q", i, x.Err, x.Text)
			}
		}
	}
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	runAll(all)
	goroutines, before := runtime.NumGoroutine(), heap()
	runAll(all)
	for i := range n / 10 {
		runAll(&parser.Result{Calls: all.Calls[i*10 : i*10+10]})
	}
	for deadline := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > goroutines; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines, before %d", runtime.NumGoroutine(), goroutines)
		}
	}
	if after := heap(); after > before+4<<20 {
		t.Errorf("%d KB more than before", (after-before)>>10)
	}
	runtime.KeepAlive(all)
}
