// Package lenient reads JSON, and the Python and JavaScript literals that pass
// for it, as language models write them.
//
// It works in one pass over a [Cursor], whose text may still be arriving; it
// keeps its own stack of open brackets, so that no depth of nesting can exhaust
// the goroutine's stack; and it reports every departure from strict JSON as a
// [Fix]. Text that already is strict JSON is read exactly.
package lenient
