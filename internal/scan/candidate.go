package scan

import (
	"errors"

	"github.com/callwright/callwright/call"
	"github.com/callwright/callwright/dialect"
	"github.com/callwright/callwright/internal/intent"
	"github.com/callwright/callwright/internal/lenient"
)

// Errors of candidates that cannot be read as calls.
var (
	// ErrExpression says that an argument is code, which is never run.
	ErrExpression = errors.New("an argument is an expression, not a value")
	// ErrTruncated says that the text ended inside the candidate.
	ErrTruncated = errors.New("the text ends inside the value")
)

// Candidate is a stretch of text that may be a call, or several.
type Candidate struct {
	Method     call.Method
	Provenance call.Provenance
	// Dialect is the row by which it was read; nil for JSON without markers.
	Dialect *dialect.Row
	// Start and End are its offsets in the text, in bytes, markers included.
	Start, End int
	// Raw is the text from Start to End.
	Raw string

	// Value is the JSON that was read, where what the call says is inside it.
	Value any
	// Name, ID and Arguments are what the dialect says outside of JSON; Named says
	// that they hold and Value does not.
	Named     bool
	Name, ID  string
	Arguments any
	// Positional are arguments without names, for the tool's parameter order.
	Positional []any

	// Fixes are the departures from the form that were read through.
	Fixes lenient.Fixes
	// Truncated says that the text ended inside the candidate. Where it holds several
	// calls, [Candidate.Open] says which of them are cut off.
	Truncated bool
	// CutKey is the parameter among Arguments within which the text ended; "" if none was.
	CutKey string
	// reader has read Value or Arguments, if the text's end cut that off.
	reader *lenient.Reader
	// Err says why it could not be read; a repair of Raw may help.
	Err error

	Evidence call.Evidence
	// Around is what stands around it: whether it is made or only spoken of is judged by
	// that.
	Around intent.Context
}

// Open reports whether an object or a list within Value was cut off by the text's end,
// and which of its members was being written: "" if none was. Of what is no JSON
// everything counts as cut off.
func (c *Candidate) Open(v any) (key string, open bool) {
	if c.reader == nil {
		return "", c.Truncated
	}
	return c.reader.OpenKey(v)
}

// Unfinished reports whether the text ended within a word or a value of the candidate,
// and not between two of its brackets.
func (c *Candidate) Unfinished() bool { return c.reader != nil && c.reader.CutToken }

// cutIn notes that the text ended within a parameter, or between two with the key "".
func (c *Candidate) cutIn(key string) { c.Truncated, c.CutKey = true, key }

// readBy notes how Value or Arguments were read, where the text's end cut them off.
func (c *Candidate) readBy(r *lenient.Reader) {
	c.Fixes.Merge(&r.Fixes)
	if cut(r) {
		c.Truncated, c.reader = true, r
		if c.Named {
			c.CutKey, _ = r.OpenKey(c.Arguments)
		}
	}
}

// Why says why text is neither content nor a call.
type Why string

// The reasons for dropping text.
const (
	WhyCall              Why = "call"
	WhyWhiteSpace        Why = "white space"
	WhyTurnMarker        Why = "turn marker"
	WhySectionMarker     Why = "section marker"
	WhyDoubledMarker     Why = "doubled marker"
	WhyOpeningMarker     Why = "opening marker"
	WhyClosingMarker     Why = "closing marker"
	WhyReasoningMarker   Why = "reasoning marker"
	WhyMessageHeader     Why = "message header"
	WhyWrapper           Why = "wrapper"
	WhyFence             Why = "fence"
	WhyNoCall            Why = "no call"
	WhyInventedResult    Why = "invented tool result"
	WhyInventedObserving Why = "invented observation"
)

// Invented reports whether what was dropped is a tool's result that the model made
// up.
func (w Why) Invented() bool { return w == WhyInventedResult || w == WhyInventedObserving }

// Sink takes what a [Scanner] finds, in the order of the text.
type Sink interface {
	// Content takes text that is the model's answer.
	Content(text string)
	// Reasoning takes text that is the model's reasoning.
	Reasoning(text string)
	// Candidate takes what may be a call and reports whether it was taken: if not, its
	// text is content.
	Candidate(c *Candidate) (taken bool)
	// Abandoned says that the call that [Scanner.Partial] showed came to nothing.
	Abandoned()
	// Recast says that all content so far was reasoning.
	Recast()
	// Unclosed says that the reasoning handed on was never closed.
	Unclosed()
	// Draft says that a call stands in closed reasoning, at an offset: the model
	// considered it and did not make it.
	Draft(d *dialect.Row, at int)
	// Dropped takes the offsets of text that is neither: a marker, a tool's result
	// that the model made up.
	Dropped(from, to int, why Why)
}

// Partial is a call that is being read, for looking at it while its text is still
// arriving.
type Partial struct {
	Name, ID string
	// Call reads a JSON value in which the call's name and arguments stand.
	Call *lenient.Reader
	// Arguments reads the arguments alone.
	Arguments *lenient.Reader
	// Keys and Values are the parameters that are whole, where they are not JSON.
	Keys   []string
	Values map[string]any
	// OpenKey is the parameter whose raw text is being read; its text from OpenFrom to
	// OpenSafe is certain.
	OpenKey            string
	OpenFrom, OpenSafe int
	// OpenRaw says that the open text is taken byte for byte, without cutting newlines
	// off its ends.
	OpenRaw bool
	// Marked says that a marker opened the call, and Doubtful that what stands around
	// it speaks against it.
	Marked, Doubtful bool
	// Close are the markers that may close it.
	Close []string
}

// collector is a sink that keeps candidates and nothing else.
type collector struct{ found []*Candidate }

func (c *collector) Candidate(x *Candidate) bool { c.found = append(c.found, x); return true }
func (c *collector) Content(string)              {}
func (c *collector) Reasoning(string)            {}
func (c *collector) Recast()                     {}
func (c *collector) Abandoned()                  {}
func (c *collector) Unclosed()                   {}
func (c *collector) Draft(*dialect.Row, int)     {}
func (c *collector) Dropped(int, int, Why)       {}

// Plain returns the candidate in plain values.
func (c *Candidate) Plain() call.Candidate {
	out := call.Candidate{
		Method: c.Method, Provenance: c.Provenance, Start: c.Start, End: c.End, Raw: c.Raw,
		Value: lenient.Plain(c.Value), Named: c.Named, Name: c.Name, ID: c.ID, Arguments: lenient.Plain(c.Arguments),
		Repairs: c.Fixes.Names(), Truncated: c.Truncated, Err: c.Err, Evidence: c.Evidence,
	}
	for _, v := range c.Positional {
		out.Positional = append(out.Positional, lenient.Plain(v))
	}
	if c.Dialect != nil {
		out.Dialect = c.Dialect.Name
	}
	return out
}
