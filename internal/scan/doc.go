// Package scan finds in a model's text what may be tool calls.
//
// NOTE, who may do what:
//
//   - Scanner (scan.go) walks once over the text and decides what is tried where.
//   - look (look.go, tag.go, find.go) says what stands at an offset. It never moves.
//   - ledger (ledger.go) knows what of the text is content, what was dropped and what
//     was taken, and hands it to the Sink. Nothing else calls Content or Dropped.
//   - quoting (quoting.go, fence.go) knows where nothing counts: inline code, code
//     fences, comments.
//   - A body (body.go and a file body_*.go each) reads what stands between a dialect's
//     markers: from a construct (construct.go), with an outcome.
//   - What is known of dialects is data in package dialect; [Table] makes it ready.
//     No file here names a dialect or a model.
//
// All of it is straight-line code over a lenient.Cursor, which suspends it where the
// text has not come yet: a stream and a whole text are read by the same code, and no
// code can see how the text was cut.
package scan
