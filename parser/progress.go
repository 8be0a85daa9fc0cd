package parser

import (
	"bytes"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/callwright/callwright/extractor"
	"github.com/callwright/callwright/internal/lenient"
	"github.com/callwright/callwright/internal/wire"
	"github.com/callwright/callwright/registry"
	"github.com/callwright/callwright/validator"
)

// progress is how much of the call that is being read has been sent.
type progress struct {
	of      *extractor.Partial
	started bool
	stuck   bool // what comes next depends on what comes after it
	index   int  // of the call, by its beginning
	id      string
	// givenLate says that the model may yet give the call an id.
	givenLate bool
	tool      *registry.Tool
	sent      map[string]any // parameters that were sent whole
	keys      int            // how many of the partial call's keys were looked at
	open      string         // the parameter whose string is being sent
	isOpen    bool
	bytes     int  // how many bytes of its text were sent
	held      bool // no more of it is certain until it is whole
	any       bool
}

// showProgress sends what has become certain of the call that is being read.
func (h *handler) showProgress() {
	if h.scanner != nil {
		h.show(h.scanner.Partial())
	}
}

// show sends what has become certain of a call that is being read.
func (h *handler) show(part *extractor.Partial) {
	if h.p.o.Complete || h.p.o.StrictMode || h.p.o.DropRepeats || h.emit == nil {
		return
	}
	if part == nil || !part.Marked || part.Doubtful {
		return
	}
	g := h.progress
	if g.of != part {
		if g.started {
			return // the call before it has not ended yet
		}
		*g = progress{of: part}
	}
	if g.stuck {
		return
	}
	name, id, args := h.named(part)
	if name == "" {
		return
	}
	if !g.started {
		match, ok := h.lookup(name)
		switch {
		case ok && (match.Exact() || match.Rule == "prefix"):
			g.tool = match.Tool
		case h.p.registry.Len() == 0:
			g.tool = &registry.Tool{Name: registry.BareName(name)}
		default:
			g.stuck = true
			return
		}
		if h.mayRepeat(g.tool.Name) || len(h.res.Calls) >= h.p.o.MaxCalls || !h.reasoned && h.content.Len() > 0 && h.looksThoughtful() {
			g.stuck = true
			return
		}
		h.begin(g)
		g.givenLate = part.Call != nil && id == ""
		if !g.givenLate {
			g.id = h.uniqueID(id)
		}
		h.send(Event{Type: EventCallStart, Index: g.index, ID: g.id, Tool: g.tool.Name})
	}
	h.members(g, part, args)
}

// uniqueID returns the id that a call will have.
func (h *handler) uniqueID(id string) string {
	if id == "" || h.ids[id] {
		return h.p.newID()
	}
	return id
}

// named returns the name of a partial call, as far as it is certain, and the
// open bracket of its arguments.
func (h *handler) named(p *extractor.Partial) (name, id string, args *lenient.Frame) {
	switch {
	case p.Call != nil:
		frames := p.Call.Open()
		if len(frames) < 2 || frames[0].Object == nil || !frames[0].HasKey || frames[1].Object == nil {
			return "", "", nil
		}
		switch frames[0].Key {
		case "arguments", "parameters", "args", "params":
		default:
			return "", "", nil
		}
		name, _ = frames[0].Object["name"].(string)
		id, _ = frames[0].Object["id"].(string)
		for key := range frames[0].Object {
			if key != "name" && key != "id" && key != "type" {
				return "", "", nil
			}
		}
		return name, id, &frames[1]
	case p.Arguments != nil:
		if frames := p.Arguments.Open(); len(frames) > 0 && frames[0].Object != nil {
			args = &frames[0]
		}
	}
	return p.Name, p.ID, args
}

// members sends the parameters that are whole, and the string that is open.
func (h *handler) members(g *progress, p *extractor.Partial, args *lenient.Frame) {
	keys, values := p.Keys, p.Values
	if p.Values == nil {
		if args == nil {
			return
		}
		keys, values = args.Keys, args.Object
	}
	for g.keys < len(keys) {
		key := keys[g.keys]
		value, ok := validator.ValidateParameter(g.tool, key, values[key], h.p.o.Validation)
		if !ok {
			g.stuck = true
			return
		}
		g.keys++
		h.sendMember(g, key, value)
	}
	if args != nil {
		reader := p.Arguments
		depth := 1
		if p.Call != nil {
			reader, depth = p.Call, 2
		}
		text, open := reader.OpenText()
		if open && args.HasKey && len(reader.Open()) == depth && validator.TakesText(g.tool, args.Key, false) {
			if !g.held {
				h.sendText(g, args.Key, certainJSON(g, text, p.Close))
			}
		}
		return
	}
	if p.OpenKey != "" && p.OpenSafe > p.OpenFrom && validator.TakesText(g.tool, p.OpenKey, true) {
		text := h.cursor.Slice(p.OpenFrom, p.OpenSafe)
		if !p.OpenRaw {
			text = certainRaw(g, text)
		}
		h.sendText(g, p.OpenKey, text)
	}
}

// certainJSON returns how much of an open JSON string will stay, beyond what was
// sent: not what may yet turn out to be brackets and a closing marker behind a
// string that was never closed. Once a marker stands in it no more is certain.
func certainJSON(g *progress, text []byte, closing []string) []byte {
	tail := text[g.bytes:]
	for _, m := range closing {
		if i := bytes.Index(tail, []byte(m)); i >= 0 {
			tail = tail[:i]
			g.held = true
		}
		for n := min(len(m)-1, len(tail)); n > 0; n-- {
			if bytes.HasSuffix(tail, []byte(m[:n])) {
				tail = tail[:len(tail)-n]
				break
			}
		}
	}
	tail = bytes.TrimRight(tail, "\r\n\t }]")
	return text[:g.bytes+len(tail)]
}

// certainRaw returns how much of a value of raw text will stay, beyond what was
// sent: not the newline at its end, nor a closing tag there that may be another's.
func certainRaw(g *progress, text []byte) []byte {
	if !g.isOpen {
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
	tail := bytes.TrimRight(text[min(g.bytes, len(text)):], " \r\n\t")
	if i := bytes.LastIndex(tail, []byte("</")); i >= 0 && !bytes.ContainsAny(tail[i+2:max(len(tail)-1, i+2)], "> \n") {
		tail = bytes.TrimRight(tail[:i], "\r\n")
	}
	return text[:min(g.bytes, len(text))+len(tail)]
}

// sendText sends what is new of the string of a parameter.
func (h *handler) sendText(g *progress, key string, text []byte) {
	if _, twice := g.sent[key]; twice {
		return
	}
	if g.isOpen && g.open != key || len(text) <= g.bytes && g.isOpen || len(text) == 0 {
		return
	}
	for n := 1; n <= 3 && n <= len(text); n++ { // a rune that is not whole
		if tail := text[len(text)-n:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				text = text[:len(text)-n]
			}
			break
		}
	}
	from := 0
	if g.isOpen {
		from = g.bytes
	}
	if len(text) <= from || !utf8.Valid(text[from:]) {
		return
	}
	delta := ""
	if !g.isOpen {
		delta = h.comma(g) + quoteJSON(key) + `:"`
		g.isOpen, g.open = true, key
	}
	delta += innerJSON(string(text[from:]))
	g.bytes = len(text)
	h.arguments(g, delta)
}

// comma opens the object, or separates its members.
func (h *handler) comma(g *progress) string {
	if !g.any {
		g.any = true
		return "{"
	}
	return ","
}

func (h *handler) arguments(g *progress, delta string) {
	h.send(Event{Type: EventArguments, Index: g.index, Delta: delta})
}

// sendMember sends a parameter that is whole, or the rest of it.
func (h *handler) sendMember(g *progress, key string, value any) {
	if g.isOpen {
		text, ok := value.(string)
		if g.open != key || !ok || len(text) < g.bytes {
			// Never so: what was sent of a string stays. Close it all the same.
			h.arguments(g, `"`)
			g.isOpen, g.bytes, g.held = false, 0, false
		} else {
			h.arguments(g, innerJSON(text[g.bytes:])+`"`)
			g.isOpen, g.bytes, g.held = false, 0, false
			g.sent[key] = value
			return
		}
	}
	h.arguments(g, h.comma(g)+quoteJSON(key)+":"+encode(value))
	g.sent[key] = value
}

// closeProgress ends the call that was being read: it was made, or rejected.
func (h *handler) closeProgress(call *Call, rejected *Rejected) {
	if h.emit == nil {
		return
	}
	g := h.progress
	end := Event{Type: EventCallEnd, Call: call, Rejected: rejected}
	var params map[string]any
	switch {
	case call != nil:
		c := *call
		end.Call = &c
		params = call.Parameters
		if !g.started {
			h.begin(g)
			if !h.p.o.Complete {
				h.send(Event{Type: EventCallStart, Index: g.index, ID: call.ID, Tool: call.Tool})
			}
		}
	case !g.started:
		return
	default:
		r := *rejected
		end.Rejected = &r
		params = rejected.Parameters
	}
	if !h.p.o.Complete {
		h.rest(g, params)
	}
	end.Index = g.index
	h.send(end)
	*g = progress{}
}

// begin gives a call its index.
func (h *handler) begin(g *progress) {
	g.started = true
	g.index = h.begun
	g.sent = make(map[string]any)
	h.begun++
}

// rest sends the parameters that were not sent yet, and the closing brace.
func (h *handler) rest(g *progress, params map[string]any) {
	if g.isOpen {
		h.sendMember(g, g.open, params[g.open])
	}
	keys := slices.Sorted(maps.Keys(params))
	var b strings.Builder
	for _, key := range keys {
		if sent, ok := g.sent[key]; ok && reflect.DeepEqual(sent, params[key]) {
			continue
		}
		b.WriteString(h.comma(g) + quoteJSON(key) + ":" + encode(params[key]))
	}
	if !g.any {
		b.WriteString("{")
	}
	b.WriteString("}")
	h.arguments(g, b.String())
}

func encode(v any) string {
	b, err := wire.Encode(v)
	if err != nil {
		return "null"
	}
	return string(b)
}

func quoteJSON(s string) string { return encode(s) }

// innerJSON writes a piece of a string as it stands between its quotes (RFC 8259,
// section 7).
func innerJSON(s string) string {
	plain := true
	for i := range len(s) {
		if s[i] < 0x20 || s[i] == '"' || s[i] == '\\' {
			plain = false
			break
		}
	}
	if plain {
		return s
	}
	out := make([]byte, 0, len(s)+16)
	for i := range len(s) {
		switch b := s[i]; {
		case b == '"' || b == '\\':
			out = append(out, '\\', b)
		case b == '\n':
			out = append(out, '\\', 'n')
		case b == '\t':
			out = append(out, '\\', 't')
		case b == '\r':
			out = append(out, '\\', 'r')
		case b < 0x20:
			out = append(out, '\\', 'u', '0', '0', '0'+b>>4, "0123456789abcdef"[b&15])
		default:
			out = append(out, b)
		}
	}
	return string(out)
}

// snapshot copies what has come of a partial call.
func snapshot(p *extractor.Partial, c *lenient.Cursor) (name string, params map[string]any, ok bool) {
	name = p.Name
	reader := p.Arguments
	frames := []lenient.Frame(nil)
	if p.Call != nil {
		reader = p.Call
		frames = reader.Open()
		if len(frames) == 0 || frames[0].Object == nil {
			return "", nil, false
		}
		name, _ = frames[0].Object["name"].(string)
		frames = frames[1:]
	} else if reader != nil {
		frames = reader.Open()
	}
	if reader == nil {
		params = make(map[string]any, len(p.Values))
		for k, v := range p.Values {
			if t, isText := v.(lenient.Text); isText {
				v = string(t)
			}
			params[k] = v
		}
		if p.OpenKey != "" && p.OpenSafe > p.OpenFrom {
			params[p.OpenKey] = lenient.ValidUTF8(c.Slice(p.OpenFrom, p.OpenSafe))
		}
		return name, params, name != ""
	}
	var inner any
	if text, open := reader.OpenText(); open {
		inner = lenient.ValidUTF8(text)
	}
	for i := len(frames) - 1; i >= 0; i-- {
		f := &frames[i]
		if f.Object != nil {
			m := cloneMap(f.Object)
			if f.HasKey && inner != nil {
				m[f.Key] = inner
			}
			inner = m
			continue
		}
		list := append([]any{}, f.Array...)
		if inner != nil {
			list = append(list, inner)
		}
		inner = list
	}
	params, _ = inner.(map[string]any)
	if params == nil {
		params = map[string]any{}
	}
	return name, params, name != ""
}
