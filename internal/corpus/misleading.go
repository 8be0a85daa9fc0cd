package corpus

import "strings"

// misleading makes a text that means no call, or none that can be made.
func (g *generator) misleading(c *Case) {
	c.Difficulty = Hard
	call := g.call()
	c.Want = []Call{call}
	g.write(c)
	bare := `{"name": ` + encode(call.Tool) + `, "arguments": ` + encode(call.Parameters) + `}`
	switch kind := g.one(
		"mentioned", "mentioned", "mentioned", "filed", "stored", "example", "quoted", "draft", "placeholder", "data", "prose", "unknown_tool",
		"missing_required", "cut_off", "source", "result",
	); kind {
	case "example":
		c.Text = g.one("For example, you would write: ", "The format looks like this:\n", "An example of such a call is ") + bare +
			g.one("", "\nUse it whenever you need it.")
		c.Format = "name_arguments"
		c.Tags = []string{kind}
	case "mentioned": // nothing announces that it is none
		c.Text = g.one(
			"The last answer was ", "Earlier the assistant wrote ", "In the tests we assert that it produces ", "The log of yesterday has ",
			"My previous call ", "The request body ", "What the other agent sent, ", "The documentation lists ",
		) + bare + g.one(" and it failed.", ", which is wrong.", " in line 12.", ", as the user knows.", " was rejected.", ".")
		c.Format = "name_arguments"
		c.Tags = []string{kind}
	case "filed":
		c.Text = g.one(
			"Add this to your fixtures:", "The recorded request:", "This is what the server receives:", "Expected output of the test:",
			"Save the following as call.json:",
		) + "\n```json\n" + bare + "\n```\n" + g.one("Then run the tests.", "It is only a record.", "Nothing else changes.")
		c.Format = "fenced"
		c.Tags = []string{kind}
	case "stored":
		c.Text = g.one("Records:\n", "Contents of the file:\n", "History\n") + bare + "\n" + g.one("(2 rows)", "EOF", "end of history")
		c.Format = "name_arguments"
		c.Tags = []string{kind}
	case "quoted":
		c.Text = g.one("The log says `", "They wrote \"", "It printed '") + bare +
			g.one("` and stopped.", "\" in the ticket.", "' to the console.")
		c.Format = "name_arguments"
		c.Tags = []string{kind}
	case "draft":
		c.Text = "<think>\nI could call " + c.Text + "\nBut that is not needed.\n</think>\nNo tool is needed here."
		c.Tags = []string{kind}
	case "placeholder":
		c.Text = g.one("Use ", "The syntax is ") + `{"name": ` + encode(call.Tool) +
			`, "arguments": {"` + g.one("city", "path", "query") + `": "` + g.one("...", "<value>", "string", "YOUR_VALUE") + `"}}`
		c.Format = "name_arguments"
		c.Tags = []string{kind}
	case "data":
		c.Text = "The record is " + g.one(
			`{"name": "search", "size": 12}`, `{"name": "Ada", "id": 7, "city": "Rome"}`, `[{"type": "search", "count": 3}]`,
			`{"tool": "hammer", "weight": 2}`,
		)
		c.Format = "plain_text"
		c.Tags = []string{kind}
	case "prose":
		c.Text = "The " + call.Tool + " tool takes " + g.words(4) + ". " + g.words(6) + "."
		c.Format = "plain_text"
		c.Tags = []string{kind}
	case "unknown_tool":
		c.Text = strings.ReplaceAll(c.Text, call.Tool, g.one("open_door", "summarize", "lookup_user"))
		c.Tags = []string{kind}
	case "missing_required":
		for name := range call.Parameters {
			if g.tools.Get(call.Tool).Requires(name) {
				delete(call.Parameters, name)
			}
		}
		g.write(c)
		c.Tags = []string{kind}
	case "cut_off":
		i := strings.LastIndex(c.Text, call.Tool)
		if rest := len(c.Text) - i - len(call.Tool); i >= 0 && rest > 6 {
			c.Text = c.Text[:i+len(call.Tool)+g.r.IntN(rest*2/3)]
		} else {
			c.Text = c.Text[:len(c.Text)/2]
		}
		c.Text = strings.ToValidUTF8(c.Text, "")
		c.Tags = []string{kind}
	case "source":
		c.Text = "```" + g.one("python", "go", "js") + "\nconst call = " + bare + "\nprint(call)\n```"
		c.Format = "fenced"
		c.Tags = []string{kind}
	case "result":
		c.Text = "<tool_response>\n" + bare + "\n</tool_response>"
		c.Format = "hermes"
		c.Tags = []string{kind}
	}
}
