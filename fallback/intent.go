package fallback

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/callwright/callwright/call"
	"github.com/callwright/callwright/internal/cue"
	"github.com/callwright/callwright/internal/text"
	"github.com/callwright/callwright/registry"
)

// MaxIntentConfidence bounds the confidence of a call that was inferred from words.
const MaxIntentConfidence = 0.7

// ErrNoIntent says that no sentence announces or commands an act that is plainly one tool's.
var ErrNoIntent = errors.New("the words lead plainly to no tool")

// UnclearError says that a sentence leads to a tool, but that its values are not clear.
type UnclearError struct {
	Tool string
	// Missing are required parameters that the sentence does not give.
	Missing []string
	// Left are values of the sentence that may belong to several parameters, or to none.
	Left []string
}

// Error names the tool, and what is not clear.
func (e *UnclearError) Error() string {
	var why []string
	if len(e.Missing) > 0 {
		why = append(why, "it does not give "+strings.Join(e.Missing, ", "))
	}
	if len(e.Left) > 0 {
		why = append(why, fmt.Sprintf("it is not clear what %q is for", e.Left))
	}
	return fmt.Sprintf("a sentence leads to %s, but %s", e.Tool, strings.Join(why, ", and "))
}

// Intent infers calls from prose, such as "I'll draw a blue rectangle, 120x48". It reads
// English sentences in which the speaker announces or commands an act of its own, and finds
// the tool by its verb and its object, and the values by the tool's schema. Each value
// stands in the text, and each number and quotation of the sentence has its place; else
// nothing is inferred from the text at all. Its calls are marked as inferred. It is in no
// chain by default.
type Intent struct {
	index atomic.Pointer[index]
}

// NewIntent returns a tier that infers calls from prose.
func NewIntent() *Intent { return &Intent{} }

// Strategy is "intent_extraction".
func (*Intent) Strategy() Strategy { return StrategyIntent }

// Applies reports whether the text is one speaker's prose, in which no call was begun, and
// has the words of some tool's name.
func (*Intent) Applies(k *Case) bool {
	return k.Tools.Len() > 0 && k.Text != "" && len(k.Failures) == 0 && !k.OtherTurns && k.Cues.Any()
}

// Recover proposes a call for each act. If the values of one of them are not clear it
// proposes none; the error is an [*UnclearError].
func (t *Intent) Recover(ctx context.Context, k *Case) (r Recovery, err error) {
	r.Tried = "the words were compared with the tools"
	x := t.index.Load()
	if x == nil || x.version != k.Tools.Version() {
		x = newIndex(k.Tools)
		t.index.Store(x)
	}
	outside := cue.OutsideQuotes(k.Text)
	onlyActs := true
	for _, a := range cue.Acts(k.Text) {
		if ctx.Err() != nil {
			return Recovery{Tried: r.Tried}, ctx.Err()
		}
		if !a.Announced && !onlyActs {
			continue
		}
		s := clause{k.Text[a.Span[0]:a.Span[1]], outside[a.Span[0]:a.Span[1]], [2]int{a.Verb[0] - a.Span[0], a.Verb[1] - a.Span[0]}}
		tool, covered := x.toolOf(&s, a.Announced)
		if tool == nil {
			onlyActs = false
			continue
		}
		values, unclear := valuesIn(&s, tool)
		if unclear != nil {
			return Recovery{Tried: r.Tried}, unclear
		}
		if slices.ContainsFunc(r.Proposals, func(p Proposal) bool { return p.Tool == tool.Name && reflect.DeepEqual(p.Parameters, values) }) {
			continue // it is said twice
		}
		r.Proposals = append(r.Proposals, Proposal{
			Failure: -1, Tool: tool.Name, Parameters: values, Raw: s.text, Span: a.Span, Provenance: call.Bare, Method: call.MethodIntent,
			Inferred: true, Confidence: MaxIntentConfidence * (0.6 + 0.4*covered), Fixes: []string{"inferred " + tool.Name},
		})
	}
	if len(r.Proposals) == 0 {
		return r, ErrNoIntent
	}
	return r, nil
}

// clause is the text of an act.
type clause struct {
	text    string
	outside string // the same with its quotations blank
	verb    [2]int
}

// index has the words of the tools' names.
type index struct {
	version string
	tools   []*registry.Tool
	names   [][]string
}

func newIndex(r *registry.Registry) *index {
	x := &index{version: r.Version(), tools: r.Tools()}
	for _, t := range x.tools {
		x.names = append(x.names, terms(t.Name))
	}
	return x
}

// toolOf returns the one tool whose verb and object a clause has, nil if there is none or
// more than one, and the share of the words of its name that stand in the clause.
func (x *index) toolOf(s *clause, announced bool) (best *registry.Tool, covered float64) {
	verb, ok := s.verbTerm(announced)
	if !ok {
		return nil, 0
	}
	object, words := s.object(), map[string]bool{}
	for _, w := range terms(s.outside) {
		words[w] = true
	}
	most, same := 0, false
	for i, t := range x.tools {
		n, ok := fits(x.names[i], verb, object, words)
		if s.names(t.Name) && usesTool[verb] {
			n, ok = len(x.names[i])+1, true // its name itself: more than its words
		}
		switch {
		case !ok:
		case n > most:
			best, most, same, covered = t, n, false, min(float64(n)/float64(max(len(x.names[i]), 1)), 1)
		case n == most:
			same = true
		}
	}
	if same {
		return nil, 0
	}
	return best, covered
}

// usesTool are the verbs, as terms, whose object may be the name of a tool.
var usesTool = map[string]bool{"use": true, "us": true, "call": true, "invok": true, "run": true}

// fits reports whether a verb and an object are those of a tool, and how many words of its
// name are said. Of a name of up to two words all have to be, of a longer one half.
func fits(name []string, verb string, object, words map[string]bool) (said int, ok bool) {
	head, hasVerb, hasOther := "", false, false
	for _, w := range name {
		if words[w] || w == verb {
			said++
		}
		switch {
		case w == verb && !hasVerb:
			hasVerb = true
		default:
			head = w
			hasOther = hasOther || isVerb[w]
		}
	}
	if !hasVerb && (hasOther || !looksUp[verb]) || head != "" && !object[head] || len(name) == 0 {
		return 0, false
	}
	return said, said == len(name) || len(name) > 2 && 2*said >= len(name)
}

// names reports whether the object is a tool's name as it is, in quotes or not: "I'll call
// get_weather for Rome".
func (s *clause) names(name string) bool {
	rest := strings.TrimLeft(s.text[s.verb[1]:], " ")
	for _, word := range []string{"the ", "tool ", "function "} {
		rest = strings.TrimPrefix(rest, word)
	}
	rest, ok := strings.CutPrefix(strings.TrimLeft(rest, "`\"'"), name)
	return ok && (rest == "" || !cue.IsWordByte(rest[0]) || rest[0] == '.' && len(rest) == 1)
}

// verbTerm returns the verb of a clause as a term. Behind words such as "I'll" it has its
// plain form or that of a participle. A bare command may be neither a past form nor "draws".
func (s *clause) verbTerm(announced bool) (term string, ok bool) {
	verb := strings.ToLower(s.text[s.verb[0]:s.verb[1]])
	if strings.HasSuffix(verb, "ed") && !strings.HasSuffix(verb, "eed") || strings.HasSuffix(verb, "s") && !strings.HasSuffix(verb, "ss") {
		return "", false
	}
	list := terms(verb)
	if len(list) == 0 {
		return stem(verb), announced && verb == "use"
	}
	return list[0], len(list) == 1
}

// objectEnds are words behind which there is no object any more.
var objectEnds = map[string]bool{}

func init() {
	for w := range strings.FieldsSeq("in inside into on onto of for to with from at near by and that which within about around using as") {
		objectEnds[w] = true
	}
}

// maxObjectWords bounds how far behind its verb an object stands.
const maxObjectWords = 8

// object returns the words of the object of a clause: those between the verb and the first
// preposition.
func (s *clause) object() map[string]bool {
	words := map[string]bool{}
	n := 0
	for w := range strings.FieldsFuncSeq(s.outside[s.verb[1]:], func(r rune) bool { return !isLetter(r) }) {
		if n++; n > maxObjectWords || objectEnds[strings.ToLower(w)] && n > 1 {
			break
		}
		for _, t := range terms(w) {
			words[t] = true
		}
	}
	return words
}

// clipped is a part of a text for an error.
func clipped(s string) string { return text.Clip(s, maxQuotedBytes) }
