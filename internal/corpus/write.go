package corpus

import (
	"strings"

	"github.com/callwright/callwright/dialect"
)

// shape is a form of JSON without markers, written for all calls of a text.
type shape struct {
	format string
	write  func(g *generator, calls []Call) string
}

// shapes are drawn from in this order: a seed always makes the same sample.
var shapes = []shape{
	{"name_arguments", func(_ *generator, calls []Call) string {
		return each(calls, "\n", func(c Call) string { return object(c, "name", "arguments") })
	}},
	{"claude_tool_use", func(g *generator, calls []Call) string {
		blocks := []string{`{"type": "text", "text": ` + encode(g.preamble()) + `}`}
		for _, c := range calls {
			id := "toolu_" + encode(g.r.IntN(1e6))
			blocks = append(blocks, `{"type": "tool_use", "id": "`+id+`", "name": `+encode(c.Tool)+`, "input": `+encode(c.Parameters)+`}`)
		}
		return `{"content": [` + strings.Join(blocks, ", ") + `]}`
	}},
	{"openai_function_call", func(_ *generator, calls []Call) string {
		return `{"tool_calls": [` + each(calls, ", ", func(c Call) string {
			function := `{"name": ` + encode(c.Tool) + `, "arguments": ` + encode(encode(c.Parameters)) + `}`
			return `{"id": "call_` + c.Tool + `", "type": "function", "function": ` + function + `}`
		}) + `]}`
	}},
	{"ollama_json", func(g *generator, calls []Call) string {
		return `{"thinking": ` + encode(g.preamble()) + `, "commands": [` + each(calls, ", ", func(c Call) string {
			return object(c, "tool", "params")
		}) + `]}`
	}},
	{"markdown_json", func(_ *generator, calls []Call) string {
		return "```json\n{\n\"actions\": [" + each(calls, ",\n", func(c Call) string { return object(c, "type", "parameters") }) + "]\n}\n```"
	}},
	{"fenced", func(g *generator, calls []Call) string {
		info := g.one("json", "tool_call", "")
		return each(calls, "\n", func(c Call) string { return "```" + info + "\n" + object(c, "name", "arguments") + "\n```" })
	}},
	{"plain_text", func(g *generator, calls []Call) string {
		return each(calls, "\n", func(c Call) string {
			members := strings.TrimPrefix(encode(c.Parameters), "{") // beside the tool
			return g.preamble() + "\nAction: {\"tool\": " + encode(c.Tool) + strings.TrimSuffix(", "+members, ", }")
		})
	}},
}

// object writes a call as an object with two members.
func object(c Call, tool, parameters string) string {
	return `{"` + tool + `": ` + encode(c.Tool) + `, "` + parameters + `": ` + encode(c.Parameters) + `}`
}

func each(calls []Call, between string, write func(Call) string) string {
	parts := make([]string, len(calls))
	for i, c := range calls {
		parts[i] = write(c)
	}
	return strings.Join(parts, between)
}

// write writes the calls in a dialect or a shape.
func (g *generator) write(c *Case) {
	if g.chance(0.5) {
		shape := shapes[g.r.IntN(len(shapes))]
		c.Format = shape.format
		c.Text = shape.write(g, c.Want)
		return
	}
	rows := dialect.Builtin().Dialects
	for {
		d := rows[g.r.IntN(len(rows))]
		w, ok := d.Writer()
		if !ok {
			continue
		}
		c.Format = d.Name
		c.Text = each(c.Want, "\n", func(x Call) string { return w.Call(x.Tool, encode(x.Parameters)) })
		return
	}
}

// preamble is what a model says before it acts.
func (g *generator) preamble() string {
	return g.one(
		"I'll do that now.", "Let me take care of it.", "Sure! Here is the call:", "First I need the facts.", "Calling the tool:", "Done soon.",
	)
}

// surround puts words around the calls.
func (g *generator) surround(c *Case) {
	c.Tags = append(c.Tags, "prose")
	if g.chance(0.8) {
		c.Text = g.preamble() + g.one("\n", "\n\n", " ") + c.Text
	}
	if g.chance(0.5) {
		c.Text += g.one("\n", "\n\n") +
			g.one("This will take a moment.", "Let me know if you need anything else.", "I will report what it says.")
	}
	if g.chance(0.15) {
		c.Tags = append(c.Tags, "reasoning")
		c.Text = "<think>\nThe user wants something. I should call a tool.\n</think>\n" + c.Text
	}
}
