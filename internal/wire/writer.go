package wire

import "io"

// Writer writes the messages of a stream in a framing, each by one call of Write.
type Writer struct {
	w       io.Writer
	framing Framing
	buf     []byte
}

// NewWriter returns a writer of messages to w.
func NewWriter(w io.Writer, framing Framing) *Writer { return &Writer{w: w, framing: framing} }

// Write writes one message. The event names it where the framing has names.
func (w *Writer) Write(event string, message Object) error {
	return w.WriteRaw(event, message.Bytes())
}

// WriteRaw writes the bytes of one message.
func (w *Writer) WriteRaw(event string, message []byte) error {
	w.buf = AppendFrame(w.buf[:0], w.framing, event, message)
	_, err := w.w.Write(w.buf)
	return err
}

// WriteKeepAlive writes what shows a silent stream to be alive and says nothing: a
// comment where the framing has them, else nothing.
func (w *Writer) WriteKeepAlive() error {
	if w.framing != SSE {
		return nil
	}
	_, err := io.WriteString(w.w, ": ping\n\n")
	return err
}
