package sample

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/callwright/callwright/internal/intent"
)

// Case is a call of a text in one form, with what stands around it.
type Case struct {
	intent.Context
	Text *Text
	Call *Label
	// Written is the whole text, and Spans the places of its calls.
	Written string
	Spans   []intent.Span
	Index   int
}

// place is how the text holds a slot.
type place uint8

const (
	inline   place = iota // within a line of text
	alone                 // the line has nothing else
	item                  // a list's item or a quoted line has nothing else
	quoted                // in quotation marks, back quotes, a table or a tag: one line, no back quotes
	inFence               // the text has a fence around it
	jsonOnly              // the text has a fence around it for JSON
)

// form is one way to write a call at its place.
type form struct {
	form   intent.Form
	places []place
	weight int
	write  func(l *Label, r *rand.Rand) string
	fence  string // the fence around it that is part of the candidate: "```json", "~~~"
	ticks  bool   // inline code
}

var forms = []form{
	{intent.JSON, []place{inline, quoted}, 55, jsonLine, "", false},
	{intent.JSON, []place{inline}, 8, jsonLine, "", true},
	{intent.Python, []place{inline}, 8, pythonCall, "", true},
	{intent.Python, []place{inline, quoted}, 12, pythonCall, "", false},
	{intent.Python, []place{inline, quoted}, 3, pythonList, "", false},
	{intent.Trained, []place{inline, quoted}, 11, trained, "", false},
	{intent.Tag, []place{inline, quoted}, 4, element, "", false},

	{intent.JSON, []place{alone, item, inFence, jsonOnly}, 34, jsonLine, "", false},
	{intent.JSON, []place{alone, inFence, jsonOnly}, 12, jsonPretty, "", false},
	{intent.JSON, []place{alone}, 8, jsonPretty, "```json", false},
	{intent.JSON, []place{alone}, 8, jsonLine, "```json", false},
	{intent.JSON, []place{alone}, 6, jsonPretty, "```", false},
	{intent.JSON, []place{alone}, 2, jsonLine, "~~~", false},
	{intent.JSON, []place{alone}, 3, jsonLine, "```tool_call", false},
	{intent.Python, []place{alone}, 3, pythonCall, "```python", false},
	{intent.Python, []place{alone}, 1, pythonCall, "```py", false},
	{intent.Python, []place{alone}, 2, pythonCall, "```", false},
	{intent.Trained, []place{alone}, 2, trained, "```xml", false},
	{intent.Python, []place{alone, item, inFence}, 6, pythonCall, "", false},
	{intent.Python, []place{alone, item}, 3, pythonList, "", false},
	{intent.Trained, []place{alone, item, inFence}, 13, trained, "", false},
	{intent.Tag, []place{alone, item, inFence}, 4, element, "", false},
	{intent.Label, []place{alone}, 3, action, "", false},
	{intent.JSON, []place{item}, 8, jsonLine, "", true},
	{intent.Python, []place{item}, 8, pythonCall, "", true},
}

// Options say how a text is written.
type Options struct {
	// Vary changes what does not change the label: lines are joined and divided, letters
	// and accents made plain, openings put before.
	Vary bool
}

// Write puts the calls of a text into forms that are natural at their places, and
// returns them with what stands around them.
func (t *Text) Write(r *rand.Rand, o Options) []Case {
	text := t.Text
	if o.Vary {
		text = vary(t, text, r)
	}
	slots := slot.FindAllStringIndex(text, -1)
	var b strings.Builder
	cases := make([]Case, len(slots))
	spans := make([]intent.Span, len(slots))
	last := -1
	at := 0
	for i, s := range slots {
		b.WriteString(text[at:s[0]])
		p := placeOf(text, s[0], s[1])
		if last < 0 || r.IntN(4) == 0 || !slices.Contains(forms[last].places, p) {
			last = pick(p, r, neutral(t))
		}
		f := &forms[last]
		call := f.write(&t.Calls[i], r)
		start := b.Len()
		switch {
		case f.fence != "":
			b.WriteString(f.fence + "\n" + call + "\n" + f.fence[:3])
			spans[i] = intent.Span{Start: start, End: b.Len()}
		case f.ticks:
			b.WriteString("`" + call + "`")
			spans[i] = intent.Span{Start: start + 1, End: b.Len() - 1}
		default:
			b.WriteString(call)
			spans[i] = intent.Span{Start: start, End: b.Len()}
		}
		at = s[1]
		cases[i] = Case{Text: t, Call: &t.Calls[i], Index: i}
		cases[i].Form = f.form
		if f.fence != "" {
			cases[i].Fence = f.fence[3:]
			if cases[i].Fence == "" {
				cases[i].Fence = "-"
			}
		}
		cases[i].Placeholder = placeholder(&t.Calls[i])
	}
	b.WriteString(text[at:])
	made := 0
	for i := range cases {
		c := &cases[i]
		about := intent.Around(b.String(), spans, i)
		about.Form, about.Fence, about.Placeholder = c.Form, c.Fence, c.Placeholder
		about.Made = made
		c.Context, c.Written, c.Spans = about, b.String(), spans
		if c.Call.Act() {
			made++
		}
	}
	return cases
}

// neutral reports whether nothing but the form says that the calls of a text are made:
// inline code would say that they are not.
func neutral(t *Text) bool {
	for _, p := range []string{
		"neutral", "silent", "text_after_neutral", "bare_call", "act_first",
		"long_answer_call", "middle_of", "after_call",
	} {
		if strings.HasPrefix(t.Situation, p) {
			return true
		}
	}
	return false
}

func pick(p place, r *rand.Rand, neutral bool) int {
	sum := 0
	fits := func(f *form) bool { return slices.Contains(f.places, p) && (!neutral || !f.ticks) }
	for i := range forms {
		if fits(&forms[i]) {
			sum += forms[i].weight
		}
	}
	n := r.IntN(sum)
	for i := range forms {
		if fits(&forms[i]) {
			if n -= forms[i].weight; n < 0 {
				return i
			}
		}
	}
	return 0
}

// placeOf returns how a text holds the slot from start to end.
func placeOf(text string, start, end int) place {
	from := strings.LastIndexByte(text[:start], '\n') + 1
	to := len(text)
	if i := strings.IndexByte(text[end:], '\n'); i >= 0 {
		to = end + i
	}
	before, after := strings.TrimSpace(text[from:start]), strings.TrimSpace(text[end:to])
	if strings.Count(text[:start], "```")%2 == 1 {
		open := text[strings.LastIndex(text[:start], "```")+3:]
		if info, _, _ := strings.Cut(open, "\n"); strings.HasPrefix(info, "json") {
			return jsonOnly
		}
		if before == "" && after == "" {
			return inFence
		}
		return quoted
	}
	switch {
	case before == "" && after == "":
		return alone
	case after == "" && (strings.Trim(before, "-*•>+ ") == "" || strings.Trim(before, "0123456789.) ") == ""):
		return item
	case strings.HasPrefix(before, "|"), strings.HasSuffix(before, "`"), strings.HasSuffix(before, ">"):
		return quoted
	}
	for _, q := range []string{`"`, "'", "“", "„", "«", "「", "『", "‘", "‹"} {
		if strings.HasSuffix(before, q) && start > 0 && text[start-1] != ' ' {
			return quoted
		}
	}
	return inline
}

func placeholder(l *Label) bool {
	for _, v := range l.Arguments {
		s, ok := v.(string)
		if !ok {
			continue
		}
		if strings.HasPrefix(s, "<") && strings.HasSuffix(s, ">") || strings.HasPrefix(s, "YOUR_") || strings.HasPrefix(s, "{{") ||
			s == "..." || s == "…" {
			return true
		}
	}
	return false
}

func encode(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // a value that came from JSON
	}
	return strings.TrimSpace(b.String())
}

// shape writes a call as an object in one of the ways that models use.
func shape(l *Label, r *rand.Rand, indent string) string {
	args := encode(l.Arguments)
	name := encode(l.Tool)
	var s string
	switch n := r.IntN(10); {
	case n < 5:
		s = `{"name": ` + name + `, "arguments": ` + args + `}`
	case n < 7:
		s = `{"tool": ` + name + `, "params": ` + args + `}`
	case n < 8:
		s = `{"name": ` + name + `, "parameters": ` + args + `}`
	case n < 9:
		s = `{"function": {"name": ` + name + `, "arguments": ` + args + `}}`
	default:
		flat := map[string]any{"action": l.Tool}
		maps.Copy(flat, l.Arguments)
		s = encode(flat)
	}
	if indent != "" {
		var b bytes.Buffer
		if json.Indent(&b, []byte(s), "", indent) == nil {
			return b.String()
		}
	}
	return s
}

func jsonLine(l *Label, r *rand.Rand) string   { return shape(l, r, "") }
func jsonPretty(l *Label, r *rand.Rand) string { return shape(l, r, []string{"  ", "    "}[r.IntN(2)]) }

func pythonCall(l *Label, _ *rand.Rand) string {
	var args []string
	for _, k := range slices.Sorted(maps.Keys(l.Arguments)) {
		args = append(args, k+"="+python(l.Arguments[k]))
	}
	return l.Tool + "(" + strings.Join(args, ", ") + ")"
}

func pythonList(l *Label, r *rand.Rand) string { return "[" + pythonCall(l, r) + "]" }

// python writes a value as Python does.
func python(v any) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case bool:
		if v {
			return "True"
		}
		return "False"
	case []any:
		var list []string
		for _, e := range v {
			list = append(list, python(e))
		}
		return "[" + strings.Join(list, ", ") + "]"
	case map[string]any:
		var list []string
		for _, k := range slices.Sorted(maps.Keys(v)) {
			list = append(list, encode(k)+": "+python(v[k]))
		}
		return "{" + strings.Join(list, ", ") + "}"
	}
	return encode(v)
}

func trained(l *Label, r *rand.Rand) string {
	args := encode(l.Arguments)
	object := `{"name": ` + encode(l.Tool) + `, "arguments": ` + args + `}`
	switch r.IntN(9) {
	case 0, 1, 2:
		return "<tool_call>" + object + "</tool_call>"
	case 3:
		return "<tool_call>\n" + object + "\n</tool_call>"
	case 4:
		return "[TOOL_CALLS] [" + object + "]"
	case 5:
		return "<function=" + l.Tool + ">" + args + "</function>"
	case 6:
		return "<|python_tag|>" + strings.Replace(object, "arguments", "parameters", 1)
	case 7:
		return "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>" + l.Tool +
			"\n```json\n" + args + "\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>"
	}
	var b strings.Builder
	b.WriteString(`<function_calls><invoke name="` + l.Tool + `">`)
	for _, k := range slices.Sorted(maps.Keys(l.Arguments)) {
		fmt.Fprintf(&b, `<parameter name="%s">%s</parameter>`, k, plain(l.Arguments[k]))
	}
	b.WriteString("</invoke></function_calls>")
	return b.String()
}

func element(l *Label, _ *rand.Rand) string {
	var b strings.Builder
	b.WriteString("<" + l.Tool + ">")
	for _, k := range slices.Sorted(maps.Keys(l.Arguments)) {
		b.WriteString("<" + k + ">" + plain(l.Arguments[k]) + "</" + k + ">")
	}
	b.WriteString("</" + l.Tool + ">")
	return b.String()
}

func action(l *Label, _ *rand.Rand) string {
	return "Action: " + l.Tool + "\nAction Input: " + encode(l.Arguments)
}

func plain(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return encode(v)
}
