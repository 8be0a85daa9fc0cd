package parser

import (
	"bytes"
	"hash/maphash"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/callwright/callwright/internal/scan"
	"github.com/callwright/callwright/internal/text"
	"github.com/callwright/callwright/normalizer"
	"github.com/callwright/callwright/registry"
	"github.com/callwright/callwright/validator"
)

// NOTE: what a teller has sent is never taken back. It sends only what cannot change
// with what is still to come, and at the end whatever is missing, so that the pieces of
// a call's arguments add up to the JSON of its parameters.

// teller sends the events of one call while it is read. The text has one, for one call
// after the other, and each call of a reply's own field has its own.
type teller struct {
	out      *outbox
	coercion *validator.Options
	whole    bool // calls are sent only when they are whole

	of      *scan.Partial // the call that is being read
	started bool          // its beginning was sent
	stuck   bool          // what comes next depends on what comes after it
	index   int           // of the call, in the order in which calls begin
	id      string
	idLater bool // the model may yet give the call an id
	tool    *registry.Tool
	sent    map[string]any // the parameters that were sent whole
	members int            // how many of the parameters that are whole were looked at
	any     bool           // some parameter was begun

	open   string // the parameter whose string is being sent, if isOpen
	isOpen bool
	bytes  int           // how many bytes of its text were sent
	digest *maphash.Hash // of those bytes
	held   bool          // no more of it is certain until it is whole
}

// reset makes a teller ready for another call.
func (t *teller) reset() {
	*t = teller{out: t.out, coercion: t.coercion, whole: t.whole}
}

// begin gives the call its index.
func (t *teller) begin() {
	t.started = true
	t.index = t.out.begun
	t.sent = make(map[string]any)
	t.out.begun++
}

// start sends the beginning of a call.
func (t *teller) start(tool *registry.Tool, id string) {
	t.begin()
	t.tool, t.id = tool, id
	t.out.send(Event{Type: EventCallStart, Index: t.index, ID: id, Tool: tool.Name})
}

// end sends the end of the call that was being read, which was made or rejected, and
// what was not yet sent of it.
func (t *teller) end(call *Call, rejected *Rejected) {
	if t.out.emit == nil {
		return
	}
	end := Event{Type: EventCallEnd}
	var params map[string]any
	switch {
	case call != nil:
		c := *call
		end.Call = &c
		params = call.Parameters
		if !t.started {
			t.begin()
			if !t.whole {
				t.out.send(Event{Type: EventCallStart, Index: t.index, ID: call.ID, Tool: call.Tool})
			}
		}
	case !t.started:
		return
	default:
		r := *rejected
		end.Rejected = &r
		params = rejected.Parameters
	}
	if !t.whole {
		t.rest(params)
	}
	end.Index = t.index
	t.out.send(end)
	t.reset()
}

// abandon ends a call that came to nothing. What was sent of it is closed.
func (t *teller) abandon() {
	if t.started {
		if t.isOpen {
			t.arguments(`"`)
		}
		t.isOpen, t.sent = false, nil
		t.rest(nil)
		call := Call{NormalizedToolCall: normalizer.NormalizedToolCall{ID: t.id, Tool: t.tool.Name}}
		r := rejectedOf(&call, validator.Error{Code: CodeMalformed, Message: "what began as a call is none"})
		t.out.send(Event{Type: EventCallEnd, Index: t.index, Rejected: &r})
	}
	t.reset()
}

// progress sends the parameters that are whole, and what is certain of the string that
// is being read. closing are the markers that may close the call.
func (t *teller) progress(v *view, closing []string) {
	for ; t.members < len(v.keys); t.members++ {
		key := v.keys[t.members]
		value, ok := validator.ValidateParameter(t.tool, key, v.values[key], *t.coercion)
		if !ok {
			t.stuck = true
			return
		}
		t.member(key, value)
	}
	begun := t.isOpen && t.open == v.key
	if v.key == "" || t.held || !begun && !validator.TakesText(t.tool, v.key, v.kind != jsonString) {
		return
	}
	switch v.kind {
	case jsonString:
		t.openString(v.key, t.certainJSON(v.text, closing))
	case rawText:
		t.openString(v.key, t.certainRaw(v.text))
	case literalText:
		t.openString(v.key, v.text)
	}
}

// certainJSON returns how much of an open JSON string will stay, beyond what was
// sent: not what may yet turn out to be brackets and a closing marker behind a
// string that was never closed. Once a marker stands in it no more is certain.
func (t *teller) certainJSON(text []byte, closing []string) []byte {
	tail := text[t.bytes:]
	for _, m := range closing {
		if i := bytes.Index(tail, []byte(m)); i >= 0 {
			tail = tail[:i]
			t.held = true
		}
		for i := max(0, len(tail)-len(m)+1); i < len(tail); i++ {
			if tail[i] == m[0] && strings.HasPrefix(m, string(tail[i:])) {
				tail = tail[:i]
				break
			}
		}
	}
	tail = bytes.TrimRight(tail, "\r\n\t }]")
	return text[:t.bytes+len(tail)]
}

// certainRaw returns how much of a value of raw text will stay, beyond what was
// sent: not the newline at its end, nor a closing tag there that may be another's.
func (t *teller) certainRaw(text []byte) []byte {
	if !t.isOpen {
		trimmed := bytes.TrimLeft(text, " \r\n\t")
		if len(trimmed) == 0 || trimmed[0] == '<' {
			return nil // perhaps a wrapper that is no part of the value
		}
	}
	if rest, ok := bytes.CutPrefix(text, []byte("\r\n")); ok {
		text = rest
	} else {
		text = bytes.TrimPrefix(text, []byte("\n"))
	}
	tail := bytes.TrimRight(text[min(t.bytes, len(text)):], " \r\n\t")
	if i := bytes.LastIndex(tail, []byte("</")); i >= 0 && !bytes.ContainsAny(tail[i+2:max(len(tail)-1, i+2)], "> \n") {
		tail = bytes.TrimRight(tail[:i], "\r\n")
	}
	return text[:min(t.bytes, len(text))+len(tail)]
}

// openString sends what is new of the string of a parameter that is being read, of which
// so much has come.
func (t *teller) openString(key string, soFar []byte) {
	if _, twice := t.sent[key]; twice {
		return
	}
	if t.isOpen && t.open != key || len(soFar) <= t.bytes && t.isOpen || len(soFar) == 0 {
		return
	}
	soFar = soFar[:text.WholeRunes(soFar)]
	from := 0
	if t.isOpen {
		from = t.bytes
	}
	if len(soFar) <= from || !utf8.Valid(soFar[from:]) {
		return
	}
	delta := innerJSON(string(soFar[from:]))
	if !t.isOpen {
		delta = t.comma() + encode(key) + `:"` + delta
		t.isOpen, t.open = true, key
		t.digest = new(maphash.Hash)
	}
	t.digest.Write(soFar[from:])
	t.bytes = len(soFar)
	t.arguments(delta)
}

// comma opens the object, or separates its members.
func (t *teller) comma() string {
	if !t.any {
		t.any = true
		return "{"
	}
	return ","
}

// arguments sends a piece of the JSON of the parameters.
func (t *teller) arguments(delta string) {
	t.out.send(Event{Type: EventArguments, Index: t.index, Delta: delta})
}

// member sends a parameter that is whole, or the rest of it.
func (t *teller) member(key string, value any) {
	if t.isOpen {
		text, ok := value.(string)
		goesOn := ok && t.open == key && t.begins(text)
		delta := `"`
		if goesOn {
			delta = innerJSON(text[t.bytes:]) + `"`
		}
		t.arguments(delta)
		t.isOpen, t.bytes, t.held = false, 0, false
		if goesOn {
			t.sent[key] = value
			return
		}
		// The call gives the parameter twice, and this is not the value that was begun.
		// What was sent stays: the member is sent once more, and the last one counts.
	}
	if sent, ok := t.sent[key]; ok && reflect.DeepEqual(sent, value) {
		return
	}
	t.arguments(t.comma() + encode(key) + ":" + encode(value))
	t.sent[key] = value
}

// begins reports whether a text begins with what was sent of the open string.
func (t *teller) begins(text string) bool {
	return len(text) >= t.bytes && maphash.String(t.digest.Seed(), text[:t.bytes]) == t.digest.Sum64()
}

// rest sends the parameters that were not sent yet, and the closing brace.
func (t *teller) rest(params map[string]any) {
	if t.isOpen {
		t.member(t.open, params[t.open])
	}
	var b strings.Builder
	for _, key := range text.SortedKeys(params) {
		if sent, ok := t.sent[key]; ok && reflect.DeepEqual(sent, params[key]) {
			continue
		}
		b.WriteString(t.comma() + encode(key) + ":" + encode(params[key]))
	}
	if !t.any {
		b.WriteString("{")
	}
	b.WriteString("}")
	t.arguments(b.String())
}
