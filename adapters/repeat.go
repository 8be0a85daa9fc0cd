package adapters

import (
	"bytes"
	"encoding/json"

	"github.com/callwright/callwright/internal/wire"
)

// repeat recognizes messages that are like the one before but for their text, as nearly
// all of a stream are, so that they need not be read in full.
type repeat struct {
	prefix, suffix []byte // of the message, up to and from the text's quotation marks
	event          Event
	known          bool
}

// learn looks at a message that gave one event.
func (r *repeat) learn(raw []byte, e *Event) {
	r.known = false
	if e.Type != EventText || e.New || e.Text == "" || bytes.IndexByte(raw, '\\') >= 0 {
		return
	}
	at := bytes.Index(raw, []byte(`"`+e.Text+`"`))
	if at < 0 || bytes.Contains(raw[at+1:], []byte(`"`+e.Text+`"`)) {
		return // it stands nowhere as it is, or twice
	}
	r.prefix = append(r.prefix[:0], raw[:at+1]...)
	r.suffix = append(r.suffix[:0], raw[at+1+len(e.Text):]...)
	r.event, r.known = e.Clone(), true
}

// read returns the event of a message that is like the one that was learned.
func (r *repeat) read(raw []byte) (e Event, ok bool) {
	if !r.known || len(raw) < len(r.prefix)+len(r.suffix) || !bytes.HasPrefix(raw, r.prefix) || !bytes.HasSuffix(raw, r.suffix) {
		return e, false
	}
	quoted := raw[len(r.prefix)-1 : len(raw)-len(r.suffix)+1]
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
	e = r.event
	e.Text, ok = wire.String(quoted)
	return e, ok && e.Text != ""
}
