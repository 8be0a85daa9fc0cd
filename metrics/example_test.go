package metrics_test

import (
	"fmt"
	"time"

	"github.com/callwright/callwright/metrics"
)

func Example() {
	alert, err := metrics.ParseAlert("error_rate > 10%")
	if err != nil {
		fmt.Println(err)
		return
	}
	r := metrics.New(metrics.Options{Alerts: []metrics.Alert{alert}})
	for i := range 30 {
		s := &metrics.Sample{Duration: time.Millisecond, Model: "m", Calls: []metrics.Call{{Tool: "get_weather", Format: "hermes"}}}
		if i%3 == 0 {
			s.Calls, s.Rejected = nil, []metrics.Rejected{{Tool: "get_weather", Format: "hermes", Code: "invalid_type"}}
		}
		r.Observe(s)
	}
	p := r.Performance()
	fmt.Printf("%d parses, success rate %.2f\n", p.Parses.All, p.SuccessRate.FirstAttempt)
	fmt.Println(r.Health().Status, r.Health().Alerts)
	// Output:
	// 30 parses, success rate 0.67
	// unhealthy [error_rate > 10%]
}
