package eval_test

import (
	"context"
	"fmt"
	"log"

	"github.com/callwright/callwright/eval"
)

func ExampleRun() {
	cases, err := eval.Read("testdata/own.jsonl", "")
	if err != nil {
		log.Fatal(err)
	}
	r, err := eval.Run(context.Background(), cases, eval.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("calls right in %d of %d\n", r.Total.CallsRight(), r.Total.Cases)
	for _, d := range r.Differences {
		fmt.Printf("%s: %s: %s\n", d.ID, d.Outcome, d.Why)
	}
	// Output:
	// calls right in 7 of 8
	// text: text: found the content "One moment.", expected "Two moments."
	// wrong: calls: call 1: the parameters differ
}
