package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
)

// Sizes of AWS event stream messages: vnd.amazon.eventstream.
const (
	preludeBytes = 12 // the lengths of message and headers, and their checksum
	trailerBytes = 4  // the checksum of the message
)

// IsBinary reports whether a text begins with a message of an AWS event stream.
func IsBinary(head []byte) bool {
	return len(head) >= preludeBytes && crc32.ChecksumIEEE(head[:8]) == binary.BigEndian.Uint32(head[8:])
}

// nextBinary reads one message of an AWS event stream; its event is that of the
// header ":event-type", or ":exception-type".
func (r *Reader) nextBinary() (Frame, error) {
	var prelude [preludeBytes]byte
	if _, err := io.ReadFull(r.in, prelude[:]); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return Frame{}, ErrCut
		}
		return Frame{}, err
	}
	total, headers := int(binary.BigEndian.Uint32(prelude[:])), int(binary.BigEndian.Uint32(prelude[4:]))
	if crc32.ChecksumIEEE(prelude[:8]) != binary.BigEndian.Uint32(prelude[8:]) {
		return Frame{}, fmt.Errorf("%w: a message's prelude has a wrong checksum", ErrNotStream)
	}
	if total > r.maxFrame {
		return Frame{}, fmt.Errorf("a message of %d bytes is %w", total, ErrTooLarge)
	}
	if total < preludeBytes+trailerBytes || headers > total-preludeBytes-trailerBytes {
		return Frame{}, fmt.Errorf("%w: a message has wrong lengths", ErrNotStream)
	}
	if err := r.take(total); err != nil {
		return Frame{}, err
	}
	r.buf = append(r.buf[:0], make([]byte, total-preludeBytes)...)
	if _, err := io.ReadFull(r.in, r.buf); err != nil {
		return Frame{}, ErrCut
	}
	body := r.buf[:len(r.buf)-trailerBytes]
	if crc32.Update(crc32.ChecksumIEEE(prelude[:]), crc32.IEEETable, body) != binary.BigEndian.Uint32(r.buf[len(body):]) {
		return Frame{}, fmt.Errorf("%w: a message has a wrong checksum", ErrNotStream)
	}
	return Frame{eventType(body[:headers]), body[headers:]}, nil
}

// eventType reads the headers of a message for its type.
func eventType(h []byte) string {
	event := ""
	for len(h) > 2 {
		n := int(h[0])
		if len(h) < 2+n {
			break
		}
		name, kind := string(h[1:1+n]), h[1+n]
		h = h[2+n:]
		if kind != 7 { // not a string
			size, known := map[byte]int{0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}[kind]
			if !known || len(h) < size {
				break
			}
			h = h[size:]
			continue
		}
		if len(h) < 2 {
			break
		}
		size := int(binary.BigEndian.Uint16(h))
		if len(h) < 2+size {
			break
		}
		if value := string(h[2 : 2+size]); name == ":event-type" || name == ":exception-type" {
			event = value
		}
		h = h[2+size:]
	}
	return event
}

// AppendFrame writes one message in a framing.
func AppendFrame(b []byte, framing Framing, event string, data []byte) []byte {
	switch framing {
	case SSE:
		if event != "" {
			b = append(b, "event: "...)
			b = append(append(b, event...), '\n')
		}
		for line := range bytes.SplitSeq(data, []byte{'\n'}) {
			b = append(b, "data: "...)
			b = append(append(b, line...), '\n')
		}
		return append(b, '\n')
	case Binary:
		return appendBinary(b, event, data)
	}
	return append(append(b, data...), '\n')
}

func appendBinary(b []byte, event string, data []byte) []byte {
	var headers []byte
	kind := "event"
	if strings.HasSuffix(event, "Exception") { // as AWS names all exceptions
		kind = "exception"
	}
	for _, h := range [][2]string{{":" + kind + "-type", event}, {":content-type", "application/json"}, {":message-type", kind}} {
		headers = append(append(headers, byte(len(h[0]))), h[0]...)
		headers = append(headers, 7)
		headers = append(binary.BigEndian.AppendUint16(headers, uint16(len(h[1]))), h[1]...)
	}
	start := len(b)
	b = binary.BigEndian.AppendUint32(b, uint32(preludeBytes+len(headers)+len(data)+trailerBytes))
	b = binary.BigEndian.AppendUint32(b, uint32(len(headers)))
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[start:]))
	b = append(append(b, headers...), data...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[start:]))
}
