// Command callwright finds the tool calls in what a language model wrote.
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
	exitCalls   = 0 // there are calls, or the command succeeded
	exitNoCalls = 1 // there are no calls
	exitMisuse  = 2 // the command was used wrongly, or failed
)

// errNoCalls says that a text has no calls. It sets the exit code, and is not printed.
var errNoCalls = errors.New("no calls")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop) // a second interrupt ends the process at once
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
