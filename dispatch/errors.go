package dispatch

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/callwright/callwright/internal/text"
)

// Code says why a call has no result. Codes are part of the JSON contract.
type Code string

// The codes of errors.
const (
	CodeInvalid           Code = "invalid"             // the arguments do not fit the tool
	CodeUnknownTool       Code = "unknown_tool"        // there is no such tool
	CodeRejected          Code = "rejected"            // the parser found no call to run in it
	CodeCycle             Code = "cycle"               // it waits for itself, through others
	CodeUnknownReference  Code = "unknown_reference"   // it uses the result of a call that there is not
	CodeReferencePath     Code = "reference_path"      // the result has no such member
	CodeReferenceTooLarge Code = "reference_too_large" // the results make its arguments too large
	CodeDependencyFailed  Code = "dependency_failed"   // a call whose result it uses, or that it needs before it, failed
	CodeDenied            Code = "denied"              // the policy does not allow it
	CodeNotApproved       Code = "not_approved"        // nobody approved it
	CodePending           Code = "pending"             // it waits for an approval
	CodeTimeout           Code = "timeout"
	CodeCancelled         Code = "cancelled"
	CodePanic             Code = "panic"
	CodeFailed            Code = "failed"      // the handler returned an error
	CodeUnavailable       Code = "unavailable" // what runs the tool cannot be reached
	CodeTooManyCalls      Code = "too_many_calls"
	CodeLoop              Code = "loop" // it was made too often already
)

// Error says why a call has no result.
type Error struct {
	Code Code   `json:"code"`
	ID   string `json:"id,omitempty"`
	Tool string `json:"tool,omitempty"`
	// Calls are the ids of other calls that have to do with it: those of a cycle, in their
	// order; those that failed before it; those that an ambiguous reference may mean.
	Calls []string `json:"calls,omitempty"`
	// Message is for the model: what is wrong, and what to do.
	Message string `json:"message"`
	// Err is the cause, if there is one, for errors.Is and errors.As.
	Err error `json:"-"`
	// Stack is where a handler panicked. It is for logs, and never shown to a model.
	Stack []byte `json:"-"`
}

// Error returns the tool, the code and the message in one line.
func (e *Error) Error() string {
	if e.Tool == "" {
		return fmt.Sprintf("%s: %s", e.Code, e.Message)
	}
	return fmt.Sprintf("%s: %s: %s", e.Tool, e.Code, e.Message)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Errors of handlers and approvals that mean something to a dispatcher.
var (
	// ErrStop, returned by a handler beside its result, says that the model need not be
	// asked again: a [Loop] ends behind this turn. The result counts.
	ErrStop = errors.New("the loop ends behind this call")
	// ErrLater, returned by Policy.Ask, says that the approval is given elsewhere: the call
	// is pending, and may be run again by another Run.
	ErrLater = errors.New("the approval is given later")
)

// Transient marks an error of a handler as one that may go away by itself, so that [Retry]
// tries again.
func Transient(err error) error {
	if err == nil {
		return nil
	}
	return &transient{err}
}

// IsTransient reports whether an error, or one that it wraps, was marked by [Transient].
func IsTransient(err error) bool {
	var t *transient
	return errors.As(err, &t)
}

type transient struct{ error }

func (t *transient) Unwrap() error { return t.error }

// maxErrorBytes bounds the message of an error, in bytes.
const maxErrorBytes = 64 << 10

// errorOf makes the error of a call of what its handler returned.
func errorOf(ctx context.Context, c *Call, err error) *Error {
	e := &Error{Code: CodeFailed, Err: err}
	var own *Error
	switch {
	case errors.As(err, &own):
		copied := *own
		e, copied.Err = &copied, err // what it is wrapped in counts too
	case errors.Is(err, errTimeout) || errors.Is(err, context.DeadlineExceeded):
		e.Code, e.Message = CodeTimeout, "the tool took too long"
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		e.Code, e.Message = CodeCancelled, "the call was cancelled"
	}
	if e.Message == "" {
		e.Message = err.Error()
	}
	e.Message = strings.ToValidUTF8(text.Clip(e.Message, maxErrorBytes), "\uFFFD")
	e.ID, e.Tool = c.ID, c.Tool
	return e
}

// panicError makes the error of a panic.
func panicError(p any) *Error {
	e := &Error{Code: CodePanic, Message: "the tool failed in an unforeseen way", Stack: debug.Stack()}
	if err, ok := p.(error); ok {
		e.Err = err
	} else {
		e.Err = fmt.Errorf("panic: %v", p)
	}
	return e
}
