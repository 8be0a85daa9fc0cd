// Command callwright gets the tool calls out of what a language model wrote.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
)

// Exit codes of the command.
const (
	exitCalls   = 0 // there are calls, or the command did what it should
	exitNoCalls = 1 // there is no call
	exitMisuse  = 2 // the command was called wrongly, or could not do its work
)

// errNoCalls says that a text has no call. It is no failure, only an exit code.
var errNoCalls = errors.New("no calls")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := newRoot().ExecuteContext(ctx)
	stop()
	switch {
	case err == nil:
		os.Exit(exitCalls)
	case errors.Is(err, errNoCalls):
		os.Exit(exitNoCalls)
	}
	fmt.Fprintln(os.Stderr, "callwright:", err)
	os.Exit(exitMisuse)
}
