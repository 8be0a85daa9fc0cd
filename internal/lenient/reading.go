package lenient

import (
	"errors"
	"fmt"
	"iter"
	"runtime/debug"
)

// Reading runs code over a text that is still arriving. The code is written as for a
// whole text: it reads from a [Cursor], and where the text has not come yet it is
// suspended until there is more.
//
// What runs when: the code runs within [Reading.Resume], [Reading.End] and
// [Reading.Stop], and at no other time. It is a coroutine, not a goroutine that runs
// beside its owner, so that nothing needs a lock. Between these calls the code waits
// in [Cursor.Fill], and its owner may
//
//   - append to the cursor, and look at what has come by [Cursor.Slice];
//   - look at what the code leaves in sight while it waits, such as [Reader.Open] and
//     [Reader.OpenText]: it stays as it is until the code goes on;
//   - move the cursor only where the code says that this is safe.
//
// A Reading must be stopped, or read to its end. It is not safe for concurrent use.
type Reading struct {
	Cursor Cursor // of the text; its owner appends to it

	next func() (struct{}, bool)
	stop func()
	err  error
	done bool
}

// Start prepares code to read a text that will arrive. The code begins to run with the
// first [Reading.Resume].
func Start(read func(*Cursor) error) *Reading {
	r := &Reading{}
	r.next, r.stop = iter.Pull(func(yield func(struct{}) bool) {
		defer func() { r.done = true }()
		r.Cursor.wait = yield
		growStack()
		r.err = Run(read, &r.Cursor)
	})
	return r
}

// growStack makes room on the stack for what reading code needs, at once: else the runtime
// would double the stack several times, the later the dearer, since it adjusts every frame.
//
//go:noinline
func growStack() {
	var room [stackBytes]byte
	touch(&room)
}

// stackBytes is more than half of the stack that reading code needs, in bytes.
const stackBytes = 9 << 10

//go:noinline
func touch(room *[stackBytes]byte) { room[0] = 1 }

// Feed appends a piece of the text and lets the code read it.
func (r *Reading) Feed(p []byte) {
	r.Cursor.Append(p)
	r.Resume()
}

// Resume lets the code read what has come. It returns when the code waits for more, or
// has returned.
func (r *Reading) Resume() {
	if !r.done {
		r.next()
	}
}

// End says that the text is complete and lets the code read to its end.
func (r *Reading) End() {
	r.Cursor.End()
	r.Resume()
}

// EndCut says that no more text will come since a limit was reached or the stream broke
// off, and lets the code read to its end. The code asks [Cursor.CutOff].
func (r *Reading) EndCut() {
	r.Cursor.EndCut()
	r.Resume()
}

// Done reports whether the code has returned; then it is no more than its result.
func (r *Reading) Done() bool { return r.done }

// Err is what the code returned, or a [PanicError]. It is nil until the code has
// returned, and [ErrStopped] if it was stopped before.
func (r *Reading) Err() error { return r.err }

// Stop ends code that has not returned: what it waits for will not come. It may be
// called more than once, and at any time.
func (r *Reading) Stop() { r.stop() }

// PanicError is a panic of reading code: a defect of the code, whatever the text is.
type PanicError struct {
	Value any
	Stack []byte // of the code, as [debug.Stack] writes it
}

// Error tells the value, not the stack.
func (e *PanicError) Error() string { return fmt.Sprintf("internal error: %v", e.Value) }

// Run reads with code that must not panic, and returns a panic as a [PanicError]. A
// stop of the cursor is [ErrStopped].
func Run(read func(*Cursor) error, c *Cursor) (err error) {
	defer func() {
		switch v := recover(); e := v.(type) {
		case nil:
		case error:
			if errors.Is(e, ErrStopped) {
				err = ErrStopped
				return
			}
			err = &PanicError{v, debug.Stack()}
		default:
			err = &PanicError{v, debug.Stack()}
		}
	}()
	return read(c)
}
