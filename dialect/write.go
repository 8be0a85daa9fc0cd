package dialect

import (
	"strings"

	"github.com/callwright/callwright/internal/wire"
)

// Templates are how a dialect's calls and results are written, for conversations
// with models that know no other way. In them {name} stands for the tool's name,
// {name_json} for it as a JSON string, {arguments} for the arguments as JSON,
// {parameters} for Parameter written once for each of them, {keywords} for them as
// Python's keyword arguments, and {content_json} for a result's text as a JSON
// string.
type Templates struct {
	// Call is one call; empty means that the dialect is only read.
	Call string `yaml:"call,omitempty" json:"call,omitempty"`
	// Parameter is one parameter of a call: {key}, and {value}, which is text as it
	// is and all else JSON.
	Parameter string `yaml:"parameter,omitempty" json:"parameter,omitempty"`
	// Result is what a tool gave back.
	Result string `yaml:"result,omitempty" json:"result,omitempty"`
}

// Writer writes calls and results in a dialect.
type Writer struct{ t Templates }

// Writer returns what writes the dialect; ok is false if it is only read.
func (d *Row) Writer() (w Writer, ok bool) { return Writer{d.Write}, d.Write.Call != "" }

// Call writes a call. The arguments are JSON; what is no object is written as it is.
func (w Writer) Call(name, arguments string) string {
	o, err := wire.ParseObject([]byte(arguments))
	text := strings.TrimSpace(arguments)
	if err == nil {
		text = string(o.Bytes())
	} else if text == "" {
		text = "{}"
	}
	var parameters, keywords strings.Builder
	for i, m := range o {
		value, isText := wire.String(m.Value)
		if !isText {
			value = string(m.Value)
		}
		parameters.WriteString(strings.NewReplacer("{key}", m.Key, "{value}", value).Replace(w.t.Parameter))
		if i > 0 {
			keywords.WriteString(", ")
		}
		keywords.WriteString(m.Key + "=" + python(m.Value, 0))
	}
	return strings.NewReplacer(
		"{name}", name, "{name_json}", string(wire.Quote(name)), "{arguments}", text,
		"{parameters}", parameters.String(), "{keywords}", keywords.String(),
	).Replace(w.t.Call)
}

// Result writes what a tool gave back. Its text is a string of JSON in which
// nothing can be taken for a marker.
func (w Writer) Result(name, text string) string {
	template := w.t.Result
	if template == "" {
		template = "<tool_response>\n{\"name\": {name_json}, \"content\": {content_json}}\n</tool_response>"
	}
	return strings.NewReplacer(
		"{name}", Harmless(name), "{name_json}", Harmless(string(wire.Quote(name))), "{content_json}", Harmless(string(wire.Quote(text))),
	).Replace(template)
}

// Harmless writes what may begin a marker as an escape of JSON.
func Harmless(s string) string { return markerEscapes.Replace(s) }

var markerEscapes = strings.NewReplacer(
	"<", `\u003c`, "[/", `\u005b/`, "[TOOL", `\u005bTOOL`, "[AVAILABLE", `\u005bAVAILABLE`, "[INST", `\u005bINST`,
	"✿", `\u273f`, "｜", `\uff5c`,
)

// maxPythonDepth is how deep a value is written as Python; deeper it stays JSON.
const maxPythonDepth = 64

// python writes a JSON value as a literal of Python.
func python(raw []byte, depth int) string {
	if depth > maxPythonDepth {
		return string(raw)
	}
	if o, ok := wire.AsObject(raw); ok {
		members := make([]string, len(o))
		for i, m := range o {
			members[i] = string(wire.Quote(m.Key)) + ": " + python(m.Value, depth+1)
		}
		return "{" + strings.Join(members, ", ") + "}"
	}
	if list := wire.AsList(raw); list != nil {
		elements := make([]string, len(list))
		for i, e := range list {
			elements[i] = python(e, depth+1)
		}
		return "[" + strings.Join(elements, ", ") + "]"
	}
	switch string(raw) {
	case "true":
		return "True"
	case "false":
		return "False"
	case "null":
		return "None"
	}
	return string(raw)
}
