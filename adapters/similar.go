package adapters

import (
	"bytes"
	"encoding/json"

	"github.com/callwright/callwright/internal/wire"
)

// similar recognizes messages that differ from the one before only in their text, as
// nearly all of a stream do, so that they need not be decoded.
type similar struct {
	prefix, suffix []byte // of the message, up to and from the text's quotation marks
	event          Event
	known          bool
}

// learn looks at a message and its events.
func (s *similar) learn(message []byte, events []Event) {
	s.known = false
	if len(events) != 1 || bytes.IndexByte(message, '\\') >= 0 {
		return
	}
	e := &events[0]
	if e.Type != EventText || e.New || e.Text == "" {
		return
	}
	quoted := []byte(`"` + e.Text + `"`)
	at := bytes.Index(message, quoted)
	if at < 0 || bytes.Contains(message[at+1:], quoted) {
		return // it does not stand there as it is, or stands there twice
	}
	s.prefix = append(s.prefix[:0], message[:at+1]...)
	s.suffix = append(s.suffix[:0], message[at+1+len(e.Text):]...)
	s.event, s.known = e.Clone(), true
}

// read returns the event of a message that is similar to the one that was learned.
func (s *similar) read(message []byte) (e Event, ok bool) {
	if !s.known || len(message) < len(s.prefix)+len(s.suffix) || !bytes.HasPrefix(message, s.prefix) || !bytes.HasSuffix(message, s.suffix) {
		return e, false
	}
	quoted := message[len(s.prefix)-1 : len(message)-len(s.suffix)+1]
	for i := 1; i < len(quoted)-1; i++ {
		if b := quoted[i]; b == '"' || b < 0x20 {
			return e, false
		} else if b == '\\' { // rare enough
			if !json.Valid(quoted) {
				return e, false
			}
			break
		}
	}
	e = s.event
	e.Text, ok = wire.String(quoted)
	return e, ok && e.Text != ""
}
