// Command localmodel gives tools to a local model that knows nothing of tool calling: they
// are written into the prompt, its calls are found in its text, and it is told the results.
//
//	go run ./examples/localmodel -upstream http://127.0.0.1:11434 -model gemma3 "How is the weather in Rome?"
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/adapters/openai"
	"github.com/callwright/callwright/config"
	"github.com/callwright/callwright/dispatch"
	"github.com/callwright/callwright/interceptor"
)

// Place is what get_weather takes.
type Place struct {
	City string `json:"city" jsonschema_description:"such as Rome"`
	Days int    `json:"days,omitempty" jsonschema:"default=1,minimum=1,maximum=7"`
}

// Forecast is what it returns.
type Forecast struct {
	City    string `json:"city"`
	Degrees []int  `json:"degrees"`
}

// weather stands for a service.
func weather(_ context.Context, in Place) (Forecast, error) {
	known := map[string]int{"Rome": 24, "Oslo": 9}
	degrees, ok := known[in.City]
	if !ok {
		return Forecast{}, fmt.Errorf("no weather of %s: Rome and Oslo are known", in.City)
	}
	f := Forecast{City: in.City}
	for day := range in.Days {
		f.Degrees = append(f.Degrees, degrees+day)
	}
	return f, nil
}

// answer asks a model, and runs the tools that it calls until it answers.
func answer(ctx context.Context, upstream, model, question string) (string, error) {
	c := config.Default()
	c.Server.Upstream, c.Server.Mode = upstream, "emulate"
	handler, err := interceptor.New(c, interceptor.Options{})
	if err != nil {
		return "", err
	}
	defer handler.Close()

	var d dispatch.Dispatcher
	dispatch.Handle(&d, "get_weather", weather).Description = "The weather of a city, in degrees"
	d.Policy.Rules = []dispatch.Rule{{Tool: "get_weather", Do: dispatch.Allow}}
	l := dispatch.Loop{Model: dispatch.ModelOf(handler, openai.Chat), Dispatch: &d, Request: adapters.Request{Model: model}}
	t, err := l.Say(ctx, question)
	if err != nil {
		return "", err
	}
	return t.Text(), nil
}

func main() {
	upstream := flag.String("upstream", "http://127.0.0.1:11434", "URL of the model server")
	model := flag.String("model", "gemma3", "name of the model")
	flag.Parse()
	text, err := answer(context.Background(), *upstream, *model, flag.Arg(0))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(text)
}
