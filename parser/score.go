package parser

import (
	"math"
	"strings"

	"github.com/callwright/callwright/call"
	"github.com/callwright/callwright/internal/lenient"
	"github.com/callwright/callwright/internal/scan"
	"github.com/callwright/callwright/validator"
)

// Score says what a confidence is made of: the product of the factors of the evidence.
// docs/confidence.md explains it.
type Score struct {
	// Overall is the confidence, from 0 to 1: the product of the components.
	Overall    float64    `json:"overall"`
	Components Components `json:"components"`
	Flags      Flags      `json:"flags"`
	// Evidence lists what raised or lowered the confidence.
	Evidence []Factor `json:"evidence"`
}

// Components are the five parts of a score, each from 0 to 1.
type Components struct {
	Structural   float64 `json:"structural"`   // is it well formed?
	Semantic     float64 `json:"semantic"`     // does it fit the tool's schema?
	Contextual   float64 `json:"contextual"`   // does what stands around it announce a call?
	Completeness float64 `json:"completeness"` // is all there?
	Plausibility float64 `json:"plausibility"` // does it make sense?
}

// Flags say what is wrong with the parameters or the name.
type Flags struct {
	HasMissingRequired bool `json:"has_missing_required"`
	HasTypeMismatches  bool `json:"has_type_mismatches"`
	HasOutOfRange      bool `json:"has_out_of_range"`
	HasUnknownTool     bool `json:"has_unknown_tool"`
}

// Factor is one piece of evidence, such as "marked", and its factor: below 1 it lowers
// the confidence, above 1 it raises it.
type Factor struct {
	What   string  `json:"what"`
	Factor float64 `json:"factor"`
}

// component is the component that a piece of evidence belongs to.
type component uint8

const (
	structural component = iota
	semantic
	contextual
	completeness
	plausibility
)

// doubtful are repairs that leave some doubt about what was meant.
var doubtful = map[lenient.FixKind]bool{
	lenient.UnescapedQuote: true, lenient.UnquotedValue: true, lenient.MissingClose: true, lenient.MismatchedClose: true,
	lenient.Thousands: true, lenient.UnclosedString: true, lenient.MissingQuote: true, lenient.Expression: true,
	lenient.MissingColon: true, lenient.InvalidUTF8: true, lenient.LoneSurrogate: true,
	lenient.StrayText: true, lenient.Ellipsis: true, lenient.MissingOpen: true, lenient.ClosedEarly: true, lenient.DoubledQuotes: true,
}

type scorer struct {
	score Score
	parts [5]float64
}

func newScorer() *scorer {
	return &scorer{parts: [5]float64{1, 1, 1, 1, 1}, score: Score{Evidence: make([]Factor, 0, usualFactors)}}
}

// usualFactors is how many pieces of evidence most calls have at most.
const usualFactors = 4

func (s *scorer) add(what string) {
	w := weights[what]
	s.factor(what, w.component, w.fitted)
}

func (s *scorer) factor(what string, on component, f float64) {
	s.parts[on] *= f
	s.score.Evidence = append(s.score.Evidence, Factor{what, f})
}

func (s *scorer) done() Score {
	overall := 1.0
	for i, p := range s.parts {
		s.parts[i] = round(min(p, 1))
		overall *= min(p, 1)
	}
	s.score.Overall = round(overall)
	s.score.Components = Components{s.parts[structural], s.parts[semantic], s.parts[contextual], s.parts[completeness], s.parts[plausibility]}
	return s.score
}

func round(f float64) float64 { return math.Round(f*1000) / 1000 }

// where scores what stands around a candidate, how it was found, and that an entry of it
// was cut off.
func (s *scorer) where(c *scan.Candidate, cut bool, from origin) {
	ev := &c.Evidence
	switch {
	case c.Provenance == call.Native:
		s.add("native")
	case c.Provenance == call.Marked && ev.Fence != "":
		s.add("tool_fence")
	case c.Provenance == call.Marked:
		s.add("marked")
	default:
		s.add("bare")
	}
	if from.proposal == nil && c.Provenance != call.Native {
		s.factor("act", contextual, ev.Act)
	}
	if ev.Inline {
		s.add("inline")
	}
	if ev.InReasoning {
		s.add("in_reasoning")
	}
	if ev.MissingOpen {
		s.add("missing_open")
	}
	if ev.ForeignClose {
		s.add("foreign_close")
	} else if ev.MissingClose {
		s.add("missing_close")
	}
	if ev.Guess {
		s.add("guessed")
	}
	repaired, doubt := false, false
	for _, k := range c.Fixes.Kinds() {
		if doubtful[k] {
			doubt = true
		} else if k != lenient.Truncated {
			repaired = true
		}
	}
	if doubt {
		s.add("repair_doubtful")
	} else if repaired {
		s.add("repair_plain")
	}
	if cut {
		s.add("truncated")
	}
	if from.openReasoning {
		s.add("in_reasoning")
	}
	if from.proposal != nil {
		switch from.proposal.Method {
		case call.MethodAssisted:
			s.add("assisted")
		case call.MethodIntent:
			s.add("concluded")
		}
	}
}

// errors scores what the schema finds wrong.
func (s *scorer) errors(errs []validator.Error) {
	invalid := false
	for _, e := range errs {
		switch e.Code {
		case validator.RequiredParameterMissing:
			if !s.score.Flags.HasMissingRequired {
				s.score.Flags.HasMissingRequired = true
				s.add("missing_required")
			}
		case validator.InvalidType:
			s.score.Flags.HasTypeMismatches = true
			invalid = true
		case validator.NumberOutOfRange:
			s.score.Flags.HasOutOfRange = true
			invalid = true
		case validator.UnknownTool:
			s.score.Flags.HasUnknownTool = true
			s.add("name_unknown")
		default:
			invalid = true
		}
	}
	if invalid {
		s.add("invalid")
	}
}

// placeholder reports whether parameters are those of an example: all of its
// strings, at least one, stand for something to be filled in.
func placeholder(parameters map[string]any) bool {
	found, others := 0, 0
	for _, v := range parameters {
		text, ok := v.(string)
		if !ok {
			if v != nil {
				others++
			}
			continue
		}
		if isPlaceholder(text) {
			found++
		} else {
			others++
		}
	}
	return found > 0 && others == 0
}

func isPlaceholder(s string) bool {
	t := strings.TrimSpace(s)
	switch {
	case t == "...", t == "…", t == "string", t == "value", t == "value1", t == "<value>":
		return true
	case len(t) > 2 && len(t) < 48 && t[0] == '<' && t[len(t)-1] == '>' && !strings.ContainsAny(t[1:len(t)-1], "<>/="):
		return true
	case strings.HasPrefix(t, "{{") && strings.HasSuffix(t, "}}") && len(t) < 48:
		return true
	case strings.HasPrefix(t, "YOUR_") || strings.HasPrefix(t, "your_") && strings.HasSuffix(t, "_here"):
		return true
	}
	return false
}
