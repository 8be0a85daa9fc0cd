package parser

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/callwright/callwright/call"
	"github.com/callwright/callwright/fallback"
	"github.com/callwright/callwright/internal/lenient"
	"github.com/callwright/callwright/internal/repair"
	"github.com/callwright/callwright/internal/scan"
	"github.com/callwright/callwright/normalizer"
	"github.com/callwright/callwright/registry"
	"github.com/callwright/callwright/validator"
)

// NOTE: a parse has three parts, each in its file. The judge decides what a candidate
// is. The collector (collect.go) puts what was decided into the result, in the order of
// the text. The teller (tell.go) sends the events of one call while it is read. The
// judge keeps nothing of one candidate for the next and knows neither of the others:
// whatever depends on what came before (limits, repeats, ids) is the collector's.

// judge decides what candidates are: calls to make, rejected ones, or text.
type judge struct {
	p      *Parser
	c      *Context
	start  time.Time   // the timestamp of calls
	native call.Format // of calls in a reply's own field; empty for a text
	echoes echoes      // the calls that stand in the prompt
}

// origin says how a candidate was found, beyond what the candidate says itself.
type origin struct {
	openReasoning bool               // in reasoning that was never closed
	proposal      *fallback.Proposal // by a fallback, which proposes it; nil if it was read
}

// verdict says what an entry of a candidate is, or a candidate that has none.
type verdict struct {
	// call is as much of the call as is known; all of it if the call is to be made.
	call Call
	// reason says in words why there is no call; it is empty if there is one.
	reason string
	// errors say why the call is rejected. Where there are none, and no call either,
	// the candidate is nothing but text.
	errors []validator.Error
	// consumed says that the text of the candidate leaves the content.
	consumed bool
	// broken is the text that could not be read, where that is the reason.
	broken string
}

// made reports whether the call is to be made.
func (v *verdict) made() bool { return v.reason == "" }

// reject makes a rejection of a verdict.
func (v *verdict) reject(reason string, consumed bool, errs ...validator.Error) {
	v.reason, v.consumed, v.errors = reason, consumed, errs
}

// budget bounds what is tried for one text.
type budget struct {
	candidates int
	repairs    int
	attempts   []fallback.Attempt // the repairs that were tried
}

// admits reports whether one more candidate may be looked at.
func (b *budget) admits(o *Options) bool {
	b.candidates++
	return b.candidates <= o.MaxCandidates
}

// unreadable reports whether the text of a candidate could not be read.
func unreadable(cand *scan.Candidate) bool {
	return cand.Err != nil && !errors.Is(cand.Err, scan.ErrExpression) && !errors.Is(cand.Err, scan.ErrList)
}

// open finds the entries of a candidate: each may be a call. What could not be read is
// repaired first, if it can be, and the candidate changed so. Where there are no
// entries the verdict says what the candidate is as a whole.
func (j *judge) open(cand *scan.Candidate, b *budget) (normalizer.Found, verdict) {
	if j.p.o.Methods != nil && !slices.Contains(j.p.o.Methods, cand.Method) {
		return normalizer.Found{}, verdict{reason: "found by " + string(cand.Method) + ", which does not count"}
	}
	failed, broken := unreadable(cand), brokenText(cand)
	if failed && !j.repair(cand, b) {
		v := verdict{reason: "not readable: " + cand.Err.Error()}
		if cand.Provenance != call.Bare {
			v = j.malformed(cand, &normalizer.Found{}, v.reason, "the call cannot be read: "+cand.Err.Error())
		}
		v.broken = broken
		return normalizer.Found{}, v
	}
	found := j.normalize(cand)
	if found.Half {
		cand.Err = scan.ErrList
	}
	if len(found.Entries) > 0 {
		return found, verdict{}
	}
	const noCall = "not the shape of a call"
	switch {
	case failed && cand.Provenance == call.Marked:
		v := j.malformed(cand, &found, noCall, "the call cannot be read: "+cand.Err.Error())
		v.broken = broken
		return found, v
	case cand.Provenance == call.Native: // the provider says that it is one
		return found, j.malformed(cand, &found, noCall, "the arguments are not JSON")
	}
	return found, verdict{reason: noCall}
}

// malformed rejects a candidate that cannot be read.
func (j *judge) malformed(cand *scan.Candidate, found *normalizer.Found, reason, message string) verdict {
	v := verdict{call: j.callOf(cand, found, cand.Name, cand.ID)}
	v.reject(reason, false, validator.Error{Code: CodeMalformed, Message: message})
	return v
}

// repair tries to read a broken candidate by other means.
func (j *judge) repair(cand *scan.Candidate, b *budget) bool {
	if !j.p.inline || b.repairs >= j.p.o.MaxRepairAttempts {
		return false
	}
	b.repairs++
	start := time.Now()
	repaired, err := repair.Shaped(brokenText(cand), j.shape(cand))
	attempt := fallback.Attempt{
		Strategy: fallback.StrategyAutoRepair, Tried: "lenient_reader, jsonrepair", DurationMicroseconds: time.Since(start).Microseconds(),
	}
	if err != nil {
		attempt.Error = err.Error()
		b.attempts = append(b.attempts, attempt)
		return false
	}
	attempt.Tried, attempt.Changed = repaired.By, repaired.Fixes
	b.attempts = append(b.attempts, attempt)
	if cand.Named {
		cand.Arguments = repaired.Value
	} else {
		cand.Value = repaired.Value
	}
	cand.Fixes.Add(cand.Start, lenient.MissingClose)
	cand.Evidence.Guess = true
	return true
}

// shape is what the tools say of the text of a candidate: of the parameters of the one
// that is named, or of a call of any.
func (j *judge) shape(cand *scan.Candidate) *lenient.Shape {
	if cand.Named {
		return scan.ParameterShape(j.p.registry, cand.Name)
	}
	return j.p.calls
}

// brokenText is the text of a candidate that could not be read: all of it, or that of
// its arguments.
func brokenText(cand *scan.Candidate) string {
	text, _ := cand.Value.(string)
	return text
}

// callOf is what a candidate says of a call, before anything of it was checked.
func (j *judge) callOf(cand *scan.Candidate, found *normalizer.Found, tool, id string) Call {
	return Call{NormalizedToolCall: normalizer.NormalizedToolCall{
		ID: id, Tool: tool, Provenance: cand.Provenance, Raw: cand.Raw, Span: [2]int{cand.Start, cand.End}, Truncated: cand.Truncated,
		SourceFormat: j.format(cand, found), Metadata: call.Metadata{Model: j.c.Model, Timestamp: j.start, ParsingMethod: cand.Method},
	}, Coercions: []validator.Coercion{}, Defaults: []string{}, Repairs: []string{}, Warnings: []string{}}
}

// entry judges one entry of a candidate: which tool it calls, with which parameters,
// and whether it may.
func (j *judge) entry(cand *scan.Candidate, found *normalizer.Found, e *normalizer.Entry, from origin) verdict {
	v := verdict{call: j.callOf(cand, found, e.Name, e.ID)}
	x := &v.call
	x.Truncated = e.Cut
	sc := newScorer()
	sc.where(cand, e.Cut, from)
	if !e.Explicit {
		sc.add("shape_loose")
	}
	x.Inferred = cand.Evidence.InReasoning || from.openReasoning
	if p := from.proposal; p != nil {
		x.Inferred = x.Inferred || p.Inferred
		x.Repairs = append(x.Repairs, p.Fixes...)
	}
	for _, n := range cand.Fixes.Names() {
		if n == "truncated" && !e.Cut {
			n = "missing_close"
		}
		x.Repairs = append(x.Repairs, n)
	}
	tool := j.tool(cand, e, x, sc)
	if tool == nil {
		j.unknownTool(cand, e, &v, sc)
		return v
	}
	params, ok := j.bind(cand, tool, e.Arguments, sc)
	if !ok {
		x.score(sc.done())
		err := validator.Error{Code: validator.InvalidType, Message: "the arguments are not an object"}
		v.reject(err.Message, cand.Provenance != call.Bare, err)
		return v
	}
	if e.Cut && from.proposal == nil && j.p.o.AllowPartial {
		params = withoutCut(params, e.CutKey)
		if _, isText := e.Arguments.(lenient.Text); isText {
			params = map[string]any{} // half of a JSON text
		}
	}
	errs := j.validate(cand, tool, params, x, sc)
	if e.Cut {
		errs = append(errs, withdrawDefaults(x, tool, e.CutKey)...)
	}
	score := sc.done()
	if p := from.proposal; p != nil && p.Confidence > 0 {
		score.Overall = min(score.Overall, round(p.Confidence))
	}
	x.score(score)
	v.consumed = true
	if errs := j.reasons(cand, x, tool, errs, from); len(errs) > 0 {
		v.reject(string(errs[0].Code), cand.Provenance != call.Bare && errs[0].Code != CodeLowConfidence, errs...)
	}
	return v
}

// tool returns the tool that an entry names, nil if there is none.
func (j *judge) tool(cand *scan.Candidate, e *normalizer.Entry, call *Call, sc *scorer) *registry.Tool {
	tools := j.p.registry
	match, known := tools.Lookup(e.Name)
	if !known && e.Cut && !cand.Named {
		// The text may end within the name: its completion, if there is only one.
		if match, known = tools.Lookup(tools.Suggest(e.Name)); known {
			call.Inferred = true
			sc.add("guessed")
		}
	}
	switch {
	case !known && tools.Len() > 0:
		return nil
	case !known:
		match.Tool = &registry.Tool{Name: registry.BareName(e.Name)}
		sc.add("no_tools")
	case !match.Exact() && match.Rule != "prefix":
		sc.add("name_near")
		call.Warnings = append(call.Warnings, fmt.Sprintf("name: %s was read as %q (%s)", quote(e.Name), match.Tool.Name, match.Rule))
	}
	call.Tool = match.Tool.Name
	return match.Tool
}

// unknownTool rejects an entry that names no tool. What neither a marker nor its shape
// shows to be a call is text.
func (j *judge) unknownTool(cand *scan.Candidate, e *normalizer.Entry, v *verdict, sc *scorer) {
	err := validator.Error{
		Code: validator.UnknownTool, Message: "there is no tool " + quote(e.Name), SuggestedFix: j.p.registry.Suggest(e.Name),
	}
	if e.Cut && err.SuggestedFix != "" {
		err.Message += ", and the text was cut off"
	}
	sc.errors([]validator.Error{err})
	v.call.score(sc.done())
	if cand.Provenance == call.Bare && !e.Explicit && err.SuggestedFix == "" {
		v.reason = "no tool of that name"
		return
	}
	params, _ := e.Arguments.(map[string]any)
	v.call.Parameters = withoutTypes(params)
	v.reject("unknown tool", cand.Provenance != call.Bare && !mentioned(cand), err)
}

// withoutTypes turns untyped text into strings, for parameters of no known tool.
func withoutTypes(params map[string]any) map[string]any {
	return validator.Validate(&registry.Tool{}, params, validator.Options{}).Parameters
}

// validate fills in a call's parameters and returns what is wrong with them.
func (j *judge) validate(cand *scan.Candidate, tool *registry.Tool, params map[string]any, x *Call, sc *scorer) []validator.Error {
	o := j.p.o.Validation
	if j.c.Values != nil {
		o.Values = maps.Clone(j.c.Values)
	}
	o.NoCoercion = o.NoCoercion || j.p.o.StrictMode
	r := validator.Validate(tool, params, o)
	x.Parameters = r.Parameters
	x.Coercions = append(x.Coercions, r.Coercions...)
	x.Defaults = append(x.Defaults, r.Defaults...)
	x.Warnings = append(x.Warnings, r.Warnings...)
	for _, k := range []lenient.FixKind{lenient.DuplicateKey, lenient.LoneSurrogate, lenient.InvalidUTF8} {
		if cand.Fixes.Has(k) {
			x.Warnings = append(x.Warnings, k.String())
		}
	}
	if r.Factor != 1 {
		sc.factor("coerced", semantic, r.Factor)
	}
	sc.errors(r.Errors)
	if placeholder(x.Parameters) && (mentioned(cand) || cand.Provenance == call.Bare && len(x.Parameters) > 0) {
		sc.add("placeholder")
	}
	return r.Errors
}

// format names what a call was written as.
func (j *judge) format(cand *scan.Candidate, found *normalizer.Found) call.Format {
	switch {
	case cand.Dialect != nil && cand.Dialect.Format != "":
		return call.Format(cand.Dialect.Format)
	case cand.Dialect != nil:
		return call.Format(cand.Dialect.Name)
	case cand.Method == call.MethodCodeblock:
		return call.MarkdownJSON
	case cand.Provenance == call.Native && j.native != "":
		return j.native
	case found.Format == call.Unknown || found.Format == "":
		return call.PlainText
	}
	return found.Format
}

// leastDestructive is the confidence that a call in the text needs for a tool that requires
// a marker: it may do what cannot be undone.
const leastDestructive = 0.75

// reasons says why a call must not be made; invalid is what its schema finds wrong. The
// first reason that holds counts.
func (j *judge) reasons(
	cand *scan.Candidate, x *Call, tool *registry.Tool, invalid []validator.Error, from origin,
) []validator.Error {
	o := &j.p.o
	truncated := x.Truncated && from.proposal == nil // a fallback's proposal is as whole as it can be
	one := func(code validator.Code, format string, args ...any) []validator.Error {
		return []validator.Error{{Code: code, Message: fmt.Sprintf(format, args...)}}
	}
	least := o.MinConfidence
	if tool.RequireMarker && x.Provenance != call.Native {
		least = max(least, leastDestructive)
	}
	lowConfidence := func() []validator.Error {
		return one(CodeLowConfidence, "confidence %.2f is below %.2f", x.Confidence, least)
	}
	switch {
	case errors.Is(cand.Err, scan.ErrExpression):
		return one(CodeExpression, "%v", cand.Err)
	case errors.Is(cand.Err, scan.ErrList):
		return one(CodeMalformed, "%v", cand.Err)
	case truncated && (!o.AllowPartial || len(invalid) > 0):
		return append(one(CodeTruncated, "the text ends inside the call"), invalid...)
	case tool.RequireMarker && (x.Inferred || cand.Method == call.MethodAssisted || x.Provenance != call.Native && !trained(cand)):
		return one(CodeMarkerRequired, "%q takes only calls that the model marked as calls", tool.Name)
	case mayEcho(cand) && j.isEcho(x):
		return one(CodeEcho, "the text only repeats what was said to the model")
	case o.StrictMode && len(x.Repairs) > 0:
		return one(CodeStrict, "the call needed repairs: %s", strings.Join(x.Repairs, ", "))
	case x.Confidence < least && x.Score.Components.Contextual < least:
		return lowConfidence() // where it stands speaks against it: what is wrong with it matters to nobody
	case len(invalid) > 0:
		return invalid
	case x.Confidence < least && !x.Truncated:
		return lowConfidence()
	}
	return nil
}
