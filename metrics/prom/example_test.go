package prom_test

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/callwright/callwright/metrics"
	"github.com/callwright/callwright/metrics/prom"
)

func Example() {
	r := metrics.New(metrics.Options{})
	r.Observe(&metrics.Sample{Calls: []metrics.Call{{Tool: "get_weather", Format: "hermes"}}})
	registry := prometheus.NewRegistry()
	if err := registry.Register(prom.New(r)); err != nil {
		fmt.Println(err)
		return
	}
	families, err := registry.Gather()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range families {
		if f.GetName() == "callwright_calls_total" {
			m := f.GetMetric()[0]
			fmt.Println(f.GetName(), m.GetLabel()[0].GetValue(), m.GetCounter().GetValue())
		}
	}
	// Output: callwright_calls_total get_weather 1
}
