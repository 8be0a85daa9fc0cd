package dispatch

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/callwright/callwright/call"
	"github.com/callwright/callwright/internal/text"
)

// Decision says what becomes of a call. The empty one leaves it to the next rule.
type Decision string

// The decisions.
const (
	Allow Decision = "allow"
	Deny  Decision = "deny"
	Ask   Decision = "ask"
)

// Policy says which calls run, by their final arguments. Decide is asked first, then the
// Rules; where none says anything, a call that its model did not write to its end is
// denied, and one is asked about that is destructive, foreign, inferred, doubtfully repaired
// or of low confidence. All others are allowed.
type Policy struct {
	// Decide decides in code; "" leaves it to the rules. The text says why, to people.
	Decide func(ctx context.Context, c *Call) (d Decision, why string)
	// Rules decide as data: the first that matches counts.
	Rules []Rule
	// Ask asks a person. One call at a time is asked about, in the text's order; other
	// calls run on meanwhile. Without it, what would be asked about is not approved.
	Ask func(ctx context.Context, q Question) (Answer, error)
	// AskTime bounds the wait for an answer; 0 means [DefaultAskTime], less than 0 nothing.
	AskTime time.Duration
}

// DefaultAskTime is how long an answer to a question is waited for.
const DefaultAskTime = 5 * time.Minute

// AskBelow is the confidence below which the policy asks where no rule says anything.
const AskBelow = 0.8

// Rule is one rule of a policy. All that it says has to match; a rule that says nothing
// matches every call.
type Rule struct {
	// Tool is a pattern of the tool's name, in which "*" stands for any text.
	Tool string `json:"tool,omitempty"`
	// Arguments are patterns of arguments, by their JSON pointers, such as "/path": a
	// string is compared as it is, a number or a boolean as it is written, an object with
	// nothing but "*". Of a list, a rule that allows must match all elements, others any. A text with ".." steps is also compared as the path
	// that it means: a rule that allows must match both. An argument that is not there
	// matches nothing.
	Arguments map[string]string `json:"arguments,omitempty"`
	// When are conditions, all of which have to hold.
	When []Condition `json:"when,omitempty"`
	// Below matches calls whose confidence is lower; 0 matches all.
	Below float64  `json:"below,omitempty"`
	Do    Decision `json:"do"`
	Why   string   `json:"why,omitempty"`
}

// Condition is something that holds for a call or not.
type Condition string

// The conditions.
const (
	Destructive   Condition = "destructive"   // the tool says so, or requires a marker
	Inferred      Condition = "inferred"      // it was concluded, not said
	Repaired      Condition = "repaired"      // by a model, or in a way that can change a value
	Truncated     Condition = "truncated"     // the text ended inside of it
	UsesReference Condition = "reference"     // its arguments hold another call's result
	BareJSON      Condition = "bare"          // no marker announced it
	ForeignTool   Condition = "foreign"       // someone else's server runs it
	NotReadOnly   Condition = "not_read_only" // its owner does not say that it only reads
)

// Question asks a person about a call.
type Question struct {
	Call *Call
	Why  string
	// Waiting is how many more calls of the reply wait for an answer, as far as is known.
	Waiting int
}

// Answer is a person's answer.
type Answer struct {
	Allow bool
	// Always allows all calls of the tool that would be asked about, for the rest of the
	// Run, or of the [Loop].
	Always bool
	// Message is told to the model with a refusal.
	Message string
	// Parameters replace the call's, if they are not nil. They are validated.
	Parameters map[string]any
}

// risky are repairs that can change a value, or guess where something ends.
var risky = []string{
	"unescaped_quote", "missing_close", "mismatched_close", "extra_open", "unclosed_string", "missing_quote", "thousands_separator",
	"expression", "duplicate_key", "invalid_utf8", "lone_surrogate", "jsonrepair",
}

// Is reports whether a condition holds for a call.
func (c *Call) Is(x Condition) bool {
	switch x {
	case Destructive:
		return c.Target.Hints.Destructive || c.Target.RequireMarker
	case Inferred:
		return c.Inferred
	case Repaired:
		return c.Metadata.ParsingMethod == call.MethodAssisted ||
			slices.ContainsFunc(c.Repairs, func(r string) bool { return slices.Contains(risky, r) })
	case Truncated:
		return c.Truncated
	case UsesReference:
		return len(c.Uses) > 0
	case BareJSON:
		return c.Provenance == call.Bare
	case ForeignTool:
		return c.Target.Foreign
	case NotReadOnly:
		return !c.Target.Hints.ReadOnly || c.Target.Foreign
	}
	return false
}

// usual are the rules where no rule of the policy says anything.
var usual = []Rule{
	{When: []Condition{Truncated}, Do: Deny, Why: "the call was cut off"},
	{When: []Condition{Destructive}, Do: Ask, Why: "the tool may delete or overwrite"},
	{When: []Condition{ForeignTool}, Do: Ask, Why: "another server runs the tool"},
	{When: []Condition{Inferred}, Do: Ask, Why: "the call was concluded, not said"},
	{When: []Condition{Repaired}, Do: Ask, Why: "the call was repaired in a way that may change it"},
	{Below: AskBelow, Do: Ask, Why: "it is doubtful that a call was meant"},
}

// decide returns what the policy says of a call.
func (p *Policy) decide(ctx context.Context, c *Call) (Decision, string) {
	if p.Decide != nil {
		if d, why := p.code(ctx, c); d != "" {
			return d, why
		}
	}
	for _, rules := range [][]Rule{p.Rules, usual} {
		for i := range rules {
			if r := &rules[i]; r.matches(c) {
				return r.Do, r.Why
			}
		}
	}
	return Allow, ""
}

// code asks the policy's function. One that panics denies.
func (p *Policy) code(ctx context.Context, c *Call) (d Decision, why string) {
	defer func() {
		if recover() != nil {
			d, why = Deny, "the policy failed"
		}
	}()
	return p.Decide(ctx, c)
}

// matches reports whether a rule is about a call.
func (r *Rule) matches(c *Call) bool {
	if r.Tool != "" && !glob(r.Tool, c.Tool) || r.Below > 0 && c.Confidence >= r.Below {
		return false
	}
	for _, w := range r.When {
		if !c.Is(w) {
			return false
		}
	}
	for at, pattern := range r.Arguments {
		v, there := get(c.Parameters, text.Keys(at))
		if !there || !r.matchesValue(pattern, v) {
			return false
		}
	}
	return true
}

// matchesValue compares a value with a pattern.
func (r *Rule) matchesValue(pattern string, v any) bool {
	if list, ok := v.([]any); ok {
		one := func(e any) bool { return r.matchesValue(pattern, e) }
		if r.Do != Allow {
			return slices.ContainsFunc(list, one)
		}
		return len(list) > 0 && !slices.ContainsFunc(list, func(e any) bool { return !one(e) })
	}
	if _, ok := v.(map[string]any); ok {
		return pattern == "*"
	}
	s, ok := v.(string)
	if !ok {
		data, err := appendJSON(nil, v, asWritten, 0)
		if err != nil {
			return false
		}
		s = string(data)
	}
	matched := glob(pattern, s)
	if !strings.Contains(s, "..") {
		return matched
	}
	meant := glob(pattern, path.Clean(strings.ReplaceAll(s, `\`, "/")))
	if r.Do == Allow {
		return matched && meant
	}
	return matched || meant
}

// glob reports whether a text matches a pattern in which "*" stands for any text.
func glob(pattern, s string) bool {
	first, rest, wild := strings.Cut(pattern, "*")
	if !strings.HasPrefix(s, first) {
		return false
	}
	s = s[len(first):]
	for wild {
		var part string
		part, rest, wild = strings.Cut(rest, "*")
		if !wild {
			return strings.HasSuffix(s, part)
		}
		i := strings.Index(s, part)
		if i < 0 {
			return false
		}
		s = s[i+len(part):]
	}
	return s == ""
}

// Check reports what is wrong with the rules of a policy.
func (p *Policy) Check() error {
	for i := range p.Rules {
		r := &p.Rules[i]
		if !slices.Contains([]Decision{Allow, Deny, Ask}, r.Do) {
			return fmt.Errorf("rule %d: do is %q: it must be allow, deny or ask", i+1, r.Do)
		}
		for _, w := range r.When {
			if !slices.Contains(conditions, w) {
				return fmt.Errorf("rule %d: there is no condition %q", i+1, w)
			}
		}
		for at := range r.Arguments {
			if at != "" && at[0] != '/' {
				return fmt.Errorf("rule %d: %q is no JSON pointer: write %q", i+1, at, "/"+at)
			}
		}
		if r.Below < 0 || r.Below > 1 {
			return fmt.Errorf("rule %d: below is %v: it must be from 0 to 1", i+1, r.Below)
		}
	}
	return nil
}

var conditions = []Condition{
	Destructive, Inferred, Repaired, Truncated, UsesReference, BareJSON, ForeignTool, NotReadOnly,
}

// ask asks a person, within the time for it. A panic of the function is its error.
func (p *Policy) ask(ctx context.Context, q Question) (a Answer, err error) {
	if p.Ask == nil {
		return a, errNobody
	}
	limit := p.AskTime
	if limit == 0 {
		limit = DefaultAskTime
	}
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	defer func() {
		if v := recover(); v != nil {
			a, err = Answer{}, panicError(v)
		}
	}()
	return p.Ask(ctx, q)
}

var errNobody = errors.New("there is nobody to ask")

// refusal makes the error of an answer; nil if the call is allowed.
func refusal(c *Call, a Answer, err error) *Error {
	e := &Error{ID: c.ID, Tool: c.Tool, Err: err}
	switch {
	case errors.Is(err, ErrLater):
		e.Code, e.Message = CodePending, "the call waits for an approval"
		return e
	case err == nil && a.Allow:
		return nil
	case err != nil:
		a.Message = "nobody answered"
	}
	if a.Message != "" {
		a.Message = ": " + strings.TrimRight(a.Message, ".")
	}
	e.Code = CodeNotApproved
	e.Message = fmt.Sprintf("The user did not allow %s%s. Do not call it again; say what you need.", c.Tool, a.Message)
	return e
}
