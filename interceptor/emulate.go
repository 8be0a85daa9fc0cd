package interceptor

import (
	_ "embed" // prompts.yaml
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/callwright/callwright/adapters"
	"github.com/callwright/callwright/config"
	"github.com/callwright/callwright/dialect"
	"github.com/callwright/callwright/internal/wire"
)

// prompt is a template for the tools in a prompt.
type prompt struct {
	Dialects []string `yaml:"dialects"`
	// Tool is how one tool is written: "function" as OpenAI does, or "bare".
	Tool string `yaml:"tool"`
	Text string `yaml:"text"`
}

//go:embed prompts.yaml
var promptRows []byte

var prompts = func() (list []prompt) {
	if err := yaml.Load(promptRows, &list, yaml.WithKnownFields()); err != nil {
		panic("prompts.yaml: " + err.Error())
	}
	return list
}()

// defaultDialect is the dialect for models of which nothing is known.
const defaultDialect = "hermes"

// emulatedDialect returns the dialect in which the model is told to call tools, and its writer.
func (x *exchange) emulatedDialect() (string, adapters.Writer) {
	var names []string
	if d := x.s.setFor(x.req.Model, func(m *config.ModelMode) string { return m.Dialect }); d != "" {
		names = append(names, d)
	}
	names = append(names, x.caps.KnownFormats...)
	names = append(names, defaultDialect)
	known := x.parser.Dialects()
	for _, name := range names {
		i := slices.IndexFunc(known, func(d dialect.Row) bool { return d.Name == name })
		if i < 0 {
			continue
		}
		if w, ok := known[i].Writer(); ok {
			return name, w
		}
	}
	d, _ := dialect.Lookup(defaultDialect) // the parser may have replaced it
	w, _ := d.Writer()
	return defaultDialect, w
}

// emulated returns the request with its tools in the system prompt, and its earlier calls
// and results as text.
func (x *exchange) emulated() *adapters.Request {
	out := *x.req
	name, writer := x.emulatedDialect()
	out.Messages = adapters.PlainMessages(x.req.Messages, writer)
	out.Tools, out.ToolChoice, out.ParallelCalls = nil, adapters.ToolChoice{}, nil
	extra := wire.Object(x.req.Extra.Clone().Members)
	for _, name := range []string{"functions", "function_call"} {
		extra.Take(name)
	}
	out.Extra = adapters.ExtraOf(x.req.Extra.Format, extra)
	if !x.mayCall() {
		return &out
	}
	text := toolPrompt(name, writer, x.offered())
	switch choice := x.req.ToolChoice; choice.Mode {
	case adapters.ToolRequired:
		text += "\nNow you have to call a tool."
	case adapters.ToolNamed:
		text += "\nNow you have to call " + dialect.Harmless(choice.Name) + "."
	}
	if x.single() {
		text += "\nCall one tool at a time."
	}
	system := adapters.Message{Role: adapters.RoleSystem, Blocks: []adapters.Block{{Type: adapters.BlockText, Text: text}}}
	if len(out.Messages) > 0 && out.Messages[0].Role == adapters.RoleSystem {
		first := out.Messages[0]
		first.Blocks = append(slices.Clone(first.Blocks), adapters.Block{Type: adapters.BlockText, Text: "\n\n" + text})
		out.Messages = append([]adapters.Message{first}, out.Messages[1:]...)
	} else {
		out.Messages = append([]adapters.Message{system}, out.Messages...)
	}
	return &out
}

// offered are the tools in the prompt.
func (x *exchange) offered() []adapters.Tool {
	if x.req.ToolChoice.Mode != adapters.ToolNamed {
		return x.req.Tools
	}
	return slices.DeleteFunc(slices.Clone(x.req.Tools), func(t adapters.Tool) bool { return t.Name != x.req.ToolChoice.Name })
}

// toolPrompt returns the prompt for tools in the dialect of a name.
func toolPrompt(name string, w adapters.Writer, tools []adapters.Tool) string {
	p := prompts[len(prompts)-1]
	for _, row := range prompts {
		if slices.Contains(row.Dialects, name) {
			p = row
			break
		}
	}
	var lines []string
	for i := range tools {
		t := &tools[i]
		if t.Other {
			continue
		}
		o := definitionOf(t)
		if p.Tool == "function" {
			var outer wire.Object
			outer.SetString("type", "function")
			outer.SetObject("function", o)
			o = outer
		}
		// Names and descriptions are the client's: they must not hold markers.
		lines = append(lines, dialect.Harmless(string(o.Bytes())))
	}
	example := w.Call("name", `{"parameter": "value"}`)
	return strings.NewReplacer(
		"{tools}", strings.Join(lines, "\n"), "{tools_list}", strings.Join(lines, ", "), "{example}", example,
	).Replace(p.Text)
}
