package parser

import (
	"encoding/json"
	"math/big"
	"slices"
	"strings"

	"github.com/callwright/callwright/call"
	"github.com/callwright/callwright/internal/lenient"
	"github.com/callwright/callwright/internal/scan"
	"github.com/callwright/callwright/internal/text"
	"github.com/callwright/callwright/normalizer"
)

// echoes are the calls that stand in what the model was told, by their meaning: the tool
// and its parameters. How they were written there does not count: in which form, with
// which spaces, order of keys, quotation marks and escapes, or encoded once more as a
// string of JSON.
type echoes struct {
	read     bool // the prompt was read
	known    map[string]bool
	searched int // how many texts the prompt was searched for
}

// maxSearches is how many candidates of a text the prompt is searched for word for word.
const maxSearches = 64

// isEcho reports whether a call stands in what was said to the model: word for word, or
// in other words that mean the same. The prompt is read once, when this is first asked,
// and searched a bounded number of times: time is linear in it.
func (j *judge) isEcho(x *Call) bool {
	if len(j.c.Prompt) == 0 {
		return false
	}
	if j.echoes.searched < maxSearches {
		j.echoes.searched++
		raw := strings.TrimSpace(x.Raw)
		if slices.ContainsFunc(j.c.Prompt, func(message string) bool { return strings.Contains(message, raw) }) {
			return true
		}
	}
	if !j.echoes.read {
		j.echoes = echoes{read: true, known: map[string]bool{}}
		for _, message := range j.c.Prompt {
			j.readPrompt(message, 0)
			if quoted := strings.ReplaceAll("\n"+message, "\n> ", "\n"); len(quoted) <= len(message) {
				j.readPrompt(quoted, 0) // what it quotes, without the marks of quotation
			}
		}
	}
	return j.echoes.known[meaning(x.Tool, x.Parameters)]
}

// maxEncodings is how many strings within strings of a prompt are read.
const maxEncodings = 2

// readPrompt notes the calls of a message, and of the strings in it.
func (j *judge) readPrompt(message string, encodings int) {
	found, _ := scan.Values(message, scan.Options{Table: j.p.table, Registry: j.p.registry, Everywhere: true})
	for _, cand := range found {
		if cand.Named {
			j.noteEcho(cand, j.normalize(cand))
		}
		j.notePromptValue(cand, cand.Value, encodings)
		j.notePromptValue(cand, cand.Arguments, encodings)
	}
}

// notePromptValue notes the calls that a value of a prompt holds, at any depth.
func (j *judge) notePromptValue(cand *scan.Candidate, v any, encodings int) {
	switch x := v.(type) {
	case map[string]any:
		j.noteEcho(cand, normalizer.Detect(x, normalizer.Options{Registry: j.p.registry, Marked: true}))
		for _, e := range x {
			j.notePromptValue(cand, e, encodings)
		}
	case []any:
		for _, e := range x {
			j.notePromptValue(cand, e, encodings)
		}
	case string:
		if encodings < maxEncodings && strings.ContainsAny(x, "{(<[:") {
			j.readPrompt(x, encodings+1)
		}
	case lenient.Text:
		j.notePromptValue(cand, string(x), encodings)
	}
}

// noteEcho notes calls of the prompt, with the parameters that they would have.
func (j *judge) noteEcho(cand *scan.Candidate, found normalizer.Found) {
	for i := range found.Entries {
		e := &found.Entries[i]
		var x Call
		sc := newScorer()
		tool := j.tool(cand, e, &x, sc)
		if tool == nil {
			continue
		}
		if params, ok := j.bind(cand, tool, e.Arguments, sc); ok {
			j.validate(cand, tool, text.Clone(params).(map[string]any), &x, sc)
			j.echoes.known[meaning(x.Tool, x.Parameters)] = true
		}
	}
}

// mayEcho reports whether a call may be an echo: the provider's own field and the markers
// that models are trained to emit are not written by chance.
func mayEcho(cand *scan.Candidate) bool {
	return cand.Provenance != call.Native && !trained(cand)
}

// trained reports whether a candidate stands behind an opening marker that models are
// trained to emit.
func trained(cand *scan.Candidate) bool {
	return cand.Provenance == call.Marked && cand.Evidence.Trained
}

// meaning writes a call in one way, whatever way its values were written in.
func meaning(tool string, parameters map[string]any) string {
	b, err := json.Marshal([]any{tool, plainNumbers(parameters)})
	if err != nil {
		return tool
	}
	return string(b)
}

// plainNumbers writes each number of a value in one way: 5, 5.0 and 5e0 are the same.
// It recurses no deeper than the reader nests values.
func plainNumbers(v any) any {
	switch x := v.(type) {
	case map[string]any:
		m := make(map[string]any, len(x))
		for key, e := range x {
			m[key] = plainNumbers(e)
		}
		return m
	case []any:
		list := make([]any, len(x))
		for i, e := range x {
			list[i] = plainNumbers(e)
		}
		return list
	case json.Number:
		if f, err := x.Float64(); err == nil && len(x) < 64 {
			return big.NewFloat(f).Text('g', 17)
		}
	}
	return v
}
