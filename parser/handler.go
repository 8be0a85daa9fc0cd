package parser

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/callwright/callwright/extractor"
	"github.com/callwright/callwright/fallback"
	"github.com/callwright/callwright/internal/cue"
	"github.com/callwright/callwright/internal/lenient"
	"github.com/callwright/callwright/internal/repair"
	"github.com/callwright/callwright/internal/scan"
	"github.com/callwright/callwright/normalizer"
	"github.com/callwright/callwright/registry"
	"github.com/callwright/callwright/validator"
)

// handler takes what the scanner finds and makes a result of it.
type handler struct {
	p       *Parser
	c       Context
	start   time.Time
	scanner *extractor.Scanner
	cursor  *lenient.Cursor
	emit    func(Event) // nil for a text that is whole
	explain func(Candidate)

	res        Result
	content    pieces
	reasoning  pieces
	ids        map[string]bool
	candidates int
	repairs    int
	reasoned   bool
	unclosed   bool
	salvaging  bool // looking into reasoning that was never closed

	deferring bool    // calls wait until it is known that they do not stand in reasoning
	waiting   []Event // their events
	deferred  int     // the first of res.Calls that waits

	progress *progress // of the call that is being read
	begun    int       // how many calls have begun

	attempts   []fallback.Attempt // repairs where the calls stand
	broken     []fallback.Failure // bare objects that look like calls and cannot be read
	recovering *fallback.Proposal // the proposal that is being checked

	native normalizer.Format // of the calls in a reply's own field
	paired map[int]bool      // calls that another repeated
}

func newHandler(p *Parser, c Context, start time.Time) *handler {
	return &handler{p: p, c: c, start: start, progress: &progress{}, res: Result{Calls: []Call{}, Rejected: []Rejected{}, Warnings: []string{}}, reasoned: c.ReasoningOpen}
}

func (h *handler) warn(w string) {
	if !slices.Contains(h.res.Warnings, w) && len(h.res.Warnings) < 64 {
		h.res.Warnings = append(h.res.Warnings, w)
	}
}

// Content takes text for the user.
func (h *handler) Content(text string) {
	text = h.valid(text)
	h.content.WriteString(text)
	h.send(Event{Type: EventContent, Text: text})
}

// Reasoning takes text that the model says to itself.
func (h *handler) Reasoning(text string) {
	text = h.valid(text)
	h.reasoned = true
	h.release()
	h.reasoning.WriteString(text)
	h.send(Event{Type: EventReasoning, Text: text})
}

// valid returns a text as UTF-8, and warns if it was none.
func (h *handler) valid(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	h.warn("invalid_utf8")
	return lenient.ValidUTF8([]byte(text))
}

// Recast makes reasoning of all content so far: a closing marker stands behind it.
func (h *handler) Recast() {
	h.reasoned = true
	text := h.content.String()
	h.content.Reset()
	if h.reasoning.Len() > 0 {
		text = "\n" + text
	}
	h.reasoning.WriteString(text)
	if h.deferring {
		for i := range h.res.Calls[h.deferred:] {
			h.draft(&h.res.Calls[h.deferred+i])
		}
		h.res.Calls = h.res.Calls[:h.deferred]
		h.deferring, h.waiting = false, nil
	}
	h.send(Event{Type: EventRecast})
}

// draft rejects a call that turned out to stand in reasoning.
func (h *handler) draft(c *Call) {
	h.res.Rejected = append(h.res.Rejected, Rejected{
		Tool: c.Tool, ID: c.ID, Parameters: c.Parameters, Confidence: c.Confidence, Format: c.SourceFormat, Provenance: c.Provenance, Raw: c.Raw, Span: c.Span,
		Errors: []validator.Error{{Code: CodeInReasoning, Message: "the call stands in reasoning: it was considered, not made"}},
	})
}

// Abandoned ends a call that was begun in the events and came to nothing.
func (h *handler) Abandoned() {
	if !h.progress.started {
		*h.progress = progress{}
		return
	}
	g := h.progress
	r := &Rejected{ID: g.id, Tool: g.tool.Name, Errors: []validator.Error{{Code: CodeMalformed, Message: "what began as a call is none"}}}
	if g.isOpen {
		h.arguments(g, `"`)
	}
	g.isOpen, g.sent = false, nil
	h.rest(g, nil)
	h.send(Event{Type: EventCallEnd, Index: g.index, Rejected: r})
	*g = progress{}
}

// Unclosed says that the reasoning was never closed.
func (h *handler) Unclosed() { h.unclosed = true }

// Draft reports a call in reasoning that was closed later.
func (h *handler) Draft(d *extractor.Dialect, at int) {
	h.res.Rejected = append(h.res.Rejected, Rejected{
		Format: normalizer.Format(d.Name), Provenance: extractor.Marked, Span: [2]int{at, at},
		Errors: []validator.Error{{Code: CodeInReasoning, Message: "the call stands in reasoning: it was considered, not made"}},
	})
}

// Dropped notes what no one is to see.
func (h *handler) Dropped(from, to int, w scan.Why) {
	why := string(w)
	if why == "call" {
		h.extend(from, to)
		return
	}
	if to <= from {
		return
	}
	if strings.HasPrefix(why, "invented") {
		h.warn("invented_result_dropped")
	}
	if n := len(h.res.Dropped); n > 0 && h.res.Dropped[n-1].Why == why && h.res.Dropped[n-1].Span[1] == from {
		h.res.Dropped[n-1].Span[1] = to
		return
	}
	h.res.Dropped = append(h.res.Dropped, Dropped{[2]int{from, to}, why})
}

// extend notes what was taken out of the content with the call that was rejected last,
// where no call was made of the same stretch.
func (h *handler) extend(from, to int) {
	n := len(h.res.Rejected)
	if n == 0 {
		return
	}
	if i := len(h.res.Calls); i > 0 && h.res.Calls[i-1].Provenance != extractor.Native && h.res.Calls[i-1].Span[0] >= from {
		return
	}
	if x := &h.res.Rejected[n-1]; x.Provenance == extractor.Marked && x.Span[0] >= from && x.Span[1] <= to {
		x.Extent = [2]int{from, to}
	}
}

// Candidate takes what may be a call.
func (h *handler) Candidate(c *extractor.Candidate) bool {
	if h.p.o.Methods != nil && !slices.Contains(h.p.o.Methods, c.Method) {
		if h.explain != nil {
			h.explain(Candidate{Candidate: *c, Reason: "found by " + string(c.Method) + ", which does not count"})
		}
		return false
	}
	if h.candidates++; h.candidates > h.p.o.MaxCandidates {
		h.warn("too_many_candidates")
		return false
	}
	if n := len(h.res.Rejected); n > 0 && c.Err != nil {
		// Several dialects with one marker may have tried it.
		if x := &h.res.Rejected[n-1]; x.broken != "" && x.Span[0] == c.Start && x.Provenance == c.Provenance {
			return false
		}
	}
	unreadable, broken := c.Err != nil && !errors.Is(c.Err, extractor.ErrExpression), ""
	if unreadable {
		broken, _ = c.Value.(string)
	}
	if unreadable && !h.repair(c) {
		if h.explain != nil {
			h.explain(Candidate{Candidate: *c, Reason: "not readable: " + c.Err.Error()})
		}
		if c.Provenance != extractor.Bare {
			h.rejectUnreadable(c, broken)
		} else if h.p.deep && len(h.broken) < maxBroken && !c.Evidence.Quoted && !c.Evidence.Example {
			if tool := cue.ToolName(c.Raw, h.p.registry); tool != "" {
				h.broken = append(h.broken, fallback.Failure{Tool: tool, Raw: c.Raw, Broken: broken, Span: [2]int{c.Start, c.End}, Provenance: c.Provenance, Truncated: c.Truncated})
			}
		}
		return false
	}
	found := h.normalize(c)
	if len(found.Entries) == 0 {
		if h.explain != nil {
			h.explain(Candidate{Candidate: *c, Reason: "not the shape of a call"})
		}
		if unreadable && c.Provenance == extractor.Marked {
			h.rejectUnreadable(c, broken)
		}
		if c.Provenance == extractor.Native { // the provider says that it is one
			h.reject(c, c.Name, c.ID, nil, validator.Error{Code: CodeMalformed, Message: "the arguments are not JSON"}, Score{})
		}
		return false
	}
	taken := false
	for i := range found.Entries {
		if h.entry(c, &found, &found.Entries[i]) {
			taken = true
		}
	}
	if taken && unreadable {
		h.res.Strategy = string(fallback.StrategyAutoRepair)
		h.attempts[len(h.attempts)-1].Calls = len(found.Entries)
	}
	if taken {
		if found.Reasoning != "" {
			h.Reasoning(found.Reasoning)
		}
		if found.Content != "" {
			if h.content.Len() > 0 {
				found.Content = "\n" + found.Content
			}
			h.Content(found.Content)
		}
	}
	return taken
}

// rejectUnreadable rejects a call of which a text could not be read.
func (h *handler) rejectUnreadable(c *extractor.Candidate, broken string) {
	h.reject(c, c.Name, c.ID, nil, validator.Error{Code: CodeMalformed, Message: "the call cannot be read: " + c.Err.Error()}, Score{})
	r := &h.res.Rejected[len(h.res.Rejected)-1]
	r.broken, r.named = broken, c.Named
}

// repair tries to read a broken candidate by other means.
func (h *handler) repair(c *extractor.Candidate) bool {
	raw, _ := c.Value.(string)
	if !h.p.inline || h.repairs >= h.p.o.MaxRepairAttempts {
		return false
	}
	h.repairs++
	start := time.Now()
	repaired, err := repair.JSON(raw)
	attempt := fallback.Attempt{Strategy: fallback.StrategyAutoRepair, Tried: "lenient_reader, jsonrepair", DurationMicroseconds: time.Since(start).Microseconds()}
	if err != nil {
		attempt.Error = err.Error()
		h.attempts = append(h.attempts, attempt)
		return false
	}
	attempt.Tried, attempt.Changed = repaired.By, repaired.Fixes
	h.attempts = append(h.attempts, attempt)
	if c.Named {
		c.Arguments = repaired.Value
	} else {
		c.Value = repaired.Value
	}
	c.Fixes.Add(c.Start, lenient.MissingClose)
	c.Evidence.Guess = true
	return true
}

// normalize finds the calls of a candidate.
func (h *handler) normalize(c *extractor.Candidate) normalizer.Found {
	marked := c.Provenance != extractor.Bare
	if c.Named {
		if c.Dialect != nil && slices.Contains(c.Dialect.Options.None, c.Name) {
			return normalizer.Found{}
		}
		args, ok := c.Arguments, true
		if s, isString := args.(string); isString || args == nil {
			args, ok = normalizer.Arguments(s)
		} else if list, isList := args.([]any); isList {
			args, ok = normalizer.Arguments(list)
		}
		if !ok {
			return normalizer.Found{}
		}
		e := normalizer.Entry{Name: c.Name, ID: c.ID, Arguments: args, Explicit: true}
		return normalizer.Found{Format: normalizer.Unknown, Confidence: 1, Entries: []normalizer.Entry{e}}
	}
	found := normalizer.Detect(c.Value, normalizer.Options{Registry: h.p.registry, Marked: marked, Truncated: c.Truncated})
	found.Entries = slices.DeleteFunc(found.Entries, func(e normalizer.Entry) bool {
		return isNoTool(e.Name) && h.p.registry.Get(e.Name) == nil
	})
	return found
}

// isNoTool reports whether a name means that no tool is called.
func isNoTool(name string) bool {
	switch name {
	case "directly_answer", "directly-answer", "no_function", "Final Answer", "final_answer", "no_tool", "none", "None":
		return true
	}
	return false
}

// entry makes a call of one entry, or rejects it, and reports whether its text
// is taken out of the content.
func (h *handler) entry(c *extractor.Candidate, found *normalizer.Found, e *normalizer.Entry) bool {
	sc := newScorer()
	sc.where(c)
	if slices.Contains(c.Fixes.Names(), "jsonrepair") {
		sc.add("repair_library")
	}
	call := Call{NormalizedToolCall: normalizer.NormalizedToolCall{
		ID: e.ID, Tool: e.Name, SourceFormat: h.format(c, found), Provenance: c.Provenance, Raw: c.Raw, Span: [2]int{c.Start, c.End},
		Truncated: c.Truncated, Inferred: c.Evidence.InReasoning || h.salvaging,
		Metadata: normalizer.Metadata{Model: h.c.Model, Timestamp: h.start, ParsingMethod: c.Method},
	}, Coercions: []validator.Coercion{}, Defaults: []string{}, Repairs: []string{}, Warnings: []string{}}
	if h.salvaging {
		sc.add("in_reasoning")
	}
	h.recovered(&call, sc)
	if !e.Explicit {
		sc.add("shape_loose")
	}
	for _, n := range c.Fixes.Names() {
		if n != "truncated" || c.Truncated {
			call.Repairs = append(call.Repairs, n)
		} else {
			call.Repairs = append(call.Repairs, "missing_close")
		}
	}
	match, known := h.lookup(e.Name)
	if !known && c.Truncated && !c.Named {
		// The text may end within the name: its completion, if there is only one.
		if match, known = h.lookup(h.p.registry.Suggest(e.Name)); known {
			call.Inferred = true
			sc.add("guessed")
		}
	}
	if !known && h.p.registry.Len() > 0 {
		err := validator.Error{Code: validator.UnknownTool, Message: fmt.Sprintf("there is no tool %q", clip(e.Name)), SuggestedFix: h.p.registry.Suggest(e.Name)}
		if c.Truncated && err.SuggestedFix != "" {
			err.Message += ", and the text was cut off"
		}
		sc.errors([]validator.Error{err})
		params, _ := e.Arguments.(map[string]any)
		if c.Provenance == extractor.Bare && !e.Explicit && err.SuggestedFix == "" {
			h.explained(c, &call, "no tool of that name", sc.done())
			return false
		}
		h.reject(c, e.Name, e.ID, plain(params), err, sc.done())
		h.explained(c, &call, "unknown tool", sc.done())
		return c.Provenance != extractor.Bare && !c.Evidence.Quoted && !c.Evidence.Example
	}
	tool := match.Tool
	if !known {
		tool = &registry.Tool{Name: registry.BareName(e.Name)}
		sc.add("no_tools")
	} else if !match.Exact() && match.Rule != "prefix" {
		sc.add("name_near")
		call.Warnings = append(call.Warnings, fmt.Sprintf("name: %q was read as %q (%s)", clip(e.Name), tool.Name, match.Rule))
	}
	call.Tool = tool.Name
	params, ok := h.bind(c, tool, e.Arguments, sc)
	if !ok {
		err := validator.Error{Code: validator.InvalidType, Message: "the arguments are not an object"}
		h.reject(c, tool.Name, e.ID, nil, err, sc.done())
		h.explained(c, &call, err.Message, sc.done())
		return c.Provenance != extractor.Bare
	}
	o := h.p.o.Validation
	if h.c.Values != nil {
		o.Values = maps.Clone(h.c.Values)
	}
	if h.p.o.StrictMode {
		o.NoCoercion = true
	}
	v := validator.Validate(tool, params, o)
	call.Parameters = v.Parameters
	call.Coercions = append(call.Coercions, v.Coercions...)
	call.Defaults = append(call.Defaults, v.Defaults...)
	call.Warnings = append(call.Warnings, v.Warnings...)
	for _, k := range []lenient.FixKind{lenient.DuplicateKey, lenient.LoneSurrogate, lenient.InvalidUTF8} {
		if c.Fixes.Has(k) {
			call.Warnings = append(call.Warnings, k.String())
		}
	}
	if v.Factor != 1 {
		sc.factor("coerced", semantic, v.Factor)
	}
	sc.errors(v.Errors)
	if placeholder(call.Parameters) && (c.Evidence.Example || c.Provenance == extractor.Bare && len(call.Parameters) > 0) {
		sc.add("placeholder")
	}
	score := sc.done()
	if p := h.recovering; p != nil && p.Confidence > 0 {
		score.Overall = min(score.Overall, round(p.Confidence))
	}
	call.Score, call.Confidence = score, score.Overall
	if reasons := h.reasons(c, &call, tool, &v); len(reasons) > 0 {
		h.rejectAll(&call, reasons)
		h.explained(c, &call, string(reasons[0].Code), score)
		if call.Truncated {
			h.res.Truncated = true
		}
		return c.Provenance != extractor.Bare && reasons[0].Code != CodeLowConfidence
	}
	if h.repeats(&call) {
		h.warn("repeat_dropped")
		h.explained(c, &call, "stands in the text and in the provider's field", score)
		*h.progress = progress{}
		return true
	}
	if h.p.o.DropRepeats && len(h.res.Calls) > 0 {
		if last := &h.res.Calls[len(h.res.Calls)-1]; last.Tool == call.Tool && reflect.DeepEqual(last.Parameters, call.Parameters) {
			h.warn("repeat_dropped")
			h.explained(c, &call, "repeats the call before it", score)
			return true
		}
	}
	h.accept(c, &call)
	h.explained(c, &call, "", score)
	return true
}

// plain turns untyped text into strings, for showing.
func plain(params map[string]any) map[string]any {
	v := validator.Validate(&registry.Tool{}, params, validator.Options{})
	return v.Parameters
}

func clip(s string) string {
	if len(s) > 80 {
		return strings.ToValidUTF8(s[:80], "") + "…"
	}
	return s
}

func (h *handler) explained(c *extractor.Candidate, call *Call, reason string, score Score) {
	if h.explain != nil {
		h.explain(Candidate{Candidate: *c, Tool: call.Tool, Format: call.SourceFormat, Reason: reason, Score: score})
	}
}

func (h *handler) lookup(name string) (registry.Match, bool) { return h.p.registry.Lookup(name) }

// format names what a call was written as.
func (h *handler) format(c *extractor.Candidate, found *normalizer.Found) normalizer.Format {
	switch {
	case c.Dialect != nil && c.Dialect.Format != "":
		return normalizer.Format(c.Dialect.Format)
	case c.Dialect != nil:
		return normalizer.Format(c.Dialect.Name)
	case c.Method == extractor.MethodCodeblock:
		return normalizer.MarkdownJSON
	case c.Provenance == extractor.Native && h.native != "":
		return h.native
	case found.Format == normalizer.Unknown || found.Format == "":
		return normalizer.PlainText
	}
	return found.Format
}

// bind gives arguments without names their names, in the tool's order.
func (h *handler) bind(c *extractor.Candidate, tool *registry.Tool, arguments any, sc *scorer) (map[string]any, bool) {
	var list []any
	params := map[string]any{}
	switch a := arguments.(type) {
	case map[string]any:
		params, list = a, c.Positional
	case []any:
		list = a
	case lenient.Text:
		names := tool.Order()
		schema := tool.Schema()
		switch {
		case len(names) == 1:
			return map[string]any{names[0]: a}, true
		case schema != nil && len(schema.Required) == 1:
			sc.add("guessed")
			return map[string]any{schema.Required[0]: a}, true
		case schema == nil && h.p.registry.Len() == 0:
			return map[string]any{"input": string(a)}, true
		}
		return nil, false
	}
	if len(list) == 0 {
		return params, true
	}
	names := tool.Order()
	if object, ok := list[0].(map[string]any); ok && len(list) == 1 && len(params) == 0 && isParameters(tool, object) {
		return object, true // f({"city": "Rome"})
	}
	if len(list) > len(names) {
		return nil, false
	}
	for i, v := range list {
		if _, twice := params[names[i]]; twice {
			return nil, false
		}
		params[names[i]] = v
	}
	if len(list) > 1 {
		sc.add("guessed")
	}
	return params, true
}

// isParameters reports whether an object that is a call's only argument is all of
// its parameters: its keys are the tool's, or nothing is known of those.
func isParameters(tool *registry.Tool, object map[string]any) bool {
	names := tool.Order()
	for key := range object {
		if len(names) > 0 && !slices.Contains(names, key) {
			return false
		}
	}
	return len(object) > 0 || len(names) == 0
}

// reasons says why a call must not be made.
func (h *handler) reasons(c *extractor.Candidate, call *Call, tool *registry.Tool, v *validator.Result) []validator.Error {
	switch {
	case errors.Is(c.Err, extractor.ErrExpression):
		return []validator.Error{{Code: CodeExpression, Message: c.Err.Error()}}
	case call.Truncated && !h.p.o.AllowPartial && h.recovering == nil:
		return append([]validator.Error{{Code: CodeTruncated, Message: "the text ends inside the call"}}, v.Errors...)
	case tool.RequireMarker && (call.Provenance == extractor.Bare || call.Inferred || c.Method == extractor.MethodAssisted):
		return []validator.Error{{Code: CodeMarkerRequired, Message: fmt.Sprintf("%q takes only calls that the model marked as calls", tool.Name)}}
	case call.Provenance == extractor.Bare && h.isEcho(c.Raw):
		return []validator.Error{{Code: CodeEcho, Message: "the text only repeats what was said to the model"}}
	case h.p.o.StrictMode && len(call.Repairs) > 0:
		return []validator.Error{{Code: CodeStrict, Message: "the call needed repairs: " + strings.Join(call.Repairs, ", ")}}
	case c.Evidence.Quoted || c.Evidence.Example || call.Score.Components.Contextual < h.p.o.MinConfidence:
		if call.Confidence < h.p.o.MinConfidence {
			return []validator.Error{{Code: CodeLowConfidence, Message: fmt.Sprintf("confidence %.2f is below %.2f", call.Confidence, h.p.o.MinConfidence)}}
		}
	}
	if len(v.Errors) > 0 {
		if call.Truncated && h.recovering == nil {
			return nil
		}
		return v.Errors
	}
	if call.Confidence < h.p.o.MinConfidence && !call.Truncated {
		return []validator.Error{{Code: CodeLowConfidence, Message: fmt.Sprintf("confidence %.2f is below %.2f", call.Confidence, h.p.o.MinConfidence)}}
	}
	if len(h.res.Calls) >= h.p.o.MaxCalls {
		return []validator.Error{{Code: CodeTooManyCalls, Message: fmt.Sprintf("more than %d calls in one text", h.p.o.MaxCalls)}}
	}
	return nil
}

// isEcho reports whether a text stands in what was said to the model.
func (h *handler) isEcho(raw string) bool {
	raw = strings.TrimSpace(raw)
	for _, said := range h.c.Heard {
		if strings.Contains(said, raw) {
			return true
		}
	}
	return false
}

func (h *handler) reject(c *extractor.Candidate, tool, id string, params map[string]any, err validator.Error, score Score) {
	h.res.Rejected = append(h.res.Rejected, Rejected{
		Tool: tool, ID: id, Parameters: params, Confidence: score.Overall, Truncated: c.Truncated, Provenance: c.Provenance, Raw: c.Raw, Span: [2]int{c.Start, c.End},
		Errors: []validator.Error{err}, Score: score,
	})
	if c.Dialect != nil {
		h.res.Rejected[len(h.res.Rejected)-1].Format = normalizer.Format(c.Dialect.Name)
	}
	h.res.Truncated = h.res.Truncated || c.Truncated
	h.closeProgress(nil, &h.res.Rejected[len(h.res.Rejected)-1])
}

func (h *handler) rejectAll(call *Call, errs []validator.Error) {
	h.res.Rejected = append(h.res.Rejected, Rejected{
		Tool: call.Tool, ID: call.ID, Parameters: call.Parameters, Confidence: call.Confidence, Truncated: call.Truncated, Format: call.SourceFormat,
		Provenance: call.Provenance, Raw: call.Raw, Span: call.Span, Errors: errs, Score: call.Score,
	})
	h.closeProgress(nil, &h.res.Rejected[len(h.res.Rejected)-1])
}

// accept adds a call to the result.
func (h *handler) accept(c *extractor.Candidate, call *Call) {
	h.giveID(call)
	h.mayDefer(c)
	h.res.Calls = append(h.res.Calls, *call)
	h.res.Repaired = h.res.Repaired || len(call.Repairs) > 0
	h.res.Truncated = h.res.Truncated || call.Truncated
	h.closeProgress(&h.res.Calls[len(h.res.Calls)-1], nil)
}

// giveID makes a call's id unique in the result.
func (h *handler) giveID(call *Call) {
	if h.ids == nil {
		h.ids = make(map[string]bool)
	}
	switch {
	case h.progress.started && !h.progress.givenLate:
		call.ID = h.progress.id
	case call.ID == "":
		call.ID = h.p.newID()
		call.madeID = true
	}
	if original := call.ID; h.ids[original] {
		for n := 2; h.ids[call.ID]; n++ {
			call.ID = fmt.Sprintf("%s_%d", original, n)
		}
		call.Warnings = append(call.Warnings, fmt.Sprintf("id: %q stands twice in the text", clip(original)))
	}
	h.ids[call.ID] = true
}

const idLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

func (p *Parser) newID() string {
	if p.o.NewID != nil {
		return p.o.NewID()
	}
	var b [24]byte
	rand.Read(b[:]) // never fails: crypto/rand
	for i := range b {
		b[i] = idLetters[int(b[i])%len(idLetters)]
	}
	return "call_" + string(b[:])
}

// finish completes the result. Where err says that the text was not read to its end
// nothing more is tried.
func (h *handler) finish(ctx context.Context, err error) *Result {
	r := &h.res
	if h.unclosed && len(r.Calls) == 0 && !h.p.o.NoFallbacks && h.reasoning.Len() > 0 && strings.TrimSpace(h.content.String()) == "" {
		h.salvage()
	}
	h.release()
	if err == nil {
		h.fallBack(ctx)
	}
	r.Success = len(r.Calls) > 0
	r.Content, r.Reasoning = h.content.String(), h.reasoning.String()
	for i := range r.Rejected {
		r.Rejected[i].tool = h.meant(&r.Rejected[i])
	}
	r.DurationMicroseconds = time.Since(h.start).Microseconds()
	return r
}

// salvage looks for calls in reasoning that was cut off, when there are no
// others. What it finds is inferred.
func (h *handler) salvage() {
	sub := newHandler(h.p, h.c, h.start)
	sub.salvaging, sub.reasoned = true, true
	sub.explain = h.explain
	s := extractor.NewScanner(lenient.NewText(h.reasoning.String()), extractor.ScanOptions{Table: h.p.table, Registry: h.p.registry, Prefer: h.p.prefer(h.c)}, sub)
	if err := s.Run(); err != nil || len(sub.res.Calls) == 0 {
		return
	}
	for i := range sub.res.Calls {
		c := &sub.res.Calls[i]
		c.Inferred = true
		h.giveID(c)
		h.res.Calls = append(h.res.Calls, *c)
		h.res.Repaired = h.res.Repaired || len(c.Repairs) > 0
		h.closeProgress(&h.res.Calls[len(h.res.Calls)-1], nil)
	}
	h.res.Strategy = "open_reasoning"
}
