package corpus

import (
	"strings"

	"github.com/callwright/callwright/dialect"
)

// shapes are forms of JSON without markers, each written for all calls of a text.
var shapes = map[string]func(g *generator, calls []Call) string{
	"name_arguments": func(_ *generator, calls []Call) string {
		return each(calls, "\n", func(c Call) string {
			return `{"name": ` + encode(c.Tool) + `, "arguments": ` + encode(c.Parameters) + `}`
		})
	},
	"claude_tool_use": func(g *generator, calls []Call) string {
		blocks := []string{`{"type": "text", "text": ` + encode(g.lead()) + `}`}
		for _, c := range calls {
			blocks = append(blocks, `{"type": "tool_use", "id": "toolu_`+encode(g.r.IntN(1e6))+`", "name": `+encode(c.Tool)+`, "input": `+encode(c.Parameters)+`}`)
		}
		return `{"content": [` + strings.Join(blocks, ", ") + `]}`
	},
	"openai_function_call": func(_ *generator, calls []Call) string {
		list := each(calls, ", ", func(c Call) string {
			return `{"id": "call_` + c.Tool + `", "type": "function", "function": {"name": ` + encode(c.Tool) + `, "arguments": ` + encode(encode(c.Parameters)) + `}}`
		})
		return `{"tool_calls": [` + list + `]}`
	},
	"ollama_json": func(g *generator, calls []Call) string {
		return `{"thinking": ` + encode(g.lead()) + `, "commands": [` + each(calls, ", ", func(c Call) string { return `{"tool": ` + encode(c.Tool) + `, "params": ` + encode(c.Parameters) + `}` }) + `]}`
	},
	"markdown_json": func(_ *generator, calls []Call) string {
		return "```json\n{\n\"actions\": [" + each(calls, ",\n", func(c Call) string {
			return `{"type": ` + encode(c.Tool) + `, "parameters": ` + encode(c.Parameters) + `}`
		}) + "]\n}\n```"
	},
	"fenced": func(g *generator, calls []Call) string {
		info := g.one("json", "tool_call", "")
		return each(calls, "\n", func(c Call) string {
			return "```" + info + "\n{\"name\": " + encode(c.Tool) + ", \"arguments\": " + encode(c.Parameters) + "}\n```"
		})
	},
	"plain_text": func(g *generator, calls []Call) string {
		return each(calls, "\n", func(c Call) string {
			flat := encode(c.Parameters)
			return g.lead() + "\nAction: {\"tool\": " + encode(c.Tool) + strings.TrimSuffix(", "+strings.TrimPrefix(flat, "{"), ", }")
		})
	},
}

var shapeNames = []string{"name_arguments", "claude_tool_use", "openai_function_call", "ollama_json", "markdown_json", "fenced", "plain_text"}

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
		c.Format = shapeNames[g.r.IntN(len(shapeNames))]
		c.Text = shapes[c.Format](g, c.Want)
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

// lead is what a model says before it acts.
func (g *generator) lead() string {
	return g.one("I'll do that now.", "Let me take care of it.", "Sure! Here is the call:", "First I need the facts.", "Calling the tool:", "Done soon.")
}

// surround puts words around the calls.
func (g *generator) surround(c *Case) {
	c.Tags = append(c.Tags, "prose")
	if g.chance(0.8) {
		c.Text = g.lead() + g.one("\n", "\n\n", " ") + c.Text
	}
	if g.chance(0.5) {
		c.Text += g.one("\n", "\n\n") + g.one("This will take a moment.", "Let me know if you need anything else.", "I will report what it says.")
	}
	if g.chance(0.15) {
		c.Tags = append(c.Tags, "reasoning")
		c.Text = "<think>\nThe user wants something. I should call a tool.\n</think>\n" + c.Text
	}
}
