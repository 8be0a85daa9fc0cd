package wire

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Framing is how a stream is cut into messages.
type Framing string

// The framings.
const (
	SSE    Framing = "sse"    // server-sent events (WHATWG HTML, section 9.2)
	Lines  Framing = "ndjson" // JSON values one after the other, usually one a line
	Array  Framing = "array"  // the elements of one JSON array
	Binary Framing = "binary" // AWS event stream messages
)

// Limits of a stream, in bytes.
const (
	DefaultMaxFrame = 4 << 20
	DefaultMaxTotal = 32 << 20
)

// Errors of a framing.
var (
	// ErrTooLarge says that a message or a stream is larger than its limit.
	ErrTooLarge = errors.New("too large")
	// ErrNotStream says that the data is in no known framing.
	ErrNotStream = errors.New("not a stream")
	// ErrCut says that the stream ended inside a message.
	ErrCut = errors.New("the stream ends inside a message")
)

// Frame is one message of a stream. Data is valid until the next one is read.
type Frame struct {
	Event string
	Data  []byte
}

// Reader reads the messages of a stream. It detects the framing by the first byte.
type Reader struct {
	in       *bufio.Reader
	framing  Framing
	maxFrame int
	left     int
	buf      []byte
	event    string
	hasData  bool
	lines    int
	pending  bool // buf holds a message that was given out
	afterCR  bool
}

// NewReader reads from in; a limit of 0 means its default.
func NewReader(in io.Reader, maxFrame, maxTotal int) *Reader {
	if maxFrame <= 0 {
		maxFrame = DefaultMaxFrame
	}
	if maxTotal <= 0 {
		maxTotal = DefaultMaxTotal
	}
	return &Reader{in: bufio.NewReaderSize(in, 8<<10), maxFrame: maxFrame, left: maxTotal}
}

// Framing is the stream's framing; it is known once the first byte has come.
func (r *Reader) Framing() (Framing, error) {
	if r.framing != "" {
		return r.framing, nil
	}
	if head, _ := r.in.Peek(3); string(head) == "\ufeff" {
		_, _ = r.in.Discard(3)
	}
	for {
		head, err := r.in.Peek(1)
		if err != nil {
			return "", err
		}
		switch b := head[0]; {
		case isSpace(b):
			_, _ = r.in.Discard(1)
			if err := r.take(1); err != nil {
				return "", err
			}
			continue
		case b == '{':
			r.framing = Lines
		case b == '[':
			r.framing = Array
		case b == 0:
			r.framing = Binary
		default:
			return r.sniff()
		}
		return r.framing, nil
	}
}

// sniff decides whether the first line is one of a stream of events.
func (r *Reader) sniff() (Framing, error) {
	for n := 1; n <= 7; n++ {
		head, err := r.in.Peek(n)
		if isField(head, err != nil) {
			r.framing = SSE
			return SSE, nil
		}
		if err != nil {
			break // no more data comes
		}
	}
	head, _ := r.in.Peek(min(200, max(r.in.Buffered(), 1)))
	return "", fmt.Errorf("%w: it begins with %q", ErrNotStream, head)
}

// Next returns the next message, or io.EOF.
func (r *Reader) Next() (Frame, error) {
	framing, err := r.Framing()
	if err != nil {
		return Frame{}, err
	}
	switch framing {
	case SSE:
		return r.nextEvent()
	case Binary:
		return r.nextBinary()
	}
	return r.nextValue()
}

// isField reports whether a line begins with the name of a field of events, or is a
// comment.
func isField(head []byte, end bool) bool {
	if head[0] == ':' {
		return true
	}
	for _, field := range []string{"data", "event", "id", "retry"} {
		if rest, ok := bytes.CutPrefix(head, []byte(field)); ok &&
			(end && len(rest) == 0 || len(rest) > 0 && (rest[0] == ':' || rest[0] == '\n' || rest[0] == '\r')) {
			return true
		}
	}
	return false
}

func (r *Reader) take(n int) error {
	if r.left -= n; r.left < 0 {
		return fmt.Errorf("the stream is %w", ErrTooLarge)
	}
	return nil
}

// nextEvent reads one event. Lines end in LF, CR LF or CR; lines of data are
// joined. Servers that leave out the blank line between events are read all the
// same: data that is JSON is whole when more begins.
func (r *Reader) nextEvent() (Frame, error) {
	if r.pending {
		r.buf, r.pending, r.hasData, r.lines = r.buf[:0], false, false, 0
		r.event = ""
	}
	for {
		line, field, err := r.line()
		end := errors.Is(err, io.EOF)
		if err != nil && !end {
			return Frame{}, err
		}
		value := r.buf[line:]
		switch {
		case end && field == "" && len(value) == 0:
			r.buf = r.buf[:line]
			if r.hasData {
				return r.dispatch(), nil
			}
			return Frame{}, io.EOF
		case field == "" && len(value) == 0: // a blank line
			r.buf = r.buf[:line]
			if r.hasData {
				return r.dispatch(), nil
			}
			r.event = ""
		case field == "data":
			if r.hasData {
				if r.lines == 1 && r.startsAnew(line) {
					frame := r.cut(line)
					r.lines = 1
					return frame, nil
				}
				r.buf = append(r.buf, 0)
				copy(r.buf[line+1:], r.buf[line:])
				r.buf[line] = '\n'
			}
			r.hasData = true
			r.lines++
		case field == "event":
			name := string(value)
			r.buf = r.buf[:line]
			if r.hasData && r.lines == 1 && json.Valid(r.buf) {
				frame := r.cut(line)
				r.event, r.hasData, r.lines = name, false, 0
				return frame, nil
			}
			r.event = name
		default: // a comment, an id, a time to retry, an unknown field
			r.buf = r.buf[:line]
		}
		if end {
			if r.hasData {
				return r.dispatch(), nil
			}
			return Frame{}, io.EOF
		}
	}
}

// startsAnew reports whether the data so far is whole and the line from an offset
// on is data of its own.
func (r *Reader) startsAnew(line int) bool {
	next := r.buf[line:]
	return len(next) > 0 && (next[0] == '{' || string(next) == "[DONE]") && (json.Valid(r.buf[:line]) || string(r.buf[:line]) == "[DONE]")
}

// cut gives out the data up to an offset as an event that has no blank line behind
// it, and keeps what follows as that of the next one.
func (r *Reader) cut(at int) Frame {
	frame := Frame{r.event, bytes.Clone(r.buf[:at])}
	r.buf = append(r.buf[:0], r.buf[at:]...)
	r.event = ""
	return frame
}

func (r *Reader) dispatch() Frame {
	r.pending = true
	return Frame{r.event, r.buf}
}

// line reads a line's field name and adds its value to the buffer, from the
// returned offset on.
func (r *Reader) line() (start int, field string, err error) {
	start = len(r.buf)
	for {
		b, err := r.in.ReadByte()
		if err != nil {
			field = r.split(start)
			return start, field, err
		}
		if err := r.take(1); err != nil {
			return start, "", err
		}
		if b == '\n' && r.afterCR {
			r.afterCR = false // the second half of CR LF
			continue
		}
		r.afterCR = b == '\r'
		if b == '\n' || b == '\r' {
			return start, r.split(start), nil
		}
		r.buf = append(r.buf, b)
		// What is there already is taken at once.
		if n := r.in.Buffered(); n > 0 {
			chunk, _ := r.in.Peek(n)
			if i := bytes.IndexAny(chunk, "\r\n"); i >= 0 {
				chunk = chunk[:i]
			}
			r.buf = append(r.buf, chunk...)
			_, _ = r.in.Discard(len(chunk))
			if err := r.take(len(chunk)); err != nil {
				return start, "", err
			}
		}
		if len(r.buf) > r.maxFrame {
			return start, "", fmt.Errorf("an event of more than %d bytes is %w", r.maxFrame, ErrTooLarge)
		}
	}
}

// split takes the field name off a line in the buffer.
func (r *Reader) split(start int) string {
	line := r.buf[start:]
	colon := bytes.IndexByte(line, ':')
	if colon == 0 {
		r.buf = append(r.buf[:start], ' ')
		return "comment"
	}
	if colon < 0 {
		field := string(line)
		r.buf = r.buf[:start]
		return field
	}
	field := "other"
	if colon <= 5 {
		field = string(line[:colon])
	}
	value := bytes.TrimPrefix(line[colon+1:], []byte(" "))
	n := copy(line, value)
	r.buf = r.buf[:start+n]
	return field
}

// nextValue reads one JSON value from a sequence or an array of them. Text
// between them, up to the end of its line, is given out as it is. It is one loop over
// bytes with the state of a JSON scanner: split up, the state would be passed around.
func (r *Reader) nextValue() (Frame, error) { //nolint:gocyclo // one loop, see above
	r.buf = r.buf[:0]
	depth, inString, escaped := 0, false, false
	for {
		b, err := r.in.ReadByte()
		if err != nil {
			if errors.Is(err, io.EOF) && len(r.buf) > 0 {
				if depth > 0 {
					return Frame{Data: r.buf}, ErrCut
				}
				return Frame{Data: r.buf}, nil
			}
			return Frame{}, err
		}
		if err := r.take(1); err != nil {
			return Frame{}, err
		}
		if len(r.buf) >= r.maxFrame {
			return Frame{}, fmt.Errorf("a value of more than %d bytes is %w", r.maxFrame, ErrTooLarge)
		}
		if len(r.buf) == 0 && (isSpace(b) || r.framing == Array && (b == '[' || b == ',' || b == ']')) {
			continue
		}
		if depth == 0 && len(r.buf) > 0 && b == '\n' { // text that is not an object
			return Frame{Data: r.buf}, nil
		}
		r.buf = append(r.buf, b)
		switch {
		case inString && b == '\n' && r.framing == Lines:
			return Frame{Data: r.buf[:len(r.buf)-1]}, nil // a line that is not JSON
		case inString:
			switch {
			case escaped:
				escaped = false
			case b == '\\':
				escaped = true
			case b == '"':
				inString = false
			}
		case depth == 0 && len(r.buf) > 1: // within text that is not an object
		case b == '"':
			inString = depth > 0
		case b == '{' || b == '[':
			depth++
		case b == '}' || b == ']':
			if depth--; depth == 0 {
				return Frame{Data: r.buf}, nil
			}
		}
	}
}
