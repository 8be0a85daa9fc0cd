package fallback

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"

	"github.com/callwright/callwright/call"
)

// MaxIntentConfidence bounds the confidence of a call that was inferred from words.
const MaxIntentConfidence = 0.7

// ErrNoIntent says that the words fit no tool, or several about as well.
var ErrNoIntent = errors.New("the words lead plainly to no tool")

// Intent infers calls from prose, such as "I'll draw a blue rectangle, 120x48". It ranks
// the tools by the words of their names, descriptions and parameters, and finds the
// values by the tool's schema. Each value stands in the text. Its calls are marked as
// inferred. It is in no chain by default.
type Intent struct {
	index atomic.Pointer[index]
}

// NewIntent returns a tier that infers calls from prose.
func NewIntent() *Intent { return &Intent{} }

// Strategy is "intent_extraction".
func (*Intent) Strategy() Strategy { return StrategyIntent }

// Applies reports whether the text has the words of some tool's name, or a plainer
// sign.
func (*Intent) Applies(k *Case) bool { return k.Tools.Len() > 0 && k.Text != "" && k.Cues.Any() }

// Bounds of what is searched for intent.
const (
	maxIntentBytes     = 16 << 10
	maxIntentSentences = 32
)

// Recover looks for a tool in each sentence.
func (t *Intent) Recover(ctx context.Context, k *Case) (r Recovery, err error) {
	r.Tried = "the words were compared with the tools"
	x := t.index.Load()
	if x == nil || x.version != k.Tools.Version() {
		x = newIndex(k.Tools)
		t.index.Store(x)
	}
	text := k.Text[:min(len(k.Text), maxIntentBytes)]
	for i, s := range sentences(text) {
		if i == maxIntentSentences || ctx.Err() != nil {
			break
		}
		if p, ok := x.infer(text[s[0]:s[1]]); ok {
			p.Span = [2]int{s[0], s[1]}
			r.Proposals = append(r.Proposals, p)
		}
	}
	if len(r.Proposals) == 0 {
		return r, ErrNoIntent
	}
	return r, ctx.Err()
}

// infer finds the call that a sentence asks for.
func (x *index) infer(sentence string) (p Proposal, ok bool) {
	if disclaims(sentence) {
		return p, false
	}
	list := x.rank(terms(sentence))
	if len(list) == 0 || list[0].covered < 0.5 {
		return p, false
	}
	best := list[0]
	if len(list) > 1 && list[1].score > 0.85*best.score && list[1].covered >= best.covered {
		return p, false // two tools fit about as well
	}
	values, wanted := valuesIn(sentence, best.tool)
	for _, name := range best.tool.Order() {
		if best.tool.Requires(name) && values[name] == nil && !best.tool.HasDefault(name) {
			return p, false
		}
	}
	filled := 1.0
	if wanted > 0 {
		filled = float64(len(values)) / float64(wanted)
	}
	return Proposal{
		Failure: -1, Tool: best.tool.Name, Parameters: values, Raw: sentence, Provenance: call.Bare, Method: call.MethodIntent,
		Inferred: true, Confidence: MaxIntentConfidence * (0.4 + 0.4*best.covered + 0.2*min(filled, 1)),
		Fixes: []string{"concluded " + best.tool.Name},
	}, true
}

// disclaimers are words of a sentence that asks for nothing, or for the opposite.
var disclaimers = []string{
	"n't", "n’t", " not ", " never ", "without calling", "cannot", " no need", "unable to", "instead of", "should i", "shall i", "do you want",
	"would you like", "if you", "did you",
	"i have ", "i've ", "i’ve ", " was ", " were ", " already ", " had ", " been ", "for example", "e.g.", "such as", "how to ", "what if",
	"you can ", "you could ", "could have",
}

func disclaims(sentence string) bool {
	s := " " + strings.ToLower(strings.TrimSpace(sentence)) + " "
	for _, d := range disclaimers {
		if strings.Contains(s, d) {
			return true
		}
	}
	if first, _, _ := strings.Cut(strings.TrimSpace(s), " "); first == "if" || first == "when" || first == "while" || first == "why" ||
		first == "how" {
		return true
	}
	for word := range strings.FieldsSeq(s) { // the act is past
		switch word {
		case "created", "added", "removed", "deleted", "sent", "drew", "wrote", "made", "updated", "changed":
			return true
		}
	}
	return false
}

// sentences cuts a text where one act ends and the next begins.
func sentences(text string) (list [][2]int) {
	start := 0
	quote := byte(0)
	cut := func(end, next int) {
		for start < end && (text[start] == ' ' || text[start] == '\n' || text[start] == '-' || text[start] == '*') {
			start++
		}
		if end > start {
			list = append(list, [2]int{start, end})
		}
		start = next
	}
	for i := 0; i < len(text); i++ {
		b := text[i]
		switch {
		case quote != 0:
			if b == quote || b == '\n' {
				quote = 0
			}
		case b == '"' || b == '`':
			quote = b
		case b == '\n' || b == ';':
			cut(i, i+1)
		case (b == '.' || b == '!' || b == '?') && (i+1 == len(text) || text[i+1] == ' ' || text[i+1] == '\n'):
			cut(i+1, i+1)
		case b == ' ' || b == ',':
			for _, next := range []string{", then ", " and then ", " then "} {
				if strings.HasPrefix(text[i:], next) {
					cut(i, i+len(next))
					i += len(next) - 1
					break
				}
			}
		}
	}
	cut(len(text), len(text))
	return list
}
